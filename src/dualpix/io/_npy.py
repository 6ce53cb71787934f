"""NPY: a two-dimensional array of real numbers. Pickled objects are refused."""

import re
from io import BytesIO
from typing import Any

import numpy as np

from ..types import Image, Map
from ._format import Bytes, FormatError, Header, check_length

_LONGEST_HEADER = 2**16
MAGIC = re.compile(rb"\x93NUMPY")


def header(data: Bytes) -> Header:
    """Read size and type from the header."""
    (height, width), dtype, _, _ = _parse(data)
    return Header(width, height, 1, dtype.name)


def decode(data: bytes) -> Image:
    """Return the stored array."""
    shape, dtype, order, start = _parse(data)
    check_length(len(data) - start, shape[0] * shape[1] * dtype.itemsize)
    return np.frombuffer(data, dtype, offset=start).reshape(shape, order=order)


def encode(values: Map) -> memoryview:
    """Encode as numpy.save does."""
    file = BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getbuffer()


def _parse(data: Bytes) -> tuple[tuple[int, int], np.dtype[Any], Any, int]:
    file = BytesIO(data[:_LONGEST_HEADER])
    try:
        old = np.lib.format.read_magic(file) == (1, 0)
        read_header = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read_header(file)
    except Exception as error:  # The header is a Python literal, and numpy passes on any error of the parser.
        raise FormatError("has a damaged NPY header: save it again") from error
    if len(shape) != 2 or dtype.kind not in "buif" or not real_shape(shape):
        kind = f"an array of shape {shape} and type {dtype}"
        raise FormatError(f"holds {kind}, but a map is a two-dimensional array of real numbers: save one")
    return shape, dtype, "F" if fortran else "C", file.tell()


def real_shape(shape: tuple[object, ...]) -> bool:
    """Whether all sides are whole numbers from 0 on. NumPy takes negative ones and True from a file, too."""
    return all(type(side) is int and side >= 0 for side in shape)
