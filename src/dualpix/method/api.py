"""`dualpix.disparity`: turns the user's arguments into a pair, a method and a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..camera.lens import NO_LENS, Calibration
from ..errors import InputError, ParameterError
from ..files import given_path
from ..io import read_pair
from ..io.hints import Hint, as_hints
from ..params import DEFAULT_PRESET, Params, resolve
from ..params.overrides import Overrides, Preset, Unpack
from ..params.rules import Real, check
from ..run import Progress, Run, thread_count
from ..types import Input, Pair, StrPath, reusing
from . import pipeline
from .kinds import Method, method_of
from .memory import check_memory, gigabytes
from .prepare import frame_of
from .result import Request, Result
from .scales import passes_of
from .window import window_side


def disparity(
    left: Input,
    right: Input | None = None,
    preset: Preset | Params = DEFAULT_PRESET,
    guide: Input | None = None,
    *,
    layout: str | None = None,
    first: str | None = None,
    axis: str | None = None,
    calibration: Calibration | str | Path | None = None,
    mask_occluded: bool = False,
    hints: StrPath | Sequence[Hint | dict[str, Any]] = (),
    mem_limit: float | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    **overrides: Unpack[Overrides],
) -> Result:
    """The disparity map of the left view of a dual-pixel pair or, with the preset stereo, of any rectified pair.

    Parameters
    ----------
    left, right : path, array or encoded picture
        Of the same size. Arrays, also those of other libraries, are HxW, HxWx1, HxWx3 (RGB) or HxWx4 (alpha is
        dropped), uint8, uint16, other integers from 0 to 65535, or float in [0, 1]. Pictures of Pillow, and encoded
        pictures as bytes or file objects, are taken as files are. Without `right`, `left` is the path of one file
        with both views, such as a raw file; see `dualpix.read_pair`.
    preset : str or Params
        The name of a preset, or the parameters themselves.
    guide : path, array or encoded picture, optional
        The image whose edges stop the smoothing; the left view if not given. Resampled if it has another size.
    layout, first : str, optional
        How one file holds both views; see `dualpix.read_pair`.
    axis : "x" or "y", optional
        The direction in which the views differ; detected if not given. x if detection fails, and for stereo.
    calibration : Calibration or path, optional
        What to undo in the views and in the map, made by `dualpix.calibrate` for pictures of this size.
    mask_occluded : bool
        Set occluded pixels to NaN, with confidence 0: those that only one view sees, found by the left-right check.
        The right view is matched too, which doubles the time.
    hints : path or list of strokes
        What you know about regions of the picture: "near", with a disparity in px (larger is nearer), or "unknown".
        See `dualpix.io.hints`. A hint does not widen a given range.
    mem_limit : float, optional
        Memory in GB beside the views; by default all that is free. A pair that needs more is refused.
    threads : int, optional
        Number of threads; by default ``DUALPIX_THREADS``, else every core. The result does not depend on it.
    progress : callable, optional
        Called with a `dualpix.run.Step` when a stage begins.
    **overrides
        Parameters that replace those of the preset; `help(dualpix.Params)` explains them.

    Returns
    -------
    Result
        Dense, finite and within the searched range, unless a calibration, a filter or `mask_occluded` changes it.

    Warns
    -----
    DualpixWarning
        Each sentence of `Result.warnings`.

    Raises
    ------
    InputError
        If an image cannot be read or used, or there is not enough memory.
    ParameterError
        If a parameter is unknown, of the wrong type, out of bounds, or without effect.
    """
    lens = lens_of(calibration)
    method = method_for(preset, overrides, lens)
    if axis not in ("x", "y", None):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    strokes = as_hints(hints)
    run = Run(thread_count(threads), progress)
    if mem_limit is not None:
        mem_limit = check("mem_limit", mem_limit, Real(0, 1e9, above=True))
    files = {**_views_of(left, right), "guide": guide, "hints": hints, "calibration": calibration}
    request = request_of(preset, run.threads, lens, files, layout, first)
    read = partial(read_pair, left, right, guide, layout=layout, first=first)
    with reusing():
        # No variable here holds the pair, so views read from files are freed once they are developed.
        result = pipeline.disparity(
            _read(read, method, mask_occluded, mem_limit, run),
            method,
            lens=lens,
            axis=axis,
            mask_hidden=mask_occluded,
            hints=strokes,
            run=run,
        )
    return replace(result, request=request)


def lens_of(calibration: Calibration | str | Path | None) -> Calibration:
    """The calibration, read if it is a path."""
    if calibration is None or isinstance(calibration, Calibration):
        return calibration or NO_LENS
    from ..camera.lens_file import read_calibration  # few maps have one

    return read_calibration(given_path(calibration, "calibration"))


def _views_of(left: Input, right: Input | None) -> dict[str, Any]:
    """The views by role, as they were given; the files that one path stands for."""
    if right is not None or not isinstance(left, str | os.PathLike):
        return {"left": left, "right": right}
    from ..io.one_file import files_of  # two pictures need none of its formats

    return dict(files_of(left))


def request_of(
    preset: str | Params, threads: int, lens: Calibration, files: Mapping[str, object], *one_file: str | None
) -> Request:
    """What is asked for. Of `files`, by role, those that are paths count; `one_file` are layout and first."""
    inputs = {role: os.fspath(each) for role, each in files.items() if isinstance(each, str | os.PathLike)}
    name = preset if isinstance(preset, str) else ""
    return Request(name, threads, None if lens is NO_LENS else lens, inputs, *one_file)


def method_for(preset: str | Params, overrides: Mapping[str, Any], lens: Calibration = NO_LENS) -> Method:
    """The method of a preset with some parameters replaced, and the black level of the calibration."""
    params = resolve(preset, overrides)
    return method_of(params.replace(black=lens.black(params.photometry.black)))


def _read(read: Callable[[], Pair], method: Method, mask_hidden: bool, mem_limit: float | None, run: Run) -> Pair:
    with run.stage("read"):
        pair = read()
        check_pair(pair, method, mask_hidden, mem_limit)
    return pair


def check_pair(
    pair: Pair, method: Method, mask_hidden: bool = False, mem_limit: float | None = None, more: float = 0.0
) -> None:
    """Refuse a pair that is smaller than the matching window, or too large for the memory.

    `more` are float32 maps of its size that are kept beside.
    """
    side, (height, width) = window_side(method.params.matching), pair.shape
    if min(height, width) < side:
        raise InputError(
            f"{pair.name('left')} is {width}x{height} pixels, smaller than the matching window of {side}x{side}: "
            "give a larger image or a smaller window"
        )
    frame = frame_of(pair, method.params.photometry)
    check_memory(pair.name("left"), frame, _floats(frame.square_shape, method, mask_hidden) + more, mem_limit)


def expected_gigabytes(shape: tuple[int, int], method: Method, mask_hidden: bool = False) -> float:
    """Memory beside the views that a pair with square pixels needs, GB."""
    return gigabytes(shape, _floats(shape, method, mask_hidden))


def _floats(shape: tuple[int, int], method: Method, mask_hidden: bool) -> float:
    scales = len(passes_of(method.params, shape))
    return method.floats_per_pixel(scales, mask_hidden or method.fills_hidden)
