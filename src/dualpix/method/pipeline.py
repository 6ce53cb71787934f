"""From a dual-pixel pair to a disparity map: the paper's method section, on one page."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..camera.axis import LARGEST, Axis, detect_axis
from ..camera.calibrate import Calibration, read_calibration
from ..camera.sensor import black_hint, pixel_aspect
from ..errors import InputError, ParameterError
from ..filters.post import post_filter
from ..io import load_image
from ..io.captures import from_square, known_range, to_square
from ..params.presets import DEFAULT_PRESET, Params, resolve
from ..params.rules import Real, check
from ..run import thread_count
from ..types import Map
from . import candidates as stereo
from .aggregate import aggregate, edge_weights, minimizer
from .confidence import Mask, confidence, near_texture, smoothness, texture
from .match import border_divisor, local_parabolas, window_taps
from .memory import check_memory
from .prepare import detail, even, picture, prepare
from .scales import Coefficients, Level, at_most, coarse_to_fine, pyramid, tile_ranges

Image = npt.NDArray[Any] | str | Path
Progress = Callable[[str, int, int], None]

COARSEST = 200  # px, about the side of the coarsest scale where their number is found by itself
PASSES = 4  # a scale then gets
OUTSIDE = 0.5  # px beyond the range asked for, from which on a pixel is known not to be covered by it


@dataclass(frozen=True, eq=False)
class Result:
    """A disparity map and how it came about.

    Attributes
    ----------
    disparity : float32 array, the left view's shape
        ``d = x_left - x_right`` in pixels of the input: left(x, y) matches right(x - d, y). Larger is nearer.
    confidence : float32 array, the same shape
        In [0, 1], growing with the aggregated curvature, less near depth edges. 0 everywhere if a view is blank.
    params : Params
        The resolved parameters.
    timings : dict
        Seconds by stage.
    searched : (float, float)
        The range asked for, or the one found, in pixels of the input.
    axis : "x" or "y"
        Along which the views were matched; with "y", ``d = y_left - y_right``.
    evidence : Axis or None
        What the views themselves say about the axis; None for wide baselines, which are taken to lie along x.
    warnings : tuple of str
        What the user should know about the input, a sentence each.
    calib : Path or None
        The calib.txt that the range is from.
    """

    disparity: Map
    confidence: Map
    params: Params
    timings: dict[str, float]
    searched: tuple[float, float]
    axis: str
    evidence: Axis | None
    warnings: tuple[str, ...]
    calib: Path | None = None


def disparity(
    left: Image,
    right: Image,
    preset: str | Params = DEFAULT_PRESET,
    guide: Image | None = None,
    *,
    axis: str | None = None,
    calibration: Calibration | str | Path | None = None,
    mask_occluded: bool = False,
    mem_limit: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **overrides: Any,
) -> Result:
    """The disparity map of the left view of a dual-pixel pair or, with the preset stereo, of any rectified one.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size.
    preset : str or Params
        The name of a preset, or the parameters themselves.
    guide : array or path, optional
        The image whose edges stop the smoothing; the left view if not given.
    axis : "x" or "y", optional
        The direction in which the views differ; if not given it is found out, and x where that fails or for stereo.
    calibration : Calibration or path, optional
        What to undo in the views and in the map, made by `dualpix.calibrate` for pictures of this size.
    mask_occluded : bool
        NaN, and confidence 0, where the disparities of the two views contradict each other: one of them does not see
        what the other does. The right view is matched too, which doubles the time.
    mem_limit : float, optional
        GB that may be needed beside the views; by default as many as are free. What needs more is refused at once.
    threads : int, optional
        How many to use; by default ``DUALPIX_THREADS``, or else every core. The result does not depend on it.
    progress : callable, optional
        ``progress(stage, scale, scales)``, called when a stage begins; scale counts from 1, coarse to fine, and
        is 0 for stages outside the scales.
    **overrides
        Parameters that replace those of the preset.

    Returns
    -------
    Result
        Dense, finite, and within the range searched, but for what a calibration, a filter or `mask_occluded` changes.

    Raises
    ------
    InputError
        If an image cannot be read or used, or there is not enough memory.
    ParameterError
        If a parameter is unknown, of the wrong type or out of bounds.
    """
    params = resolve(preset, overrides)
    lens = read_calibration(calibration) if isinstance(calibration, str | Path) else calibration
    if lens:
        params = lens.settled(params)
    wide = params.candidates > 1
    if axis not in ("x", "y", None):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    threads = thread_count(threads)
    if mem_limit is not None:
        mem_limit = check("mem_limit", mem_limit, Real(0, 1e9, above=True))
    clock = _Clock(progress)
    calib = None

    with clock("read"):
        given = {"left": left, "right": right} | ({} if guide is None else {"guide": guide})
        images = [load_image(image, name) for name, image in given.items()]
        names = [str(image) if isinstance(image, str | Path) else name for name, image in given.items()]
        _check_sizes(images, names, params)
        shape = images[0].shape[:2]
        if wide and params.range == "auto" and isinstance(left, str | Path):
            params = params.replace(range=known_range(left, shape["yx".index(axis or "x")]) or "auto")
            calib = None if params.range == "auto" else Path(left).with_name("calib.txt")
        aspect = pixel_aspect(params.pixel_aspect, dict(zip(names[:2], images[:2], strict=True)))
        both = mask_occluded or (wide and params.filter != "none")
        check_memory(names[0], shape, aspect, params, both, mem_limit)
        hint = None if params.black or (lens and lens.white) else black_hint(*images[:2])
        own = guide is None
        smoothing = picture(images[0 if own else 2], params, own, threads) if params.filter != "none" else None
        images = [to_square(image, aspect) for image in images]
    iterations = passes(params, images[0].shape[:2])
    clock.scales = len(iterations)

    with clock("pyramid"):
        if lens:
            lens.check_numbers(images[0].dtype, names[0])
        planes = prepare(images, params, threads, _white(lens, shape, names[0], params.gamma, aspect))
        del images
        levels = pyramid(planes, len(iterations), threads)
        evidence = None if wide else _evidence(levels, params, threads)
        along = axis or (evidence and evidence.axis) or (lens.axis if lens else "x")
        if lens:
            lens.check(shape, names[0], along)
        if along == "y":
            planes = _transposed(planes)
            levels = pyramid(planes, len(iterations), threads)
        stretch = planes.left.shape[1] / shape["yx".index(along)]  # pixels matched, for every one of the input
        limits = None if params.range == "auto" else _limits(params.range, stretch, planes.left.shape[1], along)
        blank = any(np.ptp(view) == 0 for view in (planes.left, planes.right))
        order = stereo.order(planes, params, threads) if wide and not blank else None
        both &= not blank
        other = stereo.mirrored(planes) if both else None
        published = params.filter == "solver" and params.solver_confidence == "texture"
        matchable = texture(planes.left, params) if published else None
        del planes

    solve = partial(_solve, iterations=iterations, params=params, clock=clock, threads=threads, order=order)
    clock.view = "left" if both else ""
    view = solve(levels, limits)
    low, high = view.limits
    seen = None
    if other is not None:
        clock.view = "right"
        levels = pyramid(other, len(iterations), threads)
        del other
        seen = stereo.consistent(view.d, np.ascontiguousarray(solve(levels, view.limits).d[:, ::-1]), threads)
        clock.view = ""
    with clock("confidence"):
        d = from_square(_upright(view.d, along), shape, along)
        trust = from_square(_upright(view.confidence, along), shape)
        if seen is not None:
            seen = (from_square(_upright(seen.astype(np.float32), along), shape) > 0.5).view(np.uint8)
        if blank:
            d[:], trust[:] = 0, 0
        elif lens:
            d = lens.corrected(d)
    if smoothing is not None and not blank:
        with clock("filter"):
            d, weight = stereo.filled(d, seen, params) if wide and seen is not None else (d, trust)
            if matchable is not None:
                weight = weight * smoothness(d, params) * from_square(_upright(matchable, along), shape)
            d = post_filter(d, weight, smoothing, params, threads)
    if mask_occluded and seen is not None:
        d[seen == 0], trust[seen == 0] = np.nan, 0
    nothing = "a view is blank, the same everywhere: the map is 0 and means nothing"
    axis_note = evidence and evidence.objection(along)
    notes = tuple(note for note in (nothing if blank else axis_note, hint, *([] if blank else view.objections)) if note)
    return Result(
        d,
        trust,
        params.replace(iterations=iterations),
        clock.seconds,
        (low / stretch, high / stretch),
        along,
        evidence,
        notes,
        calib,
    )


class View(NamedTuple):
    """What one view sees, in pixels as they are matched and within the limits searched, and what was found odd."""

    d: Map
    confidence: Map
    limits: tuple[float, float]
    objections: list[str]


def _solve(
    levels: list[Level],
    limits: tuple[float, float] | None,
    iterations: tuple[int, ...],
    params: Params,
    clock: "_Clock",
    threads: int,
    order: float | None,
) -> View:
    """From the pyramid, coarse to fine, to the disparities of its finest scale."""
    textured: Mask | None = None
    searched = range(0)
    objections: list[str] = []

    def solve(level: Level, disparities: range, prior: Coefficients | None, scale: int) -> Coefficients:
        nonlocal textured, searched, objections
        if order is not None and limits is None:
            disparities = stereo.one_sided(disparities, order)
        searched = disparities
        with clock("matching", scale + 1):
            plain = compared = level.left, level.right
            if params.detail != "none":
                compared = detail(level.left, threads), detail(level.right, threads)
            correlated = plain if params.detail == "cost" else compared
            if params.candidates > 1:
                local = stereo.local_parabolas(compared, correlated, level.guide, disparities, params, threads)
                alpha, beta, objections = local.alpha, local.beta, local.objections(order, limits)
            else:
                ranges = None
                if prior and params.messages == "exact":  # the published method has one range for all
                    ranges = tile_ranges(disparities, prior, window_taps(params).size, threads)
                alpha, beta = local_parabolas(*compared, disparities, params, threads, correlated, ranges)
            textured = near_texture(alpha, textured if prior else None, params)
            _core.condition(
                alpha,
                beta,
                border_divisor(alpha.shape[1], disparities, params),
                prior.A if prior else None,
                prior.B if prior else None,
                params.prior_weight,
                params.prior_limit,
                params.invalid_threshold,
                threads,
            )
        del plain, compared, correlated
        with clock("aggregation", scale + 1):
            _core.release_free_memory()  # the gaps that maps of coarser scales have left in the heap
            weights = edge_weights(level.guide, params, threads)
            # The coarsest scale may be solved again; the planes of the others have done their duty.
            spare = list({id(plane): plane for plane in level}.values()) if prior else []
            del level
            return Coefficients(*aggregate(alpha, beta, weights, params, iterations[scale], threads, spare))

    A, B = coarse_to_fine(levels, solve, limits, wide=params.candidates > 1)
    assert textured is not None
    with clock("confidence"):
        d = minimizer(A, B, threads, out=B)
        trust = confidence(A, d, textured, params, threads)
        ends = searched if order is None else searched[1:-1]
        low, high = limits or (float(ends[0]), float(ends[-1]))
        trust[(d < low - OUTSIDE) | (d > high + OUTSIDE)] = 0
        np.clip(d, low, high, out=d)
    return View(d, trust, (low, high), objections)


def passes(params: Params, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Aggregations per scale, coarse to fine; with auto, the coarsest scale has about 200 x 200 pixels."""
    if params.iterations != "auto":
        return params.iterations
    height, width = shape
    halvings = round(math.log2(math.sqrt(height * width) / COARSEST))
    return (PASSES,) * min(max(1 + halvings, 1), 8)


