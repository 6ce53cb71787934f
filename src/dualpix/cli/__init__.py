"""The command line.

Nothing heavy is imported with this module; each command imports what it needs, so that help is instant.
Results go to stdout, progress and errors to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..errors import DualpixError, InputError, OutputError
from ..io.sidecar import describe, map_record, sidecar_path, to_json
from .progress import progress_bar, step_bar

if TYPE_CHECKING:
    from ..camera.calibrate import Calibration
    from ..io import OutputSet
    from ..params import Params

PROTOCOLS = ("proper", "paper-dslr", "paper-google", "paper-stereo")
DATASETS = ("dslr", "google", "pixel4", "r6ii", "middlebury")
SECTIONS = ("methods", "stages", "scaling", "kernels", "memory")  # of bench


# ---- running and failing -------------------------------------------------------------------------


NO_MEMORY = "not enough memory for images of this size: close other programs or use smaller ones"
OPENCV_NO_MEMORY = -4  # the code of its error


def run() -> None:
    """The console script ``dualpix``."""
    if isinstance(sys.stdout, TextIOWrapper):  # file names may hold what the terminal's encoding cannot show
        sys.stdout.reconfigure(errors="backslashreplace")
    code = main(sys.argv[1:])
    try:
        click.echo(nl=False)  # flushes stdout, where there is one
    except OSError:
        # Nobody takes the rest of the output; Python would complain when it tries again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


def main(args: Sequence[str]) -> int:
    """Run the command with `args` and return the exit code: 0 done, 2 bad input or usage, 1 anything else."""
    try:
        return _invoke(args)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "dualpix"
        message = error.format_message()
        stop = "" if message.endswith((".", "?", "!")) else "."
        return _fail(f"{message}{stop} See {command} --help.", 2)
    except DualpixError as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 1)
    except BrokenPipeError:
        return 1
    except MemoryError:
        return _fail(NO_MEMORY, 1)
    except Exception as error:
        if getattr(error, "code", None) == OPENCV_NO_MEMORY:
            return _fail(NO_MEMORY, 1)
        if os.environ.get("DUALPIX_DEBUG") == "1":
            traceback.print_exc()
        if isinstance(error, OSError) and error.filename is None:  # no file, so it is stdout
            return _fail(f"results cannot be written to stdout ({error.strerror}): send them elsewhere", 1)
        return _fail(f"internal: {type(error).__name__}: {error} (DUALPIX_DEBUG=1 shows where)", 1)


def _invoke(args: Sequence[str]) -> int:
    code = 0
    try:
        with cli.make_context("dualpix", list(args)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:  # --help and --version end this way
        code = done.exit_code
    click.echo(nl=False)  # flushes: output that cannot be written is a failure too
    return code


def _fail(message: str, code: int) -> int:
    click.echo("error: " + " ".join(message.splitlines()), err=True)
    return code


# ---- the group -----------------------------------------------------------------------------------


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from .. import __version__

        click.echo(f"dualpix {__version__}")
        context.exit()


class _Command(click.Command):
    """A command that its usage errors know of, even those of click's option parser."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = ctx
            raise


class _Group(click.Group):
    command_class = _Command


