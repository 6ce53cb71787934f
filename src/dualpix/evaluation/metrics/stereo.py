"""Errors of absolute disparities, as the stereo benchmarks count them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...errors import InputError, ParameterError
from ...types import same_size
from .inputs import BoolArray, inner, real_map

_STEREO = ("proper", "paper-stereo")


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
    estimate, truth = real_map("est", est), real_map("gt", gt)
    same_size(("gt", truth.shape), ("est", estimate.shape))
    visible = _visible(mask, truth.shape)
    cut = inner(crop, truth.shape)
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
