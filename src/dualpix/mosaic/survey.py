"""The plan of a huge picture, decided on a reduced scale, and the belief of that scale."""

import math
from dataclasses import dataclass, replace
from typing import Any

from ..camera.lens import NO_LENS
from ..errors import ParameterError
from ..method.brightness import Gains, apply_gains
from ..method.frame import Frame
from ..method.kinds import Method, method_of
from ..method.margins import Around
from ..method.noise import as_smooth_as
from ..method.plan import Plan
from ..method.prepare import prepare
from ..method.scales import PASSES, Pyramid, passes_of
from ..method.solve import solve
from ..method.survey import Wishes, survey
from ..params import Params
from ..run import Run
from ..types import Pair, Parabolas, Planes, Shape

WHOLE = 2**23  # px: the finest scale that is solved as a whole has no more


@dataclass(frozen=True, eq=False)
class Coarse:
    """The plan of the whole picture, the belief of a coarse scale, and what the user should know."""

    plan: Plan
    belief: Parabolas
    notes: tuple[str, ...]


def halvings_of(shape: Shape, params: Params) -> int:
    """How often the picture is halved before it is solved as a whole; once or more.

    Raises
    ------
    ParameterError
        If the parameters give too few scales for that.
    """
    height, width = shape
    halvings = max(math.ceil(math.log2(max(height * width / WHOLE, 1)) / 2), 1)
    scales = len(passes_of(params, (height, width)))
    if scales <= halvings:
        raise ParameterError(
            f"a picture of {width}x{height} pixels as tiles needs {halvings + 1} scales or more, not {scales}: give "
            f"iterations for each, such as iterations={'4,' * halvings}3, or use dualpix disparity"
        )
    return halvings


def margin_of(method: Method, limits: tuple[int, int] = (-1, 1)) -> Around:
    """The margin of finished tiles, px.

    Raises
    ------
    ParameterError
        If the method looks at the whole picture, so that it cannot work by tiles.
    """
    messages, smoother = method.params.aggregation.messages, method.params.smoothing.filter
    margins = method.margins(range(limits[0], limits[1] + 1))
    if margins.solving is None:
        raise ParameterError(
            f"parameter messages {messages} spreads over the whole picture and cannot be used for tiles: choose the "
            "preset auto or stereo, or use dualpix disparity"
        )
    if margins.all is None or smoother != "none":
        raise ParameterError(
            f"parameter filter {smoother} needs the whole picture and cannot be used for tiles: set filter=none, or "
            "use dualpix disparity"
        )
    return margins.all


def surveyed(
    planes: Planes, halvings: int, params: Params, shape: Shape, gains: Gains, axis: str | None, run: Run
) -> Coarse:
    """Decide on the reduced planes, and solve them. They are used up.

    Parameters
    ----------
    planes, halvings
        The reduced planes, without their exposure, and how often they were halved.
    params
        The parameters of the whole picture.
    shape
        Its size.
    gains
        Its exposure.
    axis : "x", "y" or None
        As for `dualpix.disparity`.
    """
    apply_gains(planes, gains, run.threads)
    small = planes.left.shape[0], planes.left.shape[1]
    pyramid = Pyramid(planes, Frame(small))
    pair = Pair(planes.left, planes.right)
    plan = survey(pyramid, pair, method_of(reduced(params, halvings)), NO_LENS, Wishes(axis, halvings=halvings), run)
    if isinstance(params.scales.iterations, str):
        plan = replace(plan, passes=(PASSES,) * len(plan.passes))  # its finest scale is not that of the whole picture
    prepare(pyramid, replace(plan, gains=Gains(plan.gains.right)), run)
    belief = solve(pyramid, plan, run=run)
    d = belief.disparity(run.threads)
    notes = () if plan.blank else tuple(plan.method.notes(belief.agreement, plan.search, d, 2**halvings))
    whole = enlarged(plan, params, shape, halvings, replace(gains, right=plan.gains.right))
    return Coarse(whole, belief, (*plan.notes, *notes))


def reduced(params: Params, halvings: int) -> Params:
    """The parameters of the reduced picture, whose exposure is set."""
    scales, factor = params.scales, 2**halvings
    changed: dict[str, Any] = {"exposure": 0.0}
    if not isinstance(scales.range, str):
        changed["range"] = tuple(d / factor for d in scales.range)
    if not isinstance(scales.iterations, str):
        changed["iterations"] = scales.iterations[:-halvings]
    return params.replace(**changed)


def enlarged(plan: Plan, params: Params, shape: Shape, halvings: int, gains: Gains) -> Plan:
    """The plan of the whole picture, from that of the reduced one."""
    given = params.scales.iterations
    finer = passes_of(params, (shape[0], shape[1]))[-halvings:] if isinstance(given, str) else given[-halvings:]
    passes = (*plan.passes, *finer)
    limits, factor = plan.search.limits, 2**halvings
    search = replace(plan.search, limits=limits and (factor * limits[0], factor * limits[1]))
    frame = replace(plan.frame, shape=(shape[0], shape[1]))
    params = as_smooth_as(plan.params, params.replace(iterations=passes))
    return replace(plan, params=params, frame=frame, gains=gains, search=search, passes=passes)
