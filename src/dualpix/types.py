"""Array types, and small helpers for arrays, that the whole package shares."""

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

StrPath = str | os.PathLike[str]

Image = npt.NDArray[Any]  # HxW or HxWx3 (RGB), uint8, uint16 or float32
Map = npt.NDArray[np.float32]  # HxW
Mask = npt.NDArray[np.uint8]  # HxW
Ranges = npt.NDArray[np.int32]
Weights = npt.NDArray[np.uint16]


def as_row(values: Iterable[float]) -> Map:
    """Return a contiguous float32 vector."""
    return np.ascontiguousarray(values, dtype=np.float32)


def full_scale(dtype: np.dtype[Any]) -> float:
    """Return the value of white in an image of this type: the largest integer, or 1 for floats."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def same_size(first: tuple[str, tuple[int, ...]], *others: tuple[str, tuple[int, ...]]) -> None:
    """Check that images have the same height and width.

    Parameters
    ----------
    first, others
        The name of each image, and its shape. Channels are not compared.

    Raises
    ------
    InputError
        If one of the others differs in size from the first.
    """
    wanted, (height, width) = first[0], first[1][:2]
    for name, shape in others:
        if shape[:2] != (height, width):
            raise InputError(
                f"{name} is {shape[1]}x{shape[0]} but {wanted} is {width}x{height}: give images of the same size"
            )
