"""Rendering by layers: surfaces are cut into slices of equal disparity, each is blurred, near ones hide far ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from math import ceil, floor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .optics import Kernel, Optics

Array = npt.NDArray[np.float32]
Box = tuple[slice, slice]

LAYER = 0.125  # px of disparity from one layer to the next; points between two layers are shared by both
HIDING = 3  # layers; a surface this much nearer hides what is behind it, a smaller step is the same surface
EDGE = (HIDING + 1) * LAYER  # px: a larger step between neighbouring pixels is an edge, not a slope


class Surface(NamedTuple):
    """Points of a scene, at most one per pixel as seen from the centre of the aperture.

    Attributes
    ----------
    colour : (H, W, channels) array
    disparity : (H, W) array
        In pixels; any value where there is no point.
    cover : (H, W) array
        The share of the pixel that the point covers, 0 where there is none.
    """

    colour: Array
    disparity: Array
    cover: Array


class Field:
    """The optics over a picture that has a margin on all sides.

    Parameters
    ----------
    optics
        How points are spread.
    shape
        Height and width of the picture, without the margin.
    largest
        The largest absolute disparity, in pixels. The margin is wide enough for it.
    """

    def __init__(self, optics: Optics, shape: tuple[int, int], largest: float) -> None:
        self._spots = optics.spots(*shape)
        self.margin = ceil(self.reach(largest)) + 1
        nodes = len(self._spots), len(self._spots[0])
        self._shares = [_shares(size, n, self.margin) for size, n in zip(shape, nodes, strict=True)]

    @property
    def frame(self) -> Box:
        """The picture inside its margin."""
        inner = slice(self.margin, -self.margin)
        return inner, inner

    def reach(self, disparity: float) -> float:
        """Return how far a point of this disparity is spread, anywhere in the picture, in pixels."""
        return max(spot.reach(disparity) for row in self._spots for spot in row)

    def spread(self, layer: Array, box: Box, disparity: float, view: int) -> Array:
        """Return the layer as blurred in a view; `box` is its place in the picture with its margin."""
        rows, columns = (shares[:, part] for shares, part in zip(self._shares, box, strict=True))
        if len(rows) == len(columns) == 1:
            return _convolved(layer, self._spots[0][0].kernel(disparity, view))
        blurred = np.zeros_like(layer)
        for i, j in np.ndindex(len(rows), len(columns)):
            spot = self._spots[i][j]
            part = _part(layer[..., -1], rows[i], columns[j], ceil(spot.reach(disparity)) + 1)
            if part is not None:
                share = rows[i][part[0], None] * columns[j][part[1]]
                blurred[part] += _convolved(layer[part] * share[..., None], spot.kernel(disparity, view))
        return blurred


def render(surfaces: Sequence[Surface], field: Field, view: int) -> Array:
    """One view: each layer is spread by the optics and hidden where a layer in front covers it.

    Parameters
    ----------
    surfaces
        Of the size of the picture with its margin. Where two of them lie at the same pixel, less than `EDGE` apart,
        their covers must not exceed 1 together.
    field
        The optics.
    view
        `LEFT` or `RIGHT`.
    """
    height, width, channels = surfaces[0].colour.shape
    total = np.zeros((height, width, channels + 1), np.float32)
    covered = np.zeros((height, width), np.float32)
    waiting: deque[tuple[int, Box, Array]] = deque()
    for index, box, layer in _layers(surfaces, field):
        while waiting and waiting[0][0] - index >= HIDING:
            _, front, coverage = waiting.popleft()
            covered[front] += coverage
        blurred = field.spread(layer, box, index * LAYER, view)
        total[box] += np.maximum(1 - covered[box], 0)[..., None] * blurred
        waiting.append((index, box, blurred[..., -1]))
    return np.divide(total[..., :-1], total[..., -1:], dtype=np.float32)


def stretch(disparity: Array, view: int) -> Array:
    """Columns of the view that one column of a slanted surface covers: the slope of x + view * d/2 over x."""
    step = np.diff(disparity, axis=1)
    step = np.pad(np.where(np.abs(step) <= EDGE, step, 0), ((0, 0), (1, 1)), mode="edge")
    return np.asarray(1 + view * (step[:, 1:] + step[:, :-1]) / 4, np.float32)


def bounds(where: npt.NDArray[np.bool_], margin: int) -> Box | None:
    """Return the box around the pixels that are true, with a margin; None if there are none."""
    rows, columns = np.flatnonzero(where.any(1)), np.flatnonzero(where.any(0))
    if rows.size == 0:
        return None
    return (
        slice(max(rows[0] - margin, 0), rows[-1] + margin + 1),
        slice(max(columns[0] - margin, 0), columns[-1] + margin + 1),
    )


def _layers(surfaces: Sequence[Surface], field: Field) -> Iterator[tuple[int, Box, Array]]:
    """Slices of equal disparity ``index * LAYER``, nearest first: weighted colours, then the weights.

    Each slice is cropped to the reach of its blur.
    """
    levels = [surface.disparity / LAYER for surface in surfaces]
    present = np.concatenate([level[surface.cover > 0] for level, surface in zip(levels, surfaces, strict=True)])
    for index in range(ceil(present.max()), floor(present.min()) - 1, -1):
        weights = [
            surface.cover * np.maximum(1 - np.abs(level - index), 0)
            for level, surface in zip(levels, surfaces, strict=True)
        ]
        box = bounds(sum(weights) > 0, ceil(field.reach(index * LAYER)) + 1)
        if box is None:
            continue
        cut = [weight[box][..., None] for weight in weights]
        colours = [weight * surface.colour[box] for weight, surface in zip(cut, surfaces, strict=True)]
        yield index, box, np.concatenate((sum(colours), sum(cut)), axis=2, dtype=np.float32)


def _shares(size: int, nodes: int, margin: int) -> Array:
    """(nodes, size + 2 margin): linear weights of the nodes, from the first to the last pixel of the picture."""
    place = np.clip(np.arange(-margin, size + margin) / max(size - 1, 1), 0, 1) * (nodes - 1)
    return np.asarray(np.maximum(1 - np.abs(place - np.arange(nodes)[:, None]), 0), np.float32)


def _part(cover: Array, down: Array, across: Array, margin: int) -> Box | None:
    """The box around what a node has a share in, with a margin; None if that is nothing."""
    rows, columns = np.flatnonzero(down), np.flatnonzero(across)
    if rows.size == 0 or columns.size == 0:
        return None
    lit = bounds(cover[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] > 0, 0)
    if lit is None:
        return None
    (top, bottom), (left, right) = ((part.start, part.stop) for part in lit)
    return (
        slice(max(rows[0] + top - margin, 0), rows[0] + bottom + margin),
        slice(max(columns[0] + left - margin, 0), columns[0] + right + margin),
    )


def _convolved(layer: Array, kernel: Kernel) -> Array:
    import cv2

    flipped = kernel[::-1, ::-1]  # filter2D correlates: flipped, it convolves
    return np.asarray(cv2.filter2D(layer, -1, flipped, borderType=cv2.BORDER_CONSTANT), np.float32).reshape(layer.shape)
