"""The .json file beside a map, which tells what the map's numbers mean and how they came about."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..types import Map

SIGN = {
    "x": "d = x_left - x_right: left(x, y) matches right(x - d, y), larger is nearer",
    "y": "d = y_left - y_right: left(x, y) matches right(x, y - d), larger is nearer",
}


def sidecar_path(path: str | os.PathLike[str]) -> str:
    """Where the sidecar of a map is."""
    return os.path.splitext(path)[0] + ".json"


def map_record(path: str | os.PathLike[str], values: Map, axis: str) -> dict[str, Any]:
    """What the sidecar of every map begins with.

    Parameters
    ----------
    path
        The map's file.
    values
        The disparities, in pixels of the input.
    axis
        "x" or "y", along which the views differ.
    """
    from .. import __version__

    return {
        "dualpix": __version__,
        "map": os.path.basename(path),
        "axis": axis,
        "sign": SIGN[axis],
        "unit": "pixels of the input",
        "width": values.shape[1],
        "height": values.shape[0],
        "disparity": statistics(values),
    }


def read_sidecar(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """What the file beside a map holds, if it is a sidecar of that map."""
    try:
        record = json.loads(Path(sidecar_path(path)).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    ours = isinstance(record, dict) and record.get("map") == os.path.basename(path)
    return record if ours else None


def statistics(values: Map) -> dict[str, Any]:
    """Smallest and largest value, both NaN if there is none, and the number of NaN."""
    import numpy as np

    # fmin and fmax pass over NaN; where there is nothing else they return it.
    low, high = float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))
    return {"min": low, "max": high, "nan": int(np.isnan(values).sum())}


def describe(found: dict[str, Any]) -> str:
    """The same in words."""
    if math.isnan(found["min"]):
        return "all NaN"
    holes = f" ({found['nan']} NaN)" if found["nan"] else ""
    return f"{found['min'] + 0.0:.4g} to {found['max'] + 0.0:.4g}{holes}"  # + 0.0: no minus before a zero


def to_json(record: dict[str, Any]) -> str:
    """The record as JSON, with null for every number JSON cannot hold."""
    return json.dumps(_without_nan(record), indent=2, allow_nan=False)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
