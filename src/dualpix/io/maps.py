"""Maps in and out: HxW float32, NaN where invalid. Reading goes by content, writing by suffix."""

import os

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, OutputError
from ..types import Map, StrPath
from . import formats
from ._decoders import MAP_FORMATS
from ._map_png import KITTI_UNIT
from ._reader import read
from .atomic import OutputSet, output_path
from .layers import PIXELS, Layers, Origin, check_confidence

__all__ = ["check_confidence_path", "check_map_path", "encode_map", "stored_map", "write_map"]


def write_map(
    path: StrPath,
    map: ArrayLike,
    *,
    unit: str = PIXELS,
    photo: StrPath | ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    fov: float | None = None,
    png: str | None = None,
    near: str | None = None,
    lens_to_sensor: float = 0.0,
) -> None:
    """Write a map, whole or not at all. An existing file is replaced.

    Parameters
    ----------
    path
        The suffix gives the format. .tif, .tiff, .pfm, .npy and .exr hold float32 exactly, with NaN and negative
        values. .png depends on `png`. .jpg is a photo with its depth in XMP, .ply a point cloud, .glb a mesh.
    map
        HxW; disparities in pixels, ``x_left - x_right``, larger is nearer, or what `unit` says.
    unit : "px", "m" or "relative"
        Disparities, depth in metres, or inverse depth up to a scale and an offset.
    photo : array or path, optional
        The picture of the map, of the same size, for .exr, .jpg, .ply and .glb. A .jpg keeps the colour profile and the
        EXIF data of a file.
    confidence : array of the same size, optional
        How reliable each pixel is, 0 to 1, for .exr and .jpg.
    fov : float, optional
        Angle of view of the longer side in degrees, for .ply and .glb; 45 if not given.
    png : "kitti", "grey", "grey8" or "mm", optional
        kitti (the default for px): 16 bit, 1/256 px, 0 to 255.996 px, NaN as 0. mm (the default for m): 16 bit,
        millimetres, 0 is unknown, 65535 is infinite. grey and grey8: 16 and 8 bit over the range of the map; metres are
        inverted first.
    near : "white" or "black", optional
        What near is in grey; white if not given.
    lens_to_sensor : float, optional
        `Metric.lens_to_sensor` of a map in metres from the sensor, for .ply and .glb, whose origin is the lens.

    Raises
    ------
    InputError
        If photo or confidence cannot be used.
    OutputError
        If the suffix is unknown, the format cannot hold the values, or the file cannot be written.
    """
    path = output_path(path, "path")
    check_map_path(path)
    values = _checked(path, map, "map")
    kept = Origin()
    if photo is not None:
        from .photos import load_photo  # few maps have a photo
        from .pictures import origin

        image = load_photo(photo, "photo")
        kept = origin(photo, 1 if image.ndim == 2 else 3) if isinstance(photo, (str, os.PathLike)) else kept
        photo = image
    if confidence is not None:
        confidence = _checked(path, confidence, "confidence")
        check_confidence(confidence, "confidence")
    layers = Layers(values, unit, photo, confidence, fov, lens_to_sensor, kept)
    data = formats.encode(path, layers, formats.Style(png, near))
    with OutputSet([path], force=True) as outputs:
        outputs.write(path, data)


def stored_map(path: StrPath, *, keep_infinite: bool = False) -> Map:
    """Read a map by its content alone; see `dualpix.read_map`, which also knows sidecars."""
    info, stored = read(path, MAP_FORMATS)
    if stored.ndim == 3:
        if (stored != stored[..., :1]).any():
            raise InputError(f"{path}: is a colour image, but a map has one value a pixel: give a grey one")
        stored = stored[..., 0]
    if stored.dtype.kind not in "buif":
        raise InputError(f"{path}: holds {stored.dtype} values, but a map needs real numbers: save it as float")
    with np.errstate(over="ignore"):  # A float64 beyond float32 becomes infinity, which is unknown.
        values = np.array(stored, np.float32, order="C")
    if not keep_infinite:
        values[np.isinf(values)] = np.nan
    if info.format == "PNG" and stored.dtype == np.uint16:
        values[stored == 0] = np.nan
        values /= KITTI_UNIT
    return values


def encode_map(path: StrPath, map: ArrayLike, unit: str = PIXELS) -> bytes | memoryview:
    """Return the bytes that `write_map` writes for a map alone. Errors name `path`."""
    check_map_path(path)
    return formats.encode(path, Layers(_checked(path, map, "map"), unit), formats.Style())


def _checked(path: StrPath, map: ArrayLike, name: str) -> Map:
    """A map as contiguous float32; errors call it `name`."""
    values = np.asarray(map)
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "buif":
        kind = f"shape {values.shape} and type {values.dtype}"
        raise OutputError(f"{path}: the {name} has {kind}: give a non-empty HxW array of real numbers")
    return np.ascontiguousarray(values, np.float32)


def check_map_path(path: StrPath) -> str:
    """Return the lower-case suffix of `path` if `write_map` knows it, else raise OutputError."""
    return formats.check_suffix(path)


def check_confidence_path(path: StrPath) -> str:
    """Do the same for a confidence. KITTI PNG is too coarse for values from 0 to 1."""
    return formats.check_suffix(path, "a confidence", formats.FLOAT_SUFFIXES)
