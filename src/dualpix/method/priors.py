"""Priors: evidence about a pixel from anywhere else, added to its local term.

The belief of the coarser scale is one; the belief of the previous frame of a clip (`temporal.Temporal`), a user's hint
or another sensor can be others. All are parabolas, and parabolas add up. Pass yours as `priors=` to
`pipeline.disparity`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .. import _core
from ..params import Params
from ..types import Map, Parabolas, Signs, Texture, empty
from .confidence import mean_curvature, near_texture
from .match import border_divisor
from .scales import Level
from .search import Span
from .window import window_side


@dataclass(frozen=True, eq=False)
class Prior:
    """Parabolas that are known before the pair is matched.

    A prior does not widen the range: a disparity outside the searched range is clipped to it.

    Attributes
    ----------
    parabolas : Parabolas
        One a pixel, at full size, in the frame of the matched planes (see `Frame`). The `belief` of a result is such.
    weight : float
        What its curvature is multiplied by.
    limit : float
        Upper bound of its curvature before weighting, px^-2; 0 is no bound.
    """

    parabolas: Parabolas
    weight: float = 1.0
    limit: float = 0.0

    def at(self, level: Level, threads: int, coarser: Parabolas | None = None) -> "Weighted":
        """The prior at the size of the level, whatever the coarser scale believes."""
        parabolas = self.parabolas
        for _ in range(level.scales - level.number):
            parabolas = parabolas.halved(threads)
        return parabolas.A, parabolas.B, 1, self.weight, self.limit


Weighted = tuple[Map, Map, int, float, float]  # A, B, size of the level over theirs, weight, limit


class AnyPrior(Protocol):
    """What `solve` takes as a prior."""

    def at(self, level: Level, threads: int, coarser: Parabolas | None) -> Weighted | None:
        """The prior at a level, given the belief of the next coarser one; None if it has nothing to say there."""
        ...


def combine(
    local: Parabolas,
    coarser: Parabolas | None,
    priors: Sequence[Weighted],
    span: Span,
    params: Params,
    threads: int,
) -> Parabolas:
    """The local term, weakened at the border, plus all priors, the coarser scale among them. In place.

    Where the sum is below the threshold Ta, a pixel keeps its vertex but has almost no weight.
    """
    matching, scales = params.matching, params.scales
    needed = params.aggregation.fattening or params.measures_error
    matched = empty(local.A.shape, np.float16) if needed else None
    signs = None
    if params.measures_error:
        known = coarser.signs if coarser and coarser.signs else Signs()
        signs = known._replace(texture=mean_curvature(local.A, threads))
    texture = Texture(coarser.textured if coarser else None, window_side(matching))
    textured = near_texture(local.A, *texture, threads) if matched is None else None
    if coarser:
        priors = [(coarser.A, coarser.B, 2, scales.prior_weight, scales.prior_limit), *priors]
    divisor = border_divisor(local.A.shape[1], span.disparities, matching)
    threshold = scales.invalid_threshold
    bits = None if matched is None else matched.view(np.uint16)
    _core.condition(local.A, local.B, divisor, priors=priors, invalid_threshold=threshold, threads=threads, vertex=bits)
    return replace(
        local,
        textured=textured,
        matched=matched,
        signs=signs,
        texture=None if textured is not None else texture,
        curvatures=coarser.curvatures if coarser else (),
    )
