"""Huge maps out, tile by tile: a tiled BigTIFF, or a Zarr folder (extra `tiles`)."""

import os
from collections.abc import Callable, Iterator

import numpy as np

from ..errors import OutputError
from ..types import Map, Shape, StrPath
from ._extra import missing

SUFFIXES = (".tif", ".tiff", ".zarr")
SIDE = 256  # px of a tile of the file
CHUNK = 1024  # px of a chunk of a Zarr array

Window = Callable[[slice, slice], Map]


def check_tiled_path(path: StrPath) -> str:
    """Return the lower-case suffix if a tiled map can be written there, else raise OutputError."""
    suffix = os.path.splitext(os.fspath(path).rstrip("/"))[1].lower()
    if suffix not in SUFFIXES:
        raise OutputError(
            f"{path or 'path'}: the suffix gives the format of a tiled map: choose one of {', '.join(SUFFIXES)}"
        )
    if suffix == ".zarr" and missing("zarr"):
        raise OutputError(f"{path}: a Zarr folder needs a package: pip install 'dualpix[tiles]', or choose .tiff")
    return suffix


def write_tiled(path: StrPath, suffix: str, window: Window, shape: Shape) -> None:
    """Write a float32 map of that shape. `window` gives the rows and columns of one tile at a time."""
    (_write_zarr if suffix == ".zarr" else _write_tiff)(path, window, shape)


def _write_tiff(path: StrPath, window: Window, shape: Shape) -> None:
    import tifffile

    def parts() -> Iterator[Map]:
        for part, rows, columns in _parts(window, shape, SIDE):
            del rows, columns
            full = np.zeros((SIDE, SIDE), np.float32)
            full[: part.shape[0], : part.shape[1]] = part
            yield full

    with tifffile.TiffWriter(path, bigtiff=True) as tiff:
        tiff.write(parts(), shape=shape, dtype=np.float32, tile=(SIDE, SIDE), photometric="minisblack", metadata=None)


def _write_zarr(path: StrPath, window: Window, shape: Shape) -> None:
    import zarr

    chunks = tuple(min(CHUNK, n) for n in shape)
    array = zarr.open_array(os.fspath(path), mode="w", shape=shape, chunks=chunks, dtype="float32", fill_value=0)
    for part, rows, columns in _parts(window, shape, CHUNK):
        array[rows, columns] = part


def _parts(window: Window, shape: Shape, side: int) -> Iterator[tuple[Map, slice, slice]]:
    """The parts of a map, row by row."""
    height, width = shape
    for y in range(0, height, side):
        for x in range(0, width, side):
            rows, columns = slice(y, min(y + side, height)), slice(x, min(x + side, width))
            yield window(rows, columns), rows, columns
