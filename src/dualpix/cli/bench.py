"""``dualpix bench``: time and memory on this machine."""

from __future__ import annotations

import click

from .options import Command, echo_json, file_path, force_option, given, json_option, threads_option
from .progress import progress_bar
from .say import say

SECTIONS = ("methods", "stages", "scaling", "kernels", "memory")


@click.command(cls=Command)
@click.argument("left", type=file_path, required=False)
@click.argument("right", type=file_path, required=False)
@click.option("--size", type=float, metavar="MP", help="Megapixels of the largest simulated pair.")
@threads_option
@click.option(
    "--repeat",
    type=int,
    default=3,
    metavar="N",
    help="Runs of each measurement. The fastest counts; of ratios, the median.",
)
@click.option("--only", type=click.Choice(SECTIONS), multiple=True, help="Measure only this. May be repeated.")
@click.option("--plot", type=file_path, metavar="FILE.svg", help="Also draw the results, as .svg or .png.")
@click.option("--against", type=file_path, metavar="FILE.json", help="Compare with what --json printed before.")
@json_option
@force_option
@click.option("--quiet", is_flag=True, help="Print no progress and no tables.")
def bench(
    left: str | None,
    right: str | None,
    size: float | None,
    threads: int | None,
    repeat: int,
    only: tuple[str, ...],
    plot: str | None,
    against: str | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Measure time and memory on this machine.

    Matches the views LEFT and RIGHT, or a simulated pair of 15 megapixels if none are given. This takes minutes. Run
    nothing else meanwhile.

    \b
    What is measured:
      methods  our presets, compared with semi-global matching and OpenCV
      stages   where the time goes
      scaling  how the time grows with disparities, pixels and threads
      kernels  our inner loops, compared with what the machine can do
      memory   the peak memory of each method, and how it grows

    The time to read files does not count.

    \b
    Examples:
      dualpix bench --size 2 --only methods
      dualpix bench left.png right.png --threads 2 --plot bench.svg
      dualpix bench --only methods --json > before.json
      dualpix bench --only methods --against before.json
    """
    if left is not None and right is None:
        raise click.UsageError("Missing argument 'RIGHT': give both views, or none")
    if quiet and not (as_json or plot):
        raise click.UsageError("--quiet leaves nothing to show: give --json or --plot too")
    from ..evaluation.bench import bench as measure
    from ..evaluation.bench import bench_lines, check_plot, encode_plot
    from ..io import OutputSet

    inputs, outputs = given(left=left, right=right, against=against), given(plot=plot)
    if plot is not None:
        check_plot(plot, only)
    with OutputSet(outputs.values(), inputs.values(), force) as files:
        with progress_bar(not quiet) as progress:
            record = measure(
                left, right, size=size, threads=threads, repeat=repeat, only=only, against=against, progress=progress
            )
        if plot is not None:
            files.write(plot, encode_plot(plot, record))
    if as_json:
        echo_json({**record, "outputs": outputs})
    elif not quiet:
        say(bench_lines(record) + f"\n\nwrote {plot}" * bool(plot))
