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
from .arrays import Map, as_row
from .confidence import confidence
from .errors import InputError, ParameterError
from .io import load_image
from .matching import border_divisor, local_parabolas, window_taps
from .params import DEFAULT_PRESET, Params, resolve
from .pyramid import Coefficients, Level, coarse_to_fine, pyramid
from .rules import Whole, check

Image = npt.NDArray[Any] | str | Path
Progress = Callable[[str, int, int], None]

LUMA = (0.299, 0.587, 0.114)
MEAN = (1 / 3, 1 / 3, 1 / 3)

COARSEST = 200  # px, about the side of the coarsest scale where their number is found by itself
PASSES = 4  # a scale then gets


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
    """

    disparity: Map
    confidence: Map
    params: Params
    timings: dict[str, float]


def disparity(
    left: Image,
    right: Image,
    preset: str | Params = DEFAULT_PRESET,
    guide: Image | None = None,
    *,
    axis: str = "x",
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
        Dense, finite, and within the range searched.

    Raises
    ------
    InputError
        If an image cannot be read or used.
    ParameterError
        If a parameter is unknown, of the wrong type or out of bounds.
    """
    params = resolve(preset, overrides)
    if axis not in ("x", "y"):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    threads = thread_count(threads)
    clock = _Clock(progress)

    with clock("read"):
        given = {"left": left, "right": right} | ({} if guide is None else {"guide": guide})
        images = [load_image(image, name) for name, image in given.items()]
        names = [str(image) if isinstance(image, str | Path) else name for name, image in given.items()]
        if axis == "y":
            images = [np.ascontiguousarray(np.swapaxes(image, 0, 1)) for image in images]
        _check_sizes(images, names, params, axis)
    iterations = passes(params, images[0].shape[:2])
    clock.scales = len(iterations)
    with clock("pyramid"):
        planes = _planes(images, params, threads)
        blank = any(np.ptp(view) == 0 for view in (planes.left, planes.right))
        levels = pyramid(planes, len(iterations), threads)
        del images, planes

    def solve(level: Level, disparities: range, prior: Coefficients | None, scale: int) -> Coefficients:
        with clock("matching", scale + 1):
            alpha, beta = local_parabolas(level.left, level.right, disparities, params, threads)
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
        if limits:
            np.clip(d, *limits, out=d)
        trust = confidence(A, d, params)
        if blank:
            d[:], trust[:] = 0, 0
        if axis == "y":
            d, trust = np.ascontiguousarray(d.T), np.ascontiguousarray(trust.T)
    return Result(d, trust, params.replace(iterations=iterations), clock.seconds)


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


def _planes(images: list[npt.NDArray[Any]], params: Params, threads: int) -> Level:
    """Grey views and guide on a 0..255 scale, or of the exposure asked for. Edges are those of the channels' mean."""
    left, right = (_plane(image, LUMA, threads) for image in images[:2])
    guide = images[2] if len(images) == 3 else images[0]
    if guide is images[0] and guide.ndim == 2 and params.guide_gamma == 1 and not params.exposure:
        return Level(left, right, left)
    edges = _plane(guide, MEAN, threads)
    if params.guide_gamma != 1:
        edges **= params.guide_gamma
        edges *= 255 ** (1 - params.guide_gamma)
    if params.exposure:
        gain = params.exposure / _brightness(left)
        left *= gain
        right *= gain
        edges *= params.exposure / _brightness(edges)
    return Level(left, right, edges)


def _brightness(plane: Map) -> float:
    """The 99th percentile of the intensities, from a sample of them; never 0."""
    step = max(1, math.isqrt(plane.size // 100_000))
    return max(float(np.quantile(plane[::step, ::step], 0.99)), 1e-6)


def _plane(image: npt.NDArray[Any], weights: tuple[float, ...], threads: int) -> Map:
    plane = np.empty(image.shape[:2], np.float32)
    pixels, weights = (image[..., None], (1,)) if image.ndim == 2 else (image, weights)
    full = np.iinfo(image.dtype).max if image.dtype.kind == "u" else 1
    _core.to_plane(pixels, plane, as_row(weights), 255 / full, threads)
    return plane


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
