"""One frame of a clip, solved with what the frames beside it believe."""

from collections.abc import Sequence

from ..run import Run
from ..types import Pair, Parabolas
from .blank import filled
from .finish import finish
from .moments import Filming, Moment, planned, surveyed
from .plan import Plan
from .result import Result
from .search import extremes
from .solve import solve
from .temporal import Temporal
from .views import cross_check

NEAR_END = 1  # px of the coarsest scale: disparities so near to an end of the range ask for another survey


def solve_frame(
    pair: Pair, filming: Filming, beside: Sequence[Moment], run: Run, plan: Plan | None = None
) -> tuple[Result, Moment]:
    """The map of a frame, and what to remember of it.

    Parameters
    ----------
    pair : Pair
        The frame.
    beside : sequence of Moment
        Of frames beside it: of the one before, of the one after, or of both. One of another scene is ignored.
    plan : Plan, optional
        That of this frame, if it was made before. Else it is that of the first moment, or that of a new survey.
    """
    ready = planned(pair, filming, beside, run, plan) or surveyed(pair, filming, run)
    priors = []
    if ready.links and filming.weight:
        penalty = filming.weight * ready.plan.curvatures[-1]
        priors = [Temporal(moment.belief, motion, penalty) for moment, motion in ready.links]
    belief = filled(solve(ready.pyramid, ready.plan, priors, run=run), ready.plan.params, run.threads)
    agreed = cross_check(belief, ready.pyramid, ready.plan, run)
    covered = covers(ready.plan, belief)
    result = finish(belief, agreed, ready.pyramid, ready.plan, filming.lens, run)
    kept = Parabolas(belief.A, belief.B, signs=belief.signs)
    return result, Moment(result.plan, ready.picture, kept, covered, cut=not ready.links)


def covers(plan: Plan, belief: Parabolas) -> bool:
    """Whether the disparities lie clear of the ends of a range that was found, not given."""
    if plan.search.start is None or plan.blank:
        return True
    first, last = plan.search.start
    low, high = (end / 2 ** (len(plan.passes) - 1) for end in extremes(belief))
    return bool(first + NEAR_END <= low and high <= last - NEAR_END)
