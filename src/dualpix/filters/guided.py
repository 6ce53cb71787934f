"""The guided filter."""

import numpy.typing as npt

from .. import _core
from ..params.definitions import GUIDED_EPS, GUIDED_WINDOW
from ..params.rules import check
from ..types import Map
from .common import RGB, along_edges


def guided_filter(
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    *,
    window: int = 45,
    eps: float = 0.2,
    confidence: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Map:
    """Guided filter (He, Sun and Tang 2010): fit the map by a linear function of the guide's colours in every window.

    Parameters
    ----------
    d : HxW array
        Disparities.
    guide : image
        The result can have edges only where the guide has them.
    window : int
        Side of the windows (px), odd. Windows are cut at the border.
    eps : float
        Regularisation: the result follows edges of the guide whose variance, on a 0..1 scale, is above this.
    confidence : HxW array, optional
        Weights of the pixels in a window.
    threads : int, optional
        As for `dualpix.disparity`. The result does not depend on it.

    Returns
    -------
    float32 array
        NaN where no window around the pixel has data.
    """
    radius = check("window", window, GUIDED_WINDOW) // 2
    eps = check("eps", eps, GUIDED_EPS)
    return along_edges(_core.guided_filter, d, guide, confidence, threads, RGB, 1, radius=radius, eps=eps)
