"""MPO: several JPEG pictures in one file (CIPA DC-007), as stereo cameras write it. The first is the left view."""

import struct
from typing import NamedTuple

from . import _jpeg
from ._format import Bytes, matches

_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_COUNT, _ENTRIES = 0xB001, 0xB002
_ENTRY_LENGTH, _MOST = 16, 64
_TYPE = 0xFFFFFF  # bits of the attribute that tell the type
_UNDEFINED, _PRIMARY, _STEREO, _MULTI_ANGLE = 0, 0x030000, 0x020002, 0x020003


class Picture(NamedTuple):
    """One picture of the index: where it begins and ends, and the type that the index tells."""

    start: int
    end: int
    kind: int

    @property
    def is_view(self) -> bool:
        """Whether it may be a view: not a thumbnail, not a part of a panorama."""
        return self.start == 0 or self.kind in (_UNDEFINED, _PRIMARY, _STEREO, _MULTI_ANGLE)

    @property
    def is_untold(self) -> bool:
        """Whether the index does not tell what a picture after the first one is."""
        return self.start > 0 and self.kind == _UNDEFINED


def pictures(data: Bytes) -> list[Picture]:
    """Return the pictures of the index.

    It is empty if the JPEG has no index, or one that does not fit: programs that edit an MPO keep the index and drop
    the other pictures.
    """
    index, base = _jpeg.index(data)
    order = _ORDERS.get(index[:4])
    if order is None:
        return []
    try:
        count, table = _entries(index, order)
        found = []
        for i in range(min(count, _MOST)):
            kind, size, offset = struct.unpack_from(order + "III", index, table + i * _ENTRY_LENGTH)
            start = base + offset if offset else 0  # the first picture has offset 0
            if not matches(_jpeg.MAGIC, data[start : start + 3]):
                return []
            end = min(start + size, len(data))  # some writers give a size beyond the end
            found.append(Picture(start, end, kind & _TYPE))
        return found
    except struct.error:
        return []


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
