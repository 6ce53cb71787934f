"""The command line.

Only click is imported with this module; each command imports what it needs, so that help is instant.
Results go to stdout, progress and errors to stderr.
"""

import json
import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from .errors import DualpixError, InputError, OutputError, ParameterError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from .params import Params
    from .pipeline import Result

    Report = Callable[[str, int, int], None]
    Map = NDArray[np.float32]

SIGN = "d = x_left - x_right: left(x, y) matches right(x - d, y), larger is nearer, 0 is the plane in focus"
PROTOCOLS = ("proper", "paper-dslr", "paper-google", "paper-stereo")


# ---- running and failing -------------------------------------------------------------------------


def run() -> None:
    """The console script ``dualpix``."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # file names may hold bytes the terminal's encoding cannot show
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


def main(args: Sequence[str]) -> int:
    """Run the command with `args` and return the exit code: 0 done, 2 bad input or usage, 1 anything else."""
    try:
        return _invoke(args)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "dualpix"
        return _fail(f"{error.format_message()} See {command} --help.", 2)
    except DualpixError as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has left; Python would complain when it flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        return _fail("not enough memory for images of this size: close other programs or use smaller images", 1)
    except Exception as error:
        if os.environ.get("DUALPIX_DEBUG") == "1":
            raise
        return _fail(f"internal: {type(error).__name__}: {error} (DUALPIX_DEBUG=1 shows where)", 1)


def _invoke(args: Sequence[str]) -> int:
    code = 0
    try:
        with cli.make_context("dualpix", list(args)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:  # --help and --version end this way
        code = done.exit_code
    sys.stdout.flush()
    return code


def _fail(message: str, code: int) -> int:
    click.echo("error: " + " ".join(message.splitlines()), err=True)
    return code


def _print_json(record: "dict[str, Any]") -> None:
    click.echo(_to_json(record))


def _to_json(record: "dict[str, Any]") -> str:
    return json.dumps(_without_nan(record), indent=2, allow_nan=False)


def _without_nan(value: "Any") -> "Any":
    """The same with null for every number JSON cannot hold."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---- the group -----------------------------------------------------------------------------------


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from . import __version__

        click.echo(f"dualpix {__version__}")
        context.exit()


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
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
@click.argument("left")
@click.argument("right")
@click.option("-o", "--output", metavar="OUT", required=True, help="The map: .tif, .tiff, .pfm, .npy or .png (KITTI).")
@click.option("--preset", metavar="NAME", help="Parameters to start from; see dualpix presets.")
@click.option("--config", metavar="FILE.toml", help="Parameters from a file of name = value lines.")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Change a parameter; repeatable.")
@click.option("--range", "search", type=(float, float), metavar="MIN MAX", help="Disparities to search, in px.")
@click.option("--axis", type=click.Choice(["x", "y"]), default="x", help="Direction of the shift; x by default.")
@click.option("--guide", metavar="IMAGE", help="Follow the edges of this image instead of LEFT's.")
@click.option("--confidence", metavar="FILE", help="Also write the confidence, 0 to 1.")
@click.option("--preview", metavar="FILE.png", help="Also write a picture of the map.")
@click.option("--threads", type=click.IntRange(1, 1024), metavar="N", help="By default DUALPIX_THREADS, else all cores.")
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
    axis: str,
    guide: str | None,
    confidence: str | None,
    preview: str | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Match the two views of a shot and write the disparity map.

    The map is float32 in pixels of the input, d = x_left - x_right: larger is nearer, 0 is in focus.
    OUT's parameters, timings and sign go into a .json file beside it. A later one of --preset, --config,
    --set and --range wins over the ones before it.

    \b
    Example:
      dualpix disparity left.png right.png -o out.tiff --range -5 5 --preview out.png
    """
    name, params = _parameters(preset, config, settings, search)
    inputs = {"left": left, "right": right, "guide": guide, "config": config}
    outputs = {"disparity": output, "sidecar": _sidecar(output), "confidence": confidence, "preview": preview}

    from .io import OutputSet, check_map_path, check_preview_path, encode_map, encode_preview

    check_map_path(output)
    if confidence:
        check_map_path(confidence)
    if preview:
        check_preview_path(preview)
    with OutputSet(filter(None, outputs.values()), filter(None, inputs.values()), force) as files:
        from . import pipeline

        with _progress(not quiet) as report:
            result = pipeline.disparity(left, right, params, guide, threads=threads, progress=report, axis=axis)
        files.write(output, encode_map(output, result.disparity))
        if confidence:
            files.write(confidence, encode_map(confidence, result.confidence))
        if preview:
            files.write(preview, encode_preview(result.disparity))
        record = _record(result, preset=name, axis=axis, threads=threads, inputs=inputs, outputs=outputs)
        files.write(outputs["sidecar"], _to_json(record).encode())
    if as_json:
        _print_json(record)
    elif not quiet:
        click.echo(_summary(record))


def _parameters(
    preset: str | None, config: str | None, settings: tuple[str, ...], search: tuple[float, float] | None
) -> "tuple[str, Params]":
    """Name of the preset, and its parameters after config, settings and range."""
    from .params import DEFAULT_PRESET, load_config, parse_setting, resolve

    overrides = load_config(config) if config else {}
    name = preset or overrides.get("preset", DEFAULT_PRESET)
    overrides.pop("preset", None)
    overrides.update(map(parse_setting, settings))
    if search is not None:
        overrides["range"] = search
    return name, resolve(name, overrides)


def _sidecar(path: str) -> str:
    return os.path.splitext(path)[0] + ".json"


def _record(result: "Result", **run: "Any") -> "dict[str, Any]":
    """What the sidecar holds."""
    from . import __version__

    height, width = result.disparity.shape
    return {
        "dualpix": __version__,
        "sign": SIGN,
        "unit": "pixels of the input",
        "width": width,
        "height": height,
        "disparity": _statistics(result.disparity),
        "confidence": _statistics(result.confidence),
        **run,
        "parameters": result.params.to_dict(),
        "timings": dict(result.timings),
    }


def _statistics(values: "Map") -> "dict[str, Any]":
    import numpy as np

    finite = values[np.isfinite(values)]
    low, median, high = np.percentile(finite, (0, 50, 100)).tolist() if finite.size else (None, None, None)
    return {"min": low, "median": median, "max": high, "nan": int(values.size - finite.size)}


def _summary(record: "dict[str, Any]") -> str:
    outputs = record["outputs"]
    others = ", ".join(path for name, path in outputs.items() if path and name != "disparity")
    return (
        f"{outputs['disparity']}: {record['width']}x{record['height']}, {_describe(record['disparity'])} px\n"
        f"{record['preset']}, {sum(record['timings'].values()):.1f} s; also wrote {others}"
    )


def _describe(statistics: "dict[str, Any]") -> str:
    nan = f", {statistics['nan']} NaN" if statistics["nan"] else ""
    if statistics["min"] is None:
        return f"no finite value{nan}"
    return "{min:.4g} to {max:.4g}, median {median:.4g}".format(**statistics) + nan


@contextmanager
def _progress(wanted: bool) -> "Iterator[Report | None]":
    """A bar with stage and scale, on a terminal only."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description:<24}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def report(stage: str, scale: int, scales: int) -> None:
            where = f", scale {scale} of {scales}" if scale else ""
            bar.update(task, description=stage + where, completed=_share_done(stage, scale, scales))

        yield report


