"""Aggregation: parabola coefficients carried along straight paths through the image."""

import numpy as np

from . import _core
from .arrays import Map
from .params import Params


def aggregate(alpha: Map, beta: Map, guide: Map, params: Params, iterations: int, threads: int) -> tuple[Map, Map]:
    """A, B summed over the paths, after a number of iterations. alpha and beta may be used up."""
    run = exact if params.messages == "exact" else paper
    return run(alpha, beta, guide, params, iterations, threads)


def paper(alpha: Map, beta: Map, guide: Map, params: Params, iterations: int, threads: int) -> tuple[Map, Map]:
    """The published recursion: every iteration starts from the mean over paths of the one before.

    With ``params.normalize_iterations`` that mean is multiplied by ``N = alpha_1 / mean(alpha_1)``.
    """
    N = alpha / max(alpha.mean(dtype=np.float64), 1e-30) if params.normalize_iterations else None
    A, B = np.empty_like(alpha), np.empty_like(beta)
    for left in reversed(range(iterations)):
        scale = 1 / params.paths if left else 1
        _pass(alpha, beta, guide, A, B, params, params.penalty, None, scale, threads)
        if left:
            alpha, beta, A, B = A, B, alpha, beta
            if N is not None:
                # Repeated, N runs out of float32's range; both ends mean no more than "all" and "none".
                factor = np.clip(alpha * N, 1e-12, 1e12) / np.maximum(alpha, 1e-12)
                alpha *= factor
                beta *= factor
    return A, B


def exact(alpha: Map, beta: Map, guide: Map, params: Params, iterations: int, threads: int) -> tuple[Map, Map]:
    """Exact messages, summed as a belief: A is the curvature of all that is known about a pixel.

    With ``params.robust_tau`` every iteration begins anew from the same local parabolas, and smooths less where the
    one before found a step (iteratively reweighted least squares); without, one pass is all there is to do.
    """
    P = params.penalty * float(alpha.mean(dtype=np.float64))
    A, B, d = np.empty_like(alpha), np.empty_like(beta), None
    for _ in range(iterations if params.robust_tau else 1):
        _pass(alpha, beta, guide, A, B, params, P, d, 1, threads)
        d = minimizer(A, B) if params.robust_tau else None
    return A, B


def _pass(
    alpha: Map,
    beta: Map,
    guide: Map,
    A: Map,
    B: Map,
    params: Params,
    P: float,
    d: Map | None,
    scale: float,
    threads: int,
) -> None:
    _core.aggregate(
        alpha,
        beta,
        guide,
        A,
        B,
        exact=params.messages == "exact",
        penalty=P,
        edge_sigma=params.edge_sigma,
        paths=params.paths,
        disparity=d,
        robust_tau=params.robust_tau,
        scale=scale,
        threads=threads,
    )


def minimizer(A: Map, B: Map) -> Map:
    """``d = -B / (2 A)``, 0 where A is 0."""
    d = np.zeros_like(A)
    np.divide(B, A, out=d, where=A > 0)
    d *= -0.5
    return d
