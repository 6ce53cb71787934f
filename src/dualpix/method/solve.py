"""The paper: coarse to fine, at every scale match -> combine with priors -> aggregate.

Nothing here knows of files, axes, cameras or video. All evidence about a pixel is a parabola, and parabolas add up.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..run import Run
from ..types import Flags, Parabolas
from .confidence import seen_from_finer
from .hints import NOT_TOLD, Told
from .kinds import Method
from .plan import Plan
from .priors import AnyPrior, Weighted, combine
from .relief import fitted
from .scales import Level, Pyramid
from .search import Span


def solve(
    pyramid: Pyramid,
    plan: Plan,
    priors: Sequence[AnyPrior] = (),
    coarser: Parabolas | None = None,
    run: Run | None = None,
    told: Told = NOT_TOLD,
) -> Parabolas:
    """The belief of every pixel of the finest scale.

    Parameters
    ----------
    pyramid : Pyramid
        Prepared planes; they are used up.
    plan : Plan
        What to search, how often to aggregate, and how.
    priors : sequence of Prior or Temporal
        Any number; each says at which scales it enters.
    coarser : Parabolas, optional
        The belief of the scale before the first of the plan, if that is solved already, as for a tile.
    told : Told
        What the user told about some pixels.
    """
    run = run or Run()
    belief = coarser
    for level in pyramid.levels(len(plan.passes), run.threads):
        span = plan.search.at(level.factor, belief, run.threads)
        method = replace(plan.method, params=fitted(plan.params, belief))
        belief = belief and without_map(belief, run.threads, plan.span)
        given = [found for prior in priors if (found := prior.at(level, run.threads, belief))]
        here = told.at(level)
        evidence = gather(level, span, method, belief, given, run, here)
        belief = None  # it is part of the evidence now
        curvature = plan.curvatures[level.number - 1] if plan.curvatures else here.curvature(evidence)
        belief = believe(evidence, level, method, plan.passes[level.number - 1], curvature, run, here.near())
    assert belief is not None
    return replace(belief, limits=plan.search.limits_of(span))


def without_map(belief: Parabolas, threads: int, span: float | None = None) -> Parabolas:
    """What the finer scale still needs of a belief: the parabolas, and how much its disparities vary.

    `span` is that of the whole picture, if the belief is only a part of it.
    """
    return replace(belief, vertex=None, signs=seen_from_finer(belief, belief.disparity(threads), threads, span))


def gather(
    level: Level,
    span: Span,
    method: Method,
    coarser: Parabolas | None,
    priors: Sequence[Weighted],
    run: Run,
    told: Told = NOT_TOLD,
) -> Parabolas:
    """The evidence of a scale: its local term, the user's hints and all priors."""
    with run.stage("matching", level.number):
        local = told.forgotten(method.match(level.planes, span, run), run.threads)
        return told.added(combine(local, coarser, priors, span, method.params, run.threads))


def believe(
    evidence: Parabolas,
    level: Level,
    method: Method,
    passes: int,
    curvature: float | None,
    run: Run,
    told: Flags | None = None,
) -> Parabolas:
    """The belief of a scale: its evidence, aggregated. told: where the user told a disparity."""
    with run.stage("aggregation", level.number):
        return method.aggregate(evidence, level, passes, curvature, run, told)
