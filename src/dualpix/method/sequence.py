"""`dualpix.Sequence` and `dualpix.sequence`: the maps of a clip, steady over time."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ..camera.lens import Calibration
from ..errors import InputError, ParameterError
from ..io import read_pair
from ..params import DEFAULT_PRESET, Params
from ..params.overrides import Overrides, Preset, Unpack
from ..params.rules import Real, check
from ..run import Progress, Run, thread_count
from ..types import Input, Pair, StrPath, reusing
from .api import lens_of, method_for, request_of
from .frames import solve_frame
from .moments import Filming, Moment
from .motion import KINDS
from .result import Result
from .temporal import WEIGHT
from .two_sided import solve_both_sides

MOST = 1000.0  # of the weight
Shot = Pair | StrPath | tuple[Input, ...]  # both views: a pair, one file, (left, right) or (left, right, guide)


class Settings(Overrides, total=False):
    """What `Sequence` takes by name, for type checkers; each is optional."""

    motion: str
    weight: float
    axis: str | None
    calibration: Calibration | str | Path | None
    mask_occluded: bool
    mem_limit: float | None
    threads: int | None
    progress: Progress | None


class Sequence:
    """The frames of a clip, one after the other.

    The belief about a frame enters the next one as a prior. The picture's motion moves it. So maps flicker less. A
    frame is surveyed at the start, at cuts, and when the disparities reach an end of the range. Only one frame is
    remembered.

    Parameters
    ----------
    preset : str or Params
        The name of a preset, or the parameters themselves.
    motion : "flow" or "none"
        How the motion of the picture is found: by optical flow, or not at all, for a camera on a tripod before a scene
        at rest.
    weight : float
        ``w_t``: how strong the frame before is, in units of the mean curvature of the evidence; 0 to 1000. 0 solves
        every frame alone. More is steadier, and slower to follow things that come nearer.
    axis, calibration, mask_occluded, mem_limit, threads, progress, **overrides
        As for `dualpix.disparity`.

    Attributes
    ----------
    filming : Filming
        The settings, checked.
    threads : int
        Number of threads.
    moment : Moment or None
        What is remembered of the last frame. A new sequence of the same settings that is given it goes on exactly.
    """

    def __init__(
        self,
        preset: Preset | Params = DEFAULT_PRESET,
        *,
        motion: str = "flow",
        weight: float = WEIGHT,
        axis: str | None = None,
        calibration: Calibration | str | Path | None = None,
        mask_occluded: bool = False,
        mem_limit: float | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        **overrides: Unpack[Overrides],
    ) -> None:
        lens = lens_of(calibration)
        if axis not in ("x", "y", None):
            raise ParameterError(f"axis must be x or y, not {axis!r}")
        if motion not in KINDS:
            raise ParameterError(f"motion must be {' or '.join(KINDS)}, not {motion!r}")
        if mem_limit is not None:
            mem_limit = check("mem_limit", mem_limit, Real(0, 1e9, above=True))
        weight = check("weight", weight, Real(0, MOST))
        method = method_for(preset, overrides, lens)
        self.filming = Filming(method, lens, axis, mask_occluded, motion, weight, mem_limit)
        self.moment: Moment | None = None
        self.threads = thread_count(threads)
        self._preset, self._progress = preset, progress

    def add(self, left: Input | Pair, right: Input | None = None, guide: Input | None = None) -> Result:
        """The result of the next frame, given as to `dualpix.disparity`, or as a `Pair`."""
        pair = left if isinstance(left, Pair) else read_pair(left, right, guide)
        with reusing():
            result, self.moment = solve_frame(pair, self.filming, [self.moment] if self.moment else [], self.new_run())
        return self._asked(result, pair.source)

    def both_sides(self, pairs: Iterable[Pair]) -> Iterator[Result]:
        """The results of the next frames, each of which knows the frames before and after."""
        for result, moment in solve_both_sides(pairs, self.filming, self.new_run, self.moment):
            self.moment = moment
            yield self._asked(result, {})

    def _asked(self, result: Result, files: dict[str, str]) -> Result:
        return replace(result, request=request_of(self._preset, self.threads, self.filming.lens, files))

    def new_run(self) -> Run:
        """The run of one frame."""
        return Run(self.threads, self._progress)


def sequence(
    pairs: Iterable[Shot],
    preset: Preset | Params = DEFAULT_PRESET,
    *,
    two_sided: bool = False,
    **settings: Unpack[Settings],
) -> Iterator[Result]:
    """The maps of a clip, one a frame.

    >>> for result in dualpix.sequence(zip(lefts, rights)):
    ...     result.disparity

    Parameters
    ----------
    pairs : iterable
        The frames: `Pair`, (left, right) or (left, right, guide) as for `dualpix.disparity`, or paths of files with
        both views. They are taken one at a time.
    preset : str or Params
        The name of a preset, or the parameters themselves.
    two_sided : bool
        Let a frame know the frames after it, too. It takes four times as long, and up to 18 frames are in memory.
    **settings
        Those of `Sequence`: motion, weight, axis, calibration, threads, parameters.

    Yields
    ------
    Result
        After each frame. With `two_sided`, after up to 17 more.
    """
    clip = Sequence(preset, **settings)  # checked at once, not with the first frame
    if isinstance(pairs, str | bytes) or not isinstance(pairs, Iterable):
        raise InputError(f"pairs must be the frames of a clip, such as [(left, right)], not {reprlib.repr(pairs)}")
    frames = map(as_pair, pairs)
    return clip.both_sides(frames) if two_sided else map(clip.add, frames)


def as_pair(shot: Shot) -> Pair:
    """Both views of one frame."""
    if isinstance(shot, Pair):
        return shot
    if not isinstance(shot, tuple | list):
        return read_pair(shot)
    if not 2 <= len(shot) <= 3:
        raise InputError(f"pairs holds a tuple of {len(shot)}: give (left, right) or (left, right, guide)")
    return read_pair(*shot)
