"""The roofline: how fast the kernels compute, beside what memory and arithmetic of the machine allow.

A kernel that does i operations for each byte that it must move cannot do more than ``min(i bandwidth, peak)`` of them
per second. The nearer its dot is to the roof, the less there is to win.
"""

from collections.abc import Mapping
from typing import Any

from ...method.scales import passes_of
from ...method.window import block_side, block_taps
from ...params import preset
from ...params.definitions import Matching
from ._figure import Bar, Line, Shape, Words
from ._panels import Panel, levels, limits, nothing, scale

WIDTH, HEIGHT = 884, 420  # px of the panel
AXES = (56, 40, WIDTH - 30, HEIGHT - 50)  # left, top, right, bottom
LABEL, LETTER, ROW = 180, 7, 16  # px, room for the name of a dot, one of its letters, its height
TITLE = "operations per second (G), by operations per byte that must be moved"

# Operations of a pixel. An addition, a product, a quotient or a comparison is one; moves are none.
EDGE = 24  # the weight of an edge: a square, an exponential of six terms, 8 bits
# A step of a path. Message: D A + N, its lower bound, a quotient, times A and B. Then two sums for the path, and two
# for the pixel. The robust D is (unit + (d_p - d_q)^2)^2.
MESSAGE, ROBUST = 10, 14
CENSUS = 48  # 24 comparisons, and their bits
PEAK = 60  # encc: both neighbours of a disparity, and the better one
MINIMA = 8  # a cost compared with the lowest ones so far
FLOAT = 4  # bytes
LARGE = 3000, 5000  # px: a picture of several scales
FINEST = passes_of(preset("auto"), LARGE)[-1]  # passes of its finest scale, the first plain, the others robust


def operations(matching: Matching, paths: int, count: int) -> dict[str, float]:
    """Operations of a pixel by kernel. The cost is that of `count` disparities, encc that of the three it needs."""
    side, taps = block_side(matching), len(block_taps(matching))
    # both sides of the window share their taps: an addition, a product and an addition each; along x and y
    window = 2 * (3 * (taps - 1) + 1)
    # difference, absolute value and sum of each pixel, the window and the minima of each block
    cost = count * (3 + (window + MINIMA) / side**2)
    return {
        "cost": cost,
        "encc": 3 * (3 + 2 * 2 * box_additions(matching.encc_window)) + PEAK,
        "edge weights": paths / 2 * EDGE,
        "aggregation": paths * MESSAGE,
        "aggregation in passes": paths * (MESSAGE + (FINEST - 1) * ROBUST) / FINEST,
        "census": CENSUS,
    }


def box_additions(side: int) -> int:
    """Additions of a pixel for a sum over `side` neighbours, from sums of 2, 4, 8 ... of them."""
    return side.bit_length() - 1 + side.bit_count() - 1


def moved(paths: int) -> dict[str, float]:
    """Bytes of a pixel that each kernel must read or write, by kernel."""
    plain = 5.0  # alpha, beta, A, B, and the guide for the weights
    robust = plain + 1.5  # and d, and the vertices in 16 bits
    passes = (plain + 1 + (FINEST - 1) * robust) / FINEST  # the first writes d, too; each counts as if it were alone
    maps = {"cost": 4.0, "encc": 4.0, "aggregation": plain, "aggregation in passes": passes, "census": 2.0}
    # the guide, and 8 bits for every edge of a pixel
    return {name: FLOAT * each for name, each in maps.items()} | {"edge weights": FLOAT + paths / 2}


def roofline(
    seconds: Mapping[str, float], pixels: int, matching: Matching, paths: int, count: int
) -> dict[str, dict[str, float]]:
    """Operations, bytes and seconds of each kernel that was measured."""
    needed, bytes_of = operations(matching, paths, count), moved(paths)
    return {
        name: {"operations": needed[name] * pixels, "bytes": bytes_of[name] * pixels, "seconds": seconds[name]}
        for name in needed
    }


def panel(kernels: Mapping[str, Any]) -> Panel:
    """The dots of the kernels under the roof of the machine."""
    bandwidth, peak = kernels["limits"]["bytes_per_second"], 2 * kernels["limits"]["multiply_adds_per_second"]
    dots = {
        name: (each["operations"] / each["bytes"], 1e-9 * each["operations"] / each["seconds"])
        for name, each in kernels["roofline"].items()
        if each["seconds"] > 0
    }
    if not dots:
        return nothing(TITLE)
    ridge = peak / bandwidth
    xs = limits([ridge, *(x for x, _ in dots.values())])
    ys = limits([1e-9 * peak, 1e-9 * bandwidth * xs[0], *(y for _, y in dots.values())])
    left, top, right, bottom = AXES
    x_at, y_at = scale(*xs, left, right), scale(*ys, bottom, top)
    shapes = _grid(xs, ys)
    foot = max(xs[0], 1e9 * ys[0] / bandwidth)
    roof = [(foot, 1e-9 * bandwidth * foot), (ridge, 1e-9 * peak), (xs[1], 1e-9 * peak)]
    shapes.append(Line([(x_at(x), y_at(y)) for x, y in roof], "third", 2.5))
    shapes.append(Words(f"arithmetic, {1e-9 * peak:.0f} G/s", right, y_at(1e-9 * peak) - 8, "end"))
    shapes.append(Words(f"memory, {1e-9 * bandwidth:.0f} GB/s", x_at(foot) + 40, y_at(roof[0][1]) + 8))
    places = [Words("", x_at(x), y_at(y) + 4) for x, y in dots.values()]
    labels: list[Words] = []
    for name, (x, y) in sorted(dots.items(), key=lambda dot: -dot[1][1]):  # a label moves down if it must
        shapes.append(Bar(x_at(x) - 4, y_at(y) - 4, 8, 8, "ours"))
        share = y / min(1e-9 * bandwidth * x, 1e-9 * peak)
        late = x_at(x) > right - LABEL
        label = Words(
            f"{name}, {share:.0%}", x_at(x) + (-8 if late else 8), y_at(y) + 4, "end" if late else "start", "ink"
        )
        while any(_touch(label, each) for each in (*places, *labels)):
            label = label._replace(y=label.y + 1)
        labels.append(label)
    return [*shapes, *labels], HEIGHT


def _touch(one: Words, other: Words) -> bool:
    (a, b), (c, d) = (
        (each.x - width, each.x) if each.anchor == "end" else (each.x, each.x + width)
        for each, width in ((each, LETTER * len(each.text)) for each in (one, other))
    )
    return a < d and c < b and abs(one.y - other.y) < ROW


def _grid(xs: tuple[float, float], ys: tuple[float, float]) -> list[Shape]:
    """Title, and lines at round numbers."""
    left, top, right, bottom = AXES
    x_at, y_at = scale(*xs, left, right), scale(*ys, bottom, top)
    shapes: list[Shape] = [Words(TITLE, 0, 14, colour="ink")]
    for y in levels(*ys):
        shapes.append(Line([(left, y_at(y)), (right, y_at(y))], "rule"))
        shapes.append(Words(f"{y:g}", left - 6, y_at(y) + 4, "end"))
    for x in levels(*xs):
        shapes.append(Line([(x_at(x), top), (x_at(x), bottom)], "rule"))
        shapes.append(Words(f"{x:g}", x_at(x), bottom + 20, "middle"))
    return shapes
