"""Points and triangles of a map, seen through a pinhole: x to the right, y up, the camera looks along -z."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..types import Map
from .layers import Colours, Layers

CUT = 0.03  # share of the range of inverse depth that a triangle may span
SLOPES = 4  # times the mean slope of a map that spans its range once: what a triangle of a small map may span

Points = npt.NDArray[np.float32]  # (n, 3)
Triangles = npt.NDArray[np.uint32]  # (n, 3)


class Cloud(NamedTuple):
    """Points in metres or relative units, their colours, and the pixels (rows, columns) they come from."""

    points: Points
    colours: Colours | None
    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]


def cloud(layers: Layers, step: int = 1) -> Cloud:
    """The points of every pixel, or of every step-th one, that has a finite depth, row by row. The lens is at 0."""
    layers = layers.from_lens()
    q, pick = layers.inverse_depth(), _pick(layers.values.shape, step)
    seen = q[np.ix_(*pick)] > 0
    row, column = (along[index] for along, index in zip(pick, np.nonzero(seen), strict=True))
    z = 1 / q[row, column]
    (height, width), v = q.shape, np.float32(layers.focal_length)
    # X = (x - c_x) z / v, Y = -(y - c_y) z / v, Z = -z; the middle of the picture is on the axis
    x, y = column + np.float32(0.5 - width / 2), row + np.float32(0.5 - height / 2)
    points = np.stack([x * z / v, -y * z / v, -z], axis=1).astype(np.float32)
    colours = _smoothed(layers.colours(), step)
    return Cloud(points, None if colours is None else colours[row, column], row, column)


def step_for(shape: tuple[int, ...], most: int) -> int:
    """The smallest step that leaves at most so many pixels."""
    return max(1, math.ceil(math.sqrt(shape[0] * shape[1] / most)))


def mesh(layers: Layers, step: int = 1) -> tuple[Cloud, Triangles]:
    """The points, and the triangles between neighbours. Triangles across depth edges are left out."""
    layers = layers.from_lens()
    found = cloud(layers, step)
    pick = _pick(layers.values.shape, step)
    q = layers.inverse_depth()[np.ix_(*pick)]
    at = np.full(q.shape, -1, np.int64)  # the number of each point
    at[q > 0] = np.arange(len(found.points))
    corners = [at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]]
    first, second, third, fourth = (corner.ravel() for corner in corners)
    # Anticlockwise, seen from the camera.
    triangles = np.concatenate([np.stack([first, third, fourth], 1), np.stack([first, fourth, second], 1)])
    triangles = triangles[(triangles >= 0).all(axis=1)]
    corner_q = q[q > 0][triangles]
    smooth = np.ptp(corner_q, axis=1) <= _cut(q)
    return found, triangles[smooth].astype(np.uint32)


def _cut(q: Map) -> float:
    """The largest difference of inverse depth in a triangle."""
    span = float(np.ptp(q[q > 0])) if (q > 0).any() else 0.0
    # A plane that spans the whole range is not cut: its inverse depth changes by span / side from row to row.
    return float(max(CUT, SLOPES / max(min(q.shape), 1))) * span


def _pick(shape: tuple[int, ...], step: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The rows and columns that are used: the middle of every block of step x step pixels."""
    row, column = (np.arange(min(step // 2, n - 1), n, step) for n in shape)
    return row, column


def _smoothed(colours: Colours | None, step: int) -> Colours | None:
    """The mean colour of the block around a pixel."""
    if colours is None or step == 1:
        return colours
    import cv2

    return np.asarray(cv2.blur(colours, (step, step), borderType=cv2.BORDER_REFLECT), np.uint8)
