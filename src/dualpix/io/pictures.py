"""Pictures out, by suffix: PNG, TIFF or JPEG."""

import os

import numpy as np

from ..errors import OutputError
from ..types import Image, StrPath, full_scale
from . import _tiff
from .images import encode_png

__all__ = ["check_picture_path", "encode_picture"]

SUFFIXES = (".png", ".tif", ".tiff", ".jpg", ".jpeg")
_QUALITY = 95  # of JPEG


def check_picture_path(path: StrPath) -> str:
    """Return the lower-case suffix of `path` if `encode_picture` knows it, else raise OutputError."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise OutputError(f"{path}: the suffix gives the format of a picture: choose one of {', '.join(SUFFIXES)}")
    return suffix


def encode_picture(path: StrPath, image: Image) -> bytes | memoryview:
    """Return an image, as by `as_image`, in the format of the suffix.

    PNG and TIFF keep 8 and 16 bits. TIFF keeps floats, PNG makes 16 bits of them. JPEG has 8 bits.
    """
    suffix = check_picture_path(path)
    if suffix == ".png":
        return encode_png(image)
    if suffix in (".tif", ".tiff"):
        return _tiff.encode(image)
    return _encode_jpeg(image)


def _encode_jpeg(image: Image) -> bytes:
    import cv2

    if image.dtype != np.uint8:
        image = np.rint(image * (255 / full_scale(image.dtype))).astype(np.uint8)
    pixels = image if image.ndim == 2 else image[..., ::-1]
    return bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1])
