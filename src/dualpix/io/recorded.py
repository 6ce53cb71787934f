"""Maps that dualpix wrote: the sidecar tells what their numbers mean."""

import math
from typing import Any

import numpy as np

from ..errors import InputError
from ..types import Map, StrPath
from ._map_png import MILLIMETRES, TOO_FAR
from .images import read_image
from .layers import METRES, PIXELS, RELATIVE
from .maps import read_map
from .sidecar import read_sidecar

UNIT_NAMES = {PIXELS: "pixels of the input", METRES: "metres", RELATIVE: "relative inverse depth"}


def read_recorded(path: StrPath) -> tuple[Map, str, dict[str, Any] | None]:
    """Read a map, its unit ("px", "m" or "relative"), and its sidecar.

    Without a sidecar it is a disparity map in px. Infinity is kept in a map of metres, else it becomes NaN.
    """
    sidecar = read_sidecar(path)
    if sidecar is None:
        return read_map(path), PIXELS, None
    unit = unit_of(sidecar)
    kind = sidecar.get("png")
    if kind in ("grey", "grey8"):
        return _from_grey(path, sidecar, unit), unit, sidecar
    if kind == "mm":
        codes = _codes(path)
        values = codes / np.float32(MILLIMETRES)
        values[codes == 0], values[codes == TOO_FAR] = np.nan, np.inf
        return values, unit, sidecar
    return read_map(path, keep_infinite=unit == METRES), unit, sidecar


def unit_of(sidecar: dict[str, Any]) -> str:
    """The unit that a sidecar names: "px", "m" or "relative"; px if it names none."""
    units = {name: unit for unit, name in UNIT_NAMES.items()}
    return units.get(str(sidecar.get("unit")), PIXELS)


def _codes(path: StrPath) -> Map:
    codes = read_image(path)
    if codes.ndim != 2:
        raise InputError(f"{path}: is a colour image, but a map has one value a pixel: give a grey one")
    return codes.astype(np.float32)


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
