"""The structure of TIFF and BigTIFF files: pages, and what their tags say. Values are read when they are asked for."""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ._format import Bytes, FormatError, unpack

MOST_IMAGES = 1000
_MOST_ENTRIES = 4096  # of a directory
_DAMAGED = "is a damaged TIFF: copy or export it again"

_ORDERS = {b"II": "<", b"MM": ">"}
_BIG = 43  # the number of BigTIFF
_TYPES = {1: "u1", 2: "S1", 3: "u2", 4: "u4", 5: "u4", 6: "i1", 7: "u1", 8: "i2", 9: "i4", 10: "i4"}
_TYPES |= {11: "f4", 12: "f8", 13: "u4", 16: "u8", 17: "i8", 18: "u8"}
_RATIONAL = (5, 10)

SUBFILE, OLD_SUBFILE, WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 254, 255, 256, 257, 258, 259, 262
FILL_ORDER, ORIENTATION, SAMPLES, PLANAR, PREDICTOR, COLOUR_MAP = 266, 274, 277, 284, 317, 320
STRIP_OFFSETS, ROWS_PER_STRIP, STRIP_COUNTS = 273, 278, 279
TILE_WIDTH, TILE_HEIGHT, TILE_OFFSETS, TILE_COUNTS = 322, 323, 324, 325
SUB_PAGES, EXTRA_SAMPLES, SAMPLE_FORMAT, DEPTH = 330, 338, 339, 32997
_KINDS = {1: "u", 2: "i", 3: "f"}  # of the sample format
_SEPARATE, _LOW_FIRST, _REDUCED, _OLD_REDUCED = 2, 2, 1, 2

Values = npt.NDArray[Any]
Found = TypeVar("Found")


class _once(Generic[Found]):
    """A property that is found once.

    functools.cached_property does the same, but before Python 3.12 it holds a lock meanwhile, for which a child that is
    forked at that moment waits for ever.
    """

    def __init__(self, find: "Callable[[Page], Found]") -> None:
        self._find, self.__doc__ = find, find.__doc__

    def __get__(self, page: "Page", _: type) -> Found:
        found = page.__dict__[self._find.__name__] = self._find(page)
        return found


class Entry(NamedTuple):
    """Where the values of a tag are, and their type and number."""

    kind: int
    number: int
    where: int


@dataclass(frozen=True, eq=False)
class Page:
    """A directory: the tags of one image.

    Attributes
    ----------
    data : bytes of the file
    order : "<" or ">"
    place : int
        Offset of the directory.
    link : int
        Offset of the link to the next one.
    entries : dict
        By tag.
    """

    data: Bytes
    order: str
    place: int
    link: int
    entries: dict[int, Entry]

    def values(self, tag: int, most: int | None = None) -> Values:
        """The values of a tag, or the first of them; empty if it has none. A rational is two numbers: two columns."""
        entry = self.entries.get(tag)
        if entry is None:
            return np.empty(0, np.int64)
        dtype = np.dtype(self.order + _TYPES[entry.kind])
        number = entry.number if most is None else min(entry.number, most)
        count = number * (2 if entry.kind in _RATIONAL else 1)
        stored = self.data[entry.where : entry.where + count * dtype.itemsize]
        if len(stored) < count * dtype.itemsize:
            raise FormatError("is cut short: copy or export it again")
        found: Values = np.frombuffer(stored, dtype).astype(dtype.newbyteorder("="))
        return found.reshape(-1, 2) if entry.kind in _RATIONAL else found

    def wholes(self, tag: int, most: int | None = None) -> list[int]:
        """The values of a tag of whole numbers, or the first of them; empty if it has none, or others."""
        found = self.values(tag, most)
        return found.tolist() if found.dtype.kind in "ui" and found.ndim == 1 else []

    def number(self, tag: int, default: int = 0) -> int:
        """The first whole number of a tag."""
        found = self.wholes(tag, 1)
        return found[0] if found else default

    @_once
    def width(self) -> int:
        """Columns, px."""
        return self.number(WIDTH)

    @_once
    def height(self) -> int:
        """Rows, px."""
        return self.number(HEIGHT)

    @_once
    def samples(self) -> int:
        """Samples of a pixel, alpha included."""
        return self.number(SAMPLES, 1)

    @_once
    def extra(self) -> int:
        """Samples of a pixel that are not colour."""
        return len(self.values(EXTRA_SAMPLES))

    @_once
    def bits(self) -> int:
        """Bits of a sample; 0 if samples differ."""
        found = set(self.wholes(BITS)) or {1}
        return int(found.pop()) if len(found) == 1 else 0

    @_once
    def dtype(self) -> np.dtype[Any] | None:
        """The type of a sample as stored, uint8 for single bits; None if there is no such type."""
        formats = set(self.wholes(SAMPLE_FORMAT)) or {1}
        kind, bits = _KINDS.get(formats.pop()) if len(formats) == 1 else None, self.bits
        if bits == 1:
            return np.dtype(np.uint8)
        if kind is None or bits not in (8, 16, 32, 64) or (kind, bits) == ("f", 8):
            return None
        return np.dtype(f"{self.order}{kind}{bits // 8}")

    @_once
    def photometric(self) -> int:
        """What the samples mean."""
        return self.number(PHOTOMETRIC)

    @_once
    def compression(self) -> int:
        """How pieces are compressed; 1 is not at all."""
        return self.number(COMPRESSION, 1)

    @_once
    def predictor(self) -> int:
        """What was subtracted before pieces were compressed; 1 is nothing."""
        return self.number(PREDICTOR, 1)

    @_once
    def is_low_first(self) -> bool:
        """Whether the lowest bit of a byte comes first."""
        return self.number(FILL_ORDER, 1) == _LOW_FIRST

    @_once
    def is_planar(self) -> bool:
        """Whether each sample of all pixels is stored by itself."""
        return self.number(PLANAR, 1) == _SEPARATE and self.samples > 1

    @_once
    def is_tiled(self) -> bool:
        """Whether its pieces are tiles, not strips."""
        return TILE_OFFSETS in self.entries or TILE_WIDTH in self.entries

    @_once
    def is_reduced(self) -> bool:
        """Whether it is marked as a smaller copy of another page."""
        return bool(self.number(SUBFILE) & _REDUCED or self.number(OLD_SUBFILE) == _OLD_REDUCED)


