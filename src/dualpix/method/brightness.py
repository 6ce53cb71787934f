"""Brightness: equalisation of the two views, and exposure."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ..params.definitions import Photometry
from ..quantiles import quantiles
from ..types import Map, Planes, copy_of_map

UNSURE = 0.005  # this much of a relative difference in brightness may come from the scene, so it is left
WIDE = 0.1  # STD of a low-pass that suits any camera, as a share of the longer side
SMALL = 128  # px, the longer side of the pictures that are low-passed
DARKEST = 64  # the brightness of a plane is its largest intensity over this at the least
STEEPEST = 4.0  # the largest ratio of the views that counts as vignetting


@dataclass(frozen=True, eq=False)
class Gains:
    """The factors of the planes.

    Attributes
    ----------
    right : small float32 grid or None
        Brings the right view to the brightness of the left; interpolated to the size of the planes.
    views, guide : float
        Exposure of both views, and of the guide.
    """

    right: Map | None = None
    views: float = 1.0
    guide: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Exact numbers, ready for JSON."""
        return {
            "right": None if self.right is None else self.right.tolist(),
            "views": self.views,
            "guide": self.guide,
        }

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Gains":
        """The inverse of `to_dict`."""
        right = record["right"]
        return cls(None if right is None else np.array(right, np.float32), record["views"], record["guide"])


def find_gains(
    planes: Planes, photometry: Photometry, threads: int, equalise: bool = True, small: Planes | None = None
) -> Gains:
    """The gains that equalise the views, if `equalise` is true, and set the requested exposure.

    `small` are the same planes at a smaller size: enough to equalise them.
    """
    wanted, views = photometry.vignetting if equalise else 0, small or planes
    vignetting = equalising_gain(views.left, views.right, wanted, threads) if wanted else None
    if not photometry.exposure:
        return Gains(vignetting)
    exposures = (photometry.exposure / brightness(plane, threads) for plane in (planes.left, planes.guide))
    return Gains(vignetting, *exposures)


def equalising_gain(left: Map, right: Map, share: float, threads: int) -> Map | None:
    """The gain ``LPF(L) / LPF(R)`` that brings the right view to the brightness of the left, on a small grid.

    The low-pass is a Gaussian whose STD is `share` of the longer side. Every ratio is moved by UNSURE towards 1, but
    not beyond it. None if both views are black.
    """
    low_passes = [low_pass(view, share, threads).astype(np.float64) for view in (left, right)]
    darkest = 1e-3 * max(float(view.max()) for view in low_passes)
    if darkest == 0:
        return None
    of_left, of_right = (np.maximum(view, darkest) for view in low_passes)
    # log g = sign(log r) max(|log r| - UNSURE, 0)
    ratio, step = np.clip(of_left / of_right, 1 / STEEPEST, STEEPEST), math.exp(UNSURE)
    return np.asarray(np.maximum(ratio / step, np.minimum(ratio * step, 1)), np.float32)


def low_pass(view: Map, share: float, threads: int) -> Map:
    """A picture of at most SMALL px a side, smoothed by a Gaussian whose STD is `share` of the longer side."""
    shrunk = SMALL / max(*view.shape, SMALL)
    small = np.empty([max(1, round(shrunk * n)) for n in view.shape], np.float32)
    _core.shrink(view, small, threads)
    sigma = share * max(small.shape)
    half = max(1, round(8 * sigma + 1) // 2)
    taps = np.exp(-0.5 * (np.arange(-half, half + 1) / sigma) ** 2)
    smooth = np.empty_like(small)
    _core.smooth(small, smooth, taps / taps.sum(), threads)
    return smooth


def brightness(plane: Map, threads: int) -> float:
    """The 99th percentile of the intensities, from a sample; never 0, nor far below the brightest."""
    step = sampling(plane.size)
    sample = plane[::step, ::step]
    bright = quantiles(sample, [0.99])[0]
    # no intensity is above 255, so the largest one matters in dark planes alone
    return bright if bright >= 255 / DARKEST else brightness_of(sample, _core.largest(plane, threads))


def sampling(size: int) -> int:
    """Every so many-th row and column of a plane of that size is looked at."""
    return max(1, math.isqrt(size // 100_000))


def brightness_of(sample: Map, most: float) -> float:
    """The brightness of a plane that is known by a sample and its largest intensity."""
    return max(*quantiles(sample, [0.99]), most / DARKEST, 1e-6)


class Part(NamedTuple):
    """Where a part of a plane is: the shape of the whole plane, its first row and column, every step-th pixel."""

    shape: tuple[int, ...]
    top: int = 0
    left: int = 0
    step: int = 1


def apply_gains(planes: Planes, gains: Gains, threads: int, part: Part | None = None) -> None:
    """Multiply the planes, or the part of them that they are, by their gains, in place."""
    left, right, guide = planes
    if gains.right is not None:
        (height, width), top, first, step = part or Part(right.shape)
        gain = gains.right * np.float32(gains.views)
        place = {"height": height, "width": width, "top": top, "left": first, "step": step}
        _core.multiply(right, gain, **place, threads=threads)
    elif gains.views != 1:
        _core.scale(right, gains.views, threads)
    if gains.views != 1:
        _core.scale(left, gains.views, threads)
    if gains.guide != 1:
        _core.scale(guide, gains.guide, threads)


def copied(planes: Planes, gains: Gains, threads: int, part: Part | None = None) -> Planes:
    """A copy of small planes with the gains applied."""
    left, right = copy_of_map(planes.left, threads), copy_of_map(planes.right, threads)
    copy = Planes(left, right, left if planes.guide is planes.left else copy_of_map(planes.guide, threads))
    apply_gains(copy, gains, threads, part)
    return copy


def equalised(planes: Planes, threads: int) -> Planes:
    """Small planes with views of equal brightness, for the detection of the axis."""
    return copied(planes, Gains(equalising_gain(planes.left, planes.right, WIDE, threads)), threads)
