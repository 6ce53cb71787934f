"""A huge picture as tiles against the same picture as a whole: differences, memory and time.

    python benchmarks/tiles.py FOLDER [--megapixels 100] [--tile 2048] [--dask] [--preset auto]
    python benchmarks/tiles.py FOLDER --preset stereo --megapixels 24

A pair is made in FOLDER as two tiled TIFF files: from rendered scenes, mirrored and with noise of their own, or for
the presets of stereo a town from above, with disparities of up to 240 px. It is
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
TOWN = 20, 240, 500  # px: least and largest disparity, and the largest house


def make_pair(folder: Path, megapixels: float, stereo: bool) -> list[Path]:
    """Two tiled TIFF files."""
    if stereo:
        height = round(1000 * math.sqrt(megapixels * 3 / 4)) + 1
        views = town((height, height * 4 // 3), *TOWN)
    else:
        views = scenes(megapixels)
    paths = [folder / "left.tif", folder / "right.tif"]
    for path, view in zip(paths, views, strict=True):
        tifffile.imwrite(path, view, tile=(512, 512), compression="zlib", photometric="minisblack")
    return paths


def scenes(megapixels: float) -> np.ndarray:
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
    return views


def town(shape: tuple[int, int], low: float, high: float, block: int, seed: int = 7) -> np.ndarray:
    """Two views of houses on hills, grey, 8 bit, with disparities from `low` to `high` px.

    Houses are `block` px wide or less. Some are blank. Pixels of the left view that the right one does not see have a
    texture of their own.
    """
    rng = np.random.default_rng(seed)
    height, width = shape
    hills = _rough(rng, shape, 2 * block)
    d = low + (high - low) * np.clip(0.3 + 0.15 * hills, 0, 0.6)
    contrast = np.clip(0.6 + 0.3 * _rough(rng, shape, block), 0.02, 1)
    for _ in range(4 * height * width // block**2):
        y, x = rng.integers(0, height), rng.integers(0, width)
        at = slice(y, y + rng.integers(block // 6, block)), slice(x, x + rng.integers(block // 6, block))
        slope = np.linspace(-0.02, 0.02, d[at].shape[1])  # of the range, across a roof
        d[at] = low + (high - low) * np.clip(rng.uniform(0.2, 0.97) + slope * rng.normal(), 0, 1)
        contrast[at] = rng.choice([0.03, 0.3, 0.6, 1])
    ground = 128 + 28 * (_rough(rng, shape, 1) + _rough(rng, shape, 4) + _rough(rng, shape, 16)) / math.sqrt(3)
    # left(x) = right(x - d), by an inverse warp: the contrast belongs to the things that the left view sees
    y, x = np.indices(shape, np.float32)
    left = cv2.remap(ground.astype(np.float32), x - d.astype(np.float32), y, cv2.INTER_CUBIC, None, cv2.BORDER_REFLECT)
    met = np.clip(np.rint(x - d).astype(np.int64), 0, width - 1) + width * y.astype(np.int64)
    nearest = np.full(height * width, -np.inf)
    np.maximum.at(nearest, met.ravel(), d.ravel())
    hidden = (d < nearest[met] - 1) | (x < d)
    left[hidden] = 128 + 28 * _rough(rng, shape, 2)[hidden]
    shared = np.ones(height * width, np.float32)  # the contrast of what the right view sees
    order = np.argsort(d, axis=None)
    shared[met.ravel()[order]] = contrast.ravel()[order]
    views = 128 + contrast * (left - 128), 128 + shared.reshape(shape) * (ground - 128)
    noisy = [view + rng.normal(0, NOISE, shape) for view in views]
    return np.clip(np.rint(noisy), 0, 255).astype(np.uint8)


def _rough(rng: np.random.Generator, shape: tuple[int, int], scale: int) -> np.ndarray:
    """Noise whose details have that size, px, of mean 0 and STD 1."""
    size = max(shape[1] // scale + 4, 4), max(shape[0] // scale + 4, 4)
    noise = cv2.GaussianBlur(rng.standard_normal(size[::-1]).astype(np.float32), (0, 0), 1)
    noise = cv2.resize(noise, shape[::-1], interpolation=cv2.INTER_CUBIC)
    return np.asarray((noise - noise.mean()) / noise.std())


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
        "above tolerance of all pixels": float(np.mean(error > TOLERANCE)),
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
    left, right = (str(path) for path in make_pair(args.folder, args.megapixels, args.preset.startswith("stereo")))

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
