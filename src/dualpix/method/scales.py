"""Scales: the Gaussian pyramid, and the way from coarse to fine with any one-scale solver."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .. import _core
from ..types import Map, Ranges
from .aggregate import minimizer


class Level(NamedTuple):
    """The planes of one scale, on a 0..255 scale."""

    left: Map
    right: Map
    guide: Map


class Coefficients(NamedTuple):
    """Aggregated parabolas A d^2 + B d, one a pixel."""

    A: Map
    B: Map


FIRST_REACH = 4  # px of the coarsest scale, on both sides of 0, where no limits are given
OUTLIERS = 0.001
TILE_MARGIN = 3  # px, of the finer scale
SAMPLE = 200_000  # pixels, about as many as are looked at for the extremes

Solver = Callable[[Level, range, Coefficients | None, int], Coefficients]


def pyramid(level: Level, scales: int, threads: int) -> list[Level]:
    """Levels from coarse to fine; pixel i of one lies at pixel 2 i of the next."""
    levels = [level]
    for _ in range(scales - 1):
        finer = levels[-1]
        left, right = _half(finer.left, threads), _half(finer.right, threads)
        guide = left if finer.guide is finer.left else _half(finer.guide, threads)
        levels.append(Level(left, right, guide))
    return levels[::-1]


def at_most(levels: list[Level], pixels: int, threads: int) -> Level:
    """The finest of the levels, or of coarser ones, that has no more pixels than that."""
    fine_to_coarse = levels[::-1]
    while fine_to_coarse[-1].left.size > pixels:
        fine_to_coarse.append(pyramid(fine_to_coarse[-1], 2, threads)[0])
    return next(level for level in fine_to_coarse if level.left.size <= pixels)


def _half(image: Map, threads: int) -> Map:
    half = np.empty([(n + 1) // 2 for n in image.shape], np.float32)
    _core.pyramid_down(image, half, threads)
    return half


def coarse_to_fine(
    levels: list[Level], solve: Solver, limits: tuple[float, float] | None, wide: bool = False
) -> Coefficients:
    """Solve scale after scale, each the prior of the next.

    ``solve(level, disparities, prior, scale)`` gets whole disparities of its own scale and the coefficients of the
    coarser one (None at the first). ``limits`` are disparities at full size; without, the coarsest scale finds them.
    With ``wide``, it looks far from the start. Levels are taken out of the list: a solver that lets go of its own
    frees it.
    """
    coefficients = None
    scales = len(levels)
    for scale in range(scales):
        if limits:
            disparities = searched(limits, 2 ** (scales - 1 - scale))
            if coefficients:
                disparities = narrowed(disparities, coefficients)
            coefficients = solve(levels.pop(0), disparities, coefficients, scale)
        elif coefficients:
            coefficients = solve(levels.pop(0), covering(coefficients), coefficients, scale)
        else:
            coefficients = explore(levels.pop(0), solve, wide)
    assert coefficients is not None
    return coefficients


def explore(level: Level, solve: Solver, wide: bool = False) -> Coefficients:
    """Solve the coarsest scale in a range that is doubled until the disparities found keep clear of its ends.

    Then once more in what they need: every disparity that is not there is one less to be mistaken for the right one.
    If a wider range never makes the pixels surer, there is nothing to be found, and the first one will do.
    """
    widest = max(level.left.shape[1] // 3, FIRST_REACH)
    reach = widest if wide else FIRST_REACH
    sureness = []
    while True:
        coefficients = solve(level, range(-reach - 1, reach + 2), None, 0)
        sureness.append(coefficients.A.mean(dtype=np.float64))
        low, high = extremes(coefficients)
        del coefficients
        clear = max(-low, high) < reach - 1
        if clear or 2 * reach > widest:
            break
        reach *= 2
    # Clear of the ends by chance, noise is less sure in a wider range.
    if len(sureness) > 1 and sureness[-1] <= sureness[0] * (0.5 if clear else 1):
        low, high = -FIRST_REACH, FIRST_REACH
    return solve(level, around(low, high), None, 0)


def extremes(coefficients: Coefficients) -> tuple[float, float]:
    """The disparities that all but a thousandth of the curvature lies between, at either end.

    Counted by curvature, a wild pixel or a wild region that knows nothing does not widen the range.
    """
    step = max(1, math.isqrt(coefficients.A.size // SAMPLE))
    A, B = (each[::step, ::step] for each in coefficients)
    A, d = A.ravel(), minimizer(A, B).ravel()
    order = np.argsort(d)
    share = np.cumsum(A[order], dtype=np.float64)
    low, high = np.searchsorted(share, share[-1] * np.array((OUTLIERS, 1 - OUTLIERS)))
    return float(d[order[low]]), float(d[order[min(high, d.size - 1)]])


def covering(coarser: Coefficients) -> range:
    """Whole disparities that cover those of the coarser scale but for outliers, doubled, with a margin of two."""
    low, high = extremes(coarser)
    return around(2 * low, 2 * high)


def tile_ranges(disparities: range, coarser: Coefficients, reach: int, threads: int) -> Ranges:
    """First and number of those of the disparities that each tile of the finer scale needs.

    They cover what the coarser scale has found there and up to ``reach`` px around, doubled, with a margin.
    """
    d = minimizer(*coarser, threads)
    tiles = [-(-n // (_core.tile // 2)) for n in d.shape]
    least, most = np.empty(tiles, np.float32), np.empty(tiles, np.float32)
    _core.tile_extremes(d, reach // 2 + 1, least, most, threads)
    first = np.clip(np.floor(2 * least) - TILE_MARGIN, disparities[0], disparities[-3])
    last = np.clip(np.ceil(2 * most) + TILE_MARGIN, first + 2, disparities[-1])
    return np.stack([first, last - first + 1], axis=2).astype(np.int32)


def around(low: float, high: float) -> range:
    """Whole disparities from low to high and two more on both sides."""
    return range(math.floor(low) - 2, math.ceil(high) + 3)


def searched(limits: Sequence[float], factor: int) -> range:
    """Whole disparities at 1/factor of the full size: the limits, and one more on both sides so that these can win."""
    return range(math.floor(limits[0] / factor) - 1, math.ceil(limits[1] / factor) + 2)


def narrowed(disparities: range, coarser: Coefficients) -> range:
    """Those of the disparities, at least three, that cover the coarser scale's, doubled, with a margin of two.

    Bilinear upsampling neither adds a larger nor a smaller minimiser, so the coarse map is enough.
    """
    d = minimizer(*coarser)
    first, last = disparities[0], disparities[-1]
    low = min(max(round(2 * float(d.min())) - 2, first), last - 2)
    high = min(max(math.ceil(2 * float(d.max())) + 2, low + 2), last)
    return range(low, high + 1)
