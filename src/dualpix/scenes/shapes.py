"""Outlines of objects: how much of each pixel they cover."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, pi

import numpy as np
import numpy.typing as npt

from ..camera.layers import Array
from .recipe import Thing

Points = npt.NDArray[np.float64]

FINE = 4  # the outline is drawn at this many times the size, then averaged
BITS = 4  # fractional bits of the coordinates that OpenCV draws


def outline(thing: Thing, radius: float) -> Array:
    """Return the cover of an object, 0 to 1, in a square around its centre.

    Parameters
    ----------
    thing
        Its shape, aspect and turn.
    radius
        Half its extent, in pixels.

    Returns
    -------
    (2N + 1, 2N + 1) array
        The centre of the object is in its middle.
    """
    side = 2 * (ceil(1.1 * radius) + 2) + 1
    canvas = np.zeros((FINE * side, FINE * side), np.uint8)
    rng = np.random.default_rng(thing.seed)
    for points, value in DRAWN[thing.shape](rng):
        _fill(canvas, thing, FINE * radius, points, value)
    return np.asarray(canvas.reshape(side, FINE, side, FINE).mean((1, 3)), np.float32)


def own_axes(thing: Thing, u: Array, v: Array) -> tuple[Array, Array]:
    """Turn places from the object's centre into its own axes, where it reaches from -1 to 1."""
    wide, tall = _proportions(thing)
    cos, sin = np.cos(thing.turn), np.sin(thing.turn)
    return (u * cos + v * sin) / wide, (v * cos - u * sin) / tall


Drawing = list[tuple[Points, int]]  # polygons in units of the radius, and their values: 1, or 0 for a hole


def _ellipse(rng: np.random.Generator) -> Drawing:
    return [(_circle(1), 1)]


def _blob(rng: np.random.Generator) -> Drawing:
    """A smooth outline: a circle with a few waves on it."""
    angle = np.linspace(0, 2 * pi, 128, endpoint=False)
    radius = np.ones(128)
    for n in range(2, 7):
        radius += rng.normal(0, 0.25 / n) * np.cos(n * angle + rng.uniform(0, 2 * pi))
    radius /= radius.max()
    return [(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1), 1)]


def _polygon(rng: np.random.Generator) -> Drawing:
    angle = np.sort(rng.uniform(0, 2 * pi, int(rng.integers(4, 10))))
    radius = rng.uniform(0.45, 1, angle.size)
    return [(np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1), 1)]


def _box(rng: np.random.Generator) -> Drawing:
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * 0.75
    return [(corners + rng.normal(0, 0.06, (4, 2)), 1)]


def _ring(rng: np.random.Generator) -> Drawing:
    return [(_circle(1), 1), (_circle(rng.uniform(0.5, 0.8)), 0)]


def _bar(rng: np.random.Generator) -> Drawing:
    """One to five thin bars side by side."""
    width = rng.uniform(0.01, 0.05)
    gap = width * rng.uniform(2, 8)
    count = int(rng.integers(1, 6))
    places = (np.arange(count) - (count - 1) / 2) * (2 * width + gap)
    return [(_segment((-1, y), (1, y), width, width), 1) for y in places]


def _branch(rng: np.random.Generator) -> Drawing:
    """A twig that forks a few times and gets thinner."""
    drawing: Drawing = []
    tips = [(np.array([-1.0, 0.0]), 0.0, rng.uniform(0.03, 0.07))]
    for _ in range(5):
        grown = []
        for start, angle, width in tips:
            for _ in range(1 if rng.random() < 0.4 else 2):
                way = angle + rng.normal(0, 0.4)
                end = start + rng.uniform(0.25, 0.5) * np.array([np.cos(way), np.sin(way)])
                drawing.append((_segment(start, end, width, 0.75 * width), 1))
                grown.append((end, way, 0.75 * width))
        tips = grown[:8]
    return drawing


def _bush(rng: np.random.Generator) -> Drawing:
    """Many small leaves."""
    drawing: Drawing = []
    for _ in range(int(rng.integers(15, 50))):
        size, angle = rng.uniform(0.06, 0.18), rng.uniform(0, 2 * pi)
        leaf = _circle(size) * (1, rng.uniform(0.3, 0.6))
        turn = np.array([(np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))])
        drawing.append((leaf @ turn + rng.normal(0, 0.35, 2), 1))
    return drawing


DRAWN: dict[str, Callable[[np.random.Generator], Drawing]] = {
    "ellipse": _ellipse,
    "sphere": _ellipse,
    "blob": _blob,
    "polygon": _polygon,
    "box": _box,
    "ring": _ring,
    "bar": _bar,
    "branch": _branch,
    "bush": _bush,
}


def _circle(radius: float) -> Points:
    angle = np.linspace(0, 2 * pi, 128, endpoint=False)
    return radius * np.stack([np.cos(angle), np.sin(angle)], 1)


def _segment(start: npt.ArrayLike, end: npt.ArrayLike, first: float, last: float) -> Points:
    """A line with a width at its start and one at its end."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    way = (end - start) / max(float(np.hypot(*(end - start))), 1e-9)
    side = np.array([-way[1], way[0]])
    return np.stack([start + first * side, end + last * side, end - last * side, start - first * side])


def _fill(canvas: npt.NDArray[np.uint8], thing: Thing, radius: float, points: Points, value: int) -> None:
    """Draw a polygon in place, with the object's aspect and turn."""
    import cv2

    cos, sin = np.cos(thing.turn), np.sin(thing.turn)
    placed = radius * (points * _proportions(thing)) @ np.array([(cos, sin), (-sin, cos)]) + (len(canvas) - 1) / 2
    fixed = np.rint(placed * 2**BITS).astype(np.int32)
    cv2.fillPoly(canvas, [fixed], value, cv2.LINE_8, BITS)


def _proportions(thing: Thing) -> tuple[float, float]:
    """Width and height; the larger one is 1."""
    return min(1 / thing.aspect, 1), min(thing.aspect, 1)
