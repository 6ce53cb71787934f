"""White sheets: how bright an evenly lit white surface appears in each view, from place to place."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError, ParameterError
from ..types import Map, Pair, full_scale

Values = npt.NDArray[np.float64]

CELLS = 32  # cells along the longer side of a white sheet; their mean brightness is kept
CELL = 16  # px, the smallest side of a cell
SMALLEST = 32  # px, the smallest side of a white sheet
DARKEST = 0.02  # a cell darker than this share of the brightest is not part of a white sheet
CLIPPED = 1e-3  # share of the pixels that may have the brightest value before the sheet counts as clipped


class White(NamedTuple):
    """The brightness of a white sheet in each view, by cell and at most 1.

    Attributes
    ----------
    black, full : float
        Black level and full scale of the input's pixel values.
    left, right : float64 arrays
        Brightness by cell.
    """

    black: float
    full: float
    left: Values
    right: Values

    def gains(self, shape: tuple[int, ...], gamma: float = 1.0) -> tuple[Map, Map]:
        """What to divide views of that height and width by, after black level and gamma: ``I^gamma / gain^gamma``."""
        return spread(self.left**gamma, shape), spread(self.right**gamma, shape)


def divided(light: Map, gain: Map) -> Map:
    """A view without its vignetting, in place: its light, not below black, over the gain of a white sheet."""
    np.maximum(light, 0, out=light)
    light /= gain
    return light


def white_sheets(pairs: Sequence[Pair], black: float) -> White:
    """Average pairs of white sheets; the brightness is 1 where the brighter view is brightest."""
    full = full_scale(pairs[0].left.dtype)
    for pair in pairs:
        if {pair.left.dtype, pair.right.dtype} != {pairs[0].left.dtype}:
            raise InputError(
                f"{pair.name('left')}: white sheets of different kinds, such as 8 and 16 bit: give all of one kind"
            )
    if not 0 <= black < full:
        raise ParameterError(
            f"black must be from 0 to below {full:g}, the full scale of the white sheets, not {black:g}"
        )
    grids = []
    for pair in pairs:
        views = {"left": pair.left, "right": pair.right}
        for name, view in views.items():
            _check_sheet(view, black, pair.source.get(name, f"white sheet {name}"))
        both = np.stack([_cells(view) - black for view in views.values()])
        grids.append(both / both.max())
        if grids[-1].min() < DARKEST:
            raise InputError(
                f"{pair.name('left')}: falls to {grids[-1].min():.1%} of its brightest, which no white sheet does: "
                "let an evenly lit one fill the picture"
            )
    left, right = np.mean(grids, axis=0).round(6)
    return White(float(black), full, left, right)


def _check_sheet(view: npt.NDArray[Any], black: float, name: str) -> None:
    if min(view.shape[:2]) < SMALLEST:
        raise InputError(
            f"{name}: a white sheet must have at least {SMALLEST} pixels a side, not {view.shape[1]}x{view.shape[0]}"
        )
    full = full_scale(view.dtype)
    dark = int(np.count_nonzero(view <= black))
    if dark:
        raise InputError(
            f"{name}: a white sheet must be above the black level, {black:g}, everywhere, but {dark} of its values are "
            "not: expose it longer, let it fill the picture, and take dead pixels out"
        )
    levels, counts = np.unique(view, return_counts=True)
    # Noise thins out towards the brightest value; clipping piles up there.
    crowded = counts[-1] > CLIPPED * view.size and len(counts) > 8 and counts[-1] > 4 * counts[-2]
    if crowded or (levels[-1] == full and counts[-1] > CLIPPED * view.size):
        raise InputError(
            f"{name}: {counts[-1] / view.size:.1%} of the white sheet are clipped at {levels[-1]:g}: expose it shorter"
        )


def _cells(view: npt.NDArray[Any]) -> Values:
    """Brightness by cell: the mean of the middle half of its values, so that dust and hot pixels drop out."""
    plane = view.reshape(*view.shape[:2], -1).mean(axis=2, dtype=np.float64)
    side = max(CELL, max(plane.shape) / CELLS)
    cells = [max(2, round(n / side)) for n in plane.shape]
    rows, columns = (
        np.linspace(0, n, count + 1).round().astype(int) for n, count in zip(plane.shape, cells, strict=True)
    )
    grid = np.empty(cells)
    for i, j in np.ndindex(*cells):
        values = np.sort(plane[rows[i] : rows[i + 1], columns[j] : columns[j + 1]], axis=None)
        quarter = values.size // 4
        grid[i, j] = values[quarter : values.size - quarter].mean()
    return grid


def spread(grid: Values, shape: tuple[int, ...]) -> Map:
    """Interpolate the cells to every pixel: linear between their centres, and extrapolated beyond the outermost."""
    values = grid.astype(np.float32)
    for axis, n in enumerate(shape):
        t = (np.arange(n) + 0.5) * grid.shape[axis] / n - 0.5
        i = np.clip(t.astype(int), 0, grid.shape[axis] - 2)
        f = np.expand_dims((t - i).astype(np.float32), 1 - axis)
        values = values.take(i, axis) * (1 - f) + values.take(i + 1, axis) * f
    # Extrapolation must not reach 0.
    return np.maximum(values, np.float32(grid.min() / 2))
