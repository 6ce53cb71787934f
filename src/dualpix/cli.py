"""The command line.

Only click is imported with this module; each command imports what it needs, so that help is instant.
Results go to stdout, progress and errors to stderr.
"""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .errors import DualpixError, InputError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .io import OutputSet
    from .params import Params

    Report = Callable[[str, int, int], None]
    Map = NDArray[np.float32]

SIGN = {
    "x": "d = x_left - x_right: left(x, y) matches right(x - d, y), larger is nearer, 0 is in focus",
    "y": "d = y_left - y_right: left(x, y) matches right(x, y - d), larger is nearer, 0 is in focus",
}
PROTOCOLS = ("proper", "paper-dslr", "paper-google", "paper-stereo")


# ---- running and failing -------------------------------------------------------------------------


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
        return _fail(f"{error.format_message()} See {command} --help.", 2)
    except DualpixError as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
    except MemoryError:
        return _fail("not enough memory for images of this size: close other programs or use smaller ones", 1)
    except Exception as error:
        if os.environ.get("DUALPIX_DEBUG") == "1":
            traceback.print_exc()
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


def _to_json(record: dict[str, Any]) -> str:
    return json.dumps(_without_nan(record), indent=2, allow_nan=False)


def _without_nan(value: Any) -> Any:
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
@click.argument("left")
@click.argument("right")
@click.option("-o", "--output", metavar="OUT", required=True, help="A .tif, .tiff, .pfm, .npy or KITTI .png.")
@click.option("--preset", metavar="NAME", help="Parameters to start from; see dualpix presets.")
@click.option("--config", metavar="FILE.toml", help="Parameters from a file of name = value lines.")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Set a parameter; repeatable.")
@click.option("--range", "search", type=(float, float), metavar="MIN MAX", help="Disparities to search, px.")
@click.option("--axis", type=click.Choice(["x", "y"]), default="x", help="Along which the views differ.")
@click.option("--guide", metavar="IMAGE", help="Follow the edges of this image instead of LEFT's.")
@click.option("--confidence", metavar="FILE", help="Also write the confidence, 0 to 1.")
@click.option("--preview", metavar="FILE.png", help="Also write a picture of the map.")
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
    inputs = _given(left=left, right=right, guide=guide, config=config)
    outputs = _given(disparity=output, sidecar=_sidecar(output), confidence=confidence, preview=preview)
    with _output_set(outputs, inputs, force) as files:
        from . import pipeline
        from .io import encode_map, encode_preview

        threads = pipeline.thread_count(threads)
        with _progress(not quiet) as report:
            result = pipeline.disparity(left, right, params, guide, axis=axis, threads=threads, progress=report)
        files.write(output, encode_map(output, result.disparity))
        if confidence is not None:
            files.write(confidence, encode_map(confidence, result.confidence))
        if preview is not None:
            files.write(preview, encode_preview(result.disparity))
        record = {
            **_map_record(output, result.disparity, axis),
            "preset": name,
            "parameters": params.to_dict(),
            "threads": threads,
            "timings": result.timings,
            "inputs": inputs,
            "outputs": outputs,
        }
        files.write(outputs["sidecar"], _to_json(record).encode())
    if as_json:
        click.echo(_to_json(record))
    elif not quiet:
        click.echo(_summary(record))


def _given(**paths: str | None) -> dict[str, str]:
    return {name: path for name, path in paths.items() if path is not None}


def _output_set(outputs: dict[str, str], inputs: dict[str, str], force: bool) -> OutputSet:
    """The outputs, checked in every way that needs no result."""
    from .io import OutputSet, check_map_path, check_preview_path

    for name in outputs.keys() & {"disparity", "confidence"}:
        check_map_path(outputs[name])
    if "preview" in outputs:
        check_preview_path(outputs["preview"])
    return OutputSet(outputs.values(), inputs.values(), force)


def _parameters(
    preset: str | None, config: str | None, settings: tuple[str, ...], search: tuple[float, float] | None
) -> tuple[str, Params]:
    """Name of the preset, and its parameters after config, settings and range."""
    from .params import DEFAULT_PRESET, load_config, parse_setting, resolve

    overrides = {} if config is None else load_config(config)
    configured = overrides.pop("preset", DEFAULT_PRESET)
    name = configured if preset is None else preset
    overrides.update(map(parse_setting, settings))
    if search is not None:
        overrides["range"] = search
    return name, resolve(name, overrides)


def _sidecar(path: str) -> str:
    return os.path.splitext(path)[0] + ".json"


def _map_record(path: str, values: Map, axis: str) -> dict[str, Any]:
    """What the sidecar of every map begins with."""
    from . import __version__

    return {
        "dualpix": __version__,
        "map": os.path.basename(path),
        "axis": axis,
        "sign": SIGN[axis],
        "unit": "pixels of the input",
        "width": values.shape[1],
        "height": values.shape[0],
        "disparity": _statistics(values),
    }


def _statistics(values: Map) -> dict[str, Any]:
    import numpy as np

    # fmin and fmax pass over NaN; where there is nothing else they return it.
    low, high = float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))
    return {"min": low, "max": high, "nan": int(np.isnan(values).sum())}


