"""What several commands share: options, the type of paths, and small helpers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from .say import in_options, say

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Command(click.Command):
    """A command whose usage errors point to its own help, those of click's option parser included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = ctx
            raise


class OptionalArgument(click.Argument):
    """An argument that the usage line puts in brackets. Errors name it without them."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [f"[{self.human_readable_name}]"]


def file_path(value: str) -> str:
    """The type of files and folders. It refuses an empty path, so that the message names the argument."""
    if not value:
        raise click.BadParameter("the path is empty.")
    return value


def point(value: str) -> tuple[float, float]:
    """The type of a pixel, X,Y."""
    x, _, y = value.partition(",")
    try:
        return float(x), float(y)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not X,Y, such as 640,480.") from None


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
force_option = click.option("--force", is_flag=True, help="Replace existing files.")
quiet_option = click.option("--quiet", is_flag=True, help="Print no progress and no summary.")


def report_options(function: _Function) -> _Function:
    """The options ``--json``, ``--force`` and ``--quiet`` of a command that writes files and reports."""
    return json_option(force_option(quiet_option(function)))


threads_option = click.option(
    "--threads",
    type=int,
    metavar="N",
    help="Number of threads. By default that of the environment variable DUALPIX_THREADS, else all cores.",
)
cache_option = click.option(
    "--cache", type=file_path, metavar="DIR", help="Keep finished maps here. By default in your cache folder."
)


def map_output_option(what: str) -> Callable[[_Function], _Function]:
    """The option ``-o`` of a map, whose suffix gives the format; `what` says what is in it."""
    return output_option(f"{what} to write: .tif, .tiff, .pfm, .npy, .png, .exr, .jpg, .ply or .glb.")


def calibration_option(help: str) -> Callable[[_Function], _Function]:
    """The option ``--calibration``."""
    return click.option("--calibration", type=file_path, metavar="FILE.json", help=help)


def output_option(help: str, metavar: str = "OUT") -> Callable[[_Function], _Function]:
    """The option ``-o``, which must be given."""
    return click.option("-o", "--output", type=file_path, metavar=metavar, required=True, help=help)


def first_option(function: _Function) -> _Function:
    """The option ``--first``."""
    return click.option(
        "--first",
        type=click.Choice(["left", "right"]),
        help="The view that comes first in one file; in a raw file the half that is stored. Left by default; in a raw "
        "file the vignetting decides.",
    )(function)


def reading_options(function: _Function) -> _Function:
    """The options that say how one file holds both views."""
    layout = click.option(
        "--layout",
        type=click.Choice(["side-by-side", "top-bottom"]),
        help="How a plain picture holds both views. Raw files, MPO and pages need none.",
    )
    return layout(first_option(function))


def optics_option(default: str) -> Callable[[_Function], _Function]:
    """The option ``--optics``; `default` says what holds without it."""
    return click.option(
        "--optics",
        metavar="OPTICS",
        help="How a point out of focus is spread: half-disc, pupil:split=S,overlap=O,cat-eye=C or "
        f"measured:LEFT.npy,RIGHT.npy[,ROWSxCOLUMNS]. {default}",
    )


def method_options(function: _Function) -> _Function:
    """Options of commands that match views: the parameters, the axis, and the calibration."""
    options = (
        click.option("--preset", metavar="NAME", help="Preset to start from, by default auto. See dualpix presets."),
        click.option(
            "--config",
            type=file_path,
            metavar="FILE.toml",
            help="File with parameters. dualpix presets NAME prints one.",
        ),
        click.option(
            "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Set one parameter. May be repeated."
        ),
        click.option(
            "--range",
            "search",
            type=(float, float),
            metavar="MIN MAX",
            help="Smallest and largest disparity to search, in pixels, before any correction by --calibration.",
        ),
        click.option(
            "--axis",
            type=click.Choice(["x", "y"]),
            help="Direction in which the views are shifted. By default it is detected; stereo presets take x.",
        ),
        click.option(
            "--filter",
            "smoothing",
            type=click.Choice(["none", "guided", "solver"]),
            help="Smooth the finished map, but not across the edges of the picture.",
        ),
        click.option("--mask-occluded", is_flag=True, help="Write NaN where the two views disagree. Doubles the time."),
        calibration_option("Correct views and map with this file, made by dualpix calibrate."),
        click.option("--camera", metavar="NAME", help="Your camera and lens. A calibration of another one is refused."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def png_options(function: _Function) -> _Function:
    """The options ``--png`` and ``--near``."""
    near = click.option("--near", type=click.Choice(["white", "black"]), help="What near is in grey. By default white.")
    kind = click.option(
        "--png",
        type=click.Choice(["kitti", "grey", "grey8", "mm"]),
        help="What a .png file holds: disparities (kitti), 16-bit or 8-bit grey, or millimetres (mm).",
    )
    return kind(near(function))


def check_camera(camera: str | None, calibration: str | None) -> None:
    """Refuse --camera without --calibration."""
    if camera is not None and calibration is None:
        raise click.UsageError("--camera checks a calibration: give --calibration too")


def look_options(function: _Function) -> _Function:
    """Options of commands that write a map by suffix: ``--photo``, ``--fov``, ``--png`` and ``--near``."""
    photo = click.option(
        "--photo", type=file_path, metavar="IMAGE", help="Picture for .exr, .jpg, .ply and .glb files."
    )
    fov = click.option(
        "--fov",
        type=float,
        metavar="DEGREES",
        help="Angle of view of the longer side, for .ply and .glb files. 45 if it is not known.",
    )
    return photo(fov(png_options(function)))


def given(**paths: str | None) -> dict[str, str]:
    """The paths that were given, by name."""
    return {name: path for name, path in paths.items() if path is not None}


def echo_json(record: dict[str, Any]) -> None:
    """Print a record as JSON."""
    from ..io.sidecar import to_json

    click.echo(to_json(record))


def report(
    record: dict[str, Any],
    summary: Callable[[dict[str, Any]], str],
    as_json: bool,
    quiet: bool = False,
    warnings: Iterable[str] = (),
) -> None:
    """Print warnings on stderr, then the record as JSON or its summary."""
    for warning in warnings:
        say(f"warning: {in_options(warning)}", err=True)
    if as_json:
        echo_json(record)
    elif not quiet:
        say(summary(record))
