"""DPdisp: local matching with a model of defocus. Each view is blurred with the kernel of the other."""

from ..camera.optics import half_disc
from ..params.rules import Real, Several, check
from ._tiles import Estimate, Kernels, match_tiles, moved
from ._views import Image

LIMITS = Several(Real(-64, 64), 2, 2, "min and max, min < max", rising=True)  # px; time grows with the third power
STEPS = 2  # disparities tried per pixel; with small blurs, steps of a whole pixel are too coarse


def dpdisp(
    left: Image,
    right: Image,
    range: tuple[float, float] = (-12, 12),
    *,
    guide: Image | None = None,
    threads: int | None = None,
) -> Estimate:
    """Defocus disparity in the manner of DPdisp (Punnappurath et al. 2020).

    Each view is the sharp scene blurred with a half-disc of signed radius r; the half-discs of the two views mirror
    each other. With the true r, ``L * k_right(r)`` and ``R * k_left(r)`` are equal. Every tile of 8x8 pixels gets the
    r with the least variance of their difference over the 40x40 pixels around it. The radii tried are ``3 pi d / 8``
    for disparities d in steps of half a pixel; a parabola refines the best one. Confidence and upsampling are those of
    `sdof`.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size. They differ along x. Colours are
        converted to grey.
    range : (float, float)
        The least and the greatest disparity, px, from -64 to 64, rounded outwards. The default suits cameras and
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
    return match_tiles(left, right, check("range", range, LIMITS), guide, exchanged_blur, STEPS, threads)


def exchanged_blur(d: float) -> Kernels:
    """The kernels for L * k_right and R * k_left, moved by d / 2 so that the result is aligned with the left view."""
    return moved(half_disc(-d), round(d / 2)), moved(half_disc(d), round(d / 2))
