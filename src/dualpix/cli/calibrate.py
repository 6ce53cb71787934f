"""``dualpix calibrate``: what a camera and lens do to views and disparities."""

from __future__ import annotations

import click

from ..errors import OutputError
from .options import Command, file_path, output_option, report_options, threads_option
from .progress import progress_bar
from .say import say


@click.command(cls=Command)
@output_option("Calibration to write.", "FILE.json")
@click.option(
    "--white",
    type=(file_path, file_path),
    multiple=True,
    metavar="LEFT RIGHT",
    help="The two views of a white sheet. May be repeated.",
)
@click.option(
    "--plane",
    "planes",
    type=(file_path, file_path),
    multiple=True,
    metavar="LEFT RIGHT",
    help="The two views of a plane. May be repeated.",
)
@click.option(
    "--distance",
    "distances",
    type=float,
    multiple=True,
    metavar="M",
    help="Distance of a plane in metres, once for each plane and in the same order.",
)
@click.option(
    "--focal-length",
    type=float,
    metavar="MM",
    help="Focal length. With it, distances are from the sensor, without it from the lens.",
)
@click.option(
    "--scene",
    "scenes",
    type=(file_path, file_path, file_path),
    multiple=True,
    metavar="LEFT RIGHT DEPTH",
    help="The two views of a scene and its depth map. Two or more scenes, or one beside planes.",
)
@click.option(
    "--scene-kind",
    type=click.Choice(["inverse", "depth"]),
    help="What DEPTH holds: a value linear in inverse depth, such as a disparity, in any unit and of either sign "
    "(inverse, the default), or distances in any unit (depth). A wrong choice is refused if the views contradict it.",
)
@click.option(
    "--scene-area",
    type=click.Choice(["whole", "centre"]),
    help="What DEPTH covers: the whole picture, at any size of the same aspect ratio (whole, the default), or its "
    "centre, pixel for pixel (centre).",
)
@click.option("--camera", metavar="NAME", help="Name of the camera and lens, to keep in the file.")
@click.option(
    "--black", type=float, default=0.0, metavar="N", help="Value of a black pixel in the photos of white sheets."
)
@click.option(
    "--axis",
    type=click.Choice(["x", "y"]),
    help="Direction in which the views are shifted. By default it is detected.",
)
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Set one parameter for matching planes and scenes. May be repeated.",
)
@threads_option
@report_options
def calibrate(
    output: str,
    white: tuple[tuple[str, str], ...],
    planes: tuple[tuple[str, str], ...],
    distances: tuple[float, ...],
    focal_length: float | None,
    scenes: tuple[tuple[str, str, str], ...],
    scene_kind: str | None,
    scene_area: str | None,
    camera: str | None,
    black: float,
    axis: str | None,
    settings: tuple[str, ...],
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Measure a camera and lens, to correct later shots.

    Photograph a white sheet, textured planes, scenes whose depth you know, or several of these. Every photo must have
    the same size in pixels and the same lens settings as the shots you will correct. Sheets and planes must be out of
    focus.

    The white sheet is evenly lit. It shows how much each view darkens towards the borders.

    The textured plane, such as a poster, is square to the camera and fills the picture. Its true disparity is the
    same everywhere, so it shows how the lens changes the disparity over the picture. One plane gives the scale
    (gain). Two or more at different distances, in front of the focus and behind it, also give the offset. If you know
    the distances, give them: dualpix depth then gives metres.

    The depth of a scene may come from a depth camera, a phone's lidar or a stereo rig. It is as seen in the left view;
    0, NaN and infinity are unknown. Several scenes at various depths show the same as planes, less precisely.

    To use the result: dualpix disparity --calibration FILE.json

    \b
    Examples:
      dualpix calibrate -o lens.json --white sheet_l.png sheet_r.png
      dualpix calibrate -o lens.json --plane l1.png r1.png --plane l2.png r2.png
      dualpix calibrate -o lens.json \\
        --plane l1.png r1.png --distance 0.6 --plane l2.png r2.png --distance 1.5
      dualpix calibrate -o lens.json --scene-kind depth \\
        --scene l1.png r1.png d1.png --scene l2.png r2.png d2.png
    """
    from ..camera.calibrate import calibrate as find
    from ..camera.calibrate import summary
    from ..io import OutputSet
    from ..params import parse_setting

    inputs = [path for capture in (*white, *planes, *scenes) for path in capture]
    if not output.lower().endswith(".json"):
        raise OutputError(f"{output}: a calibration is a .json file: give it that suffix")
    with OutputSet([output], inputs, force) as files:
        with progress_bar(not quiet) as progress:
            found = find(
                white,
                planes,
                scenes,
                distances=distances,
                focal_length=focal_length,
                scene_kind=scene_kind,
                scene_area=scene_area,
                camera=camera,
                black=black,
                axis=axis,
                threads=threads,
                progress=progress,
                **dict(map(parse_setting, settings)),
            )
        text = found.to_json()
        files.write(output, text.encode())
    if as_json:
        click.echo(text, nl=False)
    elif not quiet:
        say(f"{output}: {summary(found)}")
