"""The .json file beside a map. It says what the numbers of the map mean and how they were computed."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

from ..files import parse_json, read_text
from ..version import version

if TYPE_CHECKING:
    from ..types import Map, StrPath

CLIP = "clip.json"  # the sidecar of all frames in a folder of ``dualpix video``

SIGN = {  # by axis, and whether turning the picture has reversed it
    ("x", False): "d = x_left - x_right: left(x, y) matches right(x - d, y), larger is nearer",
    ("y", False): "d = y_left - y_right: left(x, y) matches right(x, y - d), larger is nearer",
    ("x", True): "d = x_right - x_left: left(x, y) matches right(x + d, y), larger is nearer",
    ("y", True): "d = y_right - y_left: left(x, y) matches right(x, y + d), larger is nearer",
}


def sidecar_path(path: StrPath) -> str:
    """Return the path of a map's sidecar.

    For ``out.tiff`` it is ``out.json``. If that is the sidecar of another map, such as ``out.pfm``, it is
    ``out.tiff.json``.
    """
    place, name = _place(path), map_name(path)
    full, short = place + ".json", os.path.splitext(place)[0] + ".json"
    taken = _read(short).get("map", name) != name
    return full if taken or _read(full).get("map") == name else short


def map_name(path: StrPath) -> str:
    """Return the name of a map in its sidecar, that of its file or Zarr folder."""
    return os.path.basename(_place(path))


def _place(path: StrPath) -> str:
    """The path without the separator that shells add to a folder."""
    return os.fspath(path).rstrip("/" + os.sep)


def map_record(path: StrPath, values: Map, axis: str, flipped: bool = False) -> dict[str, Any]:
    """Return the first entries of every sidecar.

    Parameters
    ----------
    path
        The file of the map.
    values
        The disparities, in pixels of the input.
    axis
        The direction in which the views differ, "x" or "y".
    flipped
        Whether the map was turned by an EXIF orientation that reverses that direction.
    """
    return entries(path, values.shape, statistics(values), axis, flipped)


def entries(
    path: StrPath, shape: tuple[int, ...], found: dict[str, Any], axis: str, flipped: bool = False
) -> dict[str, Any]:
    """Return the same for a map that is not in memory: `shape` is its shape and `found` are its `statistics`."""
    return {
        "dualpix": version(),
        "map": map_name(path),
        "axis": axis,
        "sign": SIGN[axis, flipped],
        "unit": "pixels of the input",
        "width": shape[1],
        "height": shape[0],
        "disparity": found,
    }


def read_sidecar(path: StrPath) -> dict[str, Any] | None:
    """Return the content of a map's sidecar, or None if it has none."""
    record = _read(sidecar_path(path))
    return record if record.get("map") == map_name(path) else None


def read_record(path: StrPath) -> dict[str, Any] | None:
    """Return what is known of a map: the content of its sidecar, or of that of its clip, or None if it has neither."""
    return read_sidecar(path) or _frame_record(path)


def frame_name(number: int, kind: str) -> str:
    """Return the name of a frame of a clip, counted from 0; `kind` is "tiff" or "png"."""
    return f"frame_{number + 1:06d}.{kind}"


def statistics(values: Map) -> dict[str, Any]:
    """Return the smallest and largest value, and the number of NaN. A map of NaN has NaN for both."""
    import numpy as np

    # fmin and fmax skip NaN. If all values are NaN, they return NaN.
    low, high = float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))
    return {"min": low, "max": high, "nan": int(np.isnan(values).sum())}


def describe(found: dict[str, Any]) -> str:
    """Return `statistics` in words."""
    if math.isnan(found["min"]):
        return "all NaN"
    holes = f" ({found['nan']} NaN)" if found["nan"] else ""
    return f"{found['min'] + 0.0:.4g} to {found['max'] + 0.0:.4g}{holes}"  # + 0.0 makes -0.0 positive


def to_json(record: dict[str, Any]) -> str:
    """Return the record as JSON, with null for NaN and infinity."""
    return json.dumps(_without_nan(record), indent=2, allow_nan=False)


def _frame_record(path: StrPath) -> dict[str, Any] | None:
    """Return the record of the clip of which the map is a frame, with the entries of a single map; else None."""
    folder, name = os.path.split(path)
    clip = _read(os.path.join(folder, CLIP), "clip")
    count, kind = clip.get("frames"), clip.get("format")
    digits = "".join(filter(str.isdecimal, name)) or "0"
    ours = isinstance(count, int) and 1 <= int(digits) <= count and name == frame_name(int(digits) - 1, str(kind))
    return clip | {"map": name} | ({"png": "grey"} if kind == "png" else {}) if ours else None


def _read(path: str, what: str = "map") -> dict[str, Any]:
    """Return the content of a sidecar of any map, or "clip"; empty if the file is missing or something else."""
    if not os.path.isfile(path):
        return {}
    try:
        record = parse_json(read_text(path))
    except (OSError, ValueError):
        return {}
    ours = isinstance(record, dict) and "dualpix" in record and isinstance(record.get(what), str)
    return record if ours else {}


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
