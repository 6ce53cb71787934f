"""The whole benchmark: all its sections in one record."""

import os
import platform
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ...batches.versions import versions
from ...params.rules import Choice, Real, Whole, check
from ...run import Progress, Step, thread_count
from ...types import StrPath
from . import _scaling
from ._against import changes, comparable
from ._comparison import compare_memory, compare_times
from ._kernels import kernels
from ._measure import Tell, Views
from ._pairs import Source, given_or_simulated
from ._summary import summary

SECTIONS = ("methods", "stages", "scaling", "kernels", "memory")
MEGAPIXELS = 5180 * 2940 / 1e6  # of the simulated pair


def bench(
    left: Source | None = None,
    right: Source | None = None,
    *,
    size: float | None = None,
    threads: int | None = None,
    repeat: int = 3,
    only: Sequence[str] = (),
    against: StrPath | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure time and memory. Times do not include reading files, except for those of whole processes.

    Parameters
    ----------
    left, right : array or path, optional
        The views on which methods, kernels and threads are measured; by default a simulated pair of 15 megapixels.
    size : float, optional
        Megapixels of the simulated pair. All other simulated pairs have this size at most. Without it, the largest
        has 24 megapixels.
    threads : int, optional
        Number of threads; by default ``DUALPIX_THREADS``, else every core.
    repeat : int
        The number of runs of each method. The best one counts, and the median of the ratios in one round.
    only : sequence of str
        The SECTIONS to measure; by default all.
    against : path, optional
        The record of an earlier run in the same way, as JSON. The record of this one then has a section ``against``.
    progress : callable, optional
        Called with a `Step` when a measurement begins. Steps are counted by section.

    Returns
    -------
    dict
        Seconds, MB and their ratios by section, ready for JSON. ``summary`` holds the most important figures.

    Raises
    ------
    InputError
        If the views cannot be used.
    ParameterError
        If an option is out of bounds.
    """
    threads, repeat = thread_count(threads), check("repeat", repeat, Whole(1, 1000))
    largest = float("inf") if size is None else check("size", size, Real(0.01, 200))
    wanted = [check("only", section, Choice(*SECTIONS)) for section in only] or list(SECTIONS)
    views = given_or_simulated(left, right, MEGAPIXELS if size is None else largest)
    heading = _heading(views, left, right, threads, repeat)
    before = None if against is None else comparable(against, heading, wanted)
    parts: dict[str, Callable[[Tell], dict[str, Any]]] = {
        "methods": lambda tell: compare_times(views, threads, largest, repeat, wanted, tell),
        "scaling": lambda tell: {"scaling": _growth(views, threads, largest, repeat, tell)},
        "kernels": lambda tell: {"kernels": kernels(views, threads, repeat, tell)},
        "memory": lambda tell: {"memory": _memory(views, threads, largest, tell)},
    }
    needed = [name for name in parts if name in wanted or (name == "methods" and "stages" in wanted)]
    measured: dict[str, Any] = {}
    for done, name in enumerate(needed):
        measured |= parts[name](partial(_report, progress, done, len(needed)))
    record = {**heading, **measured, "summary": summary(measured)}
    return record if before is None else {**record, "against": changes(before, record)}


def _report(progress: Progress | None, done: int, total: int, text: str) -> None:
    if progress:
        progress(Step(text, done / total, done + 1, total))


def _growth(views: Views, threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    return {
        "disparities": _scaling.over_disparities(threads, largest, repeat, tell),
        "megapixels": _scaling.over_pixels(threads, largest, repeat, tell),
        "threads": _scaling.over_threads(views, threads, repeat, tell),
    }


def _memory(views: Views, threads: int, largest: float, tell: Tell) -> dict[str, Any]:
    growth = _scaling.memory_over_disparities(threads, largest, tell)
    return {**compare_memory(views, threads, largest, tell), "disparities": growth}


def _heading(views: Views, left: Source | None, right: Source | None, threads: int, repeat: int) -> dict[str, Any]:
    height, width = views[0].shape[:2]
    files = {name: str(x) for name, x in (("left", left), ("right", right)) if isinstance(x, str | os.PathLike)}
    channels = 3 if views[0].ndim == 3 else 1
    pair = {"simulated": left is None, **files, "width": width, "height": height, "channels": channels}
    machine = {"cpu": cpu_name(), "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None}
    return {"versions": versions(), **machine, "threads": threads, "repeat": repeat, "pair": pair}


def cpu_name() -> str:
    """The name of the processor."""
    with suppress(OSError):
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()
