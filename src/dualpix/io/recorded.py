"""Maps in: the sidecar, if there is one, tells what the numbers mean."""

import math
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import given_path
from ..types import Map, StrPath
from ._map_png import MILLIMETRES, TOO_FAR
from .images import probe, read_image
from .layers import METRES, PIXELS, RELATIVE
from .maps import stored_map
from .sidecar import read_record

UNIT_NAMES = {PIXELS: "pixels of the input", METRES: "metres", RELATIVE: "relative inverse depth"}


def read_map(path: StrPath, *, keep_infinite: bool = False) -> Map:
    """Read a map or ground truth. It is never turned by an EXIF orientation.

    Parameters
    ----------
    path
        PFM, NPY, OpenEXR, TIFF, PNG, JPEG, PGM or PPM. The content gives the format, not the suffix. The sidecar of a
        PNG file, or ``clip.json`` beside a frame of ``dualpix video``, says what its codes mean. A 16-bit PNG without
        a sidecar is KITTI (value/256, 0 is invalid), as `write_map` writes it, and a `DualpixWarning` says so. All
        other integers are taken as they are. An RGB file must be grey.
    keep_infinite
        Keep infinity, which is a depth that is too far to tell. Else it becomes NaN.

    Returns
    -------
    ndarray
        HxW float32, NaN where invalid. Infinity is Middlebury's mark for unknown and becomes NaN.
    """
    path = given_path(path, "path")
    return _values(path, read_record(path), keep_infinite)


def read_recorded(path: StrPath) -> tuple[Map, str, dict[str, Any] | None]:
    """Read a map, its unit ("px", "m" or "relative"), and its sidecar, or that of the clip of which it is a frame.

    Without a sidecar it is a disparity map in px. Infinity is kept in a map of metres, else it becomes NaN.
    """
    sidecar = read_record(path)
    unit = unit_of(sidecar or {})
    return _values(path, sidecar, keep_infinite=unit == METRES), unit, sidecar


def assumed_kitti(path: StrPath) -> bool:
    """Whether the file is a 16-bit PNG that nothing says to be disparities."""
    info = probe(path)
    return (info.format, info.dtype) == ("PNG", "uint16") and read_record(path) is None


def assumptions(path: StrPath) -> list[str]:
    """What was assumed when the map was read, a sentence each."""
    if not assumed_kitti(path):
        return []
    return [
        f"{path} is a 16-bit PNG without a sidecar, and is read as KITTI disparities, 256 per px: if it is something "
        "else, put its sidecar beside it or give a .tiff file"
    ]


def _values(path: StrPath, sidecar: dict[str, Any] | None, keep_infinite: bool) -> Map:
    kind = (sidecar or {}).get("png")
    if sidecar is None or kind not in ("grey", "grey8", "mm"):
        return stored_map(path, keep_infinite=keep_infinite)
    values = _from_millimetres(path) if kind == "mm" else _from_grey(path, sidecar, unit_of(sidecar))
    if not keep_infinite:
        values[np.isinf(values)] = np.nan
    return values


def unit_of(sidecar: dict[str, Any]) -> str:
    """The unit that a sidecar names: "px", "m" or "relative"; px if it names none."""
    units = {name: unit for unit, name in UNIT_NAMES.items()}
    return units.get(str(sidecar.get("unit")), PIXELS)


def _codes(path: StrPath) -> Map:
    codes = read_image(path)
    if codes.ndim != 2:
        raise InputError(f"{path}: is a colour image, but a map has one value a pixel: give a grey one")
    return codes.astype(np.float32)


def _from_millimetres(path: StrPath) -> Map:
    codes = _codes(path)
    values = codes / np.float32(MILLIMETRES)
    values[codes == 0], values[codes == TOO_FAR] = np.nan, np.inf
    return values


def _from_grey(path: StrPath, sidecar: dict[str, Any], unit: str) -> Map:
    """The values of grey levels, by what the sidecar says of black and white. Metres are stored as their inverse."""
    try:
        black, white = (float(sidecar["grey"][name]) for name in ("black", "white"))
    except (KeyError, TypeError, ValueError, OverflowError):
        black = white = math.nan
    if not (math.isfinite(black) and math.isfinite(white)):
        raise InputError(f"{path}: its sidecar does not say what black and white mean: write the map again")
    full = 65535 if sidecar["png"] == "grey" else 255
    values = black + _codes(path).astype(np.float64) / full * (white - black)
    if unit == METRES:
        values = np.divide(1, values, out=np.full_like(values, np.inf), where=values > 0)
    return values.astype(np.float32)
