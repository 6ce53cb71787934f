"""How far to trust a disparity: by the curvature of the belief, less near depth edges and without texture.

`kinds.DualPixel.confidence` chooses between the absolute and the relative one; stereo always takes the relative one.
"""

import math

import numpy as np

from .. import _core
from ..quantiles import quantiles
from ..types import Map, Mask, Parabolas, Place, Signs, doubled, empty, empty_like

OUTSIDE = 0.5  # px; a disparity this far outside the requested range means that the range does not cover the pixel
SURE = 0.25  # px; the expected error at which the confidence is 1/2

# The expected error of a match as a product of powers, and that of the lens: in the corners by a power of the span of
# the disparities, px, in the middle as a share of that in the corners. benchmarks/sigma.py fits such values to scenes
# with known depth; docs/method.md tells how these were chosen.
SIGMA = {"constant": -0.105, "near": 0.191, "far": 0.201, "texture": -0.107, "scales": 0.293, "bias": 0.178}
LENS, POWER, MIDDLE = 0.042, 1.22, 0.12
FILLED = 0.4  # what the contours of a blank part leave of its error, as its own signs tell it
EVERY = 4  # px: the signs of error are known at every fourth pixel of every fourth row
TEXTURE, SCALES, BIAS, NEAR, FAR = 5, 5, 5, 5, 11  # sides of the windows of the signs, in such steps
# px, and px^-2 for the texture: added to the signs, since no evidence is exact
FLOORS = {"near": 0.02, "far": 0.02, "texture": 1e-5, "scales": 0.01, "bias": 0.01}
FARTHEST = 3.0  # px; matches farther from the belief count as this far
MOST = (0.02, 0.98)  # quantiles: the span of a picture is that of most of its disparities
SAMPLE = 60_000  # pixels that a picture is measured in

# The values at which the terms of the published phone confidence are 1/2. Its form is published, its constants are not.
# These give the published scores within 3 %. So does a third or three times any one of them.
GRADIENT, CONTRAST = np.float32(3), np.float32(3)  # intensities
ROUGH = np.float32(0.03)  # px


