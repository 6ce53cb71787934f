"""Arrays on disk that are read by windows and written row by row. Only the window is in memory.

They are ordinary .npy files, or the uncompressed pixels of another file. Mapped files would do the same, but their
pages count as memory of the process.
"""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..files import open_file
from ..types import Shape, StrPath
from ._npy import real_shape
from .atomic import writing

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Grid:
    """An array in a file.

    Attributes
    ----------
    path : str
        The file.
    shape : tuple of int
        Rows, columns, and channels if there are several.
    dtype : numpy dtype
        As stored, with its byte order.
    offset : int
        Where the first row begins, bytes.
    """

    path: str
    shape: Shape
    dtype: np.dtype[Any]
    offset: int

    @classmethod
    def of_npy(cls, path: StrPath) -> "Grid":
        """The array of a .npy file, in C order.

        Raises
        ------
        InputError
            If the file is no such array, or is cut short.
        """
        with _opened(os.fspath(path)) as file:
            try:
                old = np.lib.format.read_magic(file) == (1, 0)
                read = np.lib.format.read_array_header_1_0 if old else np.lib.format.read_array_header_2_0
                shape, fortran, dtype = read(file)
            except Exception as error:  # the header is a Python literal, and numpy passes on any error of the parser
                raise InputError(f"{path}: has a damaged NPY header: save it again") from error
            if fortran or dtype.hasobject or not real_shape(shape) or not 2 <= len(shape) <= 3 or 0 in shape:
                kind = f"an array of shape {shape} and type {dtype}"
                raise InputError(f"{path}: holds {kind}: save an HxW or HxWx3 array of numbers in C order")
            grid = cls(os.fspath(path), shape, dtype, file.tell())
        if os.path.getsize(path) < grid.offset + math.prod(shape) * dtype.itemsize:
            raise InputError(f"{path}: is cut short: copy it again")
        return grid

    def window(self, rows: slice, columns: slice | None = None) -> Array:
        """A part of the array, all columns if none are given."""
        width, rest = self.shape[1], self.shape[2:]
        first, last, _ = (columns or slice(None)).indices(width)
        top, bottom, _ = rows.indices(self.shape[0])
        part = np.empty((bottom - top, last - first, *rest), self.dtype)
        pixel = math.prod(rest) * self.dtype.itemsize
        whole_rows = last - first == width
        pieces = [part] if whole_rows else part
        with _opened(self.path) as file:
            for number, piece in enumerate(pieces):
                file.seek(self.offset + ((top + number) * width + first) * pixel)
                if file.readinto(memoryview(piece).cast("B")) != piece.nbytes:
                    raise InputError(f"{self.path}: is cut short: copy it again")
        return part


def load(path: StrPath) -> Array:
    """The whole array of a .npy file, mapped: only what is used is read."""
    mapped: Array = np.load(path, mmap_mode="r")
    return mapped


class Rows:
    """Writes a .npy file from top to bottom."""

    def __init__(self, file: IO[bytes], shape: Shape, dtype: npt.DTypeLike) -> None:
        self._file, self._dtype = file, np.dtype(dtype)
        header = {"descr": self._dtype.str, "fortran_order": False, "shape": tuple(shape)}
        np.lib.format.write_array_header_1_0(file, header)

    def add(self, rows: Array) -> None:
        """The next rows."""
        self._file.write(np.ascontiguousarray(rows, self._dtype).data.cast("B"))


@contextmanager
def written(path: StrPath, shape: Shape, dtype: npt.DTypeLike = np.float32) -> Iterator[Rows]:
    """Write a .npy file row by row. It appears whole at the end of the block, or not at all."""
    temporary = f"{os.fspath(path)}.{os.urandom(8).hex()}.part"
    try:
        with writing(path):
            with open(temporary, "xb") as file:
                yield Rows(file, shape, dtype)
            os.replace(temporary, path)
    finally:
        with suppress(FileNotFoundError):
            os.remove(temporary)


def save(path: StrPath, values: Array) -> None:
    """Write a whole array as .npy file, which appears whole or not at all."""
    with written(path, values.shape, values.dtype) as rows:
        rows.add(values)


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    try:
        with open_file(path) as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path and its permissions") from None
