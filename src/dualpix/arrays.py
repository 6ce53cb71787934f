"""The array types that cross into the kernels."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

Map = npt.NDArray[np.float32]


def as_row(values: Iterable[float]) -> Map:
    """A contiguous float32 vector."""
    return np.ascontiguousarray(values, dtype=np.float32)
