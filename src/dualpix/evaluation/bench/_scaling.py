"""How time and memory grow with disparities, pixels and threads, and the exponents of that growth."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ._cases import Case, Tell, Views, best_times
from ._memory import peaks
from ._methods import ours
from ._pairs import WIDE, dual_pixel_pair, shape, wide_pair

COUNTS = (16, 32, 64, 128, 256, 512)  # disparities
TIMED_ON = 0.8  # megapixels, just wide enough for all of them
HELD_BY = 3.0  # the same for memory, of which a pair as small has too little beside what tiles and tables take
GROWTH = (32, 512)
SERIES: dict[str, dict[str, Any]] = {
    "stereo": {"preset": "stereo"},
    "auto": {"preset": "auto"},
    "auto, one scale": {"preset": "auto", "iterations": (4,)},
}
MEGAPIXELS = (0.3, 1.0, 3.0, 8.0, 24.0)  # or a part of each, where no pair may be as large
LEAST = 0.0099  # megapixels, so that windows fit in


def exponent(x: Sequence[float], y: Sequence[float]) -> float | None:
    """k of the power law y ~ x^k nearest in the logarithms; None if there are no two points."""
    if len(x) < 2 or not all(math.isfinite(value) and value > 0 for value in y):
        return None
    u, v = (np.log(values) - np.mean(np.log(values)) for values in (x, y))
    return float(u @ v / (u @ u))


def over_disparities(threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    """Seconds by method and number of disparities."""
    cases = _disparity_cases(threads, min(largest, TIMED_ON))
    times = best_times(cases, repeat, tell)
    seconds = {name: {n: times[name, n].seconds for n in counts} for name, counts in _counts(cases).items()}
    return {name: _series(points) for name, points in seconds.items()}


def memory_over_disparities(threads: int, largest: float, tell: Tell) -> dict[str, Any]:
    """MB above the views, and how they grow from GROWTH's first number of disparities to its last."""
    cases = _disparity_cases(threads, min(largest, HELD_BY))
    found = peaks(cases, tell)
    grown = {}
    for name, counts in _counts(cases).items():
        points = {n: found[name, n].above for n in counts}
        low, high = (points.get(n, math.nan) for n in GROWTH)
        grown[name] = {**_series(points, "above_views"), "growth": high / low if low else math.nan}
    return grown


def over_pixels(threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    """Seconds of the default preset on simulated pairs, megapixels."""
    sizes = [size * min(1, largest / MEGAPIXELS[-1]) for size in MEGAPIXELS]
    sizes = [size for size in sizes if size >= LEAST]
    cases = {size: Case(partial(ours, preset="auto"), dual_pixel_pair(size), threads) for size in sizes}
    times = best_times(cases, repeat, lambda text: tell(f"auto, megapixels {text}"))
    return _series({size: timed.seconds for size, timed in times.items()})


def over_threads(views: Views, threads: int, repeat: int, tell: Tell) -> dict[str, Any]:
    """Seconds and speed-up of the default preset on 1, 2, 4 .. threads."""
    numbers = [n for n in (2**k for k in range(11)) if n < threads] + [threads]
    cases = {n: Case(partial(ours, preset="auto"), views, n) for n in numbers}
    times = best_times(cases, repeat, lambda text: tell(f"auto, threads {text}"))
    series = _series({n: timed.seconds for n, timed in times.items()})
    return {**series, "speed_up": [times[1].seconds / seconds for seconds in series["seconds"]]}


def _disparity_cases(threads: int, size: float) -> dict[tuple[str, int], Case]:
    """By method and number of disparities: those that half the width can hold.

    Stereo gets a pair that needs them all. A dual-pixel pair does not, and coarser scales tell the finer ones; with one
    scale all are searched.
    """
    dual = dual_pixel_pair(size)
    cases = {}
    for name, options in SERIES.items():
        for n in fitting(size):
            first, views = (0, wide_pair(size, n)) if name == "stereo" else (-n // 2, dual)
            cases[name, n] = Case(partial(ours, **options, range=(first, first + n - 1)), views, threads)
    return cases


def fitting(megapixels: float) -> list[int]:
    """Those of COUNTS that half the width of a pair can hold; the first always."""
    width = shape(megapixels, WIDE)[1]
    return [n for n in COUNTS if n == COUNTS[0] or 2 * n <= width]


def _counts(cases: Mapping[tuple[str, int], Case]) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for name, n in cases:
        counts.setdefault(name, []).append(n)
    return counts


def _series(points: Mapping[Any, float], what: str = "seconds") -> dict[str, Any]:
    x, y = list(points), list(points.values())
    return {"x": x, what: y, "exponent": exponent(x, y)}
