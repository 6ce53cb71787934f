"""One run: its threads, its progress, and the time of its stages."""

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from .errors import DualpixWarning, printable
from .params.rules import Whole, check

LOG = logging.getLogger(__package__)  # the time of every stage, at the level DEBUG
LOG.addHandler(logging.NullHandler())
_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def warn(sentence: str) -> None:
    """Log a sentence at the level INFO, and issue it as a `DualpixWarning` that points at the caller's line."""
    sentence = printable(sentence)
    LOG.info("warning: %s", sentence)
    level, frame = 1, sys._getframe()  # the first function outside this package
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, DualpixWarning, stacklevel=level)


@dataclass(frozen=True)
class Step:
    """A step of work that begins now.

    Attributes
    ----------
    name : str
        What begins, such as "matching".
    share : float
        How much of the whole work is done, 0 to 1.
    number, total : int
        The step is number `number` of `total`, counted from 1; both are 0 if steps are not counted.
    unit : str
        What is counted: "scale" while a pair is matched, "step" elsewhere.
    view : str
        "left" or "right" if both views are matched one after the other, else empty.
    """

    name: str
    share: float = 0.0
    number: int = 0
    total: int = 0
    unit: str = "step"
    view: str = ""

    def __str__(self) -> str:
        view = f", {self.view} view" if self.view else ""
        count = f", {self.unit} {self.number} of {self.total}" if self.number else ""
        return f"{self.name}{view}{count}"


Progress = Callable[[Step], None]


def part_of(progress: Progress | None, number: int, total: int) -> Progress | None:
    """The progress of one of `total` equal parts of the work; the first has number 0."""
    if progress is None:
        return None
    return lambda step: progress(replace(step, share=(number + step.share) / total))


@dataclass(eq=False)
class Run:
    """Threads, progress and clock of one call; the stages of the method share it.

    Attributes
    ----------
    threads : int
        How many threads the kernels use. Results do not depend on it.
    progress : callable or None
        Called with a `Step` when a stage begins.
    seconds : dict
        Time by name of the stage, summed over scales and views.
    scales : int
        Number of scales, for the progress; 0 until it is known.
    view : str
        The view that is matched now, if both are; else empty.
    """

    threads: int = 1
    progress: Progress | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    scales: int = 0
    view: str = ""
    _share: float = 0.0

    @contextmanager
    def stage(self, name: str, scale: int = 0) -> Iterator[None]:
        """Announce and time a stage; `scale` counts from 1, coarse to fine, and is 0 outside the scales."""
        if self.progress:
            # The coarsest scale may be solved several times to find the range; the bar must not go back.
            self._share = max(self._share, share_done(name, scale, self.scales, self.view))
            total = self.scales if scale else 0
            self.progress(Step(name, self._share, scale, total, "scale", self.view))
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        where = f", scale {scale}" * bool(scale) + f", {self.view} view" * bool(self.view)
        LOG.debug("%s%s: %.4f s", name, where, seconds)


def share_done(name: str, scale: int, scales: int, view: str = "") -> float:
    """Share of the work that is done when a stage begins: each scale has 4 times the pixels of the last."""
    if view:
        return (share_done(name, scale, scales) + (view == "right")) / 2
    if not scale:
        return 1.0 if name in ("confidence", "finish", "filter") else 0.0
    here = 4.0 ** (scale - 1)
    before = (here - 1) / 3 + (here / 2 if name == "aggregation" else 0)
    return before / ((4.0**scales - 1) / 3)


def thread_count(threads: int | None) -> int:
    """The requested number, else that of ``DUALPIX_THREADS``, else the number of cores this process may use."""
    name: str = "threads"
    value: object = threads
    if threads is None:
        text = os.environ.get("DUALPIX_THREADS")
        if text is None:
            affinity = getattr(os, "sched_getaffinity", None)
            return len(affinity(0)) if affinity else os.cpu_count() or 1
        name, value = "DUALPIX_THREADS", int(text) if text.isdecimal() and len(text) < 10 else text
    number: int = check(name, value, Whole(1, 1024))
    return number
