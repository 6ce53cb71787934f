"""Pictures that are read by windows, so that a huge one is never in memory as a whole.

Uncompressed TIFF and .npy files are read directly, tiled or striped TIFF files by the tiles or strips that a window
touches, Zarr folders by chunks (extra `tiles`). Any other file, and an array, is read whole once and kept as .npy.
"""

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import InputError
from ..types import Image, Shape, StrPath
from . import _tiff
from ._extra import missing
from ._format import UPRIGHT, FormatError
from ._limit import too_large
from ._reader import mapped, probe
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
        import tifffile

        top, left = rows.start, columns.start
        with tifffile.TiffFile(self.path) as tiff:
            page = tiff.pages[0]
            part = np.empty((rows.stop - top, columns.stop - left, *self.shape[2:]), page.dtype)
            for number in _touched(page, rows, columns):
                tiff.filehandle.seek(page.dataoffsets[number])
                data = tiff.filehandle.read(page.databytecounts[number])
                pixels, place, _ = page.decode(data, number)
                assert pixels is not None  # no piece is empty
                y, x = place[2], place[3]
                pixels = pixels[0] if part.ndim == 3 else pixels[0, ..., 0]
                above, before = max(y, top), max(x, left)
                below, behind = min(y + pixels.shape[0], rows.stop), min(x + pixels.shape[1], columns.stop)
                part[above - top : below - top, before - left : behind - left] = pixels[
                    above - y : below - y, before - x : behind - x
                ]
        return as_image(part, self.path)


@dataclass(frozen=True)
class Chunks:
    """A Zarr array."""

    path: str
    shape: Shape

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
        return _zarr(path)
    data = mapped(picture)
    if data[:6] == _NPY:
        grid = Grid.of_npy(path)
        as_image(np.zeros((1, 1, *grid.shape[2:]), grid.dtype), path)  # refuses other types and channels
        return Plain(grid)
    return _tiff_picture(path, data) if _tiff.MAGIC.match(data) else None


def is_zarr(path: str) -> bool:
    """Whether a folder is a Zarr array."""
    return any(Path(path, name).is_file() for name in ("zarr.json", ".zarray"))


def _zarr(path: str) -> Picture:
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
    return Chunks(path, tuple(map(int, array.shape)))


def _tiff_picture(path: str, data: Any) -> Picture | None:
    try:
        with _tiff.readable_page(data) as page:
            if page is None:
                return None
            _check_upright(path, _tiff.header(data).orientation)
            rest = (3,) if page.samplesperpixel == 3 else ()
            shape = (int(page.imagelength), int(page.imagewidth), *rest)
            if page.is_contiguous:
                dtype = page.dtype.newbyteorder(page.parent.byteorder)
                return Plain(Grid(path, shape, dtype, page.dataoffsets[0]))
            piece = math.prod(page.tile if page.is_tiled else (page.rowsperstrip, page.imagewidth))
            fits = piece * page.samplesperpixel * page.dtype.itemsize <= LARGEST_PIECE
            return Pieces(path, shape) if fits else None
    except FormatError as error:
        raise InputError(f"{path}: {error}") from error


def _touched(page: Any, rows: slice, columns: slice) -> list[int]:
    """The numbers of the tiles or strips that a window touches."""
    height, width = page.tile[-2:] if page.is_tiled else (page.rowsperstrip, page.imagewidth)
    across = -(-page.imagewidth // width)
    return [
        y * across + x
        for y in range(rows.start // height, -(-rows.stop // height))
        for x in range(columns.start // width, -(-columns.stop // width))
    ]


def _check_upright(picture: StrPath | Image, orientation: int) -> None:
    if orientation != UPRIGHT:
        raise InputError(f"{picture}: is to be turned (EXIF orientation {orientation}): save it upright for tiles")
