"""The belief of a coarser scale on disk: a few maps, read by windows."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from ..io.grids import Grid, load, written
from ..types import Map, Parabolas, Shape, Signs

LAYERS = ("A", "B", "d", "textured")
ROWS = 256  # that are written at once


@dataclass(frozen=True)
class StoredBelief:
    """A belief of the whole picture at one scale, in the matched frame.

    Attributes
    ----------
    A, B, d, textured : Grid
        The maps of `Parabolas`; d is its vertex.
    measured : bool
        Whether the curvatures tell the expected error.
    curvatures : tuple of float
        As those of `Parabolas`.
    """

    A: Grid
    B: Grid
    d: Grid
    textured: Grid
    measured: bool
    curvatures: tuple[float, ...]

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self.A.shape

    def window(self, rows: slice, columns: slice) -> Parabolas:
        """A part of it."""
        A, B = self.A.window(rows, columns), self.B.window(rows, columns)
        textured = self.textured.window(rows, columns)
        signs = Signs().cropped(rows, columns, self.shape) if self.measured else None
        return Parabolas(A, B, textured, curvatures=self.curvatures, signs=signs)

    def whole(self) -> Parabolas:
        """All of it as mapped files, to take samples from."""
        A, B, d, textured = (load(grid.path) for grid in (self.A, self.B, self.d, self.textured))
        return Parabolas(A, B, textured, curvatures=self.curvatures, vertex=d)


def layers_of(belief: Parabolas) -> Map:
    """What is kept of a belief, one above the other."""
    assert belief.textured is not None
    return np.stack([belief.A, belief.B, belief.disparity(), belief.textured.astype(np.float32)])


def store(
    rows_of: Callable[[slice], Map],
    shape: Shape,
    folder: str,
    number: int,
    measured: bool,
    curvatures: tuple[float, ...],
) -> StoredBelief:
    """Write the belief of a scale. `rows_of` gives its layers, by rows."""
    with ExitStack() as stack:
        files = [
            stack.enter_context(written(path, shape, np.uint8 if name == "textured" else np.float32))
            for name, path in zip(LAYERS, _paths(folder, number), strict=True)
        ]
        for top in range(0, shape[0], ROWS):
            for file, rows in zip(files, rows_of(slice(top, min(top + ROWS, shape[0]))), strict=True):
                file.add(rows)
    return stored(folder, number, measured, curvatures)


def stored(folder: str, number: int, measured: bool, curvatures: tuple[float, ...]) -> StoredBelief:
    """The belief that is in the folder."""
    A, B, d, textured = map(Grid.of_npy, _paths(folder, number))
    return StoredBelief(A, B, d, textured, measured, curvatures)


def _paths(folder: str, number: int) -> list[str]:
    return [os.path.join(folder, f"{name}-{number}.npy") for name in LAYERS]
