"""Removal of small steps, ridges and streaks from a dense map."""

import math

from .. import _core
from ..types import Map, copy_of_map, empty_like, halved

SCALES = 3  # the windows are 5, 10 and 20 px wide
WINDOWS, PYRAMID = 4, 3  # px of a scale around a pixel: two windows of the filter, and what halving and doubling add
LEAST = 1e-6  # px; a smaller step changes nothing
ANY = -math.inf, math.inf


def reach(scales: int = SCALES) -> int:
    """Pixels around a pixel that its result depends on."""
    return WINDOWS + (PYRAMID + 2 * reach(scales - 1) if scales > 1 else 0)


def polished(d: Map, step: float, threads: int, limits: tuple[float, float] = ANY, scales: int = SCALES) -> Map:
    """The map, smoothed where it varies by less than `step` px within 5x5 pixels, and by less in larger windows.

    It is the guided filter of He, Sun and Tang (2010) with the map as its own guide, ``eps = step^2`` and the share
    ``a = v^2 / (v^2 + eps^2)`` of the variance v instead of ``v / (v + eps)``, which flattens thin things. Before that,
    what it changes in the halved map, with a third of the eps, is added. So depth edges stay sharp; the stairs and
    streaks that paths leave on slanted surfaces go. The result is clipped to the limits. The map d is used up.
    """
    add_change(d, step, threads, scales)
    out = empty_like(d)
    low, high = limits
    _core.polish(d, out, eps=eps_of(step), low=low, high=high, threads=threads)
    return out


def add_change(d: Map, step: float, threads: int, scales: int) -> None:
    """Add to the map what the filter changes in the halved map, in place. With one scale that is nothing."""
    if scales == 1:
        return
    half, step = halved(d, threads), step / math.sqrt(3)
    smoothed = half if scales == 2 else copy_of_map(half, threads)
    add_change(smoothed, step, threads, scales - 1)
    change = empty_like(half)
    low, high = ANY
    _core.polish(smoothed, change, eps=eps_of(step), low=low, high=high, threads=threads, minus=half)
    _core.pyramid_up(change, d, add=True, threads=threads)


def eps_of(step: float) -> float:
    """The parameter of the filter that smooths steps well below `step` px."""
    return max(step, LEAST) ** 2