def _path(value: str) -> str:
    """The type of files and folders: an empty one is refused here, where its argument is known."""
    if not value:
        raise click.BadParameter("the path is empty.")
    return value


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show version.",
)
@click.pass_context
def cli(context: click.Context) -> None:
    """Depth from a single shot of a dual-pixel camera.

    \b
    Example:
      dualpix disparity left.png right.png -o out.tiff --preview out.png
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
force_option = click.option("--force", is_flag=True, help="Replace files that exist.")


# ---- disparity -----------------------------------------------------------------------------------


@cli.command()
@click.argument("left", type=_path)
@click.argument("right", type=_path)
@click.option(
    "-o", "--output", type=_path, metavar="OUT", required=True, help="A .tif, .tiff, .pfm, .npy or KITTI .png."
)
@click.option("--preset", metavar="NAME", help="Parameters to start from; see dualpix presets.")
@click.option("--config", type=_path, metavar="FILE.toml", help="Parameters from a file of name = value lines.")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Set a parameter; repeatable.")
@click.option(
    "--range",
    "search",
    type=(float, float),
    metavar="MIN MAX",
    help="Disparities to search, px, before any calibration.",
)
@click.option(
    "--axis", type=click.Choice(["x", "y"]), help="Along which the views differ; else found out, x for stereo."
)
@click.option("--guide", type=_path, metavar="IMAGE", help="Follow the edges of this image instead of LEFT's.")
@click.option("--filter", "smoothing", type=click.Choice(["none", "guided", "solver"]), help="Smooth the finished map.")
@click.option(
    "--mem-limit",
    type=float,
    metavar="GB",
    help="Refuse what needs more beside the views; by default, more than is free.",
)
@click.option("--mask-occluded", is_flag=True, help="NaN where the two views contradict each other.")
@click.option("--calibration", type=_path, metavar="FILE.json", help="Undo what this calibration found.")
@click.option("--camera", metavar="NAME", help="Refuse a calibration of another camera.")
@click.option("--confidence", type=_path, metavar="FILE", help="Also write the confidence, 0 to 1, no .png.")
@click.option("--preview", type=_path, metavar="FILE.png", help="Also write a picture of the map.")
@click.option("--threads", type=int, metavar="N", help="By default DUALPIX_THREADS, else all cores.")
@json_option
@force_option
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def disparity(
    left: str,
    right: str,
    output: str,
    preset: str | None,
    config: str | None,
    settings: tuple[str, ...],
    search: tuple[float, float] | None,
    axis: str | None,
    guide: str | None,
    smoothing: str | None,
    mem_limit: float | None,
    mask_occluded: bool,
    calibration: str | None,
    camera: str | None,
    confidence: str | None,
    preview: str | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Match the two views of a shot and write the disparity map.

    The map is float32 in pixels of the input, d = x_left - x_right: larger is nearer; of dual pixels, 0 is in focus.
    OUT's parameters, timings and sign go into a .json file beside it.

    --range and --filter override --set, which overrides --config, which overrides the preset; --preset overrides the
    config's preset. Their order does not matter.

    \b
    Examples:
      dualpix disparity left.png right.png -o out.tiff --range -5 5 --preview out.png
      dualpix disparity im0.png im1.png -o out.pfm --preset stereo --mask-occluded
    """
    options = {"range": search, "filter": smoothing}
    name, params = _parameters(preset, config, settings, {k: v for k, v in options.items() if v is not None})
    inputs = _given(left=left, right=right, guide=guide, config=config, calibration=calibration)
    outputs = _given(disparity=output, sidecar=sidecar_path(output), confidence=confidence, preview=preview)
    with _output_set(outputs, inputs, force) as files:
        from ..io import encode_map, encode_preview
        from ..method import pipeline
        from ..run import opencv_threads, thread_count

        threads = thread_count(threads)
        lens = _calibration(calibration, camera)
        with progress_bar(not quiet) as report, opencv_threads(threads):
            result = pipeline.disparity(
                left,
                right,
                params,
                guide,
                axis=axis,
                calibration=lens,
                mask_occluded=mask_occluded,
                mem_limit=mem_limit,
                threads=threads,
                progress=report,
            )
        files.write(output, encode_map(output, result.disparity))
        if confidence is not None:
            files.write(confidence, encode_map(confidence, result.confidence))
        if preview is not None:
            files.write(preview, encode_preview(result.disparity))
        record = {
            **map_record(output, result.disparity, result.axis),
            "axis_evidence": result.evidence and result.evidence.to_dict(),
            "preset": name,
            "parameters": result.params.to_dict(),
            "searched": result.searched,
            "threads": threads,
            "timings": result.timings,
            "warnings": result.warnings,
            "calibration": lens and lens.to_dict(),
            "mask_occluded": mask_occluded,
            "inputs": inputs | ({"calib": str(result.calib)} if result.calib else {}),
            "outputs": outputs,
        }
        files.write(outputs["sidecar"], to_json(record).encode())
    for warning in result.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        click.echo(to_json(record))
    elif not quiet:
        click.echo(_summary(record))


