"""``dualpix disparity``: the map of one shot."""

from __future__ import annotations

from typing import Any

import click

from .lean import quick_imports
from .options import (
    Command,
    OptionalArgument,
    check_camera,
    file_path,
    given,
    look_options,
    map_output_option,
    method_options,
    reading_options,
    report,
    report_options,
    threads_option,
)
from .progress import progress_bar


@click.command(cls=Command)
@click.argument("left", type=file_path)
@click.argument("right", cls=OptionalArgument, type=file_path, metavar="RIGHT", required=False)
@map_output_option("Map")
@reading_options
@method_options
@click.option(
    "--guide",
    type=file_path,
    metavar="IMAGE",
    help="Keep the edges of this image or raw file instead of those of LEFT.",
)
@click.option(
    "--hints",
    type=file_path,
    metavar="FILE.json",
    help="Strokes that tell how near regions are, or that they are unknown. dualpix app writes such files.",
)
@click.option(
    "--confidence",
    type=file_path,
    metavar="FILE",
    help="Also write how reliable each pixel is, 0 to 1, as .tif, .tiff, .pfm or .npy.",
)
@look_options
@click.option("--preview", type=file_path, metavar="FILE.png", help="Also write a colour picture of the map.")
@click.option(
    "--mem-limit",
    type=float,
    metavar="GB",
    help="Refuse a shot that needs more memory than this beside its views. By default all that is free.",
)
@threads_option
@report_options
def disparity(
    left: str,
    right: str | None,
    output: str,
    preset: str | None,
    config: str | None,
    settings: tuple[str, ...],
    search: tuple[float, float] | None,
    guide: str | None,
    smoothing: str | None,
    calibration: str | None,
    camera: str | None,
    confidence: str | None,
    preview: str | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    layout: str | None,
    first: str | None,
    **others: Any,
) -> None:
    """Match the two views of a shot and write a disparity map.

    The disparity of a pixel is its shift between the views LEFT and RIGHT, in pixels: d = x_left - x_right. Larger is
    nearer. With a dual-pixel camera 0 is in focus and negative is behind the focus.

    Without RIGHT, LEFT is one file with both views: a dual-pixel raw file (CR2, CR3 or DNG), an MPO, a TIFF with two
    pages, a capture folder of Google's set, NAME_left.pgm of the Pixel capture app, or a picture with --layout.

    A .tif, .tiff, .pfm, .npy or .exr file holds the disparities as they are (float32). A .png file holds 16-bit
    integers in KITTI's format: 256 per pixel of disparity, never negative; with --png grey it is a grey picture. A .jpg
    file is a photo with depth inside, a .ply file a point cloud and a .glb file a mesh; they show LEFT or the guide, or
    the picture of a raw file, unless --photo is given. A .json file beside OUT records the parameters, the sign and the
    timings.

    --range and --filter override --set, --set overrides --config, and --config overrides the preset. --preset
    overrides the preset that the config names. The order of the options does not matter.

    \b
    Examples:
      dualpix disparity left.png right.png -o out.tiff --preview out.png
      dualpix disparity IMG_0001.CR3 -o out.tiff --preview out.png
      dualpix disparity both.jpg --layout side-by-side -o out.tiff
      dualpix disparity left.png right.png -o out.npy --range -5 5 --filter solver
      dualpix disparity left.png right.png -o out.png --png grey --near white
      dualpix disparity left.png right.png -o out.exr
      dualpix disparity im0.png im1.png -o out.pfm --preset stereo --mask-occluded
    """
    with quick_imports():
        from ..batches.capture import Capture, make, write
        from ..io import OutputSet
        from ..io.sidecar import sidecar_path
        from ..look import Look
        from ..params import chosen
        from ..run import thread_count

    check_camera(camera, calibration)
    name, params = chosen(preset, config, settings, search, smoothing)
    outputs = given(disparity=output, sidecar=sidecar_path(output), confidence=confidence, preview=preview)
    look = Look(**{name: others.pop(name) for name in ("photo", "fov", "png", "near")})
    capture = Capture(
        name=output,
        left=left,
        right=right,
        guide=guide,
        calibration=calibration,
        config=config,
        outputs=outputs,
        preset=name,
        params=params,
        layout=layout,
        first=first,
        camera=camera,
        look=look.checked(output, "px", guide or left, (None, None) if guide else (layout, first)),
        threads=thread_count(threads),
        **others,
    )
    roles = {outputs["sidecar"]: f"the sidecar of {output}"}
    with OutputSet(outputs.values(), capture.inputs.values(), force, roles) as files:
        capture.check()
        with progress_bar(not quiet) as progress:
            made = make(capture, progress)
        write(files, capture, made)
    report(made.record, _summary, as_json, quiet, made.record["warnings"])


def _summary(record: dict[str, Any]) -> str:
    from ..method.result import in_words

    outputs = record["outputs"]
    others = ", ".join(path for name, path in outputs.items() if name != "disparity")
    what, how = in_words(record)
    return f"{outputs['disparity']}: {what}\n{how}; also wrote {others}"
