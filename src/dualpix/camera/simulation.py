"""Dual-pixel image formation: a left/right pair with known disparity from a sharp image.

Each half of a dual pixel sees the scene through one half of the aperture. A point out of focus is therefore spread over
a half-disc, mirrored between the views. The distance between the two centroids is its disparity.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import ceil, floor, pi
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..io import as_image
from ..params.rules import Real, Whole, check
from ..types import full_scale, same_size

Array = npt.NDArray[np.float32]
Box = tuple[slice, slice]

LAYER = 0.125  # px of disparity from one layer to the next; points between two layers are shared by both
HIDING = 3  # layers; a surface this much nearer hides what is behind it, a smaller step is the same surface
EDGE = (HIDING + 1) * LAYER  # px: a larger step between neighbouring pixels is an edge, not a slope


def simulate(
    image: npt.ArrayLike,
    disparity: npt.ArrayLike,
    *,
    noise: float = 0.0,
    vignetting: float = 0.0,
    seed: int = 0,
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Array]:
    """Render the two views a dual-pixel camera takes of a scene.

    The scene is given as seen from the centre of the aperture. It is rendered without conversion to linear light
    and mirrored outside the frame. Behind an edge, the background beside it is continued.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        All in focus; uint8, uint16 or float in [0, 1].
    disparity : (H, W) array
        ``x_left - x_right`` in pixels, signed; larger is nearer, 0 is in focus.
    noise : float
        Standard deviation of the Gaussian noise added to each view, on the 0..1 scale of the image; 0 to 1.
    vignetting : float
        0 to 1: the share of light that the left view loses at its right border and the right view at its left
        border. The loss grows linearly from the opposite border.
    seed : int
        The same seed gives the same noise.

    Returns
    -------
    left, right : arrays of the shape and dtype of `image`
    disparity : (H, W) float32 array
        The disparity at each pixel of the left view, in pixels. A scene point at ``x`` appears in it at
        ``x + d/2``, and the nearest point wins. Points hidden from the centre have the disparity of the
        background beside them.
    """
    scene = _scene(image)
    depth = _depth(disparity, scene.shape[:2])
    noise = check("noise", noise, Real(0, 1))
    vignetting = check("vignetting", vignetting, Real(0, 1))
    seed = check("seed", seed, Whole(0, 2**32 - 1))

    margin = ceil(_radius(float(np.abs(depth).max()))) + 1
    frame = (slice(margin, -margin), slice(margin, -margin))
    scene = np.pad(scene, ((margin, margin), (margin, margin), (0, 0)), mode="symmetric")
    depth = np.pad(depth, margin, mode="symmetric")
    behind = _background(depth, reach=2 * margin)

    dtype, shape = np.asarray(image).dtype, np.shape(image)
    rng = np.random.default_rng(seed)
    loss = vignetting * np.linspace(0, 1, shape[1], dtype=np.float32)[:, None]
    views = []
    for sign, gain in ((1, 1 - loss), (-1, 1 - loss[::-1])):
        view = _render(scene, depth, behind, sign)[frame] * gain
        if noise:
            view += rng.normal(0, noise, view.shape)
        views.append(_as_dtype(view.reshape(shape), dtype))
    return views[0], views[1], _seen_from_left(depth)[frame]


def half_disc(disparity: float) -> npt.NDArray[np.float64]:
    """The point spread function of the left view; that of the right view is ``half_disc(-disparity)``.

    The half-disc of radius ``3 pi |disparity| / 8`` is integrated against the bilinear hats of the pixels. Its
    mass is exactly 1 and its centroid exactly ``disparity / 2`` along x, at any radius.

    Parameters
    ----------
    disparity : float
        In pixels, signed.

    Returns
    -------
    (2R + 1, 2R + 1) array
        The origin is its centre.
    """
    if disparity == 0:
        return np.ones((1, 1))
    radius = _radius(disparity)
    lines = 32 * ceil(radius + 1)
    t = (2 * np.arange(lines) + 1 - lines) / lines  # scanlines across the unit disc
    chord = np.sqrt(1 - t**2)
    # The centroid is sum(width^2 / 2) / sum(width). This width makes it exact: it is the chord times the radius,
    # corrected for the finite number of scanlines.
    width = abs(disparity) * chord * chord.sum() / (chord @ chord)

    reach = ceil(max(radius, width.max()))
    taps = np.arange(-reach, reach + 1)
    rows = np.maximum(1 - np.abs(radius * t - taps[:, None]), 0)
    # The integral of hat(x - j) over 0..width: its falling side, then its rising side, one pixel before.
    inside = np.clip(width[:, None] - taps[reach:], 0, 1)
    columns = inside - inside**2 / 2
    columns[:, 1:] += inside[:, :-1] ** 2 / 2

    kernel = np.zeros((taps.size, taps.size))
    kernel[:, reach:] = rows @ columns
    kernel /= kernel.sum()
    return kernel if disparity > 0 else kernel[:, ::-1]


def _radius(disparity: float) -> float:
    """The centroid of a half-disc lies 4r/(3 pi) from the disc's centre; those of the two views are |d| apart."""
    return 3 * pi * abs(disparity) / 8


