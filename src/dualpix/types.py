"""The array types that cross into the kernels, and the numbers of images."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Map = npt.NDArray[np.float32]
Ranges = npt.NDArray[np.int32]
Weights = npt.NDArray[np.uint16]


def as_row(values: Iterable[float]) -> Map:
    """A contiguous float32 vector."""
    return np.ascontiguousarray(values, dtype=np.float32)


def full_scale(dtype: np.dtype[Any]) -> float:
    """The largest value an image of that type can hold, 1 for floats."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0
