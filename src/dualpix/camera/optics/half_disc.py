"""The ideal dual pixel: each view sees exactly one half of a round aperture."""

from __future__ import annotations

from math import ceil, pi
from typing import Any

import numpy as np

from .spot import Kernel, Spots


def half_disc(disparity: float) -> Kernel:
    """The point spread function of the left view; that of the right view is ``half_disc(-disparity)``.

    The half-disc of radius ``3 pi |disparity| / 8`` is integrated against the bilinear hats of the pixels. Its
    mass is exactly 1 and its centroid exactly ``disparity / 2`` along x, at any radius.

    Parameters
    ----------
    disparity : float
        In pixels, signed.

    Returns
    -------
    (2R + 1, 2R + 1) array
        The origin is its centre.
    """
    if disparity == 0:
        return np.ones((1, 1))
    radius = _radius(disparity)
    lines = 32 * ceil(radius + 1)
    t = (2 * np.arange(lines) + 1 - lines) / lines  # scanlines across the unit disc
    chord = np.sqrt(1 - t**2)
    # The centroid is sum(width^2 / 2) / sum(width). This width makes it exact: it is the chord times the radius,
    # corrected for the finite number of scanlines.
    width = abs(disparity) * chord * chord.sum() / (chord @ chord)

    reach = ceil(max(radius, width.max()))
    taps = np.arange(-reach, reach + 1)
    rows = np.maximum(1 - np.abs(radius * t - taps[:, None]), 0)
    # The integral of hat(x - j) over 0..width: its falling side, then its rising side, one pixel before.
    inside = np.clip(width[:, None] - taps[reach:], 0, 1)
    columns = inside - inside**2 / 2
    columns[:, 1:] += inside[:, :-1] ** 2 / 2

    kernel = np.zeros((taps.size, taps.size))
    kernel[:, reach:] = rows @ columns
    kernel /= kernel.sum()
    return kernel if disparity > 0 else kernel[:, ::-1]


class HalfDisc:
    """Half-discs all over the picture. It is its own spot."""

    def spots(self, height: int, width: int) -> Spots:
        return [[self]]

    def record(self) -> dict[str, Any]:
        return {"kind": "half-disc"}

    def reach(self, disparity: float) -> float:
        return _radius(disparity)

    def kernel(self, disparity: float, view: int) -> Kernel:
        return half_disc(view * disparity)


HALF_DISC = HalfDisc()


def _radius(disparity: float) -> float:
    """The centroid of a half-disc lies 4r/(3 pi) from the disc's centre; those of the two views are |d| apart."""
    return 3 * pi * abs(disparity) / 8
