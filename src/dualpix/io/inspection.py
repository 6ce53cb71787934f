"""The description of a file for ``dualpix info``."""

from typing import Any

from ..files import parse_json, read_text
from . import raw
from .captures import find_capture
from .map_values import value_range
from .model_files import model_line, model_record
from .one_file import kind_of
from .orientation import swaps_axes
from .picture_records import image_record, sidecar_of, zarr_record
from .recorded import unit_of
from .shot import Shot, read_shot
from .sidecar import sidecar_path

UNIT_WORDS = {"px": "disparity in px", "m": "depth in metres", "relative": "relative inverse depth"}


def file_record(path: str) -> dict[str, Any]:
    """Describe an image, a raw file, a file or folder with two views, a map, a point cloud or a mesh.

    Size and type; the shot, if the file tells; for a raw file its frames and their black and white; for a map its range
    of values and their unit, and its sidecar if it has one.
    """
    kind = kind_of(path)
    if kind == "folder":
        return zarr_record(path) or {**image_record(str(find_capture(path).left)), "path": path, "views": 2}
    if (model := model_record(path)) is not None:
        return model | sidecar_of(path)
    shot = read_shot(path).to_dict()
    if kind == "raw":
        record = {"path": path, "format": "raw", "channels": 1, "dtype": "uint16", **raw.describe(path)}
    else:
        record = image_record(path, pages=kind == "pages")
    if kind in ("pages", "mpo"):
        record["views"] = 2
    return record | ({"shot": shot} if shot else {})


def json_record(path: str) -> dict[str, Any] | None:
    """Describe the sidecar of a map, a video or ``dualpix split``, or the record of a batch; None for another file."""
    try:
        found = parse_json(read_text(path))
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or "dualpix" not in found:
        return None
    if isinstance(found.get("map"), str):
        return {"path": path, "format": "sidecar", "of": found["map"], "unit": unit_of(found), "sidecar": found}
    if isinstance(found.get("input"), str) and isinstance(found.get("outputs"), list):
        return {"path": path, "format": "split", "of": found["input"], "sidecar": found}
    if isinstance(found.get("clip"), str):
        return {"path": path, "format": "clip", "of": found["clip"], "sidecar": found}
    if isinstance(found.get("batch"), dict):
        return {"path": path, "format": "batch", "sidecar": found}
    return None


def file_line(record: dict[str, Any]) -> str:
    """Return the record in one line."""
    if "points" in record:
        return model_line(record) + _made_by(record)
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
    if "depth_inside" in record:
        line += ", with depth inside"
    if "values" in record:
        line += f", {value_range(record['values'], record.get('unit'))}"
    return line + _made_by(record)


def json_line(record: dict[str, Any]) -> str:
    """Return the record of a sidecar in one line."""
    found = record["sidecar"]
    size = f"{found.get('width')}x{found.get('height')}"
    if record["format"] == "split":
        return f"{record['path']}: the views of {record['of']}, {size}, by dualpix {found['dualpix']}"
    if record["format"] == "clip":
        of, frames = record["of"], found.get("frames")
        return f"{record['path']}: sidecar of the video {of}, {frames} frames of {size}, by dualpix {found['dualpix']}"
    if record["format"] == "batch":
        return f"{record['path']}: record of a batch, by dualpix {found['dualpix']}; results.jsonl lists its shots"
    unit = UNIT_WORDS[record["unit"]]
    return f"{record['path']}: sidecar of {record['of']}, {size}, {unit}, by dualpix {found['dualpix']}"


def _made_by(record: dict[str, Any]) -> str:
    if "sidecar" not in record:
        return ""
    return f"; by dualpix {record['sidecar']['dualpix']}, see {sidecar_path(record['path'])}"


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
