"""Rendered clips with known disparity and known motion, for benchmarks/video.py.

Flat layers stand before a flat background. The camera moves sideways, so a layer of disparity d moves by
``v(d) = pan (1 + d / 8)`` pixels a frame: near ones are faster. One object may fly through the picture by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from dualpix.camera.layers import Field
from dualpix.camera.optics import Pupil
from dualpix.camera.simulation import Sensor, shoot
from dualpix.scenes.draw import draw
from dualpix.scenes.recipe import Texture
from dualpix.scenes.shapes import outline
from dualpix.scenes.stack import Stack
from dualpix.scenes.textures import paint

FAR, NEAR = -1.0, 2.0  # px, disparities of the background and of the nearest layer
SHAPES = ("blob", "polygon", "ellipse", "box", "ring", "bar")
NEVER_SEEN = 4.0  # px: the disparity of the flying object, which no layer has


@dataclass(frozen=True)
class Clip:
    """What is filmed. The same numbers give the same frames.

    Attributes
    ----------
    scene
        Number of the scene.
    width, height, frames
        Of the clip.
    pan
        Motion of a layer in focus, px a frame to the left.
    flying
        Motion of an object of its own, px a frame to the right; 0 is without.
    approach
        How much nearer that object comes in every frame, px of disparity.
    pull
        How much nearer all layers come in every frame, px of disparity: the focus moves away from the camera.
    noise
        STD of the noise, of 255 levels.
    """

    scene: int = 0
    width: int = 640
    height: int = 480
    frames: int = 12
    pan: float = 1.7
    flying: float = 0.0
    approach: float = 0.0
    pull: float = 0.0
    noise: float = 2.0

    def motion(self, d: np.ndarray) -> np.ndarray:
        """How far a point of disparity d has moved along x since the frame before, px."""
        own = -self.pan * (1 + d / 8)
        return np.where(d > (NEAR + NEVER_SEEN) / 2, self.flying, own)


class Frame(NamedTuple):
    """Two views, and the disparity of the left one, px; NaN where it is unknown."""

    left: np.ndarray
    right: np.ndarray
    disparity: np.ndarray


class Sprite(NamedTuple):
    """A flat layer: its middle in the first frame, px, its motion, px a frame, and its look."""

    x: float
    y: int
    motion: float
    disparity: float
    cover: np.ndarray
    colour: np.ndarray


def film(clip: Clip) -> Iterator[Frame]:
    """Render the frames one after the other."""
    largest = (NEVER_SEEN if clip.flying else NEAR) + (abs(clip.pull) + abs(clip.approach)) * clip.frames
    field = Field(Pupil(), (clip.height, clip.width), largest)
    sprites = _sprites(clip)
    margin = field.margin
    travel = int(np.ceil(abs(clip.pan) * clip.frames)) + 2
    wide = _painted(clip.scene, 0, clip.height + 2 * margin, clip.width + 2 * margin + travel)
    for number in range(clip.frames):
        ground = _moved(wide, clip.motion(np.float32(FAR)) * number)[:, : clip.width + 2 * margin]
        nearer = clip.pull * number
        stack = Stack(ground, np.full(ground.shape[:2], FAR + nearer, np.float32))
        for sprite in sprites:
            own = clip.approach * number if sprite.disparity == NEVER_SEEN else 0.0
            _put(stack, sprite._replace(disparity=sprite.disparity + nearer + own), number, margin)
        surfaces = partial(stack.surfaces, reach=2 * margin, channels=slice(1, 2))
        sensor = Sensor(noise=clip.noise / 255, softness=0.6, seed=1000 * clip.scene + number)
        views = shoot(surfaces, field, sensor)
        left, right = (np.rint(255 * np.clip(view[..., 0], 0, 1)).astype(np.uint8) for view in views)
        yield Frame(left, right, stack.truth()[field.frame])


def cut(first: Clip, second: Clip) -> Iterator[Frame]:
    """One clip after the other."""
    yield from film(first)
    yield from film(second)


def _sprites(clip: Clip) -> list[Sprite]:
    rng = np.random.default_rng([77, clip.scene])
    things = draw(5, clip.scene, clip.width, clip.height).things * 3
    sprites = []
    for number, d in enumerate(np.linspace(FAR + 0.6, NEAR, 6)):
        thing = replace(things[number], shape=SHAPES[(number + clip.scene) % 6], turn=rng.uniform(0, 6))
        cover = outline(thing, rng.uniform(0.1, 0.22) * clip.height)
        colour = _painted(clip.scene, number + 1, *cover.shape)
        at = (number + rng.uniform(0.2, 0.8)) / 6 * clip.width, round(rng.uniform(0.2, 0.8) * clip.height)
        sprites.append(Sprite(*at, float(clip.motion(np.float32(d))), float(d), cover, colour))
    if clip.flying:
        cover = outline(replace(things[0], shape="ellipse", aspect=1.0), 0.14 * clip.height)
        at = 0.1 * clip.width, round(0.5 * clip.height)
        sprites.append(Sprite(*at, clip.flying, NEVER_SEEN, cover, _painted(clip.scene, 9, *cover.shape)))
    return sprites


def _painted(scene: int, number: int, height: int, width: int) -> np.ndarray:
    rng = np.random.default_rng([3, scene, number])
    kind = ("leaves", "fractal", "grain", "letters", "leaves", "fractal", "grain", "tiles", "leaves", "leaves")[number]
    colours = tuple((float(v), float(v), float(v)) for v in rng.uniform(0.1, 0.8, 5))
    texture = Texture(kind, int(rng.integers(2**31)), 25.0, 2.6 if kind == "leaves" else 1.2, 0.7, 0.8, colours)
    return np.clip(paint(texture, height, width), 0, 1)


def _put(stack: Stack, sprite: Sprite, number: int, margin: int) -> None:
    """Draw a sprite where it is in a frame; whole pixels by its place, the rest by interpolation."""
    x = sprite.x + sprite.motion * number
    whole = int(np.floor(x))
    cover, colour = (
        _moved(np.pad(each, [(1, 1), (2, 2), (0, 0)][: each.ndim], mode), x - whole)
        for each, mode in ((sprite.cover, "constant"), (sprite.colour, "edge"))
    )
    rows, columns = cover.shape
    top, left = sprite.y + margin - rows // 2, whole + margin - columns // 2
    height, width = stack.disparity.shape
    y0, y1, x0, x1 = max(top, 0), min(top + rows, height), max(left, 0), min(left + columns, width)
    if y0 >= y1 or x0 >= x1:
        return
    inside = slice(y0 - top, y1 - top), slice(x0 - left, x1 - left)
    box = slice(y0, y1), slice(x0, x1)
    d = np.full(cover[inside].shape, sprite.disparity, np.float32)
    stack.put(box, colour[inside], d, np.clip(cover[inside], 0, 1))


def _moved(picture: np.ndarray, x: float) -> np.ndarray:
    """The picture, moved by x px to the right."""
    import cv2

    matrix = np.array([[1, 0, x], [0, 1, 0]], np.float64)
    height, width = picture.shape[:2]
    return cv2.warpAffine(picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
