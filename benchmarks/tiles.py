"""A huge picture as tiles against the same picture as a whole: differences, memory and time.

    python benchmarks/tiles.py FOLDER [--megapixels 100] [--tile 2048] [--dask] [--preset auto]

A pair is made in FOLDER from rendered scenes, mirrored and with noise of their own, as two tiled TIFF files. It is
solved by `dualpix.disparity` and by `dualpix.tiles`, each in a new process; with --dask also on two Dask workers.
Differences are those of pixels with a confidence above 0.5. The peak of memory of a process is its VmHWM.
"""

import argparse
import hashlib
import json
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import tifffile

import dualpix
from dualpix.batches.process import peak_megabytes
from dualpix.scenes import draw, make

SURE = 0.5  # confidence
TOLERANCE = 0.02  # px
SCENES = 4  # different ones
SIDE = 1250  # px of a scene
NOISE = 1.5  # STD, on a scale of 0 to 255


def make_pair(folder: Path, megapixels: float) -> list[Path]:
    """Two views, grey, 8 bit. Every scene has its own contrast, so that no part of the picture is like the whole."""
    across, side = max(round(1000 * math.sqrt(megapixels) / SIDE), 1), SIDE
    shots = [make(draw(7, number, side, side)) for number in range(SCENES)]
    views = np.empty((2, across * side, across * side), np.uint8)
    for number in range(across**2):
        rng = np.random.default_rng(number)
        row, column = divmod(number, across)
        shot = shots[(row + column * (SCENES - 1)) % SCENES]
        pair = [_grey(view) for view in (shot.left, shot.right)]
        if column % 2:  # seen in a mirror, the views change places, and disparities keep their sign
            pair = [view[:, ::-1] for view in pair[::-1]]
        contrast = rng.uniform(0.4, 1)
        at = slice(row * side, (row + 1) * side), slice(column * side, (column + 1) * side)
        for view, plane in zip(views, pair, strict=True):
            plane = plane[::-1] if row % 2 else plane
            noisy = 128 + contrast * (plane - 128) + rng.normal(0, NOISE, plane.shape)
            view[at] = np.clip(np.rint(noisy), 0, 255)
    paths = [folder / "left.tif", folder / "right.tif"]
    for path, view in zip(paths, views, strict=True):
        tifffile.imwrite(path, view, tile=(512, 512), compression="zlib", photometric="minisblack")
    return paths


def _grey(view: np.ndarray) -> np.ndarray:
    values = view.astype(np.float32) * (255 / np.iinfo(view.dtype).max if view.dtype.kind == "u" else 255)
    return values if values.ndim == 2 else cv2.cvtColor(values, cv2.COLOR_RGB2GRAY)


def whole(task: tuple[str, str, str]) -> dict[str, Any]:
    """Solve the whole picture; the maps go to .npy files beside it."""
    left, right, preset = task
    start = time.perf_counter()
    result = dualpix.disparity(left, right, preset)
    seconds = time.perf_counter() - start
    for name, values in (("whole", result.disparity), ("whole-confidence", result.confidence)):
        np.save(Path(left).with_name(f"{name}.npy"), values)
    return {"seconds": seconds, "megabytes": peak_megabytes(), "searched": result.searched}


def as_tiles(task: tuple[str, str, str, str, int, bool]) -> dict[str, Any]:
    """Solve it by tiles."""
    left, right, preset, output, tile, dask = task
    start = time.perf_counter()
    if dask:
        from distributed import Client

        with Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
            record = dualpix.tiles(left, right, output, preset, tile=tile, scheduler=client, force=True)
    else:
        record = dualpix.tiles(left, right, output, preset, tile=tile, force=True)
    seconds = time.perf_counter() - start
    kept = {name: record[name] for name in ("tiles", "timings", "searched")}
    return {"seconds": seconds, "main_megabytes": peak_megabytes(), **kept}


def differences(folder: Path, output: Path) -> dict[str, float]:
    """How far the tiles are from the whole."""
    one, sure = np.load(folder / "whole.npy"), np.load(folder / "whole-confidence.npy") > SURE
    error = np.abs(tifffile.imread(output) - one)
    trusted = error[sure]
    return {
        "confident": float(sure.mean()),
        "largest": float(trusted.max()),
        "99 %": float(np.quantile(trusted, 0.99)),
        "99.9 %": float(np.quantile(trusted, 0.999)),
        "above tolerance": float(np.mean(trusted > TOLERANCE)),
        "pixels above": int((trusted > TOLERANCE).sum()),
        "99 % of all pixels": float(np.quantile(error, 0.99)),
        "largest of all pixels": float(error.max()),
    }


def main() -> None:
    """Print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--megapixels", type=float, default=100)
    parser.add_argument("--tile", type=int, default=2048)
    parser.add_argument("--preset", default="auto")
    parser.add_argument("--dask", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    left, right = (str(path) for path in make_pair(args.folder, args.megapixels))

    def call(function: Callable[[Any], dict[str, Any]], task: tuple[Any, ...]) -> dict[str, Any]:
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            return process.submit(function, task).result()

    found: dict[str, Any] = {"whole": call(whole, (left, right, args.preset))}
    output = args.folder / "tiles.tif"
    found["tiles"] = call(as_tiles, (left, right, args.preset, str(output), args.tile, False))
    found["difference"] = differences(args.folder, output)
    if args.dask:
        other = args.folder / "dask.tif"
        found["dask"] = call(as_tiles, (left, right, args.preset, str(other), args.tile, True))
        digests = {hashlib.blake2b(path.read_bytes()).hexdigest() for path in (output, other)}
        found["same bytes"] = len(digests) == 1
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
