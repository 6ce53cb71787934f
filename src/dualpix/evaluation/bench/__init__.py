"""Time and memory of dualpix against OpenCV and against the machine: everything in one run, on the same threads."""

import os
import platform
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ...errors import InputError
from ...io import read_pair
from ...params.rules import Choice, Real, Whole, check
from ...run import thread_count
from ..compare import versions
from . import _scaling
from ._cases import Tell, Views
from ._comparison import compare_memory, compare_times
from ._kernels import kernels
from ._pairs import dual_pixel_pair
from ._plot import check_plot, encode_plot
from ._summary import summary
from ._text import bench_lines

__all__ = ["SECTIONS", "bench", "bench_lines", "check_plot", "encode_plot"]

SECTIONS = ("methods", "stages", "scaling", "kernels", "memory")
MEGAPIXELS = 5180 * 2940 / 1e6  # of the pair, where none is given
SMALLEST = 64  # px, a side, below which windows and ranges do not fit in

Progress = Callable[[str, int, int], None]
Image = npt.NDArray[Any] | str | Path


def bench(
    left: Image | None = None,
    right: Image | None = None,
    *,
    size: float | None = None,
    threads: int | None = None,
    repeat: int = 3,
    only: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure time and memory. Reading files is never part of a time, but for that of a whole process.

    Parameters
    ----------
    left, right : array or path, optional
        The views that methods, kernels and threads are measured on; a simulated pair of 15 megapixels if not given.
    size : float, optional
        Megapixels of the simulated pair, and the most that any other simulated one has. Those of the scaling over
        pixels have 24 at most.
    threads : int, optional
        For all methods; by default ``DUALPIX_THREADS``, or else every core.
    repeat : int
        Runs of each, of which the best counts.
    only : sequence of str
        Some of SECTIONS; without, all.
    progress : callable, optional
        ``progress(text, done, total)``, called when something begins; sections are counted.

    Returns
    -------
    dict
        Ready for JSON: seconds, MB, and ratios of them, by section; ``summary`` holds the figures that tell the most.

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
    views = _views(left, right, MEGAPIXELS if size is None else largest)
    heading = _heading(views, left, right, threads, repeat)
    parts: dict[str, Callable[[Tell], dict[str, Any]]] = {
        "methods": lambda tell: compare_times(views, threads, largest, repeat, wanted, tell),
        "scaling": lambda tell: {"scaling": _scaled(views, threads, largest, repeat, tell)},
        "kernels": lambda tell: {"kernels": kernels(views, threads, repeat, tell)},
        "memory": lambda tell: {"memory": _remembered(views, threads, largest, tell)},
    }
    needed = [name for name in parts if name in wanted or (name == "methods" and "stages" in wanted)]
    measured: dict[str, Any] = {}
    for done, name in enumerate(needed):
        measured |= parts[name](partial(_report, progress, done, len(needed)))
    return {**heading, **measured, "summary": summary(measured)}


def _report(progress: Progress | None, done: int, total: int, text: str) -> None:
    if progress:
        progress(text, done, total)


def _scaled(views: Views, threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    return {
        "disparities": _scaling.over_disparities(threads, largest, repeat, tell),
        "megapixels": _scaling.over_pixels(threads, largest, repeat, tell),
        "threads": _scaling.over_threads(views, threads, repeat, tell),
    }


def _remembered(views: Views, threads: int, largest: float, tell: Tell) -> dict[str, Any]:
    over = _scaling.memory_over_disparities(threads, largest, tell)
    return {**compare_memory(views, threads, largest, tell), "disparities": over}


def _views(left: Image | None, right: Image | None, megapixels: float) -> Views:
    if left is None and right is None:
        return dual_pixel_pair(megapixels)
    if left is None or right is None:
        raise InputError(f"{'left' if left is None else 'right'} is missing: give both views, or none")
    pair = read_pair(left, right)
    if pair.left.ndim != pair.right.ndim or pair.left.dtype != pair.right.dtype:
        raise InputError("left and right differ in kind, as grey from colour or 8 from 16 bit: give two of one kind")
    if min(pair.left.shape[:2]) < SMALLEST:
        height, width = pair.left.shape[:2]
        name = pair.source.get("left", "left")
        raise InputError(f"{name} is {width}x{height} pixels: give views of {SMALLEST}x{SMALLEST} at least")
    return pair.left, pair.right


def _heading(views: Views, left: Image | None, right: Image | None, threads: int, repeat: int) -> dict[str, Any]:
    height, width = views[0].shape[:2]
    files = {name: str(x) for name, x in (("left", left), ("right", right)) if isinstance(x, str | os.PathLike)}
    channels = 3 if views[0].ndim == 3 else 1
    pair = {"simulated": left is None, **files, "width": width, "height": height, "channels": channels}
    machine = {"cpu": cpu_name(), "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None}
    return {"versions": versions(), **machine, "threads": threads, "repeat": repeat, "pair": pair}


def cpu_name() -> str:
    """As the system calls it."""
    with suppress(OSError):
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()
