"""Errors of maps whose truth is known only up to scale and offset."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ...errors import InputError, ParameterError
from ...types import same_size
from .inputs import FloatArray, estimate_map, inner, real_map, weights

Ties = Literal["average", "dense", "order"]

Line = tuple[float, float, float]  # its slope, and x and y of a point on it

PART = 1 << 13  # values that are worked on at once: they stay in the cache, and BLAS starts no threads for so few
IRLS_ROUNDS = 5
IRLS_EPS = 1e-3


@dataclass(frozen=True)
class _Affine:
    """The rules of one affine-invariant protocol."""

    ties: Ties  # see `_ranks`
    crop: int = 0  # px
    one_less_first: bool = False  # the published evaluation takes crop:end-crop with indices from 1: from crop - 1
    levels: Literal["none", "image", "crop"] = "none"  # the region whose range is divided into 256 levels
    weighted: bool = True  # takes confidence weights


_AFFINE = {
    "proper": _Affine(ties="average"),
    "paper-dslr": _Affine(ties="dense", crop=100, one_less_first=True, levels="image", weighted=False),
    "paper-google": _Affine(ties="order", levels="crop"),
}


@dataclass(frozen=True)
class AffineInvariant:
    """Errors after the best affine fit of the estimate to the ground truth; lower is better, except for coverage."""

    ai1: float  # mean absolute error, in units of gt
    ai2: float  # root mean square error, in units of gt
    spearman: float  # 1 - |rank correlation|, 0..1
    geometric_mean: float  # of the three above
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
    estimate, truth = estimate_map(est), _truth(gt)
    same_size(("gt", truth.shape), ("est", estimate.shape))
    weight = weights(confidence, truth.shape)
    cut = inner(rules.crop if crop is None else crop, truth.shape, rules.one_less_first)

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
    levels = x if rules.levels == "none" else x.astype(np.uint8)  # bytes are sorted much faster
    rho = _correlation(_ranks(levels, rules.ties), _ranks(y, rules.ties), w) if ordered else 0.0
    x = _unit_range(x)
    ai1 = _mean_error(x, y, w, _robust_line(x, y, w), 1)
    ai2 = math.sqrt(_mean_error(x, y, w, _line(x, y, w), 2))
    spearman = max(0.0, 1.0 - abs(rho))
    coverage = float(valid.sum() / known.sum())
    return AffineInvariant(ai1, ai2, spearman, float(np.cbrt(ai1 * ai2 * spearman)), coverage, protocol)


# ---- parts of the scores ---------------------------------------------------------------------------------


def affine_fit(x: FloatArray, y: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Slope and offset of the line a x + b that is nearest to y by the weighted mean absolute error, as for AI(1)."""
    slope, mean_x, mean_y = _robust_line(x, y, w)
    return slope, mean_y - slope * mean_x


def _line(x: FloatArray, y: FloatArray, w: FloatArray, last: Line | None = None) -> Line:
    """The slope that minimises the sum of w (a x + b - y)^2, and the means of x and y, through which the line goes.

    With the line of the last round, w is divided by the distances from it: a round towards the least absolute error.
    """
    # about any centre: the slope is (Sxy - Sx Sy / W) / (Sxx - Sx Sx / W)
    _, at_x, at_y = last or (0.0, float(np.average(x, weights=w)), float(np.average(y, weights=w)))
    sums = np.zeros(5)
    for part in _parts(x.size):
        dx, dy, v = x[part] - at_x, y[part] - at_y, w[part]
        if last:
            v = v / np.maximum(np.abs(last[0] * dx - dy), IRLS_EPS)
        sums += v.sum(), v @ dx, v @ dy, (v * dx) @ dx, (v * dx) @ dy
    W, Sx, Sy, Sxx, Sxy = map(float, sums)
    mean_x, mean_y = Sx / W, Sy / W
    variance = Sxx - mean_x * Sx
    return (Sxy - mean_x * Sy) / variance if variance > 0 else 0.0, at_x + mean_x, at_y + mean_y


def _robust_line(x: FloatArray, y: FloatArray, w: FloatArray) -> Line:
    """As `_line` for the least absolute error, by iteratively reweighted least squares."""
    line = _line(x, y, w)
    for _ in range(IRLS_ROUNDS):
        line = _line(x, y, w, line)
    return line


def _mean_error(x: FloatArray, y: FloatArray, w: FloatArray, line: Line, power: int) -> float:
    """The mean of that power of the distances of the points from a line."""
    slope, mean_x, mean_y = line
    parts = ((w[part], np.abs(slope * (x[part] - mean_x) - (y[part] - mean_y))) for part in _parts(x.size))
    return float(sum(v @ error**power for v, error in parts) / w.sum())


def _parts(size: int) -> Iterator[slice]:
    """The parts of a vector, one after the other."""
    return (slice(at, at + PART) for at in range(0, size, PART))


def _correlation(x: FloatArray, y: FloatArray, w: FloatArray) -> float:
    """Weighted Pearson correlation; 0 if either side is constant."""
    dx, dy = x - np.average(x, weights=w), y - np.average(y, weights=w)
    spread = np.dot(w * dx, dx) * np.dot(w * dy, dy)
    return float(np.dot(w * dx, dy) / np.sqrt(spread)) if spread > 0 else 0.0


def _ranks(values: FloatArray | npt.NDArray[np.uint8], ties: Ties) -> FloatArray:
    """Ranks from 0.

    Equal values share their mean rank ("average"), share one rank so that ranks have no gaps ("dense"), or are ranked
    in scan order ("order").
    """
    ranks = np.empty(values.size)
    kind: Literal["stable"] | None = "stable" if ties == "order" or values.dtype == np.uint8 else None  # radix sort
    order = np.argsort(values, kind=kind)
    if ties == "order":
        ranks[order] = np.arange(values.size)
        return ranks
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


def _truth(gt: npt.ArrayLike) -> FloatArray:
    dtype = np.asarray(gt).dtype
    if dtype.kind in "ui" and dtype not in (np.uint8, np.uint16):
        raise InputError(f"gt is {dtype}, which has no known scale: give floats in [0, 1], uint8 or uint16")
    truth = real_map("gt", gt)
    return truth / np.iinfo(dtype).max if dtype.kind == "u" else truth
