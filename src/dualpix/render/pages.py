"""Web pages as plain HTML. They open from disk and load nothing from the network."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Mapping
from importlib import resources

VOID = ("img", "input", "link", "meta")


class Html(str):
    """Markup. Any other string is text, and is escaped when it becomes part of a page."""


def element(tag: str, /, *children: str, **attributes: object) -> Html:
    """``<tag attributes>children</tag>``.

    The attribute ``class_`` is written class, ``data_low`` is written data-low. An attribute that is None or False is
    left out; one that is True is written without a value.
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    written = "".join(
        f" {key}" if value is True else f' {key}="{joined(value if isinstance(value, str) else str(value))}"'
        for key, value in given.items()
        if value is not None and value is not False
    )
    return Html(f"<{tag}{written}>" if tag in VOID else f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*children: str) -> Html:
    """The children in a row. Those that are not markup are escaped."""
    return Html("".join(child if isinstance(child, Html) else html.escape(child) for child in children))


def part(name: str) -> Html:
    """A style sheet or script of this package."""
    return Html(resources.files(__package__).joinpath("web", name).read_text(encoding="utf-8"))


def data_uri(kind: str, content: bytes) -> Html:
    """An address that contains the picture itself. `kind` is its type, such as image/png."""
    return Html(f"data:{kind};base64,{b64encode(content).decode()}")


def page(title: str, *body: str, style: str, script: str, policy: str | None = None, classes: str | None = None) -> str:
    """A whole page.

    `policy` is its Content-Security-Policy: what the browser lets it load and run. `classes` are those of its body.
    """
    head = joined(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy) if policy else "",
        element("link", rel="icon", href="data:,"),  # without it, browsers request an icon
        element("title", title),
        element("style", Html(style)),
    )
    whole = element("body", *body, element("script", Html(script)), class_=classes)
    return "<!doctype html>\n" + element("html", element("head", head), whole, lang="en")


def scroll_box(table: Html, label: str, name: str = "") -> Html:
    """A box in which a wide table scrolls, by mouse or keyboard."""
    return element("div", table, class_=f"scroll {name}".strip(), role="region", tabindex=0, aria_label=label)


def wipe_box(pictures: Mapping[str, str], first: str, second: str) -> Html:
    """Two pictures over each other, and a line between them that the user drags. It needs ``line.js`` and ``wipe.js``.

    Parameters
    ----------
    pictures
        All pictures the user can choose: what each shows, by the name that the script uses.
    first, second
        The names of the pictures that are shown first, left and right of the line.
    """

    def choice(text: str, name: str, chosen: str) -> Html:
        options = (element("option", text, value=key, selected=key == chosen) for key, text in pictures.items())
        return element("label", text, " ", element("select", *options, class_=name))

    choices = choice("left of the line", "first", first), choice("right of it", "second", second)
    layers = (element("img", class_=name, alt="", draggable="false") for name in ("under", "over"))
    return element(
        "div",
        element("div", *choices, class_="choices"),
        element("div", *layers, element("div", element("span", class_="knob"), class_="line"), class_="stage frame"),
        element("input", type="range", min=0, max=100, value=50, aria_label="line between the pictures, percent"),
        class_="wipe",
        hidden=True,
    )


def wipe_page(title: str, text: str, pictures: Mapping[str, str], figures: Mapping[str, str]) -> str:
    """A page that wipes between any two pictures of equal width, with a table of figures below.

    Parameters
    ----------
    title, text
        The heading and the paragraph below it.
    pictures
        What each picture shows, by the name of its file. The files lie beside the page.
    figures
        The values, by what they are.
    """
    files = list(pictures)
    rows = (element("tr", element("th", name, scope="row"), element("td", value)) for name, value in figures.items())
    return page(
        title,
        element("h1", title),
        element("p", text),
        wipe_box(pictures, files[0], files[2]),
        element("p", "Drag, or use the slider, to wipe between the two pictures."),
        element("table", element("tbody", *rows)),
        style=part("page.css"),
        script=part("line.js") + part("wipe.js") + 'wipe(document.querySelector(".wipe"), file => file);',
    )
