"""A progress bar on a terminal only: with stage and scale, or step by step."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Report = Callable[[str, int, int], None]


def progress_bar(wanted: bool) -> AbstractContextManager[Report | None]:
    """A bar on stderr while the block runs, moved by ``report(stage, scale, scales)``; None off a terminal."""

    def stage(name: str, scale: int, scales: int) -> tuple[str, float]:
        where = f", scale {scale} of {scales}" if scale else ""
        return name + where, share_done(name, scale, scales)

    return _bar(wanted, stage)


def step_bar(wanted: bool) -> AbstractContextManager[Report | None]:
    """The same, moved by ``report(step, done, total)`` when a step begins."""

    def step(name: str, done: int, total: int) -> tuple[str, float]:
        return f"{done + 1} of {total}, {name}", done / total

    return _bar(wanted, step)


@contextmanager
def _bar(wanted: bool, state: Callable[[str, int, int], tuple[str, float]]) -> Iterator[Report | None]:
    if not wanted or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description:<24}", markup=False), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def report(name: str, i: int, n: int) -> None:
            text, share = state(name, i, n)
            bar.update(task, description=text, completed=share, refresh=True)

        yield report


def share_done(stage: str, scale: int, scales: int) -> float:
    """Share of the work done when a stage begins: a scale has 4 times the pixels of the one before.

    Where both views are matched, the stages of the first end in ``, left`` and those of the second in ``, right``.
    """
    stage, comma, view = stage.partition(", ")
    if comma:
        return (share_done(stage, scale, scales) + (view == "right")) / 2
    if not scale:
        return 1.0 if stage in ("confidence", "filter") else 0.0
    here = 4.0 ** (scale - 1)
    before = (here - 1) / 3 + (here / 2 if stage == "aggregation" else 0)
    return before / ((4.0**scales - 1) / 3)
