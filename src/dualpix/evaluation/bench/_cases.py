"""What is timed: a method, the views it gets and its threads; and the best times of several, taken in turn."""

import time
from collections.abc import Callable, Hashable, Mapping
from random import Random
from typing import Any, NamedTuple, TypeVar

import numpy.typing as npt

from ...run import opencv_threads

Image = npt.NDArray[Any]
Views = tuple[Image, Image]
Run = Callable[[Image, Image, int], dict[str, float] | None]  # left, right, threads; returns seconds by stage, if any
Tell = Callable[[str], None]
Key = TypeVar("Key", bound=Hashable)

ROWS = 64


class Case(NamedTuple):
    """One method on one pair. To be measured in a process of its own, the run must be picklable."""

    run: Run
    views: Views
    threads: int

    def __call__(self) -> dict[str, float] | None:
        return self.run(*self.views, self.threads)

    def warm_up(self) -> None:
        """On a few rows, so that whatever is loaded or made only once is there."""
        left, right = (view[:ROWS] for view in self.views)
        self.run(left, right, self.threads)


class Timed(NamedTuple):
    """Seconds of the best run, and by stage if the method tells."""

    seconds: float
    stages: dict[str, float] | None


def best_times(cases: Mapping[Key, Case], repeat: int, tell: Tell) -> dict[Key, Timed]:
    """The best of `repeat` runs of each, one after the other in every round: what slows the machine slows all.

    Every round has another order, so that nobody always follows the one that leaves the machine in disorder.
    """
    best: dict[Key, Timed] = {}
    for case in cases.values():
        with opencv_threads(case.threads):
            case.warm_up()
    for turn in range(repeat):
        for name, case in Random(turn).sample([*cases.items()], len(cases)):
            tell(f"{label(name)}, {turn + 1} of {repeat}")
            with opencv_threads(case.threads):
                start = time.perf_counter()
                stages = case()
                timed = Timed(time.perf_counter() - start, stages)
            best[name] = min(best.get(name, timed), timed, key=lambda each: each.seconds)
    return {name: best[name] for name in cases}


def in_turn(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The best time of each, seconds; all of them in every round, so that a busy machine is so for all."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def label(name: Hashable) -> str:
    """For people."""
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)
