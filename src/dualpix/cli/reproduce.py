"""``dualpix reproduce``: the tables of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import Command, cache_option, echo_json, file_path, json_option, threads_option
from .progress import progress_bar
from .say import say

if TYPE_CHECKING:
    from ..evaluation.methods import Method


@click.command(cls=Command)
@click.argument("folder", type=file_path, metavar="DIR")
@click.option(
    "--method",
    "methods",
    metavar="ROW=NAME",
    multiple=True,
    help="Method for the row of a network, such as DPE=onnx:FILE.onnx. The rows are DPE, DPNet and SFBD. May be "
    "repeated.",
)
@cache_option
@threads_option
@json_option
@click.option("--quiet", is_flag=True, help="Print no progress.")
@click.pass_context
def reproduce(
    context: click.Context,
    folder: str,
    methods: tuple[str, ...],
    cache: str | None,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Make tables 1 to 7 of the paper from the data sets in DIR.

    DIR contains the folders dslr, google and middlebury, or some of them. The output names what is missing.

    \b
    Every method has up to four rows of scores:
      printed        from the paper, means over whole data sets
      authors' code  from the authors' code, on the scenes in DIR
      rebuilt        from our code with the same method, on the scenes in DIR
      best           from our best method, on the scenes in DIR

    Finished maps are kept, so an interrupted run can continue. The exit status is 1 if a scene was skipped or a
    method failed.

    The networks of other people are not part of dualpix: docs/networks.md says how to export them. Their rows run if
    --method names the file, and say so if not.

    \b
    Examples:
      dualpix reproduce data
      dualpix reproduce data --method DPE=onnx:dddnet.onnx
    """
    from ..evaluation import reproduction

    networks = _networks(methods)
    with progress_bar(not quiet) as progress:
        result = reproduction.reproduce(folder, networks=networks, threads=threads, cache=cache, progress=progress)
    for problem in result.problems:
        say(problem, err=True)
    if as_json:
        echo_json(reproduction.reproduction_record(folder, result))
    else:
        say(reproduction.reproduction_lines(result))
    if result.problems:
        context.exit(1)


def _networks(methods: tuple[str, ...]) -> dict[str, Method]:
    """The method of every ROW=NAME, by row."""
    from ..evaluation.methods import method

    found = {}
    for text in methods:
        row, equals, name = text.partition("=")
        if not equals:
            raise click.UsageError(f"--method {text} must be ROW=NAME, such as DPE=onnx:FILE.onnx")
        if row in found:
            raise click.UsageError(f"--method names the row {row} twice: give it once")
        found[row] = method(name)
    return found