def margin() -> int:
    """Pixels around a tile that the expected error needs."""
    return EVERY * (max(NEAR // 2, FAR // 2, TEXTURE // 2, SCALES // 2, 2 * (BIAS // 2)) + 1)


def signs_of_error(belief: Parabolas, d: Map, threads: int) -> dict[str, Map]:
    """What tells about the error of a pixel, at every fourth pixel.

    near: what the disparities span around the pixel (px). far: what those of the coarser scale span in a wider window
    (px). texture: the mean curvature of the matches around it. scales: how far the disparities of the two scales differ
    around it (px). bias: how far the matches around it lie from the belief on average (px).
    """
    signs = belief.signs or Signs()
    assert signs.texture is not None
    here = sampled(d, EVERY, threads)
    near = spread(here, NEAR, threads)
    bias = np.zeros_like(near) if signs.bias is None else signs.bias
    far, scales = near, np.zeros_like(near)
    if signs.coarser is not None:
        coarser = empty_like(near)
        np.multiply(signs.coarser, np.float32(2), out=coarser)
        far = spread(coarser, FAR, threads)
        np.abs(np.subtract(here, coarser, out=here), out=here)
        scales = window_mean(here, SCALES, threads)
    return {"near": near, "far": far, "texture": signs.texture, "scales": scales, "bias": bias}


def expected_error(belief: Parabolas, d: Map, threads: int) -> Map:
    """sigma of every pixel, px: half of the errors are below 0.67 sigma.

    The error of a match is a product of powers of the `signs_of_error`. So blank regions and the surroundings of depth
    edges are unsure. The error of the lens adds to it; it grows away from the middle of the picture, but it is not 0
    there. A pixel without any texture nearby may have any disparity of the range.
    """
    assert belief.textured is not None
    assert belief.limits is not None
    signs = signs_of_error(belief, d, threads)
    small = empty_like(signs["near"])
    y0, x0, corner = _place(belief, d)
    lens = LENS * picture_span(belief, d) ** POWER
    factors = [(sign, FLOORS[name], SIGMA[name]) for name, sign in signs.items()]
    if belief.signs and belief.signs.filled is not None:
        factors.append((np.where(belief.signs.filled, np.float32(FILLED), np.float32(1)), 0.0, 1.0))
    # sigma^2 = match^2 + (f D^n)^2 (rho^4 + m^2), match = e^c * product of (sign + floor)^exponent
    _core.expected_error(
        factors,
        small,
        scale=math.exp(SIGMA["constant"]),
        lens=lens / corner**2,
        middle=lens * MIDDLE,
        y0=y0,
        x0=x0,
        step=EVERY,
        threads=threads,
    )
    half = tuple((n + 1) // 2 for n in d.shape)
    sigma = doubled(doubled(small, half, threads), d.shape, threads)
    low, high = belief.limits
    # the standard deviation of a uniform distribution over the range
    _core.fill_untextured(sigma, belief.textured, (high - low) / math.sqrt(12), threads)
    return sigma


def lens_sign(belief: Parabolas, d: Map) -> Map:
    """``D^n rho^2`` at every fourth pixel, n = POWER: D is the span of the picture, rho the distance from its middle.

    rho is 1 at the corners. The field of a lens is even, so its first term is quadratic (see `camera.lens`).
    """
    y0, x0, corner = _place(belief, d)
    y, x = (np.arange(0, n, EVERY, dtype=np.float32) - np.float32(at) for n, at in zip(d.shape, (y0, x0), strict=True))
    sign: Map = np.float32(picture_span(belief, d) ** POWER / corner**2) * ((y * y)[:, None] + x * x)
    return sign


def _place(belief: Parabolas, d: Map) -> Place:
    """Where the middle of the picture is in the map d."""
    return (belief.signs and belief.signs.place) or Place.of(d.shape)


def absolute_confidence(sigma: Map, textured: Mask, threads: int) -> Map:
    """``1 / (1 + (sigma / SURE)^2)``, in [0, 1]; 0 where there is no texture. Comparable between cameras."""
    confidence = empty_like(sigma)
    _core.confidence_of(sigma, textured, confidence, SURE, threads)
    return confidence


def error_of(confidence: Map) -> Map:
    """The expected error (px) behind an absolute confidence: ``sigma = SURE sqrt(1 / confidence - 1)``, inf at 0."""
    with np.errstate(divide="ignore"):
        sigma: Map = np.float32(SURE) * np.sqrt(1 / np.clip(confidence, 0, 1) - 1)
    return sigma


def spread(d: Map, side: int, threads: int, out: Map | None = None) -> Map:
    """What the disparities span in a window of that side around every pixel, px."""
    span = empty_like(d) if out is None else out
    _core.spread(d, span, side, threads)
    return span


def span_of(d: Map) -> float:
    """What most of the disparities span, px."""
    step = max(1, math.isqrt(d.size // SAMPLE))
    low, high = quantiles(d[::step, ::step], MOST)
    return high - low


def picture_span(belief: Parabolas, d: Map) -> float:
    """What most disparities of the picture span, px: by the coarser scale, which saw all of it, or by d."""
    known = belief.signs.span if belief.signs else None
    return span_of(d) if known is None else 2 * known


def seen_from_finer(belief: Parabolas, d: Map, threads: int, span: float | None = None) -> Signs | None:
    """What the next finer scale needs to know of the disparities d of this one; `span` is measured if not given."""
    if belief.signs is None:
        return None
    place, every = belief.signs.place, EVERY // 2
    span = span_of(d) if span is None else span
    below = None if place else belief.signs.texture
    return Signs(coarser=sampled(d, every, threads), span=span, place=place and place.doubled(), below=below)


def bias_of(evidence: Parabolas, d: Map, threads: int) -> Map:
    """How far the matches around a pixel lie from its disparity on average, weighted by their curvature, px.

    It is known at every fourth pixel. Errors of single matches cancel in the mean. What is left is what the belief got
    wrong.
    """
    assert evidence.matched is not None
    weight, apart = (empty(sampled_shape(d, EVERY)) for _ in range(2))
    matched = evidence.matched.view(np.uint16)
    _core.weigh_offsets(evidence.A, matched, d, weight, apart, EVERY, FARTHEST, threads)
    # the mean of |sum A (v - d)| / sum A: the sum alone is 0 wherever it changes its sign
    total, off = window_mean(weight, BIAS, threads), window_mean(apart, BIAS, threads)
    np.maximum(total, np.float32(1e-30), out=total)
    np.divide(np.abs(off, out=off), total, out=off)
    return window_mean(off, BIAS, threads)


def mean_curvature(A: Map, threads: int) -> Map:
    """The mean of the curvatures around every fourth pixel."""
    return window_mean(sampled(A, EVERY, threads), TEXTURE, threads)


def sampled(values: Map, step: int, threads: int) -> Map:
    """Every so many-th pixel of every so many-th row."""
    sample = empty(sampled_shape(values, step))
    _core.sample(np.ascontiguousarray(values), sample, step, threads)
    return sample


def sampled_shape(values: Map, step: int) -> list[int]:
    """Rows and columns of such a sample."""
    return [-(-n // step) for n in values.shape]


def relative_confidence(belief: Parabolas) -> Map:
    """In [0, 1]: A compared with its mean over the picture; 0 where there is no texture.

    Published messages saturate, and curvatures in intensities have no scale of their own. So A only ranks pixels.
    """
    result = compared(belief.A, belief.A.mean(dtype=np.float64))
    assert belief.textured is not None
    result *= belief.textured
    return result


def compared(A: Map, mean: float) -> Map:
    """``A / (A + mean)``: 1/2 for the mean curvature."""
    result: Map = empty_like(A)
    np.add(A, np.float32(max(mean, 1e-30)), out=result)
    np.divide(A, result, out=result)
    return result


def textured(evidence: Parabolas, threads: int) -> Mask | None:
    """Where texture was matched near a pixel of the evidence. It is made as late as possible, to save memory."""
    if evidence.textured is not None or evidence.matched is None or evidence.texture is None:
        return evidence.textured
    found = empty(evidence.matched.shape, np.uint8)
    coarser, side = evidence.texture
    _core.near_texture(evidence.matched.view(np.uint16), coarser, found, side, threads)
    return found


def near_texture(A: Map, coarser: Mask | None, side: int, threads: int) -> Mask:
    """1 where this scale or a coarser one has matched texture in the window around a pixel, else 0.

    Elsewhere a pixel has only messages, and their curvature tells how sure its neighbours are.
    """
    found = empty(A.shape, np.uint8)
    _core.near_texture(A, coarser, found, side, threads)
    return found


# ---- the published confidence of phones, for the bilateral solver ----------------------------------------


def texture(view: Map, side: int, threads: int) -> Map:
    """How much texture there is along x, in [0, 1], in a window of `side` px of a grey view on a 0..255 scale.

    It is the product of a term of the horizontal gradient g and a term of the variance.
    """
    # <g^2> / (<g^2> + g0^2) <(I - <I>)^2> / (<(I - <I>)^2> + I0^2)
    g = _slopes(view)
    gradient, variance = window_mean(g * g, side, threads), _variance(view, side, threads)
    result: Map = gradient / (gradient + GRADIENT**2) * (variance / (variance + CONTRAST**2))
    return result


def smoothness(d: Map, side: int, threads: int) -> Map:
    """In [0, 1], falling with the variance of the disparities in a window of `side` px."""
    result: Map = np.reciprocal(1 + _variance(d, side, threads) / ROUGH**2)
    return result


def window_mean(values: Map, side: int, threads: int) -> Map:
    """The mean in the window around each pixel, mirrored at the border."""
    mean = empty_like(values)
    _core.smooth(values, mean, np.full(side, 1 / side), threads)
    return mean


def _slopes(view: Map) -> Map:
    """The slope along x of the mean of three rows, per px; 0 in the first and the last column."""
    padded = np.pad(view, ((1, 1), (0, 0)), "reflect")
    rows = (padded[:-2] + 2 * view + padded[2:]) / np.float32(8)
    slopes = np.zeros_like(view)
    np.subtract(rows[:, 2:], rows[:, :-2], out=slopes[:, 1:-1])
    return slopes


def _variance(values: Map, side: int, threads: int) -> Map:
    centred = values - values.mean(dtype=np.float64).astype(np.float32)
    variance: Map = window_mean(centred * centred, side, threads) - window_mean(centred, side, threads) ** 2
    return np.maximum(variance, 0, out=variance)
