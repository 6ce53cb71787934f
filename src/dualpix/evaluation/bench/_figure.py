"""Drawings made of lines, bars and text, written as SVG or PNG."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...render.pages import Html, element

LIGHT = {"paper": "#ffffff", "ink": "#1c1f24", "quiet": "#565c67", "rule": "#d9dce2"}
DARK = {"paper": "#14171c", "ink": "#e8eaee", "quiet": "#a3aab6", "rule": "#363c46"}
COLOURS = {"ours": "#2f7fd6", "theirs": "#8b909a", "first": "#2f7fd6", "second": "#d9690b", "third": "#25966a"}
LETTERS = 13  # px, font size
SCALE = 2  # a PNG has this many pixels for one of the drawing
FRACTION = 4  # fractional bits of OpenCV's coordinates


class Line(NamedTuple):
    """A polyline. The colour is a key of LIGHT or COLOURS, as for the other shapes."""

    points: list[tuple[float, float]]
    colour: str
    width: float = 1


class Bar(NamedTuple):
    """A filled rectangle."""

    x: float
    y: float
    width: float
    height: float
    colour: str


class Words(NamedTuple):
    """A line of ASCII text on the baseline y. The anchor says what is at x: its "start", "middle" or "end"."""

    text: str
    x: float
    y: float
    anchor: str = "start"
    colour: str = "quiet"


Shape = Line | Bar | Words


def svg(shapes: list[Shape], width: int, height: int, label: str) -> bytes:
    """The drawing as SVG. It is light or dark, like the reader's system."""
    themed = f":root {{ {_variables(LIGHT)} }} @media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}"
    letters = f"text {{ font: {LETTERS}px system-ui, sans-serif; }} polyline {{ fill: none; stroke-linejoin: round; }}"
    picture = element(
        "svg",
        element("style", Html(f"{themed} {letters}")),
        *map(_svg, [Bar(0, 0, width, height, "paper"), *shapes]),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=label,
    )
    return f"{picture}\n".encode()


def _variables(theme: dict[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in theme.items())


def _svg(shape: Shape) -> Html:
    colour = COLOURS.get(shape.colour, f"var(--{shape.colour})")
    if isinstance(shape, Line):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
        return element("polyline", points=points, style=f"stroke: {colour}; stroke-width: {shape.width}")
    if isinstance(shape, Bar):
        x, y, width, height = (f"{value:.1f}" for value in shape[:4])
        return element("rect", x=x, y=y, width=width, height=height, style=f"fill: {colour}")
    where = {"x": f"{shape.x:.1f}", "y": f"{shape.y:.1f}", "text_anchor": shape.anchor}
    return element("text", shape.text, **where, style=f"fill: {colour}")


def png(shapes: list[Shape], width: int, height: int, label: str) -> bytes:
    """The drawing as PNG, in light colours. A PNG has no label."""
    import cv2

    canvas = np.empty((SCALE * height, SCALE * width, 3), np.uint8)
    for shape in [Bar(0, 0, width, height, "paper"), *shapes]:
        _draw(canvas, shape)
    return bytes(cv2.imencode(".png", canvas)[1])


def _draw(canvas: npt.NDArray[np.uint8], shape: Shape) -> None:
    import cv2

    code = (LIGHT | COLOURS)[shape.colour]
    colour = tuple(int(code[i : i + 2], 16) for i in (5, 3, 1))  # OpenCV wants BGR

    def pixels(*values: float) -> Any:
        return [round(SCALE * value * 2**FRACTION) for value in values]

    if isinstance(shape, Line):
        points = np.array([pixels(*point) for point in shape.points], np.int32)
        thick = max(1, round(SCALE * shape.width))
        cv2.polylines(canvas, [points], False, colour, thick, cv2.LINE_AA, FRACTION)
    elif isinstance(shape, Bar):
        x0, y0, x1, y1 = (round(SCALE * v) for v in (shape.x, shape.y, shape.x + shape.width, shape.y + shape.height))
        canvas[y0:y1, x0:x1] = colour
    else:
        font, size = cv2.FONT_HERSHEY_SIMPLEX, SCALE * LETTERS / 32  # at size 1 the letters are 32 px high
        length = cv2.getTextSize(shape.text, font, size, 1)[0][0]
        x = SCALE * shape.x - length * {"start": 0, "middle": 0.5, "end": 1}[shape.anchor]
        cv2.putText(canvas, shape.text, (round(x), round(SCALE * shape.y)), font, size, colour, 1, cv2.LINE_AA)
