"""Large views in pieces that overlap: where they lie, and their maps blended into one."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..types import Map

Window = tuple[slice, slice]

WHOLE = 2**21  # pixels; larger views are cut into tiles, so that the memory has a bound
TILE, OVERLAP = 1024, 64  # px, if the recipe does not tell


def windows(shape: tuple[int, int], tile: tuple[int, int], overlap: tuple[int, int]) -> Iterator[Window]:
    """The pieces of a picture, rows and columns, at most as large as a tile. They cover it evenly."""
    rows, columns = (list(_spans(*each)) for each in zip(shape, tile, overlap, strict=True))
    return ((y, x) for y in rows for x in columns)


def _spans(size: int, tile: int, overlap: int) -> Iterator[slice]:
    if size <= tile:
        yield slice(0, size)
        return
    count = math.ceil((size - overlap) / (tile - overlap))
    for i in range(count):
        start = round(i * (size - tile) / (count - 1))
        yield slice(start, start + tile)


def blended(
    shape: tuple[int, int], tile: tuple[int, int], overlap: tuple[int, int], run: Callable[[Window], Map]
) -> Map:
    """The maps of all pieces as one: where pieces overlap, ``sum(w d) / sum(w)``, and w falls towards their edges."""
    total, weights = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    for window in windows(shape, tile, overlap):
        d = run(window)
        if d.shape == shape:
            return d
        w = np.outer(*(_ramp(side, width) for side, width in zip(d.shape, overlap, strict=True)))
        total[window] += w * d
        weights[window] += w
    return total / weights


def _ramp(size: int, overlap: int) -> Map:
    """Rises from the edges over the overlap, and is 1 inside."""
    distance = np.minimum(np.arange(size), np.arange(size)[::-1]) + 0.5
    return np.minimum(distance / max(overlap, 1), 1).astype(np.float32)
