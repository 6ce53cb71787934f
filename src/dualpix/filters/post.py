"""The filter of a finished map that the parameters ask for."""

from typing import Protocol

import numpy as np

from ..types import Image, Map
from .common import LEAST
from .guided import guided_filter
from .median import weighted_median
from .solver import bilateral_solver


class Smoothing(Protocol):
    """The parameters that `post_filter` reads."""

    @property
    def filter(self) -> str: ...
    @property
    def guided_window(self) -> int: ...
    @property
    def guided_eps(self) -> float: ...
    @property
    def solver_luma(self) -> float: ...
    @property
    def solver_chroma(self) -> float: ...
    @property
    def solver_xy(self) -> int: ...
    @property
    def solver_lambda(self) -> float: ...
    @property
    def median_radius(self) -> int: ...
    @property
    def median_sigma(self) -> float: ...


def post_filter(d: Map, confidence: Map, guide: Image, params: Smoothing, threads: int) -> Map:
    """Run the chosen filter along the edges of the guide, then the weighted median. A dense map stays dense."""
    trust = np.maximum(confidence, LEAST)
    if params.filter == "guided":
        window, eps = params.guided_window, params.guided_eps
        d = guided_filter(d, guide, window=window, eps=eps, confidence=trust, threads=threads)
    elif params.filter == "solver":
        d = bilateral_solver(
            d,
            guide,
            luma=params.solver_luma,
            chroma=params.solver_chroma,
            xy=params.solver_xy,
            lam=params.solver_lambda,
            confidence=trust,
            threads=threads,
        )
    if params.median_radius:
        radius, sigma = params.median_radius, params.median_sigma
        d = weighted_median(d, guide, radius=radius, sigma=sigma, confidence=trust, threads=threads)
    return d
