"""What a file holds, for ``dualpix info``."""

from typing import Any

from . import probe, read_map
from .sidecar import describe, read_sidecar, sidecar_path, statistics


def file_record(path: str) -> dict[str, Any]:
    """Size and kind of an image or map; of a map also its range of values, and its sidecar if there is one."""
    found = probe(path)
    record = {
        "path": path,
        "format": found.format,
        "width": found.width,
        "height": found.height,
        "channels": found.channels,
        "dtype": found.dtype,
    }
    sidecar = read_sidecar(path)
    if sidecar or found.format in ("PFM", "NPY") or (found.dtype.startswith("float") and found.channels == 1):
        record["values"] = statistics(read_map(path))
    if sidecar:
        record["sidecar"] = sidecar
    return record


def file_line(record: dict[str, Any]) -> str:
    """The same in one line."""
    channels = "grey" if record["channels"] == 1 else "RGB"
    line = "{path}: {format} {width}x{height} {channels} {dtype}".format(**record | {"channels": channels})
    if "values" in record:
        line += f", {describe(record['values'])}"
    if "sidecar" in record:
        line += f"; by dualpix {record['sidecar'].get('dualpix')}, see {sidecar_path(record['path'])}"
    return line
