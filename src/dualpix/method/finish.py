"""Finishing: from the belief to the map in the user's frame, in small steps, map in and map out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..camera.lens import Calibration
from ..filters.post import post_filter
from ..run import Run
from ..types import Map, Mask, Parabolas
from .confidence import OUTSIDE, smoothness
from .frame import Frame
from .plan import Plan
from .result import Result
from .scales import Pyramid


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps that are passed from step to step.

    Attributes
    ----------
    d, confidence : float32 maps
    agreed : mask or None
        1 where the other view confirms the disparity.
    """

    d: Map
    confidence: Map
    agreed: Mask | None = None


Finisher = Callable[[Maps, Run], Maps]


def finish(belief: Parabolas, agreed: Mask | None, pyramid: Pyramid, plan: Plan, lens: Calibration, run: Run) -> Result:
    """The result of a solved pair."""
    with run.stage("confidence"):
        maps = read_off(belief, agreed, plan, run)
        for step in steps(plan, lens):
            maps = step(maps, run)
    for stage, step in slow_steps(pyramid, plan):
        with run.stage(stage):
            maps = step(maps, run)
    if plan.masks_hidden:
        maps = masked(maps, run)
    frame = plan.frame
    found = [] if plan.blank else plan.method.notes(belief.agreement, plan.search)
    low, high = belief.limits or (0.0, 0.0)
    return Result(
        frame.upright(maps.d),
        frame.upright(maps.confidence),
        plan.params,
        run.seconds,
        (low / frame.stretch, high / frame.stretch),
        replace(plan, notes=(*plan.notes, *found), curvatures=belief.curvatures),
        replace(belief, vertex=None),
    )


def read_off(belief: Parabolas, agreed: Mask | None, plan: Plan, run: Run) -> Maps:
    """Disparity, clipped to the searched range, and confidence, in the matched frame.

    Pixels that the range does not cover have confidence 0. The belief's vertex map is overwritten.
    """
    assert belief.limits is not None
    d = belief.disparity(run.threads)
    confidence = plan.method.confidence(belief, d, run)
    low, high = belief.limits
    confidence[(d < low - OUTSIDE) | (d > high + OUTSIDE)] = 0
    np.clip(d, low, high, out=d)
    return Maps(d, confidence, agreed)


def steps(plan: Plan, lens: Calibration) -> Iterator[Finisher]:
    """The quick steps: back to the frame of the input, then the correction of the lens."""
    yield lambda maps, run: to_input(maps, plan.frame)
    if plan.blank:
        yield emptied
    else:
        yield lambda maps, run: replace(maps, d=lens.corrected(maps.d))


def slow_steps(pyramid: Pyramid, plan: Plan) -> Iterator[tuple[str, Finisher]]:
    """The slow steps, each with the name of its stage."""
    if pyramid.photo is not None and not plan.blank:
        yield "filter", lambda maps, run: smoothed(maps, pyramid, plan, run)


def to_input(maps: Maps, frame: Frame) -> Maps:
    """From the matched frame to that of the stored input; disparities become pixels of the input."""
    agreed = maps.agreed
    if agreed is not None:
        agreed = (frame.back(agreed.astype(np.float32)) > 0.5).view(np.uint8)
    return Maps(frame.back_disparity(maps.d), frame.back(maps.confidence), agreed)


def emptied(maps: Maps, run: Run) -> Maps:
    """For a blank view: disparity 0 and confidence 0 everywhere."""
    maps.d[:], maps.confidence[:] = 0, 0
    return maps


def smoothed(maps: Maps, pyramid: Pyramid, plan: Plan, run: Run) -> Maps:
    """The map after the post-filter, which follows the edges of the photo."""
    smoothing = plan.params.smoothing
    d, weight = plan.method.trusted(maps.d, maps.confidence, maps.agreed)
    if pyramid.texture is not None:
        weight = weight * smoothness(d, plan.params.matching.encc_window) * plan.frame.back(pyramid.texture)
    assert pyramid.photo is not None
    return replace(maps, d=post_filter(d, weight, pyramid.photo, smoothing, run.threads))


def masked(maps: Maps, run: Run) -> Maps:
    """NaN, and confidence 0, where the left-right check fails."""
    if maps.agreed is not None:
        hidden = maps.agreed == 0
        maps.d[hidden], maps.confidence[hidden] = np.nan, 0
    return maps
