"""The kernels that take the time, against what the machine could do at best."""

from functools import partial
from typing import Any

import numpy as np

from ... import _core
from ...method.aggregate import edge_weights, minimizer, one_pass
from ...method.match import local_parabolas, window_taps
from ...method.prepare import prepare
from ...params import preset
from ...run import opencv_threads
from ...types import Map
from ._cases import Tell, Views, in_turn
from ._methods import COUNT, FIRST

MULTIPLY_ADDS = 2e9  # enough for threads to start in no time
SHORT = 4  # rounds of what is over soon, for each of the others


def kernels(views: Views, threads: int, repeat: int, tell: Tell) -> dict[str, Any]:
    """Times of the cost kernel and of aggregation passes of the default preset, their bounds, and time over bound."""
    params = preset("auto").replace(subpixel="parabola")
    with opencv_threads(threads):
        planes = prepare(list(views), params, threads)
    searched = range(FIRST, FIRST + COUNT)
    tell("cost kernel and multiply-adds")

    def match() -> tuple[Map, Map]:
        return local_parabolas(planes.left, planes.right, searched, params, threads)

    sums = {f"{n} lanes": partial(_core.multiply_adds, MULTIPLY_ADDS, n, threads) for n in (4, 8, 16)}
    slow = in_turn({"cost": match, **sums}, repeat)
    adding = min(slow[name] for name in sums)

    tell("aggregation and copies")
    alpha, beta = match()
    weights = edge_weights(planes.guide, params, threads)
    A, B, target = (np.empty_like(alpha) for _ in range(3))
    P = params.penalty * float(alpha.mean(dtype=np.float64))
    tau = float(np.ravel(params.robust_tau)[0])

    def run_pass(d: Map | None) -> None:
        one_pass(alpha, beta, weights, A, B, params, P, d, 0 if d is None else tau, 1, 0, threads)

    run_pass(None)
    fast = in_turn(
        {
            "copy": lambda: _core.copy(planes.left, target, threads),
            "edge weights": lambda: _core.edge_weights(planes.guide, weights, params.edge_sigma, threads),
            "aggregation": partial(run_pass, None),
            "robust aggregation": partial(run_pass, minimizer(A, B)),
        },
        SHORT * repeat,
    )
    limits = {
        "bytes_per_second": 2 * target.nbytes / fast["copy"],  # read and written
        "multiply_adds_per_second": MULTIPLY_ADDS / adding,
    }
    # The window along x and along y; both sides of it share their taps, and so a multiply-add.
    needed = 2.0 * len(window_taps(params)) * alpha.size * COUNT
    moved = {
        "edge weights": planes.guide.nbytes + weights.nbytes,
        "aggregation": 5 * alpha.nbytes,  # alpha, beta; A, B; and the guide, from which the weights come
        "robust aggregation": 6 * alpha.nbytes,  # and d
    }
    return {
        "limits": limits,
        "cost": {"multiply_adds": needed, **_against(slow["cost"], needed / limits["multiply_adds_per_second"])},
        **{name: _moving(size, fast[name], limits) for name, size in moved.items()},
    }


def _moving(moved: int, seconds: float, rates: dict[str, float]) -> dict[str, float]:
    """Bounds are the time its traffic takes, each byte read or written once, and a copy of all these bytes."""
    against = _against(seconds, moved / rates["bytes_per_second"])
    return {"bytes": moved, **against, "of_copy": against["ratio"] / 2}


def _against(seconds: float, bound: float) -> dict[str, float]:
    return {"seconds": seconds, "bound": bound, "ratio": seconds / bound}
