"""JPEG 2000, as a JP2 file or a bare codestream: size and depth are read here; OpenCV decodes the pixels."""

import re

from ..types import Image
from . import _opencv
from ._boxes import find
from ._format import Bytes, FormatError, Header, unpack

MAGIC = re.compile(rb"\0\0\0\x0cjP  \r\n\x87\n|\xff\x4f\xff\x51")

_SIZE = b"\xff\x4f\xff\x51"  # start of the codestream, and of its size segment
_DAMAGED = "is damaged or cut short: copy or export it again"


def header(data: Bytes) -> Header:
    """Read size and type from the size segment."""
    start, end = _codestream(data)
    start += len(_SIZE)
    if start + 39 > end:
        raise FormatError(_DAMAGED)
    right, bottom, left, top = unpack(">4I", data, start + 4)
    channels, depth = unpack(">HB", data, start + 36)
    if right <= left or bottom <= top:
        raise FormatError(_DAMAGED)
    if depth + 1 not in (8, 16):  # the top bit marks signed values
        raise FormatError("has neither 8 nor 16 bits a channel, as it must here: export it as PNG or TIFF")
    if channels not in (1, 3, 4):
        raise FormatError(f"has {channels} colour channels: convert it to grey or RGB")
    return Header(right - left, bottom - top, 1 if channels == 1 else 3, "uint16" if depth == 15 else "uint8")


def decode(data: bytes) -> Image:
    """Decode the pixels as stored."""
    start, end = _codestream(data)
    if not data[start:end].rstrip(b"\0").endswith(b"\xff\xd9"):
        raise FormatError(_DAMAGED)
    return _opencv.decode(data, header(data))


def _codestream(data: Bytes) -> tuple[int, int]:
    """Start and end of the codestream: the box jp2c, which other boxes may follow, or the whole file."""
    place = (0, len(data)) if data[:4] == _SIZE else find(data, 0, len(data), b"jp2c")
    if place is None or data[place[0] : place[0] + 4] != _SIZE:
        raise FormatError(_DAMAGED)
    return place
