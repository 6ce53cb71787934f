"""A range of depth as a mask."""

import math

import numpy as np

from ..errors import ParameterError
from ..types import Map

SUFFIXES = (".png", ".tif", ".tiff", ".pfm", ".npy", ".exr")


def depth_mask(values: Map, low: float, high: float, soft: float = 0.0) -> Map:
    """1 where the map is from `low` to `high`, 0 elsewhere, with a linear ramp of width `soft` outside each end.

    Parameters
    ----------
    values
        A map: disparities or metres. NaN gets 0. Infinity is inside if `high` is inf.
    low, high, soft
        In the unit of the map. `low` may be -inf, `high` may be inf.
    """
    for name, end in (("start", low), ("end", high)):
        if math.isnan(end):
            raise ParameterError(f"the {name} of the range is NaN: give a number, -inf or inf")
    if low >= high:
        raise ParameterError(f"the range is from {low:g} to {high:g}: give a smaller number first")
    if not 0 <= soft < math.inf:
        raise ParameterError(f"soft is {soft:g}: give the width of the ramp, 0 or more")
    exact = values.astype(np.float64)
    with np.errstate(invalid="ignore"):
        outside = np.where(exact < low, low - exact, np.where(exact > high, exact - high, 0))
    with np.errstate(over="ignore"):  # far outside a narrow ramp
        alpha = 1 - outside / soft if soft else (outside == 0).astype(np.float64)
    return np.where(np.isnan(values), 0, np.clip(alpha, 0, 1)).astype(np.float32)
