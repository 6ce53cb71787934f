"""Which disparities a scale and its tiles look at, once the range is decided.

The user or a calib.txt gives the range, else `range.find_range` finds it; `survey` decides which.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from ..types import Map, Parabolas, Ranges

FIRST_REACH = 4  # px of the coarsest scale: the range on both sides of 0 that is searched first
OUTLIERS = 0.001  # share of the curvature at either end that does not widen the range
TILE_MARGIN = 3  # px of the finer scale that a tile searches beyond what the coarser scale found
SAMPLE = 60_000  # pixels that the extremes are taken from
EVERY = 16  # of the sample, which tells where the extremes lie
CLEAR = 0.65  # share of the pixels that decides the order of the views; pairs have 0.84 or more, chance gives 0.5


@dataclass(frozen=True)
class Span:
    """What one scale searches.

    Attributes
    ----------
    disparities : range
        Whole disparities, three or more; the first and the last cannot win.
    tiles : int array or None
        First disparity and count of every tile of `_core.tile` pixels; None searches all disparities everywhere.
    """

    disparities: range
    tiles: Ranges | None = None


@dataclass(frozen=True)
class Search:
    """The range of disparities, in pixels of the matched planes at full size.

    Attributes
    ----------
    limits : (float, float) or None
        The requested range; None if it is automatic.
    start : (int, int) or None
        For an automatic range: the least and the largest disparity at the coarsest scale, px of that scale.
    order : float or None
        For stereo: share of the pixels that match better with a positive disparity than with a negative one.
    reach : int
        Pixels around a tile whose coarser disparities count for its range; 0 gives all tiles the same range.
    finest : (int, int) or None
        The least and the largest disparity at the finest scale, if already settled.
    """

    limits: tuple[float, float] | None = None
    start: tuple[int, int] | None = None
    order: float | None = None
    reach: int = 0
    finest: tuple[int, int] | None = None

    def at(self, factor: int, coarser: Parabolas | None = None, threads: int = 1) -> Span:
        """What the scale at 1/factor of the full size searches, given the belief of the next coarser scale."""
        if self.finest and factor == 1:
            disparities = range(self.finest[0], self.finest[1] + 1)
        elif self.limits:
            disparities = searched(self.limits, factor)
            if coarser:
                disparities = narrowed(disparities, coarser, threads)
        elif coarser:
            disparities = self.one_sided(covering(coarser))
        else:
            assert self.start is not None
            disparities = range(self.start[0], self.start[1] + 1)
        tiled = coarser is not None and self.reach > 0
        return Span(disparities, tile_ranges(disparities, coarser, self.reach, threads) if tiled and coarser else None)

    def limits_of(self, span: Span) -> tuple[float, float]:
        """The range at full size, to which the map is clipped: the requested one, or what the finest scale searched."""
        if self.limits:
            return self.limits
        ends = span.disparities if self.order is None else span.disparities[1:-1]
        return float(ends[0]), float(ends[-1])

    def settled(self, coarser: Parabolas, threads: int = 1) -> "Search":
        """The same search, with the finest scale's range settled by the belief of the whole coarser scale."""
        disparities = self.at(1, coarser, threads).disparities
        return replace(self, finest=(disparities[0], disparities[-1]))

    def within(self, limits: tuple[float, float]) -> "Search":
        """The same search with that range."""
        return replace(self, limits=limits)

    def one_sided(self, disparities: range) -> range:
        """The disparities on the side of 0 that the order of the views allows, three or more."""
        if self.order is not None and self.order > CLEAR:
            return range(max(disparities.start, -1), max(disparities.stop, 2))
        if self.order is not None and self.order < 1 - CLEAR:
            return range(min(disparities.start, -1), min(disparities.stop, 2))
        return disparities


def searched(limits: Sequence[float], factor: int) -> range:
    """Whole disparities at 1/factor of the full size: one more on each side, so that the limits can win."""
    return range(math.floor(limits[0] / factor) - 1, math.ceil(limits[1] / factor) + 2)


def narrowed(disparities: range, coarser: Parabolas, threads: int = 1) -> range:
    """The part of the range that covers twice the coarser scale's disparities, with a margin of 2 px.

    It holds three or more. Bilinear upsampling never adds a larger or a smaller vertex, so the coarse map is enough.
    """
    d = coarser.disparity(threads)
    first, last = disparities[0], disparities[-1]
    low = min(max(round(2 * float(d.min())) - 2, first), last - 2)
    high = min(max(math.ceil(2 * float(d.max())) + 2, low + 2), last)
    return range(low, high + 1)


def covering(coarser: Parabolas) -> range:
    """Whole disparities that cover twice the coarser scale's, without outliers, with a margin of 2 px."""
    low, high = extremes(coarser)
    return around(2 * low, 2 * high)


def around(low: float, high: float) -> range:
    """Whole disparities from low to high, and two more on each side."""
    return range(math.floor(low) - 2, math.ceil(high) + 3)


def extremes(belief: Parabolas) -> tuple[float, float]:
    """The range of the disparities, without a thousandth of the curvature at either end.

    A pixel counts by its curvature, so an outlier without texture does not widen the range.
    """
    step = max(1, math.isqrt(belief.A.size // SAMPLE))
    A, B = (np.ascontiguousarray(each[::step, ::step]) for each in (belief.A, belief.B))
    sample = Parabolas(A, B)
    A, d = A.ravel(), sample.disparity().ravel()
    outliers = OUTLIERS * float(A.sum(dtype=np.float64))
    return end_without(outliers, A, d), -end_without(outliers, A, -d)


def end_without(outliers: float, A: Map, d: Map) -> float:
    """The least disparity up to which the curvatures A sum to `outliers`. Only the low end of d is sorted."""
    some = np.sort(d[::EVERY])
    count = max(some.size // 64, 1)
    while True:
        whole = count >= some.size
        low = np.arange(d.size) if whole else np.flatnonzero(d <= some[count])
        order = low[np.argsort(d[low])]
        share = np.cumsum(A[order], dtype=np.float64)
        if share[-1] >= outliers or whole:
            return float(d[order[min(int(np.searchsorted(share, outliers)), len(order) - 1)]])
        count *= 4


def tile_ranges(disparities: range, coarser: Parabolas, reach: int, threads: int) -> Ranges:
    """First and count of the disparities that each tile of the finer scale needs.

    They cover twice the coarser scale's disparities in the tile and up to `reach` px around it, with a margin.
    """
    d = coarser.disparity(threads)
    tiles = [-(-n // (_core.tile // 2)) for n in d.shape]
    least, most = np.empty(tiles, np.float32), np.empty(tiles, np.float32)
    _core.tile_extremes(d, reach // 2 + 1, least, most, threads)
    first = np.clip(np.floor(2 * least) - TILE_MARGIN, disparities[0], disparities[-3])
    last = np.clip(np.ceil(2 * most) + TILE_MARGIN, first + 2, disparities[-1])
    return np.stack([first, last - first + 1], axis=2).astype(np.int32)
