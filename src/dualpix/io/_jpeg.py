"""JPEG: the segments are walked here for size and completeness, the pixels decoded by OpenCV."""

import re
import struct
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from . import _opencv
from ._format import Bytes, FormatError, Header

MAGIC = re.compile(rb"\xff\xd8\xff")

# FF00 and the restart markers D0..D7 belong to the compressed pixels.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
_END = 0xD9
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # SOF0..15 but DHT, JPG, DAC


def header(data: Bytes) -> Header:
    """Read the size and kind from the first frame header."""
    for marker, start in _segments(data):
        if marker in _FRAMES and start + 8 <= len(data):
            bits, height, width, channels = struct.unpack_from(">BHHB", data, start + 2)
            if bits != 8:
                raise FormatError(f"is a {bits}-bit JPEG, which cannot be read: export it as PNG or TIFF")
            if channels not in (1, 3):
                raise FormatError(f"has {channels} colour channels: convert it to grey or RGB")
            return Header(width, height, channels, "uint8")
    raise FormatError("is a damaged JPEG without a size: copy or export it again")


def decode(data: bytes) -> NDArray[Any]:
    """Decode the pixels; the file must reach its end marker."""
    if all(marker != _END for marker, _ in _segments(data)):
        raise FormatError("is cut short: copy or export it again")
    return _opencv.decode(data)


def _segments(data: Bytes) -> Iterator[tuple[int, int]]:
    """Yield each marker and the offset behind it, up to the end of the image or of the data."""
    position = 2
    while found := _MARKER.search(data, position):
        marker, position = found[1][0], found.end()
        yield marker, position
        if marker == _END:
            return
        position += int.from_bytes(data[position : position + 2], "big")
