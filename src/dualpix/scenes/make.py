"""From the choices to the pictures: surfaces are laid out, lit and rendered."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..camera.layers import Array, Box, Field
from ..camera.simulation import Sensor, shoot
from .recipe import Camera, Ground, Light, Recipe, Thing
from .shapes import outline, own_axes
from .stack import Stack
from .textures import fractal, paint


class Shot(NamedTuple):
    """A rendered scene: two views, and the disparity of the left one in pixels, NaN where it is unknown."""

    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    disparity: Array


def make(recipe: Recipe) -> Shot:
    """Render a scene. The same recipe gives the same values."""
    camera = recipe.camera
    field = Field(recipe.optics, (recipe.height, recipe.width), max(abs(recipe.far), abs(recipe.near)))
    stack = stacked(recipe, field.margin)
    channels = slice(1, 2) if camera.grey else slice(3)
    surfaces = partial(stack.surfaces, reach=2 * field.margin, channels=channels)
    sensor = Sensor(camera.noise, camera.shot_noise, camera.vignetting, camera.seed, camera.softness)
    left, right = (_stored(view, camera) for view in shoot(surfaces, field, sensor))
    return Shot(left, right, stack.truth()[field.frame])


def stacked(recipe: Recipe, margin: int) -> Stack:
    """The surfaces of a scene, lit and exposed, with a margin around the picture in pixels."""
    stack = _laid_out(recipe, margin)
    _light(stack, recipe.light)
    bright = float(np.percentile(stack.colour.mean(2), 95))
    stack.light(recipe.camera.exposure / max(bright, 1e-6))
    return stack


def _laid_out(recipe: Recipe, margin: int) -> Stack:
    """Background and objects, far ones first."""
    height, width = recipe.height + 2 * margin, recipe.width + 2 * margin
    y, x = np.indices((height, width), np.float32) - np.float32(margin)
    depth, second = _ground_depth(recipe.ground, x / recipe.width, y / recipe.height)
    colour = paint(recipe.ground.texture, height, width)
    if second.any():
        colour = np.where(second[..., None], paint(recipe.ground.second, height, width), colour)
    stack = Stack(colour, recipe.far + (recipe.near - recipe.far) * depth)
    placed = []
    for thing in recipe.things:
        centre = round(thing.y * recipe.height) + margin, round(thing.x * recipe.width) + margin
        behind = float(depth[centre])
        placed.append((behind + thing.depth * (1 - behind), centre, thing))
    for middle, centre, thing in sorted(placed, key=lambda each: each[0]):
        _put(stack, thing, middle, centre, recipe)
    return stack


def _ground_depth(ground: Ground, x: Array, y: Array) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Depth of the background, 0 to 1, and where its second texture is."""
    depth = ground.depth + ground.slope_x * (x - 0.5) + ground.slope_y * (y - 0.5)
    second = np.zeros(depth.shape, bool)
    if ground.kind == "curved":
        depth += ground.bend * ((x - 0.5 - ground.slope_x) ** 2 + (y - 0.5 + ground.slope_y) ** 2)
        depth += 0.08 * np.sin(2 * np.pi * (2 * x + y + ground.bend))
    if ground.kind == "floor":
        horizon = 0.35 + 0.4 * abs(ground.bend) + 0.3 * ground.slope_x * (x - 0.5)
        second = y > horizon
        depth = ground.depth / 2 + ground.slope_x * (x - 0.5) + np.maximum(y - horizon, 0) * (0.5 + ground.depth)
    if ground.kind == "corner":
        fold = 0.5 + ground.bend / 2
        second = x > fold
        depth = ground.depth / 2 + np.abs(x - fold) * (0.3 + abs(ground.slope_x)) + ground.slope_y * (y - 0.5)
    return np.clip(depth, 0, 1).astype(np.float32), second


