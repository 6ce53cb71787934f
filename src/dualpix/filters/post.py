"""The filter of a finished map that the parameters select."""

import numpy as np

from ..params.definitions import Smoothing
from ..types import Image, Map
from .common import LEAST
from .guided import guided_filter
from .median import weighted_median
from .outlines import REACH
from .polish import reach as polish_reach
from .solver import bilateral_solver


def margin(settings: Smoothing) -> int | None:
    """Pixels around a tile that outlines, polish and filter need; None if they need the whole picture."""
    reach = (polish_reach() if settings.polish else 0) + (REACH if settings.outlines else 0)
    if settings.filter == "none":
        return reach
    if settings.filter == "solver":
        return None
    return reach + 2 * (settings.guided_window // 2) + settings.median_radius


def post_filter(d: Map, confidence: Map, guide: Image, settings: Smoothing, threads: int) -> Map:
    """Run the chosen filter along the edges of the guide, then the weighted median. A dense map stays dense."""
    trust = np.maximum(confidence, LEAST)
    if settings.filter == "guided":
        window, eps = settings.guided_window, settings.guided_eps
        d = guided_filter(d, guide, window=window, eps=eps, confidence=trust, threads=threads)
    elif settings.filter == "solver":
        d = bilateral_solver(
            d,
            guide,
            luma=settings.solver_luma,
            chroma=settings.solver_chroma,
            xy=settings.solver_xy,
            lam=settings.solver_lambda,
            confidence=trust,
            threads=threads,
        )
    if settings.median_radius:
        radius, sigma = settings.median_radius, settings.median_sigma
        d = weighted_median(d, guide, radius=radius, sigma=sigma, confidence=trust, threads=threads)
    return d
