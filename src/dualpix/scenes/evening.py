"""A scene that is drawn by hand, to play with: things on a table in the evening, lights behind them."""

from __future__ import annotations

from math import pi

import numpy as np

from ..camera.optics import Pupil
from .recipe import Camera, Colour, Ground, Light, Recipe, Texture, Thing

SIZE = 720, 480
FAR, NEAR = -2.4, 2.4  # px of disparity
LIGHTS = 26


def evening() -> Recipe:
    """The scene."""
    wall = _look("fractal", (0.003, 0.005, 0.016), (0.012, 0.018, 0.045), (0.03, 0.025, 0.04), seed=3)
    table = _look("grain", (0.06, 0.03, 0.015), (0.16, 0.085, 0.04), (0.3, 0.17, 0.085), turn=1.25, seed=5)
    return Recipe(
        seed=0,
        number=0,
        width=SIZE[0],
        height=SIZE[1],
        far=FAR,
        near=NEAR,
        ground=Ground("floor", 0.0, 0.0, 0.0, 0.45, wall, table),
        things=(*_lights(), *_things()),
        light=Light(seed=1, strength=0.1, direction=pi / 2, dark_parts=0, darkness=0.0, highlights=0),
        camera=Camera(0.9, 0.002, 2e-5, 0.1, 2.2, 8, False, 0.6, seed=0),
        optics=Pupil(),
    )


def _things() -> list[Thing]:
    """What lies on the table, far things first."""
    orange = _look("leaves", (0.5, 0.1, 0.05), (0.7, 0.3, 0.08), seed=7)
    paper = _look("letters", (0.03, 0.03, 0.04), (0.85, 0.8, 0.7), scale=22, turn=0.12, seed=4)
    bricks = _look("tiles", (0.05, 0.3, 0.4), (0.3, 0.7, 0.75), scale=24)
    stripes = _look("stripes", (0.8, 0.75, 0.6), (0.5, 0.05, 0.07), scale=26)
    brass = _look("grain", (0.5, 0.35, 0.08), (0.9, 0.7, 0.25), seed=2)
    green = _look("leaves", (0.1, 0.25, 0.08), (0.5, 0.6, 0.15), seed=6)
    label = _look("letters", (0.6, 0.5, 0.15), (0.02, 0.1, 0.09), scale=30, seed=9)
    return [
        _thing("ellipse", 0.30, 0.47, 0.17, 0.28, orange, bulge=0.1),
        _thing("box", 0.52, 0.52, 0.20, 0.30, paper, slope_x=0.06),
        _thing("ellipse", 0.73, 0.60, 0.17, 0.30, bricks, bulge=0.12),
        _thing("ellipse", 0.36, 0.72, 0.16, 0.40, stripes, bulge=0.14),
        _thing("ring", 0.58, 0.80, 0.13, 0.45, brass),
        _thing("ellipse", 0.88, 0.92, 0.19, 0.55, green, bulge=0.12),
        _thing("blob", 0.08, 0.78, 0.24, 0.62, label),
    ]


def _lights() -> list[Thing]:
    """Small lamps on the wall, brighter than white: out of focus they are discs."""
    rng = np.random.default_rng(8)
    colours: list[Colour] = [(2.6, 1.3, 0.4), (2.6, 0.8, 0.25), (0.9, 1.3, 2.4), (2.4, 1.9, 1.1)]
    return [
        _thing("ellipse", rng.uniform(0, 1), rng.uniform(0, 0.38), rng.uniform(0.006, 0.010), 0.03,
               _look("blank", colours[rng.integers(4)]), shadow=0.0)
        for _ in range(LIGHTS)
    ]  # fmt: skip


def _thing(
    shape: str, x: float, y: float, size: float, depth: float, texture: Texture, *,
    bulge: float = 0.0, slope_x: float = 0.0, shadow: float = 0.5,
) -> Thing:  # fmt: skip
    return Thing(shape, 1, x, y, size, 1.0, 0.0, depth, slope_x, 0.0, bulge, shadow, texture)


def _look(kind: str, *colours: Colour, scale: float = 40, turn: float = 0.0, seed: int = 0) -> Texture:
    return Texture(kind, seed, scale, 1.2 if kind in ("fractal", "grain") else 3.0, turn, 1.0, colours)
