"""What the values of a map file are: their range, unit, and how many are NaN or infinite."""

import math
from typing import Any

import numpy as np

from ..types import Map
from . import _dynamic_depth
from ._reader import ImageInfo, file_bytes
from .layers import finite_range
from .recorded import read_map, read_recorded, unit_of


def map_values(path: str, found: ImageInfo, sidecar: dict[str, Any] | None) -> dict[str, Any]:
    """The range of a map and its unit, if the file is a map or holds one."""
    if found.format == "JPEG":
        return _depth_inside(path, sidecar)
    if sidecar is not None:
        values, unit, _ = read_recorded(path)
        return {"unit": unit, "values": statistics(values)}
    if found.format in ("PFM", "NPY") or (found.dtype.startswith("float") and found.channels == 1):
        return {"values": statistics(read_map(path, keep_infinite=True))}
    return {}


def _depth_inside(path: str, sidecar: dict[str, Any] | None) -> dict[str, Any]:
    """What a photo tells about the depth in it. The sidecar has the range."""
    if not _dynamic_depth.is_inside(file_bytes(path)):
        return {}
    return {"depth_inside": True} | (recorded_values(sidecar) if sidecar else {})


def recorded_values(sidecar: dict[str, Any]) -> dict[str, Any]:
    """The range of a map and its unit by its sidecar, if it tells them."""
    found = sidecar.get("depth") or sidecar.get("disparity")
    if not isinstance(found, dict):
        return {}
    values = {name: found[name] for name in ("min", "max", "nan", "inf") if found.get(name) is not None}
    return {"unit": unit_of(sidecar), "values": {"min": math.nan, "max": math.nan} | values}


def statistics(values: Map) -> dict[str, Any]:
    """The smallest and largest finite value, NaN if there is none; the number of NaN, and of inf if there are any."""
    low, high = finite_range(values) if np.isfinite(values).any() else (math.nan, math.nan)
    infinite = int(np.isinf(values).sum())
    return {"min": low, "max": high, "nan": int(np.isnan(values).sum()), **({"inf": infinite} if infinite else {})}


def value_range(found: dict[str, Any], unit: str | None) -> str:
    """`statistics` in words."""
    holes = [f"{found[name]} {text}" for name, text in (("nan", "NaN"), ("inf", "inf")) if found.get(name)]
    if math.isnan(found["min"]):
        return f"all {holes[0].split()[1]}" if len(holes) == 1 else f"no finite values ({', '.join(holes)})"
    line = f"{found['min'] + 0.0:.4g} to {found['max'] + 0.0:.4g}"  # + 0.0 makes -0.0 positive
    line += {"px": " px", "m": " m", "relative": " relative"}.get(unit or "", "")
    return line + (f" ({', '.join(holes)})" if holes else "")
