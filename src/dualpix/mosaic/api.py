"""`dualpix.tiles`: the disparity map of a picture that is too large for the memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..batches.cluster import Cluster, check_scheduler
from ..batches.processes import Processes
from ..batches.runner import Runner
from ..camera.lens import NO_LENS
from ..errors import InputError, OutputError, ParameterError
from ..io.atomic import OutputSet, output_path, writing
from ..io.sidecar import entries, sidecar_path, to_json
from ..io.tiled import check_tiled_path, write_tiled
from ..io.windows import check_picture, is_zarr, open_picture
from ..method.frame import Frame
from ..method.kinds import method_of
from ..method.memory import available
from ..method.survey import limits_in, with_known_range
from ..method.window import window_side
from ..opencv import opencv_threads
from ..params import DEFAULT_PRESET, Params, resolve
from ..params.overrides import Overrides, Preset, Unpack
from ..params.rules import Whole, check
from ..run import Progress, Run, thread_count
from ..types import Image, Map, Shape, StrPath, same_size
from .folder import KEY, identity, private_folder
from .job import Finished, Job
from .survey import halvings_of, margin_of
from .views import Pictures

TILE = 2048  # px


def tiles(
    left: Image | StrPath,
    right: Image | StrPath,
    output: StrPath,
    preset: Preset | Params = DEFAULT_PRESET,
    *,
    tile: int = TILE,
    confidence: StrPath | None = None,
    axis: str | None = None,
    scheduler: Any = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
    **overrides: Unpack[Overrides],
) -> dict[str, Any]:
    """Make the disparity map of a huge picture, tile by tile.

    A reduced copy of the whole picture is solved first. It decides the range, the brightness and the smoothing. Every
    finer scale is then solved by tiles with margins, so that the map is that of `dualpix.disparity`, without seams.

    Finished tiles are kept in a folder beside `output`. After a kill, the same call goes on where it was.

    Parameters
    ----------
    left, right : path or array
        HxW or HxWx3 (RGB), uint8, uint16 or float in [0, 1]. TIFF, .npy and Zarr are read by windows. Other files are
        read whole once.
    output : path
        .tif or .tiff is a tiled BigTIFF, .zarr a Zarr folder (extra ``tiles``). It holds ``d = x_left - x_right`` in
        pixels of the input, float32, larger is nearer. A .json file is written beside it.
    preset, **overrides
        As for `dualpix.disparity`. Parameters that need the whole picture are refused.
    tile : int
        Side of the tiles, px. A process needs memory for a tile and its margin.
    confidence : path, optional
        Also write the confidence, 0 to 1, in one of the same formats.
    axis : "x" or "y", optional
        The direction in which the views differ; detected if not given.
    scheduler : dask Client, str or None
        A Dask client, the address of a scheduler, or "local" for Dask workers here (extra ``cluster``). None runs
        `threads` processes here. Workers must see the same files.
    threads : int, optional
        Number of processes here; by default ``DUALPIX_THREADS``, else every core. The map does not depend on it.
    force : bool
        Replace existing outputs.
    progress : callable, optional
        Called with a `dualpix.run.Step`.

    Returns
    -------
    dict
        What the .json file beside the map holds.

    Raises
    ------
    DualpixError
        If an input, a parameter or an output cannot be used. Nothing is written then.
    """
    request = Request(
        left=left,
        right=right,
        output=output_path(output, "output"),
        confidence=None if confidence is None else output_path(confidence, "confidence"),
        preset=preset if isinstance(preset, str) else "",
        params=resolve(preset, overrides),
        tile=tile,
        axis=axis,
        scheduler=scheduler,
        threads=threads,
        force=force,
    )
    return make(request, progress)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the user asks for; see `tiles`. `preset` is a name, and `config` is a file that is only recorded."""

    left: Image | StrPath
    right: Image | StrPath
    output: str
    preset: str
    params: Params
    tile: int = TILE
    confidence: str | None = None
    config: str | None = None
    axis: str | None = None
    scheduler: Any = None
    threads: int | None = None
    force: bool = False

    @property
    def views(self) -> dict[str, Image | StrPath]:
        """Both views, by name."""
        return {"left": self.left, "right": self.right}

    @property
    def inputs(self) -> dict[str, str]:
        """The files that are read, by role."""
        files = {"left": self.left, "right": self.right, "config": self.config}
        return {role: os.fspath(x) for role, x in files.items() if isinstance(x, (str, os.PathLike))}

    @property
    def maps(self) -> dict[str, str]:
        """The maps to write, by role."""
        return {"disparity": self.output} | ({} if self.confidence is None else {"confidence": self.confidence})

    def check(self) -> dict[str, str]:
        """Refuse options before any work. Returns the formats of the maps, by role."""
        params = self.params
        if self.axis not in ("x", "y", None):
            raise ParameterError(f"axis must be x or y, not {self.axis!r}")
        if params.photometry.pixel_aspect not in ("auto", 1):
            raise ParameterError("parameter pixel_aspect cannot be used for tiles: give views with square pixels")
        if isinstance(self.scheduler, str):
            check_scheduler(self.scheduler)
        check("tile", self.tile, Whole(1, 2**16))
        margin = max(margin_of(method_of(params)))
        if self.tile < margin:
            raise ParameterError(
                f"tile must be at least {margin} px, the margin that these parameters can need, not {self.tile}: give "
                "a larger tile"
            )
        return {role: check_tiled_path(path) for role, path in self.maps.items()}

    def check_views(self) -> Shape:
        """Refuse views that cannot be used, as far as their headers tell. Returns their rows and columns."""
        (left, first), (right, second) = (
            (self.inputs.get(name, name), check_picture(view, name)) for name, view in self.views.items()
        )
        same_size((left, first), (right, second))
        height, width = first
        side = window_side(self.params.matching)
        if min(height, width) < side:
            raise InputError(
                f"{left} is {width}x{height} pixels, smaller than the matching window of {side}x{side}: give a larger "
                "image or a smaller window"
            )
        halvings_of((height, width), self.params)
        return height, width

    def known(self, shape: Shape) -> tuple[Params, Path | None]:
        """The parameters, with the range from a file beside the left view if it is not given, and that file.

        A range wider than the picture is refused.
        """
        height, width = shape
        longer = "x" if width > height else "y"  # the axis may have to be detected, but no range may exceed this side
        method = method_of(self.params)
        frame = Frame((height, width), axis=self.axis or (longer if method.detects_axis else NO_LENS.axis))
        method, calib = with_known_range(method, self.inputs.get("left"), frame)
        limits_in(method.params.scales.range, frame)
        return method.params, calib


