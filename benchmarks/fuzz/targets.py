"""What is fuzzed: every kind of file, and the readers that it is given to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dualpix.batches.manifest import read_manifest
from dualpix.camera.lens_file import read_calibration
from dualpix.evaluation.cache import read_outcome
from dualpix.io import ImageInfo, probe, raw, read_image, read_map, read_one
from dualpix.io.hints import as_hints, painted
from dualpix.io.inspection import file_line, file_record, json_line, json_record
from dualpix.io.orientation import swaps_axes
from dualpix.io.photos import read_photo
from dualpix.io.pictures import origin
from dualpix.io.recorded import read_recorded
from dualpix.io.video import probe_video, read_video
from dualpix.io.windows import by_windows
from dualpix.networks.file import read_network
from dualpix.params.config import load_config

from .oracle import Told, Wrong

Reader = Callable[[str, Told], None]
CORPUS = Path(__file__).parent / "corpus"
_ITEM = {"uint8": 1, "uint16": 2}
_SIDECAR_MAP = "map.png"  # the map beside a sidecar


class Kind(NamedTuple):
    """A kind of file: its name on the disk, its readers, and how often it is chosen."""

    file: str
    readers: tuple[Reader, ...]
    weight: int = 1


# ---- readers -------------------------------------------------------------------------------------


def _announced(path: str, told: Told) -> ImageInfo:
    info = probe(path)
    told.picture(info.width, info.height, info.channels, _ITEM.get(info.dtype, 4))
    return info


def _check(values: Any, shape: tuple[int, int], dtypes: tuple[str, ...], infinite: bool = False) -> None:
    if values.shape[:2] != shape:
        raise Wrong(f"the shape is {values.shape}, the header says {shape}")
    if values.dtype.name not in dtypes or values.ndim > 3 or values.shape[2:] not in ((), (3,)):
        raise Wrong(f"{values.dtype} {values.shape}")
    if values.dtype.kind == "f" and not infinite and np.isinf(values).any():
        raise Wrong("infinite values")


def image(path: str, told: Told) -> None:
    info = _announced(path, told)
    shape = (info.width, info.height) if swaps_axes(info.orientation) else (info.height, info.width)
    _check(read_image(path), shape, ("uint8", "uint16", "float32"))


def map_(path: str, told: Told) -> None:
    info = _announced(path, told)
    values = read_map(path)
    _check(values, (info.height, info.width), ("float32",))
    if values.ndim != 2:
        raise Wrong(f"a map of shape {values.shape}")


def pair(path: str, told: Told) -> None:
    _raw_or_picture(path, told)
    found = read_one(path)
    _check(found.right, found.left.shape[:2], ("uint8", "uint16", "float32"))


def photo(path: str, told: Told) -> None:
    _raw_or_picture(path, told)
    picture = read_photo(path)
    _check(picture, picture.shape[:2], ("uint8", "uint16", "float32"))


def kept(path: str, told: Told) -> None:
    """The profile and the EXIF data that a new version of the photo keeps."""
    origin(path, 3)


def info(path: str, told: Told) -> None:
    _raw_or_picture(path, told, must=False)
    file_line(file_record(path))


def window(path: str, told: Told) -> None:
    picture = by_windows(path)
    if picture is None:
        return
    height, width = (min(side, 40) for side in picture.shape[:2])
    told.picture(width, height, 3, 8)
    _check(picture.window(slice(0, height), slice(0, width)), (height, width), ("uint8", "uint16", "float32"))


def _raw_or_picture(path: str, told: Told, must: bool = True) -> None:
    """Note what the header announces. A raw file is measured by LibRaw."""
    from dualpix.errors import DualpixError

    try:
        if path.endswith((".dng", ".cr2")):
            height, width = raw.size(path)
            told.picture(width, height, 3, 2)
        else:
            _announced(path, told)
    except DualpixError:
        if must and not path.endswith((".dng", ".cr2")):
            raise


def sidecar(path: str, told: Told) -> None:
    """The record of a map that is beside it."""
    folder = os.path.dirname(path)
    beside = os.path.join(folder, _SIDECAR_MAP)
    if not os.path.exists(beside):
        Path(beside).write_bytes((CORPUS / "png" / "grey16.png").read_bytes())
    if (record := json_record(path)) is not None:
        json_line(record)
    values, _, _ = read_recorded(beside)
    if values.dtype != np.float32 or values.ndim != 2:
        raise Wrong(f"a map of {values.dtype} {values.shape}")
    file_line(file_record(beside))


def calibration(path: str, told: Told) -> None:
    read_calibration(path)


def params(path: str, told: Told) -> None:
    load_config(path)


def manifest(path: str, told: Told) -> None:
    read_manifest(path)


def cache(path: str, told: Told) -> None:
    told.size = os.path.getsize(path)
    outcome = read_outcome(Path(path))
    for values in () if outcome is None else (outcome.disparity, outcome.confidence):
        if values is not None and (values.dtype, values.ndim) != (np.float32, 2):
            raise Wrong(f"a map of {values.dtype} {values.shape}")


def hints(path: str, told: Told) -> None:
    told.picture(200, 100, 1, 4)
    painted(as_hints(path), (100, 200))


def network(path: str, told: Told) -> None:
    """Our own look at the file. ONNX Runtime is not fuzzed."""
    read_network(path)


def video(path: str, told: Told) -> None:
    found = probe_video(path)
    told.picture(found.width, found.height, 3, 2)
    for number, frame in enumerate(read_video(path)):
        _check(frame, (found.height, found.width), ("uint8", "uint16"))
        if number == 3:
            return


# ---- kinds ---------------------------------------------------------------------------------------

_PICTURE = (image, image, map_, pair, info, kept)
KINDS: dict[str, Kind] = {
    "png": Kind("a.png", _PICTURE, 6),
    "jpeg": Kind("a.jpg", _PICTURE, 6),
    "tiff": Kind("a.tif", (*_PICTURE, window, window), 6),
    "pnm": Kind("a.pgm", _PICTURE, 3),
    "webp": Kind("a.webp", _PICTURE, 2),
    "avif": Kind("a.avif", _PICTURE, 1),
    "heic": Kind("a.heic", _PICTURE, 1),
    "bmp": Kind("a.bmp", _PICTURE, 2),
    "jp2": Kind("a.jp2", _PICTURE, 2),
    "pfm": Kind("a.pfm", (map_, info), 2),
    "npy": Kind("a.npy", (map_, info, window), 3),
    "exr": Kind("a.exr", (map_, info), 2),
    "dng": Kind("a.dng", (pair, photo, info), 1),
    "cr2": Kind("a.cr2", (pair, photo, info), 1),
    "mpo": Kind("a.mpo", (pair, photo, info), 3),
    "depth-photo": Kind("a.jpg", (image, info, kept), 2),
    "ply": Kind("a.ply", (info,), 2),
    "glb": Kind("a.glb", (info,), 2),
    "sidecar": Kind("map.json", (sidecar,), 3),
    "calibration": Kind("a.json", (calibration,), 3),
    "params": Kind("a.toml", (params,), 3),
    "manifest-csv": Kind("a.csv", (manifest,), 3),
    "manifest-jsonl": Kind("a.jsonl", (manifest,), 3),
    "cache": Kind("a.npz", (cache,), 3),
    "hints": Kind("a.json", (hints,), 3),
    "video": Kind("a.mkv", (video,), 1),
    "onnx": Kind("a.onnx", (network,), 3),
}


def seeds(kind: str) -> list[bytes]:
    """The files of the corpus of one kind, always in the same order."""
    return [path.read_bytes() for path in sorted((CORPUS / kind).iterdir())]
