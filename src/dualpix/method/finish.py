"""Finishing: from the belief to the map in the user's frame, in small steps, map in and map out."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .. import _core
from ..camera.lens import Calibration
from ..filters.outlines import follow_outlines
from ..filters.polish import polished
from ..filters.post import post_filter
from ..run import Run
from ..types import Flags, Map, Mask, Parabolas
from .confidence import OUTSIDE, smoothness
from .frame import Frame
from .noise import polish_step
from .plan import Plan
from .result import Result
from .scales import Pyramid


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps that are passed from step to step.

    Attributes
    ----------
    d, confidence : float32 maps
    sigma : float32 map or None
        The expected error, px.
    agreed : mask or None
        1 where the other view confirms the disparity.
    """

    d: Map
    confidence: Map
    sigma: Map | None = None
    agreed: Mask | None = None


Finisher = Callable[[Maps, Run], Maps]


def finish(belief: Parabolas, agreed: Mask | None, pyramid: Pyramid, plan: Plan, lens: Calibration, run: Run) -> Result:
    """The result of a solved pair."""
    with run.stage("confidence"):
        maps = take_maps(belief, agreed, pyramid, plan, run)
    low, high = (limit / plan.frame.stretch for limit in belief.limits or (0.0, 0.0))
    for stage, step in steps(pyramid, plan, lens, high - low):
        with run.stage(stage):
            maps = step(maps, run)
    found = [] if plan.blank else plan.method.notes(belief.agreement, plan.search, maps.d)
    return Result(
        maps.d,
        maps.confidence,
        plan.params,
        run.seconds,
        (low, high),
        replace(plan, curvatures=belief.curvatures),
        replace(belief, vertex=None),
        (*plan.notes, *found),
        maps.sigma,
    )


def steps(pyramid: Pyramid, plan: Plan, lens: Calibration, span: float) -> Iterator[tuple[str, Finisher]]:
    """What is done to the maps, in order, each with the stage that its time counts for. `span` is the range in px."""
    yield "finish", partial(to_input, frame=plan.frame)
    if plan.blank:
        yield "finish", emptied
    else:
        yield "finish", partial(corrected, lens=lens)
        if pyramid.clipped is not None:
            yield "finish", partial(distrusted, clipped=pyramid.clipped, span=span)
        if pyramid.photo is not None:
            yield "filter", partial(smoothed, pyramid=pyramid, plan=plan)
        if plan.masks_hidden:
            yield "finish", masked
    yield "finish", partial(turned_upright, frame=plan.frame)


def take_maps(belief: Parabolas, agreed: Mask | None, pyramid: Pyramid, plan: Plan, run: Run) -> Maps:
    """Disparity, expected error and confidence, in the matched frame.

    The disparity is clipped to the searched range. Its outlines follow the guide, and it is polished.
    Pixels that the range does not cover have confidence 0, and an expected error as large as the range. The belief's
    vertex map is overwritten.
    """
    assert belief.limits is not None
    d = belief.disparity(run.threads)
    sigma = plan.method.sigma(belief, d, run.threads)
    stretch = np.float32(plan.frame.stretch)
    seen = sigma if sigma is None or stretch == 1 else sigma / stretch
    confidence = plan.method.confidence(belief, seen, run.threads)
    low, high = belief.limits
    _core.limit(d, confidence, sigma, low=low, high=high, beyond=OUTSIDE, threads=run.threads)
    smoothing = plan.params.smoothing
    if pyramid.guide is not None:
        follow_outlines(d, pyramid.guide, smoothing.outlines, run.threads)
        pyramid.guide = None
    if step := polish_step(smoothing):
        d = polished(d, step, run.threads, (low, high))
    return Maps(d, confidence, sigma, agreed)


def to_input(maps: Maps, run: Run, *, frame: Frame) -> Maps:
    """From the matched frame to that of the stored input; disparities become pixels of the input."""
    agreed = maps.agreed
    if agreed is not None:
        agreed = (frame.back(agreed.astype(np.float32)) > 0.5).view(np.uint8)
    sigma = None if maps.sigma is None else frame.back_disparity(maps.sigma)
    return Maps(frame.back_disparity(maps.d), frame.back(maps.confidence), sigma, agreed)


def emptied(maps: Maps, run: Run) -> Maps:
    """For a blank view: disparity 0 and confidence 0 everywhere."""
    maps.d[:], maps.confidence[:] = 0, 0
    return maps


def corrected(maps: Maps, run: Run, *, lens: Calibration) -> Maps:
    """The disparities, and their expected errors, without what the lens does to them."""
    sigma = None if maps.sigma is None else lens.corrected_error(maps.sigma)
    return replace(maps, d=lens.corrected(maps.d), sigma=sigma)


def distrusted(maps: Maps, run: Run, *, clipped: Flags, span: float) -> Maps:
    """Confidence 0 where a pixel is too bright, and an expected error as large as the searched range."""
    maps.confidence[clipped] = 0
    if maps.sigma is not None:
        np.maximum(maps.sigma, np.float32(span), out=maps.sigma, where=clipped)
    return maps


def smoothed(maps: Maps, run: Run, *, pyramid: Pyramid, plan: Plan) -> Maps:
    """The map after the post-filter, which follows the edges of the photo."""
    smoothing = plan.params.smoothing
    d, weight = plan.method.trusted(maps.d, maps.confidence, maps.agreed)
    if pyramid.texture is not None:
        smooth = smoothness(d, plan.params.matching.encc_window, run.threads)
        weight = weight * smooth * plan.frame.back(pyramid.texture)
    assert pyramid.photo is not None
    return replace(maps, d=post_filter(d, weight, pyramid.photo, smoothing, run.threads))


def masked(maps: Maps, run: Run) -> Maps:
    """NaN, and confidence 0, where the left-right check fails."""
    if maps.agreed is not None:
        hidden = maps.agreed == 0
        maps.d[hidden], maps.confidence[hidden] = np.nan, 0
        if maps.sigma is not None:
            maps.sigma[hidden] = np.nan
    return maps


def turned_upright(maps: Maps, run: Run, *, frame: Frame) -> Maps:
    """The maps as a viewer shows the picture."""
    sigma = None if maps.sigma is None else frame.upright(maps.sigma)
    return Maps(frame.upright(maps.d), frame.upright(maps.confidence), sigma)
