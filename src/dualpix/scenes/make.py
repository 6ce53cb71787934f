"""From the choices to the pictures: surfaces are laid out, lit and rendered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..camera.layers import Array, Box, Field
from ..camera.simulation import Sensor, shoot
from .recipe import Camera, Ground, Light, Recipe, Thing
from .shapes import outline
from .stack import Stack
from .textures import fractal, paint


class Shot(NamedTuple):
    """A rendered scene: two views, and the disparity of the left one in pixels, NaN where it is unknown."""

    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    disparity: Array


def make(recipe: Recipe) -> Shot:
    """Render a scene. The same recipe gives the same values."""
    shape = recipe.height, recipe.width
    field = Field(recipe.optics, shape, max(abs(recipe.far), abs(recipe.near)))
    stack = _laid_out(recipe, field.margin)
    camera = recipe.camera
    _light(stack, recipe.light)
    bright = float(np.percentile(stack.front.mean(2), 95))
    stack.lit(camera.exposure / max(bright, 1e-6))
    sensor = Sensor(camera.noise, camera.shot_noise, camera.vignetting, camera.seed, camera.softness)
    left, right = (_stored(view, camera) for view in shoot(stack.surfaces, field, sensor))
    return Shot(left, right, stack.truth()[field.frame])


def _laid_out(recipe: Recipe, margin: int) -> Stack:
    height, width = recipe.height + 2 * margin, recipe.width + 2 * margin
    y, x = np.indices((height, width), np.float32) - np.float32(margin)
    x, y = x / recipe.width, y / recipe.height
    depth, second = _ground_depth(recipe.ground, x, y)
    colour = paint(recipe.ground.texture, height, width)
    if second.any():
        colour = np.where(second[..., None], paint(recipe.ground.second, height, width), colour)
    extent = recipe.near - recipe.far
    stack = Stack(colour, recipe.far + extent * depth)
    for thing in sorted(recipe.things, key=lambda each: each.depth):
        _put(stack, thing, recipe, margin)
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


def _put(stack: Stack, thing: Thing, recipe: Recipe, margin: int) -> None:
    """Draw an object into the stack, with its shadow behind it."""
    import cv2

    radius = thing.size * recipe.height
    cover = outline(thing, radius)
    centre = round(thing.y * recipe.height) + margin, round(thing.x * recipe.width) + margin
    box, inside = _placed(centre, cover.shape[0], stack.front.shape)
    if cover[inside].size == 0:
        return
    half = cover.shape[0] // 2
    v, u = np.indices(cover.shape, np.float32)[(slice(None), *inside)] / np.float32(radius) - np.float32(half / radius)
    depth, shade = _relief(thing, u, v)
    colour = paint(thing.texture, *cover.shape)[inside] * shade[..., None]
    disparity = recipe.far + (recipe.near - recipe.far) * depth
    if thing.shadow:
        soft = cv2.GaussianBlur(np.pad(cover, 8), (0, 0), max(radius / 6, 2))[8:-8, 8:-8]
        stack.front[box] *= (1 - thing.shadow * soft[inside])[..., None]
    stack.put(box, colour, disparity.astype(np.float32), cover[inside])


def _placed(centre: tuple[int, int], side: int, shape: tuple[int, ...]) -> tuple[Box, Box]:
    """Where a square lies in the picture, and the part of it that does."""
    boxes = []
    for middle, size in zip(centre, shape, strict=False):
        start = middle - side // 2
        low, high = max(start, 0), max(min(start + side, size), max(start, 0))
        boxes.append((slice(low, high), slice(low - start, high - start)))
    return (boxes[0][0], boxes[1][0]), (boxes[0][1], boxes[1][1])


def _relief(thing: Thing, u: Array, v: Array) -> tuple[Array, Array]:
    """Depth of an object, 0 to 1, and how bright its surface is lit; (u, v) from its centre, 1 at its outline."""
    cos, sin = np.cos(thing.turn), np.sin(thing.turn)
    along = u * cos + v * sin
    depth = thing.depth + thing.slope_x * u + thing.slope_y * v
    shade = np.ones_like(u)
    if thing.shape == "box":  # two fronts that meet in an edge
        fold = along - thing.slope_y
        depth -= (0.15 + np.abs(thing.slope_x)) * np.where(fold > 0, fold, -0.3 * fold)
        shade = np.where(fold > 0, 0.6, 1.0)
    if thing.bulge:
        height = np.sqrt(np.maximum(1 - u**2 - v**2, 0))
        depth += thing.bulge * (height - 0.5)
        shade = 0.35 + 0.65 * np.clip((height - 0.5 * u - 0.5 * v) / 1.2, 0, 1)
    return np.clip(depth, 0, 1).astype(np.float32), shade.astype(np.float32)


def _light(stack: Stack, light: Light) -> None:
    """Shade everything smoothly, in place; the same for what is hidden."""
    rng = np.random.default_rng(light.seed)
    height, width = stack.front.shape[:2]
    y, x = np.indices((height, width), np.float32)
    slope = (x / width - 0.5) * np.cos(light.direction) + (y / height - 0.5) * np.sin(light.direction)
    shade = np.exp(light.strength * (0.4 * fractal(rng, height, width, 2.2) + 1.5 * slope))
    for _ in range(light.dark_parts):
        cy, cx, ry, rx = rng.random(4) * (height, width, height / 3, width / 3) + (0, 0, height / 12, width / 12)
        far = np.hypot((x - cx) / rx, (y - cy) / ry)
        shade *= 1 - light.darkness / (1 + np.exp(8 * (far - 1)))
    stack.lit(shade)


def _stored(view: Array, camera: Camera) -> npt.NDArray[Any]:
    if camera.grey:
        view = view[..., 1]
    top, dtype = (255, np.uint8) if camera.bits == 8 else (65535, np.uint16)
    return np.asarray(np.rint(top * np.clip(view, 0, 1) ** (1 / camera.gamma)).astype(dtype))