def _share_done(stage: str, scale: int, scales: int) -> float:
    """Share of the work done when a stage begins: a scale has 4 times the pixels of the one before."""
    if not scale:
        return 0.0
    before = (4 ** (scale - 1) - 1) / 3
    half = 0.5 * 4 ** (scale - 1) if stage == "aggregation" else 0.0
    return (before + half) / ((4**scales - 1) / 3)


# ---- evaluate ------------------------------------------------------------------------------------


@cli.command()
@click.argument("est")
@click.argument("gt")
@click.option("--protocol", type=click.Choice(PROTOCOLS), default="proper", help="How to score; proper by default.")
@click.option("--mask", metavar="IMAGE", help="Score only where this is white (full scale).")
@click.option("--confidence", metavar="FILE", help="Weight of each pixel in the affine-invariant scores.")
@click.option("--crop", type=click.IntRange(0), metavar="N", help="Leave out a border of N px.")
@json_option
def evaluate(
    est: str, gt: str, protocol: str, mask: str | None, confidence: str | None, crop: int | None, as_json: bool
) -> None:
    """Score the map EST against the ground truth GT; lower is better.

    GT is unknown where it is NaN or infinite, and 0 in a 16-bit PNG (KITTI). Other integers are a
    relative depth over their full scale. The affine-invariant scores allow any scale and offset; bad pixels and RMSE
    are for a GT in pixels.

    \b
    Example:
      dualpix evaluate out.tiff truth.pfm --crop 20
    """
    from .io import read_map

    estimate, (truth, in_pixels) = read_map(est), _read_truth(gt)
    visible = _read_mask(mask) if mask else None
    weight = read_map(confidence) if confidence else None
    _same_size({est: estimate, gt: truth, str(mask): visible, str(confidence): weight})
    if protocol == "paper-stereo":
        if weight is not None:
            raise ParameterError("--confidence has no place in protocol paper-stereo: leave it out")
        scores = _bad_pixels(estimate, truth, visible, protocol, crop)
    else:
        scores = _affine_invariant(estimate, truth, visible, protocol, weight, crop)
        if protocol == "proper" and in_pixels:
            scores = _bad_pixels(estimate, truth, visible, protocol, crop) | scores
    if as_json:
        _print_json({"est": est, "gt": gt, **scores})
    else:
        click.echo(_score_lines(scores))


def _read_truth(path: str) -> "tuple[Map, bool]":
    """The ground truth, and whether it is in pixels or, as plain integers, a relative depth made 0 to 1."""
    import numpy as np

    from .io import probe, read_map

    info, values = probe(path), read_map(path)
    if info.dtype not in ("uint8", "uint16") or (info.format, info.dtype) == ("PNG", "uint16"):
        return values, True
    return values / np.float32(np.iinfo(info.dtype).max), False


def _read_mask(path: str) -> "NDArray[np.bool_]":
    import numpy as np

    from .io import read_image

    image = read_image(path)
    white = image == (1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max)
    return white if white.ndim == 2 else white.all(axis=2)


def _same_size(maps: "dict[str, NDArray[Any] | None]") -> None:
    (first, reference), *others = ((path, values) for path, values in maps.items() if values is not None)
    for path, values in others:
        if values.shape != reference.shape:
            sizes = [f"{name} is {shape[1]}x{shape[0]}" for name, shape in ((path, values.shape), (first, reference.shape))]
            raise InputError(f"{' but '.join(sizes)}: resample or crop one to the other")


def _affine_invariant(
    estimate: "Map", truth: "Map", visible: "NDArray[np.bool_] | None", protocol: str, weight: "Map | None", crop: int | None
) -> "dict[str, Any]":
    import numpy as np

    from . import metrics

    known = truth if visible is None else np.where(visible, truth, np.nan)
    return vars(metrics.affine_invariant(estimate, known, protocol, weight, crop))


def _bad_pixels(
    estimate: "Map", truth: "Map", visible: "NDArray[np.bool_] | None", protocol: str, crop: int | None
) -> "dict[str, Any]":
    ...
