"""The survey: all decisions about a pair before it is solved, from small copies of its planes."""

import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..camera.axis import LARGEST, OTHER, Axis, detect_axis
from ..camera.lens import Calibration
from ..camera.sensor import black_hint
from ..errors import ParameterError
from ..io.orientation import swaps_axes
from ..run import Run
from ..types import Pair, Planes
from .brightness import Gains, Part, copied, equalised, find_gains
from .frame import Frame
from .kinds import Method
from .noise import measures_noise, noise_of, settled
from .plan import Plan
from .range import find_range
from .scales import Level, Pyramid, deepened, passes_of
from .search import Search

BLANK = "a view is blank, the same everywhere: the map is 0 and means nothing"


class Wishes(NamedTuple):
    """What the user requests beside the parameters.

    Attributes
    ----------
    axis : "x", "y" or None
        The direction in which the views differ as a viewer shows them; None detects it.
    mask_hidden : bool
        Whether occluded pixels become NaN.
    halvings : int
        How often the planes were halved before, as for a picture that is solved in tiles.
    """

    axis: str | None = None
    mask_hidden: bool = False
    halvings: int = 0


def survey(pyramid: Pyramid, pair: Pair, method: Method, lens: Calibration, wishes: Wishes, run: Run) -> Plan:
    """Decide about brightness, axis, scales, range, first pass, suspicion and polish. The planes are not changed."""
    with run.stage("survey"):
        planes = pyramid.finest
        is_blank = blank(planes)
        halvings = pyramid.halvings_to(LARGEST)
        thumbnail = pyramid.scale(halvings, run.threads)
        gains = find_gains(planes, method.params.photometry, run.threads, equalise=not is_blank, small=thumbnail)
        small = _with_gains(pyramid, halvings, gains, run)
        evidence = _evidence(small, is_blank or gains.right is not None, run) if method.detects_axis else None
        frame = replace(pyramid.frame, axis=_axis(wishes.axis, evidence, lens, pyramid.frame))
        lens.check(pair.shape, pair.name("left"), frame.axis)
        method, calib = with_known_range(method, pair.source.get("left"), frame)
        passes = passes_of(method.params, pyramid.frame.square_shape)
        order = None if is_blank else method.find_order(frame.turned(small), run)
        search = Search(limits_in(method.params.scales.range, frame), None, order, method.tile_reach)
    run.scales = len(passes)

    def coarsest(scales: int) -> Level:
        return Level(frame.turned(_with_gains(pyramid, scales - 1, gains, run)), 1, scales, keep=True)

    noise = math.nan
    if search.limits is None:
        start, noise = find_range(coarsest(len(passes)), search, method, passes[0], run)
        if method.params.scales.iterations == "auto" and method.blurs and deepened(passes, start) != passes:
            passes = deepened(passes, start)
            start, noise = find_range(coarsest(len(passes)), search, method, passes[0], run)
        search, run.scales = replace(search, start=start), len(passes)
    elif measures_noise(method.params) and not is_blank:
        level = coarsest(len(passes))
        with run.stage("matching", level.number):
            noise = noise_of(method.match(level.planes, search.at(level.factor), run))
    if is_blank or not measures_noise(method.params):
        noise = math.nan
    full_size = 2 ** (len(passes) - 1 + wishes.halvings)
    params = method.params.replace(iterations=passes, **settled(method.params, full_size * noise))
    return Plan(
        params,
        frame,
        gains,
        search,
        passes,
        checks_views=(wishes.mask_hidden or method.fills_hidden) and not is_blank,
        masks_hidden=wishes.mask_hidden,
        blank=is_blank,
        evidence=evidence,
        notes=_notes(is_blank, evidence, frame, pair, method, lens),
        calib=calib,
    )


def blank(planes: Planes) -> bool:
    """Whether a view is the same everywhere. The first row is usually enough to tell that it is not."""
    return any(np.ptp(view[0]) == 0 and np.ptp(view) == 0 for view in (planes.left, planes.right))


def _with_gains(pyramid: Pyramid, halvings: int, gains: Gains, run: Run) -> Planes:
    """A copy of a scale, with its gains."""
    part = Part(pyramid.finest.left.shape, step=2**halvings)
    return copied(pyramid.scale(halvings, run.threads), gains, run.threads, part)


def _evidence(small: Planes, even: bool, run: Run) -> Axis:
    """What the views say about their axis; they are made equal in brightness first unless they are `even`."""
    planes = small if even else equalised(small, run.threads)
    return detect_axis(planes.left, planes.right, run.threads)


def _axis(asked: str | None, evidence: Axis | None, lens: Calibration, frame: Frame) -> str:
    """The requested axis, else the detected one, else that of the calibration; in the frame of the stored views."""
    if asked:
        return OTHER[asked] if swaps_axes(frame.orientation) else asked
    return (evidence and evidence.axis) or lens.axis


def with_known_range(method: Method, left: str | None, frame: Frame) -> tuple[Method, Path | None]:
    """The method with the range given by a file beside the left view, and that file."""
    if method.params.scales.range != "auto":
        return method, None
    known = method.known_range(left, frame.shape["yx".index(frame.axis)])
    if left is None or known is None:
        return method, None
    return replace(method, params=method.params.replace(range=known)), Path(left).with_name("calib.txt")


def limits_in(asked: tuple[float, float] | str, frame: Frame) -> tuple[float, float] | None:
    """The requested range, px of the matched planes; None if it is automatic."""
    if isinstance(asked, str):
        return None
    low, high = (frame.stretch * d for d in asked)
    if max(abs(low), abs(high), high - low) >= frame.length:
        raise ParameterError(
            f"parameter range {asked[0]:g} to {asked[1]:g} is wider than the image, "
            f"{round(frame.length / frame.stretch)} pixels along {frame.seen_axis}: give a range that fits into it"
        )
    return low, high


def _notes(
    is_blank: bool, evidence: Axis | None, frame: Frame, pair: Pair, method: Method, lens: Calibration
) -> tuple[str, ...]:
    """What the user should know about the input."""
    seen = evidence.turned() if evidence and swaps_axes(frame.orientation) else evidence
    first = BLANK if is_blank else seen and seen.objection(frame.seen_axis)
    hint = None if method.params.photometry.black or lens.white else black_hint(pair.left, pair.right)
    return tuple(note for note in (first, hint, *pair.notes) if note)
