"""``dualpix disparity``: the map of one shot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from .options import (
    Command,
    OptionalArgument,
    calibration_option,
    file_path,
    given,
    look_options,
    map_output_option,
    reading_options,
    report,
    report_options,
    threads_option,
)
from .progress import progress_bar

if TYPE_CHECKING:
    from ..camera.lens import Calibration
    from ..io import OutputSet
    from ..look import Look
    from ..method.result import Result
    from ..params import Params


@click.command(cls=Command)
@click.argument("left", type=file_path)
@click.argument("right", cls=OptionalArgument, type=file_path, metavar="RIGHT", required=False)
@map_output_option("Map")
@reading_options
@click.option("--preset", metavar="NAME", help="Preset to start from, by default auto. See dualpix presets.")
@click.option(
    "--config", type=file_path, metavar="FILE.toml", help="File with parameters. dualpix presets NAME prints one."
)
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Set one parameter. May be repeated.")
@click.option(
    "--range",
    "search",
    type=(float, float),
    metavar="MIN MAX",
    help="Smallest and largest disparity to search, in pixels, before any correction by --calibration.",
)
@click.option(
    "--axis",
    type=click.Choice(["x", "y"]),
    help="Direction in which the views are shifted. By default it is detected; stereo presets take x.",
)
@click.option(
    "--guide",
    type=file_path,
    metavar="IMAGE",
    help="Keep the edges of this image or raw file instead of those of LEFT.",
)
@click.option(
    "--filter",
    "smoothing",
    type=click.Choice(["none", "guided", "solver"]),
    help="Smooth the finished map, but not across the edges of the picture.",
)
@click.option(
    "--hints",
    type=file_path,
    metavar="FILE.json",
    help="Strokes that tell how near regions are, or that they are unknown. dualpix app writes such files.",
)
@click.option("--mask-occluded", is_flag=True, help="Write NaN where the two views disagree. Doubles the time.")
@calibration_option("Correct views and map with this file, made by dualpix calibrate.")
@click.option("--camera", metavar="NAME", help="Your camera and lens. A calibration of another one is refused.")
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
    axis: str | None,
    guide: str | None,
    smoothing: str | None,
    hints: str | None,
    mask_occluded: bool,
    calibration: str | None,
    camera: str | None,
    confidence: str | None,
    preview: str | None,
    mem_limit: float | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    layout: str | None,
    first: str | None,
    **look: Any,
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
    from ..io.sidecar import sidecar_path
    from ..look import Look

    name, params = _parameters(preset, config, settings, search, smoothing)
    style = Look(**look).checked(output, "px", guide or left, (None, None) if guide else (layout, first))
    others = given(guide=guide, config=config, hints=hints, calibration=calibration, photo=look["photo"])
    inputs = _views(left, right) | others
    outputs = given(disparity=output, sidecar=sidecar_path(output), confidence=confidence, preview=preview)
    with _output_set(outputs, inputs, params, style, force) as files:
        from ..method import api
        from ..run import opencv_threads, thread_count

        threads = thread_count(threads)
        lens = _calibration(calibration, camera)
        with progress_bar(not quiet) as progress, opencv_threads(threads):
            result = api.disparity(
                left,
                right,
                params,
                guide,
                axis=axis,
                calibration=lens,
                mask_occluded=mask_occluded,
                hints=hints or (),
                mem_limit=mem_limit,
                threads=threads,
                progress=progress,
                layout=layout,
                first=first,
            )
        result = replace(result, disparity=style.held(output, result.disparity, result.searched, bool(lens)))
        record = result.record(name, threads, lens, inputs, outputs)
        _write(files, outputs, result, record, style)
    report(record, _summary, as_json, quiet, result.warnings)


# ---- before matching -----------------------------------------------------------------------------


def _parameters(
    preset: str | None,
    config: str | None,
    settings: tuple[str, ...],
    search: tuple[float, float] | None,
    smoothing: str | None,
) -> tuple[str, Params]:
    """The name of the preset, and its parameters after the config, --set, --range and --filter."""
    from ..params import DEFAULT_PRESET, complete, load_config, parse_setting, resolve
    from ..params import preset as preset_of

    overrides = {} if config is None else load_config(config)
    configured = overrides.pop("preset", DEFAULT_PRESET)
    name = configured if preset is None else preset
    base = preset_of(name)
    if complete(overrides):  # it replaces every value of the preset that was named
        base, overrides = preset_of(configured).replace(**overrides), {}
    overrides.update(map(parse_setting, settings))
    if search is not None:
        overrides["range"] = search
    if smoothing is not None:
        overrides["filter"] = smoothing
    return name, resolve(base, overrides)


def _views(left: str, right: str | None) -> dict[str, str]:
    """The files of the views, by role."""
    if right is not None:
        return {"left": left, "right": right}
    from ..io.pairs import files_of

    return files_of(left)


def _output_set(outputs: dict[str, str], inputs: dict[str, str], params: Params, look: Look, force: bool) -> OutputSet:
    """The outputs, after every check that needs no result."""
    from ..io import OutputSet, check_confidence_path, check_preview_path
    from ..method.kinds import method_of

    if "confidence" in outputs:
        check_confidence_path(outputs["confidence"])
    if "preview" in outputs:
        check_preview_path(outputs["preview"])
    roles = {outputs["sidecar"]: f"the sidecar of {outputs['disparity']}"}
    files = OutputSet(outputs.values(), inputs.values(), force, roles)
    look.check_sign(outputs["disparity"], method_of(params).never_negative)
    return files


def _calibration(path: str | None, camera: str | None) -> Calibration | None:
    if path is None:
        if camera is not None:
            raise click.UsageError("--camera checks a calibration: give --calibration too")
        return None
    from ..camera.lens_file import read_calibration

    lens = read_calibration(path)
    lens.check_camera(camera)
    return lens


# ---- after matching ------------------------------------------------------------------------------


def _write(files: OutputSet, outputs: dict[str, str], result: Result, record: dict[str, Any], look: Look) -> None:
    from ..io import encode_map, encode_preview
    from ..io.sidecar import to_json
    from ..look import file_and_notes

    output = outputs["disparity"]
    data, notes = file_and_notes(output, look.layers(output, result.disparity, "px", result.confidence), look)
    record |= notes
    files.write(output, data)
    if "confidence" in outputs:
        files.write(outputs["confidence"], encode_map(outputs["confidence"], result.confidence))
    if "preview" in outputs:
        files.write(outputs["preview"], encode_preview(result.disparity))
    files.write(outputs["sidecar"], to_json(record).encode())


def _summary(record: dict[str, Any]) -> str:
    from ..method.result import in_words

    outputs = record["outputs"]
    others = ", ".join(path for name, path in outputs.items() if name != "disparity")
    what, how = in_words(record)
    return f"{outputs['disparity']}: {what}\n{how}; also wrote {others}"
