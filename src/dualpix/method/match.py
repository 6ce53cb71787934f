"""The local term of dual pixels: from two grey planes to one parabola a pixel.

A pixel's cost around its best disparity is ``A d^2 + B d + gamma`` (alpha and beta in the paper). The vertex
``-B / (2 A)`` is the pixel's own estimate of d, and A says how far to trust it.

Called by `kinds.DualPixel.match`; another local term goes there.
"""

import math

import numpy as np

from .. import _core
from ..params.definitions import Matching
from ..types import Map, Parabolas, Planes, as_row, empty_like
from .grey import DETAIL_REACH, detail
from .search import Span
from .subpixel import HISTEQ_BIAS
from .window import block_side, block_taps, window_reach

Views = tuple[Map, Map]

CENSUS_REACH = 2  # px, half of the window of a census code


def local_parabolas(planes: Planes, span: Span, matching: Matching, threads: int) -> Parabolas:
    """The parabola of every pixel of the left view, from the windowed cost at whole disparities.

    The disparities, three or more, are in pixels of the planes. The best is never the first or the last of them, so
    that it has two neighbours.
    """
    compared, correlated = seen_by(planes, matching, threads)
    left, right = coded(compared, matching.cost, threads)
    A, B = empty_like(left), empty_like(left)
    _core.match(
        left,
        right,
        A,
        B,
        first=span.disparities.start,
        count=len(span.disparities),
        side=block_side(matching),
        taps=block_taps(matching),
        subpixel=_core.Subpixel[matching.subpixel],
        bias=as_row(HISTEQ_BIAS),
        encc_window=matching.encc_window,
        encc_left=correlated[0],
        encc_right=correlated[1],
        ratio_threshold=matching.ratio_threshold,
        noise_floor=matching.noise_floor,
        cost=_core.Cost[matching.cost],
        threads=threads,
        ranges=span.tiles,
    )
    return Parabolas(A, B)


def seen_by(planes: Planes, matching: Matching, threads: int) -> tuple[Views, Views]:
    """The views that the cost compares, and those that encc correlates: the planes themselves or their detail."""
    plain = planes.left, planes.right
    if matching.detail == "none":
        return plain, plain
    fine = detail(planes.left, threads), detail(planes.right, threads)
    return fine, plain if matching.detail == "cost" else fine


def coded(views: Views, cost: str, threads: int) -> Views:
    """What the cost compares: the views, or their census codes."""
    if cost != "census":
        return views
    codes = empty_like(views[0]), empty_like(views[1])
    for view, code in zip(views, codes, strict=True):
        _core.census(view, code, threads)
    return codes


def margin(matching: Matching) -> int:
    """Pixels around a tile that the local term needs: its windows, and the columns of the border without the shift."""
    return max(windows(matching), _border(matching, 0)) + 1


def windows(matching: Matching) -> int:
    """Pixels around a pixel that its cost and its sub-pixel position depend on, beside the shift."""
    smoothing = DETAIL_REACH if matching.detail != "none" else 0
    codes = CENSUS_REACH if matching.cost == "census" else 0
    return smoothing + max(codes + window_reach(matching), matching.encc_window // 2)


def shift(disparities: range) -> int:
    """Columns beside a tile where the other view may show its pixels."""
    return max(abs(disparities[0]), abs(disparities[-1]))


def _border(matching: Matching, reach: int) -> int:
    """Number of columns at each edge where A and B are divided."""
    return math.floor(2 * matching.window + reach + 0.5)


def border_divisor(width: int, disparities: range, matching: Matching) -> Map:
    """The divisor of A and B in each column. The views overlap badly at the left and right edge.

    It falls linearly from ``border`` at the edge to 1 over ``round(2 omega + max|d|)`` columns.
    """
    columns = _border(matching, shift(disparities))
    x = np.arange(width)
    distance = np.minimum(x, x[::-1])
    return as_row(np.maximum(matching.border - (matching.border - 1) * distance / max(columns - 1, 1), 1))
