"""``dualpix calibrate``: what a camera and lens do to views and disparities."""

from __future__ import annotations

import click

from ..errors import OutputError
from .options import Command, file_path, force_option, json_option, quiet_option, threads_option
from .progress import progress_bar


@click.command(cls=Command)
@click.option("-o", "--output", type=file_path, metavar="FILE.json", required=True, help="Calibration to write.")
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
    help="Set one parameter for matching the planes. May be repeated.",
)
@threads_option
@json_option
@force_option
@quiet_option
def calibrate(
    output: str,
    white: tuple[tuple[str, str], ...],
    planes: tuple[tuple[str, str], ...],
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

    Photograph a white sheet, a textured plane, or both. Every photo must be out of focus and have the same size in
    pixels as the shots you will correct.

    The white sheet is evenly lit. It shows how much each view darkens towards the borders.

    The textured plane, such as a poster, is square to the camera and fills the picture. Its true disparity is the
    same everywhere, so it shows how the lens changes the disparity over the picture. One plane gives the scale
    (gain). Two or more at different distances, in front of the focus and behind it, also give the offset.

    To use the result: dualpix disparity --calibration FILE.json

    \b
    Examples:
      dualpix calibrate -o lens.json --white sheet_l.png sheet_r.png
      dualpix calibrate -o lens.json --plane l1.png r1.png --plane l2.png r2.png
    """
    from ..camera.calibrate import calibrate as find
    from ..camera.calibrate import summary
    from ..io import OutputSet
    from ..params import parse_setting

    inputs = [path for pair in (*white, *planes) for path in pair]
    if not output.lower().endswith(".json"):
        raise OutputError(f"{output}: a calibration is a .json file: give it that suffix")
    with OutputSet([output], inputs, force) as files:
        with progress_bar(not quiet) as progress:
            found = find(
                white,
                planes,
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
        click.echo(f"{output}: {summary(found)}")
