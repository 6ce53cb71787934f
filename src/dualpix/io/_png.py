"""PNG: the chunks are read and checked here; OpenCV decodes the pixels."""

import re
import struct
import zlib
from collections.abc import Iterator

from ..types import Image
from . import _exif, _opencv
from ._format import Bytes, FormatError, Header

MAGIC = re.compile(rb"\x89PNG\r\n\x1a\n")

_SIGNATURE_LENGTH = 8
_GREY = (0, 4)  # colour types without and with alpha
# Other chunks may turn, scale or animate the image, or make libpng print a warning.
_PIXEL_CHUNKS = (b"IHDR", b"PLTE", b"IDAT", b"IEND")


def header(data: Bytes) -> Header:
    """Read size and type from IHDR, and the orientation from eXIf."""
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise FormatError("is a damaged PNG: copy or export it again")
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    dtype = "uint16" if depth == 16 else "uint8"
    return Header(width, height, 1 if colour in _GREY else 3, dtype, _orientation(data))


def decode(data: bytes) -> Image:
    """Decode the pixels as stored. Palette and 1-bit images become uint8."""
    image = _opencv.decode(_pixel_chunks(data))
    return image[..., 0] if image.ndim == 3 and header(data).channels == 1 else image


def exif(data: Bytes) -> bytes:
    """Return the content of the eXIf chunk; empty if there is none or it is damaged."""
    return chunk(data, b"eXIf")


def chunk(data: Bytes, wanted: bytes) -> bytes:
    """Return the content of the first chunk of a kind; empty if there is none or it is damaged."""
    for kind, start, end in _chunks(data):
        if kind == wanted:
            return data[start + 8 : end - 4] if _intact(data, start, end) else b""
    return b""


def _orientation(data: Bytes) -> int:
    return _exif.orientation(exif(data))


def _pixel_chunks(data: bytes) -> bytes:
    """Return the same PNG without metadata. The chunks that remain must be complete and pass their checksums."""
    view = memoryview(data)
    kept = [view[:_SIGNATURE_LENGTH]]
    kind = b""
    for kind, start, end in _chunks(data):
        if kind in _PIXEL_CHUNKS:
            if not _intact(view, start, end):
                raise FormatError("is damaged, a checksum does not match: copy or export it again")
            kept.append(view[start:end])
    if kind != b"IEND":
        raise FormatError("is cut short: copy or export it again")
    return b"".join(kept)


def _chunks(data: Bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the kind, start and end of each complete chunk, up to IEND."""
    start, kind = _SIGNATURE_LENGTH, b""
    while kind != b"IEND" and start + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, start)
        end = start + length + 12
        if end > len(data):
            return
        yield kind, start, end
        start = end


def _intact(data: Bytes | memoryview, start: int, end: int) -> bool:
    """Check the checksum of a chunk."""
    return zlib.crc32(data[start + 4 : end - 4]) == int.from_bytes(data[end - 4 : end], "big")
