"""The random choices of a scene. They are all made here, before anything is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from math import log, pi

import numpy as np

from ..camera.optics import Optics, Pupil
from .recipe import Camera, Colour, Ground, Light, Recipe, Texture, Thing

Rng = np.random.Generator

TEXTURES = {  # how often
    "leaves": 0.26,
    "fractal": 0.2,
    "letters": 0.14,
    "grain": 0.12,
    "blank": 0.1,
    "stripes": 0.08,
    "tiles": 0.08,
}
GROUNDS = {"plane": 0.3, "floor": 0.3, "curved": 0.25, "corner": 0.15}
SHAPES = {
    "box": 0.2,
    "sphere": 0.14,
    "blob": 0.14,
    "polygon": 0.14,
    "ellipse": 0.1,
    "ring": 0.08,
    "bar": 0.08,
    "branch": 0.06,
    "bush": 0.06,
}
SPARSE = ("bar", "branch", "bush")  # shapes that cover little of their extent, and so are made larger


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
    pupil = Pupil(
        split=_between(rng, 0, 1.2), overlap=_between(rng, 0, 0.35), cat_eye=max(_between(rng, -0.2, 0.4), 0.0)
    )
    extent = _log_between(rng, 1, 8)
    far = _round(-extent * rng.uniform(-0.2, 1.2))  # the focus lies inside the range, or not far from it
    return Recipe(
        seed=seed,
        number=number,
        width=width,
        height=height,
        far=far,
        near=_round(far + extent),
        ground=_ground(rng, height),
        things=tuple(_thing(rng, height) for _ in range(rng.integers(4, 25))),
        light=_light(rng),
        camera=_camera(rng),
        optics=optics or pupil,
    )


def _ground(rng: Rng, height: int) -> Ground:
    kind, texture, second = _pick(rng, GROUNDS), _texture(rng, height), _texture(rng, height)
    if kind == "curved" and texture.kind == "blank":
        kind = "plane"  # nobody could see the shape
    return Ground(
        kind=kind,
        depth=_between(rng, 0, 0.3),
        slope_x=_around_zero(rng, 0.2),
        slope_y=_around_zero(rng, 0.2),
        bend=_between(rng, -0.5, 0.5),
        texture=texture,
        second=second,
    )


def _thing(rng: Rng, height: int) -> Thing:
    shape = _pick(rng, SHAPES)
    bulges = shape == "sphere" or (shape in ("blob", "ring") and rng.random() < 0.5)
    return Thing(
        shape=shape,
        seed=_seed(rng),
        x=_between(rng, 0, 1),
        y=_between(rng, 0.05, 1),
        size=_round(_log_between(rng, 0.05, 0.35) * (1.8 if shape in SPARSE else 1)),
        aspect=_between(rng, 0.5, 1.6),
        turn=_angle(rng),
        depth=_between(rng, 0.15, 0.95),
        slope_x=_around_zero(rng, 0.12),
        slope_y=_around_zero(rng, 0.12),
        bulge=_between(rng, 0.05, 0.4) if bulges else 0.0,
        shadow=_between(rng, 0, 0.6),
        texture=_texture(rng, height),
    )


def _texture(rng: Rng, height: int) -> Texture:
    kind = _pick(rng, TEXTURES)
    return Texture(
        kind=kind,
        seed=_seed(rng),
        scale=_round(height / 448 * _log_between(rng, 8, 90)),
        exponent=_between(rng, 2.2, 3.2) if kind == "leaves" else _between(rng, 0.7, 1.7),
        turn=_angle(rng),
        contrast=_between(rng, 0.25, 1),
        colours=_colours(rng, int(rng.integers(2, 7))),
    )


def _colours(rng: Rng, count: int) -> tuple[Colour, ...]:
    """Related hues, muted or strong, of all brightnesses."""
    hue, saturation = rng.uniform(0, 1), rng.beta(1.3, 1.6)
    colours = []
    for _ in range(count):
        value = _log_between(rng, 0.05, 0.9)
        share = np.clip(saturation * rng.uniform(0.4, 1.4), 0, 1)
        phase = 2 * pi * (hue + rng.normal(0, 0.08) + np.arange(3) / 3)
        red, green, blue = value * (1 - share + share * (1 + np.cos(phase)) / 2)
        colours.append((_round(red), _round(green), _round(blue)))
    return tuple(colours)


def _light(rng: Rng) -> Light:
    return Light(
        seed=_seed(rng),
        strength=_between(rng, 0.1, 0.6),
        direction=_angle(rng),
        dark_parts=int(rng.choice(3, p=[0.5, 0.3, 0.2])),
        darkness=_between(rng, 0.7, 0.97),
        highlights=int(rng.integers(3, 20)) if rng.random() < 0.3 else 0,
    )


def _camera(rng: Rng) -> Camera:
    linear = rng.random() < 0.12  # as raw files are
    return Camera(
        exposure=_between(rng, 0.25, 1),
        noise=float(f"{_log_between(rng, 2e-4, 6e-3):.3g}"),
        shot_noise=float(f"{_log_between(rng, 2e-6, 4e-4):.3g}"),
        vignetting=max(_between(rng, -0.2, 0.25), 0.0),
        gamma=1.0 if linear else _between(rng, 1.8, 2.4),
        bits=16 if linear or rng.random() < 0.5 else 8,
        grey=bool(rng.random() < 0.15),
        softness=_between(rng, 0.3, 0.8),
        seed=_seed(rng),
    )


# ---- draws; numbers are rounded, so that their JSON is short and exact -----------------------------------


def _pick(rng: Rng, kinds: Mapping[str, float]) -> str:
    shares = np.array(list(kinds.values()))
    return str(rng.choice(list(kinds), p=shares / shares.sum()))


def _between(rng: Rng, low: float, high: float) -> float:
    return _round(rng.uniform(low, high))


def _log_between(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(log(low), log(high))))


def _around_zero(rng: Rng, deviation: float) -> float:
    return _round(rng.normal(0, deviation))


def _angle(rng: Rng) -> float:
    return _between(rng, 0, 2 * pi)


def _seed(rng: Rng) -> int:
    return int(rng.integers(2**32))


def _round(value: float) -> float:
    return round(float(value), 4)