def _put(stack: Stack, thing: Thing, middle: float, centre: tuple[int, int], recipe: Recipe) -> None:
    """Draw an object into the stack, in place, with its shadow on what is behind it; `middle` is its depth."""
    import cv2

    radius = thing.size * recipe.height
    cover = outline(thing, radius)
    box, inside = _placed(centre, len(cover), stack.disparity.shape)
    half = len(cover) // 2
    v, u = (np.indices(cover.shape, np.float32)[(slice(None), *inside)] - half) / np.float32(radius)
    depth, shade = _relief(thing, middle, u, v)
    disparity = np.asarray(recipe.far + (recipe.near - recipe.far) * depth, np.float32)
    colour = paint(thing.texture, *cover.shape)[inside] * shade[..., None]
    if thing.shadow:
        visible = cover[inside] * (disparity > stack.disparity[box])
        soft = cv2.GaussianBlur(visible, (0, 0), max(radius / 6, 2))
        stack.colour[box] *= 1 - thing.shadow * np.asarray(soft, np.float32)[..., None]
    stack.put(box, colour, disparity, cover[inside])


def _placed(centre: tuple[int, int], side: int, shape: tuple[int, ...]) -> tuple[Box, Box]:
    """Where a square around a pixel lies in the picture, and the part of the square that does."""
    start = [middle - side // 2 for middle in centre]
    low = [max(first, 0) for first in start]
    high = [min(first + side, size) for first, size in zip(start, shape, strict=True)]
    rows, columns = (slice(a, b) for a, b in zip(low, high, strict=True))
    top, left = (slice(a - first, b - first) for a, b, first in zip(low, high, start, strict=True))
    return (rows, columns), (top, left)


def _relief(thing: Thing, middle: float, u: Array, v: Array) -> tuple[Array, Array]:
    """Depth of an object, 0 to 1, and how bright its surface is lit; (u, v) from its centre, 1 at its outline."""
    p, q = own_axes(thing, u, v)
    depth = middle + thing.slope_x * u + thing.slope_y * v
    shade = np.ones_like(u)
    if thing.shape == "box":  # two fronts that meet in an edge
        fold = p - thing.slope_y
        depth -= (0.15 + abs(thing.slope_x)) * np.where(fold > 0, fold, -0.3 * fold)
        shade = np.where(fold > 0, 0.6, 1.0)
    if thing.bulge:
        height = np.sqrt(np.maximum(1 - p**2 - q**2, 0))
        depth += thing.bulge * (height - 0.5)
        shade = 0.35 + 0.65 * np.clip((height - 0.5 * u - 0.5 * v) / 1.2, 0, 1)
    return np.asarray(np.clip(depth, 0, 1), np.float32), np.asarray(shade, np.float32)


def _light(stack: Stack, light: Light) -> None:
    """Shade everything smoothly, in place; the same for what is hidden."""
    rng = np.random.default_rng(light.seed)
    height, width = stack.disparity.shape
    y, x = np.indices((height, width), np.float32)
    slope = (x / width - 0.5) * np.cos(light.direction) + (y / height - 0.5) * np.sin(light.direction)
    shade = np.exp(light.strength * (0.4 * fractal(rng, height, width, 2.2) + 1.5 * slope))
    for _ in range(light.dark_parts):
        cy, cx, ry, rx = rng.random(4) * (height, width, height / 3, width / 3) + (0, 0, height / 12, width / 12)
        far = np.hypot((x - cx) / rx, (y - cy) / ry)
        shade *= 1 - light.darkness / (1 + np.exp(4 * (far - 1)))
    stack.light(shade)
    if light.highlights:
        stack.colour[...] += _highlights(light.highlights, rng, height, width)[..., None]


def _highlights(count: int, rng: np.random.Generator, height: int, width: int) -> Array:
    """Small points that are brighter than white."""
    import cv2

    points = np.zeros((height, width), np.uint8)
    for x, y, radius, value in rng.random((count, 4)) * (width, height, 2, 155) + (0, 0, 0.5, 100):
        cv2.circle(points, (round(16 * x), round(16 * y)), round(16 * radius), value, -1, cv2.LINE_AA, 4)
    return np.asarray(points / 40, np.float32)


def _stored(view: Array, camera: Camera) -> npt.NDArray[Any]:
    view = view[..., 0] if camera.grey else view
    top, dtype = (255, np.uint8) if camera.bits == 8 else (65535, np.uint16)
    return np.asarray(np.rint(top * np.clip(view, 0, 1) ** (1 / camera.gamma)).astype(dtype))
