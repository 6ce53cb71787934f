"""TIFF out: one page in one strip, not compressed. BigTIFF if it is too large for the offsets of TIFF."""

import struct
from collections.abc import Sequence

from ..types import Image, empty
from ._format import UPRIGHT
from ._tiff_pages import (
    BITS,
    COMPRESSION,
    HEIGHT,
    ORIENTATION,
    PHOTOMETRIC,
    ROWS_PER_STRIP,
    SAMPLE_FORMAT,
    SAMPLES,
    STRIP_COUNTS,
    STRIP_OFFSETS,
    WIDTH,
)

_X_RESOLUTION, _Y_RESOLUTION, _RESOLUTION_UNIT, _PROFILE = 282, 283, 296, 34675
_BYTE, _SHORT, _LONG, _RATIONAL, _UNDEFINED, _LONG8 = 1, 3, 4, 5, 7, 16  # types of values
_CODES = {_BYTE: "B", _SHORT: "H", _LONG: "I", _RATIONAL: "I", _UNDEFINED: "B", _LONG8: "Q"}
_FORMATS = {"u": 1, "f": 3}
_LARGEST = 2**32 - 2**16  # bytes of pixels, which the directory and a profile come before
_PAGE = 4096  # bytes: a multiple of every sample's size

Entry = tuple[int, int, Sequence[int] | bytes]  # tag, type, values


def encode(image: Image, orientation: int = UPRIGHT, profile: bytes = b"") -> memoryview:
    """Return an image or a map, HxW or HxWx3, uint8, uint16 or float32, as it is. The ICC profile may be empty."""
    height, width, samples = (*image.shape, 1)[:3]
    size = image.nbytes
    big = size + len(profile) > _LARGEST
    place = _LONG8 if big else _LONG
    entries: list[Entry] = [
        (WIDTH, _LONG, [width]),
        (HEIGHT, _LONG, [height]),
        (BITS, _SHORT, [8 * image.itemsize] * samples),
        (COMPRESSION, _SHORT, [1]),
        (PHOTOMETRIC, _SHORT, [2 if samples == 3 else 1]),  # RGB, or 0 is black
        (STRIP_OFFSETS, place, [0]),
        *([(ORIENTATION, _SHORT, [orientation])] if orientation != UPRIGHT else []),
        (SAMPLES, _SHORT, [samples]),
        (ROWS_PER_STRIP, _LONG, [height]),
        (STRIP_COUNTS, place, [size]),
        (_X_RESOLUTION, _RATIONAL, [1, 1]),
        (_Y_RESOLUTION, _RATIONAL, [1, 1]),
        (_RESOLUTION_UNIT, _SHORT, [1]),  # none
        (SAMPLE_FORMAT, _SHORT, [_FORMATS[image.dtype.kind]] * samples),
        *([(_PROFILE, _UNDEFINED, profile)] if profile else []),
    ]
    start = -(-len(_directory(entries, big)) // _PAGE) * _PAGE
    entries[5] = (STRIP_OFFSETS, place, [start])
    directory = _directory(entries, big)
    file = empty((start + size,), "u1")
    file[:start] = 0
    file[: len(directory)] = memoryview(directory)
    file[start:].view(image.dtype.newbyteorder("<")).reshape(image.shape)[...] = image
    return file.data


def _directory(entries: list[Entry], big: bool) -> bytes:
    """The header and the directory, with the values that do not fit into it behind them."""
    head = struct.pack("<2sHHHQ", b"II", 43, 8, 0, 16) if big else struct.pack("<2sHI", b"II", 42, 8)
    count, entry, offset = ("<Q", "<HHQ", "<Q") if big else ("<H", "<HHI", "<I")
    room = struct.calcsize(offset)
    behind = len(head) + struct.calcsize(count) + len(entries) * (struct.calcsize(entry) + room) + room
    directory, values_behind = head + struct.pack(count, len(entries)), b""
    for tag, kind, values in entries:
        packed = struct.pack(f"<{len(values)}{_CODES[kind]}", *values)
        directory += struct.pack(entry, tag, kind, len(values) // (2 if kind == _RATIONAL else 1))
        if len(packed) > room:
            at = behind + len(values_behind)
            values_behind += packed + bytes(len(packed) % 2)
            packed = struct.pack(offset, at)
        directory += packed.ljust(room, b"\0")
    return directory + bytes(room) + values_behind
