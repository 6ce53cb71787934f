"""How time and memory grow with the number of disparities, pixels and threads."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ._measure import Case, Tell, Views, best_times, median_ratio, peaks
from ._methods import ours
from ._pairs import WIDE, dual_pixel_pair, shape, wide_pair

COUNTS = (16, 32, 64, 128, 256, 512)  # numbers of disparities
TIME_MEGAPIXELS = 0.8  # of the pair for times: just wide enough for all COUNTS
MEMORY_MEGAPIXELS = 3.0  # of the pair for memory: on a smaller one, fixed tables would outweigh its maps
GROWTH = (32, 512)  # the numbers of disparities whose memory is compared
SERIES: dict[str, dict[str, Any]] = {
    "stereo": {"preset": "stereo"},
    "auto": {"preset": "auto"},
    "auto, one scale": {"preset": "auto", "iterations": (4,)},
}
MEGAPIXELS = (0.3, 1.0, 3.0, 8.0, 24.0)  # reduced in proportion if the largest is not allowed
LEAST = 0.0099  # megapixels; windows do not fit into smaller pairs


def exponent(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The k of the power law y ~ x^k, by least squares in the logarithms; None for fewer than two points."""
    if len(x) < 2 or not all(math.isfinite(value) and value > 0 for value in y):
        return None
    u, v = (np.log(values) - np.mean(np.log(values)) for values in (x, y))
    return float(u @ v / (u @ u))


def over_disparities(threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    """Seconds by method and number of disparities."""
    cases = _disparity_cases(threads, min(largest, TIME_MEGAPIXELS))
    times = best_times(cases, repeat, tell)
    seconds = {name: {n: times[name, n].seconds for n in counts} for name, counts in _counts(cases).items()}
    return {name: _series(points) for name, points in seconds.items()}


def memory_over_disparities(threads: int, largest: float, tell: Tell) -> dict[str, Any]:
    """MB of the method alone, and their ratio between the two numbers of disparities in GROWTH."""
    cases = _disparity_cases(threads, min(largest, MEMORY_MEGAPIXELS))
    found = peaks(cases, tell)
    grown = {}
    for name, counts in _counts(cases).items():
        points = {n: found[name, n].above for n in counts}
        low, high = (points.get(n, math.nan) for n in GROWTH)
        grown[name] = {**_series(points, "above_views"), "growth": high / low if low else math.nan}
    return grown


def over_pixels(threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    """Seconds of the default preset by megapixels."""
    sizes = [size * min(1, largest / MEGAPIXELS[-1]) for size in MEGAPIXELS]
    sizes = [size for size in sizes if size >= LEAST]
    cases = {size: Case(partial(ours, preset="auto"), dual_pixel_pair(size), threads) for size in sizes}
    times = best_times(cases, repeat, lambda text: tell(f"auto, megapixels {text}"))
    return _series({size: timed.seconds for size, timed in times.items()})


def over_threads(views: Views, threads: int, repeat: int, tell: Tell) -> dict[str, Any]:
    """Seconds and speed-up of the default preset on 1, 2, 4 ... threads."""
    numbers = [n for n in (2**k for k in range(11)) if n < threads] + [threads]
    cases = {n: Case(partial(ours, preset="auto"), views, n) for n in numbers}
    times = best_times(cases, repeat, lambda text: tell(f"auto, threads {text}"))
    series = _series({n: timed.seconds for n, timed in times.items()})
    return {**series, "speed_up": [median_ratio(times[1].runs, times[n].runs) for n in numbers]}


def _disparity_cases(threads: int, size: float) -> dict[tuple[str, int], Case]:
    """Cases by method and number of disparities.

    The stereo pair needs all the disparities that are searched. The dual-pixel pair needs few: with several scales, the
    finer ones search only what the coarser ones have found; with one scale, all disparities are searched.
    """
    dual = dual_pixel_pair(size)
    cases = {}
    for name, options in SERIES.items():
        for n in fitting(size):
            first, views = (0, wide_pair(size, n)) if name == "stereo" else (-n // 2, dual)
            cases[name, n] = Case(partial(ours, **options, range=(first, first + n - 1)), views, threads)
    return cases


def fitting(megapixels: float) -> list[int]:
    """The COUNTS up to half the width of a pair of that size, and always the first."""
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
