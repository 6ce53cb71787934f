"""JPEG 2000, as a JP2 file or a bare codestream: size and depth are read here; OpenCV decodes the pixels."""

import re

from ..types import Image
from . import _opencv
from ._boxes import find
from ._format import Bytes, FormatError, Header, unpack

MAGIC = re.compile(rb"\0\0\0\x0cjP  \r\n\x87\n|\xff\x4f\xff\x51")

_SIZE = b"\xff\x4f\xff\x51"  # start of the codestream, and of its size segment
_TILE_PART, _PIXELS, _CODING, _CODING_OF_ONE, _END = 0xFF90, 0xFF93, 0xFF52, 0xFF53, 0xFFD9  # markers
_TILES, _TILE = 1024, 1024  # a picture may have so many tiles, and one more for so many pixels
_SMALLEST_PRECINCT = 4  # exponent of its side
_SMALLEST_BLOCK = 2  # sum of the exponents of its sides, from 4 px on
_CUTS = "is cut into very small pieces: export it as PNG or TIFF"
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
    _check_cuts(data, start, end, (right - left) * (bottom - top))
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


def _check_cuts(data: Bytes, start: int, end: int, pixels: int) -> None:
    """Refuse pictures that are cut into very small pieces: OpenJPEG needs 10 kB a tile, and 0.5 kB a precinct."""
    right, bottom, _, _, width, height, left, top = unpack(">8I", data, start + 4)
    if not (width and height) or -(-(right - left) // width) * -(-(bottom - top) // height) > _TILES + pixels / _TILE:
        raise FormatError(_CUTS)
    position, tile_end = start + int.from_bytes(data[start : start + 2], "big"), 0
    while position + 4 <= end:
        marker, length = unpack(">HH", data, position)
        if marker == _TILE_PART and length == 10:
            (whole,) = unpack(">I", data, position + 6)
            tile_end = position + whole if whole else end
        elif marker == _PIXELS:  # behind them is the next part
            if tile_end <= position:
                raise FormatError(_DAMAGED)
            position = tile_end
            continue
        elif marker == _CODING:
            _check_coding(data[position + 4], data[position + 10 : position + 2 + length])
        elif marker == _CODING_OF_ONE:
            _check_coding(data[position + 5], data[position + 7 : position + 2 + length])
        elif marker == _END:
            return
        if length < 2:
            raise FormatError(_DAMAGED)
        position += 2 + length


def _check_coding(style: int, sizes: bytes) -> None:
    """Two bytes are exponents of the sides of code blocks, two are not sizes, each other holds those of a precinct."""
    precincts = sizes[4:] if style & 1 else b""
    if sum(sizes[:2]) < _SMALLEST_BLOCK or any(min(size & 15, size >> 4) < _SMALLEST_PRECINCT for size in precincts):
        raise FormatError(_CUTS)
