"""From a path to the stored values. The content gives the format; the size is checked before any pixel is read."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..files import FileBytes
from ..types import Image, StrPath
from ._decoders import MAP_FORMATS
from ._format import UPRIGHT, Bytes, Format, FormatError, check_shape, matches, reading
from ._limit import too_large

CANON_RAW = b"ftypcrx "  # bytes 4 to 12 of a CR3 file
_RAW_SUFFIXES = (".cr2", ".cr3", ".dng")


@dataclass(frozen=True)
class ImageInfo:
    """What the header of an image or map file says.

    Attributes
    ----------
    path, format
        The file, and the name of its format.
    width, height
        Size of the stored pixels, before they are turned upright.
    channels
        1 or 3. Alpha is not counted.
    dtype
        Type of the values that are read.
    orientation
        The EXIF orientation, 1 to 8; 1 if the file has none.
    """

    path: Path
    format: str
    width: int
    height: int
    channels: int
    dtype: str
    orientation: int = UPRIGHT


def probe(path: StrPath) -> ImageInfo:
    """Read size, type and orientation of an image or map file without decoding it.

    Parameters
    ----------
    path
        An image that `read_image` reads, or a PFM, NPY or OpenEXR file. The content gives the format, not the suffix.

    Raises
    ------
    InputError
        If the file cannot be read or its header is damaged.
    """
    return _header(file_bytes(path), path, MAP_FORMATS)


def read(path: StrPath, formats: Mapping[str, Format]) -> tuple[ImageInfo, Image]:
    """Return the header and the values exactly as stored."""
    return decode(file_bytes(path), path, formats)


def decode(data: Bytes, name: StrPath, formats: Mapping[str, Format]) -> tuple[ImageInfo, Image]:
    """Return the same for the bytes of a file, which errors call `name`."""
    info = _header(data, name, formats)
    check_pixels(name, info.width, info.height)
    with reading(name):
        try:
            return info, check_shape(formats[info.format].decode(data[:]), info)
        except MemoryError:
            raise FormatError(
                f"its {info.width}x{info.height} pixels do not fit in memory: use a smaller image"
            ) from None


def file_bytes(path: StrPath) -> FileBytes:
    """Return the bytes of a file. Only what is used is read.

    Raises
    ------
    InputError
        If it cannot be read, is empty, or is no file.
    """
    try:
        data = FileBytes(path)
    except FileNotFoundError:
        if not os.fspath(path):
            raise InputError("path is empty: give the name of a file") from None
        from .urls import is_url, scheme

        if scheme(path) == "file":
            raise InputError(f"{path}: give the path without file://") from None
        if is_url(path):
            raise InputError(f"{path}: only dualpix batch reads URLs: download the file and give its path") from None
        raise InputError(f"{path}: no such file: check the path") from None
    except OSError as error:
        if os.path.isdir(path):
            raise InputError(f"{path}: is a folder: give a file in it") from None
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path and its permissions") from error
    if not len(data):
        raise InputError(f"{path}: is empty: copy or export it again")
    return data


def check_pixels(name: StrPath, width: int, height: int) -> None:
    """Refuse a picture with more pixels than the environment variable ``DUALPIX_MAX_PIXELS`` allows."""
    if said := too_large(width, height):
        raise InputError(f"{name}: {said}")


def _header(data: Bytes, path: StrPath, formats: Mapping[str, Format]) -> ImageInfo:
    name = _format(data, path, formats)
    with reading(path):
        header = formats[name].header(data)
    if not (header.width > 0 and header.height > 0):
        raise InputError(f"{path}: has no pixels ({header.width}x{header.height}): export it again")
    return ImageInfo(Path(path), name, **vars(header))


def _format(data: Bytes, path: StrPath, formats: Mapping[str, Format]) -> str:
    """Return the name of the format."""
    for name, candidate in formats.items():
        if matches(candidate.MAGIC, data):
            return name
    if data[4:12] == CANON_RAW:
        raise InputError(f"{path}: is a camera raw file: give it alone, or split it first with dualpix split")
    if os.path.splitext(path)[1].lower() in _RAW_SUFFIXES:
        raise InputError(f"{path}: is no raw file that LibRaw can read: copy it from the camera again")
    raise InputError(f"{path}: is in none of the formats read here ({', '.join(formats)}): export it in one of them")
