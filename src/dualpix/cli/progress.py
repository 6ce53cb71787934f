"""The progress bar: shown on a terminal only, so that logs stay clean."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import printable

if TYPE_CHECKING:
    from ..run import Progress, Step


@contextmanager
def progress_bar(wanted: bool) -> Iterator[Progress | None]:
    """Show a bar on stderr while the block runs, and yield the function that moves it.

    Yields None if no bar is wanted or stderr is not a terminal.
    """
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = rich.TextColumn("{task.description:<24}", markup=False), rich.BarColumn(), rich.TimeElapsedColumn()
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def show(step: Step) -> None:
            bar.update(task, description=printable(str(step)), completed=step.share, refresh=True)

        yield show
