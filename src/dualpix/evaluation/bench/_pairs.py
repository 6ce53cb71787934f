"""The pairs of a benchmark: those of the user, or simulated ones, a noise texture with a known disparity."""

import math
from pathlib import Path

import numpy as np

from ...errors import InputError
from ...io import read_pair
from ._measure import Image, Views

Source = Image | str | Path

SMALLEST = 64  # px; windows and ranges do not fit into views with a shorter side
LARGEST = 3.0  # px; the disparities of a dual-pixel pair reach from -LARGEST to LARGEST
DUAL_PIXEL, WIDE = 5180 / 2940, 4 / 3  # width over height


def given_or_simulated(left: Source | None, right: Source | None, megapixels: float) -> Views:
    """The views of the user or, if none are given, a dual-pixel pair of that size."""
    if left is None and right is None:
        return dual_pixel_pair(megapixels)
    if left is None or right is None:
        raise InputError(f"{'left' if left is None else 'right'} is missing: give both views or none")
    pair = read_pair(left, right)
    if pair.left.ndim != pair.right.ndim or pair.left.dtype != pair.right.dtype:
        raise InputError("left and right differ in channels or bit depth: give two views of one kind")
    if min(pair.left.shape[:2]) < SMALLEST:
        height, width = pair.left.shape[:2]
        name = pair.source.get("left", "left")
        raise InputError(f"{name} is {width}x{height} pixels: give views of {SMALLEST}x{SMALLEST} at least")
    return pair.left, pair.right


def reduced(views: Views, megapixels: float) -> Views:
    """The views with no more than that many megapixels. A pixel is the mean of the area that it covers."""
    import cv2

    height, width = views[0].shape[:2]
    shrunk = math.sqrt(1e6 * megapixels / (height * width))
    if shrunk >= 1:
        return views
    size = max(round(shrunk * width), 1), max(round(shrunk * height), 1)
    left, right = (np.asarray(cv2.resize(view, size, interpolation=cv2.INTER_AREA)) for view in views)
    return left, right


def dual_pixel_pair(megapixels: float, aspect: float = DUAL_PIXEL) -> Views:
    """Grey 8-bit views of about that size: a wave that passes through the plane in focus."""
    height, width = shape(megapixels, aspect)
    x, y = _grid(height, width)
    return _displaced(LARGEST * np.cos(7 * x / width + 4 * y / height))


def wide_pair(megapixels: float, disparities: int) -> Views:
    """Grey 8-bit views of about that size: a slanted ground and spots in front of it, from 0 to `disparities`."""
    height, width = shape(megapixels, WIDE)
    x, y = _grid(height, width)
    spots = np.cos(9 * x / width) * np.cos(7 * y / height) > 0.4
    return _displaced(disparities * (0.1 + 0.2 * y / height + 0.5 * spots))


def shape(megapixels: float, aspect: float) -> tuple[int, int]:
    """Height and width of a picture with that aspect ratio, width / height."""
    return round(math.sqrt(1e6 * megapixels / aspect)), round(math.sqrt(1e6 * megapixels * aspect))


def _grid(height: int, width: int) -> tuple[Image, Image]:
    """x and y of all pixels."""
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    return x, y


def _displaced(d: Image) -> Views:
    """A noise texture as right view, and the left view with left(x, y) = right(x - d, y)."""
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
