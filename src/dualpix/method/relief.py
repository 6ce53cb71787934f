"""The relief of a scene, and the window and the penalty that suit it.

The window and the penalty of the preset suit a scene of few, flat surfaces: they remove noise. On steep surfaces a
large window mixes disparities, and strong smoothing makes stairs. The coarser scale tells which kind of scene it is:
slopes in px per px are the same at every scale.
"""

import math

import numpy as np

from ..params import Params
from ..params.definitions import WINDOW
from ..quantiles import median
from ..types import Parabolas

STEEPEST = 0.27  # the least factor
SAMPLE = 60_000  # pixels that the relief is measured in


def relief_of(belief: Parabolas) -> float:
    """The median change of the disparity from one pixel to the next along x, px/px."""
    d = belief.disparity()
    step = max(1, math.isqrt(d.size // SAMPLE))
    rows = d[::step]
    return median(np.abs(rows[:, 1::step] - rows[:, :-1:step])) if d.shape[1] > 1 else 0.0


def fitted(params: Params, coarser: Parabolas | None) -> Params:
    """The parameters with the window and the penalty that suit the relief of the coarser scale.

    For the relief s, both are multiplied by ``f = relief / s``, but by 1 at most.
    """
    if coarser is None or not params.scales.relief:
        return params
    return scaled(params, min(max(params.scales.relief / max(relief_of(coarser), 1e-9), STEEPEST), 1.0))


def scaled(params: Params, f: float) -> Params:
    """The parameters with window and penalty multiplied by f; the window keeps its lower bound."""
    return params.replace(window=max(f * params.matching.window, WINDOW.low), penalty=f * params.aggregation.penalty)
