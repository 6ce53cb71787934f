"""The formats of map files, by suffix: what each can hold, what it needs, and who writes it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import OutputError, ParameterError
from ..types import Map, StrPath
from . import _map_png, _tiff_writer
from ._extra import EXR, EXR_PACKAGE, missing
from .layers import METRES, PIXELS, Layers

__all__ = [
    "FLOAT_SUFFIXES",
    "PNG_KINDS",
    "SUFFIXES",
    "Style",
    "check_suffix",
    "check_writable",
    "encode",
    "encode_mask",
    "notes",
]

PNG_KINDS = ("kitti", "grey", "grey8", "mm")
NEAR = ("white", "black")
GREY_BITS = {"grey": 16, "grey8": 8}

Encoded = bytes | memoryview


@dataclass(frozen=True)
class Style:
    """How a map looks as PNG: its kind, and whether near is white or black. None is the default."""

    png: str | None = None
    near: str | None = None

    def __post_init__(self) -> None:
        for name, value, known in (("png", self.png, PNG_KINDS), ("near", self.near, NEAR)):
            if value not in (None, *known):
                raise ParameterError(f"{name} must be one of {', '.join(known)}, not {value!r}")

    def kind(self, unit: str) -> str:
        """The kind of PNG: the one asked for, or KITTI for disparities, millimetres for depth, grey for the rest."""
        return self.png or {PIXELS: "kitti", METRES: "mm"}.get(unit, "grey")


@dataclass(frozen=True, eq=False, repr=False)
class Format:
    """One format.

    Attributes
    ----------
    encode : function
        From layers and style to bytes; a ValueError says why the map cannot be held.
    extra, package : str or None
        The extra that installs the package it needs.
    needs_photo, takes_photo : bool
        Whether it has no use without a photo, and whether it can hold one.
    """

    encode: Callable[[Layers, Style], Encoded]
    extra: str | None = None
    package: str | None = None
    needs_photo: bool = False
    takes_photo: bool = False


def _png(layers: Layers, style: Style) -> bytes:
    kind = style.kind(layers.unit)
    if kind == "kitti":
        return _map_png.encode_kitti(layers.values)
    if kind == "mm":
        return _map_png.encode_millimetres(layers.values)
    return _map_png.encode_grey(layers, GREY_BITS[kind], style.near or "white")


# A module is imported when a map is written in its format.


def _pfm(layers: Layers, _: Style) -> Encoded:
    from ._pfm import encode

    return encode(layers.values)


def _npy(layers: Layers, _: Style) -> Encoded:
    from ._npy import encode

    return encode(layers.values)


def _exr(layers: Layers, _: Style) -> Encoded:
    from ._exr import encode

    return encode(layers)


def _jpg(layers: Layers, _: Style) -> Encoded:
    from ._dynamic_depth import encode

    return encode(layers)


def _ply(layers: Layers, _: Style) -> Encoded:
    from ._ply import encode

    return encode(layers)


def _glb(layers: Layers, _: Style) -> Encoded:
    from ._glb import encode

    return encode(layers)


_FLOATS = {
    ".tif": Format(lambda layers, _: _tiff_writer.encode(layers.values)),
    ".tiff": Format(lambda layers, _: _tiff_writer.encode(layers.values)),
    ".pfm": Format(_pfm),
    ".npy": Format(_npy),
}
_FORMATS = {
    **_FLOATS,
    ".png": Format(_png),
    ".exr": Format(_exr, EXR, EXR_PACKAGE, takes_photo=True),
    ".jpg": Format(_jpg, needs_photo=True, takes_photo=True),
    ".ply": Format(_ply, takes_photo=True),
    ".glb": Format(_glb, takes_photo=True),
}
SUFFIXES, FLOAT_SUFFIXES = tuple(_FORMATS), tuple(_FLOATS)


def check_suffix(path: StrPath, what: str = "a map", known: tuple[str, ...] = SUFFIXES) -> str:
    """Return the lower-case suffix if it is known and its package is installed, else raise OutputError."""
    suffix = os.path.splitext(path)[1].lower()
    name = path or "path"
    if suffix not in known:
        raise OutputError(f"{name}: the suffix gives the format of {what}: choose one of {', '.join(known)}")
    package, extra = _FORMATS[suffix].package, _FORMATS[suffix].extra
    if package is not None and missing(package):
        raise OutputError(f"{name}: a {suffix} file needs a package: pip install 'dualpix[{extra}]', or choose .tiff")
    return suffix


def check_writable(path: StrPath, unit: str, style: Style, photo: bool) -> Format:
    """Return the format of a path, after every check that needs no map.

    Parameters
    ----------
    path
        The file to write.
    unit
        Unit of the map.
    style
        How a PNG shall look.
    photo
        Whether there is a photo.
    """
    suffix = check_suffix(path)
    found = _FORMATS[suffix]
    if found.needs_photo and not photo:
        raise OutputError(f"{path}: a {suffix} file is a photo with its depth: give it as photo= too, or choose .tiff")
    if suffix != ".png":
        if style.png is not None:
            raise OutputError(f"{path}: png= is for .png files: leave it out, or choose .png")
        if style.near is not None:
            raise OutputError(f"{path}: near= is for grey .png files: leave it out, or choose .png")
        return found
    kind = style.kind(unit)
    needed = {"kitti": PIXELS, "mm": METRES}.get(kind, unit)
    if needed != unit:
        command = {PIXELS: "disparities (dualpix disparity)", METRES: "metres (dualpix depth)"}[needed]
        raise OutputError(f"{path}: a PNG of kind {kind} holds {command}: give png=grey, or another suffix")
    if style.near is not None and kind not in GREY_BITS:
        raise OutputError(f"{path}: near= is for grey levels: give png=grey too, or leave it out")
    return found


def encode(path: StrPath, layers: Layers, style: Style) -> Encoded:
    """Return the bytes of a map file. Errors name the path."""
    found = check_writable(path, layers.unit, style, layers.photo is not None)
    try:
        return found.encode(layers, style)
    except ValueError as error:
        raise OutputError(f"{path}: {error}") from None


def notes(path: StrPath, layers: Layers, style: Style) -> dict[str, Any]:
    """What the sidecar must say so that the numbers in the file can be understood."""
    if check_suffix(path) != ".png":
        return {}
    kind = style.kind(layers.unit)
    grey = _map_png.grey_record(layers, style.near or "white") if kind in GREY_BITS else {}
    return {"png": kind, **grey}


def encode_mask(path: StrPath, alpha: Map) -> Encoded:
    """Return the bytes of a mask file, 0 to 1. In OpenEXR it is the alpha channel."""
    if check_suffix(path) == ".exr":
        from ._exr import ALPHA, write  # as above

        return write({ALPHA: alpha})
    return encode(path, Layers(alpha), Style())
