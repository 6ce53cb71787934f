"""The description of a file for ``dualpix info``."""

from typing import Any

from . import probe, read_map
from .orientation import swaps_axes
from .sidecar import describe, read_sidecar, sidecar_path, statistics


def file_record(path: str) -> dict[str, Any]:
    """Describe an image or map: size and type; for a map also its range of values, and its sidecar if it has one."""
    found = probe(path)
    record = {
        "path": path,
        "format": found.format,
        "width": found.width,
        "height": found.height,
        "channels": found.channels,
        "dtype": found.dtype,
        "orientation": found.orientation,
    }
    sidecar = read_sidecar(path)
    if sidecar or found.format in ("PFM", "NPY") or (found.dtype.startswith("float") and found.channels == 1):
        record["values"] = statistics(read_map(path))
    if sidecar:
        record["sidecar"] = sidecar
    return record


def file_line(record: dict[str, Any]) -> str:
    """Return the record in one line."""
    channels = "grey" if record["channels"] == 1 else "RGB"
    line = "{path}: {format} {width}x{height} {channels} {dtype}".format(**record | {"channels": channels})
    if record["orientation"] != 1:
        size = "{height}x{width}" if swaps_axes(record["orientation"]) else "{width}x{height}"
        line += f", {size.format(**record)} upright (EXIF orientation {record['orientation']})"
    if "values" in record:
        line += f", {describe(record['values'])}"
    if "sidecar" in record:
        line += f"; by dualpix {record['sidecar']['dualpix']}, see {sidecar_path(record['path'])}"
    return line
