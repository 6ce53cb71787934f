"""From a dual-pixel pair to a disparity map: the paper's method section, on one page."""

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .aggregation import aggregate, minimizer
from .arrays import Map
from .calibration import Calibration, read_calibration
from .confidence import Mask, confidence, near_texture
from .errors import InputError, ParameterError
from .io import load_image
from .matching import border_divisor, local_parabolas, window_taps
from .params import DEFAULT_PRESET, Params, resolve
from .preprocessing import detail, prepare
from .pyramid import Coefficients, Level, coarse_to_fine, pyramid
from .rules import Whole, check

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
        The range asked for, or the one found, which the map lies within.
    """

    disparity: Map
    confidence: Map
    params: Params
    timings: dict[str, float]
    searched: tuple[float, float]


def disparity(
    left: Image,
    right: Image,
    preset: str | Params = DEFAULT_PRESET,
    guide: Image | None = None,
    *,
    axis: str = "x",
    calibration: Calibration | str | Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **overrides: Any,
) -> Result:
    """The disparity map of the left view of a dual-pixel pair.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size.
    preset : str or Params
        The name of a preset, or the parameters themselves.
    guide : array or path, optional
        The image whose edges stop the smoothing; the left view if not given.
    axis : "x" or "y"
        The direction in which the views differ. With "y", ``d = y_left - y_right``.
    calibration : Calibration or path, optional
        What to undo in the views and in the map, made by `dualpix.calibrate` for pictures of this size.
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
        Dense, finite, and within the range searched, but for what a calibration corrects.

    Raises
    ------
    InputError
        If an image cannot be read or used.
    ParameterError
        If a parameter is unknown, of the wrong type or out of bounds.
    """
    params = resolve(preset, overrides)
    if isinstance(calibration, str | Path):
        calibration = read_calibration(calibration)
    if calibration:
        params = calibration.settled(params)
    if axis not in ("x", "y"):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    threads = thread_count(threads)
    clock = _Clock(progress)

    with clock("read"):
        given = {"left": left, "right": right} | ({} if guide is None else {"guide": guide})
        images = [load_image(image, name) for name, image in given.items()]
        names = [str(image) if isinstance(image, str | Path) else name for name, image in given.items()]
        if calibration:
            calibration.check(images[0].shape, names[0], axis)
        white = calibration.white_gains(params.gamma) if calibration else None
        if axis == "y":
            white = white and (np.ascontiguousarray(white[0].T), np.ascontiguousarray(white[1].T))
            images = [np.ascontiguousarray(np.swapaxes(image, 0, 1)) for image in images]
        _check_sizes(images, names, params, axis)
    iterations = passes(params, images[0].shape[:2])
    clock.scales = len(iterations)
    with clock("pyramid"):
        planes = prepare(images, params, threads, white)
        blank = any(np.ptp(view) == 0 for view in (planes.left, planes.right))
        levels = pyramid(planes, len(iterations), threads)
        del images, planes, white

    textured: Mask | None = None
    searched = range(0)

    def solve(level: Level, disparities: range, prior: Coefficients | None, scale: int) -> Coefficients:
        nonlocal textured, searched
        searched = disparities
        with clock("matching", scale + 1):
            views = level.left, level.right
            if params.detail:
                views = detail(level.left, threads), detail(level.right, threads)
            alpha, beta = local_parabolas(*views, disparities, params, threads)
            textured = near_texture(alpha, textured if prior else None, params)
            _core.condition(
                alpha,
                beta,
                border_divisor(alpha.shape[1], disparities, params),
                prior.A if prior else None,
                prior.B if prior else None,
                params.prior_weight,
                params.invalid_threshold,
                threads,
            )
        with clock("aggregation", scale + 1):
            return Coefficients(*aggregate(alpha, beta, level.guide, params, iterations[scale], threads))

    limits = None if params.range == "auto" else params.range
    A, B = coarse_to_fine(levels, solve, limits)
    with clock("confidence"):
        d = minimizer(A, B)
        assert textured is not None
        trust = confidence(A, d, textured, params)
        low, high = limits or (searched[0], searched[-1])
        trust[(d < low - OUTSIDE) | (d > high + OUTSIDE)] = 0
        np.clip(d, low, high, out=d)
        if blank:
            d[:], trust[:] = 0, 0
        if axis == "y":
            d, trust = np.ascontiguousarray(d.T), np.ascontiguousarray(trust.T)
        if calibration and not blank:
            d = calibration.corrected(d)
    return Result(d, trust, params.replace(iterations=iterations), clock.seconds, (float(low), float(high)))


def passes(params: Params, shape: tuple[int, int]) -> tuple[int, ...]:
    """Aggregations per scale, coarse to fine; with auto, the coarsest scale has about 200 x 200 pixels."""
    if params.iterations != "auto":
        return params.iterations
    height, width = shape
    halvings = round(math.log2(math.sqrt(height * width) / COARSEST))
    return (PASSES,) * min(max(1 + halvings, 1), 8)


def thread_count(threads: int | None) -> int:
    """The number asked for, or that of ``DUALPIX_THREADS``, or that of the cores this process may use."""
    name: str = "threads"
    value: object = threads
    if threads is None:
        text = os.environ.get("DUALPIX_THREADS")
        if text is None:
            affinity = getattr(os, "sched_getaffinity", None)
            return len(affinity(0)) if affinity else os.cpu_count() or 1
        name, value = "DUALPIX_THREADS", int(text) if text.isdecimal() else text
    number: int = check(name, value, Whole(1, 1024))
    return number


def _check_sizes(images: list[npt.NDArray[Any]], names: list[str], params: Params, axis: str) -> None:
    def size(image: npt.NDArray[Any]) -> str:
        height, width = image.shape[:2] if axis == "x" else image.shape[1::-1]
        return f"{width}x{height}"

    for name, image in zip(names, images, strict=True):
        if image.shape[:2] != images[0].shape[:2]:
            raise InputError(
                f"{name} is {size(image)} pixels but {names[0]} is {size(images[0])}: give images of the same size"
            )
    height, width = images[0].shape[:2]
    taps = 2 * len(window_taps(params)) - 1
    if min(height, width) < taps:
        raise InputError(
            f"{names[0]} is {size(images[0])} pixels, smaller than the matching window of {taps}x{taps}: "
            "give a larger image or a smaller window"
        )
    low, high = (0.0, 0.0) if params.range == "auto" else params.range
    if max(abs(low), abs(high), high - low) >= width:
        raise ParameterError(
            f"parameter range {low:g} to {high:g} is wider than the image, {width} pixels along {axis}: "
            "give a range that fits into it"
        )


@dataclass
class _Clock:
    """Times stages and announces them."""

    progress: Progress | None
    scales: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str, scale: int = 0) -> Iterator[None]:
        if self.progress:
            self.progress(stage, scale, self.scales)
        start = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start
