"""How far to trust a disparity: by the curvature of the belief, less near depth edges and without texture.

`kinds.DualPixel.confidence` chooses between the absolute and the relative one; stereo always takes the relative one.
"""

import numpy as np

from .. import _core
from ..types import Map, Mask, Parabolas

SURE = 25.0  # curvature, px^-2, at which the confidence is 1/2: an uncertainty of about 0.2 px
OUTSIDE = 0.5  # px; a disparity this far outside the requested range means that the range does not cover the pixel

# The values at which the terms of the published phone confidence are 1/2. Its form is published, its constants are not.
# These give the published scores within 3 %. So does a third or three times any one of them.
GRADIENT, CONTRAST = np.float32(3), np.float32(3)  # intensities
ROUGH = np.float32(0.03)  # px


def margin(side: int) -> int:
    """Pixels around a tile that the confidence needs: half the matching window."""
    return side // 2


def absolute_confidence(belief: Parabolas, d: Map, side: int, threads: int) -> Map:
    """In [0, 1], growing with the curvature A; 0 where there is no texture. Comparable between cameras.

    Exact messages over curvatures relative to the noise make A an inverse variance. Near a depth edge the matching
    window, `side` px wide, mixes both sides. If its disparities spread evenly over a span r, their variance is
    r^2 / 12. Variances add up: ``1 / A' = 1 / A + r^2 / 12``. The confidence is ``A' / (A' + SURE)``.
    """
    import cv2

    window = np.ones((side, side), np.uint8)
    most, least = (np.asarray(spread(d, window), np.float32) for spread in (cv2.dilate, cv2.erode))
    assert belief.textured is not None
    _core.confidence(belief.A, most, least, belief.textured, SURE, threads)
    return most  # the kernel has overwritten it with the confidence


def relative_confidence(belief: Parabolas) -> Map:
    """In [0, 1]: A compared with its mean over the picture; 0 where there is no texture.

    Published messages saturate, and curvatures in intensities have no scale of their own. So A only ranks pixels.
    """
    mean = np.float32(max(belief.A.mean(dtype=np.float64), 1e-30))
    result: Map = belief.A / (belief.A + mean)
    assert belief.textured is not None
    result *= belief.textured
    return result


def near_texture(A: Map, coarser: Mask | None, side: int) -> Mask:
    """1 where this scale or a coarser one has matched texture in the window around a pixel, else 0.

    Elsewhere a pixel has only messages, and their curvature tells how sure its neighbours are.
    """
    import cv2

    found: Mask = np.asarray(cv2.dilate((A > 0).view(np.uint8), np.ones((side, side), np.uint8)), np.uint8)
    if coarser is not None:
        height, width = A.shape
        found |= coarser.repeat(2, axis=0).repeat(2, axis=1)[:height, :width]
    return found


# ---- the published confidence of phones, for the bilateral solver ----------------------------------------


def texture(view: Map, side: int) -> Map:
    """How much texture there is along x, in [0, 1], in a window of `side` px of a grey view on a 0..255 scale.

    It is the product of a term of the horizontal gradient g and a term of the variance.
    """
    import cv2

    # <g^2> / (<g^2> + g0^2) <(I - <I>)^2> / (<(I - <I>)^2> + I0^2)
    g = cv2.Sobel(view, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    gradient, variance = _mean(g * g, side), _variance(view, side)
    result: Map = gradient / (gradient + GRADIENT**2) * (variance / (variance + CONTRAST**2))
    return result


def smoothness(d: Map, side: int) -> Map:
    """In [0, 1], falling with the variance of the disparities in a window of `side` px."""
    result: Map = np.reciprocal(1 + _variance(d, side) / ROUGH**2)
    return result


def _mean(values: Map, side: int) -> Map:
    import cv2

    return np.asarray(cv2.blur(values, (side, side), borderType=cv2.BORDER_REFLECT), np.float32)


def _variance(values: Map, side: int) -> Map:
    centred = values - values.mean(dtype=np.float64).astype(np.float32)
    variance: Map = _mean(centred * centred, side) - _mean(centred, side) ** 2
    return np.maximum(variance, 0, out=variance)
