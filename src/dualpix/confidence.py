"""How far to trust a disparity: the curvature of all that is known about it, less what its surroundings leave open."""

import numpy as np
import numpy.typing as npt

from .arrays import Map
from .matching import window_taps
from .params import Params

Mask = npt.NDArray[np.uint8]

SURE = 25.0  # curvature, px^-2, at which the confidence is 1/2: an uncertainty of about 0.2 px


def confidence(A: Map, d: Map, textured: Mask, params: Params) -> Map:
    """In [0, 1], growing with the aggregated curvature A; 0 where not `textured`.

    Exact messages over curvatures relative to the noise make A an inverse variance, the same for any camera and
    exposure. Near a depth edge the matching window mixes both sides: if the disparities in it span r, spread evenly,
    their variance is r^2 / 12, and variances add up. Published messages saturate, and curvatures in intensities have
    no scale of their own: there A is only compared with its mean.
    """
    if params.messages != "exact" or not params.noise_floor or params.candidates > 1:
        result: Map = A / (A + np.float32(max(A.mean(dtype=np.float64), 1e-30)))
    else:
        # 1 / A' = 1 / A + r^2 / 12;  A' / (A' + SURE)
        r = _span(d, _square(params))
        A_local: Map = A / (1 + A * r * r * np.float32(1 / 12))
        result = A_local / (A_local + np.float32(SURE))
    result *= textured
    return result


def near_texture(alpha: Map, coarser: Mask | None, params: Params) -> Mask:
    """1 where this scale or a coarser one has matched anything in the window around a pixel, else 0.

    Elsewhere a map has only what the paths bring: the curvature of their messages says how sure the neighbours are.
    """
    import cv2

    found: Mask = np.asarray(cv2.dilate((alpha > 0).view(np.uint8), _square(params)), np.uint8)
    if coarser is not None:
        height, width = alpha.shape
        found |= coarser.repeat(2, axis=0).repeat(2, axis=1)[:height, :width]
    return found


def _square(params: Params) -> Mask:
    """As many ones as the matching window has pixels."""
    side = 2 * len(window_taps(params)) - 1
    return np.ones((side, side), np.uint8)


def _span(d: Map, square: Mask) -> Map:
    """Largest less smallest disparity of the square around every pixel."""
    import cv2

    return np.asarray(cv2.dilate(d, square) - cv2.erode(d, square), np.float32)
