"""The true disparity of the left view, from that of the scene as seen from the centre of the aperture."""

from __future__ import annotations

from itertools import product

import numpy as np

from .layers import EDGE, Array


def seen_from_left(*surfaces: Array) -> Array:
    """Move each point from x to x + d/2 along its row; the nearest point wins.

    Parameters
    ----------
    surfaces
        Disparities in pixels, NaN where there is no point. Neighbours without an edge between them belong together,
        also if they are in different arrays.

    Returns
    -------
    (H, W) array
        -inf where no point lands.
    """
    seen = np.full(surfaces[0].shape, -np.inf, np.float32)
    nearest = np.full_like(seen, -np.inf)
    for one, other in product(surfaces, repeat=2):
        _interpolate_into(seen, one[:, :-1], other[:, 1:])
    for surface in surfaces:
        _round_into(nearest, surface)
    return np.where(nearest > seen + EDGE, nearest, seen)


def _interpolate_into(seen: Array, left: Array, right: Array) -> None:
    """Set the pixels, two at most, that lie between neighbours without an edge, in place."""
    width = seen.shape[1]
    rows = np.broadcast_to(np.arange(len(seen))[:, None], left.shape)
    start, end = np.arange(width - 1) + left / 2, np.arange(1, width) + right / 2
    for n in (0, 1):
        target = np.ceil(start) + n
        on = (np.abs(right - left) <= EDGE) & (target <= end) & (target >= 0) & (target < width)
        value = left + (target - start) / np.maximum(end - start, 0.5) * (right - left)
        np.maximum.at(seen, (rows[on], target[on].astype(np.intp)), value[on])


def _round_into(nearest: Array, surface: Array) -> None:
    """Set the pixel nearest to each point, in place: a surface ends half a pixel beyond its last centre."""
    rows = np.broadcast_to(np.arange(len(surface))[:, None], surface.shape)
    target = np.rint(np.arange(surface.shape[1]) + surface / 2)
    on = (target >= 0) & (target < surface.shape[1])
    np.maximum.at(nearest, (rows[on], target[on].astype(np.intp)), surface[on])


def fill_from_background(seen: Array) -> Array:
    """Fill empty pixels (-inf) with the lower of the values left and right of the gap."""
    found = np.isfinite(seen)
    column = np.arange(seen.shape[1])
    left = np.maximum.accumulate(np.where(found, column, -1), axis=1)
    right = np.minimum.accumulate(np.where(found, column, seen.shape[1])[:, ::-1], axis=1)[:, ::-1]
    padded = np.pad(seen, ((0, 0), (1, 1)), constant_values=np.inf)
    return np.minimum(np.take_along_axis(padded, left + 1, 1), np.take_along_axis(padded, right + 1, 1))