def _given(**paths: str | None) -> dict[str, str]:
    return {name: path for name, path in paths.items() if path is not None}


def _output_set(outputs: dict[str, str], inputs: dict[str, str], force: bool) -> OutputSet:
    """The outputs, checked in every way that needs no result."""
    from ..io import OutputSet, check_confidence_path, check_map_path, check_preview_path

    check_map_path(outputs["disparity"])
    if "confidence" in outputs:
        check_confidence_path(outputs["confidence"])
    if "preview" in outputs:
        check_preview_path(outputs["preview"])
    roles = {outputs["sidecar"]: f"the sidecar of {outputs['disparity']}"}
    return OutputSet(outputs.values(), inputs.values(), force, roles)


def _parameters(
    preset: str | None, config: str | None, settings: tuple[str, ...], options: dict[str, Any]
) -> tuple[str, Params]:
    """Name of the preset, and its parameters after config, settings and options of their own."""
    from ..params import DEFAULT_PRESET, load_config, parse_setting, resolve

    overrides = {} if config is None else load_config(config)
    configured = overrides.pop("preset", DEFAULT_PRESET)
    name = configured if preset is None else preset
    overrides.update(map(parse_setting, settings))
    overrides.update(options)
    return name, resolve(name, overrides)


def _calibration(path: str | None, camera: str | None) -> Calibration | None:
    if path is None:
        if camera is not None:
            raise click.UsageError("--camera is the one of --calibration: give both")
        return None
    from ..camera.calibrate import read_calibration

    lens = read_calibration(path)
    lens.check_camera(camera)
    return lens


def _summary(record: dict[str, Any]) -> str:
    outputs, (low, high) = record["outputs"], record["searched"]
    others = ", ".join(path for name, path in outputs.items() if name != "disparity")
    how = f"preset {record['preset']}, along {record['axis']}, searched {low:.4g} to {high:.4g} px"
    how += ", as calib.txt says" * ("calib" in record["inputs"])
    how += ", calibrated" * bool(record["calibration"])
    how += f", {record['parameters']['filter']} filter" * (record["parameters"]["filter"] != "none")
    return (
        f"{outputs['disparity']}: {record['width']}x{record['height']}, {describe(record['disparity'])} px\n"
        f"{how}, {sum(record['timings'].values()):.1f} s; also wrote {others}"
    )


# ---- calibrate -----------------------------------------------------------------------------------


