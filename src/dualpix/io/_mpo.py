"""MPO: several JPEG pictures in one file (CIPA DC-007), as stereo cameras write it. The first is the left view."""

import struct

from . import _jpeg
from ._format import Bytes, FormatError

_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_COUNT, _ENTRIES = 0xB001, 0xB002
_ENTRY_LENGTH, _MOST = 16, 64


def pictures(data: Bytes) -> list[tuple[int, int]]:
    """Return start and end of every picture; empty if the JPEG has no index of pictures.

    Raises
    ------
    FormatError
        If the index is damaged, or a picture begins beyond the end of the file.
    """
    index, base = _jpeg.index(data)
    order = _ORDERS.get(index[:4])
    if order is None:
        return []
    try:
        count, table = _entries(index, order)
        found = []
        for i in range(min(count, _MOST)):
            size, offset = struct.unpack_from(order + "II", index, table + i * _ENTRY_LENGTH + 4)
            start = base + offset if offset else 0  # the first picture has offset 0
            if start >= len(data):
                raise FormatError("is cut short: copy or export it again")
            found.append((start, min(start + size, len(data))))  # some writers give a size beyond the end
        return found
    except struct.error as error:
        raise FormatError("has a damaged index of pictures: copy or export it again") from error


def _entries(index: bytes, order: str) -> tuple[int, int]:
    """The number of pictures and where their table begins."""
    (start,) = struct.unpack_from(order + "I", index, 4)
    (tags,) = struct.unpack_from(order + "H", index, start)
    count = table = 0
    for i in range(min(tags, _MOST)):
        tag, _, length, value = struct.unpack_from(order + "HHII", index, start + 2 + 12 * i)
        if tag == _COUNT:
            count = value
        elif tag == _ENTRIES:
            count, table = count or length // _ENTRY_LENGTH, value
    return (count, table) if table else (0, 0)
