"""The noise of the matches, and how weak the first pass may be.

The first pass of a scale smooths all steps, since nothing is known of them yet. So it flattens thin things. A weaker
one keeps them, but in a noisy picture it keeps noise, too. The matches themselves tell how noisy they are.
"""

import numpy as np

from ..params import Params
from ..quantiles import median
from ..run import Run
from ..types import Parabolas
from .kinds import Method
from .scales import Level
from .search import Search

NOISY = 0.06  # px at full size: with this noise the first pass is as strong as the others
LEAST = 0.01  # the least share of the penalty


def measures_noise(params: Params) -> bool:
    """Whether the noise decides about the first pass. A given number of scales may make the coarsest one large."""
    automatic = params.aggregation.first_penalty == params.scales.iterations == "auto"
    return automatic and params.has_effect("first_penalty")


def noise_of(matches: Parabolas) -> float:
    """The median change of the match from one pixel to the next along x, px; NaN if nothing is matched."""
    v = np.where(matches.A > 0, matches.disparity(), np.float32(np.nan))
    return median(np.abs(v[:, 1:] - v[:, :-1]))


def first_share(level: Level, search: Search, method: Method, run: Run) -> float:
    """The share of the penalty that the first pass of every scale has, by the noise n at the coarsest scale.

    It is ``(n / NOISY)^4`` between LEAST and 1. In px of the full size the noise of a picture is about the same at
    every scale, so the coarsest one is enough.
    """
    with run.stage("matching", level.number):
        noise = level.factor * noise_of(method.match(level.planes, search.at(level.factor), run))
    return min(max((noise / NOISY) ** 4, LEAST), 1.0) if noise < NOISY else 1.0  # NaN is not below it
