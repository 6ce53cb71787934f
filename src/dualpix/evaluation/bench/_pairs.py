"""The pairs that are timed where none is given: noise of several sizes, displaced by a known disparity."""

import math

import numpy as np

from ._cases import Image, Views

LARGEST = 3.0  # px, the disparity of a dual-pixel pair on both sides of 0
DUAL_PIXEL, WIDE = 5180 / 2940, 4 / 3  # width over height


def dual_pixel_pair(megapixels: float, aspect: float = DUAL_PIXEL) -> Views:
    """Grey 8-bit views of about that size, that wave through the plane in focus."""
    height, width = shape(megapixels, aspect)
    x, y = _grid(height, width)
    return _displaced(LARGEST * np.cos(7 * x / width + 4 * y / height))


def wide_pair(megapixels: float, disparities: int) -> Views:
    """Grey 8-bit views of about that size: a slanted ground and spots before it, within 0 .. disparities."""
    height, width = shape(megapixels, WIDE)
    x, y = _grid(height, width)
    spots = np.cos(9 * x / width) * np.cos(7 * y / height) > 0.4
    return _displaced(disparities * (0.1 + 0.2 * y / height + 0.5 * spots))


def shape(megapixels: float, aspect: float) -> tuple[int, int]:
    """Height and width of about so many pixels."""
    return round(math.sqrt(1e6 * megapixels / aspect)), round(math.sqrt(1e6 * megapixels * aspect))


def _grid(height: int, width: int) -> tuple[Image, Image]:
    """Columns x and rows y of all pixels."""
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return x, y


def _displaced(d: Image) -> Views:
    """left(x, y) = right(x - d, y)."""
    import cv2

    height, width = d.shape
    rng = np.random.default_rng(0)
    right = np.zeros((height, width), np.float32)
    for k in (1, 3, 9, 27):
        noise = rng.random((height // k + 1, width // k + 1), np.float32)
        right += 60 * cv2.resize(noise, (width, height))
    x, y = _grid(height, width)
    x -= d
    left = cv2.remap(right, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    return np.rint(left).astype(np.uint8), np.rint(right).astype(np.uint8)
