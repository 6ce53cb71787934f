"""How far to trust a disparity: the curvature of all that is known about it, less what its surroundings leave open."""

import numpy as np
import numpy.typing as npt

from .. import _core
from ..params import Params
from ..types import Map
from .match import window_taps

Mask = npt.NDArray[np.uint8]

SURE = 25.0  # curvature, px^-2, at which the confidence is 1/2: an uncertainty of about 0.2 px

# At which the terms of the published confidence of phones are 1/2. The form is described, its constants are not: with
# these the published scores come out within 3 %, as with a third or three times of any one.
GRADIENT, CONTRAST = np.float32(3), np.float32(3)
ROUGH = np.float32(0.03)  # px


def confidence(A: Map, d: Map, textured: Mask, params: Params, threads: int) -> Map:
    """In [0, 1], growing with the aggregated curvature A; 0 where not `textured`.

    Exact messages over curvatures relative to the noise make A an inverse variance, the same for any camera and
    exposure. Near a depth edge the matching window mixes both sides: if the disparities in it span r, spread evenly,
    their variance is r^2 / 12, and variances add up. Published messages saturate, and curvatures in intensities have
    no scale of their own: there A is only compared with its mean.
    """
    if params.messages != "exact" or not params.noise_floor or params.candidates > 1:
        result: Map = A / (A + np.float32(max(A.mean(dtype=np.float64), 1e-30)))
        result *= textured
        return result
    import cv2

    square = _square(params)
    most, least = (np.asarray(spread(d, square), np.float32) for spread in (cv2.dilate, cv2.erode))
    _core.confidence(A, most, least, textured, SURE, threads)
    return most


def texture(view: Map, params: Params) -> Map:
    """Of a grey view on a 0..255 scale, in [0, 1]: how much there is to match, along x, in encc's window.

    The product of a term of the horizontal gradient and one of the variance.
    """
    import cv2

    # <g^2> / (<g^2> + g0^2) <(I - <I>)^2> / (<(I - <I>)^2> + I0^2)
    g = cv2.Sobel(view, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    gradient, variance = _mean(g * g, params), _variance(view, params)
    result: Map = gradient / (gradient + GRADIENT**2) * (variance / (variance + CONTRAST**2))
    return result


def smoothness(d: Map, params: Params) -> Map:
    """In [0, 1], falling with the variance of the disparities in the same window."""
    result: Map = np.reciprocal(1 + _variance(d, params) / ROUGH**2)
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


def _mean(values: Map, params: Params) -> Map:
    import cv2

    side = params.encc_window
    return np.asarray(cv2.blur(values, (side, side), borderType=cv2.BORDER_REFLECT), np.float32)


def _variance(values: Map, params: Params) -> Map:
    centred = values - values.mean(dtype=np.float64).astype(np.float32)
    variance: Map = _mean(centred * centred, params) - _mean(centred, params) ** 2
    return np.maximum(variance, 0, out=variance)
