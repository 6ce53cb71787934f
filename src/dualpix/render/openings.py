"""The shape of the lens opening, which is the shape of a point of light out of focus.

An opening is given by lines across the unit disc. Line k lies at ``v = (2 k + 1 - n) / n`` and is open between two ends,
``[left_k, right_k]``; if left is right, it is closed. The sign of v is down, that of the ends is right.
"""

from math import hypot, pi, sqrt

import numpy as np

from ..types import Map

LINES = 512  # across the opening
NODES = (9, 13)  # rows and columns of openings over the picture, if they differ
CAT_EYE = 0.7  # radii by which the opening is clipped at the corners of the picture


def disc(v: Map) -> Map:
    """A round opening of radius 1."""
    half = np.sqrt(1 - v**2)
    return np.stack((-half, half))


def hexagon(v: Map) -> Map:
    """Six blades, with two corners left and right. The area is that of the disc."""
    corner = sqrt(2 * pi / sqrt(27))
    half = np.maximum(corner - np.abs(v) / sqrt(3), 0) * (np.abs(v) <= corner * sqrt(3) / 2)
    return np.stack((-half, half))


def cat_eye(v: Map, x: float, y: float) -> Map:
    """A disc clipped by a second one, as far from the centre of the picture as (x, y); the corners are at distance 1."""
    left, right = disc(v)
    beyond = v + CAT_EYE * y
    half = np.sqrt(np.maximum(1 - beyond**2, 0)) * (np.abs(beyond) < 1)
    left, right = np.maximum(left, -half - CAT_EYE * x), np.minimum(right, half - CAT_EYE * x)
    closed = (half == 0) | (left >= right)
    return np.where(closed, 0, np.stack((left, right)))


def openings(shape: str, height: int, width: int) -> Map:
    """Return the openings of a picture for a shape of `SHAPES`: rows x columns x 2 x n."""
    v = (2 * np.arange(LINES) + 1 - LINES) / LINES
    if shape != "cat-eye":
        chords = (disc if shape == "disc" else hexagon)(v)[None, None]
    else:
        diagonal = hypot(height, width)
        rows, columns = ((2 * np.arange(n) + 1 - n) / n * size / diagonal for n, size in zip(NODES, (height, width)))
        chords = np.array([[cat_eye(v, float(x), float(y)) for x in columns] for y in rows])
    return np.ascontiguousarray(chords, np.float32)


SHAPES = ("disc", "hexagon", "cat-eye")
