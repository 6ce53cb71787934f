"""Matching by the model of defocus: each view is given the blur of the other."""

from ..camera.simulation import half_disc
from ..params.rules import Real, Several, check
from ._tiles import Estimate, Kernels, match_tiles, moved
from ._views import Image

LIMITS = Several(Real(-64, 64), 2, 2, "min and max, min < max", rising=True)  # time grows as the third power
STEPS = 2  # disparities tried a pixel: between whole ones a small blur does not undo the other


def dpdisp(
    left: Image,
    right: Image,
    range: tuple[float, float] = (-12, 12),
    *,
    guide: Image | None = None,
    threads: int | None = None,
) -> Estimate:
    """Defocus disparity in the manner of DPdisp (Punnappurath et al. 2020).

    A view is the sharp scene spread by a half-disc of signed radius r, the mirror image of the other view's. So the
    true r makes ``L * k_right(r)`` and ``R * k_left(r)`` the same. For every tile of 8x8 pixels it is the one of least
    squared difference, less its mean, over 40x40 around it. The radii tried are ``3 pi d / 8`` for disparities d in
    steps of half a pixel; a parabola refines the best. Confidence and upsampling are those of `sdof`.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size, and differing along x. Colours are
        made grey.
    range : (float, float)
        The least and the greatest disparity, px, from -64 to 64, rounded outwards. The default holds what cameras and
        phones with dual pixels show; a narrower one leaves less to confuse.
    guide : array or path, optional
        The image whose edges the map follows; the left view if not given.
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
    return match_tiles(left, right, check("range", range, LIMITS), guide, exchanged_blur, STEPS, threads)


def exchanged_blur(d: float) -> Kernels:
    """L * k_right and R * k_left, which meet half-way between the views: half of d brings them to the left one."""
    return moved(half_disc(-d), round(d / 2)), moved(half_disc(d), round(d / 2))
