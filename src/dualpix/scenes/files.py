"""A set of scenes as a folder: one folder a scene, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..camera.optics import Optics
from ..errors import OutputError
from ..files import parse_json, read_text
from ..io import OutputSet, encode_map, encode_png, output_folder
from ..io.sidecar import SIGN, statistics, to_json
from ..params.rules import Whole, check
from ..run import Progress, Step
from .draw import draw
from .make import Shot, make
from .recipe import Recipe

NAMES = ("l.png", "r.png", "d.npy", "scene.json")  # the last one completes a scene
COUNT, SEED, SIDE = Whole(1, 100_000), Whole(0, 2**32 - 1), Whole(32, 4096)


class Written(NamedTuple):
    """How many scenes were written, and how many were there already."""

    made: int
    kept: int


def write_scenes(
    folder: str | Path,
    count: int = 50,
    seed: int = 0,
    size: tuple[int, int] = (640, 448),
    optics: Optics | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Render a set of random scenes into a folder.

    Scene k is ``folder/00k`` with the views ``l.png`` and ``r.png``, the disparity of the left view ``d.npy`` (float32,
    ``x_left - x_right`` in pixels, larger is nearer, NaN where unknown) and all choices, ``scene.json``. It does not
    depend on `count`. A scene that is there already is kept, so an interrupted run goes on where it was.

    Parameters
    ----------
    folder
        Made if missing.
    count
        How many scenes.
    seed
        The same seed gives the same files.
    size
        Width and height of the views, in pixels.
    optics
        Those of all scenes; without, every scene has its own random `Pupil`.
    force
        Replace scenes that are there.
    progress
        Called with a `Step` when a scene begins.

    Raises
    ------
    OutputError
        If a file cannot be written, or a folder holds another scene and `force` is not set. This is checked first.
    """
    count, seed = check("count", count, COUNT), check("seed", seed, SEED)
    width, height = (check("size", side, SIDE) for side in size)
    with output_folder(folder):
        wanted = [draw(seed, number, width, height, optics) for number in range(count)]
        todo = [recipe for recipe in wanted if force or not _is_there(_place(folder, recipe), recipe)]
        for done, recipe in enumerate(todo):
            if progress:
                progress(Step("rendering", done / len(todo), done + 1, len(todo), "scene"))
            _write(_place(folder, recipe), recipe, force)
    return Written(len(todo), count - len(todo))


def _place(folder: str | Path, recipe: Recipe) -> Path:
    return Path(folder) / f"{recipe.number:03d}"


def _is_there(place: Path, recipe: Recipe) -> bool:
    """Whether the folder holds this scene.

    Raises
    ------
    OutputError
        If it holds something else.
    """
    if place.exists() and not place.is_dir():
        raise OutputError(f"{place}: is not a folder: choose another place")
    if not any((place / name).exists() for name in NAMES):
        return False
    try:
        found = parse_json(read_text(place / NAMES[-1]))["scene"]
    except (OSError, ValueError, KeyError, TypeError):
        found = None
    if found != json.loads(to_json(recipe.record())) or not all((place / name).exists() for name in NAMES):
        raise OutputError(f"{place}: holds another scene: choose another folder, or force=True to replace it")
    return True


def _write(place: Path, recipe: Recipe, force: bool) -> None:
    paths = [place / name for name in NAMES]
    with output_folder(place), OutputSet(paths, force=force) as files:
        for path, data in zip(paths, _contents(make(recipe), recipe), strict=True):
            files.write(path, data)


def _contents(shot: Shot, recipe: Recipe) -> Iterator[bytes | memoryview]:
    """The files in the order of `NAMES`."""
    yield encode_png(shot.left)
    yield encode_png(shot.right)
    yield encode_map("d.npy", shot.disparity)
    record = {
        "sign": SIGN["x", False],
        "unit": "pixels of the views",
        "disparity": statistics(shot.disparity),
        "scene": recipe.record(),
    }
    yield to_json(record).encode()
