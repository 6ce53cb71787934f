"""The noise of the matches, and what depends on it: first pass, suspicion and polish.

All three flatten thin things. A clean picture needs less of them than a noisy one, where weak ones keep noise, too. The
matches themselves tell how noisy they are.
"""

from typing import TypedDict

import numpy as np

from ..params import Params
from ..params.definitions import NO_LIMIT, Smoothing
from ..quantiles import median
from ..types import Parabolas

NOISY = 0.06  # px at full size: with this noise first pass, suspicion and polish are as strong as they get
LEAST_SHARE = 0.01  # the least share of the penalty in the first pass
SUSPICION = 0.1  # px of the scale, at half of NOISY
POLISH, LEAST_POLISH = 0.2, 0.1  # px
SAMPLE = 30_000  # pixels that the noise is measured in


class Settled(TypedDict, total=False):
    """Automatic parameters that the noise decides about."""

    first_penalty: float
    suspicion: float
    polish: float


def settled(params: Params, noise: float) -> Settled:
    """Their values for this noise, in px at full size; NaN if it is not known."""
    found: Settled = {}
    if params.aggregation.first_penalty == "auto" and params.has_effect("first_penalty"):
        found["first_penalty"] = first_share(noise)
    if params.aggregation.suspicion == "auto" and params.has_effect("suspicion"):
        found["suspicion"] = suspicion_for(noise)
    if params.smoothing.polish == "auto":
        found["polish"] = polish_for(noise)
    return found


def as_smooth_as(known: Params, params: Params) -> Params:
    """The parameters, with those that the noise decides about as they are known."""
    first, suspicion = known.aggregation.first_penalty, known.aggregation.suspicion
    return params.replace(first_penalty=first, suspicion=suspicion, polish=known.smoothing.polish)


def measures_noise(params: Params) -> bool:
    """Whether the noise decides about anything. A given number of scales may make the coarsest one large."""
    return params.scales.iterations == "auto" and bool(settled(params, np.nan))


def noise_of(matches: Parabolas) -> float:
    """The median change of the match from one pixel to the next along x, px; NaN if nothing is matched.

    In px at full size it is about the same at every scale of a picture, so the coarsest one tells.
    """
    step = max(1, matches.A.size // SAMPLE)
    rows = Parabolas(matches.A[::step], matches.B[::step])
    v = np.where(rows.A > 0, rows.disparity(), np.float32(np.nan))
    return median(np.abs(v[:, 1:] - v[:, :-1]))


def first_share(noise: float) -> float:
    """The share of the penalty that the first pass of every scale has."""
    # (n / NOISY)^4 between LEAST_SHARE and 1; 1 if the noise is not known
    return max((noise / NOISY) ** 4, LEAST_SHARE) if noise < NOISY else 1.0


def suspicion_for(noise: float) -> float:
    """How much nearer than the first pass a match is suspected although nothing as near lies beside it, px."""
    # SUSPICION n / (NOISY - n); no limit if the noise is not known
    return min(SUSPICION * noise / (NOISY - noise), NO_LIMIT) if noise < NOISY else NO_LIMIT


def polish_for(noise: float) -> float:
    """The polish of the map, px."""
    # POLISH n / NOISY between LEAST_POLISH and POLISH; POLISH if the noise is not known
    return max(POLISH * noise / NOISY, LEAST_POLISH) if noise < NOISY else POLISH


def polish_step(smoothing: Smoothing) -> float:
    """The polish, px. As long as nobody has measured the noise, it is that of a noisy picture."""
    return POLISH if isinstance(smoothing.polish, str) else smoothing.polish
