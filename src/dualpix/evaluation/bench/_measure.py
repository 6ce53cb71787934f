"""How time and memory are measured: the best of several runs, and the peak of a process of its own."""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from random import Random
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy.typing as npt

from ... import _core
from ...batches import process
from ...opencv import opencv_threads

Image = npt.NDArray[Any]
Views = tuple[Image, Image]
Method = Callable[[Image, Image, int], dict[str, float] | None]  # of left, right, threads; seconds by stage, if any
Tell = Callable[[str], None]  # told what begins
Key = TypeVar("Key", bound=Hashable)

ROWS = 64  # of the views, for a warm-up


class Case(NamedTuple):
    """A method on a pair. The method must be picklable if its memory is measured."""

    method: Method
    views: Views
    threads: int

    def __call__(self) -> dict[str, float] | None:
        return self.method(*self.views, self.threads)

    def warm_up(self) -> None:
        """Run on a few rows, so that modules are loaded and tables are made before the clock runs."""
        left, right = (view[:ROWS] for view in self.views)
        self.method(left, right, self.threads)


def label(name: Hashable) -> str:
    """The key of a case as text."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


# ---- time ----------------------------------------------------------------------------------------


class Timed(NamedTuple):
    """Seconds of the best run, its seconds by stage if the method reports them, and the seconds of all runs."""

    seconds: float
    stages: dict[str, float] | None
    runs: tuple[float, ...]


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The median of the ratios of the rounds, from the seconds of two cases that ran in the same rounds."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def best_times(cases: Mapping[Key, Case], repeat: int, tell: Tell) -> dict[Key, Timed]:
    """The best time of each case in `repeat` rounds.

    Every round runs all cases, so that a busy machine slows all of them. The order changes from round to round, so
    that no case always follows the same one.
    """
    best: dict[Key, Timed] = {}
    for case in cases.values():
        with opencv_threads(case.threads):
            case.warm_up()
    for turn in range(repeat):
        for name, case in Random(turn).sample([*cases.items()], len(cases)):  # an order, no secret  # nosec B311
            tell(f"{label(name)}, {turn + 1} of {repeat}")
            with opencv_threads(case.threads):
                start = time.perf_counter()
                stages = case()
                seconds = time.perf_counter() - start
            last = best.get(name, Timed(seconds, stages, ()))
            faster = last if last.seconds <= seconds else Timed(seconds, stages, ())
            best[name] = faster._replace(runs=(*last.runs, seconds))
    return {name: best[name] for name in cases}


def rounds_of(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """The times of each run, in seconds. Every round runs all of them, in the same order, without a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def in_turn(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The best time of each run, see `rounds_of`."""
    return {name: min(seconds) for name, seconds in rounds_of(runs, rounds).items()}


# ---- memory --------------------------------------------------------------------------------------


class Peak(NamedTuple):
    """Peak memory of a method.

    Attributes
    ----------
    megabytes : float
        Of the whole process; NaN if it failed.
    above : float
        Of the method: without what the process had when both views were loaded.
    error : str or None
        How the process ended, if it failed.
    """

    megabytes: float
    above: float
    error: str | None = None

    def record(self, pixels: int) -> dict[str, Any]:
        """Ready for JSON. Floats per pixel are those of the method."""
        if self.error:
            return {"error": self.error}
        floats = self.above * 2**20 / 4 / pixels
        return {"megabytes": self.megabytes, "above_views": self.above, "floats_per_pixel": floats}


def peaks(cases: Mapping[Key, Case], tell: Tell) -> dict[Key, Peak]:
    """The peak memory of each case."""
    found = {}
    for name, case in cases.items():
        tell(f"{label(name)}, memory")
        found[name] = peak(case)
    return found


def peak(case: Case) -> Peak:
    """The peak memory of a case in a process of its own."""
    try:
        return process.call(_peak_here, case)
    except process.ProcessError as error:
        return Peak(float("nan"), float("nan"), str(error))


def _peak_here(case: Case) -> Peak:
    """The peak memory of a case in this process."""
    with opencv_threads(case.threads):
        _core.release_free_memory()
        process.forget_peak()
        before = process.peak_megabytes()
        case()
        after = process.peak_megabytes()
    return Peak(after, after - before)
