"""How far to trust a disparity: by the curvature of the belief, less near depth edges and without texture.

`kinds.DualPixel.confidence` chooses between the absolute and the relative one; stereo always takes the relative one.
"""

import math

import numpy as np

from ..types import Map, Mask, Parabolas

OUTSIDE = 0.5  # px; a disparity this far outside the requested range means that the range does not cover the pixel
SURE = 0.25  # px; the expected error at which the confidence is 1/2

# The expected error as a product of powers, fitted by benchmarks/sigma.py to scenes with known depth.
SIGMA = {"constant": -0.645, "near": 0.176, "far": 0.244, "texture": -0.165, "curvature": -0.127}
TEXTURE = 9  # px of the half-size map: window of the mean curvature
NEAR, FAR = 11, 21  # px of the half-size map and of the coarser scale: windows in which disparities are compared
STEP, CURVATURE = np.float32(0.02), np.float32(1e-5)  # px and px^-2: added, since no evidence is exact

# The values at which the terms of the published phone confidence are 1/2. Its form is published, its constants are not.
# These give the published scores within 3 %. So does a third or three times any one of them.
GRADIENT, CONTRAST = np.float32(3), np.float32(3)  # intensities
ROUGH = np.float32(0.03)  # px


def margin() -> int:
    """Pixels around a tile that the expected error needs."""
    return 2 * (max(NEAR, FAR, TEXTURE) // 2) + 2


def signs_of_error(belief: Parabolas, d: Map) -> dict[str, Map]:
    """What tells about the error of a pixel, as logarithms, at half the size.

    near: what the disparities span around the pixel (px). far: what those of the coarser scale span in a wider window
    (px). texture: the mean curvature of the matches around it. curvature: that of the belief.
    """
    assert belief.texture is not None
    near = spread(np.ascontiguousarray(d[::2, ::2]), NEAR)
    far = near if belief.spread is None else 2 * belief.spread
    return {
        "near": np.log(near + STEP),
        "far": np.log(far + STEP),
        "texture": np.log(belief.texture + CURVATURE),
        "curvature": np.log(belief.A[::2, ::2] + CURVATURE),
    }


def expected_error(belief: Parabolas, d: Map) -> Map:
    """sigma of every pixel, px: half of the errors are below 0.67 sigma.

    It is a product of powers of the `signs_of_error`. So blank regions and the surroundings of depth edges are unsure.
    A pixel without any texture nearby may have any disparity of the range.
    """
    assert belief.textured is not None
    assert belief.limits is not None
    log_sigma: Map = np.full([(n + 1) // 2 for n in d.shape], SIGMA["constant"], np.float32)
    for name, sign in signs_of_error(belief, d).items():
        log_sigma += np.float32(SIGMA[name]) * sign
    sigma = doubled(np.exp(log_sigma), d.shape)
    low, high = belief.limits
    # the standard deviation of a uniform distribution over the range
    np.copyto(sigma, np.float32((high - low) / math.sqrt(12)), where=belief.textured == 0)
    return sigma


def doubled(half: Map, shape: tuple[int, ...]) -> Map:
    """A half-size map at full size, by linear interpolation; its pixel i lies at pixel 2 i."""
    height, width = shape
    full = np.empty((height, width), np.float32)
    full[::2, ::2] = half
    across = full[::2, 1::2]  # between two columns; the last one may have no right neighbour
    across[:] = half[:, : width // 2]
    np.add(half[:, :-1], half[:, 1:], out=across[:, : half.shape[1] - 1])
    across[:, : half.shape[1] - 1] *= np.float32(0.5)
    even, between = full[::2], full[1::2]
    between[:] = even[: height // 2]
    np.add(even[:-1], even[1:], out=between[: len(even) - 1])
    between[: len(even) - 1] *= np.float32(0.5)
    return full


def absolute_confidence(sigma: Map, textured: Mask) -> Map:
    """``1 / (1 + (sigma / SURE)^2)``, in [0, 1]; 0 where there is no texture. Comparable between cameras."""
    confidence: Map = np.divide(textured, 1 + np.square(sigma / np.float32(SURE)), dtype=np.float32)
    return confidence


def error_of(confidence: Map) -> Map:
    """The expected error (px) behind an absolute confidence: ``sigma = SURE sqrt(1 / confidence - 1)``, inf at 0."""
    with np.errstate(divide="ignore"):
        sigma: Map = np.float32(SURE) * np.sqrt(1 / np.clip(confidence, 0, 1) - 1)
    return sigma


def spread(d: Map, side: int = FAR) -> Map:
    """What the disparities span in the window of `side` px around a pixel, px."""
    import cv2

    window = np.ones((side, side), np.uint8)
    return np.asarray(cv2.dilate(d, window) - cv2.erode(d, window), np.float32)


def mean_curvature(A: Map) -> Map:
    """The mean of the curvatures around a pixel, at half the size."""
    import cv2

    half = A[::2, ::2]
    return np.asarray(cv2.blur(half, (TEXTURE, TEXTURE), borderType=cv2.BORDER_REFLECT), np.float32)


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
