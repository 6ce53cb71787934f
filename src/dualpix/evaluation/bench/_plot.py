"""The record of a benchmark as one picture: bars of time and memory, and lines that show how they grow."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...errors import OutputError
from ._figure import Bar, Line, Shape, Words, png, svg
from ._methods import COUNT, NAMES, PRESETS
from ._panels import BARS, ROW, Panel, levels, limits, nothing, scale
from ._roofline import WIDTH
from ._roofline import panel as roofline_panel
from ._text import threads

FORMATS: dict[str, Callable[[list[Shape], int, int, str], bytes]] = {".svg": svg, ".png": png}
SHOWN = ("methods", "scaling", "kernels", "memory")  # sections that have panels
OURS = (*PRESETS, "stereo", "own SGM")
COLOURS = ("first", "second", "third")
PANEL = 430  # px, width of a panel
LINES = 330  # px, height of a panel of lines
NAME, VALUE = 130, 60  # px, room for the names left of the bars and for the figures right of them
AXES = (46, 88, PANEL - 20, LINES - 46)  # left, top, right, bottom of the axes in a panel of lines
LABEL = (
    "Bars of times and peak memory by method; lines of time and memory by disparities, megapixels and threads; "
    "the kernels under the roofline of the machine."
)
GAP = 24  # px, around every panel


def check_plot(path: str, sections: Sequence[str]) -> None:
    """Check before anything is measured that the plot can be drawn; raise OutputError if not."""
    if not path.lower().endswith(tuple(FORMATS)):
        raise OutputError(f"{path}: a plot is an .svg or .png file: give it one of these suffixes")
    if sections and not set(sections) & set(SHOWN):
        raise OutputError(f"{path}: a plot shows the sections {', '.join(SHOWN)}: add one of them to only=")


def encode_plot(path: str, record: Mapping[str, Any]) -> bytes:
    """The picture, in the format that the suffix names."""
    panels = list(_panels(record))
    shapes: list[Shape] = []
    y = GAP
    for pair in (panels[i : i + 2] for i in range(0, len(panels), 2)):
        for column, (drawn, _) in enumerate(pair):
            shapes += [_moved(shape, GAP + column * (PANEL + GAP), y) for shape in drawn]
        y += max(height for _, height in pair) + GAP
    width = GAP + min(len(panels), 2) * (PANEL + GAP)
    if "kernels" in record:
        drawn, height = roofline_panel(record["kernels"])
        shapes += [_moved(shape, GAP, y) for shape in drawn]
        y, width = y + height + GAP, WIDTH + 2 * GAP
    draw = next(encode for suffix, encode in FORMATS.items() if path.lower().endswith(suffix))
    return draw(shapes, width, y, LABEL)


def _panels(record: Mapping[str, Any]) -> Sequence[Panel]:
    panels = []
    if "methods" in record:
        pair = record["methods"]["pair"]
        ratios = {name: each["ratio"] for name, each in pair["methods"].items()}
        size = f"{pair['width']}x{pair['height']}, {threads(record)}"
        panels.append(_bars(f"time / {NAMES['5way']} ({COUNT} disparities), {size}", ratios, "{:.2f}"))
    if "memory" in record:
        pair = record["memory"]["pair"]
        found = {name: each["megabytes"] for name, each in pair["methods"].items() if "megabytes" in each}
        panels.append(_bars(f"peak memory of the process, MB, {pair['width']}x{pair['height']}", found, "{:.0f}"))
    if "scaling" in record:
        scaling = record["scaling"]
        panels.append(_lines("time, s, by disparities", scaling["disparities"], "seconds"))
        panels.append(_lines("time, s, by megapixels", {"auto": scaling["megapixels"]}, "seconds"))
        if len(scaling["threads"]["x"]) > 1:
            ideal = {"x": scaling["threads"]["x"], "speed_up": scaling["threads"]["x"], "exponent": None}
            measured = {**scaling["threads"], "exponent": None}
            panels.append(_lines("speed-up by threads", {"auto": measured, "ideal": ideal}, "speed_up"))
    if "memory" in record:
        panels.append(
            _lines("memory above the views, MB, by disparities", record["memory"]["disparities"], "above_views")
        )
    return panels


def _bars(title: str, measured: Mapping[str, float], form: str) -> Panel:
    values = {name: value for name, value in measured.items() if math.isfinite(value)}
    if not values:
        return nothing(title)
    longest = (PANEL - NAME - VALUE) / max(values.values())
    shapes: list[Shape] = [Words(title, 0, 14, colour="ink")]
    for i, (name, value) in enumerate(values.items()):
        y = BARS - 8 + i * ROW
        shapes.append(Words(name, NAME - 8, y + 13, "end"))
        shapes.append(Bar(NAME, y + 2, max(1, value * longest), ROW - 7, "ours" if name in OURS else "theirs"))
        shapes.append(Words(form.format(value), NAME + value * longest + 6, y + 13, colour="ink"))
    return shapes, BARS + ROW * len(values)


def _lines(title: str, series: Mapping[str, Any], what: str) -> Panel:
    """Lines over logarithmic axes. A legend above them shows names and exponents."""
    left, top, right, bottom = AXES
    xs = sorted({x for each in series.values() for x in each["x"]})
    ys = [y for each in series.values() for y in each[what] if math.isfinite(y) and y > 0]
    if not ys:
        return nothing(title)
    low, high = limits(ys)
    x_at = scale(xs[0], xs[-1], left, right)
    y_at = scale(low, high, bottom, top)
    shapes: list[Shape] = [Words(title, 0, 14, colour="ink")]
    for level in levels(low, high):
        shapes.append(Line([(left, y_at(level)), (right, y_at(level))], "rule"))
        shapes.append(Words(f"{level:g}", left - 6, y_at(level) + 4, "end"))
    shapes += [Words(f"{x:.3g}", x_at(x), bottom + 20, "middle") for x in xs]
    for i, ((name, each), colour) in enumerate(zip(series.items(), COLOURS, strict=False)):
        power = "" if each["exponent"] is None else f", exponent {round(each['exponent'], 2) + 0.0:.2f}"
        shapes.append(Line([(left, 30 + 17 * i), (left + 22, 30 + 17 * i)], colour, 2.5))
        shapes.append(Words(name + power, left + 30, 34 + 17 * i))
        points = [(x_at(x), y_at(y)) for x, y in zip(each["x"], each[what], strict=True) if math.isfinite(y) and y > 0]
        shapes.append(Line(points, colour, 2.5))
        shapes += [Bar(x - 3, y - 3, 6, 6, colour) for x, y in points]
    return shapes, LINES


def _moved(shape: Shape, x: float, y: float) -> Shape:
    if isinstance(shape, Line):
        return shape._replace(points=[(a + x, b + y) for a, b in shape.points])
    return shape._replace(x=shape.x + x, y=shape.y + y)
