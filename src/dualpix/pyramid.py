"""Scales: the Gaussian pyramid, and the way from coarse to fine with any one-scale solver."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from . import _core
from .aggregation import minimizer
from .arrays import Map


class Level(NamedTuple):
    """The planes of one scale, on a 0..255 scale."""

    left: Map
    right: Map
    guide: Map


class Coefficients(NamedTuple):
    """Aggregated parabolas A d^2 + B d, one a pixel."""

    A: Map
    B: Map


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


def _half(image: Map, threads: int) -> Map:
    half = np.empty([(n + 1) // 2 for n in image.shape], np.float32)
    _core.pyramid_down(image, half, threads)
    return half


def coarse_to_fine(levels: list[Level], solve: Solver, limits: tuple[float, float]) -> Coefficients:
    """Solve scale after scale, each the prior of the next.

    ``solve(level, disparities, prior, scale)`` gets whole disparities of its own scale and the coefficients of
    the coarser one (None at the first). ``limits`` are disparities at full size. Levels are let go once used.
    """
    coefficients, disparities = None, first_disparities(limits, len(levels))
    for scale in range(len(levels)):
        if coefficients is not None:
            disparities = next_disparities(coefficients)
        coefficients = solve(levels[scale], disparities, coefficients, scale)
        levels[scale] = Level(*[np.empty((0, 0), np.float32)] * 3)
    assert coefficients is not None
    return coefficients


def first_disparities(limits: Sequence[float], scales: int) -> range:
    """Whole disparities of the coarsest scale that cover the limits, given at full size; at least three."""
    low, high = (limit / 2 ** (scales - 1) for limit in limits)
    first, last = math.floor(low), math.ceil(high)
    return range(first, last + 1) if last - first >= 2 else range(first - 1, last + 2)


def next_disparities(coarser: Coefficients) -> range:
    """Whole disparities that cover the coarser scale's, doubled, with a margin of two.

    Bilinear upsampling neither adds a larger nor a smaller minimiser, so the coarse map is enough.
    """
    d = minimizer(*coarser)
    return range(round(2 * float(d.min())) - 2, math.ceil(2 * float(d.max())) + 3)
