"""``dualpix batch``: the maps of many shots."""

from __future__ import annotations

import time
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from . import signals
from .options import (
    Command,
    check_camera,
    file_path,
    json_option,
    method_options,
    output_option,
    png_options,
    quiet_option,
    reading_options,
    report,
)
from .progress import progress_bar
from .say import in_options, say

if TYPE_CHECKING:
    from ..batches.api import Batch
    from ..batches.outcome import Outcome


@click.command(cls=Command)
@click.argument("inputs", type=file_path, nargs=-1, required=True)
@output_option("Folder for the outputs. A batch that was begun there goes on.", "DIR")
@click.option("--jobs", type=int, metavar="N", help="Number of processes. By default one for every core.")
@click.option(
    "--threads",
    type=int,
    metavar="N",
    help="Number of threads of all processes together. By default that of DUALPIX_THREADS, else all cores.",
)
@click.option(
    "--mem-limit", type=float, metavar="GB", help="Memory of all processes together. By default all that is free."
)
@click.option(
    "--scheduler",
    metavar="WHERE",
    help="Run on Dask (extra cluster): local, or the address of a scheduler, such as tcp://node1:8786.",
)
@click.option("--format", "suffix", metavar="SUFFIX", default="tiff", help="Format of the maps, as for disparity.")
@png_options
@click.option("--confidence", is_flag=True, help="Also write NAME.confidence.tiff.")
@click.option("--preview", is_flag=True, help="Also write NAME.preview.png.")
@reading_options
@method_options
@json_option
@click.option("--force", is_flag=True, help="Use DIR even if it holds another batch or other files.")
@quiet_option
@click.pass_context
def batch(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    output: str,
    jobs: int | None,
    threads: int | None,
    mem_limit: float | None,
    scheduler: str | None,
    suffix: str,
    preset: str | None,
    config: str | None,
    settings: tuple[str, ...],
    search: tuple[float, float] | None,
    smoothing: str | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Make the disparity maps of many shots.

    INPUTS are folders, patterns, manifests, or files with both views, as paths or URLs. In a folder, files with both
    views are found, and pairs that are named left and right, l and r, or im0 and im1. A pattern is such as
    'photos/**/*.CR3', in quotes.

    A manifest is a .csv file that begins with the names of its columns, or a .jsonl file with one object a line. The
    column left is needed: the left view, or the file with both views. Other columns are right, guide, calibration,
    name, preset, layout, first, axis, and any parameter.

    Every shot gets a map and a .json file in DIR, as from dualpix disparity. DIR/results.jsonl has a line for every
    shot. A shot that fails does not stop the others. The exit status is then 1.

    A batch that was interrupted goes on if it is started again with the same options. Shots whose files, parameters
    and version of dualpix are the same are not done again.

    \b
    Examples:
      dualpix batch photos -o maps
      dualpix batch 'photos/**/*.CR3' -o maps --jobs 4 --preview
      dualpix batch shots.csv -o maps --format exr
      dualpix batch scans -o maps --layout side-by-side --mem-limit 8
      dualpix batch s3://b/in -o s3://b/maps --scheduler tcp://node1:8786
    """
    check_camera(options["camera"], options["calibration"])
    from ..batches.api import Batch
    from ..batches.recipe import Recipe
    from ..params import chosen

    name, params = chosen(preset, config, settings, search, smoothing)
    recipe = Recipe(preset=name, params=params, suffix=f".{suffix.removeprefix('.').lower()}", **options)
    place: dict[str, Any] = {"jobs": jobs, "threads": threads, "mem_limit": mem_limit, "scheduler": scheduler}
    whole = Batch(inputs, output, recipe, **place, force=force)
    if not whole.jobs and not quiet:
        say(f"{scheduler}: has no workers yet: start some with 'dask worker {scheduler}'", err=True)
    signals.goes_on = True
    if not quiet:
        whole.waits = partial(say, err=True)
    record = _run(whole, quiet)
    record = {"output": output, "jobs": whole.jobs, "threads": whole.threads, "left_out": whole.others, **record}
    for name, error in record["failed"].items():
        say(f"failed: {name}: {in_options(error)}", err=True)
    report(record, _summary, as_json, quiet)
    if record["failed"]:
        context.exit(1)


def _run(whole: Batch, quiet: bool) -> dict[str, Any]:
    """Run the batch and count what becomes of its captures."""
    from ..run import Step

    tally = _Tally(len(whole))
    with progress_bar(not quiet) as progress, closing(iter(whole)) as outcomes:
        if progress:
            progress(Step("starting"))
        for outcome in outcomes:
            tally.count(outcome)
            if progress:
                progress(Step(tally.pace(), tally.ended / tally.total, tally.ended, tally.total, "capture"))
    return tally.record()


class _Tally:
    """How many captures have ended and how, and how fast."""

    def __init__(self, total: int) -> None:
        self.total, self.ended = total, 0
        self._kept = self._warned = 0
        self._failed: dict[str, str] = {}
        self._start = time.monotonic()

    def count(self, outcome: Outcome) -> None:
        self.ended += 1
        self._kept += outcome.kept
        self._warned += bool(outcome.warnings)
        if outcome.error is not None:
            self._failed[outcome.name] = outcome.error

    @property
    def rate(self) -> float:
        """Captures a second. Those that were finished before do not count."""
        return (self.ended - self._kept) / max(time.monotonic() - self._start, 1e-9)

    def pace(self) -> str:
        """Rate, time left and failures, for the progress."""
        if not self.rate:
            return "finished before"
        failed = f", {len(self._failed)} failed" if self._failed else ""
        return f"{self.rate:.3g}/s, {duration((self.total - self.ended) / self.rate)} left{failed}"

    def record(self) -> dict[str, Any]:
        """All counts, ready for JSON."""
        return {
            "captures": self.total,
            "done": self.ended - self._kept - len(self._failed),
            "kept": self._kept,
            "warned": self._warned,
            "seconds": time.monotonic() - self._start,
            "per_second": self.rate,
            "failed": self._failed,
        }


def duration(seconds: float) -> str:
    """A time in words, such as 40 s, 12 min or 3.5 h."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def _summary(record: dict[str, Any]) -> str:
    counts = f"{record['done']} done, {record['kept']} finished before, {len(record['failed'])} failed"
    lines = [f"{record['output']}: {_number(record['captures'], 'capture')}: {counts}"]
    pace = f"{duration(record['seconds'])}, {record['per_second']:.3g} captures/s"
    workers = f"{_number(record['jobs'], 'process', 'es')} of {_number(record['threads'], 'thread')}"
    workers = workers if record["jobs"] else "workers that came later"
    lines.append(f"{pace}, {workers}; results.jsonl lists them")
    if record["warned"]:
        lines.append(f"{record['warned']} {'has' if record['warned'] == 1 else 'have'} warnings: see results.jsonl")
    if record["left_out"]:
        others = _number(record["left_out"], "other picture")
        lines.append(f"{others} in the folders {'is no shot' if record['left_out'] == 1 else 'are no shots'}: left out")
    return "\n".join(lines)


def _number(count: int, what: str, plural: str = "s") -> str:
    return f"{count} {what}{plural * (count != 1)}"
