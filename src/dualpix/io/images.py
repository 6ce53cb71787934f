"""Images in: from files or arrays to contiguous grey or RGB arrays, and pairs of views that agree."""

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ._reader import IMAGE_FORMATS, ImageInfo, probe, read
from ._types import StrPath

__all__ = ["ImageInfo", "Pair", "as_image", "encode_png", "load_image", "probe", "read_image", "read_pair"]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two views of one shot, of the same size.

    Attributes
    ----------
    left, right
        HxW or HxWx3 (RGB), uint8, uint16 or float32 in [0, 1].
    guide
        An image of the same size whose edges guide the smoothing, or None for the left view.
    source
        Path by name ("left", "right", "guide") of those that came from a file.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    guide: NDArray[Any] | None
    source: dict[str, str]


def read_image(path: StrPath) -> NDArray[Any]:
    """Read an image exactly as stored.

    Parameters
    ----------
    path
        A PNG, JPEG, TIFF, PGM or PPM file; its content decides, not its suffix.

    Returns
    -------
    ndarray
        HxW or HxWx3 (RGB), uint8, uint16 or float32 in [0, 1], contiguous. There is no EXIF rotation
        and no gamma; alpha is dropped; palette and 1-bit images become uint8.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or has more pixels than 2**28 or the environment
        variable ``DUALPIX_MAX_PIXELS``.
    """
    return as_image(read(path, IMAGE_FORMATS)[1], os.fspath(path))


def as_image(array: ArrayLike, name: str) -> NDArray[Any]:
    """Check an image in memory and make it contiguous.

    Parameters
    ----------
    array
        HxW or HxWx3 (RGB), uint8, uint16 or float in [0, 1].
    name
        The argument or file that errors name.

    Returns
    -------
    ndarray
        The same values; float16 and float64 become float32.
    """
    try:
        image = np.asarray(array)
    except ValueError:
        raise InputError(f"{name}: is not an array: its rows differ in length") from None
    if image.ndim != 2 and not (image.ndim == 3 and image.shape[2] == 3):
        raise InputError(f"{name}: must be HxW or HxWx3, not an array of shape {image.shape}")
    if image.size == 0:
        raise InputError(f"{name}: has no pixels, its shape is {image.shape}")
    if image.dtype.kind == "f" and image.dtype.itemsize <= 8:
        _check_unit_range(image, name)
        return np.ascontiguousarray(image, np.float32)
    if image.dtype.kind == "u" and image.dtype.itemsize <= 2:
        return np.ascontiguousarray(image, image.dtype.newbyteorder("="))
    raise InputError(f"{name}: must hold uint8, uint16 or float values in [0, 1], not {image.dtype}")


def encode_png(image: ArrayLike) -> bytes:
    """Return an image as PNG: 8 bit for uint8, 16 bit for uint16 and for floats in [0, 1]."""
    import cv2

    pixels = as_image(image, "image")
    if pixels.dtype == np.float32:
        pixels = np.rint(pixels * np.float32(65535)).astype(np.uint16)
    return bytes(cv2.imencode(".png", pixels if pixels.ndim == 2 else pixels[..., ::-1])[1])


def load_image(image: StrPath | ArrayLike, name: str) -> NDArray[Any]:
    """Return `image` checked as by `as_image`, read first if it is a path."""
    if not isinstance(image, (str, os.PathLike)):
        return as_image(image, name)
    if not os.fspath(image):
        raise InputError(f"{name} is an empty path: give the name of a file")
    return read_image(image)


def read_pair(left: StrPath | ArrayLike, right: StrPath | ArrayLike, guide: StrPath | ArrayLike | None = None) -> Pair:
    """Read two views of one shot and check that they belong together.

    Parameters
    ----------
    left, right
        Paths or arrays; see `read_image` and `as_image`.
    guide
        An image of the same size to guide the smoothing instead of the left view.

    Raises
    ------
    InputError
        If one of them cannot be used, or they differ in size.
    """
    given = {"left": left, "right": right} | ({} if guide is None else {"guide": guide})
    source = {name: os.fspath(x) for name, x in given.items() if isinstance(x, (str, os.PathLike))}
    images = {name: load_image(x, name) for name, x in given.items()}
    said = {name: "{0} is {2}x{1}".format(source.get(name, name), *image.shape) for name, image in images.items()}
    for name, image in images.items():
        if image.shape[:2] != images["left"].shape[:2]:
            raise InputError(f"{said[name]} but {said['left']}: give images of the same size")
    return Pair(images["left"], images["right"], images.get("guide"), source)


def _check_unit_range(image: NDArray[Any], name: str) -> None:
    low, high = float(image.min()), float(image.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(f"{name}: holds NaN or infinite values: replace them first")
    if low < 0 or high > 1:
        raise InputError(f"{name}: has float values from {low:.6g} to {high:.6g}: scale them to [0, 1] first")
