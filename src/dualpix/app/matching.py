"""The work of one run: match the views of a shot and keep the result in files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from ..errors import OutputError
from ..io.sidecar import to_json
from ..method import api
from ..opencv import opencv_threads
from ..run import Progress, thread_count
from ..types import Map

if TYPE_CHECKING:
    from .shots import Run, Shot

FLOATS = np.dtype("<f4")


def match(shot: Shot, run: Run, progress: Progress) -> None:
    """Match the views as ``dualpix disparity`` does, with the same result."""
    settings, paths, threads = run.settings, shot.source.paths, thread_count(None)
    with opencv_threads(threads):
        result = api.disparity(
            paths["left"],
            paths.get("right"),
            settings.params(),
            paths.get("guide"),
            layout=settings.layout,
            first=settings.first,
            axis=settings.axis,
            calibration=run.lens,
            mask_occluded=settings.mask_occluded,
            hints=run.hints,
            threads=threads,
            progress=progress,
        )
    name = f"{shot.stem}-disparity.tiff"
    record = result.record(settings.preset, threads, run.lens, shot.source.names, {"disparity": name})
    record["warnings"] = [shot.source.in_words(each) for each in record["warnings"]]
    write(run.file("disparity"), np.ascontiguousarray(result.disparity, FLOATS).data)
    write(run.file("confidence"), np.ascontiguousarray(result.confidence, FLOATS).data)
    write(run.file("json"), to_json(record).encode())
    del result
    _core.release_free_memory()


def write(path: Path, data: bytes | memoryview) -> None:
    """Write a file of the app that is there whole or not at all.

    Raises
    ------
    OutputError
        If there is no room.
    """
    part = path.with_suffix(path.suffix + ".part")
    try:
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OutputError(f"the result cannot be stored ({error.strerror}): free some space") from None


def record_of(run: Run) -> dict[str, Any]:
    """What the sidecar of the map holds."""
    record: dict[str, Any] = json.loads(run.file("json").read_text(encoding="utf-8"))
    return record


def map_of(run: Run, what: str = "disparity") -> Map:
    """The disparities (px, larger is nearer, NaN where masked) or the confidence (0 to 1) of a finished run."""
    record = record_of(run)
    values = np.fromfile(run.file(what), FLOATS).astype(np.float32, copy=False)
    return values.reshape(record["height"], record["width"])
