"""``dualpix evaluate``: scores of one map, or of methods on a data set."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ..errors import InputError, OutputError
from ..evaluation.dataset_names import DATASETS, TRUTH_KINDS
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
    from ..evaluation.datasets import Dataset
    from ..evaluation.outcomes import Comparison

OWN = "generic"
PROTOCOLS = ("proper", "paper-dslr", "paper-google", "paper-stereo")

# Arguments that make sense only without, only with --dataset, or only with --dataset generic.
OF_MAPS = ("gt", "protocol", "confidence", "crop")
OF_DATASETS = ("methods", "report", "table", "latex", "markdown", "traceback", "cache", "threads", "force", "quiet")
OF_OWN = ("scenes", "left", "right", "truth", "guide")


def describing_options(function: Callable[..., None]) -> Callable[..., None]:
    """The options that describe the scenes of ``--dataset generic``."""
    what = {"left": "left views", "right": "right views", "truth": "true maps", "guide": "guides of the smoothing"}
    for name, files in reversed(what.items()):
        function = click.option(
            f"--{name}",
            metavar="PATTERN",
            help=f"generic: the {files}, such as '*/{name}.png', relative to the folder.",
        )(function)
    return click.option(
        "--scenes",
        type=file_path,
        metavar="FILE",
        help="generic: a CSV or JSONL file with a line for every scene: left, right, truth, truth_kind, mask, guide, "
        "name, axis, range. By default scenes.csv or scenes.jsonl of the folder.",
    )(function)


@click.command(cls=Command)
@click.argument("est", type=file_path)
@click.argument("gt", cls=OptionalArgument, type=file_path, metavar="GT", required=False)
@click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    default="proper",
    help="How to score. proper is our own; the others repeat published evaluations.",
)
@click.option(
    "--mask",
    type=file_path,
    metavar="FILE",
    help="Score only the pixels that are white in this image; a pattern with --dataset generic.",
)
@click.option(
    "--truth-kind",
    type=click.Choice(TRUTH_KINDS),
    help="What the truth holds: disparity in px, depth in m or mm, or inverse depth in any unit (larger is nearer).",
)
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
@click.option("--latex", type=file_path, metavar="FILE", help="Write the table of the methods for a paper.")
@click.option("--markdown", type=file_path, metavar="FILE", help="Write the same table as Markdown.")
@click.option("--traceback", is_flag=True, help="Print where a method failed.")
@describing_options
@cache_option
@threads_option
@report_options
@click.pass_context
def evaluate(
    context: click.Context,
    /,
    est: str,
    gt: str | None,
    protocol: str,
    mask: str | None,
    confidence: str | None,
    crop: int | None,
    truth_kind: str | None,
    dataset: str | None,
    methods: tuple[str, ...],
    report: str | None,
    table: str | None,
    latex: str | None,
    markdown: str | None,
    traceback: bool,
    cache: str | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    **description: str | None,
) -> None:
    """Compare a map with the truth, or methods on a data set.

    EST is the map to score. GT is the true map (ground truth), of the same size. Lower scores are better.

    GT is in pixels, with NaN or infinity where the truth is unknown. A 16-bit PNG is read as KITTI: 256 per pixel, 0
    where unknown. Any other image of integers is taken as relative depth. If it is something else, name it with
    --truth-kind.

    The affine-invariant scores (AI) ignore the scale and offset of EST. Bad pixels and RMSE do not ignore them, so for
    these GT must be in pixels.

    With --dataset, EST is the folder of the data set, or a folder that contains it under its name. Every METHOD runs
    on every scene. Finished maps are kept, so an interrupted run can continue. The exit status is 1 if a scene was
    skipped or a method failed, and 2 if no scene can be used.

    --dataset generic is for a folder of your own. Patterns tell its files, or --scenes. What the wildcards stand for
    tells which files belong together.

    \b
    Examples:
      dualpix evaluate out.tiff truth.pfm --crop 20
      dualpix evaluate data --dataset pixel4 --report report.html
      dualpix evaluate data --dataset pixel4 --method auto --method opencv-sgbm
      dualpix evaluate data --dataset pixel4 --method 'onnx:net.onnx?gain=-1'
      dualpix evaluate mine --dataset generic --left '*/l.png' --right '*/r.png'
              --truth '*/depth.png' --truth-kind depth-mm --method auto
              --method my_module:my_function --latex table.tex
    """
    if dataset != OWN:
        _refuse(context, OF_OWN, "describes a folder of your own: give --dataset generic too")
    if dataset is None:
        _refuse(context, OF_DATASETS, "goes with --dataset: give that too")
        if gt is None:
            raise click.UsageError("Missing argument 'GT': give the true map, or --dataset for a folder", context)
        _score_map(est, gt, protocol, mask, confidence, crop, truth_kind, as_json)
        return
    _refuse(context, OF_MAPS, "does not go with --dataset: leave it out")
    if dataset != OWN:
        _refuse(context, ("mask", "truth_kind"), f"does not go with --dataset {dataset}: leave it out")
    from ..evaluation.tables import comparison_record, note_lines, problem_lines

    requested = given(report=report, csv=table, latex=latex, markdown=markdown)
    description |= {"mask": mask, "truth_kind": truth_kind}
    result, outputs = _compare(est, dataset, description, methods, requested, cache, threads, force, quiet)
    problems = problem_lines(result, traceback=traceback)
    for line in (*note_lines(result), *problems):
        say(line, err=True)
    if as_json:
        echo_json({"folder": est, **comparison_record(result), "outputs": outputs})
    elif not quiet:
        say(_summary(result, outputs))
    if problems:
        context.exit(1)


def _summary(result: Comparison, outputs: dict[str, str]) -> str:
    from ..evaluation.tables import comparison_lines

    said = [f"what methods printed is in {result.log}"] if result.log else []
    written = [f"wrote {', '.join(outputs.values())}"] if outputs else []
    return "\n\n".join([comparison_lines(result, problems=False), *said, *written])


def _refuse(context: click.Context, names: tuple[str, ...], why: str) -> None:
    for param in context.command.params:
        given = param.name and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
        if given and param.name in names:
            raise click.UsageError(f"{param.get_error_hint(context)} {why}", context)


def _score_map(
    est: str,
    gt: str,
    protocol: str,
    mask: str | None,
    confidence: str | None,
    crop: int | None,
    truth_kind: str | None,
    as_json: bool,
) -> None:
    from ..evaluation.scores import evaluate as score
    from ..evaluation.scores import score_lines
    from ..io.recorded import assumed_kitti

    scores = score(est, gt, protocol, mask, confidence, crop, truth_kind)
    if truth_kind is None and assumed_kitti(gt):
        say(
            f"note: {gt} is read as KITTI disparities, 256 per px: if it is something else, give --truth-kind", err=True
        )
    if as_json:
        echo_json({"est": est, "gt": gt, **scores})
    else:
        say(score_lines(scores))


def _compare(
    folder: str,
    dataset: str,
    description: dict[str, str | None],
    methods: tuple[str, ...],
    outputs: dict[str, str],
    cache: str | None,
    threads: int | None,
    force: bool,
    quiet: bool,
) -> tuple[Comparison, dict[str, str]]:
    """Run the methods on the data set, and write what is requested. Returns the result and the files written."""
    from ..evaluation.compare import compare
    from ..evaluation.datasets import open_dataset
    from ..evaluation.methods import files_of, method
    from ..evaluation.publish import latex_table, markdown_table
    from ..evaluation.tables import comparison_csv
    from ..io import OutputSet

    found = open_dataset(dataset, folder, **description)
    chosen = [method(name) for name in methods or (found.method,)]
    pictures = "report" in outputs
    _check_outputs(outputs, found)
    with OutputSet(outputs.values(), files_of(chosen), force=force) as files:
        with progress_bar(not quiet) as progress:
            result = compare(found, chosen, threads=threads, cache=cache, progress=progress, pictures=pictures)
        if not result.sizes:
            raise InputError(_no_scene(result))
        from ..evaluation.report import report_page

        made = {"report": report_page, "csv": comparison_csv, "latex": latex_table, "markdown": markdown_table}
        texts = {kind: made[kind](result) for kind in outputs}
        written = {kind: path for kind, path in outputs.items() if texts[kind]}  # no table if every scene failed
        for kind, path in written.items():
            files.write(path, texts[kind].encode("utf-8", "backslashreplace"))
    return result, written


def _check_outputs(outputs: dict[str, str], dataset: Dataset) -> None:
    if not outputs.get("report", ".html").lower().endswith((".html", ".htm")):
        raise OutputError(f"{outputs['report']}: a report is an .html file: give it that suffix")
    for path in outputs.values():
        if os.path.exists(path) and dataset.owns(path):
            raise OutputError(f"{path}: this file belongs to the data set and is never replaced: choose another name")


def _no_scene(result: Comparison) -> str:
    """The sentence if every scene was skipped: the reason of the first, and how many others there are."""
    (scene, why), *others = result.skipped.items()
    return f"scene {scene}: {why}" + f" (and {len(others)} more scene{'s' * (len(others) > 1)})" * bool(others)
