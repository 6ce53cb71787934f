"""The shape of the lens opening, which is the shape of a point of light out of focus.

An opening is given by lines across the unit disc. Line k of n lies at ``v = (2 k + 1 - n) / n``, from top to bottom. It
is open from its left end to its right end. If both are the same, it is closed.
"""

from math import hypot, pi, sqrt

import numpy as np
import numpy.typing as npt

from ..types import Map

Ends = npt.NDArray[np.float64]  # 2 x n: the left and the right ends

SHAPES = ("disc", "hexagon", "cat-eye")
NODES = (7, 9)  # rows and columns of openings over the picture, if they differ
CAT_EYE = 0.7  # how far the opening is clipped at the corners of the picture, in radii
V = np.arange(-511, 512, 2) / 512


def openings(shape: str, height: int, width: int) -> Map:
    """Return the openings over a picture of this size, rows x columns x 2 x n, for one of `SHAPES`."""
    if shape == "cat-eye":
        x, y = (_places(n, size) / hypot(height, width) for n, size in ((NODES[1], width), (NODES[0], height)))
        ends = np.array([[cat_eye(float(i), float(j)) for i in x] for j in y])
    else:
        ends = (hexagon() if shape == "hexagon" else disc())[None, None]
    return np.ascontiguousarray(ends, np.float32)


def disc() -> Ends:
    """A round opening of radius 1."""
    half = np.sqrt(1 - V**2)
    return np.stack((-half, half))


def hexagon() -> Ends:
    """Six blades with corners at the left and the right. The area is that of the disc."""
    corner = sqrt(2 * pi / sqrt(27))
    half = np.where(np.abs(V) < corner * sqrt(3) / 2, corner - np.abs(V) / sqrt(3), 0)
    return np.stack((-half, half))


def cat_eye(x: float, y: float) -> Ends:
    """The part of the disc where ``|(u, v) + CAT_EYE (x, y)| < 1``.

    (x, y) is the place in the picture, from its centre to the right and down. The corners are at distance 1.
    """
    half = np.sqrt(np.maximum(1 - (V + CAT_EYE * y) ** 2, 0))
    left, right = disc()
    left, right = np.maximum(left, -half - CAT_EYE * x), np.minimum(right, half - CAT_EYE * x)
    return np.where((half > 0) & (left < right), (left, right), 0)


def _places(n: int, size: int) -> npt.NDArray[np.float64]:
    """The centres of n equal parts of the picture, from its own centre, in half pixels."""
    return (2 * np.arange(n) + 1 - n) / n * size
