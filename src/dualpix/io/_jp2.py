"""JPEG 2000, as a JP2 file or a bare codestream: size and depth are read here; OpenCV decodes the pixels."""

import re
import struct

from ..types import Image
from . import _opencv
from ._format import Bytes, FormatError, Header

MAGIC = re.compile(rb"\0\0\0\x0cjP  \r\n\x87\n|\xff\x4f\xff\x51")

_SIZE = re.compile(rb"\xff\x4f\xff\x51")  # start of the codestream, and of its size segment
_FARTHEST = 2**20  # bytes of boxes before the codestream


def header(data: Bytes) -> Header:
    """Read size and type from the size segment."""
    found = _SIZE.search(data, 0, _FARTHEST)
    if not found or found.end() + 39 > len(data):
        raise FormatError("is a damaged JPEG 2000: copy or export it again")
    right, bottom, left, top = struct.unpack_from(">4I", data, found.end() + 4)
    channels, depth = struct.unpack_from(">HB", data, found.end() + 36)
    if depth + 1 not in (8, 16):  # the top bit marks signed values
        raise FormatError("has neither 8 nor 16 bits a channel, as it must here: export it as PNG or TIFF")
    if channels not in (1, 3, 4):
        raise FormatError(f"has {channels} colour channels: convert it to grey or RGB")
    return Header(right - left, bottom - top, 1 if channels == 1 else 3, "uint16" if depth == 15 else "uint8")


def decode(data: bytes) -> Image:
    """Decode the pixels as stored."""
    if not data.rstrip(b"\0").endswith(b"\xff\xd9"):
        raise FormatError("is cut short: copy or export it again")
    return _opencv.decode(data)