class Named(NamedTuple):
    """One image of a file, and where it is."""

    place: str
    page: Page

    def __str__(self) -> str:
        reduced = " thumbnail" if self.page.is_reduced else ""
        return f"{self.place}: {self.page.width}x{self.page.height}{reduced}"


def images(data: Bytes) -> list[Named]:
    """All pages, then their SubIFDs.

    Raises
    ------
    FormatError
        If the file is damaged, has more than 1000 images, or directories that are longer together than the file.
    """
    directories = _Directories(data)
    pages = [Named(f"page {number}", page) for number, page in enumerate(directories.chain(), 1)]
    if not pages:
        raise FormatError(_DAMAGED)
    subs: list[Named] = []
    for name, page in pages:
        for place in page.wholes(SUB_PAGES, MOST_IMAGES):
            if len(pages) + len(subs) == MOST_IMAGES:
                raise FormatError(_too_many())
            subs.append(Named(f"SubIFD of {name}", directories.at(place)))
    return pages + subs


class _Directories:
    """The directories of a file. Together they cannot be longer than the file, which they are if many overlap."""

    def __init__(self, data: Bytes) -> None:
        self._data, self._left = data, len(data)
        self._found: dict[int, Page] = {}
        self._order = _ORDERS[data[:2]]
        self._is_big = unpack(self._order + "H", data, 2)[0] == _BIG

    def chain(self) -> Iterator[Page]:
        """The pages that link to each other."""
        seen: set[int] = set()
        place = self._link(8 if self._is_big else 4)
        while place and place not in seen:
            if len(seen) == MOST_IMAGES:
                raise FormatError(_too_many())
            seen.add(place)
            page = self.at(place)
            yield page
            place = self._link(page.link)

    def at(self, place: int) -> Page:
        """The directory at an offset. It is parsed once."""
        if place not in self._found:
            self._found[place] = self._parsed(place)
        return self._found[place]

    def _parsed(self, place: int) -> Page:
        counter, form, link = ("Q", "HHQQ", 8) if self._is_big else ("H", "HHII", 4)
        start, size, room = place + struct.calcsize("=" + counter), struct.calcsize("=" + form), link
        if place < 8 or start > len(self._data):
            raise FormatError("is cut short: copy or export it again")
        (count,) = unpack(self._order + counter, self._data, place)
        end = start + count * size
        self._left -= end + link - place
        if not 0 < count <= _MOST_ENTRIES or end + link > len(self._data) or self._left < 0:
            raise FormatError(_DAMAGED)
        entries: dict[int, Entry] = {}
        stored = struct.iter_unpack(self._order + form, self._data[start:end])
        for number, (tag, kind, values, where) in enumerate(stored):
            if kind in _TYPES and values:
                length = values * np.dtype(_TYPES[kind]).itemsize * (2 if kind in _RATIONAL else 1)
                inside = start + number * size + (size - room)
                entries.setdefault(tag, Entry(kind, values, inside if length <= room else where))
        return Page(self._data, self._order, place, end, entries)

    def _link(self, place: int) -> int:
        return int(unpack(self._order + ("Q" if self._is_big else "I"), self._data, place)[0])


def _too_many() -> str:
    return f"holds more than {MOST_IMAGES} images: save the one to use as a file of its own"
