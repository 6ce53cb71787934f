"""JPEG: the segments are read here. Pillow decodes a copy that has nothing but the pixels; OpenCV encodes.

The copy means that Pillow finds the same picture as `header`, and that nothing else in the file is parsed twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..forks import no_fork
from ..opencv import opencv
from ..types import Image
from . import _exif
from ._format import Bytes, FormatError, Header, check_shape, unpack

if TYPE_CHECKING:
    from PIL.JpegImagePlugin import JpegImageFile

MAGIC = re.compile(rb"\xff\xd8\xff")

# FF00 and the restart markers D0..D7 belong to the compressed pixels. Markers up to BF stand alone, as D8 does.
_MARKER = re.compile(rb"\xff([\xc0-\xcf\xd8-\xfe])")
_START, _END, _SCAN, _APP1, _APP2 = 0xD8, 0xD9, 0xDA, 0xE1, 0xE2
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}  # SOF0 to SOF15 without DHT, JPG and DAC
_KEPT = _FRAMES | {0xC4, 0xCC, 0xDA, 0xDB, 0xDD, 0xE0, 0xEE}  # tables, scans, JFIF and Adobe's colour transform
_ICC = b"ICC_PROFILE\0"
_QUALITY = 95
_GAP = 4096  # bytes between two segments of the head of a file
_MOST_SEGMENTS = 2**14  # before the first scan
_MOST_SCANS = 100  # a scan of a few bytes may cost as much as the whole picture
_STRIP = 2**18  # bytes of rows that are copied at once, while they are in the processor's cache
_DAMAGED = "is a damaged JPEG: copy or export it again"


def header(data: Bytes) -> Header:
    """Read size and type from the frame header, and the orientation from the Exif segment."""
    for marker, start, end in _head(data):
        if marker in _FRAMES and start + 6 <= end:
            bits, height, width, channels = unpack(">BHHB", data, start)
            if bits != 8:
                raise FormatError(f"is a {bits}-bit JPEG, which cannot be read: export it as PNG or TIFF")
            if channels not in (1, 3):
                raise FormatError(f"has {channels} colour channels: convert it to grey or RGB")
            return Header(width, height, channels, "uint8", _exif.orientation(exif(data)))
    raise FormatError("is a damaged JPEG, its size is missing: copy or export it again")


def decode(data: bytes) -> Image:
    """Decode the pixels as stored. The end marker must be there."""
    expected, pixels = header(data), _pixels_only(data)
    try:
        # The class, not Image.open: that has a limit of pixels of its own, for the whole process.
        with _pillow()(BytesIO(pixels)) as picture:
            check_shape(np.empty((picture.height, picture.width, 0)), expected)
            picture.load()
            return _copied(picture)
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # Pillow raises whatever its parser runs into, SyntaxError for example
        raise FormatError(_DAMAGED) from error


def encode(image: npt.NDArray[np.uint8]) -> bytes:
    """Encode HxW or HxWx3 RGB."""
    cv2 = opencv()
    pixels = image if image.ndim == 2 else image[..., ::-1]
    return bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1])


def exif(data: Bytes) -> bytes:
    """Return the body of the Exif segment; empty if there is none."""
    for marker, start, end in _head(data):
        if marker == _APP1 and data[start : start + 5] == b"Exif\0":  # XMP is in such a segment too
            return data[start:end]
    return b""


def profile(data: Bytes) -> bytes:
    """Return the ICC profile, which may lie in several segments; empty if there is none."""
    parts = {}
    for marker, start, end in _head(data):
        if marker == _APP2 and end - start > len(_ICC) and data[start : start + len(_ICC)] == _ICC:
            body = data[start + len(_ICC) : end]
            parts[body[0]] = body[2:]
    return b"".join(parts[number] for number in sorted(parts))


def index(data: Bytes) -> tuple[bytes, int]:
    """Return the index of a multi-picture file (MPO), and the offset from which it counts; empty if there is none."""
    for marker, start, end in _head(data):
        if marker == _APP2 and data[start : start + 4] == b"MPF\0":
            return data[start + 4 : end], start + 4
    return b"", 0


def _pixels_only(data: bytes) -> bytes:
    """The same picture without metadata: one frame, and not too many scans."""
    parts, frames, scans, marker = [data[:2]], 0, 0, _START
    behind = 0  # where the compressed pixels of a scan begin
    for marker, start, end in _segments(data):
        if behind:
            parts.append(data[behind : start - (2 if marker == _END else 4)])  # fill bytes before a marker do no harm
        behind = end if marker == _SCAN else 0
        frames, scans = frames + (marker in _FRAMES), scans + (marker == _SCAN)
        if marker in _KEPT:
            parts.append(bytes([0xFF, marker]) + data[start - 2 : end])
    if marker != _END:
        raise FormatError("is cut short: copy or export it again")
    if frames != 1 or scans > _MOST_SCANS:
        raise FormatError(f"has {frames} frames and {scans} scans, more than a picture has: export it again")
    return b"".join([*parts, b"\xff\xd9"])


def _pillow() -> type[JpegImageFile]:
    """Pillow's decoder, imported when the first JPEG is decoded."""
    with no_fork:
        from PIL.JpegImagePlugin import JpegImageFile
    return JpegImageFile


def _copied(picture: JpegImageFile) -> Image:
    """The pixels of a decoded picture, strip by strip: all at once takes three times as long."""
    width, height = picture.size
    image = np.empty((height, width, 3)[: 2 if picture.mode == "L" else 3], np.uint8)
    rows = max(_STRIP // image[0].nbytes, 1)
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        image[top:bottom] = np.asarray(picture.crop((0, top, width, bottom)))
    return image


def _head(data: Bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the segments before the first scan."""
    for number, segment in enumerate(_segments(data)):
        if segment[0] in (_SCAN, _END):
            return
        if number == _MOST_SEGMENTS:
            raise FormatError(f"has more than {_MOST_SEGMENTS} segments before its pixels: export it again")
        yield segment


def _segments(data: Bytes) -> Iterator[tuple[int, int, int]]:
    """Yield each marker, and start and end of the body of its segment, up to the end of the image or of the data."""
    position = 2
    while True:
        # In a file that is not loaded, only the head is walked, where segments follow each other.
        base = 0 if isinstance(data, bytes) else position
        found = _MARKER.search(data if isinstance(data, bytes) else data[position : position + _GAP], position - base)
        if not found:
            return
        marker, position = found[1][0], base + found.end()
        if marker == _START:
            continue
        if marker == _END:
            yield marker, position, position
            return
        length = int.from_bytes(data[position : position + 2], "big")
        if length < 2 or position + length > len(data):
            return
        yield marker, position + 2, position + length
        position += length
