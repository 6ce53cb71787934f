"""Checks of what the metrics get."""

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...params.rules import Whole, check
from ...types import same_size

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def real_map(name: str, values: npt.ArrayLike) -> FloatArray:
    """The map as float64."""
    array = np.asarray(values)
    if array.ndim != 2 or array.dtype.kind not in "uif":
        raise InputError(f"{name} is {array.ndim}-D {array.dtype}: give a 2-D map of real numbers")
    return array.astype(np.float64)


def estimate_map(est: npt.ArrayLike) -> FloatArray:
    """The estimate, NaN where it has no finite value."""
    estimate = real_map("est", est)
    return np.where(np.isfinite(estimate), estimate, np.nan)


def weights(confidence: npt.ArrayLike | None, shape: tuple[int, ...]) -> FloatArray:
    """The weight of each pixel; 1 if there is none."""
    if confidence is None:
        return np.ones(shape)
    weight = real_map("confidence", confidence)
    same_size(("gt", shape), ("confidence", weight.shape))
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError("confidence holds negative or non-finite values: give weights of 0 or more")
    return weight


def inner(crop: int, shape: tuple[int, ...], one_less_first: bool = False) -> tuple[slice, slice]:
    """The part of a map inside a border of `crop` pixels.

    With `one_less_first`, the border is one row and one column smaller at the top and left.
    """
    crop = check("crop", crop, Whole(0, 2**16))
    first = crop - 1 if one_less_first and crop else crop
    height, width = shape
    if first + crop >= min(height, width):
        raise InputError(f"crop {crop} leaves nothing of a {width}x{height} map: give a smaller crop")
    return slice(first, height - crop), slice(first, width - crop)
