"""PNG: the chunks are walked and checked here, the pixels decoded by OpenCV."""

import re
import struct
import zlib
from typing import Any

from numpy.typing import NDArray

from . import _opencv
from ._format import Bytes, FormatError, Header

MAGIC = re.compile(rb"\x89PNG\r\n\x1a\n")

_SIGNATURE_LENGTH = 8
_GREY = (0, 4)  # colour types without and with alpha
# Others may turn, scale or animate the image, or make libpng complain.
_PIXEL_CHUNKS = (b"IHDR", b"PLTE", b"IDAT", b"IEND")


def header(data: Bytes) -> Header:
    """Read the size and kind from IHDR."""
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise FormatError("is a damaged PNG: copy or export it again")
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    return Header(width, height, 1 if colour in _GREY else 3, "uint16" if depth == 16 else "uint8")


def decode(data: bytes) -> NDArray[Any]:
    """Decode the pixels, palette and 1-bit images expanded to uint8."""
    image = _opencv.decode(_pixel_chunks(data))
    return image[..., 0] if image.ndim == 3 and header(data).channels == 1 else image


def _pixel_chunks(data: bytes) -> bytes:
    """Return the same PNG without metadata, every remaining chunk whole and with the right checksum."""
    view = memoryview(data)
    kept = [view[:_SIGNATURE_LENGTH]]
    start, kind = _SIGNATURE_LENGTH, b""
    while kind != b"IEND":
        if start + 12 > len(data):
            raise FormatError("is cut short: copy or export it again")
        length, kind = struct.unpack_from(">I4s", data, start)
        end = start + length + 12
        if end > len(data):
            raise FormatError("is cut short: copy or export it again")
        if kind in _PIXEL_CHUNKS:
            if zlib.crc32(view[start + 4 : end - 4]) != struct.unpack_from(">I", data, end - 4)[0]:
                raise FormatError("is damaged, a checksum does not match: copy or export it again")
            kept.append(view[start:end])
        start = end
    return b"".join(kept)
