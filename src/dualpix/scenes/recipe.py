"""The random choices of a scene. They are all made here, before anything is drawn, and go to JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from ..camera.optics import Optics, Pupil

Rng = np.random.Generator
Colour = tuple[float, float, float]

SURFACES = {  # kind of texture: how often
    "leaves": 0.26,
    "fractal": 0.2,
    "grain": 0.12,
    "stripes": 0.08,
    "tiles": 0.08,
    "letters": 0.14,
    "blank": 0.1,
}
GROUNDS = {"plane": 0.3, "curved": 0.25, "floor": 0.3, "corner": 0.15}
SHAPES = {
    "ellipse": 0.1,
    "sphere": 0.14,
    "blob": 0.14,
    "polygon": 0.14,
    "box": 0.2,
    "ring": 0.08,
    "bar": 0.08,
    "branch": 0.06,
    "bush": 0.06,
}


@dataclass(frozen=True)
class Texture:
    """The look of a surface.

    Attributes
    ----------
    kind
        One of `SURFACES`.
    seed
        Of everything random in the pattern.
    scale
        Size of its largest details, in pixels.
    exponent
        Leaves: how fast the number of leaves falls with their size. Fractal and grain: how fast the amplitude falls
        with the frequency. Else unused.
    turn
        Direction, in radians.
    contrast
        1 for the colours as they are, 0 for their mean.
    colours
        Linear RGB, 0 to 1.
    """

    kind: str
    seed: int
    scale: float
    exponent: float
    turn: float
    contrast: float
    colours: tuple[Colour, ...]


@dataclass(frozen=True)
class Ground:
    """The background: its depth over the picture, 0 far to 1 near, and its look."""

    kind: str
    depth: float
    slope_x: float
    slope_y: float
    bend: float
    texture: Texture
    second: Texture


@dataclass(frozen=True)
class Thing:
    """An object before the background.

    Attributes
    ----------
    shape
        One of `SHAPES`.
    seed
        Of everything random in its outline.
    x, y
        Its centre, as shares of width and height.
    size
        Half its extent, as a share of the picture's height.
    aspect, turn
        Its height over its width, before it is turned by `turn` radians.
    depth
        Of its centre, 0 far to 1 near.
    slope_x, slope_y
        How much the depth changes from the centre to the outline.
    bulge
        How much nearer its centre is than its outline, as a spheroid.
    shadow
        How dark its shadow on the surfaces behind it is, 0 to 1.
    """

    shape: str
    seed: int
    x: float
    y: float
    size: float
    aspect: float
    turn: float
    depth: float
    slope_x: float
    slope_y: float
    bulge: float
    shadow: float
    texture: Texture


@dataclass(frozen=True)
class Light:
    """Shading over the whole picture: its strength (in powers of e), its seed, and dark parts."""

    seed: int
    strength: float
    direction: float
    dark_parts: int
    darkness: float


@dataclass(frozen=True)
class Camera:
    """Exposure and sensor.

    Attributes
    ----------
    exposure
        Brightness of the scene's 95th percentile, where white is 1.
    noise, shot_noise, vignetting
        As those of `dualpix.simulate`, in linear light.
    gamma
        The stored value is ``light ** (1 / gamma)``.
    bits
        8 or 16.
    grey
        Whether one channel is stored instead of three.
    softness
        STD in pixels of a Gaussian blur of the sharp scene: lens and demosaicing.
    """

    exposure: float
    noise: float
    shot_noise: float
    vignetting: float
    gamma: float
    bits: int
    grey: bool
    softness: float
    seed: int


@dataclass(frozen=True)
class Recipe:
    """All choices of a scene.

    Attributes
    ----------
    seed, number
        What it was drawn from.
    width, height
        Of the views, in pixels.
    far, near
        The disparities of depth 0 and depth 1, in pixels.
    """

    seed: int
    number: int
    width: int
    height: int
    far: float
    near: float
    ground: Ground
    things: tuple[Thing, ...]
    light: Light
    camera: Camera
    optics: Optics

    def record(self) -> dict[str, Any]:
        """Return the choices for a JSON file."""
        return {name: _plain(value) for name, value in vars(self).items()}


def draw(seed: int, number: int, width: int, height: int, optics: Optics | None = None) -> Recipe:
    """Choose a scene at random. It depends on the arguments only.

    Parameters
    ----------
    seed, number
        Scene `number` of the set that this seed gives.
    width, height
        Of the views, in pixels.
    optics
        Those of the camera; without, a random `Pupil`.
    """
    rng = np.random.default_rng([seed, number])
    pupil = Pupil(_round(rng.uniform(0, 1.2)), _round(rng.uniform(0, 0.35)), _round(max(rng.uniform(-0.2, 0.4), 0)))
    extent = float(np.exp(rng.uniform(np.log(1), np.log(8))))
    # The focus lies inside the range, or not far from it.
    far = -extent * rng.uniform(-0.2, 1.2)
    return Recipe(
        seed,
        number,
        width,
        height,
        _round(far),
        _round(far + extent),
        _ground(rng, height),
        _things(rng, height),
        Light(_seed(rng), _round(rng.uniform(0.1, 0.6)), _angle(rng), int(rng.choice(3, p=[0.5, 0.3, 0.2])),
              _round(rng.uniform(0.7, 0.97))),
        _camera(rng),
        optics or pupil,
    )  # fmt: skip


def _ground(rng: Rng, height: int) -> Ground:
    kind, first, second = _pick(rng, GROUNDS), _texture(rng, height), _texture(rng, height)
    return Ground(
        "plane" if first.kind == "blank" and kind == "curved" else kind,  # no method sees the shape of a blank wall
        _round(rng.uniform(0, 0.3)),
        _round(rng.normal(0, 0.2)),
        _round(rng.normal(0, 0.2)),
        _round(rng.uniform(-0.5, 0.5)),
        first,
        second,
    )


def _things(rng: Rng, height: int) -> tuple[Thing, ...]:
    count = int(rng.integers(4, 25))
    return tuple(_thing(rng, height) for _ in range(count))


def _thing(rng: Rng, height: int) -> Thing:
    shape = _pick(rng, SHAPES)
    size = float(np.exp(rng.uniform(np.log(0.05), np.log(0.35))))
    if shape in ("bar", "branch", "bush"):
        size *= 1.8
    round_shape = shape in ("sphere", "blob", "ring")
    return Thing(
        shape,
        _seed(rng),
        _round(rng.uniform(0, 1)),
        _round(rng.uniform(0.05, 1)),
        _round(size),
        _round(rng.uniform(0.5, 1.6)),
        _angle(rng),
        _round(rng.uniform(0.15, 0.95)),
        _round(rng.normal(0, 0.12)),
        _round(rng.normal(0, 0.12)),
        _round(rng.uniform(0.05, 0.4)) if shape == "sphere" or (round_shape and rng.random() < 0.5) else 0.0,
        _round(rng.uniform(0, 0.6)),
        _texture(rng, height),
    )


def _texture(rng: Rng, height: int) -> Texture:
    kind = _pick(rng, SURFACES)
    exponent = rng.uniform(2.2, 3.2) if kind == "leaves" else rng.uniform(0.7, 1.7)
    scale = height / 448 * np.exp(rng.uniform(np.log(8), np.log(90)))
    return Texture(
        kind,
        _seed(rng),
        _round(scale),
        _round(exponent),
        _angle(rng),
        _round(rng.uniform(0.25, 1)),
        _colours(rng, int(rng.integers(2, 7))),
    )


def _colours(rng: Rng, count: int) -> tuple[Colour, ...]:
    """Related hues, muted or strong, of all brightnesses."""
    hue, saturation = rng.uniform(0, 1), rng.beta(1.3, 1.6)
    colours = []
    for _ in range(count):
        value = np.exp(rng.uniform(np.log(0.05), np.log(0.9)))
        share = np.clip(saturation * rng.uniform(0.4, 1.4), 0, 1)
        phase = 2 * pi * (hue + rng.normal(0, 0.08) + np.arange(3) / 3)
        rgb = value * (1 - share + share * (1 + np.cos(phase)) / 2)
        colours.append((_round(rgb[0]), _round(rgb[1]), _round(rgb[2])))
    return tuple(colours)


def _camera(rng: Rng) -> Camera:
    noise = float(np.exp(rng.uniform(np.log(2e-4), np.log(6e-3))))
    shot = float(np.exp(rng.uniform(np.log(2e-6), np.log(4e-4))))
    return Camera(
        _round(rng.uniform(0.25, 1.0)),
        float(f"{noise:.3g}"),
        float(f"{shot:.3g}"),
        _round(max(rng.uniform(-0.2, 0.25), 0)),
        1.0 if rng.random() < 0.15 else _round(rng.uniform(1.8, 2.4)),
        int(rng.choice([8, 16])),
        bool(rng.random() < 0.15),
        _round(rng.uniform(0.3, 0.8)),
        _seed(rng),
    )


def _pick(rng: Rng, kinds: dict[str, float]) -> str:
    shares = np.array(list(kinds.values()))
    return str(rng.choice(list(kinds), p=shares / shares.sum()))


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**32))


def _angle(rng: Rng) -> float:
    return _round(rng.uniform(0, 2 * pi))


def _round(value: Any) -> float:
    return round(float(value), 4)


def _plain(value: Any) -> Any:
    if hasattr(value, "record"):
        return value.record()
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(part) for name, part in vars(value).items()}
    return [_plain(part) for part in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
