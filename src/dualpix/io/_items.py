"""The items of AVIF and HEIC files: which kind they are, and where their data lie."""

from collections.abc import Iterator

from ._boxes import boxes, find
from ._format import Bytes, FormatError, unpack

_MOST = 4096  # items of a file, and parts of an item
_DAMAGED = "is a damaged AVIF or HEIC: copy or export it again"

_IN_FILE, _IN_BOX = 0, 1  # where parts of an item are


def items(data: Bytes, wanted: bytes) -> Iterator[bytes]:
    """Yield the data of each item of a kind, such as av01. What several items share comes once.

    Raises
    ------
    FormatError
        If the file is damaged, or its items are longer together than the file.
    """
    start, end = find(data, 0, len(data), b"meta") or (0, 0)
    inside = start + 4, end
    kinds = dict(_kinds(data, *inside))
    place, base = find(data, *inside, b"iloc"), find(data, *inside, b"idat")
    seen: set[tuple[tuple[int, int], ...]] = set()
    left = len(data)
    for number, parts in _places(data, *place) if place else ():
        spans = tuple(_span(data, part, base) for part in parts) if kinds.get(number) == wanted else ()
        if spans and spans not in seen:
            seen.add(spans)
            left -= sum(stop - first for first, stop in spans)
            if left < 0:
                raise FormatError(_DAMAGED)
            yield b"".join(data[first:stop] for first, stop in spans)


def _kinds(data: Bytes, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Number and kind of each item, from iinf."""
    place = find(data, start, end, b"iinf")
    if place is None:
        return
    first = place[0] + (6 if data[place[0]] == 0 else 8)
    for kind, body, stop in boxes(data, first, place[1]):
        version = data[body] if stop > body else 0
        if kind == b"infe" and version in (2, 3):
            number, _, name = unpack(">HH4s" if version == 2 else ">IH4s", data, body + 4)
            yield number, name


def _places(data: Bytes, start: int, end: int) -> Iterator[tuple[int, list[tuple[int, int, int]]]]:
    """Number of each item, and for its parts: in what they are, start and length; from iloc."""
    numbers = _Numbers(data[start:end])
    version = numbers.take(1)
    numbers.take(3)
    sizes, more = numbers.take(1), numbers.take(1)
    offset, length, base, index = sizes >> 4, sizes & 15, more >> 4, more & 15 if version else 0
    for _ in range(numbers.count(2 if version < 2 else 4)):
        number = numbers.take(2 if version < 2 else 4)
        within = numbers.take(2) & 15 if version else _IN_FILE
        numbers.take(2)
        origin, parts = numbers.take(base), []
        for _ in range(numbers.count(2)):
            numbers.take(index)
            parts.append((within, origin + numbers.take(offset), numbers.take(length)))
        yield number, parts


class _Numbers:
    """Numbers one after the other, of any number of bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._position = data, 0

    def take(self, size: int) -> int:
        """The next number."""
        stored = self._data[self._position : self._position + size]
        if len(stored) < size:
            raise FormatError(_DAMAGED)
        self._position += size
        return int.from_bytes(stored, "big")

    def count(self, size: int) -> int:
        """The next number, of items or parts."""
        found = self.take(size)
        if found > _MOST:
            raise FormatError(_DAMAGED)
        return found


def _span(data: Bytes, part: tuple[int, int, int], base: tuple[int, int] | None) -> tuple[int, int]:
    """Start and end of a part in the file. One of length 0 reaches to the end of what it is in."""
    within, start, length = part
    first, last = base if within == _IN_BOX and base is not None else (0, len(data))
    if within not in (_IN_FILE, _IN_BOX) or (within == _IN_BOX and base is None) or first + start > last:
        raise FormatError(_DAMAGED)
    return first + start, min(first + start + length, last) if length else last