@cli.command()
@click.option("-o", "--output", type=_path, metavar="FILE.json", required=True, help="The calibration to write.")
@click.option(
    "--white", type=(_path, _path), multiple=True, metavar="LEFT RIGHT", help="Views of a white sheet; repeatable."
)
@click.option(
    "--plane", "planes", type=(_path, _path), multiple=True, metavar="LEFT RIGHT", help="Views of a plane; repeatable."
)
@click.option("--camera", metavar="NAME", help="Name of camera and lens, kept in the file.")
@click.option("--black", type=float, default=0.0, metavar="N", help="Black level of the white sheets.")
@click.option("--axis", type=click.Choice(["x", "y"]), help="Along which the views differ; found out if not given.")
@click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Set a parameter for the planes; repeatable."
)
@click.option("--threads", type=int, metavar="N", help="By default DUALPIX_THREADS, else all cores.")
@json_option
@force_option
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
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
    """Find out what a camera and lens do to the views and to the disparity.

    White sheets, evenly lit and out of focus, give the gain of each view. Pairs of a textured plane that
    fills the picture, square to the camera and out of focus, give the gain of the disparity over the
    picture; two or more, before and behind the focus, also its offset. All pictures have the size that
    dualpix disparity --calibration FILE.json will be used on.

    \b
    Example:
      dualpix calibrate -o lens.json --plane near_l.png near_r.png --plane far_l.png far_r.png
    """
    from ..camera.calibrate import calibrate as find
    from ..camera.calibrate import summary
    from ..io import OutputSet
    from ..params import parse_setting

    inputs = [path for pair in (*white, *planes) for path in pair]
    if not output.lower().endswith(".json"):
        raise OutputError(f"{output}: a calibration is a .json file: give it that suffix")
    with OutputSet([output], inputs, force) as files:
        with progress_bar(not quiet) as report:
            found = find(
                white,
                planes,
                camera=camera,
                black=black,
                axis=axis,
                threads=threads,
                progress=report,
                **dict(map(parse_setting, settings)),
            )
        text = found.to_json()
        files.write(output, text.encode())
    if as_json:
        click.echo(text, nl=False)
    elif not quiet:
        click.echo(f"{output}: {summary(found)}")


# ---- evaluate ------------------------------------------------------------------------------------


OF_MAPS = ("gt", "protocol", "mask", "confidence", "crop")
OF_DATASETS = ("methods", "report", "table", "cache", "threads", "force", "quiet")