def _summary(record: dict[str, Any]) -> str:
    outputs = record["outputs"]
    others = ", ".join(path for name, path in outputs.items() if name != "disparity")
    return (
        f"{outputs['disparity']}: {record['width']}x{record['height']}, {_describe(record['disparity'])} px\n"
        f"preset {record['preset']}, {sum(record['timings'].values()):.1f} s; also wrote {others}"
    )


def _describe(statistics: dict[str, Any]) -> str:
    if math.isnan(statistics["min"]):
        return "all NaN"
    holes = f" ({statistics['nan']} NaN)" if statistics["nan"] else ""
    return f"{statistics['min']:.4g} to {statistics['max']:.4g}{holes}"


@contextmanager
def _progress(wanted: bool) -> Iterator[Report | None]:
    """A bar with stage and scale, on a terminal only."""
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
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
    here = 4.0 ** (scale - 1)
    before = (here - 1) / 3 + (here / 2 if stage == "aggregation" else 0)
    return before / ((4.0**scales - 1) / 3)


# ---- evaluate ------------------------------------------------------------------------------------


@cli.command()
@click.argument("est")
@click.argument("gt")
@click.option("--protocol", type=click.Choice(PROTOCOLS), default="proper", help="How to score.")
@click.option("--mask", metavar="FILE", help="Score only where this image is white.")
@click.option("--confidence", metavar="FILE", help="Weight of each pixel in the affine-invariant scores.")
@click.option("--crop", type=click.IntRange(0), metavar="N", help="Leave out a border of N px.")
@json_option
def evaluate(
    est: str,
    gt: str,
    protocol: str,
    mask: str | None,
    confidence: str | None,
    crop: int | None,
    as_json: bool,
) -> None:
    """Score the map EST against the ground truth GT; lower is better.

    GT is in pixels and NaN or infinite where unknown (0 in a 16-bit PNG, which is read as KITTI); other
    integers are a relative depth over their full scale. The affine-invariant scores allow EST any scale
    and offset; bad pixels and RMSE allow none and need a GT in pixels.

    \b
    Example:
      dualpix evaluate out.tiff truth.pfm --crop 20
    """
    from .io import read_map

    estimate, (truth, in_pixels) = read_map(est), _read_truth(gt)
    visible = None if mask is None else _read_mask(mask)
    weight = None if confidence is None else read_map(confidence)
    _check_same_size((est, estimate), (gt, truth), (mask, visible), (confidence, weight))
    if visible is not None:
        truth[~visible] = math.nan
    if protocol == "paper-stereo":
        if weight is not None:
            raise ParameterError("--confidence has no place in protocol paper-stereo: leave it out")
        if not in_pixels:
            raise InputError(f"{gt}: protocol paper-stereo needs float or 16-bit KITTI PNG ground truth, in pixels")
    scores = _scores(estimate, truth, in_pixels, protocol, weight, crop)
    click.echo(_to_json({"est": est, "gt": gt, **scores}) if as_json else _score_lines(scores))


def _scores(
    estimate: Map, truth: Map, in_pixels: bool, protocol: str, weight: Map | None, crop: int | None
) -> dict[str, Any]:
    from .metrics import affine_invariant

    scores: dict[str, Any] = {}
    if protocol != "paper-stereo":
        scores |= vars(affine_invariant(estimate, truth, protocol, weight, crop))
    if in_pixels and protocol in ("proper", "paper-stereo"):
        scores |= _bad_pixels(estimate, truth, protocol, crop or 0)
    return scores


def _read_truth(path: str) -> tuple[Map, bool]:
    """The ground truth, and whether it is in pixels or, as plain integers, a relative depth made 0 to 1."""
    import numpy as np

    from .io import probe, read_map

    info, values = probe(path), read_map(path)
    if info.dtype not in ("uint8", "uint16") or (info.format, info.dtype) == ("PNG", "uint16"):
        return values, True
    return values / np.float32(np.iinfo(info.dtype).max), False


def _read_mask(path: str) -> NDArray[np.bool_]:
    import numpy as np

    from .io import read_image

    image = read_image(path)
    white = 1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max
    return np.asarray(np.atleast_3d(image == white).all(axis=2))


def _check_same_size(*maps: tuple[str | None, NDArray[Any] | None]) -> None:
    sizes = [(path, "{1}x{0}".format(*values.shape)) for path, values in maps if values is not None]
    first, wanted = sizes[0]
    for path, size in sizes[1:]:
        if size != wanted:
            raise InputError(f"{path} is {size} but {first} is {wanted}: resample or crop one to the other")


def _bad_pixels(estimate: Map, truth: Map, protocol: str, crop: int) -> dict[str, Any]:
    import numpy as np

    from .metrics import bad_pixels

    estimate, truth = (values[crop : -crop or None, crop : -crop or None] for values in (estimate, truth))
    # 0 and below mean unknown to bad_pixels, as in the stereo sets; a signed map is moved above that.
    known = truth[np.isfinite(truth)]
    shift = 1 - known.min() if protocol == "proper" and known.size else 0
    return vars(bad_pixels(estimate + shift, truth + shift, protocol=protocol))


