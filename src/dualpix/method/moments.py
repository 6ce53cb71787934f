"""What is remembered of the frames of a clip, and how the next one is made ready with it: its plan and its motion."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..camera.lens import NO_LENS, Calibration
from ..errors import InputError
from ..run import Run
from ..types import Map, Pair, Parabolas
from .api import check_pair
from .frame import Frame
from .kinds import Method
from .memory import OTHER_FRAME
from .motion import Motion, find_motion, small_picture
from .plan import Plan
from .prepare import develop, prepare
from .scales import Pyramid
from .survey import Wishes, survey
from .temporal import WEIGHT


@dataclass(frozen=True, eq=False)
class Filming:
    """How the frames of a clip are solved: the same for all.

    Attributes
    ----------
    method, lens, axis, mask_hidden
        As for `pipeline.disparity`.
    motion : "flow" or "none"
        How motion is found; "none" is for a camera on a tripod.
    weight : float
        ``w_t``: how strong another frame is, in units of the mean curvature of the evidence. 0 solves each frame alone.
    mem_limit : float or None
        Memory beside the views, GB.
    """

    method: Method
    lens: Calibration = NO_LENS
    axis: str | None = None
    mask_hidden: bool = False
    motion: str = "flow"
    weight: float = WEIGHT
    mem_limit: float | None = None


class Moment(NamedTuple):
    """What is remembered of a frame.

    Attributes
    ----------
    plan : Plan
        With the mean curvatures of the evidence of the first frame of its scene.
    picture : float32 map
        Small, to find motion.
    belief : Parabolas
        A and B.
    covered : bool
        Whether the range of the plan holds all disparities. If not, the next frame is surveyed again.
    cut : bool
        Whether the frame is the first of its scene.
    """

    plan: Plan
    picture: Map
    belief: Parabolas
    covered: bool = True
    cut: bool = True


class Ready(NamedTuple):
    """A frame before it is solved: prepared planes, their plan, the small picture, and the frames it is linked to."""

    pyramid: Pyramid
    plan: Plan
    picture: Map
    links: list[tuple[Moment, Motion]]


def planned(pair: Pair, filming: Filming, beside: Sequence[Moment], run: Run, plan: Plan | None) -> Ready | None:
    """The frame with a plan that is known; None at the first frame and at a cut."""
    if plan is None and (not beside or beside[0].plan.blank):
        return None
    known = plan or beside[0].plan
    _check_same(pair, known.frame)
    pyramid = develop(pair, filming.method, filming.lens, run)
    prepare(pyramid, known, run)
    with run.stage("motion"):
        picture = small_picture(pyramid.finest.left, run.threads)
        found = [(each, find_motion(each.picture, picture, filming.motion, run.threads)) for each in beside]
    links = [(moment, motion) for moment, motion in found if not motion.is_cut]
    if plan is None and not links:
        return None
    if plan is None and not beside[0].covered:
        return surveyed(pair, filming, run, known, links)
    return Ready(pyramid, known, picture, links)


def surveyed(
    pair: Pair, filming: Filming, run: Run, known: Plan | None = None, links: Sequence[tuple[Moment, Motion]] = ()
) -> Ready:
    """The frame with a new plan. Links that were found with the plan before stay if frame and scales do."""
    check_pair(pair, filming.method, filming.mask_hidden, filming.mem_limit, OTHER_FRAME)
    pyramid = develop(pair, filming.method, filming.lens, run)
    plan = survey(pyramid, pair, filming.method, filming.lens, Wishes(filming.axis, filming.mask_hidden), run)
    kept: list[tuple[Moment, Motion]] = []
    if known and (plan.frame, plan.passes) == (known.frame, known.passes):
        plan, kept = replace(plan.as_smooth_as(known), curvatures=known.curvatures), list(links)
    prepare(pyramid, plan, run)
    return Ready(pyramid, plan, small_picture(pyramid.finest.left, run.threads), kept)


def _check_same(pair: Pair, frame: Frame) -> None:
    """Refuse a frame of another size or orientation than those before."""
    if pair.shape != frame.shape:
        (height, width), (rows, columns) = pair.shape, frame.shape
        raise InputError(
            f"{pair.name('left')} is {width}x{height} but the frames before are {columns}x{rows}: give frames of the "
            "same size"
        )
    if pair.orientation != frame.orientation:
        raise InputError(
            f"{pair.name('left')} has another EXIF orientation than the frames before: give frames of one orientation"
        )
