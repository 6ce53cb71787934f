"""``dualpix split``: the two views of one file."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from .options import Command, file_path, force_option, json_option, output_option, reading_options, report

if TYPE_CHECKING:
    from ..types import Image

VIEWS = ("left.tiff", "right.tiff")
PICTURE, SIDECAR = "picture.tiff", "split.json"


@click.command(cls=Command)
@click.argument("file", type=file_path)
@output_option("Folder to write to. Made if missing.", "DIR")
@click.option("--linear", is_flag=True, help="Write linear light instead of display brightness (sRGB). For raw files.")
@reading_options
@json_option
@force_option
def split(
    file: str, output: str, linear: bool, layout: str | None, first: str | None, as_json: bool, force: bool
) -> None:
    """Take the two views out of one file.

    FILE is a dual-pixel raw file: a CR2 or CR3 of a Canon camera taken with Dual Pixel RAW switched on, or a DNG made
    from one. It may also be any other file that dualpix disparity takes alone.

    \b
    Written into DIR, with 16 bits:
      left.tiff, right.tiff  the two views; grey if FILE is a raw file
      picture.tiff           the colour picture of a raw file or a folder
      split.json             camera, black and white, clipped pixels, and which
                             half is the left view and why

    \b
    Examples:
      dualpix split IMG_0001.CR3 -o views
      dualpix split both.jpg --layout side-by-side -o views
    """
    from ..io import OutputSet, output_folder
    from ..io.one_file import files_of
    from ..io.sidecar import to_json
    from ..io.split import encode_tiff16, split_file

    paths = {name: os.path.join(output, name) for name in (*VIEWS, PICTURE, SIDECAR)}
    with output_folder(output), OutputSet(paths.values(), files_of(file).values(), force) as files:
        found = split_file(file, linear=linear, layout=layout, first=first)
        images: dict[str, Image | None] = dict(zip((*VIEWS, PICTURE), found.images, strict=True))
        for name, image in images.items():
            if image is None:
                files.remove(paths[name])  # that of an earlier split
            else:
                files.write(paths[name], encode_tiff16(image, found.orientation))
        record: dict[str, Any] = {
            **found.record,
            "outputs": [name for name, image in images.items() if image is not None],
        }
        files.write(paths[SIDECAR], to_json(record).encode())
    report(record, partial(_summary, output), as_json, warnings=found.notes)


def _summary(output: str, record: dict[str, Any]) -> str:
    line = f"{output}: {', '.join(record['outputs'])}, {record['width']}x{record['height']}"
    if "half" in record:
        half = record["half"]
        line += (
            f"\nthe stored half is the {half['half']} view ({half['reason']}, tilt {half['tilt']:+.2f}); "
            f"both halves are {record['ratio']:.2f} times as bright as it; {record['clipped']:.2%} of the pixels "
            "are clipped"
        )
    return line
