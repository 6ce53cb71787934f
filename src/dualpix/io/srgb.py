"""The curve of sRGB: linear light to display values and back, both 0 to 1."""

import numpy as np

from ..types import Map


def display(light: Map) -> Map:
    """Return linear light as a screen expects it. Values outside of 0 to 1 are clipped."""
    light = np.clip(light, 0, 1)
    bright = 1.055 * np.power(light, np.float32(1 / 2.4)) - 0.055
    return np.where(light <= 0.0031308, 12.92 * light, bright).astype(np.float32)


def linear(display: Map) -> Map:
    """Return the linear light of display values."""
    bright = ((display + np.float32(0.055)) / np.float32(1.055)) ** np.float32(2.4)
    return np.asarray(np.where(display <= 0.04045, display / np.float32(12.92), bright), np.float32)
