"""The description of videos, and what the codes of a grey one mean."""

import math
import os
import re
from typing import Any

from ..files import parse_json
from ._format import matches
from ._reader import file_bytes
from .video import TAG, probe_video

MAGIC = re.compile(rb"\x1aE\xdf\xa3|....ftyp(?:isom|iso2|mp4|avc1|qt)", re.DOTALL)  # Matroska, WebM; MP4, QuickTime


def video_record(path: str) -> dict[str, Any] | None:
    """Describe a video; None if the file is something else."""
    if os.path.isdir(path) or not matches(MAGIC, file_bytes(path)):
        return None
    found = probe_video(path)
    rate = None if found.rate is None else float(found.rate)
    record = {
        "path": path,
        "format": "video",
        "width": found.width,
        "height": found.height,
        "frames": found.frames,
        "rate": rate,
    }
    return record | _meaning(found.tags.get(TAG, ""))


def _meaning(tag: str) -> dict[str, Any]:
    """What ``dualpix video`` says about the codes of a grey video, if it made it."""
    try:
        found = parse_json(tag)
        grey = {"bits": int(found["bits"]), **{end: float(found[end]) for end in ("black", "white")}}
    except (ValueError, TypeError, KeyError, OverflowError):
        return {}
    return {"grey": grey} if math.isfinite(grey["black"]) and math.isfinite(grey["white"]) else {}


def video_line(record: dict[str, Any]) -> str:
    """Return the record in one line."""
    line = "{path}: video {width}x{height}, {frames} frame{s}".format(**record, s="s" * (record["frames"] != 1))
    if record["rate"] is not None:
        line += f", {record['rate']:.6g} frames/s"
    if "grey" in record:
        line += ", disparity in px as {bits}-bit grey: black {black:.4g}, white {white:.4g}".format(**record["grey"])
    return line
