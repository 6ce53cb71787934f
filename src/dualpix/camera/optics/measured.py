"""Blur kernels that were measured on a camera."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...files import open_file
from ...types import StrPath
from .spot import Kernel, SampledSpot, Samples, Spots

LARGEST = 513  # samples; side of a kernel
OUTER = 0.0025  # of the light; what lies farther out on either side, along x or y, is noise around the spot
NEAREST = 0.1  # px; centroids closer than this do not tell left from right


class Measured:
    """Kernels of both views at one defocus, for all others scaled in size.

    The disparity at which they were measured is the distance of their centroids. For another one, the kernels are
    resampled in proportion; for one of the other sign, they are also reflected through their origin.

    Parameters
    ----------
    left, right : (K, K), (N, K, K) or (ROWS, COLUMNS, K, K) array
        Images of a point in the two views, 0 or more. N kernels are averaged, unless `grid` is given. Four dimensions
        are a grid over the picture: its first row is at the top, its first column at the left.
    grid : (int, int), optional
        Rows and columns of the N kernels, which are then stored row by row.
    names : (str, str)
        What errors call the kernels: their files.
    """

    def __init__(
        self,
        left: npt.ArrayLike,
        right: npt.ArrayLike,
        grid: tuple[int, int] | None = None,
        names: tuple[str, str] = ("left", "right"),
    ) -> None:
        self._names = names
        pair = [_kernels(array, name) for array, name in zip((left, right), names, strict=True)]
        if pair[0].shape != pair[1].shape:
            shapes = " and ".join(str(kernels.shape) for kernels in pair)
            raise InputError(f"{names[1]}: the kernels of the two views have shapes {shapes}: give equal shapes")
        self._left, self._right = (_on_grid(kernels, grid, names[0]) for kernels in pair)
        for row in range(self._left.shape[0]):
            for column in range(self._left.shape[1]):
                self._check_distance(row, column)

    def spots(self, height: int, width: int) -> Spots:
        rows, columns = self._left.shape[:2]
        return [[SampledSpot(partial(self.samples, row, column)) for column in range(columns)] for row in range(rows)]

    def record(self) -> dict[str, Any]:
        return {"kind": "measured", "files": list(self._names), "grid": list(self._left.shape[:2])}

    def samples(self, row: int, column: int, fineness: int) -> Samples:
        """Return one pair of kernels, with `fineness` samples per measured pixel."""
        left, right = _trimmed(self._left[row, column], self._right[row, column])
        left, right = _finer(left, fineness), _finer(right, fineness)
        return Samples(left / left.sum(), right / right.sum(), 1 / fineness)

    def _check_distance(self, row: int, column: int) -> None:
        distance = self.samples(row, column, 1).distance()
        if abs(distance) < NEAREST:
            raise InputError(
                f"{self._names[0]}: the centroids of the left and the right kernel are {abs(distance):.2g} px apart: "
                "measure them farther out of focus"
            )


def read_measured(left: StrPath, right: StrPath, grid: tuple[int, int] | None = None) -> Measured:
    """Read measured kernels from two NPY files; see `Measured`.

    Raises
    ------
    InputError
        If a file cannot be read or does not hold kernels.
    """
    return Measured(_load(left), _load(right), grid, (str(left), str(right)))


def _load(path: StrPath) -> npt.NDArray[Any]:
    try:
        with open_file(path) as file:
            array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): give an NPY file of kernels") from None
    except Exception:  # the header is a Python literal, and numpy passes on any error of the parser
        raise InputError(f"{path}: is not an NPY file of numbers: save the kernels with numpy.save") from None
    return array


def _kernels(array: npt.ArrayLike, name: str) -> Kernel:
    kernels = np.asarray(array)
    if kernels.dtype.kind not in "uif" or kernels.ndim not in (2, 3, 4):
        kind = f"an array of shape {kernels.shape} and type {kernels.dtype}"
        raise InputError(f"{name}: is {kind}: give kernels as numbers of shape (K, K), (N, K, K) or (R, C, K, K)")
    if kernels.size == 0 or max(kernels.shape[-2:]) > LARGEST:
        raise InputError(f"{name}: has shape {kernels.shape}: give kernels of 1 to {LARGEST} pixels a side")
    kernels = kernels.astype(np.float64)
    if not np.isfinite(kernels).all() or kernels.min() < 0 or (kernels.sum((-2, -1)) <= 0).any():
        raise InputError(f"{name}: has a kernel with negative or infinite values, or without light: clean it first")
    return np.asarray(kernels / kernels.sum((-2, -1), keepdims=True))


def _on_grid(kernels: Kernel, grid: tuple[int, int] | None, name: str) -> Kernel:
    """As (ROWS, COLUMNS, K, K)."""
    if kernels.ndim == 4:
        return kernels
    if grid is None:
        mean = kernels if kernels.ndim == 2 else kernels.mean(0)
        return np.asarray(mean[None, None])
    if kernels.ndim == 2 or grid[0] < 1 or grid[0] * grid[1] != len(kernels):
        count = 1 if kernels.ndim == 2 else len(kernels)
        raise InputError(f"{name}: holds {count} kernels, which is no grid of {grid[0]}x{grid[1]}: give another grid")
    return kernels.reshape(*grid, *kernels.shape[1:])


def _trimmed(left: Kernel, right: Kernel) -> tuple[Kernel, Kernel]:
    """Without the dark frame around the spots, but for one pixel of it, set to 0."""
    rows, columns = (_lit((left + right).sum(axis)) for axis in (1, 0))
    return np.pad(left[rows, columns], 1), np.pad(right[rows, columns], 1)


def _lit(profile: Kernel) -> slice:
    """From the first to the last pixel that has light."""
    inside = np.cumsum(profile) / profile.sum()
    first, last = np.searchsorted(inside, (OUTER, 1 - OUTER))
    return slice(int(first), int(last) + 1)


def _finer(kernel: Kernel, fineness: int) -> Kernel:
    """With `fineness` samples a pixel, interpolated linearly. The centroid stays where it is."""
    if fineness == 1:
        return kernel
    rows, columns = (_interpolation(n, fineness) for n in kernel.shape)
    return np.asarray(rows @ kernel @ columns.T)


def _interpolation(count: int, fineness: int) -> Kernel:
    fine = (np.arange((count + 2) * fineness) + 0.5) / fineness - 1.5
    return np.asarray(np.maximum(1 - np.abs(fine[:, None] - np.arange(count)), 0))