@cli.command()
@click.argument("est", type=_path)
@click.argument("gt", type=_path, metavar="GT", required=False)
@click.option("--protocol", type=click.Choice(PROTOCOLS), default="proper", help="How to score.")
@click.option("--mask", type=_path, metavar="FILE", help="Score only where this image is white.")
@click.option("--confidence", type=_path, metavar="FILE", help="Weight of each pixel in the affine-invariant scores.")
@click.option("--crop", type=click.IntRange(0), metavar="N", help="Leave out a border of N px.")
@click.option("--dataset", type=click.Choice(DATASETS), help="EST is the folder of this data set.")
@click.option(
    "--method",
    "methods",
    metavar="NAME",
    multiple=True,
    help="A preset, preset+guided, preset+solver, a baseline, or your own package.module:function; repeatable.",
)
@click.option("--report", type=_path, metavar="FILE.html", help="Write a page with all maps.")
@click.option("--csv", "table", type=_path, metavar="FILE", help="Write the scores of every scene.")
@click.option("--cache", type=_path, metavar="DIR", help="Folder of finished maps, to go on after an interruption.")
@click.option("--threads", type=int, metavar="N", help="By default DUALPIX_THREADS, else all cores.")
@json_option
@force_option
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
@click.pass_context
def evaluate(
    context: click.Context,
    est: str,
    gt: str | None,
    protocol: str,
    mask: str | None,
    confidence: str | None,
    crop: int | None,
    dataset: str | None,
    methods: tuple[str, ...],
    report: str | None,
    table: str | None,
    cache: str | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Score the map EST against the ground truth GT, or methods on a data set; lower is better.

    GT is in pixels and NaN or infinite where unknown (0 in a 16-bit PNG, which is read as KITTI); other
    integers are a relative depth over their full scale. The affine-invariant scores allow EST any scale
    and offset; bad pixels and RMSE allow none and need a GT in pixels.

    With --dataset, EST is the folder of a data set, or one that holds it by name, and every METHOD runs on every
    scene; what is finished is not done again. Exit status 1 if scenes were skipped or methods failed.

    \b
    Example:
      dualpix evaluate out.tiff truth.pfm --crop 20
      dualpix evaluate data --dataset pixel4 --method auto --method opencv-sgbm --report report.html
    """
    if dataset is not None:
        _refuse(context, OF_MAPS, "has no place with --dataset: leave it out")
        _evaluate_dataset(context, est, dataset, methods, report, table, cache, threads, as_json, force, quiet)
        return
    _refuse(context, OF_DATASETS, "goes with --dataset: give that too")
    if gt is None:
        raise click.UsageError("Missing argument 'GT'; for a folder of scenes, --dataset", context)
    from ..evaluation.scores import evaluate as score
    from ..evaluation.scores import score_lines

    scores = score(est, gt, protocol, mask, confidence, crop)
    click.echo(to_json({"est": est, "gt": gt, **scores}) if as_json else score_lines(scores))


def _refuse(context: click.Context, names: tuple[str, ...], why: str) -> None:
    for param in context.command.params:
        given = param.name and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
        if given and param.name in names:
            raise click.UsageError(f"{param.get_error_hint(context)} {why}", context)


def _evaluate_dataset(
    context: click.Context,
    folder: str,
    dataset: str,
    methods: tuple[str, ...],
    report: str | None,
    table: str | None,
    cache: str | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    from ..evaluation.compare import compare
    from ..evaluation.datasets import open_dataset
    from ..evaluation.methods import method
    from ..evaluation.tables import comparison_csv, comparison_lines, comparison_record
    from ..io import OutputSet

    found = open_dataset(dataset, folder)
    chosen = [method(name) for name in methods or (found.method,)]
    outputs = _given(report=report, csv=table)
    if report is not None and not report.lower().endswith((".html", ".htm")):
        raise OutputError(f"{report}: a report is an .html file: give it that suffix")
    for path in outputs.values():
        places = Path(path).resolve(), Path(path).parent.resolve()  # a link may lead into the folder or out of it
        if os.path.exists(path) and any(place.is_relative_to(found.folder.resolve()) for place in places):
            raise OutputError(f"{path}: is a file in the folder of the data set, which stays as it is: choose another")
    with OutputSet(outputs.values(), force=force) as files:
        with step_bar(not quiet) as progress:
            result = compare(
                found, chosen, threads=threads, cache=cache, progress=progress, pictures=report is not None
            )
        if report is not None:
            from ..evaluation.report import report_page

            files.write(report, report_page(result).encode("utf-8", "backslashreplace"))
        if table is not None:
            files.write(table, comparison_csv(result).encode("utf-8", "backslashreplace"))
    failed = [outcome for outcome in result.outcomes if outcome.error is not None]
    for scene, why in result.skipped.items():
        click.echo(f"skipped: scene {scene}: {why}", err=True)
    for outcome in failed:
        click.echo(f"failed: {outcome.method} on scene {outcome.scene}: {outcome.error}", err=True)
    if as_json:
        click.echo(to_json({"folder": folder, **comparison_record(result), "outputs": outputs}))
    elif not quiet:
        click.echo(comparison_lines(result) + f"\n\nwrote {', '.join(outputs.values())}" * bool(outputs))
    if result.skipped or failed:
        context.exit(1)


# ---- reproduce -----------------------------------------------------------------------------------


@cli.command()
@click.argument("folder", type=_path, metavar="DIR")
@click.option("--cache", type=_path, metavar="DIR", help="Folder of finished maps, to go on after an interruption.")
@click.option("--threads", type=int, metavar="N", help="By default DUALPIX_THREADS, else all cores.")
@json_option
@click.option("--quiet", is_flag=True, help="No progress.")
@click.pass_context
def reproduce(
    context: click.Context, folder: str, cache: str | None, threads: int | None, as_json: bool, quiet: bool
) -> None:
    """Make the paper's tables 1 to 7 from the data sets that DIR holds by name: dslr, google, middlebury.

    Beside the paper's figures, which are means over whole data sets, stand those that the authors' code scores on the
    scenes at hand, where they were measured; ours of the same method; and our best. What is missing is said. Exit
    status 1 if scenes were skipped or a method failed.

    \b
    Example:
      dualpix reproduce data
    """
    from ..evaluation.reproduction import reproduce, reproduction_lines, reproduction_record

    with step_bar(not quiet) as progress:
        result = reproduce(folder, threads=threads, cache=cache, progress=progress)
    for problem in result.problems:
        click.echo(problem, err=True)
    click.echo(to_json(reproduction_record(folder, result)) if as_json else reproduction_lines(result))
    if result.problems:
        context.exit(1)


# ---- bench ---------------------------------------------------------------------------------------


@cli.command()
@click.argument("left", type=_path, required=False)
@click.argument("right", type=_path, required=False)
@click.option("--size", type=float, metavar="MP", help="Megapixels of the simulated pair, which no other exceeds.")
@click.option("--threads", type=int, metavar="N", help="By default DUALPIX_THREADS, else all cores.")
@click.option("--repeat", type=int, default=3, metavar="N", help="Runs of each, of which the best counts.")
@click.option("--only", type=click.Choice(SECTIONS), multiple=True, help="Measure only this; repeatable.")
@click.option("--plot", type=_path, metavar="FILE.svg", help="Draw times, growth and memory; a .png too.")
@json_option
@force_option
@click.option("--quiet", is_flag=True, help="No progress and no tables.")
def bench(
    left: str | None,
    right: str | None,
    size: float | None,
    threads: int | None,
    repeat: int,
    only: tuple[str, ...],
    plot: str | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Measure time and memory against OpenCV and against what the machine can do.

    On the views LEFT and RIGHT, or on a simulated pair of 15 megapixels: the presets, semi-global matching of our own
    and OpenCV's, as ratios; where the time goes; how time and memory grow with disparities, pixels and threads; the
    kernels against the speed of a copy and of multiply-adds. Reading files is not counted. It takes minutes, in which
    nothing else should run.

    \b
    Examples:
      dualpix bench --size 2 --only methods
      dualpix bench left.png right.png --threads 2 --plot bench.svg
    """
    if left is not None and right is None:
        raise click.UsageError("Missing argument 'RIGHT': give both views, or none")
    if quiet and not (as_json or plot):
        raise click.UsageError("--quiet leaves nothing to show: give --json or --plot too")
    from ..evaluation.bench import bench as measure
    from ..evaluation.bench import bench_lines, check_plot, encode_plot
    from ..io import OutputSet

    inputs, outputs = _given(left=left, right=right), _given(plot=plot)
    if plot is not None:
        check_plot(plot, only)
    with OutputSet(outputs.values(), inputs.values(), force) as files:
        with step_bar(not quiet) as progress:
            record = measure(left, right, size=size, threads=threads, repeat=repeat, only=only, progress=progress)
        if plot is not None:
            files.write(plot, encode_plot(plot, record))
    if as_json:
        click.echo(to_json({**record, "outputs": outputs}))
    elif not quiet:
        click.echo(bench_lines(record) + f"\n\nwrote {plot}" * bool(plot))


# ---- simulate ------------------------------------------------------------------------------------


@cli.command()
@click.argument("image", type=_path)
@click.argument("disparity", type=_path)
@click.option("-o", "--output", type=_path, metavar="DIR", required=True, help="Folder to write to; made if missing.")
@click.option("--noise", type=float, default=0.0, help="STD of the noise, for intensities of 0 to 1.")
@click.option("--vignetting", type=float, default=0.0, help="Part of the light lost at one border, 0 to 1.")
@click.option("--seed", type=int, default=0, help="Seed of the noise.")
@force_option
def simulate(image: str, disparity: str, output: str, noise: float, vignetting: float, seed: int, force: bool) -> None:
    """Render a dual-pixel pair with known disparity.

    IMAGE is sharp everywhere and DISPARITY its signed map, x_left - x_right in px: larger is nearer, 0 is
    in focus. Writes left.png, right.png, the true disparity.tiff of the left view, and how they were made as
    disparity.json into DIR.

    \b
    Example:
      dualpix simulate photo.png depth.tiff -o pair --noise 0.01
    """
    from ..camera.simulation import simulate as render
    from ..io import OutputSet, encode_map, encode_png, output_folder, read_image, read_map

    left, right, truth, sidecar = (
        os.path.join(output, name) for name in ("left.png", "right.png", "disparity.tiff", "disparity.json")
    )
    paths, roles = (left, right, truth, sidecar), {sidecar: f"the sidecar of {truth}"}
    with output_folder(output), OutputSet(paths, (image, disparity), force, roles) as files:
        scene, depth = read_image(image), read_map(disparity)
        try:
            left_view, right_view, seen = render(scene, depth, noise=noise, vignetting=vignetting, seed=seed)
        except InputError as error:  # read_image has checked the image, so it is the map
            raise InputError(f"{disparity}: {error}") from None
        files.write(left, encode_png(left_view))
        files.write(right, encode_png(right_view))
        files.write(truth, encode_map(truth, seen))
        record = {
            **map_record(truth, seen, "x"),
            "inputs": {"image": image, "disparity": disparity},
            "simulation": {"noise": noise, "vignetting": vignetting, "seed": seed},
        }
        files.write(sidecar, to_json(record).encode())
    click.echo(f"{output}: left.png, right.png, disparity.tiff, {describe(record['disparity'])} px")


# ---- presets, info, demo -------------------------------------------------------------------------


@cli.command()
@click.argument("name", required=False)
@json_option
def presets(name: str | None, as_json: bool) -> None:
    """List the presets, or print one as a config file.

    \b
    Example:
      dualpix presets dslr-a > mine.toml
    """
    from ..params import DEFAULT_PRESET, expectations, preset, preset_descriptions

    about = preset_descriptions()
    shown = {key: preset(key).to_dict() for key in (about if name is None else [name])}
    records = {key: {"description": about[key], "parameters": values} for key, values in shown.items()}
    if as_json:
        click.echo(to_json(records if name is None else {"name": name, **records[name]}))
    elif name is None:
        for key, description in about.items():
            click.echo(f"{key:<{max(map(len, about))}} {description}{' (default)' if key == DEFAULT_PRESET else ''}")
    else:
        click.echo(f"# {name}: {about[name]}")
        click.echo(f"preset = {json.dumps(name)}")
        for key, expected in expectations().items():
            # JSON spells all these values as TOML does.
            click.echo(f"{f'{key} = {json.dumps(shown[name][key])}':<30} # {expected}")


@cli.command()
@click.argument("files", type=_path, metavar="FILE...", nargs=-1, required=True)
@json_option
def info(files: tuple[str, ...], as_json: bool) -> None:
    """Describe images and maps.

    Prints size and kind of each FILE, the range of a map's values, and the .json file beside it.

    \b
    Example:
      dualpix info left.png out.tiff
    """
    from ..io.inspection import file_line, file_record

    records, errors = [], []
    for path in files:
        try:
            records.append(file_record(path))
        except InputError as error:
            errors.append(str(error))
        else:
            if not as_json:
                click.echo(file_line(records[-1]))
    if errors:
        raise InputError("; ".join(errors))
    if as_json:
        click.echo(to_json({"files": records}))


@cli.command()
@click.option("-o", "--output", type=_path, metavar="DIR", default="demo-out", help="Folder to write to.")
@force_option
@json_option
def demo(output: str, force: bool, as_json: bool) -> None:
    """Run the whole way on a simulated shot and score it.

    A real photograph with known depth is turned into a dual-pixel pair, matched and compared with the
    truth; pair, maps and previews go into DIR.

    \b
    Example:
      dualpix demo -o demo-out
    """
    from ..evaluation.demo import run as run_demo

    with progress_bar(True) as report:
        result = run_demo(Path(output), progress=report, force=force)
    if as_json:
        click.echo(to_json(result))
        return
    for name, score in result["scores"].items():
        click.echo(f"{name}: {score:.4g}" if isinstance(score, float) else f"{name}: {score}")
    click.echo("wrote " + ", ".join(map(str, result["files"])))
