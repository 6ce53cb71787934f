"""Removal of small steps and ridges from a dense map."""

import numpy as np

from .. import _core
from ..types import Map

REACH = 4  # px around a pixel that its result depends on
LEAST = 1e-6  # px; a smaller step changes nothing


def polished(d: Map, step: float, threads: int) -> Map:
    """The map, smoothed where it varies by less than `step` px within 5x5 pixels.

    It is the guided filter of He, Sun and Tang (2010) with the map as its own guide and ``eps = step^2``. Depth edges
    stay sharp; the stairs and streaks that paths leave on slanted surfaces go.
    """
    out = np.empty_like(d)
    _core.polish(np.ascontiguousarray(d), out, eps=max(step, LEAST) ** 2, threads=threads)
    return out
