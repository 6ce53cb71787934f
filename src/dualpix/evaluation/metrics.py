"""Scores of an estimated map against ground truth.

Every score belongs to a protocol. Use ``proper``. The ``paper-*`` protocols repeat the published evaluations with their
quirks, so that figures can be compared with the published tables. Never compare figures of different protocols.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..errors import InputError, ParameterError
from ..params.rules import Whole, check
from ..types import same_size

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Ties = Literal["average", "dense", "order"]

IRLS_ROUNDS = 5
IRLS_EPS = 1e-3


@dataclass(frozen=True)
class _Affine:
    """The rules of one affine-invariant protocol."""

    ties: Ties  # see `_ranks`
    crop: int = 0  # px
    levels: Literal["none", "image", "crop"] = "none"  # the region whose range is divided into 256 levels
    weighted: bool = True  # takes confidence weights


_AFFINE = {
    "proper": _Affine(ties="average"),
    "paper-dslr": _Affine(ties="dense", crop=100, levels="image", weighted=False),
    "paper-google": _Affine(ties="order", levels="crop"),
}
_STEREO = ("proper", "paper-stereo")


@dataclass(frozen=True)
class AffineInvariant:
    """Errors after the best affine fit of the estimate to the ground truth; lower is better, except for coverage."""

    ai1: float  # mean absolute error, in units of gt
    ai2: float  # root mean square error, in units of gt
    spearman: float  # 1 - |rank correlation|, 0..1
    geometric_mean: float  # of the three above
    coverage: float  # share of the pixels with ground truth that have an estimate, 0..1
    protocol: str


@dataclass(frozen=True)
class BadPixels:
    """Errors of absolute disparities, without any fit; lower is better, except for coverage."""

    bad_0_5: float  # percent of pixels wrong by 0.5 px or more, or without an estimate
    bad_1: float
    bad_2: float
    bad_4: float
    rmse: float  # px, over the pixels that have an estimate; NaN if none has
    coverage: float  # share of the pixels with ground truth that have an estimate, 0..1
    protocol: str


def affine_invariant(
    est: npt.ArrayLike,
    gt: npt.ArrayLike,
    protocol: str = "proper",
    confidence: npt.ArrayLike | None = None,
    crop: int | None = None,
) -> AffineInvariant:
    """Score a map that is known only up to scale and offset. The scale may be negative.

    Parameters
    ----------
    est : (H, W) array
        Estimated disparity in any unit. Pixels that are not finite are missing: they are not scored, and lower
        the coverage.
    gt : (H, W) array
        Ground truth, NaN where unknown. AI(1) and AI(2) are in its units; to compare them with published
        figures, it must lie in [0, 1]. uint8 and uint16 are divided by 255 and 65535.
    protocol : {"proper", "paper-dslr", "paper-google"}
        proper: the values as they are; ties share their mean rank. paper-dslr: 256 levels over the range of the
        whole image, 100 px crop, ranks without gaps. paper-google: 256 levels over the range inside the crop,
        confidence weights, ties ranked in scan order.
    confidence : (H, W) array, optional
        Weight of each pixel, 0 or more, in the means, the fits and the correlation of the ranks. The ranks
        themselves are not weighted. paper-dslr takes no weights.
    crop : int, optional
        Border that is not scored, in pixels; by default that of the protocol. In paper-dslr the border is one
        row and one column smaller at the top and left, as in the published evaluation.

    Returns
    -------
    AffineInvariant
        The `spearman` of a constant estimate is 1.
    """
    if protocol not in _AFFINE:
        raise ParameterError(f"unknown protocol {protocol!r}: choose from {', '.join(_AFFINE)}")
    rules = _AFFINE[protocol]
    if confidence is not None and not rules.weighted:
        raise ParameterError(f"protocol {protocol} takes no confidence: leave it out or use protocol proper")
    estimate, truth = _estimate(est), _truth(gt)
    same_size(("gt", truth.shape), ("est", estimate.shape))
    weight = _weights(confidence, truth.shape)
    cut = _cut(rules.crop if crop is None else crop, protocol, truth.shape)

    if rules.levels == "image":
        estimate = _to_256_levels(estimate)
    estimate, truth, weight = estimate[cut], truth[cut], weight[cut]
    if rules.levels == "crop":
        estimate = _to_256_levels(estimate)

    known = np.isfinite(truth)
    valid = known & np.isfinite(estimate)
    x, y, w = estimate[valid], truth[valid], weight[valid]
    if np.count_nonzero(w) < 2:
        raise InputError("est and gt share fewer than 2 valid pixels with weight: check masks and crop")
    if y.min() == y.max():
        raise InputError("gt is constant where est is valid, so any map would fit it: check gt and crop")

    ordered = x.min() < x.max()
    rho = _correlation(_ranks(x, rules.ties), _ranks(y, rules.ties), w) if ordered else 0.0
    x = _unit_range(x)
    ai1 = float(np.average(_robust_residual(x, y, w), weights=w))
    ai2 = float(np.sqrt(np.average(_residual(x, y, w) ** 2, weights=w)))
    spearman = max(0.0, 1.0 - abs(rho))
    coverage = float(valid.sum() / known.sum())
    return AffineInvariant(ai1, ai2, spearman, float(np.cbrt(ai1 * ai2 * spearman)), coverage, protocol)


def bad_pixels(
    est: npt.ArrayLike,
    gt: npt.ArrayLike,
    mask: npt.ArrayLike | None = None,
    protocol: str = "proper",
    crop: int = 0,
) -> BadPixels:
    """Score absolute disparities as the stereo benchmarks do.

    Parameters
    ----------
    est : (H, W) array
        Estimated disparity in pixels. A pixel that is not finite is bad at every threshold. It is not part of
        the RMSE, so read the RMSE together with the coverage.
    gt : (H, W) array
        True disparity in pixels, signed; not finite where unknown. In paper-stereo 0 is unknown too, as in stereo
        data sets, and negative values are refused.
    mask : (H, W) bool array, optional
        True where both views see the pixel.
    protocol : {"proper", "paper-stereo"}
        proper: percentages and RMSE over the known, visible pixels. paper-stereo: over all pixels; unknown and
        occluded pixels count as correct.
    crop : int
        Border that is not scored, in pixels.

    Returns
    -------
    BadPixels
    """
    if protocol not in _STEREO:
        raise ParameterError(f"unknown protocol {protocol!r}: choose from {', '.join(_STEREO)}")
    estimate, truth = _map("est", est), _map("gt", gt)
    same_size(("gt", truth.shape), ("est", estimate.shape))
    visible = _visible(mask, truth.shape)
    cut = _cut(crop, protocol, truth.shape)
    estimate, truth, visible = estimate[cut], truth[cut], visible[cut]

    known = np.isfinite(truth)
    if protocol == "paper-stereo":
        if (truth[known] < 0).any():
            raise InputError("gt holds negative disparities, unknown to paper-stereo: use protocol proper")
        known &= truth > 0
    known &= visible
    if not known.any():
        raise InputError("gt has no known pixel to score: check gt, mask and crop")

    error = np.abs(estimate[known] - truth[known])
    found = np.isfinite(error)
    assumed_correct = truth.size - error.size if protocol == "paper-stereo" else 0
    total = error.size + assumed_correct
    half, one, two, four = (100 * int((~found | (error >= limit)).sum()) / total for limit in (0.5, 1, 2, 4))
    measured = int(found.sum()) + assumed_correct
    rmse = float(np.sqrt(np.sum(error[found] ** 2) / measured)) if measured else float("nan")
    return BadPixels(half, one, two, four, rmse, float(found.mean()), protocol)


# ---- parts of the scores ---------------------------------------------------------------------------------


def _residual(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """|a x + b - y| for the a, b that minimise the sum of w (a x + b - y)^2."""
    mean_x, mean_y = np.average(x, weights=w), np.average(y, weights=w)
    dx, dy = x - mean_x, y - mean_y
    variance = np.dot(w * dx, dx)
    slope = np.dot(w * dx, dy) / variance if variance > 0 else 0.0
    return np.abs(slope * dx - dy)


def _robust_residual(x: FloatArray, y: FloatArray, w: FloatArray) -> FloatArray:
    """|a x + b - y| for the a, b of least absolute error, by iteratively reweighted least squares."""
    residual = _residual(x, y, w)
    for _ in range(IRLS_ROUNDS):
        residual = _residual(x, y, w / np.maximum(residual, IRLS_EPS))
    return residual


def _correlation(x: FloatArray, y: FloatArray, w: FloatArray) -> float:
    """Weighted Pearson correlation; 0 if either side is constant."""
    dx, dy = x - np.average(x, weights=w), y - np.average(y, weights=w)
    spread = np.dot(w * dx, dx) * np.dot(w * dy, dy)
    return float(np.dot(w * dx, dy) / np.sqrt(spread)) if spread > 0 else 0.0


def _ranks(values: FloatArray, ties: Ties) -> FloatArray:
    """Ranks from 0.

    Equal values share their mean rank ("average"), share one rank so that ranks have no gaps ("dense"), or are ranked
    in scan order ("order").
    """
    ranks = np.empty(values.size)
    if ties == "order":
        ranks[np.argsort(values, kind="stable")] = np.arange(values.size)
        return ranks
    order = np.argsort(values)
    ascending = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ascending[1:] != ascending[:-1])))
    counts = np.diff(starts, append=values.size)
    shared = starts + (counts - 1) / 2 if ties == "average" else np.arange(starts.size, dtype=float)
    ranks[order] = np.repeat(shared, counts)
    return ranks


def _unit_range(values: FloatArray) -> FloatArray:
    """The values scaled so that the finite ones span [0, 1]; 0 if they are all equal."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return values
    low, high = finite.min(), finite.max()
    unit: FloatArray = (values - low) / (high - low if high > low else 1.0)
    return unit