def make(request: Request, progress: Progress | None = None) -> dict[str, Any]:
    """Make the map that is asked for, and return what its sidecar holds."""
    run = Run(thread_count(request.threads))
    suffixes, sidecar = request.check(), sidecar_path(request.output)
    paths = [*request.maps.values(), sidecar]
    folders = [path for role, path in request.maps.items() if suffixes[role] == ".zarr"]
    for path in folders:
        if os.path.isdir(path) and os.listdir(path) and not is_zarr(path):
            raise OutputError(f"{path}: is a folder with other files: choose another output")
    roles = {sidecar: f"the sidecar of {request.output}"}
    outputs = OutputSet(paths, request.inputs.values(), request.force, roles, folders)
    params, calib = request.known(request.check_views())
    key = identity((request.left, request.right), params, request.axis, request.tile)
    with (
        opencv_threads(run.threads),
        private_folder(request.output, key) as folder,
        runner(request.scheduler, run.threads, os.path.join(folder, KEY)) as workers,
        outputs as files,
    ):
        left, right = (
            open_picture(view, name, os.path.join(folder, f"{name}.npy")) for name, view in request.views.items()
        )
        pictures = Pictures(left, right, request.params.photometry)
        done = Job(folder, pictures, params, request.axis, request.tile, workers, run, progress).done()
        found = write(files, request.maps, suffixes, done, pictures.shape, run)
        record = record_of(request, replace(done, plan=replace(done.plan, calib=calib)), found, run, sidecar)
        files.write(sidecar, to_json(record).encode())
    return record


@contextmanager
def runner(scheduler: Any, jobs: int, shared: str) -> Iterator[Runner]:
    """Who does the tiles. Workers on other machines must see the file `shared`."""
    if scheduler is None:
        yield Processes(jobs, available())
        return
    with Cluster(scheduler, jobs, shared).opened() as workers:
        yield workers


def write(
    files: OutputSet, outputs: dict[str, str], suffixes: dict[str, str], done: Finished, shape: Shape, run: Run
) -> dict[str, Any]:
    """Write the maps, and return the statistics of the disparities."""
    found = _Statistics()

    def disparity(rows: slice, columns: slice) -> Map:
        values = done.disparity(rows, columns)
        found.add(values)
        return values

    windows = {"disparity": disparity, "confidence": done.confidence}
    with run.stage("write"):
        for role, path in outputs.items():
            with writing(path):
                write_tiled(files.temporary(path), suffixes[role], windows[role], shape)
    return found.to_dict()


class _Statistics:
    """Smallest and largest value, and the number of NaN, of a map that comes in parts."""

    def __init__(self) -> None:
        self._low, self._high, self._nan = np.nan, np.nan, 0

    def add(self, values: Map) -> None:
        self._low = np.fmin(self._low, np.fmin.reduce(values, axis=None))
        self._high = np.fmax(self._high, np.fmax.reduce(values, axis=None))
        self._nan += int(np.isnan(values).sum())

    def to_dict(self) -> dict[str, Any]:
        return {"min": float(self._low), "max": float(self._high), "nan": self._nan}


def record_of(request: Request, done: Finished, found: dict[str, Any], run: Run, sidecar: str) -> dict[str, Any]:
    """What the sidecar holds: the entries of `Result.record`, and what concerns tiles."""
    plan = done.plan
    return {
        **entries(request.output, plan.frame.shape, found, plan.frame.axis),
        "orientation": plan.frame.orientation,
        "axis_evidence": plan.evidence and plan.evidence.to_dict(),
        "preset": request.preset,
        "parameters": plan.params.to_dict(),
        "searched": done.searched,
        "threads": run.threads,
        "timings": run.seconds,
        "warnings": done.notes,
        "calibration": None,
        "mask_occluded": False,
        "expected_error": plan.params.measures_error,
        "plan": plan.summary(),
        "tiles": {
            "side": request.tile,
            "margin": max(done.margin),
            "count": len(done.tiles.files),
            "megabytes": done.megabytes,
        },
        "inputs": request.inputs,
        "outputs": request.maps | {"sidecar": sidecar},
    }
