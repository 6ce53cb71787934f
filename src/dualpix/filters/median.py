"""The weighted median."""

import numpy.typing as npt

from .. import _core
from ..params.definitions import MEDIAN_RADIUS, MEDIAN_SIGMA
from ..params.rules import check
from ..types import Map
from .common import RGB, along_edges


def weighted_median(
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    *,
    radius: int = 3,
    sigma: float = 0.1,
    confidence: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Map:
    """Take the weighted median of the window around every pixel.

    Around pixel p, pixel q has the weight ``exp(-|I_p - I_q|^2 / (2 sigma^2))`` times its confidence.

    Parameters
    ----------
    d : HxW array
        Disparities.
    guide : image
        The colours I.
    radius : int
        The window has 2 radius + 1 pixels a side (px). It is cut at the border.
    sigma : float
        Difference of colour, on a 0..1 scale, at which the weight has fallen to 0.61.
    confidence : HxW array, optional
        Weight of each pixel's data.
    threads : int, optional
        As for `dualpix.disparity`. The result does not depend on it.

    Returns
    -------
    float32 array
        Always one of the values in the window, or NaN if the window has none.
    """
    radius, sigma = check("radius", radius, MEDIAN_RADIUS), check("sigma", sigma, MEDIAN_SIGMA)
    return along_edges(_core.weighted_median, d, guide, confidence, threads, RGB, 1, radius=radius, sigma=sigma)
