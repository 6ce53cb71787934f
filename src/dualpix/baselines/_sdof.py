"""SDoF: local matching of tiles, as used by phones with dual pixels for synthetic depth of field."""

import numpy as np

from ..params.rules import Real, Several, check
from ._tiles import Estimate, Kernels, match_tiles, moved
from ._views import Image

LIMITS = Several(Real(-256, 256), 2, 2, "min and max, min < max", rising=True)
STEPS = 1  # disparities tried per pixel
SAME = np.ones((1, 1))


def sdof(
    left: Image,
    right: Image,
    range: tuple[float, float] = (-12, 12),
    *,
    guide: Image | None = None,
    threads: int | None = None,
) -> Estimate:
    """Local matching with bilateral upsampling, in the manner of SDoF (Wadhwa et al. 2018).

    Every tile of 8x8 pixels gets the whole disparity d with the least variance of ``L(x) - R(x - d)`` over the 40x40
    pixels around it; a parabola refines it. The confidence of a tile depends on that cost, on its curvature, on the
    second best disparity, and on the texture along x. The fast bilateral solver turns the tiles into a map.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size. They differ along x. Colours are
        converted to grey.
    range : (float, float)
        The least and the greatest disparity, px, from -256 to 256, rounded outwards. The default suits cameras and
        phones with dual pixels. A narrower range gives fewer wrong matches.
    guide : array or path, optional
        The image whose edges the map follows; by default the left view.
    threads : int, optional
        As for `dualpix.disparity`; the result does not depend on it.

    Returns
    -------
    Estimate
        Disparity, ``d = x_left - x_right`` in pixels, dense and finite, and confidence in [0, 1].

    Raises
    ------
    InputError
        If an image cannot be used.
    ParameterError
        If a parameter is of the wrong type or out of bounds.
    """
    return match_tiles(left, right, check("range", range, LIMITS), guide, shift, STEPS, threads)


def shift(d: float) -> Kernels:
    """The kernels for L(x) and R(x - d)."""
    return SAME, moved(SAME, round(d))
