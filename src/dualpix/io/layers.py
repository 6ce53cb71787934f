"""What a map file may hold: the map, its unit, and the photo and confidence that belong to it."""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError, ParameterError
from ..types import Image, Map, full_scale, same_size
from .srgb import linear

PIXELS, METRES, RELATIVE = "px", "m", "relative"  # units of a map
UNITS = (PIXELS, METRES, RELATIVE)

FARTHEST = 4.0  # times as far as the nearest point: where the far end of a map without metres is put
FOV = 45.0  # degrees, if the angle of view is not known

Colours = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Origin:
    """What a new version of a photo keeps: its colour profile (ICC) and its EXIF data, without thumbnail and turn."""

    profile: bytes = b""
    exif: bytes = b""


@dataclass(frozen=True, eq=False)
class Layers:
    """A map and what belongs to it.

    Attributes
    ----------
    values : float32 map
        NaN where invalid.
    unit : "px", "m" or "relative"
        Disparities in px (larger is nearer), depth in metres (inf is too far to tell), or inverse depth up to an
        unknown scale and offset (larger is nearer).
    photo : image or None
        The picture of the map, upright, of the same size.
    confidence : float32 map or None
        0 to 1.
    fov : float or None
        Angle of view of the longer side of the picture, degrees.
    lens_to_sensor : float
        What metres from the lens lack, m; 0 if the map is measured from the lens.
    origin : Origin
        What a new version of the photo keeps of its file.
    """

    values: Map
    unit: str = PIXELS
    photo: Image | None = None
    confidence: Map | None = None
    fov: float | None = None
    lens_to_sensor: float = 0.0
    origin: Origin = field(default_factory=Origin)

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ParameterError(f"unit must be one of {', '.join(UNITS)}, not {self.unit!r}")
        if self.fov is not None and not 0 < self.fov < 180:
            raise ParameterError(f"fov must be an angle between 0 and 180 degrees, not {self.fov:g}")
        for name in ("photo", "confidence"):
            layer = getattr(self, name)
            if layer is not None:
                same_size(("the map", self.values.shape), (f"the {name}", layer.shape))

    @property
    def focal_length(self) -> float:
        """Distance from the lens to the sensor in px that belongs to the angle of view."""
        fov = FOV if self.fov is None else self.fov
        return 0.5 * float(max(self.values.shape)) / math.tan(math.radians(fov) / 2)

    def from_lens(self) -> "Layers":
        """The same with metres from the lens, where all rays meet."""
        if self.unit != METRES or not self.lens_to_sensor:
            return self
        return replace(self, values=self.values - np.float32(self.lens_to_sensor), lens_to_sensor=0.0)

    def inverse_depth(self) -> Map:
        """Inverse depth, larger is nearer, never negative; 0 is infinity, NaN is invalid.

        In 1/m for metres. Other maps know no distances, so their nearest value becomes 1 and their farthest one
        1 / FARTHEST.
        """
        if self.unit == METRES:
            with np.errstate(divide="ignore"):
                return np.asarray(np.where(self.values > 0, 1 / self.values, np.nan), np.float32)
        low, high = finite_range(self.values)
        span = high - low
        if span <= 0:
            return np.asarray(np.where(np.isfinite(self.values), 1, np.nan), np.float32)
        # q = 1 / FARTHEST + (1 - 1 / FARTHEST) (d - low) / (high - low)
        level = (self.values.astype(np.float64) - low) / span
        q = np.where(np.isfinite(level), 1 / FARTHEST + (1 - 1 / FARTHEST) * level, np.nan)
        return np.asarray(q, np.float32)

    def colours(self) -> Colours | None:
        """The photo as HxWx3, 8-bit RGB."""
        if self.photo is None:
            return None
        return np.ascontiguousarray(_three(eight_bits(self.photo)))

    def light(self) -> Map | None:
        """The photo as HxWx3 linear light, 0 to 1. The photo is taken to have the sRGB curve."""
        if self.photo is None:
            return None
        return linear(_three(self.photo).astype(np.float32) / np.float32(full_scale(self.photo.dtype)))


def check_confidence(confidence: Map, name: str) -> None:
    """Refuse numbers that are no confidence; NaN is allowed."""
    low, high = float(np.fmin.reduce(confidence, axis=None)), float(np.fmax.reduce(confidence, axis=None))
    if low < 0 or high > 1:
        raise InputError(f"{name}: has values from {low:g} to {high:g}, but a confidence is from 0 to 1: check it")


def finite_range(values: npt.NDArray[Any]) -> tuple[float, float]:
    """The smallest and largest finite value; 0 and 0 if there is none."""
    finite = np.isfinite(values)
    if not finite.any():
        return 0.0, 0.0
    return float(values.min(where=finite, initial=np.inf)), float(values.max(where=finite, initial=-np.inf))


def eight_bits(image: Image) -> Colours:
    """An image as uint8."""
    if image.dtype == np.uint8:
        return image
    return np.rint(image * np.float32(255 / full_scale(image.dtype))).astype(np.uint8)


def _three(pixels: Image) -> Image:
    return pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)
