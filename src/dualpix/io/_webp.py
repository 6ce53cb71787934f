"""WebP: the chunks are read here for size and orientation; OpenCV decodes the pixels."""

import re
import struct
from collections.abc import Iterator

from ..types import Image
from . import _exif, _opencv
from ._format import Bytes, FormatError, Header, unpack

MAGIC = re.compile(rb"RIFF.{4}WEBP", re.DOTALL)

_ANIMATED = 2  # flag of VP8X


def header(data: Bytes) -> Header:
    """Read the size from the first chunk, and the orientation from EXIF."""
    kind, start, _ = next(_chunks(data), (b"", 0, 0))
    head = data[start : start + 10]
    if kind == b"VP8X" and len(head) == 10:
        if head[0] & _ANIMATED:
            raise FormatError("is an animated WebP: save the picture to use as a file of its own")
        width, height = (int.from_bytes(head[i : i + 3], "little") + 1 for i in (4, 7))
    elif kind == b"VP8 " and len(head) == 10 and head[3:6] == b"\x9d\x01\x2a":
        width, height = (size & 0x3FFF for size in struct.unpack("<HH", head[6:10]))
    elif kind == b"VP8L" and len(head) >= 5 and head[:1] == b"\x2f":
        packed = int.from_bytes(head[1:5], "little")
        width, height = (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    else:
        raise FormatError("is a damaged WebP: copy or export it again")
    return Header(width, height, 3, "uint8", _exif.orientation(exif(data)))


def decode(data: bytes) -> Image:
    """Decode the pixels as stored."""
    (size,) = unpack("<I", data, 4)
    if size + 8 > len(data):
        raise FormatError("is cut short: copy or export it again")
    return _opencv.decode(data, header(data))


def exif(data: Bytes) -> bytes:
    """Return the EXIF data; empty if there is none."""
    return chunk(data, b"EXIF")


def chunk(data: Bytes, wanted: bytes) -> bytes:
    """Return the body of the first chunk of a kind; empty if there is none."""
    return next((data[start:end] for kind, start, end in _chunks(data) if kind == wanted), b"")


def _chunks(data: Bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, start and end of the body of each complete chunk."""
    start = 12
    while start + 8 <= len(data):
        kind, length = unpack("<4sI", data, start)
        end = start + 8 + length
        if end > len(data):
            return
        yield kind, start + 8, end
        start = end + length % 2
