"""The two kernels that take the time, against what the machine could do at best."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from ..aggregation import edge_weights, minimizer, one_pass
from ..arrays import Map
from ..matching import local_parabolas, window_taps
from ..params import preset
from ..preprocessing import prepare
from ..threads import opencv_threads
from ._cases import Tell, Views
from ._methods import COUNT, FIRST

MULTIPLY_ADDS = 2e9  # enough for threads to start in no time


def kernels(views: Views, threads: int, repeat: int, tell: Tell) -> dict[str, Any]:
    """Times of the cost kernel and of aggregation passes of the default preset, their bounds, and time over bound."""
    params = preset("auto").replace(subpixel="parabola")
    with opencv_threads(threads):
        planes = prepare(list(views), params, threads)
    rates = limits(planes.left, threads, repeat, tell)
    searched = range(FIRST, FIRST + COUNT)
    tell("cost kernel")
    matching, (alpha, beta) = _best(
        lambda: local_parabolas(planes.left, planes.right, searched, params, threads), repeat
    )
    A, B = np.empty_like(alpha), np.empty_like(beta)
    tell("edge weights")
    weighing, weights = _best(lambda: edge_weights(planes.guide, params, threads), repeat)
    P = params.penalty * float(alpha.mean(dtype=np.float64))
    tau = float(np.ravel(params.robust_tau)[0])

    def pass_of(d: Map | None) -> float:
        tell("aggregation, robust" if d is not None else "aggregation")
        return _best(
            lambda: one_pass(alpha, beta, weights, A, B, params, P, d, 0 if d is None else tau, 1, 0, threads),
            repeat,
        )[0]

    plain = pass_of(None)
    robust = pass_of(minimizer(A, B))
    # The window along x and along y; both sides of it share their taps, and so a multiply-add.
    needed = 2.0 * len(window_taps(params)) * alpha.size * COUNT
    return {
        "limits": rates,
        "cost": {"multiply_adds": needed, **_against(matching, needed / rates["multiply_adds_per_second"])},
        "edge weights": _moving(planes.guide.nbytes + weights.nbytes, weighing, rates),
        # alpha, beta; A, B; and the guide, from which the weights come
        "aggregation": _moving(5 * alpha.nbytes, plain, rates),
        "robust aggregation": _moving(6 * alpha.nbytes, robust, rates),  # and d
    }


def limits(plane: Map, threads: int, repeat: int, tell: Tell) -> dict[str, float]:
    """Bytes moved a second by a copy, which reads and writes each, and multiply-adds a second, on so many threads."""
    tell("limits")
    target = np.zeros_like(plane)
    copying = _best(lambda: _core.copy(plane, target, threads), 3 * repeat)[0]
    adding = min(_best(partial(_core.multiply_adds, MULTIPLY_ADDS, n, threads), repeat)[0] for n in (4, 8, 16))
    return {
        "bytes_per_second": 2 * plane.nbytes / copying,
        "multiply_adds_per_second": MULTIPLY_ADDS / adding,
    }


def _moving(moved: int, seconds: float, rates: dict[str, float]) -> dict[str, float]:
    """Bounds are the time its traffic takes, each byte read or written once, and a copy of all these bytes."""
    against = _against(seconds, moved / rates["bytes_per_second"])
    return {"bytes": moved, **against, "of_copy": against["ratio"] / 2}


def _against(seconds: float, bound: float) -> dict[str, float]:
    return {"seconds": seconds, "bound": bound, "ratio": seconds / bound}


def _best(run: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    best, found = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        found = run()
        best = min(best, time.perf_counter() - start)
    return best, found
