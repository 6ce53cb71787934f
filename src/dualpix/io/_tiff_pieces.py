"""The strips or tiles of a page of TIFF, decoded one by one. None can become larger than its place in the picture."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..types import Image
from ._format import FormatError, inflate
from ._tiff_pages import (
    ROWS_PER_STRIP,
    STRIP_COUNTS,
    STRIP_OFFSETS,
    TILE_COUNTS,
    TILE_HEIGHT,
    TILE_OFFSETS,
    TILE_WIDTH,
    Page,
)

UNCOMPRESSED, LZW, DEFLATE, PACK_BITS, OLD_DEFLATE = 1, 5, 8, 32773, 32946
COMPRESSIONS = (UNCOMPRESSED, LZW, DEFLATE, PACK_BITS, OLD_DEFLATE)
NO_PREDICTOR, DIFFERENCES, FLOAT_DIFFERENCES = 1, 2, 3

_CUT = "is cut short: copy or export it again"
_DAMAGED = "is a damaged TIFF: copy or export it again"
_ROUNDED_UP, _SMALL = 4, 2**20  # tiles may hold so many times the pixels of the picture, and so many more
_REVERSED = np.packbits(np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)[:, ::-1], axis=1).ravel()

Stored = npt.NDArray[np.uint8]


class Layout(NamedTuple):
    """How a page is cut: rows and columns of a piece, how many there are across and down, samples in one, planes."""

    rows: int
    columns: int
    across: int
    down: int
    samples: int
    planes: int

    @classmethod
    def of(cls, page: Page) -> "Layout":
        """The layout of a page, without a look at its pieces."""
        if page.is_tiled:
            rows, columns = page.number(TILE_HEIGHT), page.number(TILE_WIDTH)
        else:
            rows, columns = min(page.number(ROWS_PER_STRIP, page.height), page.height), page.width
        if not (rows > 0 and columns > 0):
            raise FormatError(_DAMAGED)
        across, down = -(-page.width // columns), -(-page.height // rows)
        if max(across * down, 1) * rows * columns > _ROUNDED_UP * page.height * page.width + _SMALL:
            raise FormatError("has tiles that hold far more than its picture: save it in strips or smaller tiles")
        planes = page.samples if page.is_planar else 1
        return cls(rows, columns, across, down, page.samples // planes, planes)

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return self.across * self.down * self.planes


def is_plain(page: Page) -> bool:
    """Whether the pieces can be decoded here."""
    known = page.compression in COMPRESSIONS and page.dtype is not None
    if page.compression == LZW and _is_old_lzw(page):
        return False
    if page.predictor == FLOAT_DIFFERENCES:
        return known and page.dtype is not None and page.dtype.kind == "f"
    return known and (page.predictor == NO_PREDICTOR or (page.predictor == DIFFERENCES and page.bits >= 8))


def places(page: Page) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Offset and length of every piece.

    Raises
    ------
    FormatError
        If one is missing or lies outside the file, or if pieces overlap.
    """
    layout = Layout.of(page)
    tags = (TILE_OFFSETS, TILE_COUNTS) if page.is_tiled else (STRIP_OFFSETS, STRIP_COUNTS)
    starts, counts = (page.values(tag).ravel() for tag in tags)
    if page.compression == UNCOMPRESSED and not len(counts) and len(starts) == layout.pieces:
        counts = np.array([_length(page, layout, number) for number in range(layout.pieces)])
    size = len(page.data)
    if not len(starts) == len(counts) == layout.pieces or {starts.dtype.kind, counts.dtype.kind} - {*"ui"}:
        raise FormatError(_CUT)
    if counts.min() < 1 or starts.min() < 0 or starts.max() > size or (counts > size - starts.astype(np.int64)).any():
        raise FormatError(_CUT)
    starts, counts = starts.astype(np.int64), counts.astype(np.int64)
    if counts.sum() > size:  # one piece used many times would be read many times
        raise FormatError(_DAMAGED)
    if page.compression == UNCOMPRESSED and counts.sum() * 8 < page.height * page.width * page.samples * page.bits:
        raise FormatError(_CUT)
    return starts, counts


def contiguous(page: Page) -> int | None:
    """The offset of the pixels if they are uncompressed, in one block, in the order of the picture; else None."""
    layout = Layout.of(page)
    plain = page.compression == UNCOMPRESSED and page.predictor == NO_PREDICTOR and page.bits >= 8
    if not plain or page.is_planar or page.is_low_first or (page.is_tiled and layout[:2] != (page.height, page.width)):
        return None
    starts, counts = places(page)
    wanted = layout.rows * layout.columns * page.samples * page.bits // 8
    follows = (np.diff(starts) == wanted).all() and (counts[:-1] == wanted).all()
    return int(starts[0]) if follows and counts[-1] >= _length(page, layout, layout.pieces - 1) else None


