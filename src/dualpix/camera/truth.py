"""The true disparity of the left view, from that of the scene as seen from the centre of the aperture."""

from __future__ import annotations

import numpy as np

from .layers import EDGE, Array


def seen_from_left(depth: Array) -> Array:
    """Move each point from x to x + d/2 along its row; the nearest point wins.

    `depth` is NaN where there is no point. The result is -inf where no point lands.
    """
    height, width = depth.shape
    x = np.arange(width) + depth / 2
    row = np.arange(height)[:, None] + np.zeros((1, width), np.intp)
    seen = np.full((height, width), -np.inf, np.float32)

    # Surfaces: interpolate the pixels, two at most, between neighbours without an edge.
    step = np.diff(depth, axis=1)
    for n in (0, 1):
        target = np.ceil(x[:, :-1]) + n
        on = (np.abs(step) <= EDGE) & (target <= x[:, 1:]) & (target >= 0) & (target < width)
        part = (target - x[:, :-1]) / np.maximum(np.diff(x, axis=1), 0.5)
        value = depth[:, :-1] + part * step
        np.maximum.at(seen, (row[:, :-1][on], target[on].astype(np.intp)), value[on])

    # Edges: a surface ends half a pixel beyond its last centre.
    nearest = np.full_like(seen, -np.inf)
    target = np.rint(x)
    on = (target >= 0) & (target < width)
    np.maximum.at(nearest, (row[on], target[on].astype(np.intp)), depth[on])
    return np.where(nearest > seen + EDGE, nearest, seen)


def fill_from_background(seen: Array) -> Array:
    """Fill empty pixels (-inf) with the lower of the values left and right of the gap."""
    found = np.isfinite(seen)
    column = np.arange(seen.shape[1])
    left = np.maximum.accumulate(np.where(found, column, -1), axis=1)
    right = np.minimum.accumulate(np.where(found, column, seen.shape[1])[:, ::-1], axis=1)[:, ::-1]
    padded = np.pad(seen, ((0, 0), (1, 1)), constant_values=np.inf)
    return np.minimum(np.take_along_axis(padded, left + 1, 1), np.take_along_axis(padded, right + 1, 1))