def _score_lines(scores: dict[str, Any]) -> str:
    lines = [f"protocol {scores['protocol']}, {100 * scores['coverage']:.1f} % of the ground truth covered"]
    if "ai1" in scores:
        lines.append("AI(1) {ai1:.4f}  AI(2) {ai2:.4f}  1-|rho| {spearman:.4f}")
        lines.append("geometric mean {geometric_mean:.4f}")
    if "rmse" in scores:
        lines.append("bad 0.5 px {bad_0_5:.2f} %  1 px {bad_1:.2f} %  2 px {bad_2:.2f} %  4 px {bad_4:.2f} %")
        lines.append("RMSE {rmse:.3f} px")
    return "\n".join(lines).format(**scores)


# ---- simulate ------------------------------------------------------------------------------------


@cli.command()
@click.argument("image")
@click.argument("disparity")
@click.option("-o", "--output", metavar="DIR", required=True, help="Folder to write to; made if missing.")
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
    from .io import OutputSet, encode_map, encode_png, output_folder, read_image, read_map
    from .simulation import simulate as render

    left, right, truth, sidecar = (
        os.path.join(output, name) for name in ("left.png", "right.png", "disparity.tiff", "disparity.json")
    )
    with output_folder(output), OutputSet((left, right, truth, sidecar), (image, disparity), force) as files:
        scene, depth = read_image(image), read_map(disparity)
        left_view, right_view, seen = render(scene, depth, noise=noise, vignetting=vignetting, seed=seed)
        files.write(left, encode_png(left_view))
        files.write(right, encode_png(right_view))
        files.write(truth, encode_map(truth, seen))
        record = {
            **_map_record(truth, seen, "x"),
            "inputs": {"image": image, "disparity": disparity},
            "simulation": {"noise": noise, "vignetting": vignetting, "seed": seed},
        }
        files.write(sidecar, _to_json(record).encode())
    click.echo(f"{output}: left.png, right.png, disparity.tiff, {_describe(record['disparity'])} px")


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
    from .params import DEFAULT_PRESET, expectations, preset, preset_descriptions

    about = preset_descriptions()
    shown = {key: preset(key).to_dict() for key in (about if name is None else [name])}
    records = {key: {"description": about[key], "parameters": values} for key, values in shown.items()}
    if as_json:
        click.echo(_to_json(records if name is None else {"name": name, **records[name]}))
    elif name is None:
        for key, description in about.items():
            click.echo(f"{key:<8} {description}{' (default)' if key == DEFAULT_PRESET else ''}")
    else:
        click.echo(f"# {name}: {about[name]}")
        for key, expected in expectations().items():
            # JSON spells all these values as TOML does.
            click.echo(f"{f'{key} = {json.dumps(shown[name][key])}':<30} # {expected}")


@cli.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@json_option
def info(files: tuple[str, ...], as_json: bool) -> None:
    """Describe images and maps.

    Prints size and kind of each FILE, the range of a map's values, and the .json file beside it.

    \b
    Example:
      dualpix info left.png out.tiff
    """
    records = [_file_record(path) for path in files]
    click.echo(_to_json({"files": records}) if as_json else "\n".join(map(_file_line, records)))


def _file_record(path: str) -> dict[str, Any]:
    from .io import probe, read_map

    found = probe(path)
    record = {
        "path": path,
        "format": found.format,
        "width": found.width,
        "height": found.height,
        "channels": found.channels,
        "dtype": found.dtype,
    }
    sidecar = _read_sidecar(path)
    if sidecar or found.format in ("PFM", "NPY") or (found.dtype.startswith("float") and found.channels == 1):
        record["values"] = _statistics(read_map(path))
    if sidecar:
        record["sidecar"] = sidecar
    return record


def _read_sidecar(path: str) -> dict[str, Any] | None:
    """What the .json file beside a map holds, if it is one of ours."""
    try:
        record = json.loads(Path(_sidecar(path)).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    ours = isinstance(record, dict) and record.get("map") == os.path.basename(path)
    return record if ours else None


def _file_line(record: dict[str, Any]) -> str:
    channels = "grey" if record["channels"] == 1 else "RGB"
    line = "{path}: {format} {width}x{height} {channels} {dtype}".format(**record | {"channels": channels})
    if "values" in record:
        line += f", {_describe(record['values'])}"
    if "sidecar" in record:
        line += f"; by dualpix {record['sidecar'].get('dualpix')}, see {_sidecar(record['path'])}"
    return line


@cli.command()
@click.option("-o", "--output", metavar="DIR", default="demo-out", help="Folder to write to.")
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
    from .demo import run as run_demo

    with _progress(True) as report:
        result = run_demo(Path(output), progress=report, force=force)
    if as_json:
        click.echo(_to_json(result))
        return
    for name, score in result["scores"].items():
        click.echo(f"{name}: {score:.4g}" if isinstance(score, float) else f"{name}: {score}")
    click.echo("wrote " + ", ".join(map(str, result["files"])))
