"""JPEG: the segments are read here for size, orientation and completeness. OpenCV decodes and encodes the pixels."""

import re
import struct
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..types import Image
from . import _exif, _opencv
from ._format import Bytes, FormatError, Header

MAGIC = re.compile(rb"\xff\xd8\xff")

# FF00 and the restart markers D0..D7 belong to the compressed pixels.
_MARKER = re.compile(rb"\xff+([^\x00\xff\xd0-\xd7])")
_END, _SCAN, _APP1, _APP2 = 0xD9, 0xDA, 0xE1, 0xE2
_ICC = b"ICC_PROFILE\0"
_QUALITY = 95
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # SOF0 to SOF15 without DHT, JPG and DAC


def header(data: Bytes) -> Header:
    """Read size and type from the first frame header, and the orientation from the Exif segment."""
    for marker, start in _segments(data):
        if marker in _FRAMES and start + 8 <= len(data):
            bits, height, width, channels = struct.unpack_from(">BHHB", data, start + 2)
            if bits != 8:
                raise FormatError(f"is a {bits}-bit JPEG, which cannot be read: export it as PNG or TIFF")
            if channels not in (1, 3):
                raise FormatError(f"has {channels} colour channels: convert it to grey or RGB")
            return Header(width, height, channels, "uint8", _orientation(data))
    raise FormatError("is a damaged JPEG, its size is missing: copy or export it again")


def decode(data: bytes) -> Image:
    """Decode the pixels as stored. The end marker must be there."""
    if all(marker != _END for marker, _ in _segments(data)):
        raise FormatError("is cut short: copy or export it again")
    return _opencv.decode(data)


def encode(image: npt.NDArray[np.uint8]) -> bytes:
    """Encode HxW or HxWx3 RGB."""
    import cv2

    pixels = image if image.ndim == 2 else image[..., ::-1]
    return bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1])


def exif(data: Bytes) -> bytes:
    """Return the body of the Exif segment; empty if there is none."""
    for marker, start in _segments(data):
        if marker == _SCAN:
            break
        if marker == _APP1:
            body = data[start + 2 : start + int.from_bytes(data[start : start + 2], "big")]
            if body.startswith(b"Exif\0"):  # XMP is in such a segment too
                return body
    return b""


def profile(data: Bytes) -> bytes:
    """Return the ICC profile, which may lie in several segments; empty if there is none."""
    parts = {}
    for marker, start in _segments(data):
        if marker == _SCAN:
            break
        body = data[start + 2 : start + int.from_bytes(data[start : start + 2], "big")] if marker == _APP2 else b""
        if body.startswith(_ICC) and len(body) > len(_ICC):
            parts[body[len(_ICC)]] = body[len(_ICC) + 2 :]
    return b"".join(parts[number] for number in sorted(parts))


def _orientation(data: Bytes) -> int:
    return _exif.orientation(exif(data))


def index(data: Bytes) -> tuple[bytes, int]:
    """Return the index of a multi-picture file (MPO), and the offset from which it counts; empty if there is none."""
    for marker, start in _segments(data):
        if marker == _SCAN:
            break
        if marker == _APP2 and data[start + 2 : start + 6] == b"MPF\0":
            return data[start + 6 : start + int.from_bytes(data[start : start + 2], "big")], start + 6
    return b"", 0


def _segments(data: Bytes) -> Iterator[tuple[int, int]]:
    """Yield each marker and the offset behind it, up to the end of the image or of the data."""
    position = 2
    while found := _MARKER.search(data, position):
        marker, position = found[1][0], found.end()
        yield marker, position
        if marker == _END:
            return
        position += int.from_bytes(data[position : position + 2], "big")
