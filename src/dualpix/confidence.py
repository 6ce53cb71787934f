"""How far to trust a disparity: the curvature of all that is known about it, less what its surroundings leave open."""

import math

import numpy as np

from .arrays import Map
from .params import Params

SURE = 25.0  # curvature, px^-2, at which the confidence is 1/2: an uncertainty of about 0.2 px


def confidence(A: Map, d: Map, params: Params) -> Map:
    """In [0, 1], growing with the aggregated curvature A.

    Exact messages make A an inverse variance, relative to the noise and so the same for any camera and exposure. Near
    a depth edge the matching window mixes both sides: if the disparities in it span r, spread evenly, their variance is
    r^2 / 12, and variances add up. Published messages saturate: there A is only compared with its mean.
    """
    if params.messages == "paper":
        published: Map = A / (A + np.float32(max(A.mean(dtype=np.float64), 1e-30)))
        return published
    # 1 / A' = 1 / A + r^2 / 12;  A' / (A' + SURE)
    r: Map = _span(d, 2 * math.ceil(2 * params.window) + 1)
    A_local: Map = A / (1 + A * r * r * np.float32(1 / 12))
    result: Map = A_local / (A_local + np.float32(SURE))
    return result


def _span(d: Map, side: int) -> Map:
    """Largest less smallest disparity of the square around every pixel."""
    import cv2

    square = np.ones((side, side), np.uint8)
    return np.asarray(cv2.dilate(d, square) - cv2.erode(d, square), np.float32)
