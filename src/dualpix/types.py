"""The array types that cross into the kernels, and the numbers of images."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

Map = npt.NDArray[np.float32]
Ranges = npt.NDArray[np.int32]
Weights = npt.NDArray[np.uint16]


def as_row(values: Iterable[float]) -> Map:
    """A contiguous float32 vector."""
    return np.ascontiguousarray(values, dtype=np.float32)


def full_scale(dtype: np.dtype[Any]) -> float:
    """The largest value an image of that type can hold, 1 for floats."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def same_size(first: tuple[str, tuple[int, ...]], *others: tuple[str, tuple[int, ...]]) -> None:
    """Check that images have the width and height of the first one.

    Parameters
    ----------
    first, others
        The name of an image, a file or an argument, and the shape of its array.

    Raises
    ------
    InputError
        If a size differs. The sentence names both images and their sizes.
    """
    wanted = _size(first[1])
    for name, shape in others:
        if _size(shape) != wanted:
            raise InputError(f"{name} is {_size(shape)} but {first[0]} is {wanted}: give images of the same size")


def _size(shape: tuple[int, ...]) -> str:
    """Width x height, as people write it."""
    return "x".join(str(length) for length in reversed(shape[:2]))