def _to_256_levels(values: FloatArray) -> FloatArray:
    return np.floor(255 * _unit_range(values))


# ---- checks of the input ----------------------------------------------------------------------------------


def _map(name: str, values: npt.ArrayLike) -> FloatArray:
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "uif":
        raise InputError(f"{name} is {array.ndim}-D {array.dtype}: give a 2-D map of real numbers")
    return array.astype(np.float64)


def _estimate(est: npt.ArrayLike) -> FloatArray:
    estimate = _map("est", est)
    return np.where(np.isfinite(estimate), estimate, np.nan)


def _truth(gt: npt.ArrayLike) -> FloatArray:
    dtype = np.asarray(gt).dtype
    if dtype.kind in "ui" and dtype not in (np.uint8, np.uint16):
        raise InputError(f"gt is {dtype}, which has no known scale: give floats in [0, 1], uint8 or uint16")
    truth = _map("gt", gt)
    return truth / np.iinfo(dtype).max if dtype.kind == "u" else truth


def _weights(confidence: npt.ArrayLike | None, shape: tuple[int, ...]) -> FloatArray:
    if confidence is None:
        return np.ones(shape)
    weight = _map("confidence", confidence)
    same_size(("gt", shape), ("confidence", weight.shape))
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError("confidence holds negative or non-finite values: give weights of 0 or more")
    return weight


def _cut(crop: int, protocol: str, shape: tuple[int, ...]) -> tuple[slice, slice]:
    crop = check("crop", crop, Whole(0, 2**16))
    # The published evaluation takes crop:end-crop with indices from 1, which begins at index crop - 1.
    first = crop - 1 if protocol == "paper-dslr" and crop else crop
    height, width = shape
    if first + crop >= min(height, width):
        raise InputError(f"crop {crop} leaves nothing of a {width}x{height} map: give a smaller crop")
    return slice(first, height - crop), slice(first, width - crop)


def _visible(mask: npt.ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    if mask is None:
        return np.ones(shape, bool)
    visible = np.asarray(mask)
    if visible.dtype != np.bool_ or visible.ndim != 2:
        raise InputError(
            f"mask is {visible.ndim}-D {visible.dtype}: give 2-D booleans, such as mask == 255 for Middlebury masks"
        )
    same_size(("gt", shape), ("mask", visible.shape))
    return visible
