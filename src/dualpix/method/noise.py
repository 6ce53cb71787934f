"""The noise of the matches, and how weak the first pass may be.

The first pass of a scale smooths all steps, since nothing is known of them yet. So it flattens thin things. A weaker
one keeps them, but in a noisy picture it keeps noise, too. The matches themselves tell how noisy they are.
"""

import numpy as np

from ..params import Params
from ..quantiles import median
from ..types import Parabolas

NOISY = 0.06  # px at full size: with this noise the first pass is as strong as the others
LEAST = 0.01  # the least share of the penalty
SAMPLE = 30_000  # pixels that the noise is measured in


def measures_noise(params: Params) -> bool:
    """Whether the noise decides about the first pass. A given number of scales may make the coarsest one large."""
    automatic = params.aggregation.first_penalty == params.scales.iterations == "auto"
    return automatic and params.has_effect("first_penalty")


def noise_of(matches: Parabolas) -> float:
    """The median change of the match from one pixel to the next along x, px; NaN if nothing is matched."""
    step = max(1, matches.A.size // SAMPLE)
    rows = Parabolas(matches.A[::step], matches.B[::step])
    v = np.where(rows.A > 0, rows.disparity(), np.float32(np.nan))
    return median(np.abs(v[:, 1:] - v[:, :-1]))


def first_share(noise: float) -> float:
    """The share of the penalty that the first pass of every scale has, for this noise in px at full size.

    In these px the noise of a picture is about the same at every scale, so the coarsest one tells.
    """
    # (n / NOISY)^4 between LEAST and 1; 1 if the noise is not known
    return max((noise / NOISY) ** 4, LEAST) if noise < NOISY else 1.0
