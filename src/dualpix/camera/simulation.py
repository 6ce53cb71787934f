"""Dual-pixel image formation: a left/right pair with known disparity from a sharp image.

Each half of a dual pixel sees the scene through one half of the aperture. A point out of focus is therefore spread over
a spot, in the ideal case a half-disc, that is mirrored between the views. The distance between the two centroids is its
disparity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..io import as_image
from ..params.rules import Real, Rule, Whole, check
from ..types import full_scale, same_size
from .layers import EDGE, LAYER, Array, Field, Surface, render, stretch
from .optics import HALF_DISC, LEFT, RIGHT, Optics
from .truth import fill_from_background, seen_from_left

SENSOR: dict[str, Rule] = {
    "noise": Real(0, 1),
    "shot_noise": Real(0, 1),
    "vignetting": Real(0, 1),
    "seed": Whole(0, 2**32 - 1),
    "softness": Real(0, 10),
}


def simulate(
    image: npt.ArrayLike,
    disparity: npt.ArrayLike,
    *,
    optics: Optics = HALF_DISC,
    noise: float = 0.0,
    shot_noise: float = 0.0,
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
    optics : Optics
        How a point out of focus is spread: `HALF_DISC`, a `Pupil` or `Measured` kernels.
    noise : float
        Standard deviation of the Gaussian noise added to each view, on the 0..1 scale of the image; 0 to 1.
    shot_noise : float
        Variance of the noise of the light itself at white, on the same scale; 0 to 1. In all, the variance at a
        brightness b is ``noise^2 + shot_noise b``.
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
    sensor = Sensor(noise, shot_noise, vignetting, seed)

    field = Field(optics, depth.shape, float(np.abs(depth).max()))
    margin = field.margin
    scene = np.pad(scene, ((margin, margin), (margin, margin), (0, 0)), mode="symmetric")
    depth = np.pad(depth, margin, mode="symmetric")
    behind = _background(depth, reach=2 * margin)
    hidden = behind != np.arange(depth.size).reshape(depth.shape)
    background = Surface(scene.reshape(depth.size, -1)[behind], np.where(hidden, depth.ravel()[behind], np.inf), hidden)

    def surfaces(view: int) -> Sequence[Surface]:
        return Surface(scene, depth, stretch(depth, view)), background

    dtype, shape = np.asarray(image).dtype, np.shape(image)
    left, right = (_as_dtype(view.reshape(shape), dtype) for view in shoot(surfaces, field, sensor))
    return left, right, fill_from_background(seen_from_left(depth))[field.frame]


@dataclass(frozen=True)
class Sensor:
    """What the sensor does to the light; see `simulate`. `softness` is the STD of its own blur, in pixels."""

    noise: float = 0.0
    shot_noise: float = 0.0
    vignetting: float = 0.0
    seed: int = 0
    softness: float = 0.0

    def __post_init__(self) -> None:
        for name, rule in SENSOR.items():
            object.__setattr__(self, name, check(name, getattr(self, name), rule))


def shoot(surfaces: Callable[[int], Sequence[Surface]], field: Field, sensor: Sensor) -> tuple[Array, Array]:
    """Render the left and the right view.

    Parameters
    ----------
    surfaces
        Gives the surfaces for a view; see `render`.
    field
        The optics over the picture.
    sensor
        What is added to the light.

    Returns
    -------
    left, right : (H, W, channels) arrays
        On the scale of the surfaces, not clipped.
    """
    rng = np.random.default_rng(sensor.seed)
    views = []
    for view in (LEFT, RIGHT):
        light = render(surfaces(view), field, view)
        if sensor.softness:
            light = _softened(light, sensor.softness)
        light = light[field.frame]
        loss = sensor.vignetting * np.linspace(0, 1, light.shape[1], dtype=np.float32)[::view, None]
        light = light * (1 - loss)
        if sensor.shot_noise:
            variance = sensor.noise**2 + sensor.shot_noise * np.maximum(light, 0)
            light += rng.normal(0, np.sqrt(variance)).astype(np.float32)
        elif sensor.noise:
            light += rng.normal(0, sensor.noise, light.shape)
        views.append(light)
    return views[0], views[1]


def _softened(light: Array, sigma: float) -> Array:
    import cv2

    return np.asarray(cv2.GaussianBlur(light, (0, 0), sigma), np.float32).reshape(light.shape)


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
