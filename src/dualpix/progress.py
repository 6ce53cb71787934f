"""A progress bar with stage and scale, on a terminal only."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int], None]


@contextmanager
def progress_bar(wanted: bool) -> Iterator[Report | None]:
    """A bar on stderr while the block runs, moved by ``report(stage, scale, scales)``; None off a terminal."""
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
            bar.update(task, description=stage + where, completed=share_done(stage, scale, scales), refresh=True)

        yield report


def share_done(stage: str, scale: int, scales: int) -> float:
    """Share of the work done when a stage begins: a scale has 4 times the pixels of the one before."""
    if not scale:
        return 1.0 if stage == "confidence" else 0.0
    here = 4.0 ** (scale - 1)
    before = (here - 1) / 3 + (here / 2 if stage == "aggregation" else 0)
    return before / ((4.0**scales - 1) / 3)