def _check_sizes(images: list[npt.NDArray[Any]], names: list[str], params: Params) -> None:
    def size(image: npt.NDArray[Any]) -> str:
        return f"{image.shape[1]}x{image.shape[0]}"

    for name, image in zip(names, images, strict=True):
        if image.shape[:2] != images[0].shape[:2]:
            raise InputError(
                f"{name} is {size(image)} pixels but {names[0]} is {size(images[0])}: give images of the same size"
            )
    taps = 2 * len(window_taps(params)) - 1
    if min(images[0].shape[:2]) < taps:
        raise InputError(
            f"{names[0]} is {size(images[0])} pixels, smaller than the matching window of {taps}x{taps}: "
            "give a larger image or a smaller window"
        )


def _limits(asked: tuple[float, float], stretch: float, length: int, axis: str) -> tuple[float, float]:
    """The range asked for, in the pixels that are matched."""
    low, high = (stretch * d for d in asked)
    if max(abs(low), abs(high), high - low) >= length:
        raise ParameterError(
            f"parameter range {asked[0]:g} to {asked[1]:g} is wider than the image, {round(length / stretch)} pixels "
            f"along {axis}: give a range that fits into it"
        )
    return low, high


def _evidence(levels: list[Level], params: Params, threads: int) -> Axis:
    """What the views say about their axis, from a scale that is small enough."""
    small = at_most(levels, LARGEST, threads)
    return detect_axis(small.left, small.right if params.vignetting else even(small), threads)


def _white(
    lens: Calibration | None, shape: tuple[int, ...], name: str, gamma: float, aspect: float
) -> tuple[Map, Map] | None:
    """What the calibration divides the views by."""
    if not lens:
        return None
    lens.check(shape, name)
    gains = lens.white_gains(gamma)
    return gains and (to_square(gains[0], aspect), to_square(gains[1], aspect))


def _upright(values: Map, along: str) -> Map:
    """A map of the matched planes as one of the input."""
    return values if along == "x" else np.ascontiguousarray(values.T)


def _transposed(planes: Level) -> Level:
    left, right = np.ascontiguousarray(planes.left.T), np.ascontiguousarray(planes.right.T)
    return Level(left, right, left if planes.guide is planes.left else np.ascontiguousarray(planes.guide.T))


@dataclass
class _Clock:
    """Times stages and announces them."""

    progress: Progress | None
    scales: int = 0
    view: str = ""  # that is matched, where both are
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str, scale: int = 0) -> Iterator[None]:
        if self.progress:
            self.progress(f"{stage}, {self.view}" if self.view else stage, scale, self.scales)
        start = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
