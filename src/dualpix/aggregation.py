"""Aggregation: parabola coefficients carried along straight paths through the image."""

import numpy as np

from . import _core
from .arrays import Map
from .params import Params


def aggregate(alpha: Map, beta: Map, guide: Map, params: Params, iterations: int, threads: int) -> tuple[Map, Map]:
    """A, B summed over the paths, after a number of iterations. alpha and beta are used up.

    Between iterations the mean over paths is the next local term, times ``N = alpha_1 / mean(alpha_1)`` with
    ``params.normalize_iterations``.
    """
    N = alpha / max(alpha.mean(dtype=np.float64), 1e-30) if params.normalize_iterations else None
    A, B = np.empty_like(alpha), np.empty_like(beta)
    for left in reversed(range(iterations)):
        _core.aggregate(
            alpha,
            beta,
            guide,
            A,
            B,
            penalty=params.penalty,
            edge_sigma=params.edge_sigma,
            paths=params.paths,
            scale=1 / params.paths if left else 1,
            threads=threads,
        )
        if left:
            alpha, beta, A, B = A, B, alpha, beta
            if N is not None:
                # Repeated, N runs out of float32's range; both ends mean no more than "all" and "none".
                factor = np.clip(alpha * N, 1e-12, 1e12) / np.maximum(alpha, 1e-12)
                alpha *= factor
                beta *= factor
    return A, B


def minimizer(A: Map, B: Map) -> Map:
    """``d = -B / (2 A)``, 0 where A is 0."""
    d = np.zeros_like(A)
    np.divide(B, A, out=d, where=A > 0)
    d *= -0.5
    return d