def pixels(page: Page) -> Image:
    """All samples of a page, HxWxC, in the byte order of this machine. Single bits are 0 and 1."""
    starts, counts = places(page)
    assert page.dtype is not None
    start = contiguous(page)
    if start is not None:
        shape = page.height, page.width, page.samples
        whole = page.data if isinstance(page.data, bytes) else page.data[:]
        stored = np.frombuffer(whole, page.dtype, math.prod(shape), start)
        return stored.reshape(shape).astype(page.dtype.newbyteorder("="))
    layout = Layout.of(page)
    image = np.empty((page.height, page.width, page.samples), page.dtype.newbyteorder("="))
    for number in range(layout.pieces):
        found, y, x, plane = piece(page, layout, number, int(starts[number]), int(counts[number]))
        part = image[y : y + layout.rows, x : x + layout.columns, plane : plane + layout.samples]
        part[...] = found[: part.shape[0], : part.shape[1]]
    return image


def piece(page: Page, layout: Layout, number: int, start: int, count: int) -> tuple[Image, int, int, int]:
    """The samples of a piece; its first row, column and plane."""
    plane, rest = divmod(number, layout.across * layout.down)
    y, x = rest // layout.across * layout.rows, rest % layout.across * layout.columns
    length = _length(page, layout, number)
    rows = length // _row_length(page, layout)
    stored = np.frombuffer(page.data[start : start + count], np.uint8)
    if page.is_low_first:
        stored = _REVERSED[stored]
    return _samples(page, layout, _expanded(page.compression, stored, length), rows), y, x, plane


def _row_length(page: Page, layout: Layout) -> int:
    """Bytes of a row of a piece."""
    return -(-layout.columns * layout.samples * page.bits // 8)


def _length(page: Page, layout: Layout, number: int) -> int:
    """Bytes of a piece when it is decoded. The last strip may have fewer rows."""
    row = number // layout.across % layout.down
    rows = layout.rows if page.is_tiled else min(layout.rows, page.height - row * layout.rows)
    return rows * _row_length(page, layout)


def _expanded(compression: int, stored: Stored, length: int) -> Stored:
    """So many bytes; fewer are a damaged file, more are not looked at."""
    if compression == UNCOMPRESSED:
        found = stored[:length]
    elif compression in (DEFLATE, OLD_DEFLATE):
        found = inflate([stored.data], length)
    else:
        found = np.empty(length, np.uint8)
        found = found[: (_core.unpack_lzw if compression == LZW else _core.unpack_bits)(stored, found)]
    if len(found) < length:
        raise FormatError(_DAMAGED)
    return found


def _samples(page: Page, layout: Layout, stored: Stored, rows: int) -> Image:
    """The bytes of a piece as samples, rows x columns x samples, with the predictor undone."""
    assert page.dtype is not None
    shape = rows, layout.columns, layout.samples
    if page.bits == 1:
        return np.unpackbits(stored.reshape(rows, -1), axis=1)[:, : math.prod(shape[1:])].reshape(shape)
    if page.predictor == FLOAT_DIFFERENCES:
        return _floats(page, stored, shape)
    native = page.dtype.newbyteorder("=")
    values = stored.view(page.dtype).reshape(shape)
    if page.predictor == DIFFERENCES:
        values = values.astype(native)
        _core.add_up(values.view(f"u{native.itemsize}"))
    return values


def _floats(page: Page, stored: Stored, shape: tuple[int, int, int]) -> Image:
    """Floats whose bytes were sorted, the highest of all samples of a row first, and then subtracted."""
    assert page.dtype is not None
    rows, columns, samples = shape
    size = page.dtype.itemsize
    differences = stored.reshape(rows, columns * size, samples).copy()
    _core.add_up(differences)
    in_order = differences.reshape(rows, size, columns * samples).transpose(0, 2, 1)
    return np.ascontiguousarray(in_order).view(f">f{size}").reshape(shape)


def _is_old_lzw(page: Page) -> bool:
    """Whether codes begin with their lowest bit, as before TIFF 6."""
    tags = TILE_OFFSETS if page.is_tiled else STRIP_OFFSETS
    start = page.number(tags)
    first = page.data[start : start + 2]
    return len(first) == 2 and first[0] == 0 and first[1] & 1 == 1
