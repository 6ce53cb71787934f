"""Pictures out, by suffix: PNG, TIFF or JPEG."""

import os

from ..errors import OutputError
from ..types import Image, StrPath
from . import _jpeg, _metadata, _tiff_writer
from ._format import reading
from ._reader import file_bytes
from .images import encode_png
from .layers import Origin, eight_bits
from .one_file import kind_of

__all__ = ["check_picture_path", "encode_picture", "origin"]

SUFFIXES = (".png", ".tif", ".tiff", ".jpg", ".jpeg")


def check_picture_path(path: StrPath) -> str:
    """Return the lower-case suffix of `path` if `encode_picture` knows it, else raise OutputError."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in SUFFIXES:
        raise OutputError(f"{path}: the suffix gives the format of a picture: choose one of {', '.join(SUFFIXES)}")
    return suffix


def origin(photo: StrPath, channels: int) -> Origin:
    """Read what a new version of a photo keeps. The picture of a raw file or a folder has nothing of the kind.

    Parameters
    ----------
    photo
        The file; see `dualpix.io.photos.read_photo`.
    channels
        1 or 3: a colour profile is for one of them.
    """
    if kind_of(photo) in ("folder", "raw"):
        return Origin()
    data = file_bytes(photo)
    with reading(photo):
        return Origin(_metadata.profile(data, channels), _metadata.upright_exif(data))


def encode_picture(path: StrPath, image: Image, kept: Origin | None = None) -> bytes | memoryview:
    """Return an image, as by `as_image`, in the format of the suffix.

    PNG and TIFF keep 8 and 16 bits. TIFF keeps floats, PNG makes 16 bits of them. JPEG has 8 bits. All of them keep the
    colour profile of the photo, PNG and JPEG its EXIF data.
    """
    suffix, kept = check_picture_path(path), kept or Origin()
    if suffix == ".png":
        return _metadata.into_png(encode_png(image), kept)
    if suffix in (".tif", ".tiff"):
        return _tiff_writer.encode(image, profile=kept.profile)
    return _metadata.into_jpeg(_jpeg.encode(eight_bits(image)), kept)
