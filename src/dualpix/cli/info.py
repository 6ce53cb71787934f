"""``dualpix info``: what images, raw files, maps, models, videos and calibrations hold."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from .options import Command, echo_json, file_path, json_option
from .say import say


@click.command(cls=Command)
@click.argument("files", type=file_path, metavar="FILE...", nargs=-1, required=True)
@json_option
def info(files: tuple[str, ...], as_json: bool) -> None:
    """Describe images, raw files, maps, videos and calibrations.

    Prints the format and size of each FILE, and what it says about the shot: camera, lens, focal length, aperture and
    focus distance. For a raw file also its dual-pixel frames with their black and white. For a map also the smallest
    and largest value with their unit, and the .json file that tells how the map was made. For a .ply or .glb file the
    number of points. For a video its frames, and what grey means in one of dualpix video. For a calibration, or a
    .json file of a map, a video, a batch or dualpix split, what it holds.

    \b
    Example:
      dualpix info IMG_0001.CR3 left.png out.tiff lens.json
    """
    records, errors = [], []
    for file in files:
        try:
            record, line = _described(file)
        except InputError as error:
            errors.append(str(error))
        else:
            records.append(record)
            if not as_json:
                say(line)
    if errors:
        raise InputError("; ".join(errors))
    if as_json:
        echo_json({"files": records})


def _described(file: str) -> tuple[dict[str, Any], str]:
    """The record and the line of a file."""
    from ..io.inspection import file_line, file_record, json_line, json_record
    from ..io.video_files import video_line, video_record

    if file.lower().endswith(".json"):
        from ..camera.lens_file import read_calibration

        if (found := json_record(file)) is not None:
            return found, json_line(found)
        lens = read_calibration(file)
        record = {"path": file, "format": "calibration", **lens.to_dict(), "white_sheets": lens.white is not None}
        if lens.metric is not None:
            record["focus_distance"] = lens.metric.focus_distance
        return record, _calibration_line(record)
    if (video := video_record(file)) is not None:
        return video, video_line(video)
    record = file_record(file)
    return record, file_line(record)


def _calibration_line(record: dict[str, Any]) -> str:
    parts = [
        "white sheets" if record["white_sheets"] else None,
        "lens field" if record["gain"] else None,
        f"{len(record['planes'])} planes" if record["planes"] else None,
        f"{len(record['scenes'])} scenes" if record["scenes"] else None,
        f"metres, focus at {record['focus_distance']:.3g} m" if "metric" in record else None,
    ]
    camera = f", {record['camera']}" if record["camera"] else ""
    holds = ", ".join(part for part in parts if part) or "nothing"
    size = f"{record['width']}x{record['height']}"
    return f"{record['path']}: calibration for {size}{camera}, along {record['axis']}: {holds}"
