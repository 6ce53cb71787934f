"""The pictures of every scene: two large ones to wipe between, a gallery, and the values under the pointer."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ...render.pages import Html, data_uri, element, joined, scroll_box, wipe_box
from ...types import Map
from ..outcomes import Comparison
from ..samples import FEW, SMALLEST, fit_into, sampled
from ._looks import COARSE, SIGNED, Look
from ._pictures import STEPS, Scale, painted, photograph, ramp, shrunk
from ._ranking import NOTHING, number, score_name, score_number, score_text

ROOM = 14_000_000  # bytes for all scenes, so that the whole page stays under 15 MB

RELATIVE = """The ground truth is known only up to scale and offset, so each map was fitted to it: a · disparity + b,
with a and b by least squares, weighted if the data set has weights. Values and errors are in the unit of the truth."""
IN_PIXELS = """Values and errors are in pixels of the input: d = x_left - x_right, larger is nearer. Beside the name of
a method stand its mean errors away from depth edges (smooth) and within 10 px of them (edges)."""
GAIN = "Each map was multiplied by its gain, a factor that was fitted to the truth of the scene."
SHOWN = f"""All maps of a scene share one colour scale. Errors are map less truth: red is too near, blue is too far,
white is right; their scale is the same for all scenes. Confidences go from dark (unsure) over green to white (sure).
Grey pixels have no value. Maps too large for the page are
reduced by taking single pixels, not means. Values are rounded to 1/{STEPS} of their scale, errors to 1/{SIGNED},
confidences to 1/{COARSE}."""
HANDLING = """Drag across the large picture, or move the slider, to wipe between two pictures. Point at any picture, or
touch it, to see the values of all methods there. Click a small picture to see it large."""

SPLIT = ("smooth", "edges")  # scores that say where the error is
CONFIDENCE = Scale(0, 1, COARSE, "sure")
ENDS = {"truth": ("≤ ", "≥ "), "map": ("≤ ", "≥ "), "error": ("≤ ", "≥ "), "confidence": ("", "")}


class _Picture(NamedTuple):
    """A picture of the page. Its `id` is unique."""

    id: str
    text: str
    image: Html


Pictures = dict[tuple[str, str], _Picture]  # by method ("" for the scene itself) and kind


def scenes(comparison: Comparison, looks: Sequence[Look], ranked: list[str]) -> Html:
    """The list of all scenes, their pictures, and a text on how to read them."""
    if not looks:
        return Html()
    unit = IN_PIXELS if looks[0].scene.in_pixels else RELATIVE
    fitted = any("gain" in each.scores.get(comparison.measure[0], {}) for each in comparison.outcomes)
    sections = _sections(comparison, looks, ranked)
    return element(
        "section",
        element("h2", "Scenes"),
        _overview(comparison, looks, ranked, sections),
        element("p", f"{unit} {GAIN * fitted}".rstrip()),
        element("p", SHOWN),
        element("p", HANDLING, class_="handling"),
        *(sections[n] for n in sorted(sections)),
        class_="scenes",
    )


def _overview(comparison: Comparison, looks: Sequence[Look], ranked: list[str], shown: dict[int, Html]) -> Html:
    """A table of the measure: a row for every scene, a column for every method."""
    protocol, measure = comparison.measure

    def row(n: int, look: Look) -> Html:
        name = look.scene.name
        cells = []
        for method in ranked:
            outcome = look.outcomes.get(method)
            value = outcome.scores.get(protocol, {}).get(measure, math.nan) if outcome else math.nan
            known = value if math.isfinite(value) else None
            cells.append(element("td", score_number(measure, value), data_value=known))
        link = element("a", name, href=f"#scene-{n}") if n in shown else name
        return element("tr", element("th", link, scope="row", data_value=name), *cells)

    heads = (element("th", element("button", text, type="button"), scope="col") for text in ("scene", *ranked))
    body = element("tbody", *(row(n, look) for n, look in enumerate(looks, 1)))
    table = element("table", element("thead", element("tr", *heads)), body, class_="overview sortable")
    left_out = len(looks) - len(shown)
    few = f" The page has no room for the pictures of {left_out} of them; the others span good and bad scenes."
    name = score_name(measure)
    what = f"{name[:1].upper()}{name[1:]} (protocol {protocol}) of every scene.{few * bool(left_out)}"
    text = element("p", f"{what} Click a head of the table to sort by it.", class_="quiet")
    return joined(text, scroll_box(table, "scenes", "long"))


def _sections(comparison: Comparison, looks: Sequence[Look], ranked: list[str]) -> dict[int, Html]:
    """The scenes by number, counted from 1; those that the room in bytes allows.

    With many scenes, the browser makes their pictures when they come into view.
    """
    protocol, measure = comparison.measure
    first = {each.scene: each.scores.get(protocol, {}).get(measure, 0.0) for each in comparison.finished(ranked[0])}
    worst_first = sorted(range(len(looks)), key=lambda i: -first.get(looks[i].scene.name, math.inf))
    made: dict[int, Html] = {}
    used = 0
    for place in _spread(len(looks)):
        n = worst_first[place] + 1
        section = _fitting(comparison, looks[n - 1], ranked, n, ROOM // len(looks), lazy=len(looks) > FEW)
        used += len(section)
        if used > ROOM and made:
            break
        made[n] = section
    return made


def _spread(n: int) -> list[int]:
    """0 to n - 1, so ordered that the first few are spread over all: the bits of their places are reversed."""
    bits = n.bit_length()
    return sorted(range(n), key=lambda i: int(f"{i:0{bits}b}"[::-1], 2))


def _fitting(comparison: Comparison, look: Look, ranked: list[str], n: int, room: int, *, lazy: bool) -> Html:
    """A scene with pictures as large as the room in bytes allows."""
    side = max(look.truth.shape)
    while len(section := _section(comparison, look, ranked, n, side, lazy=lazy)) > room and side > SMALLEST:
        side = max(SMALLEST, int(side * min(0.95, math.sqrt(room / len(section)))))
    return section


def _section(comparison: Comparison, look: Look, ranked: list[str], n: int, side: int, *, lazy: bool) -> Html:
    height, width = look.scene.truth.shape
    pictures = _pictures(look, ranked, f"scene-{n}", side)
    best = next((pictures[method, "map"] for method in ranked if method in look.maps), pictures["", "image"])
    names = {picture.id: picture.text for picture in pictures.values()}
    box = wipe_box(names, pictures["", "truth"].id, best.id)
    readout = _readout(look, ranked, pictures)
    content = element("div", box, readout, class_="compare"), _gallery(comparison, look, ranked, pictures)
    return element(
        "section",
        element("h3", look.scene.name),
        *([element("template", *content)] if lazy else content),
        class_="scene lazy" if lazy else "scene",
        id=f"scene-{n}",
        style=f"--ratio: {width / height:.4f}",
    )


def _pictures(look: Look, ranked: list[str], prefix: str, side: int) -> Pictures:
    shape = fit_into(look.truth.shape, side)
    pictures: Pictures = {}

    def add(method: str, kind: str, uri: Html, scale: Scale | None) -> None:
        name = f"{prefix}-{len(pictures)}"
        text = {"truth": "ground truth", "map": method}.get(kind, f"{method} {kind}".strip())
        read = {} if scale is None else _readable(kind, scale)
        alt = f"{text}, scene {look.scene.name}"
        image = element("img", id=name, src=uri, alt=alt, width=shape[1], height=shape[0], **read)
        pictures[method, kind] = _Picture(name, text, image)

    def paint(method: str, kind: str, values: Map, scale: Scale) -> None:
        add(method, kind, data_uri("image/png", painted(sampled(values, shape), scale)), scale)

    add("", "image", data_uri("image/jpeg", photograph(shrunk(look.photo, shape))), None)
    paint("", "truth", look.truth, look.values_scale)
    for method in ranked:
        if (maps := look.maps.get(method)) is not None:
            paint(method, "map", maps.values, look.values_scale)
            paint(method, "error", maps.error, look.error_scale)
            if maps.confidence is not None:
                paint(method, "confidence", maps.confidence, CONFIDENCE)
    return pictures


def _readable(kind: str, scale: Scale) -> dict[str, object]:
    """What the script needs to read values from the colours, and its marks for values beyond the ends."""
    below, above = ENDS[kind]
    return {
        "data_low": f"{scale.low:.6g}",
        "data_high": f"{scale.high:.6g}",
        "data_digits": scale.digits,
        "data_below": below,
        "data_above": above,
        "data_ramp": scale.colours,
    }


def _readout(look: Look, ranked: list[str], pictures: Pictures) -> Html:
    """A table for the values of all methods at the pointer. The script fills it."""

    def cell(method: str, kind: str) -> Html:
        picture = pictures.get((method, kind))
        return element("td", NOTHING, data_of=picture and picture.id)

    def row(name: str, *cells: Html) -> Html:
        return element("tr", element("th", name, scope="row"), *cells)

    heads = ("", f"value{_unit(look)}", f"error{_unit(look)}", "confidence")
    kinds = ("map", "error", "confidence")
    table = element(
        "table",
        element("caption", "Point at a picture for the values there."),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element(
            "tbody",
            row("ground truth", cell("", "truth"), element("td"), element("td")),
            *(row(method, *(cell(method, kind) for kind in kinds)) for method in ranked),
        ),
    )
    return scroll_box(table, f"values of scene {look.scene.name}", "readout")


def _gallery(comparison: Comparison, look: Look, ranked: list[str], pictures: Pictures) -> Html:
    """Photograph, truth and colour scales; and for each method its three pictures, or the reason for none."""
    scales = {"map and truth": look.values_scale, "error": look.error_scale, "confidence": CONFIDENCE}
    units = (_unit(look), f"{_unit(look)} (+: too near)", "")
    splits = look.splits()
    return element(
        "div",
        *(_figure(pictures["", kind], "wide") for kind in ("image", "truth")),
        *(_legend(title + unit, scale) for (title, scale), unit in zip(scales.items(), units, strict=True)),
        *(joined(_heading(comparison, look, method, splits), _row(look, method, pictures)) for method in ranked),
        class_="gallery",
    )


def _heading(comparison: Comparison, look: Look, method: str, splits: dict[str, dict[str, float]]) -> Html:
    outcome = look.outcomes.get(method)
    if outcome is None or method not in look.maps:
        return element("h4", method)
    protocol, measure = comparison.measure
    own = outcome.scores.get(protocol, {})
    if own.keys().isdisjoint(SPLIT):
        own = own | splits.get(method, {})
    scores = (score_text(name, own[name]) for name in (measure, *SPLIT) if name in own)
    figures = (*scores, f"{number(outcome.seconds, 2)} s", f"{number(outcome.megabytes, 0)} MB")
    unbroken = (figure.replace(" ", "\N{NO-BREAK SPACE}") for figure in figures)
    return element("h4", method, " ", element("small", ", ".join(unbroken)))


def _row(look: Look, method: str, pictures: Pictures) -> Html:
    if method not in look.maps:
        outcome = look.outcomes.get(method)
        return element("p", "not run" if outcome is None else outcome.error or "no map", class_="failed")
    shown = (pictures.get((method, kind)) for kind in ("map", "error", "confidence"))
    return joined(*(_figure(p) if p else element("p", "no confidence", class_="quiet") for p in shown))


def _figure(picture: _Picture, size: str | None = None) -> Html:
    frame = element("div", picture.image, class_="frame")
    return element("figure", frame, element("figcaption", picture.text), class_=size)


def _legend(title: str, scale: Scale) -> Html:
    low, high = number(scale.low, scale.digits), number(scale.high, scale.digits)
    source, name = data_uri("image/png", ramp(scale.colours)), f"ramp {scale.colours}"
    colours = element("img", src=source, alt=f"colours from {low} to {high}", class_=name)
    marks = (low, "0", high) if scale.colours == "signed" else (low, high)
    return element("div", title, colours, *(element("span", mark) for mark in marks), class_="legend")


def _unit(look: Look) -> str:
    return ", px" if look.scene.in_pixels else ""
