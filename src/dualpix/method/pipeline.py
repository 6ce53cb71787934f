"""From a pair to a disparity map, on one page.

develop (grey planes) -> survey (decide) -> prepare (apply) -> solve (match, combine, aggregate at every scale) ->
cross-check (the other view) -> finish (confidence, frame, lens, filter, mask).
"""

from collections.abc import Sequence

from ..camera.lens import NO_LENS, Calibration
from ..io.hints import Hint
from ..run import Run
from ..types import Pair
from .blank import filled
from .finish import finish
from .hints import in_frame
from .kinds import Method
from .prepare import develop, prepare
from .priors import AnyPrior
from .result import Result
from .solve import solve
from .survey import Wishes, survey
from .views import cross_check


def disparity(
    pair: Pair,
    method: Method,
    *,
    lens: Calibration = NO_LENS,
    axis: str | None = None,
    mask_hidden: bool = False,
    priors: Sequence[AnyPrior] = (),
    hints: Sequence[Hint] = (),
    run: Run | None = None,
) -> Result:
    """The disparity map of the left view.

    Parameters
    ----------
    pair : Pair
        The views as stored.
    method : Method
        How to match them; see `dualpix.method.kinds.method_of`.
    lens : Calibration
        What to undo in the views and in the map.
    axis : "x" or "y", optional
        The direction in which the views differ as a viewer shows them; found if not given.
    mask_hidden : bool
        Set occluded pixels to NaN, with confidence 0.
    priors : sequence of Prior
        What is known beforehand, such as the belief of the previous frame of a clip.
    hints : sequence of Hint
        What the user tells about regions of the picture.
    run : Run, optional
        Threads, progress and clock.
    """
    run = run or Run()
    pyramid = develop(pair, method, lens, run)
    plan = survey(pyramid, pair, method, lens, Wishes(axis, mask_hidden), run)
    del pair  # frees the views unless the caller holds them
    prepare(pyramid, plan, run)
    told = in_frame(hints, plan.frame, lens)
    belief = solve(pyramid, plan, priors, run=run, told=told)
    if not hints:
        belief = filled(belief, plan.params, run.threads)
    agreed = cross_check(belief, pyramid, plan, run, told)
    return finish(belief, agreed, pyramid, plan, lens, run)
