"""Looks of surfaces: patterns drawn from a seed, in linear RGB."""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_letters, digits

import numpy as np
import numpy.typing as npt

from ..camera.layers import Array
from .recipe import Texture

FONTS = 8  # OpenCV's Hershey fonts have the numbers 0 to 7
EVEN = "even"  # of which nothing can be matched; no scene that is drawn has it
COVERED = 2.0  # times: leaves are dropped until their areas together exceed the picture's this much


def paint(texture: Texture, height: int, width: int) -> Array:
    """Return the look of a surface, (height, width, 3), linear light, 0 to 1."""
    rng = np.random.default_rng(texture.seed)
    picture = PATTERNS[texture.kind](texture, rng, height, width)
    if texture.kind == EVEN:  # as it is
        return picture
    uneven = np.exp(0.05 * fractal(rng, height, width, 1.2))  # no real surface is uniform
    mean = picture.mean((0, 1), keepdims=True)
    return np.asarray((mean + texture.contrast * (picture - mean)) * uneven[..., None], np.float32)


def fractal(
    rng: np.random.Generator, height: int, width: int, exponent: float, stretch: float = 1.0, turn: float = 0.0
) -> Array:
    """Return noise with mean 0 and STD 1 whose amplitude falls as ``1 / frequency ** exponent``.

    It is stretched by a factor in the direction `turn`.
    """
    rows, columns = (int(2 ** np.ceil(np.log2(max(n, 16)))) for n in (height, width))
    fy, fx = np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)
    along, across = fx * np.cos(turn) + fy * np.sin(turn), fy * np.cos(turn) - fx * np.sin(turn)
    frequency = np.hypot(along * stretch, across)
    frequency[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.standard_normal((rows, columns))) / frequency**exponent
    noise = np.fft.irfft2(spectrum, (rows, columns))[:height, :width]
    return np.asarray((noise - noise.mean()) / max(float(noise.std()), 1e-9), np.float32)


# ---- the patterns ----------------------------------------------------------------------------------------