def _render(scene: Array, depth: Array, behind: npt.NDArray[np.intp], sign: int) -> Array:
    """One view: each layer is spread by its half-disc and hidden where a layer in front covers it."""
    import cv2

    height, width, channels = scene.shape
    total = np.zeros((height, width, channels + 1), np.float32)
    covered = np.zeros((height, width), np.float32)
    waiting: deque[tuple[int, Box, Array]] = deque()
    for index, box, layer in _layers(scene, depth, behind, _stretch(depth, sign)):
        while waiting and waiting[0][0] - index >= HIDING:
            _, front, coverage = waiting.popleft()
            covered[front] += coverage
        spread = half_disc(sign * index * LAYER)[:, ::-1]  # filter2D correlates: mirrored, it convolves
        blurred = np.asarray(cv2.filter2D(layer, -1, spread, borderType=cv2.BORDER_CONSTANT), np.float32)
        total[box] += np.maximum(1 - covered[box], 0)[..., None] * blurred
        waiting.append((index, box, blurred[..., -1]))
    return np.divide(total[..., :-1], total[..., -1:], dtype=np.float32)


def _stretch(depth: Array, sign: int) -> Array:
    """Columns of the view that one column of a slanted surface covers: the slope of x + sign * d/2 over x."""
    step = np.diff(depth, axis=1)
    step = np.pad(np.where(np.abs(step) <= EDGE, step, 0), ((0, 0), (1, 1)), mode="edge")
    return np.asarray(1 + sign * (step[:, 1:] + step[:, :-1]) / 4, np.float32)


def _layers(
    scene: Array, depth: Array, behind: npt.NDArray[np.intp], stretch: Array
) -> Iterator[tuple[int, Box, Array]]:
    """Slices of equal disparity ``index * LAYER``, nearest first: weighted colours, then the weights.

    Each slice is cropped to the reach of its half-disc. It holds the visible points and those hidden behind an edge.
    """
    hidden = behind != np.arange(depth.size).reshape(depth.shape)
    level = depth / LAYER
    level_behind = np.where(hidden, level.ravel()[behind], np.inf)
    scene_behind = scene.reshape(depth.size, -1)[behind]
    for index in range(ceil(level.max()), floor(level.min()) - 1, -1):
        weight = stretch * np.maximum(1 - np.abs(level - index), 0)
        weight_behind = np.maximum(1 - np.abs(level_behind - index), 0)
        box = _bounds((weight + weight_behind) > 0, ceil(_radius(index * LAYER)) + 1)
        if box is None:
            continue
        w, v = weight[box][..., None], weight_behind[box][..., None]
        yield index, box, np.concatenate((w * scene[box] + v * scene_behind[box], w + v), axis=2)


