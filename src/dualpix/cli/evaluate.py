"""``dualpix evaluate``: scores of one map, or of methods on a data set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ..errors import InputError, OutputError
from ..evaluation.dataset_names import DATASETS
from .options import (
    Command,
    OptionalArgument,
    cache_option,
    echo_json,
    file_path,
    given,
    report_options,
    threads_option,
)
from .progress import progress_bar
from .say import say

if TYPE_CHECKING:
    from ..evaluation.outcomes import Comparison

PROTOCOLS = ("proper", "paper-dslr", "paper-google", "paper-stereo")

# Arguments that make sense only without, or only with --dataset.
OF_MAPS = ("gt", "protocol", "mask", "confidence", "crop")
OF_DATASETS = ("methods", "report", "table", "cache", "threads", "force", "quiet")


@click.command(cls=Command)
@click.argument("est", type=file_path)
@click.argument("gt", cls=OptionalArgument, type=file_path, metavar="GT", required=False)
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="proper",
    help="How to score. proper is our own; the others repeat published evaluations.",
)
@click.option("--mask", type=file_path, metavar="FILE", help="Score only the pixels that are white in this image.")
@click.option(
    "--confidence", type=file_path, metavar="FILE", help="Weigh each pixel by this map in the affine-invariant scores."
)
@click.option("--crop", type=click.IntRange(0), metavar="N", help="Leave out a border of N pixels.")
@click.option("--dataset", type=click.Choice(DATASETS), help="Run methods on this data set. EST is its folder.")
@click.option(
    "--method",
    "methods",
    metavar="NAME",
    multiple=True,
    help="Method to run: a preset, preset+guided, preset+solver, a baseline, your own package.module:function, or a "
    "network as onnx:FILE.onnx. May be repeated. By default the preset for the data set.",
)
@click.option("--report", type=file_path, metavar="FILE.html", help="Write a page that shows all maps and scores.")
@click.option("--csv", "table", type=file_path, metavar="FILE", help="Write the scores of every scene.")
@cache_option
@threads_option
@report_options
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
    """Compare a map with the truth, or methods on a data set.

    EST is the map to score. GT is the true map (ground truth), of the same size. Lower scores are better.

    GT is in pixels, with NaN or infinity where the truth is unknown. A 16-bit PNG is read as KITTI: 256 per pixel, 0
    where unknown. Any other image of integers is taken as relative depth.

    The affine-invariant scores (AI) ignore the scale and offset of EST. Bad pixels and RMSE do not ignore them, so for
    these GT must be in pixels.

    With --dataset, EST is the folder of the data set, or a folder that contains it under its name. Every METHOD runs
    on every scene. Finished maps are kept, so an interrupted run can continue. The exit status is 1 if a scene was
    skipped or a method failed, and 2 if no scene can be used.

    \b
    Examples:
      dualpix evaluate out.tiff truth.pfm --crop 20
      dualpix evaluate data --dataset pixel4 --report report.html
      dualpix evaluate data --dataset pixel4 --method auto --method opencv-sgbm
      dualpix evaluate data --dataset pixel4 --method 'onnx:net.onnx?gain=-1'
    """
    if dataset is None:
        _refuse(context, OF_DATASETS, "goes with --dataset: give that too")
        if gt is None:
            raise click.UsageError("Missing argument 'GT': give the true map, or --dataset for a folder", context)
        _score_map(est, gt, protocol, mask, confidence, crop, as_json)
        return
    _refuse(context, OF_MAPS, "does not go with --dataset: leave it out")
    from ..evaluation.tables import comparison_lines, comparison_record

    outputs = given(report=report, csv=table)
    result = _compare(est, dataset, methods, outputs, cache, threads, force, quiet)
    problems = _problems(result)
    for problem in problems:
        say(problem, err=True)
    if as_json:
        echo_json({"folder": est, **comparison_record(result), "outputs": outputs})
    elif not quiet:
        say(comparison_lines(result) + f"\n\nwrote {', '.join(outputs.values())}" * bool(outputs))
    if problems:
        context.exit(1)


def _refuse(context: click.Context, names: tuple[str, ...], why: str) -> None:
    for param in context.command.params:
        given = param.name and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
        if given and param.name in names:
            raise click.UsageError(f"{param.get_error_hint(context)} {why}", context)


def _score_map(
    est: str, gt: str, protocol: str, mask: str | None, confidence: str | None, crop: int | None, as_json: bool
) -> None:
    from ..evaluation.scores import evaluate as score
    from ..evaluation.scores import score_lines

    scores = score(est, gt, protocol, mask, confidence, crop)
    if as_json:
        echo_json({"est": est, "gt": gt, **scores})
    else:
        say(score_lines(scores))


def _compare(
    folder: str,
    dataset: str,
    methods: tuple[str, ...],
    outputs: dict[str, str],
    cache: str | None,
    threads: int | None,
    force: bool,
    quiet: bool,
) -> Comparison:
    """Run the methods on the data set, and write the report and the table if requested."""
    from ..evaluation.compare import compare
    from ..evaluation.datasets import open_dataset
    from ..evaluation.methods import files_of, method
    from ..evaluation.tables import comparison_csv
    from ..io import OutputSet

    found = open_dataset(dataset, folder)
    chosen = [method(name) for name in methods or (found.method,)]
    pictures = "report" in outputs
    _check_outputs(outputs, found.folder)
    with OutputSet(outputs.values(), files_of(chosen), force=force) as files:
        with progress_bar(not quiet) as progress:
            result = compare(found, chosen, threads=threads, cache=cache, progress=progress, pictures=pictures)
        if not result.sizes:
            raise InputError(_no_scene(result))
        if "report" in outputs:
            from ..evaluation.report import report_page

            files.write(outputs["report"], report_page(result).encode("utf-8", "backslashreplace"))
        if "csv" in outputs:
            files.write(outputs["csv"], comparison_csv(result).encode("utf-8", "backslashreplace"))
    return result


def _check_outputs(outputs: dict[str, str], dataset: Path) -> None:
    if not outputs.get("report", ".html").lower().endswith((".html", ".htm")):
        raise OutputError(f"{outputs['report']}: a report is an .html file: give it that suffix")
    for path in outputs.values():
        places = Path(path).resolve(), Path(path).parent.resolve()  # a link may lead into the folder or out of it
        if os.path.exists(path) and any(place.is_relative_to(dataset.resolve()) for place in places):
            raise OutputError(f"{path}: this file belongs to the data set and is never replaced: choose another name")


def _no_scene(result: Comparison) -> str:
    """The sentence if every scene was skipped: the reason of the first, and how many others there are."""
    (scene, why), *others = result.skipped.items()
    return f"scene {scene}: {why}" + f" (and {len(others)} more scene{'s' * (len(others) > 1)})" * bool(others)


def _problems(result: Comparison) -> list[str]:
    skipped = [f"skipped: scene {scene}: {why}" for scene, why in result.skipped.items()]
    failed = [each for each in result.outcomes if each.error is not None]
    return skipped + [f"failed: {each.method} on scene {each.scene}: {each.error}" for each in failed]
