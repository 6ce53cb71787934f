"""Aggregation: parabola coefficients carried along straight paths through the image."""

import numpy as np

from .. import _core
from ..params import Params
from ..types import Map, Weights

MESSAGES = ("paper", "exact", "jumps")
SMALLEST, LARGEST = 1e-15, 1e15  # curvatures that N may lead to; they mean no more than "none" and "all"
JUMPS = (2.0, 2.0, 180.0)  # T2 of the published iterations, px; the last for all that follow


def edge_weights(guide: Map, params: Params, threads: int) -> Weights:
    """What the steps between neighbours count: ``w = exp(-(I_p - I_q)^2 / sigma^2)``, in the kernels' 16 bits.

    They are the same in every pass of a scale. Rows of pixels have one of weights for each of their edges.
    """
    height, width = guide.shape
    weights = np.empty((height, params.paths // 2, width), np.uint16)
    _core.edge_weights(guide, weights, params.edge_sigma, threads)
    return weights


def aggregate(
    alpha: Map,
    beta: Map,
    weights: Weights,
    params: Params,
    iterations: int,
    threads: int,
    spare: list[Map] | None = None,
) -> tuple[Map, Map]:
    """A, B summed over the paths, after a number of iterations.

    alpha and beta may be used up, and so are the spare maps, distinct ones of the same shape, which are taken out of
    their list: memory that is there already costs less than new one.
    """
    run = exact if params.messages == "exact" else paper
    return run(alpha, beta, weights, params, iterations, threads, [] if spare is None else spare)


def paper(
    alpha: Map, beta: Map, weights: Weights, params: Params, iterations: int, threads: int, spare: list[Map]
) -> tuple[Map, Map]:
    """The published recursion, plain or with jumps: every iteration starts from the mean over paths of the one before.

    With ``params.normalize_iterations`` that mean is multiplied by ``N = alpha_1 / mean(alpha_1)``.
    """
    N = alpha / max(alpha.mean(dtype=np.float64), 1e-30) if params.normalize_iterations else None
    A, B = _taken(spare, alpha), _taken(spare, alpha)
    spare.clear()
    for i in range(iterations):
        last = i + 1 == iterations
        scale = 1 if last else 1 / params.paths
        T2 = JUMPS[min(i, len(JUMPS) - 1)]
        one_pass(alpha, beta, weights, A, B, params, params.penalty, None, 0, scale, T2, threads)
        if not last:
            alpha, beta, A, B = A, B, alpha, beta
            if N is not None:
                factor = np.clip(alpha * N, SMALLEST, LARGEST) / np.maximum(alpha, SMALLEST)
                alpha *= factor
                beta *= factor
    return A, B


def _taken(spare: list[Map], like: Map) -> Map:
    """One of the spare maps, or a new one."""
    return spare.pop() if spare else np.empty_like(like)


def exact(
    alpha: Map, beta: Map, weights: Weights, params: Params, iterations: int, threads: int, spare: list[Map]
) -> tuple[Map, Map]:
    """Exact messages, summed as a belief: A is the curvature of all that is known about a pixel.

    With ``params.robust_tau`` every iteration begins anew from the same local parabolas, and smooths less where the
    one before found a step (iteratively reweighted least squares); without, one pass is all there is to do.
    """
    P = params.penalty * float(alpha.mean(dtype=np.float64))
    A, B = _taken(spare, alpha), _taken(spare, alpha)
    taus = np.ravel(params.robust_tau)
    passes = iterations if taus.any() else 1
    d = _taken(spare, alpha) if passes > 1 else None
    spare.clear()
    for i in range(passes):
        tau = float(taus[np.clip(i - 1, 0, len(taus) - 1)])
        before, after = (d if i and tau else None), (d if i + 1 < passes else None)
        one_pass(alpha, beta, weights, A, B, params, P, before, tau, 1, 0, threads, after)
    return A, B


def one_pass(
    alpha: Map,
    beta: Map,
    weights: Weights,
    A: Map,
    B: Map,
    params: Params,
    P: float,
    d: Map | None,
    tau: float,
    scale: float,
    T2: float,
    threads: int,
    minimizer: Map | None = None,
) -> None:
    """All paths once: A and B, times scale, and -B / (2 A) where a map for that is given; robust if d is."""
    _core.aggregate(
        alpha,
        beta,
        weights,
        A,
        B,
        messages=MESSAGES.index(params.messages),
        penalty=P,
        disparity=d,
        robust_tau=tau,
        scale=scale,
        jump_penalty=params.jump_penalty,
        farthest=T2,
        threads=threads,
        minimizer=minimizer,
    )


def minimizer(A: Map, B: Map, threads: int = 1, out: Map | None = None) -> Map:
    """``d = -B / (2 A)``, 0 where A is 0; `out` may be B."""
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    d = np.empty_like(A) if out is None else out
    _core.minimizer(A, B, d, threads)
    return d