def _bounds(where: npt.NDArray[np.bool_], margin: int) -> Box | None:
    rows, columns = np.flatnonzero(where.any(1)), np.flatnonzero(where.any(0))
    if rows.size == 0:
        return None
    return (
        slice(max(rows[0] - margin, 0), rows[-1] + margin + 1),
        slice(max(columns[0] - margin, 0), columns[-1] + margin + 1),
    )


def _background(depth: Array, reach: int) -> npt.NDArray[np.intp]:
    """Flat index of the background behind each pixel, up to `reach` px inside an edge; elsewhere its own index.

    The background is mirrored about its last visible pixel if its surface continues there.
    """
    own = np.arange(depth.size).reshape(depth.shape)
    source = own.copy()
    everywhere, after, before = slice(None), slice(1, None), slice(None, -1)
    steps = [
        ((everywhere, after), (everywhere, before)),
        ((everywhere, before), (everywhere, after)),
        ((after, everywhere), (before, everywhere)),
        ((before, everywhere), (after, everywhere)),
    ]
    for _ in range(reach):
        known, level = source.copy(), depth.ravel()[source]
        for here, there in steps:
            reached = (source[here] == own[here]) & (level[there] < depth[here] - EDGE)
            source[here] = np.where(reached, known[there], source[here])
    return _mirrored(own, source, depth)


def _mirrored(own: npt.NDArray[np.intp], source: npt.NDArray[np.intp], depth: Array) -> npt.NDArray[np.intp]:
    height, width = depth.shape
    row = np.clip(2 * (source // width) - own // width, 0, height - 1)
    column = np.clip(2 * (source % width) - own % width, 0, width - 1)
    image = row * width + column
    same_surface = np.abs(depth.ravel()[image] - depth.ravel()[source]) <= LAYER
    return np.where(same_surface, image, source)


def _seen_from_left(depth: Array) -> Array:
    """Move each point from x to x + d/2 along its row; the nearest point wins."""
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
    seen = np.where(nearest > seen + EDGE, nearest, seen)
    return fill_from_background(seen)


def fill_from_background(seen: Array) -> Array:
    """Fill empty pixels (-inf) with the lower of the values left and right of the gap."""
    found = np.isfinite(seen)
    column = np.arange(seen.shape[1])
    left = np.maximum.accumulate(np.where(found, column, -1), axis=1)
    right = np.minimum.accumulate(np.where(found, column, seen.shape[1])[:, ::-1], axis=1)[:, ::-1]
    padded = np.pad(seen, ((0, 0), (1, 1)), constant_values=np.inf)
    return np.minimum(np.take_along_axis(padded, left + 1, 1), np.take_along_axis(padded, right + 1, 1))


def _scene(image: npt.ArrayLike) -> Array:
    """As (H, W, channels) on the 0..1 scale."""
    array = as_image(image, "image")
    unit: Array = np.divide(array, full_scale(array.dtype), dtype=np.float32)
    return unit.reshape(*array.shape[:2], -1)


def _depth(disparity: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    array = np.asarray(disparity)
    if array.ndim != 2:
        raise InputError(f"disparity has shape {array.shape}: give an HxW map")
    same_size(("image", shape), ("disparity", array.shape))
    if array.dtype.kind not in "uif" or not np.isfinite(array).all():
        raise InputError("disparity holds NaN, infinity or values that are not numbers: fill it first")
    largest = float(np.abs(array).max())
    if largest > shape[1] / 8:
        raise InputError(
            f"disparity reaches {largest:g} px, over an eighth of the image width {shape[1]}: scale it down"
        )
    return array.astype(np.float32)


def _as_dtype(view: Array, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    view = np.clip(view, 0, 1)
    return view.astype(dtype) if dtype.kind == "f" else np.rint(view * np.iinfo(dtype).max).astype(dtype)
