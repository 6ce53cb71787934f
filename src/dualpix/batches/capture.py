"""One capture: from its files to a map and what goes with it. ``dualpix disparity`` and ``dualpix batch`` do this.

What only a batch needs is imported in the functions that need it: ``dualpix disparity`` is over soon.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import sentence
from ..io import OutputSet
from ..io.sidecar import read_sidecar
from ..look import Look
from ..method import api
from ..method.kinds import method_of
from ..method.result import Result
from ..method.saving import Sink, check_outputs, write_outputs
from ..opencv import opencv_threads
from ..params import Params
from ..run import Progress
from ..version import version

if TYPE_CHECKING:
    from .outcome import Outcome
    from .store import Store


@dataclass(frozen=True, kw_only=True)
class Capture:
    """A shot, and what is made of it. It can be pickled and run on any machine that has its files.

    Attributes
    ----------
    name : str
        Its name in the batch.
    left, right, guide, hints, calibration, config : str or None
        Files. Without `right`, `left` is one file or folder with both views. `config` is only recorded.
    outputs : dict
        Files to write: "disparity" and "sidecar"; "confidence" and "preview" if they are wanted.
    preset, params
        The name of the preset, and the parameters.
    layout, first, axis, camera, mask_occluded
        As for `dualpix.disparity` and ``dualpix disparity``.
    look : Look
        How the map file shall look.
    threads : int
        Number of threads. The result does not depend on it.
    mem_limit : float or None
        Memory beside the views, GB.
    """

    name: str
    left: str
    outputs: dict[str, str]
    preset: str
    params: Params
    right: str | None = None
    guide: str | None = None
    hints: str | None = None
    calibration: str | None = None
    config: str | None = None
    layout: str | None = None
    first: str | None = None
    axis: str | None = None
    camera: str | None = None
    mask_occluded: bool = False
    look: Look = field(default_factory=Look)
    threads: int = 1
    mem_limit: float | None = None

    @property
    def inputs(self) -> dict[str, str]:
        """All files that are read, by role."""
        views = _files_of(self.left) if self.right is None else {"left": self.left, "right": self.right}
        photo = self.look.photo if self.look.views is None else None  # else it is a view or the guide
        others = {
            "guide": self.guide,
            "config": self.config,
            "hints": self.hints,
            "calibration": self.calibration,
            "photo": photo,
        }
        return views | {role: path for role, path in others.items() if path is not None}

    def check(self) -> None:
        """Refuse outputs that cannot hold the map. Needs no input."""
        check_outputs(self.outputs, self.look, method_of(self.params).never_negative)

    # ---- as a task; see `runner.Task` ----

    def run(self) -> Outcome:
        """Write the outputs, unless they are there. An outcome with an error has written nothing."""
        return self.kept_in(Files(self))

    def kept_in(self, store: Store[Made]) -> Outcome:
        """Make what the store does not have. An outcome with an error has written nothing."""
        from .outcome import Outcome
        from .store import once

        start = time.perf_counter()
        try:
            key = self.key()
            made = once(store, key, lambda: make(self))
        except Exception as error:  # one bad capture must not stop the others
            return self.failed(sentence(error))
        kept = made.result is None
        seconds = sum(made.record["timings"].values()) if kept else time.perf_counter() - start
        return Outcome(self.name, self.outputs, seconds, key=key, kept=kept, warnings=tuple(made.record["warnings"]))

    def failed(self, why: str) -> Outcome:
        """The outcome without a map."""
        from .outcome import Outcome

        return Outcome(self.name, {}, 0.0, error=why)

    def gigabytes(self) -> float:
        """Memory that `run` needs; 0 if the files do not tell."""
        from .memory import expected_gigabytes

        return expected_gigabytes(self.left, self.layout, self.params, self.mask_occluded)

    def key(self) -> str:
        """The key of the outputs: of the content of the inputs, of all that is set, and of the code."""
        from .keys import file_digest, key_of
        from .versions import code_digest

        files = {role: path for role, path in self.inputs.items() if role != "config"}
        calib = os.path.join(os.path.dirname(self.left), "calib.txt")  # gives the range of a stereo pair
        if self.right is not None and os.path.isfile(calib):
            files["calib"] = calib
        return key_of(
            {role: file_digest(path) for role, path in files.items()},
            self.params.to_dict(),
            [self.layout, self.first, self.axis, self.mask_occluded, self.look.fov, self.look.png, self.look.near],
            {role: os.path.splitext(path)[1].lower() for role, path in self.outputs.items()},
            [version(), code_digest()],
        )


# ---- making it -----------------------------------------------------------------------------------


class Made(NamedTuple):
    """The content of the sidecar, and the result; None if the result was made earlier."""

    record: dict[str, Any]
    result: Result | None


def make(capture: Capture, progress: Progress | None = None) -> Made:
    """Match the views.

    Raises
    ------
    DualpixError
        If an input cannot be used.
    """
    lens = None if capture.calibration is None else api.lens_of(capture.calibration)
    if lens is not None:
        lens.check_camera(capture.camera)
    with opencv_threads(capture.threads):
        result = api.disparity(
            capture.left,
            capture.right,
            capture.params,
            capture.guide,
            axis=capture.axis,
            calibration=lens,
            mask_occluded=capture.mask_occluded,
            hints=capture.hints or (),
            mem_limit=capture.mem_limit,
            threads=capture.threads,
            progress=progress,
            layout=capture.layout,
            first=capture.first,
        )
    held = capture.look.held(capture.outputs["disparity"], result.disparity, result.searched, lens is not None)
    result = replace(result, disparity=held)
    return Made(result.record(capture.preset, capture.threads, lens, capture.inputs, capture.outputs), result)


def _files_of(path: str) -> dict[str, str]:
    """The files of one file or folder with both views."""
    from ..io.one_file import files_of

    return files_of(path)


def write(files: Sink, capture: Capture, made: Made) -> None:
    """Write the outputs of a capture. The sidecar is the last."""
    if made.result is None:
        raise ValueError("the result was made earlier, so it is not here")
    write_outputs(files, capture.outputs, capture.look, made.record, made.result.disparity, made.result.confidence)


def _is_there(path: str) -> bool:
    """Whether it is a file with something in it. A full disk may leave empty copies."""
    return os.path.isfile(path) and os.path.getsize(path) > 0


class Files:
    """The outputs of a capture as a store. The sidecar is written last and holds the key, so it tells what is done."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def find(self, key: str) -> Made | None:
        outputs = self._capture.outputs
        record = read_sidecar(outputs["disparity"])
        if record is None or record.get("key") != key or not all(map(_is_there, outputs.values())):
            return None
        return Made(record, None)

    def keep(self, key: str, made: Made) -> None:
        outputs = self._capture.outputs
        os.makedirs(os.path.dirname(outputs["disparity"]), exist_ok=True)
        with OutputSet(outputs.values(), self._capture.inputs.values(), force=True) as files:
            write(files, self._capture, Made({"key": key, **made.record}, made.result))
            if self.find(key) is None:  # else another process has just finished the same, and our bytes are equal
                with suppress(FileNotFoundError):
                    os.remove(outputs["sidecar"])  # from here on, an older result is not finished any more
