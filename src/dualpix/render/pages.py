"""Pages to look at results with: plain HTML that opens from disk and asks for nothing but what stands in it."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Mapping
from importlib import resources

VOID = ("img", "input", "link", "meta")


class Html(str):
    """Markup. Any other string is text, and is escaped where it becomes part of a page."""


def element(tag: str, /, *children: str, **attributes: object) -> Html:
    """``<tag attributes>children</tag>``; ``class_`` is written class, ``data_low`` data-low.

    An attribute that is None or False is left out, one that is True has no value.
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}
    written = "".join(
        f" {key}" if value is True else f' {key}="{joined(value if isinstance(value, str) else str(value))}"'
        for key, value in given.items()
        if value is not None and value is not False
    )
    return Html(f"<{tag}{written}>" if tag in VOID else f"<{tag}{written}>{joined(*children)}</{tag}>")


def joined(*children: str) -> Html:
    """One after the other, what is not markup escaped."""
    return Html("".join(child if isinstance(child, Html) else html.escape(child) for child in children))


def part(name: str) -> Html:
    """A style sheet or script of this package."""
    return Html(resources.files(__package__).joinpath("web", name).read_text(encoding="utf-8"))


def data_uri(kind: str, content: bytes) -> Html:
    """The address of a picture that is its own content, such as of ``kind`` image/png."""
    return Html(f"data:{kind};base64,{b64encode(content).decode()}")


def page(title: str, *body: str, style: str, script: str, policy: str | None = None) -> str:
    """A whole page; `policy` is what the browser is to let it do (Content-Security-Policy)."""
    head = joined(
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=policy) if policy else "",
        element("link", rel="icon", href="data:,"),  # or browsers ask for one
        element("title", title),
        element("style", Html(style)),
    )
    return "<!doctype html>\n" + element(
        "html", element("head", head), element("body", *body, element("script", Html(script))), lang="en"
    )


def scroll_box(table: Html, label: str, name: str = "") -> Html:
    """A wide table that scrolls by itself, with the keyboard too."""
    return element("div", table, class_=f"scroll {name}".strip(), role="region", tabindex=0, aria_label=label)


def wipe_box(pictures: Mapping[str, str], first: str, second: str) -> Html:
    """Two of the pictures over each other, with a line to drag between them; ``wipe.js`` makes it move.

    Parameters
    ----------
    pictures
        What each shows, by the name under which the script finds it.
    first, second
        The ones left and right of the line to begin with.
    """

    def choice(text: str, name: str, chosen: str) -> Html:
        options = (element("option", text, value=key, selected=key == chosen) for key, text in pictures.items())
        return element("label", text, " ", element("select", *options, class_=name))

    choices = choice("left of the line", "first", first), choice("right of it", "second", second)
    layers = (element("img", class_=name, alt="", draggable="false") for name in ("under", "over"))
    return element(
        "div",
        element("div", *choices, class_="choices"),
        element("div", *layers, element("div", class_="line"), class_="stage frame"),
        element("input", type="range", min=0, max=100, value=50, aria_label="line between the pictures, percent"),
        class_="wipe",
        hidden=True,
    )


def wipe_page(title: str, text: str, pictures: Mapping[str, str], figures: Mapping[str, str]) -> str:
    """A page that wipes between any two pictures of one width, given as file names beside it with what they show.

    Below stands a table of figures: what they are, and their value with its unit.
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
        script=part("wipe.js") + 'wipe(document.querySelector(".wipe"), file => file);',
    )