def _leaves(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    """Ellipses and boxes of all sizes, each over those before it."""
    import cv2

    canvas = np.full((height, width, 3), _code(texture.colours[0]), np.uint8)
    colours = np.sqrt(np.array(texture.colours))
    largest, smallest, area = texture.scale, rng.uniform(1.5, 4), 0.0
    power = 1 - texture.exponent
    while area < COVERED * height * width:
        n = 500
        radius = (smallest**power + rng.random(n) * (largest**power - smallest**power)) ** (1 / power)
        place = rng.random((n, 2)) * (width, height)
        aspect, turn, boxes = rng.uniform(0.4, 1, n), rng.uniform(0, 180, n), rng.random(n) < 0.3
        shade = colours[rng.integers(len(colours), size=n)] * rng.uniform(0.75, 1.25, (n, 1))
        for i in range(n):
            size = (2 * radius[i], 2 * radius[i] * aspect[i])
            colour = tuple(float(c) for c in np.clip(255 * shade[i], 0, 255))
            if boxes[i]:
                corners = cv2.boxPoints(((place[i][0], place[i][1]), size, turn[i]))
                cv2.fillConvexPoly(canvas, np.rint(16 * corners).astype(np.int32), colour, cv2.LINE_AA, 4)
            else:
                centre, axes = np.rint(16 * place[i]).astype(int), np.rint(8 * np.array(size)).astype(int)
                cv2.ellipse(canvas, centre.tolist(), axes.tolist(), turn[i], 0, 360, colour, -1, cv2.LINE_AA, 4)
        area += float((3 * radius**2 * aspect).sum())
    return _decoded(canvas)


def _fractal(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    return _mapped(fractal(rng, height, width, texture.exponent), texture)


def _grain(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    """Wood, cloth or brushed metal: noise that is stretched in one direction."""
    return _mapped(fractal(rng, height, width, texture.exponent, rng.uniform(4, 12), texture.turn), texture)


def _stripes(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    along, _ = _turned(texture.turn, height, width)
    wobble = texture.scale * 0.1 * rng.random() * fractal(rng, height, width, 2)
    return _blended(_edge(along + wobble, texture.scale, rng.uniform(0.2, 0.8)), texture)


def _tiles(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    """Checks, or tiles with joints, each a little different."""
    along, across = _turned(texture.turn, height, width)
    size = texture.scale
    if rng.random() < 0.4:
        part = np.abs(_edge(along, 2 * size, 0.5) - _edge(across, 2 * size, 0.5))
    else:
        across = across + size * (np.floor(along / size) % 2) / 2
        duty = rng.uniform(0.85, 0.95)
        part = _edge(along, size, duty) * _edge(across, size, duty)
    number = np.floor(along / size) * 7919 + np.floor(across / size) * 104729
    each = 0.85 + 0.15 * np.sin(number * 12.9898)
    return np.asarray(_blended(part, texture) * each[..., None], np.float32)


def _letters(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    """Printed lines of letters and figures."""
    import cv2

    size = int(np.hypot(height, width)) + 2
    ink = np.zeros((size, size), np.uint8)
    y = 0.0
    while y < size:
        line = float(np.clip(texture.scale * rng.uniform(0.3, 0.8), 7, 60))
        text = "".join(rng.choice(list(ascii_letters + digits + "     .,-"), int(3 * size / line)))
        thick = max(1, round(line / rng.uniform(8, 16)))
        y += line * rng.uniform(1.2, 2)
        start = int(rng.uniform(-2, 4) * line), int(y)
        if rng.random() < 0.85:
            cv2.putText(ink, text, start, int(rng.integers(FONTS)), line / 25, 255, thick, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((size / 2, size / 2), np.degrees(texture.turn), 1)
    moved = turn - np.array([(0, 0, (size - width) / 2), (0, 0, (size - height) / 2)])
    turned = cv2.warpAffine(ink, moved, (width, height), flags=cv2.INTER_LINEAR)
    return _blended(np.asarray(1 - turned / 255, np.float32), texture)


def _blank(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    """One colour with a faint and smooth change."""
    return _blended(0.5 + 0.05 * fractal(rng, height, width, 2.5), texture)


def _even(texture: Texture, rng: np.random.Generator, height: int, width: int) -> Array:
    """One colour and nothing else."""
    return np.full((height, width, 3), texture.colours[0], np.float32)


PATTERNS: dict[str, Callable[[Texture, np.random.Generator, int, int], Array]] = {
    "leaves": _leaves,
    "fractal": _fractal,
    "grain": _grain,
    "stripes": _stripes,
    "tiles": _tiles,
    "letters": _letters,
    "blank": _blank,
    EVEN: _even,
}


# ---- helpers ---------------------------------------------------------------------------------------------


def _turned(turn: float, height: int, width: int) -> tuple[Array, Array]:
    """Coordinates along and across a direction, in pixels."""
    y, x = np.indices((height, width), np.float32)
    along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    return along.astype(np.float32), across.astype(np.float32)


def _edge(position: Array, period: float, duty: float) -> Array:
    """1 in the first part `duty` of every period, else 0, with ramps of a pixel."""
    phase = position / period - np.floor(position / period)
    ramp = np.minimum(np.minimum(phase, np.abs(phase - duty)), 1 - phase) * period
    return np.asarray(np.where(phase < duty, 0.5 + np.minimum(ramp, 0.5), 0.5 - np.minimum(ramp, 0.5)), np.float32)


def _blended(part: Array, texture: Texture) -> Array:
    """From the darkest colour at 0 to the brightest at 1."""
    colours = np.array(sorted(texture.colours, key=sum), np.float32)
    return np.asarray(colours[0] + part[..., None] * (colours[-1] - colours[0]), np.float32)


def _mapped(noise: Array, texture: Texture) -> Array:
    """Noise as a run through all colours."""
    colours = np.array(texture.colours, np.float32)
    place = np.clip(0.5 + noise / 4, 0, 1) * (len(colours) - 1)
    return np.stack([np.interp(place, np.arange(len(colours)), c) for c in colours.T], 2).astype(np.float32)


def _code(colour: tuple[float, float, float]) -> npt.NDArray[np.uint8]:
    return np.asarray(np.rint(255 * np.sqrt(np.array(colour))), np.uint8)


def _decoded(canvas: npt.NDArray[np.uint8]) -> Array:
    """OpenCV draws with 8 bits only, so the canvas holds square roots of the light."""
    return np.asarray((canvas.astype(np.float32) / 255) ** 2, np.float32)
