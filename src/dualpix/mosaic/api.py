"""`dualpix.tiles`: the disparity map of a picture that is too large for the memory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..batches.processes import Processes
from ..errors import InputError, ParameterError
from ..io.atomic import OutputSet
from ..io.sidecar import entries, sidecar_path, to_json
from ..io.tiled import check_tiled_path, write_tiled
from ..io.windows import check_picture, open_picture
from ..method.kinds import method_of
from ..method.memory import available
from ..method.window import window_side
from ..params import DEFAULT_PRESET, Params, resolve
from ..params.rules import Whole, check
from ..run import Progress, Run, Step, opencv_threads, thread_count
from ..types import Image, Map, Shape, StrPath, same_size
from .cluster import connected
from .folder import identity, private_folder
from .job import Finished, Job
from .survey import halvings_of, margin_of
from .views import Pictures
from .work import Mosaic

TILE = 2048  # px


def tiles(
    left: Image | StrPath,
    right: Image | StrPath,
    output: StrPath,
    preset: str | Params = DEFAULT_PRESET,
    *,
    tile: int = TILE,
    confidence: StrPath | None = None,
    axis: str | None = None,
    scheduler: Any = None,
    threads: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
    **overrides: Any,
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
    params = resolve(preset, overrides)
    run = Run(thread_count(threads), progress)
    check_options(params, tile, axis)
    outputs = {"disparity": os.fspath(output)} | ({} if confidence is None else {"confidence": os.fspath(confidence)})
    suffixes = {role: check_tiled_path(path) for role, path in outputs.items()}
    sidecar = sidecar_path(output)
    inputs = {name: os.fspath(x) for name, x in (("left", left), ("right", right)) if isinstance(x, (str, os.PathLike))}
    folders = [path for role, path in outputs.items() if suffixes[role] == ".zarr"]
    everything = [*outputs.values(), sidecar]
    with OutputSet(everything, inputs.values(), force, {sidecar: f"the sidecar of {output}"}, folders) as files:
        check_views(left, right, params)
        with _runner(scheduler, run.threads) as runner, opencv_threads(run.threads):
            who = identity((left, right), params, axis, tile)
            with private_folder(outputs["disparity"], who) as folder:
                pictures = _opened(left, right, params, folder)
                job = Job(folder, pictures, params, axis, tile, runner, run)
                done = job.done()
                found = _written(files, outputs, suffixes, done.tiles, pictures.shape, run)
        name = preset if isinstance(preset, str) else ""
        record = _record(done, found, name, tile, run, inputs, outputs | {"sidecar": sidecar}, pictures.shape)
        files.write(sidecar, to_json(record).encode())
    return record


def check_options(params: Params, tile: int, axis: str | None) -> None:
    """Refuse options before any work."""
    if axis not in ("x", "y", None):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    if params.photometry.pixel_aspect not in ("auto", 1):
        raise ParameterError("parameter pixel_aspect cannot be used for tiles: give views with square pixels")
    check("tile", tile, Whole(1, 2**16))
    margin = margin_of(method_of(params))
    if tile < margin:
        raise ParameterError(f"tile must be at least the margin of a tile, {margin} px, not {tile}: give a larger tile")


def check_views(left: Image | StrPath, right: Image | StrPath, params: Params) -> None:
    """Refuse views that cannot be used, as far as their headers tell."""
    names = [os.fspath(x) if isinstance(x, (str, os.PathLike)) else name for name, x in (("left", left), ("right", right))]
    shapes = [check_picture(x, name) for name, x in (("left", left), ("right", right))]
    same_size((names[0], shapes[0]), (names[1], shapes[1]))
    height, width = shapes[0]
    side = window_side(params.matching)
    if min(height, width) < side:
        raise InputError(f"{names[0]} is {width}x{height} pixels, smaller than the matching window of {side}x{side}")
    halvings_of((height, width), params)


@contextmanager
def _runner(scheduler: Any, jobs: int) -> Iterator[Any]:
    if scheduler is None:
        yield Processes(jobs, available())
        return
    cluster, ours = connected(scheduler, jobs)
    try:
        yield cluster
    finally:
        if ours:
            cluster.client.close()


def _opened(left: Image | StrPath, right: Image | StrPath, params: Params, folder: str) -> Pictures:
    views = (
        open_picture(view, name, os.path.join(folder, f"{name}.npy")) for name, view in (("left", left), ("right", right))
    )
    return Pictures(*views, params.photometry)


def _written(
    files: OutputSet, outputs: dict[str, str], suffixes: dict[str, str], mosaic: Mosaic, shape: Shape, run: Run
) -> dict[str, Any]:
    """Write the maps, and return the statistics of the disparities."""
    found = _Statistics()
    with run.stage("write"):
        for layer, (role, path) in enumerate(outputs.items()):

            def window(rows: slice, columns: slice, layer: int = layer) -> Map:
                values: Map = mosaic.window([layer], rows, columns)[0]
                if layer == 0:
                    found.add(values)
                return values

            if run.progress:
                run.progress(Step("writing", 1.0))
            write_tiled(files.temporary(path), suffixes[role], window, shape)
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


def _record(
    done: Finished,
    found: dict[str, Any],
    preset: str,
    tile: int,
    run: Run,
    inputs: dict[str, str],
    outputs: dict[str, str],
    shape: Shape,
) -> dict[str, Any]:
    """What the sidecar holds: the entries of `Result.record`, and what concerns tiles."""
    plan = done.plan
    return {
        **entries(outputs["disparity"], shape, found, plan.frame.axis),
        "orientation": 1,
        "axis_evidence": plan.evidence and plan.evidence.to_dict(),
        "preset": preset,
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
            "side": tile,
            "margin": done.margin,
            "count": len(done.tiles.files),
            "megabytes": done.megabytes,
        },
        "inputs": inputs,
        "outputs": outputs,
    }
