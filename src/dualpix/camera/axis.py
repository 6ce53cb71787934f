"""Detect the axis along which the views differ: the one whose shift explains more of their difference.

The views are compared tile by tile at every scale. Each tile has its own gain and offset, so brightness does not count.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..types import Map, Planes, empty_like

TILE = 16  # px, side of a tile; large shifts use tiles of half this side
COARSEST = 3  # the shorter side of the coarsest scale holds at least this many tiles
LARGEST = 1_000_000  # pixels; larger scales are skipped because they are slow and add little
REACH = 32  # px of the coarsest scale: the largest shift tried

ALIKE = 1e-3  # squared intensities; a smaller difference counts as none
SURE = 5.0  # standard deviations by which the tiles' votes must differ from a tie
CLEAR = 2.0  # tiles that vote for the winner must gain this many times as much as the others
LEAST = 0.08  # share of the difference that a small shift must explain; narrow textures explain 0.05 by chance
MOST = 0.65  # the same for a large shift; the best of many shifts explains 0.55 by chance

Tiles = npt.NDArray[np.float64]
OTHER = {"x": "y", "y": "x"}


class Axis(NamedTuple):
    """The axis along which the views differ, and the evidence.

    Attributes
    ----------
    axis : "x", "y" or None
        None if no shift along either is reliable.
    x, y : float
        Share, 0 to 1, of the difference between the views that a shift along that axis explains.
    sureness : float
        Standard deviations by which the votes of the image's tiles differ from a tie.
    """

    axis: str | None
    x: float
    y: float
    sureness: float

    @property
    def evidence(self) -> str:
        """The shares in words."""
        (more, one), (less, other) = sorted([(self.x, "x"), (self.y, "y")], key=lambda share: -share[0])
        return (
            f"a shift along {one} explains {more:.0%} of the difference between the views, one along {other} {less:.0%}"
        )

    def objection(self, asked: str) -> str | None:
        """A warning if the views do not support the requested axis, else None."""
        if self.axis == asked:
            return None
        if self.axis is None:
            return f"no reliable shift along x or y ({self.evidence}): the disparities along {asked} may mean nothing"
        return f"axis is {asked}, but the views differ along {self.axis}: {self.evidence}"

    def turned(self) -> "Axis":
        """The same evidence for views whose rows and columns are exchanged."""
        return Axis(OTHER[self.axis] if self.axis else None, self.y, self.x, self.sureness)

    def to_dict(self) -> dict[str, Any]:
        """A record ready for JSON."""
        return {"found": self.axis, "explained": {"x": self.x, "y": self.y}, "sureness": self.sureness}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Axis":
        """The inverse of `to_dict`."""
        return cls(record["found"], record["explained"]["x"], record["explained"]["y"], record["sureness"])


class Unexplained(NamedTuple):
    """Unexplained variance of every tile: without a shift, with one along x, with one along y."""

    still: Tiles
    x: Tiles
    y: Tiles


def detect_axis(left: Map, right: Map, threads: int) -> Axis:
    """Find the axis along which the views are shifted, by anything from 0.1 px to a quarter of the image.

    Parameters
    ----------
    left, right : contiguous float32 planes of the same size
        Grey, on a 0..255 scale, equal in brightness: blur shifts a view that darkens towards one side.
    threads : int
        Number of threads. The result does not depend on it.

    Returns
    -------
    Axis
        The reliable comparison in which the axes differ most. If none is reliable, that of the finest scale.
    """
    if min(left.shape) < TILE + 2:
        return Axis(None, 0.0, 0.0, 0.0)
    found = list(_comparisons(left, right, threads))
    reliable = [each for each in found if each.axis]
    return max(reliable, key=lambda each: abs(each.x - each.y)) if reliable else found[-1]


def _comparisons(left: Map, right: Map, threads: int) -> Iterator[Axis]:
    halvings = math.log2(max(min(left.shape) / (COARSEST * TILE), 1))
    levels = [Planes(left, right, left)]
    for _ in range(int(halvings)):
        levels.insert(0, levels[0].halved(threads))
    coarsest, *finer = levels
    yield verdict(large_shifts(coarsest.left, coarsest.right, threads), MOST)
    yield verdict(small_shifts(coarsest.left, coarsest.right, threads), LEAST)
    for level in finer:
        if level.left.size <= LARGEST:
            yield verdict(small_shifts(level.left, level.right, threads), LEAST)


def verdict(tiles: Unexplained, least: float) -> Axis:
    """Count the tiles' votes. Noise votes like a fair coin, and an outlier has one vote like any other tile."""
    total = float(tiles.still.sum())
    if total <= ALIKE * tiles.still.size:
        return Axis(None, 0.0, 0.0, 0.0)
    share = {"x": 1 - float(tiles.x.sum()) / total, "y": 1 - float(tiles.y.sum()) / total}
    advantage = tiles.y - tiles.x
    votes = {"x": int(np.count_nonzero(advantage > 0)), "y": int(np.count_nonzero(advantage < 0))}
    gain = {"x": advantage.clip(min=0).sum(), "y": -advantage.clip(max=0).sum()}
    one, other = ("x", "y") if votes["x"] > votes["y"] else ("y", "x")
    sureness = (votes[one] - votes[other]) / math.sqrt(max(votes[one] + votes[other], 1))
    reliable = sureness >= SURE and share[one] >= least and gain[one] >= CLEAR * gain[other]
    return Axis(one if reliable else None, share["x"], share["y"], sureness)


def small_shifts(left: Map, right: Map, threads: int) -> Unexplained:
    """Shifts of up to about a pixel: ``L - R = a + (b + c x + e y) M - d M'``, least squares in every tile.

    M is the mean of the views, M' its slope along the axis. The gain changes linearly across the tile.
    """
    L, R = _smooth(left, threads), _smooth(right, threads)
    rows, columns = ((n - 2) // TILE for n in L.shape)
    C = np.empty((rows * columns, 6, 6))  # covariances of L - R, M_x, M_y, M, x M and y M
    _core.tile_covariances(L, R, C, TILE, threads)
    C = np.ascontiguousarray(C.transpose(1, 2, 0))
    for gain in (5, 4, 3):
        C = _without(C, gain)
    # v = E^2 - (E M')^2 / M'^2
    still = C[0, 0]
    along = (still - C[0, k] ** 2 / (C[k, k].clip(min=0) + ALIKE) for k in (1, 2))
    return Unexplained(*(rest.clip(min=0) for rest in (still, *along)))


def _without(C: Tiles, k: int) -> Tiles:
    """Covariances of the residuals of the planes before k, after the last plane, k, is fitted to each of them."""
    rest: Tiles = C[:k, :k] - C[:k, k, None] * C[k, None, :k] / (C[k, k].clip(min=0) + ALIKE)
    return rest


def large_shifts(left: Map, right: Map, threads: int) -> Unexplained:
    """Shifts by whole pixels: each tile takes the shift with which the right view explains it best."""
    tile, reach = TILE // 2, min(REACH, max(left.shape) // 3)
    L, R = _smooth(left, threads), _smooth(right, threads)
    rows, columns = (n // tile for n in L.shape)
    rest = np.empty((3, rows * columns))
    _core.tile_shifts(L, R, rest, side=tile, reach=reach, alike=ALIKE, threads=threads)
    return Unexplained(*rest)


def _smooth(plane: Map, threads: int) -> Map:
    smooth = empty_like(plane)
    _core.smooth(np.ascontiguousarray(plane), smooth, np.array([1, 4, 6, 4, 1]) / 16, threads)
    return smooth
