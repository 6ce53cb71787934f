"""What a scene is: its background, its objects, its light and its camera. All of it goes to JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..camera.optics import Optics

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Texture:
    """The look of a surface.

    Attributes
    ----------
    kind
        One of `textures.PATTERNS`.
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
    """The background.

    Attributes
    ----------
    kind
        plane, curved, floor (with a wall behind it) or corner (of two walls).
    depth
        In the middle of the picture, 0 far to 1 near.
    slope_x, slope_y
        How much the depth changes over the width and over the height.
    bend
        How much a curved one is curved, or where the fold of a floor or corner is.
    texture, second
        The look, and that of the other side of a fold.
    """

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
        One of `shapes.DRAWN`.
    seed
        Of everything random in its outline.
    x, y
        Its centre, as shares of width and height.
    size
        Half its extent, as a share of the picture's height.
    aspect, turn
        Its height over its width, before it is turned by `turn` radians.
    depth
        Of its centre: 0 at the background behind it, 1 at the nearest depth of the scene.
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
    """Light over the whole picture.

    Attributes
    ----------
    seed
        Of everything random in it.
    strength, direction
        How much the shading varies, in powers of e, and the direction in which it falls, in radians.
    dark_parts, darkness
        Number of dark parts, and the share of the light that they lose.
    highlights
        Number of small bright points.
    """

    seed: int
    strength: float
    direction: float
    dark_parts: int
    darkness: float
    highlights: int


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


def _plain(value: Any) -> Any:
    if hasattr(value, "record"):
        return value.record()
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(part) for name, part in vars(value).items()}
    return [_plain(part) for part in value] if isinstance(value, Sequence) and not isinstance(value, str) else value
