"""BMP: the header is read here for size and channels; OpenCV decodes the pixels."""

import re

import numpy as np

from ..types import Image
from . import _opencv
from ._format import Bytes, FormatError, Header, unpack

MAGIC = re.compile(rb"BM.{12}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0", re.DOTALL)

_OLD_HEADER = 12  # bytes of OS/2's header, whose sizes have 16 bits
_FILE_HEADER = 14


def header(data: Bytes) -> Header:
    """Read the size. Rows from top to bottom have a negative height."""
    if len(data) < _FILE_HEADER + _OLD_HEADER:
        raise FormatError("is a damaged BMP: copy or export it again")
    (size,) = unpack("<I", data, _FILE_HEADER)
    if size == _OLD_HEADER:
        width, height, _, bits = unpack("<HHHH", data, _FILE_HEADER + 4)
    elif size >= 40 and len(data) >= _FILE_HEADER + 40:
        width, height, _, bits = unpack("<iiHH", data, _FILE_HEADER + 4)
    else:
        raise FormatError("is a damaged BMP: copy or export it again")
    if width < 0 or bits not in (1, 4, 8, 16, 24, 32):
        raise FormatError("is a damaged BMP: copy or export it again")
    return Header(width, abs(height), 3, "uint8")


def decode(data: bytes) -> Image:
    """Decode to RGB. A palette of greys gives equal channels."""
    (size,) = unpack("<I", data, 2)
    if size > len(data):
        raise FormatError("is cut short: copy or export it again")
    image = _opencv.decode(data, header(data))
    return np.dstack([image] * 3) if image.ndim == 2 else image  # OpenCV makes a grey palette one channel
