"""The left-right check: the disparities of the two views must confirm each other."""

import numpy as np

from ..run import Run
from ..types import Mask, Parabolas, copy_of, empty_like
from .candidates import consistent
from .hints import NOT_TOLD, Told
from .plan import Plan
from .scales import Pyramid
from .solve import solve


def cross_check(belief: Parabolas, pyramid: Pyramid, plan: Plan, run: Run, told: Told = NOT_TOLD) -> Mask | None:
    """1 where the other view confirms the disparity, in the matched frame; None if the plan does not ask for it.

    The right view is matched in the mirrored pair, within the range of the left one.
    """
    if not plan.checks_views:
        return None
    assert belief.limits is not None
    run.view = "right"
    other = solve(pyramid.mirrored(), plan.within(belief.limits), run=run, told=told.mirrored())
    run.view = ""
    found = (each.disparity(run.threads) for each in (belief, other))
    left, right = (np.clip(d, *belief.limits, out=empty_like(d)) for d in found)
    return consistent(left, copy_of(right[:, ::-1]), run.threads)
