"""The kernels that take most of the time, compared with what the machine could do at best."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ... import _core
from ...baselines._planes import matched_planes
from ...method.aggregate import all_passes, edge_weights, robust_passes
from ...method.match import local_parabolas
from ...method.search import Span
from ...method.window import window_taps
from ...opencv import opencv_threads
from ...params import Params, preset
from ...types import Parabolas, Planes
from ._measure import Tell, Views, in_turn, rounds_of
from ._methods import COUNT, FIRST
from ._roofline import FINEST, moved, roofline

MULTIPLY_ADDS = 2e9  # enough to make the start of the threads negligible
SHORT = 4  # rounds of the short runs for each round of the long ones


def kernels(views: Views, threads: int, repeat: int, tell: Tell) -> dict[str, Any]:
    """Times of the cost kernel and of the aggregation of the default preset, and their lower bounds."""
    params = preset("auto").replace(subpixel="parabola")
    with opencv_threads(threads):
        planes = matched_planes(*views, params.photometry, threads)

    tell("cost kernel and multiply-adds")
    cost, encc, adding = _time_cost(planes, params, threads, repeat)
    tell("aggregation and copies")
    rounds = _time_aggregation(planes, params, threads, SHORT * repeat)
    times = {name: min(seconds) for name, seconds in rounds.items()}

    size = planes.left.nbytes
    limits = {
        "bytes_per_second": 2 * size / times["copy"],  # read and written
        "multiply_adds_per_second": MULTIPLY_ADDS / adding,
    }
    # The window is applied along x and along y. Both sides of it share their taps, and so a multiply-add.
    needed = 2.0 * len(window_taps(params.matching)) * planes.left.size * COUNT
    bytes_of = moved(params.paths)
    seconds = {**times, "cost": cost, "encc": encc}
    return {
        "limits": limits,
        "roofline": roofline(seconds, planes.left.size, params.matching, params.paths, COUNT),
        "cost": {"multiply_adds": needed, **_against(cost, needed / limits["multiply_adds_per_second"])},
        **{
            name: {
                **_moving(bytes_of[name] * planes.left.size, times[name], limits),
                "of_copy": _of_copy(rounds[name], rounds["copy"], bytes_of[name] * planes.left.size / size),
            }
            for name in ("edge weights", "aggregation", "aggregation in passes")
        },
    }


def _match(planes: Planes, params: Params, threads: int) -> Parabolas:
    return local_parabolas(planes, Span(range(FIRST, FIRST + COUNT)), params.matching, threads)


def _time_cost(planes: Planes, params: Params, threads: int, rounds: int) -> tuple[float, float, float]:
    """Seconds of the cost kernel, of encc, which comes after it, and of MULTIPLY_ADDS with the best vectors."""
    sums = {f"{n} lanes": partial(_core.multiply_adds, MULTIPLY_ADDS, n, threads) for n in (4, 8, 16)}
    both = partial(_match, planes, params.replace(subpixel="encc"), threads)
    times = in_turn({"cost": partial(_match, planes, params, threads), "both": both, **sums}, rounds)
    return times["cost"], times["both"] - times["cost"], min(times[name] for name in sums)


def _time_aggregation(planes: Planes, params: Params, threads: int, rounds: int) -> dict[str, list[float]]:
    """Seconds, round by round, of a pass of aggregation, of edge weights, of census and of a copy of one map.

    "aggregation" is a plain pass alone, "aggregation in passes" one of the FINEST passes, each behind the one before.
    """
    local, settings = _match(planes, params, threads), params.aggregation
    weights = edge_weights(planes.guide, settings, threads)
    A, B, d, target = (np.empty_like(local.A) for _ in range(4))
    evidence = replace(local, matched=local.disparity().astype(np.float16))
    P = settings.penalty * float(local.A.mean(dtype=np.float64))

    def run(passes: int) -> None:
        taus = robust_passes(settings, passes)
        all_passes(evidence, weights, A, B, settings, P, taus=taus, d=d if taus else None, threads=threads)

    times = rounds_of(
        {
            "copy": lambda: _core.copy(planes.left, target, threads),
            "edge weights": lambda: _core.edge_weights(planes.guide, weights, params.edge_sigma, threads),
            "census": lambda: _core.census(planes.left, target, threads),
            "aggregation": partial(run, 1),
            "aggregation in passes": partial(run, FINEST),
        },
        rounds,
    )
    return times | {"aggregation in passes": [seconds / FINEST for seconds in times["aggregation in passes"]]}


def _moving(moved: float, seconds: float, limits: dict[str, float]) -> dict[str, float]:
    """A kernel and its bound: the time to move its data, each byte read or written once."""
    return {"bytes": moved, **_against(seconds, moved / limits["bytes_per_second"])}


def _of_copy(seconds: list[float], copies: list[float], times: float) -> float:
    """The time of a kernel over that of a copy of the same data, which reads and writes each byte.

    It moves so many times the data of `copies`. The median of the rounds: the host may move the threads to other
    processors between two rounds, but hardly within one.
    """
    return float(np.median([one / (times * copy) for one, copy in zip(seconds, copies, strict=True)]))


def _against(seconds: float, bound: float) -> dict[str, float]:
    return {"seconds": seconds, "bound": bound, "ratio": seconds / bound}
