"""The description of a file for ``dualpix info``."""

from typing import Any

from . import probe, raw, read_map
from .captures import find_capture
from .orientation import swaps_axes
from .pairs import kind_of, pages_info
from .shot import Shot, read_shot
from .sidecar import describe, read_sidecar, sidecar_path, statistics


def file_record(path: str) -> dict[str, Any]:
    """Describe an image, a raw file, a file or folder with two views, or a map.

    Size and type; the shot, if the file tells; for a raw file its frames and their black and white; for a map its range
    of values, and its sidecar if it has one.
    """
    kind = kind_of(path)
    if kind == "folder":
        return {**_image_record(str(find_capture(path).left)), "path": path, "views": 2}
    shot = read_shot(path).to_dict()
    if kind == "raw":
        record = {"path": path, "format": "raw", "channels": 1, "dtype": "uint16", **raw.describe(path)}
    else:
        record = _image_record(path, pages=kind == "pages")
    if kind in ("pages", "mpo"):
        record["views"] = 2
    return record | ({"shot": shot} if shot else {})


def _image_record(path: str, pages: bool = False) -> dict[str, Any]:
    found = pages_info(path) if pages else probe(path)
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
    is_map = found.format in ("PFM", "NPY") or (found.dtype.startswith("float") and found.channels == 1)
    if not pages and (sidecar or is_map):
        record["values"] = statistics(read_map(path))
    if sidecar:
        record["sidecar"] = sidecar
    return record


def file_line(record: dict[str, Any]) -> str:
    """Return the record in one line."""
    channels = "mosaic" if "frames" in record else "grey" if record["channels"] == 1 else "RGB"
    line = "{path}: {format} {width}x{height} {channels} {dtype}".format(**record | {"channels": channels})
    if record["orientation"] != 1:
        size = "{height}x{width}" if swaps_axes(record["orientation"]) else "{width}x{height}"
        line += f", {size.format(**record)} upright (EXIF orientation {record['orientation']})"
    if "views" in record:
        line += ", both views"
    if "frames" in record:
        line += f", {_frames(record)}"
    if "shot" in record and (text := str(Shot(**record["shot"]))):
        line += f", {text}"
    if "values" in record:
        line += f", {describe(record['values'])}"
    if "sidecar" in record:
        line += f"; by dualpix {record['sidecar']['dualpix']}, see {sidecar_path(record['path'])}"
    return line


def _frames(record: dict[str, Any]) -> str:
    """The frames of a raw file with their levels; one range for all if they are the same."""
    count = "2 dual-pixel frames" if record["frames"] == 2 else "1 frame (no dual-pixel data)"
    levels = list(
        dict.fromkeys(
            (_span(black), f"{white:g}") for black, white in zip(record["black"], record["white"], strict=True)
        )
    )
    return count + ", " + " and ".join(f"black {black}, white {white}" for black, white in levels)


def _span(black: list[float]) -> str:
    low, high = min(black), max(black)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
