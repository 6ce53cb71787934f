"""The paper: coarse to fine, at every scale match -> combine with priors -> aggregate.

Nothing here knows of files, axes, cameras or video. All evidence about a pixel is a parabola, and parabolas add up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .. import _core
from ..run import Run
from ..types import Map, Parabolas
from .confidence import near_texture
from .kinds import Method
from .match import border_divisor
from .plan import Plan
from .scales import Level, Pyramid
from .search import Span
from .window import window_side


@dataclass(frozen=True, eq=False)
class Prior:
    """Evidence from elsewhere: a previous frame, a user's hint, any other sensor.

    Attributes
    ----------
    parabolas : Parabolas
        At full size, in the frame of the matched planes.
    weight : float
        What its curvature is multiplied by.
    limit : float
        The largest curvature it can have before it is weighted, px^-2; 0 is no limit.
    """

    parabolas: Parabolas
    weight: float = 1.0
    limit: float = 0.0

    def at(self, level: Level, threads: int) -> "Weighted":
        """What the level is given: the parabolas at its size."""
        parabolas = self.parabolas
        for _ in range(level.scales - level.number):
            parabolas = parabolas.halved(threads)
        return parabolas.A, parabolas.B, 1, self.weight, self.limit


Weighted = tuple[Map, Map, int, float, float]  # A, B, size of the level over theirs, weight, limit


def solve(
    pyramid: Pyramid, plan: Plan, priors: Sequence[Prior] = (), coarser: Parabolas | None = None, run: Run | None = None
) -> Parabolas:
    """The belief of every pixel of the finest scale.

    Parameters
    ----------
    pyramid : Pyramid
        Prepared planes; they are used up.
    plan : Plan
        What to search, how often to aggregate, and how.
    priors : sequence of Prior
        Any number; each enters at every scale.
    coarser : Parabolas, optional
        The belief of the scale below the coarsest of the plan, where solving goes on from it (a tile, for one).
    """
    run = run or Run()
    belief = coarser
    for level in pyramid.levels(len(plan.passes), run.threads):
        span = plan.search.at(level.factor, belief, run.threads)
        belief = belief and replace(belief, vertex=None)  # its map is not needed any more
        curvature = plan.curvatures[level.number - 1] if plan.curvatures else None
        given = [prior.at(level, run.threads) for prior in priors]
        belief = solve_scale(level, span, plan.method, plan.passes[level.number - 1], belief, given, curvature, run)
    assert belief is not None
    return replace(belief, limits=plan.search.limits_of(span))


def solve_scale(
    level: Level,
    span: Span,
    method: Method,
    passes: int,
    coarser: Parabolas | None,
    priors: Sequence[Weighted],
    curvature: float | None,
    run: Run,
) -> Parabolas:
    """One scale: match, combine, aggregate."""
    with run.stage("matching", level.number):
        local = method.match(level.planes, span, run)
        evidence = combine(local, coarser, priors, span, method, run)
    with run.stage("aggregation", level.number):
        _core.release_free_memory()  # the gaps that the maps of a coarser scale leave in the heap
        return method.aggregate(evidence, level, passes, curvature, run)


def combine(
    local: Parabolas,
    coarser: Parabolas | None,
    priors: Sequence[Weighted],
    span: Span,
    method: Method,
    run: Run,
) -> Parabolas:
    """The local term, less at the border, plus all priors; the coarser scale is one of them. In place.

    Where the sum is below the threshold Ta, a pixel keeps its vertex but has next to no weight.
    """
    matching, scales = method.params.matching, method.params.scales
    textured = near_texture(local.A, coarser.textured if coarser else None, window_side(matching))
    if coarser:
        priors = [(coarser.A, coarser.B, 2, scales.prior_weight, scales.prior_limit), *priors]
    divisor = border_divisor(local.A.shape[1], span.disparities, matching)
    threshold = scales.invalid_threshold
    _core.condition(local.A, local.B, divisor, priors=priors, invalid_threshold=threshold, threads=run.threads)
    return replace(local, textured=textured, curvatures=coarser.curvatures if coarser else ())
