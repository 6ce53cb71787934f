"""``dualpix video``: the maps of a clip."""

from __future__ import annotations

from typing import Any

import click

from . import signals
from .batch import duration
from .options import (
    Command,
    OptionalArgument,
    check_camera,
    file_path,
    method_options,
    output_option,
    reading_options,
    report,
    report_options,
    threads_option,
)
from .progress import progress_bar


@click.command(cls=Command)
@click.argument("left", type=file_path)
@click.argument("right", cls=OptionalArgument, type=file_path, metavar="RIGHT", required=False)
@output_option("Folder of frames to write (a name without a suffix), or a grey video (.mkv).")
@click.option(
    "--format",
    type=click.Choice(["tiff", "png", "gray16", "gray12", "gray10"]),
    help="Frames: tiff (float32, the default) or png (16-bit grey). Video: gray16 (the default), gray12 or gray10.",
)
@click.option(
    "--grey",
    type=(float, float),
    metavar="FAR NEAR",
    help="Disparities that are black and white, in pixels. By default the range searched in the first frame.",
)
@click.option("--preview", type=file_path, metavar="FILE", help="Also write a colour video: .webm, .mp4 or .mkv.")
@click.option("--fps", type=float, metavar="N", help="Frames a second to write. By default those of LEFT, else 25.")
@click.option(
    "--two-sided", is_flag=True, help="Let a frame know the frames after it, too. Steadier, but takes longer."
)
@click.option(
    "--motion",
    type=click.Choice(["flow", "none"]),
    default="flow",
    help="How motion is found: by optical flow, or not at all, for a camera on a tripod and a scene at rest.",
)
@click.option(
    "--weight",
    type=float,
    metavar="W",
    help="How strong the frame before is. More is steadier, 0 solves every frame alone. By default 2.",
)
@reading_options
@method_options
@click.option(
    "--mem-limit",
    type=float,
    metavar="GB",
    help="Refuse a clip that needs more memory than this beside its views. By default all that is free.",
)
@threads_option
@report_options
def video(
    left: str,
    right: str | None,
    output: str,
    format: str | None,
    grey: tuple[float, float] | None,
    preview: str | None,
    fps: float | None,
    two_sided: bool,
    preset: str | None,
    config: str | None,
    settings: tuple[str, ...],
    search: tuple[float, float] | None,
    smoothing: str | None,
    camera: str | None,
    layout: str | None,
    first: str | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    **others: Any,
) -> None:
    """Match every frame of a clip and write steady disparity maps.

    LEFT and RIGHT are two videos, or two folders of numbered frames, or two patterns such as left_%04d.png. Without
    RIGHT, LEFT holds both views: a video with --layout, or a folder of raw files or of other files with two views.
    Videos need the extra: pip install 'dualpix[video]'.

    What was found in a frame, moved with the picture, helps to find the next one. So maps flicker less. After a cut
    everything starts anew.

    d = x_left - x_right in pixels, larger is nearer. TIFF frames hold the disparities as they are. Grey frames and
    videos are linear: FAR is black and NEAR is white. A .json file says which, as do the metadata of a video.

    The work is done in segments of 48 frames, which are kept in OUT.parts until all are finished. The same command
    goes on after the last finished segment.

    \b
    Examples:
      dualpix video left.mp4 right.mp4 -o depth.mkv --preview depth.webm
      dualpix video both.mov --layout side-by-side -o frames
      dualpix video lefts rights -o depth --format png --grey -3 3
      dualpix video "l_%04d.png" "r_%04d.png" -o depth.mkv --fps 24 --two-sided
    """
    from ..clips.api import Order, make_clip
    from ..clips.source import open_clip
    from ..clips.target import check_bounds, check_rate, target_of
    from ..method.sequence import Sequence
    from ..params import chosen

    check_camera(camera, others["calibration"])
    name, params = chosen(preset, config, settings, search, smoothing)
    target = target_of(output, format, preview)
    check_bounds(grey)
    rate = check_rate(fps)
    if others["weight"] is None:
        del others["weight"]
    sequence = Sequence(params, **others)
    sequence.filming.lens.check_camera(camera)
    order = Order(open_clip(left, right, layout, first), target, grey, rate, two_sided, name)
    signals.goes_on = True
    with progress_bar(not quiet) as progress:
        record = make_clip(order, sequence, force, progress)
    report(record, _summary, as_json, quiet, record["warnings"])


def _summary(record: dict[str, Any]) -> str:
    from ..io.sidecar import describe

    outputs = record["outputs"]
    frames, kept = record["frames"], record["kept"]
    what = f"{frames} frames of {record['width']}x{record['height']}, {describe(record['disparity'])} px"
    how = f"{duration(record['seconds'])}, {(frames - kept) / max(record['seconds'], 1e-9):.3g} frames/s"
    before = f", {kept} frames were finished before" if kept else ""
    cuts = f", cuts before frame {', '.join(map(str, record['cuts']))}" if record["cuts"] else ""
    others = ", ".join(path for role, path in outputs.items() if role != "disparity")
    return f"{outputs['disparity']}: {what}{cuts}\n{how}{before}; also wrote {others}"
