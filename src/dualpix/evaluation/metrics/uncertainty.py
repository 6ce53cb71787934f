"""How well a method knows its own errors: the order of its confidence, and the size of its sigma."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from .inputs import FloatArray

NORMAL_MEDIAN = 0.6745  # median |error| of a normal distribution, in units of sigma
DECILES = 10
NOTHING = 1e-9  # px; smaller errors are rounding


@dataclass(frozen=True)
class SigmaCalibration:
    """Errors compared with the sigma that a method expects, for each tenth of the pixels, smallest sigma first.

    A tenth without pixels is NaN: many pixels share one sigma.
    """

    ratios: tuple[float, ...]  # median |error| / (0.6745 sigma); 1 is right, above 1 the method is overconfident
    errors: tuple[float, ...]  # median |error|, px
    sigmas: tuple[float, ...]  # median sigma, px
    worst: float  # the largest ratio or its inverse, whichever is larger; 1 is perfect


def ause(error: npt.ArrayLike, confidence: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> float:
    """Area under the sparsification error: how much worse the confidence ranks pixels than an oracle would.

    The sparsification curve is the mean error of the pixels that are left when a share of them is removed, least
    confident first. The oracle removes the largest errors first. The result is the area between the two curves over
    the shares 0 to 1, divided by the mean error of all pixels. It is 0 for a perfect order; a random order gives the
    area over the oracle's curve. It is 0 as well if there is no error.

    Parameters
    ----------
    error : array
        Absolute errors, finite.
    confidence : array of the same shape
        Larger is more reliable; only the order counts. Pixels of equal confidence are removed in random order, of which
        this is the mean. NaN is the least reliable.
    weight : array of the same shape, optional
        Weight of each pixel, 0 or more.
    """
    e, c = np.asarray(error, np.float64).ravel(), np.asarray(confidence, np.float64).ravel()
    w = np.ones(e.size) if weight is None else np.asarray(weight, np.float64).ravel()
    if not e.size == c.size == w.size:
        raise InputError(f"error has {e.size} pixels, confidence {c.size} and weight {w.size}: give the same pixels")
    e, c, w = e[w > 0], np.where(np.isnan(c), -np.inf, c)[w > 0], w[w > 0]
    if not e.size:
        raise InputError("error has no pixel with weight: give one at least")
    mean = float(np.average(e, weights=w))
    return (_area(e, c, w) - _area(e, -e, w)) / mean if mean > NOTHING else 0.0


def _area(error: FloatArray, confidence: FloatArray, weight: FloatArray) -> float:
    """The area under the sparsification curve."""
    order = np.argsort(-confidence, kind="stable")
    e, c, w = error[order], confidence[order], weight[order]
    # Pixels of equal confidence get their mean error, which is what a random order among them has on average.
    starts = np.flatnonzero(np.concatenate(([True], c[1:] != c[:-1])))
    counts = np.diff(starts, append=c.size)
    shared = np.repeat(np.add.reduceat(w * e, starts) / np.add.reduceat(w, starts), counts)
    left = np.cumsum(w)
    kept = np.cumsum(w * shared) / left
    return float(np.dot(kept, w) / left[-1])


def sigma_calibration(error: npt.ArrayLike, sigma: npt.ArrayLike) -> SigmaCalibration:
    """Compare errors with the expected error, in ten groups of pixels of growing sigma.

    If the errors of a group are normal with its sigma, the median of ``|error|`` is 0.6745 sigma.

    Parameters
    ----------
    error : array
        Errors in px; the sign does not matter. Pixels that are not finite do not count.
    sigma : array of the same shape
        Expected error in px, above 0. Pixels that are not finite do not count.

    Returns
    -------
    SigmaCalibration
        Pixels of equal sigma are in the same group.
    """
    e, s = (np.abs(np.asarray(values, np.float64)).ravel() for values in (error, sigma))
    if e.size != s.size:
        raise InputError(f"error has {e.size} pixels but sigma {s.size}: give the same pixels")
    counted = np.isfinite(e) & np.isfinite(s)
    e, s = e[counted], s[counted]
    if not e.size:
        raise InputError("error and sigma share no finite pixel: give one at least")
    if not (np.asarray(sigma)[np.isfinite(sigma)] > 0).all():
        raise InputError("sigma holds values of 0 or less: give the expected error in px, above 0")
    limits = np.quantile(s, np.arange(1, DECILES) / DECILES, method="higher")
    group = np.searchsorted(limits, s, side="right")
    errors, sigmas = (np.array([_median(values[group == i]) for i in range(DECILES)]) for values in (e, s))
    ratios = errors / (NORMAL_MEDIAN * sigmas)
    known = ratios[np.isfinite(ratios)]
    with np.errstate(divide="ignore"):
        worst = float(max(known.max(), (1 / known).max()))
    return SigmaCalibration(tuple(ratios.tolist()), tuple(errors.tolist()), tuple(sigmas.tolist()), worst)


def _median(values: FloatArray) -> float:
    return float(np.median(values)) if values.size else float("nan")
