"""PNG: chunks, rows and passes are decoded here, never more than the header announces."""

import re
import struct
import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .. import _core
from ..types import Image, empty
from . import _exif
from ._format import Bytes, FormatError, Header, inflate, unpack

MAGIC = re.compile(rb"\x89PNG\r\n\x1a\n")

_DAMAGED = "is a damaged PNG: copy or export it again"
_SIGNATURE_LENGTH = 8
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGB_ALPHA = 0, 2, 3, 4, 6  # colour types
_SAMPLES = {_GREY: 1, _RGB: 3, _PALETTE: 1, _GREY_ALPHA: 2, _RGB_ALPHA: 4}
_DEPTHS = {_GREY: (1, 2, 4, 8, 16), _PALETTE: (1, 2, 4, 8)}  # bits of a sample; others have 8 or 16
_PIXEL_CHUNKS = (b"IHDR", b"PLTE", b"IDAT", b"IEND")  # Other chunks may turn, scale or animate the image.
_PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
_MOST_CHUNKS = 2**17
_MOST_INFLATED = 1032  # bytes that one byte of deflate stands for at most

Rows = npt.NDArray[np.uint8]


def header(data: Bytes) -> Header:
    """Read size and type from IHDR, and the orientation from eXIf."""
    width, height, depth, colour, _ = _ihdr(data)
    dtype = "uint16" if depth == 16 else "uint8"
    return Header(width, height, 1 if colour in (_GREY, _GREY_ALPHA) else 3, dtype, _exif.orientation(exif(data)))


def decode(data: bytes) -> Image:
    """Decode the pixels as stored. Palette images and those of less than 8 bits become uint8."""
    width, height, depth, colour, interlaced = _ihdr(data)
    chunks = _pixel_chunks(data)
    bits = depth * _SAMPLES[colour]
    sizes = [(-(-(height - y) // dy), -(-(width - x) // dx)) for y, x, dy, dx in _PASSES if height > y and width > x]
    sizes = sizes if interlaced else [(height, width)]
    lengths = [rows * (1 + -(-columns * bits // 8)) for rows, columns in sizes]
    stored = _inflated([body for kind, body in chunks if kind == b"IDAT"], sum(lengths))
    ends = np.cumsum(lengths)
    parts = [
        _pixels(_unfiltered(stored[end - length : end], rows, bits), columns, depth, colour)
        for (rows, columns), length, end in zip(sizes, lengths, ends, strict=True)
    ]
    image = _woven(parts, height, width) if interlaced else parts[0]
    if colour == _PALETTE:
        return _colours([body for kind, body in chunks if kind == b"PLTE"])[image[..., 0]]
    return image[..., 0] if colour in (_GREY, _GREY_ALPHA) else image[..., :3]


def exif(data: Bytes) -> bytes:
    """Return the content of the eXIf chunk; empty if there is none or it is damaged."""
    return chunk(data, b"eXIf")


def chunk(data: Bytes, wanted: bytes) -> bytes:
    """Return the content of the first chunk of a kind; empty if there is none or it is damaged."""
    for kind, start, end in _chunks(data):
        if kind == wanted:
            body = memoryview(data[start:end])
            return bytes(body[8:-4]) if _intact(body) else b""
    return b""


def _ihdr(data: Bytes) -> tuple[int, int, int, int, bool]:
    """Width, height, bits of a sample, colour type, and whether the image is interlaced."""
    if len(data) < 33 or data[8:16] != b"\0\0\0\rIHDR":
        raise FormatError(_DAMAGED)
    width, height, depth, colour, *methods = struct.unpack(">IIBBBBB", data[16:29])
    if colour not in _SAMPLES or depth not in _DEPTHS.get(colour, (8, 16)) or methods not in ([0, 0, 0], [0, 0, 1]):
        raise FormatError(_DAMAGED)
    return width, height, depth, colour, methods[2] == 1


def _pixel_chunks(data: bytes) -> list[tuple[bytes, memoryview]]:
    """Kind and content of the chunks that make the pixels. They must be complete and pass their checksums."""
    view, found, kind = memoryview(data), [], b""
    for kind, start, end in _chunks(data):
        if kind in _PIXEL_CHUNKS:
            if not _intact(view[start:end]):
                raise FormatError("is damaged, a checksum does not match: copy or export it again")
            found.append((kind, view[start + 8 : end - 4]))
    if kind != b"IEND":
        raise FormatError("is cut short: copy or export it again")
    return found


def _chunks(data: Bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield the kind, start and end of each complete chunk, up to IEND."""
    start, kind = _SIGNATURE_LENGTH, b""
    for _ in range(_MOST_CHUNKS):
        if kind == b"IEND" or start + 12 > len(data):
            return
        length, kind = unpack(">I4s", data, start)
        end = start + length + 12
        if end > len(data):
            return
        yield kind, start, end
        start = end


def _intact(body: memoryview) -> bool:
    """Check the checksum of a chunk."""
    return zlib.crc32(body[4:-4]) == int.from_bytes(body[-4:], "big")


def _inflated(parts: list[memoryview], size: int) -> Rows:
    """So many bytes of the compressed stream. What follows them is not looked at."""
    if size > _MOST_INFLATED * sum(map(len, parts)):
        raise FormatError("is damaged, its header promises more pixels than it holds: copy or export it again")
    stored = inflate(parts, size)
    if len(stored) < size:
        raise FormatError(_DAMAGED)
    return stored


def _unfiltered(stored: Rows, height: int, bits: int) -> Rows:
    rows = empty((height, len(stored) // height - 1), np.uint8)
    if not _core.unfilter(stored, rows, max(bits // 8, 1)):
        raise FormatError(_DAMAGED)
    return rows


def _pixels(rows: Rows, width: int, depth: int, colour: int) -> Image:
    """The samples of packed rows, HxWxC. Grey of less than 8 bits is stretched to 255."""
    if depth == 16:
        return rows.view(">u2").astype(np.uint16).reshape(len(rows), width, -1)
    if depth == 8:
        return rows.reshape(len(rows), width, -1)
    largest = 2**depth - 1
    shifts = np.arange(8 - depth, -1, -depth, dtype=np.uint8)
    values = (rows[..., None] >> shifts & np.uint8(largest)).reshape(len(rows), -1)[:, :width, None]
    return values * np.uint8(255 // largest) if colour == _GREY else values


def _woven(parts: list[Image], height: int, width: int) -> Image:
    """The image of the passes of Adam7."""
    image = np.empty((height, width, parts[0].shape[2]), parts[0].dtype)
    places = [place for place in _PASSES if height > place[0] and width > place[1]]
    for (y, x, dy, dx), part in zip(places, parts, strict=True):
        image[y::dy, x::dx] = part
    return image


def _colours(palettes: list[memoryview]) -> Rows:
    """The first palette, black where it has no colour."""
    colours = np.zeros((256, 3), np.uint8)
    found = np.frombuffer(palettes[0], np.uint8) if palettes else np.empty(0, np.uint8)
    if not 0 < len(found) <= colours.size or len(found) % 3:
        raise FormatError(_DAMAGED)
    colours.reshape(-1)[: len(found)] = found
    return colours
