"""EXIF data: the directories of a TIFF structure, and the orientation. Damaged entries count as absent."""

import math
import struct
from collections.abc import Collection, Iterator
from typing import Any

from ._format import UPRIGHT, Bytes, unpack

PREFIX = b"Exif\0\0"  # in JPEG always, in PNG by mistake

Tags = dict[int, Any]  # text, a list of numbers, or an offset

_BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_CODES = {1: "B", 2: "s", 3: "H", 4: "I", 5: "II", 6: "b", 7: "B", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d"}
_ORIENTATION, _SHORT = 274, 3
_ENTRY_LENGTH = 12
_MOST_ENTRIES, _LARGEST = 1000, 2**17  # entries of a directory, bytes of a value
_DISTANCE, _ENDLESS = 37382, 0xFFFFFFFF  # the numerator of an infinite distance


def orientation(exif: bytes) -> int:
    """Return the orientation, 1 to 8; 1 if there is none or the data is damaged.

    Parameters
    ----------
    exif
        A TIFF structure, as in an Exif segment of JPEG or an eXIf chunk of PNG.
    """
    tiff = exif.removeprefix(PREFIX)
    for tag, kind, count, where, order in _entries(tiff):
        if tag == _ORIENTATION:
            right = (kind, count) == (_SHORT, 1)
            return valid(unpack(order + "H", tiff, where)[0] if right else None)
    return UPRIGHT


def valid(value: object) -> int:
    """Return the value of the tag if it is one of the eight orientations, else 1."""
    return value if isinstance(value, int) and 1 <= value <= 8 else UPRIGHT


def directory(tiff: Bytes, wanted: Collection[int], start: int | None = None, places: Collection[int] = ()) -> Tags:
    """Return the wanted entries of a directory, by tag: text, or a list of numbers.

    Parameters
    ----------
    tiff
        The TIFF structure.
    wanted
        The tags to read.
    start
        Offset of the directory; the first one by default.
    places
        Tags of which the offset of the value is returned instead.
    """
    found: Tags = {}
    for tag, kind, count, where, order in _entries(tiff, start):
        size = _size(kind, count)
        if tag in places:
            found.setdefault(tag, where)
        elif tag in wanted and tag not in found and 0 < size <= _LARGEST and where + size <= len(tiff):
            found[tag] = _values(tiff[where : where + size], _CODES[kind], order, tag)
    return found


def _entries(tiff: Bytes, start: int | None = None) -> Iterator[tuple[int, int, int, int, str]]:
    """Yield tag, type, number of values, offset of the values, and byte order of each entry of a directory."""
    order = _BYTE_ORDERS.get(tiff[:4])
    if order is None or len(tiff) < 8:
        return
    if start is None:
        (start,) = unpack(order + "I", tiff, 4)
    if not 8 <= start <= len(tiff) - 2:
        return
    (number,) = unpack(order + "H", tiff, start)
    for entry in range(start + 2, start + 2 + _ENTRY_LENGTH * min(number, _MOST_ENTRIES), _ENTRY_LENGTH):
        if entry + _ENTRY_LENGTH > len(tiff):
            return
        tag, kind, count, where = unpack(order + "HHII", tiff, entry)
        yield tag, kind, count, entry + 8 if _size(kind, count) <= 4 else where, order


def _size(kind: int, count: int) -> int:
    """Bytes of the values; 0 if the type is not known."""
    return struct.calcsize("=" + _CODES[kind]) * count if kind in _CODES else 0


def _values(body: bytes, code: str, order: str, tag: int) -> Any:
    if code == "s":
        return body.partition(b"\0")[0].decode("utf-8", "replace").strip()
    numbers = list(struct.iter_unpack(order + code, body))
    if len(code) == 2:
        endless = _ENDLESS if tag == _DISTANCE else None
        return [math.inf if a == endless else a / b if b else math.nan for a, b in numbers]
    return [value for (value,) in numbers]
