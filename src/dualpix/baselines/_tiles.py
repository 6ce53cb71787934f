"""Local matching of tiles, shared by `sdof` and `dpdisp`: cost, sub-pixel fit, confidence, bilateral upsampling.

Every disparity d has a kernel for each view. The kernels make the views equal where d is right. The cost C(d) of a tile
is the variance of the difference ``e = k_left * L - k_right * R`` over the tiles around it. A variance ignores constant
differences in brightness.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..filters import bilateral_solver
from ..filters.common import LEAST
from ..io import read_pair
from ..run import thread_count
from ..types import Map
from ._views import Image, grey_views, whole_disparities

Array = npt.NDArray[Any]
Kernels = tuple[Array, Array]  # for the left and the right view

TILE = 8  # px, side of a tile, and of the cells of the upsampling
REACH = 2  # the cost of a tile includes this many tiles on every side
NOISE = 1.0  # variance of the noise, on a 0..255 scale; costs below are meaningless
TEXTURE = 4.0  # squared slope along x, on a 0..255 scale, at which the texture factor of the confidence is 1/2

CONSTANTS = {"tile": TILE, "reach": REACH, "noise": NOISE, "texture": TEXTURE}

SLOPE = np.array([[0.5, 0, -0.5]])
NOTHING = np.zeros((1, 1))


class Estimate(NamedTuple):
    """The maps of a baseline, for the left view.

    Attributes
    ----------
    disparity : float32 array
        ``d = x_left - x_right`` in pixels: left(x, y) matches right(x - d, y). Dense and finite.
    confidence : float32 array
        In [0, 1]; all pixels of a tile have the same.
    """

    disparity: Map
    confidence: Map


def match_tiles(
    left: Image,
    right: Image,
    limits: tuple[float, float],
    guide: Image | None,
    kernels: Callable[[float], Kernels],
    steps: int,
    threads: int | None,
) -> Estimate:
    """Match with kernels by disparity, at `steps` disparities per pixel, and refine the best with a parabola."""
    threads = thread_count(threads)
    pair = read_pair(left, right, guide)
    views = grey_views(pair.left, pair.right, threads)
    asked = whole_disparities(limits, views[0].shape[1])
    # One more at each end, so that every requested disparity has two neighbours.
    disparities = [i / steps for i in range(asked[0] * steps - 1, asked[-1] * steps + 2)]
    C = tile_costs(*views, [kernels(d) for d in disparities], threads)
    ((_, texture),) = tile_moments(*views, [(SLOPE, NOTHING)], threads)
    at, confidence = best(C, steps, texture)
    # A tile without confidence starts in focus. Upsampling replaces it with its neighbours.
    d = np.where(confidence > 0, disparities[0] + at / steps, min(max(0, asked[0]), asked[-1]))
    return upsample(d, confidence, pair.left if pair.guide is None else pair.guide, threads)


def moved(kernel: Array, columns: int) -> Array:
    """The kernel that also moves the result to the right by that many columns."""
    return np.pad(kernel, ((0, 0), (2 * max(columns, 0), 2 * max(-columns, 0))))


# ---- tiles -----------------------------------------------------------------------------------------------


def tile_costs(left: Map, right: Map, kernels: list[Kernels], threads: int) -> Map:
    """The cost C of every tile; the first axis is that of the kernels."""
    moments = tile_moments(left, right, kernels, threads)
    return np.array([np.maximum(square - mean**2, 0) for mean, square in moments], np.float32)


def tile_moments(left: Map, right: Map, kernels: list[Kernels], threads: int) -> Iterator[tuple[Array, Array]]:
    """The means of e and e^2 over the tiles around each tile, by kernels. Views are mirrored at their borders."""
    pixels = _around(np.outer(*(np.minimum(TILE, side - np.arange(0, side, TILE)) for side in left.shape)))
    margin = max(side // 2 for pair in kernels for kernel in pair for side in kernel.shape)
    left, right = np.pad(left, margin, mode="symmetric"), np.pad(right, margin, mode="symmetric")
    e, e2 = np.empty(pixels.shape, np.float32), np.empty(pixels.shape, np.float32)
    for pair in kernels:
        k_left, k_right = (kernel.astype(np.float32, order="C") for kernel in pair)
        _core.tile_sums(left, right, k_left, k_right, e, e2, margin=margin, tile=TILE, threads=threads)
        yield _around(e) / pixels, _around(e2) / pixels


def _around(values: Array) -> Array:
    """The sum of the values around each value, including itself."""
    import cv2

    side = 2 * REACH + 1
    return cv2.boxFilter(values.astype(float), -1, (side, side), normalize=False, borderType=cv2.BORDER_CONSTANT)


def best(C: Map, steps: int, texture: Array) -> tuple[Array, Array]:
    """The vertex of the parabola at the lowest cost, as a position along the first axis, and its confidence.

    The lowest cost is never the first or the last, so that it has two neighbours. The confidence is the product of
    three factors from 0 to 1: they are high if the curvature is large compared with the cost; if all costs two pixels
    or more away are much higher; and if the texture is large compared with TEXTURE.
    """
    at = 1 + C[1:-1].argmin(axis=0)
    before, lowest, after = (np.take_along_axis(C, (at + i)[None], 0)[0] for i in (-1, 0, 1))
    rise_before, rise_after = np.maximum(before - lowest, 0), np.maximum(after - lowest, 0)
    rises = rise_before + rise_after
    vertex = at + (rise_before - rise_after) / np.where(rises > 0, 2 * rises, 1)

    second = np.full_like(lowest, np.inf)
    for i, cost in enumerate(C):
        np.minimum(second, cost, out=second, where=np.abs(i - at) >= 2 * steps)
    curvature = steps**2 * rises / 2
    confidence = curvature / (curvature + lowest + NOISE)
    confidence *= 1 - (lowest + NOISE) / (np.maximum(second, lowest) + NOISE)
    confidence *= texture / (texture + TEXTURE)
    return vertex, confidence


def upsample(d: Array, confidence: Array, guide: Array, threads: int) -> Estimate:
    """From tiles to pixels, following the edges of the guide."""
    height, width = guide.shape[:2]
    wide, trust = (
        np.ascontiguousarray(tiles.repeat(TILE, axis=0)[:height].repeat(TILE, axis=1)[:, :width], np.float32)
        for tiles in (d, confidence)
    )
    weight = np.maximum(trust, LEAST)
    return Estimate(bilateral_solver(wide, guide, xy=TILE, confidence=weight, threads=threads), trust)
