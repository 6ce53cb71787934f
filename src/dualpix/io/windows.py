"""Pictures that are read by windows, so that a huge one is never in memory as a whole.

Uncompressed TIFF and .npy files are read directly, tiled or striped TIFF files by the tiles or strips that a window
touches, Zarr folders by chunks (extra `tiles`). Any other file, and an array, is read whole once and kept as .npy.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ..errors import InputError
from ..types import Image, Shape, StrPath
from . import _tiff, _tiff_pieces
from ._extra import missing
from ._format import UPRIGHT, Bytes, matches, reading
from ._limit import too_large
from ._reader import file_bytes, probe
from .grids import Grid, save
from .images import as_image, load_stored

LARGEST_PIECE = 2**26  # bytes of a tile or strip of a TIFF that a window may have to decode
_NPY = b"\x93NUMPY"


class Picture(Protocol):
    """A picture on disk. It can be pickled; another process reads the same file."""

    @property
    def path(self) -> str:
        """Its file."""
        ...

    @property
    def shape(self) -> Shape:
        """Rows and columns, and 3 if it is RGB."""
        ...

    def window(self, rows: slice, columns: slice) -> Image:
        """A part of it, as `as_image` returns it."""
        ...


@dataclass(frozen=True)
class Plain:
    """Uncompressed pixels in one piece."""

    grid: Grid

    @property
    def path(self) -> str:
        """Its file."""
        return self.grid.path

    @property
    def shape(self) -> Shape:
        """Rows and columns, and 3 if it is RGB."""
        return self.grid.shape

    def window(self, rows: slice, columns: slice) -> Image:
        """A part of it."""
        return as_image(self.grid.window(rows, columns), self.path)


@dataclass(frozen=True)
class Pieces:
    """A TIFF whose tiles or strips are decoded one by one."""

    path: str
    shape: Shape

    def window(self, rows: slice, columns: slice) -> Image:
        """A part of it."""
        data = file_bytes(self.path)
        with reading(self.path):
            page = _tiff.readable_page(data)
            if page is None or page.dtype is None or (page.height, page.width) != self.shape[:2]:
                raise InputError(f"{self.path}: has changed while it was read: keep it until the end")
            part = np.empty((rows.stop - rows.start, columns.stop - columns.start, page.samples), page.dtype)
            layout, (starts, counts) = _tiff_pieces.Layout.of(page), _tiff_pieces.places(page)
            for number in _touched(layout, rows, columns):
                pixels, y, x, _ = _tiff_pieces.piece(page, layout, number, int(starts[number]), int(counts[number]))
                above, before = max(y, rows.start), max(x, columns.start)
                below, behind = min(y + pixels.shape[0], rows.stop), min(x + pixels.shape[1], columns.stop)
                inside = pixels[above - y : below - y, before - x : behind - x]
                part[above - rows.start :, before - columns.start :][: inside.shape[0], : inside.shape[1]] = inside
        return as_image(part if len(self.shape) == 3 else part[..., 0], self.path)


@dataclass(frozen=True)
class Chunks:
    """A Zarr array."""

    path: str
    shape: Shape
    dtype: str

    def window(self, rows: slice, columns: slice) -> Image:
        """A part of it."""
        import zarr

        return as_image(np.asarray(zarr.open_array(self.path, mode="r")[rows, columns]), self.path)


def open_picture(picture: StrPath | Image, name: str, keep: str) -> Picture:
    """Open a picture for reading by windows.

    Parameters
    ----------
    picture
        A path or an array.
    name
        The argument that errors name if it is an array.
    keep
        The .npy file for the pixels of a picture that has to be read whole. Used again if it exists.

    Raises
    ------
    InputError
        If it cannot be read, has to be turned, or would have to be read whole and is too large.
    """
    found = by_windows(picture)
    if found is not None:
        return found
    if not os.path.exists(keep):
        pixels, orientation = load_stored(picture, name)
        _check_upright(picture, orientation)
        save(keep, pixels)
    return Plain(Grid.of_npy(keep))


def check_picture(picture: StrPath | Image, name: str) -> Shape:
    """Rows and columns of a picture that `open_picture` accepts; nothing is decoded.

    Raises
    ------
    InputError
        As `open_picture`, as far as it shows in the header.
    """
    if not isinstance(picture, (str, os.PathLike)):
        return as_image(picture, name).shape[:2]
    if not os.fspath(picture):
        raise InputError(f"{name} is an empty path: give the name of a file")
    found = by_windows(picture)
    if found is not None:
        return found.shape[:2]
    info = probe(picture)
    _check_upright(picture, info.orientation)
    if too_large(info.width, info.height):
        raise InputError(
            f"{picture}: its {info.width}x{info.height} pixels can only be read as a whole, which is too large: save "
            "it as tiled or uncompressed TIFF, or as .npy"
        )
    return info.height, info.width


def by_windows(picture: StrPath | Image) -> Picture | None:
    """The picture if its file can be read by windows, else None."""
    if not isinstance(picture, (str, os.PathLike)):
        return None
    path = os.path.abspath(picture)
    if os.path.isdir(path) and is_zarr(path):
        return open_zarr(path)
    data = file_bytes(picture)
    if data[:6] == _NPY:
        grid = Grid.of_npy(path)
        as_image(np.zeros((1, 1, *grid.shape[2:]), grid.dtype), path)  # refuses other types and channels
        return Plain(grid)
    return _tiff_picture(path, data) if matches(_tiff.MAGIC, data) else None


def is_zarr(path: str) -> bool:
    """Whether a folder is a Zarr array."""
    return any(Path(path, name).is_file() for name in ("zarr.json", ".zarray"))


def open_zarr(path: str) -> Chunks:
    """Open a folder that is a Zarr array.

    Raises
    ------
    InputError
        If it cannot be read, or is no picture.
    """
    if missing("zarr"):
        raise InputError(f"{path}: a Zarr folder needs a package: pip install 'dualpix[tiles]'")
    import zarr

    try:
        array = zarr.open_array(path, mode="r")
    except Exception as error:  # zarr raises whatever its JSON runs into
        raise InputError(f"{path}: is no Zarr array: give the folder of one array") from error
    if not 2 <= array.ndim <= 3 or 0 in array.shape:
        raise InputError(f"{path}: is an array of shape {array.shape}, not a picture: give one with rows and columns")
    as_image(np.zeros((1, 1, *array.shape[2:]), array.dtype), path)
    return Chunks(path, tuple(map(int, array.shape)), str(array.dtype))


def _tiff_picture(path: str, data: Bytes) -> Picture | None:
    with reading(path):
        page = _tiff.readable_page(data)
        if page is None or page.dtype is None:
            return None
        _check_upright(path, _tiff.header(data).orientation)
        shape = (page.height, page.width, *((3,) if page.samples == 3 else ()))
        start = _tiff_pieces.contiguous(page)
        if start is not None:
            return Plain(Grid(path, shape, page.dtype, start))
        layout = _tiff_pieces.Layout.of(page)
        fits = layout.rows * layout.columns * layout.samples * page.dtype.itemsize <= LARGEST_PIECE
        return Pieces(path, shape) if fits else None


def _touched(layout: _tiff_pieces.Layout, rows: slice, columns: slice) -> list[int]:
    """The numbers of the tiles or strips that a window touches."""
    return [
        y * layout.across + x
        for y in range(rows.start // layout.rows, -(-rows.stop // layout.rows))
        for x in range(columns.start // layout.columns, -(-columns.stop // layout.columns))
    ]


def _check_upright(picture: StrPath | Image, orientation: int) -> None:
    if orientation != UPRIGHT:
        raise InputError(f"{picture}: is to be turned (EXIF orientation {orientation}): save it upright for tiles")
