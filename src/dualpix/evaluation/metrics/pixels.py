"""Errors in pixels of maps whose truth is a signed disparity in pixels, known up to a gain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...opencv import opencv
from ...types import same_size
from .inputs import BoolArray, FloatArray, estimate_map, inner, real_map
from .uncertainty import ause

GAIN_ROUNDS = 10  # of least squares, of which the first is unweighted
GAIN_EPS = 0.02  # px; smaller errors weigh no more than this one
CROP = 8  # px
STEP = 0.5  # px; neighbours that differ by more lie on both sides of a depth edge
WINDOW = 21  # px; side of the square around a depth edge
STEEPEST = 0.05  # px; a larger second derivative is a step, not a bump, and counts as this one


@dataclass(frozen=True)
class PixelErrors:
    """Errors of ``gain * est - gt``, in px. Lower is better, except for gain and coverage.

    A figure is None if there is no pixel to take it from.
    """

    mae: float | None  # px, mean absolute error
    bad_0_25: float  # percent of pixels wrong by more than 0.25 px, or without an estimate
    bad_1: float  # the same for 1 px
    smooth: float | None  # px, mean absolute error away from depth edges
    edges: float | None  # px, mean absolute error near depth edges
    bump: float | None  # mean second derivative of the error away from edges, hundredths of a px
    ause: float | None  # area between the sparsification curves of confidence and oracle, in units of mae
    gain: float | None  # the fitted factor; negative if near and far are exchanged
    coverage: float  # share of the pixels with ground truth that have an estimate, 0..1


def pixel_errors(
    est: npt.ArrayLike,
    gt: npt.ArrayLike,
    confidence: npt.ArrayLike | None = None,
    crop: int = CROP,
    *,
    fit_gain: bool = True,
) -> PixelErrors:
    """Score a map in pixels against exact disparities.

    With `fit_gain` one gain per map is fitted first, since blurred views correlate best at a shift that is not quite
    the distance of their centroids. The gain g minimises the mean of ``|g est - gt|``, by iteratively reweighted
    least squares. With ``e = g est - gt`` over the pixels with known truth:

    - mae: mean of ``|e|``
    - bad_0_25, bad_1: percentage with ``|e| > 0.25`` or ``|e| > 1``
    - edges, smooth: mean of ``|e|`` near depth edges and elsewhere. A pixel is near if the 21x21 px around it hold an
      edge: a pixel in whose 3x3 px the truth varies by more than 0.5 px.
    - bump: mean of ``min(0.05, sqrt(e_xx^2 + e_yy^2 + 2 e_xy^2))`` away from edges, times 100. It sees stairs and
      streaks. Second derivatives are differences of the eight neighbours; an unknown truth counts as 0 in them.
    - ause: see `ause`

    Parameters
    ----------
    est : (H, W) array
        Estimated disparity in px. A pixel that is not finite counts as bad, and in no other score.
    gt : (H, W) array
        True disparity ``x_left - x_right`` in px, signed; not finite where unknown.
    confidence : (H, W) array, optional
        Any number that is larger where the estimate is more reliable. NaN is the least reliable.
    crop : int
        Border that is not scored, in px.
    fit_gain : bool
        Fit the gain. Without it, g is 1.

    Returns
    -------
    PixelErrors
        `ause` is None without a confidence, `gain` without a fit.
    """
    estimate, truth = estimate_map(est), real_map("gt", gt)
    same_size(("gt", truth.shape), ("est", estimate.shape))
    trust = None if confidence is None else real_map("confidence", confidence)
    if trust is not None:
        same_size(("gt", truth.shape), ("confidence", trust.shape))
    known = np.zeros(truth.shape, bool)
    cut = inner(crop, truth.shape)
    known[cut] = np.isfinite(truth[cut])
    if not known.any():
        raise InputError("gt has no known pixel to score: check gt and crop")
    found = known & np.isfinite(estimate)
    gain = fitted_gain(estimate[found], truth[found]) if fit_gain and found.any() else 1.0
    signed = gain * estimate - np.where(np.isfinite(truth), truth, 0)
    error = np.abs(signed)
    near = near_edges(truth)
    split = edge_split(np.where(known, error, np.nan), near)
    quarter, one = (100 * int((known & ~(error <= limit)).sum()) / int(known.sum()) for limit in (0.25, 1))
    return PixelErrors(
        mae=_mean(error[found]),
        bad_0_25=quarter,
        bad_1=one,
        smooth=split.get("smooth"),
        edges=split.get("edges"),
        bump=_bump(signed, known & ~near),
        ause=None if trust is None or not found.any() else ause(error[found], trust[found]),
        gain=gain if fit_gain and found.any() else None,
        coverage=int(found.sum()) / int(known.sum()),
    )


def fitted_gain(x: FloatArray, y: FloatArray) -> float:
    """The factor g of the least mean absolute error ``|g x - y|``, by iteratively reweighted least squares."""
    gain, weight = 1.0, np.ones_like(x)
    for _ in range(GAIN_ROUNDS):
        gain = float(np.dot(weight * x, y) / max(np.dot(weight * x, x), 1e-12))
        weight = 1 / np.maximum(np.abs(gain * x - y), GAIN_EPS)
    return gain


def near_edges(truth: npt.NDArray[np.floating], step: float = STEP, window: int = WINDOW) -> BoolArray:
    """Where the square of that side around a pixel holds a depth edge.

    An edge is a pixel in whose 3x3 px the known truth varies by more than `step`.
    """
    cv2 = opencv()

    known = np.isfinite(truth)
    around, border = np.ones((3, 3)), cv2.BORDER_REPLICATE
    highest = cv2.dilate(np.where(known, truth, -np.inf), around, borderType=border)
    lowest = cv2.erode(np.where(known, truth, np.inf), around, borderType=border)
    edge = highest - lowest > step
    return np.asarray(cv2.dilate(edge.astype(np.uint8), np.ones((window, window))) > 0)


def edge_split(error: npt.NDArray[np.floating], near: BoolArray) -> dict[str, float]:
    """The mean of the finite errors away from edges ("smooth") and near them ("edges"), of which there are any."""
    found = np.isfinite(error)
    parts = {"smooth": error[found & ~near], "edges": error[found & near]}
    return {name: float(values.mean(dtype=np.float64)) for name, values in parts.items() if values.size}


def _bump(error: FloatArray, counted: BoolArray) -> float | None:
    """Mean norm of the Hessian of the error, each at most STEEPEST, times 100."""
    if min(error.shape) < 3:
        return None
    centre = 2 * error[1:-1, 1:-1]
    xx = error[1:-1, 2:] - centre + error[1:-1, :-2]
    yy = error[2:, 1:-1] - centre + error[:-2, 1:-1]
    xy = (error[2:, 2:] - error[2:, :-2] - error[:-2, 2:] + error[:-2, :-2]) / 4
    steepness = np.minimum(np.sqrt(xx**2 + yy**2 + 2 * xy**2), STEEPEST)
    mean = _mean(steepness[counted[1:-1, 1:-1] & np.isfinite(steepness)])
    return None if mean is None else 100 * mean


def _mean(values: FloatArray) -> float | None:
    return float(values.mean()) if values.size else None
