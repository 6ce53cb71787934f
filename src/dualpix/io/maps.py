"""Maps in and out: HxW float32, NaN where invalid. Reading goes by content, writing by suffix."""

import os
from collections.abc import Callable, Iterable
from io import BytesIO

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, OutputError
from ..types import Map, StrPath
from . import _npy, _pfm
from ._reader import MAP_FORMATS, read
from .atomic import OutputSet

__all__ = ["check_confidence_path", "check_map_path", "encode_map", "read_map", "write_map"]

_KITTI_UNIT = 256  # Codes per pixel of disparity. Code 0 means invalid.
_KITTI_LARGEST = 2**16 - 1


def write_map(path: StrPath, map: ArrayLike) -> None:
    """Write a map, whole or not at all. An existing file is replaced.

    Parameters
    ----------
    path
        The suffix gives the format. .tif, .tiff, .pfm and .npy hold float32 exactly, with NaN and negative values.
        .png is 16-bit KITTI: steps of 1/256 px from 0 to 255.996 px, NaN as 0.
    map
        HxW; disparities in pixels, ``x_left - x_right``, larger is nearer.

    Raises
    ------
    OutputError
        If the suffix is unknown, the format cannot hold the values, or the file cannot be written.
    """
    data = encode_map(path, map)
    with OutputSet([path], force=True) as outputs:
        outputs.write(path, data)


def read_map(path: StrPath) -> Map:
    """Read a map or ground truth as stored. It is never turned by an EXIF orientation.

    Parameters
    ----------
    path
        PFM, NPY, TIFF, PNG, JPEG, PGM or PPM. The content gives the format, not the suffix. A 16-bit PNG is KITTI
        (value/256, 0 is invalid), as `write_map` writes it; `read_image` gives its plain codes. All other integers are
        taken as they are. An RGB file must be grey.

    Returns
    -------
    ndarray
        HxW float32, NaN where invalid. Infinity is Middlebury's mark for unknown and becomes NaN.
    """
    info, stored = read(path, MAP_FORMATS)
    if stored.ndim == 3:
        if (stored != stored[..., :1]).any():
            raise InputError(f"{path}: is a colour image, but a map has one value a pixel: give a grey one")
        stored = stored[..., 0]
    if stored.dtype.kind not in "buif":
        raise InputError(f"{path}: holds {stored.dtype} values, but a map needs real numbers: save it as float")
    with np.errstate(over="ignore"):  # A float64 beyond float32 becomes infinity, which is unknown.
        values = np.array(stored, np.float32, order="C")
    values[np.isinf(values)] = np.nan
    if info.format == "PNG" and stored.dtype == np.uint16:
        values[stored == 0] = np.nan
        values /= _KITTI_UNIT
    return values


def encode_map(path: StrPath, map: ArrayLike) -> bytes | memoryview:
    """Return the bytes that `write_map` writes. Errors name `path`."""
    encode = _ENCODERS[check_map_path(path)]
    values = np.asarray(map)
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "buif":
        kind = f"shape {values.shape} and type {values.dtype}"
        raise OutputError(f"{path}: the map has {kind}: give a non-empty HxW array of real numbers")
    try:
        return encode(np.ascontiguousarray(values, np.float32))
    except ValueError as error:
        raise OutputError(f"{path}: {error}") from None


def check_map_path(path: StrPath) -> str:
    """Return the lower-case suffix of `path` if `write_map` knows it, else raise OutputError."""
    return _check_suffix(path, "a map", _ENCODERS)


def check_confidence_path(path: StrPath) -> str:
    """Do the same for a confidence. KITTI PNG is too coarse for values from 0 to 1."""
    return _check_suffix(path, "a confidence", _FLOAT_ENCODERS)


def _check_suffix(path: StrPath, what: str, known: Iterable[str]) -> str:
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in known:
        name = path or "path"
        raise OutputError(f"{name}: the suffix gives the format of {what}: choose one of {', '.join(known)}")
    return suffix


def _encode_tiff(values: Map) -> memoryview:
    import tifffile

    file = BytesIO()
    tifffile.imwrite(file, values, photometric="minisblack", metadata=None)
    return file.getbuffer()


def _encode_kitti(values: Map) -> bytes:
    import cv2

    valid = ~np.isnan(values)
    found = values[valid]
    if found.min(initial=0) < 0 or found.max(initial=0) * _KITTI_UNIT >= _KITTI_LARGEST + 0.5:
        raise ValueError(
            "PNG (16-bit KITTI) holds disparities from 0 to 255.996 px, not "
            f"{found.min():.6g} to {found.max():.6g} px: write .tif, .pfm or .npy instead"
        )
    codes = np.zeros(values.shape, np.uint16)
    # 0 px is a valid disparity, but code 0 means invalid, so the smallest code is 1.
    codes[valid] = np.maximum(np.rint(found * _KITTI_UNIT), 1)
    return bytes(cv2.imencode(".png", codes)[1])


_FLOAT_ENCODERS: dict[str, Callable[[Map], bytes | memoryview]] = {
    ".tif": _encode_tiff,
    ".tiff": _encode_tiff,
    ".pfm": _pfm.encode,
    ".npy": _npy.encode,
}
_ENCODERS = {**_FLOAT_ENCODERS, ".png": _encode_kitti}
