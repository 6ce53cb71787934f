"""TIFF out: one page in one strip, not compressed. BigTIFF if it is too large for the offsets of TIFF."""

import struct
from collections.abc import Sequence

import numpy as np

from ..errors import OutputError
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
_SHORT, _LONG, _RATIONAL, _UNDEFINED, _LONG8 = 3, 4, 5, 7, 16  # types of values; undefined ones are bytes
_CODES = {_SHORT: "H", _LONG: "I", _RATIONAL: "I", _LONG8: "Q"}
_TYPES = (np.uint8, np.uint16, np.float32)
_FORMATS = {"u": 1, "f": 3}
_LARGEST = 2**32 - 2**16  # bytes of pixels, which the directory and a profile come before
_PAGE = 4096  # bytes: a multiple of every sample's size

Entry = tuple[int, int, Sequence[int] | bytes]  # tag, type, values


def encode(image: Image, orientation: int = UPRIGHT, profile: bytes = b"") -> memoryview:
    """Return an image or a map, HxW or HxWx3, uint8, uint16 or float32, as it is. The ICC profile may be empty."""
    _check(image)
    size, big = image.nbytes, image.nbytes + len(profile) > _LARGEST
    length = len(_directory(_entries(image, 0, orientation, profile, big), big))  # wherever the pixels are
    start = -(-length // _PAGE) * _PAGE
    directory = _directory(_entries(image, start, orientation, profile, big), big)
    file = empty((start + size,), "u1")
    file[:start] = 0
    file[: len(directory)] = memoryview(directory)
    file[start:].view(image.dtype.newbyteorder("<")).reshape(image.shape)[...] = image
    return file.data


def _check(image: Image) -> None:
    if image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)) or image.dtype.newbyteorder("=") not in _TYPES:
        raise OutputError(
            f"the picture for a TIFF is an array of shape {image.shape} and type {image.dtype}: give HxW or HxWx3, "
            "uint8, uint16 or float32"
        )


def _entries(image: Image, start: int, orientation: int, profile: bytes, big: bool) -> list[Entry]:
    """What the directory tells about an image whose pixels begin at byte `start`."""
    height, width, samples = (*image.shape, 1)[:3]
    place = _LONG8 if big else _LONG
    return [
        (WIDTH, _LONG, [width]),
        (HEIGHT, _LONG, [height]),
        (BITS, _SHORT, [8 * image.itemsize] * samples),
        (COMPRESSION, _SHORT, [1]),
        (PHOTOMETRIC, _SHORT, [2 if samples == 3 else 1]),  # RGB, or 0 is black
        (STRIP_OFFSETS, place, [start]),
        *([(ORIENTATION, _SHORT, [orientation])] if orientation != UPRIGHT else []),
        (SAMPLES, _SHORT, [samples]),
        (ROWS_PER_STRIP, _LONG, [height]),
        (STRIP_COUNTS, place, [image.nbytes]),
        (_X_RESOLUTION, _RATIONAL, [1, 1]),
        (_Y_RESOLUTION, _RATIONAL, [1, 1]),
        (_RESOLUTION_UNIT, _SHORT, [1]),  # none
        (SAMPLE_FORMAT, _SHORT, [_FORMATS[image.dtype.kind]] * samples),
        *([(_PROFILE, _UNDEFINED, profile)] if profile else []),
    ]


def _directory(entries: list[Entry], big: bool) -> bytes:
    """The header and the directory, with the values that do not fit into it behind them."""
    head = struct.pack("<2sHHHQ", b"II", 43, 8, 0, 16) if big else struct.pack("<2sHI", b"II", 42, 8)
    count, entry, offset = ("<Q", "<HHQ", "<Q") if big else ("<H", "<HHI", "<I")
    room = struct.calcsize(offset)
    behind = len(head) + struct.calcsize(count) + len(entries) * (struct.calcsize(entry) + room) + room
    directory, values_behind = head + struct.pack(count, len(entries)), b""
    for tag, kind, values in entries:
        packed = bytes(values) if kind == _UNDEFINED else struct.pack(f"<{len(values)}{_CODES[kind]}", *values)
        directory += struct.pack(entry, tag, kind, len(values) // (2 if kind == _RATIONAL else 1))
        if len(packed) > room:
            at = behind + len(values_behind)
            values_behind += packed + bytes(len(packed) % 2)
            packed = struct.pack(offset, at)
        directory += packed.ljust(room, b"\0")
    return directory + bytes(room) + values_behind
