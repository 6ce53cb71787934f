"""Images in: files or arrays become contiguous grey or RGB arrays, and two views become a pair."""

import math
import os

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..types import Image, Input, Pair, StrPath, same_size
from ._decoders import IMAGE_FORMATS
from ._format import UPRIGHT
from ._reader import ImageInfo, probe, read
from .in_memory import InMemory, from_memory, same_depth
from .orientation import upright

__all__ = [
    "ImageInfo",
    "Pair",
    "as_image",
    "encode_png",
    "load_image",
    "load_stored",
    "probe",
    "read_image",
    "read_views",
]


SAME_SHAPE = 0.02  # relative difference of width over height


def read_image(path: StrPath) -> Image:
    """Read an image upright, as a viewer shows it: turned by its EXIF orientation.

    Parameters
    ----------
    path
        A PNG, JPEG, TIFF, PGM, PPM, WebP, AVIF, HEIC (extra ``heic``), BMP or JPEG 2000 file. The content gives the
        format, not the suffix.

    Returns
    -------
    ndarray
        HxW or HxWx3 (RGB), uint8, uint16 or float32 in [0, 1], contiguous. The values are those of the file, without
        any gamma. Alpha is dropped; palette and 1-bit images become uint8.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged, or has more pixels than the environment variable
        ``DUALPIX_MAX_PIXELS`` allows (2**28 if it is not set).
    """
    return upright(*_read_stored(path))


def as_image(array: ArrayLike, name: str) -> Image:
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
        raise InputError(f"{name}: has rows of different lengths: give an HxW or HxWx3 array") from None
    if image.ndim != 2 and not (image.ndim == 3 and image.shape[2] == 3):
        raise InputError(f"{name}: is an array of shape {image.shape}: give HxW or HxWx3")
    if image.size == 0:
        raise InputError(f"{name}: has no pixels, its shape is {image.shape}: give an image with pixels")
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


def load_image(image: Input, name: str) -> Image:
    """Return an image upright, from a path as by `read_image`, or from memory as by `from_memory`.

    Parameters
    ----------
    image
        A path, an array, a picture of Pillow, or an encoded picture as bytes or file object.
    name
        The argument that errors name.
    """
    return upright(*load_stored(image, name))


def load_stored(image: Input, name: str) -> tuple[Image, int]:
    """Return the pixels of an image as stored, and its EXIF orientation, which is 1 for an array; see `load_image`."""
    found = _load(image, name)
    return found.pixels, found.orientation


def _load(image: Input, name: str) -> InMemory:
    if not isinstance(image, (str, os.PathLike)):
        found = from_memory(image, name)
        return found._replace(pixels=as_image(found.pixels, name))
    if not os.fspath(image):
        raise InputError(f"{name} is an empty path: give the name of a file")
    return InMemory(*_read_stored(image))


def read_views(left: Input, right: Input) -> Pair:
    """Read two views of one shot, as stored, and check that they belong together.

    Parameters
    ----------
    left, right
        Paths, or pictures in memory; see `load_image`.

    Raises
    ------
    InputError
        If one of them cannot be used, or they differ in size, or the views differ in orientation.
    """
    source = {name: os.fspath(x) for name, x in (("left", left), ("right", right)) if isinstance(x, (str, os.PathLike))}
    left_view, orientation, left_narrowed = _load(left, "left")
    right_view, other, right_narrowed = _load(right, "right")
    said = [source.get(name, name) for name in ("left", "right")]
    same_depth(("left", left_view, left_narrowed), ("right", right_view, right_narrowed))
    _check_orientations((said[0], orientation), (said[1], other))
    same_size((said[0], left_view.shape), (said[1], right_view.shape))
    return Pair(left_view, right_view, None, source, orientation)


def resampled(image: Image, shape: tuple[int, int], name: str, other: str) -> Image:
    """The image at another height and width. Its shape, width over height, may differ by 2 %.

    Raises
    ------
    InputError
        If the shape differs more. `name` and `other` are what the sentence calls the image and the one of that size.
    """
    import cv2

    (height, width), (rows, columns) = shape, image.shape[:2]
    if (height, width) == (rows, columns):
        return image
    if abs(columns * height - rows * width) > SAME_SHAPE * rows * width:
        raise InputError(
            f"{name} is {columns}x{rows} but {other} is {width}x{height}: give an image of the same shape, of any size"
        )
    smaller = height * width < rows * columns
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA if smaller else cv2.INTER_LINEAR))


def _read_stored(path: StrPath) -> tuple[Image, int]:
    info, stored = read(path, IMAGE_FORMATS)
    return as_image(stored, os.fspath(path)), info.orientation


def _check_orientations(*views: tuple[str, int]) -> None:
    """Refuse two views that differ in EXIF orientation, the turned one named first."""
    (name, first), (other, second) = sorted(views, key=lambda view: view[1] == UPRIGHT)
    if first == second:
        return
    contrast = "is not" if second == UPRIGHT else "differently"
    raise InputError(
        f"{name} is to be turned (EXIF orientation {first}) but {other} {contrast} ({second}): "
        "give two views of one shot"
    )


def _check_unit_range(image: Image, name: str) -> None:
    low, high = float(image.min()), float(image.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InputError(f"{name}: holds NaN or infinite values: replace them first")
    if low < 0 or high > 1:
        raise InputError(f"{name}: has float values from {low:.6g} to {high:.6g}: scale them to [0, 1] first")
