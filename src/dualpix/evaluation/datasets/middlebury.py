"""middlebury: version 3 of the Middlebury stereo benchmark, at any of its sizes."""

import re
from pathlib import Path

import numpy as np

from ...errors import InputError
from ...io import probe, read_image, read_map, read_pair
from ...io.captures import known_range
from ...types import Map, same_size
from ..metrics import bad_pixels
from ..outcomes import Scene, Scores
from .layout import Layout, by_name, folders_with, numbers, one_channel

TRUTH, MASK = "disp0GT.pfm", "mask0nocc.png"
LEVELS = 3  # The ground truth is searched beside this many folders above the scene.
VISIBLE = 255  # value of the mask where both views see the pixel


def find(folder: Path) -> dict[str, Path]:
    """Every folder with im0.png and im1.png."""
    return by_name(folders_with({"im0.png", "im1.png"}, folder))


def read(name: str, folder: Path) -> Scene:
    """The views and the disparity in pixels, which is known where both views see the pixel."""
    left = folder / "im0.png"
    pair = read_pair(left, folder / "im1.png")
    truth_file = _truth_file(folder, left, pair.left.shape[:2])
    mask_file = truth_file.with_name(MASK)
    truth, mask = read_map(truth_file), one_channel(read_image(mask_file))
    same_size((str(truth_file), truth.shape), (str(mask_file), mask.shape))
    truth[(mask != VISIBLE) | ~(truth > 0)] = np.nan
    disparities = known_range(left, pair.left.shape[1])
    if disparities is None:
        raise InputError(
            f"{folder / 'calib.txt'}: no such file: add it with a line ndisp=N, the number of disparities to search"
        )
    return Scene(name, pair.left, pair.right, None, truth, in_pixels=True, range=disparities)


def score(scene: Scene, disparity: Map, confidence: Map | None) -> Scores:
    """Bad pixels and RMSE in both protocols of stereo."""
    return {p: numbers(bad_pixels(disparity, scene.truth, protocol=p)) for p in ("paper-stereo", "proper")}


def _truth_file(scene: Path, left: Path, shape: tuple[int, ...]) -> Path:
    """The disp0GT.pfm of a scene: in its folder or, if it is not there, in a parallel tree.

    If several are found, one of the size of the views is chosen.
    """
    own = scene / TRUTH
    found = [own] if own.is_file() else _in_parallel_trees(scene)
    if not found:
        raise InputError(
            f"{own}: no such file, nor in a parallel tree: unpack the ground truth into the scene's folder"
        )
    sizes = {file: (probe(file).height, probe(file).width) for file in found}
    fitting = next((file for file, size in sizes.items() if size == shape), found[0])
    same_size((str(left), shape), (str(fitting), sizes[fitting]))
    return fitting


def _in_parallel_trees(scene: Path) -> list[Path]:
    """Ground truth of the scene in other trees of folders.

    A parallel tree stands beside the scene's own tree or in it, and holds the scene under the same name or path. For
    MiddEval3/trainingQ/Teddy it may be MiddEval3/GT/Teddy, MiddEval3/GT/trainingQ/Teddy or
    MiddEval3-GT/trainingQ/Teddy.
    """
    path = scene.resolve()
    above = [path, *path.parents][: LEVELS + 2]
    tails = [path.relative_to(each) / TRUTH for each in above[1 : LEVELS + 1]]
    return [
        file
        for k, tail in enumerate(tails, 1)
        for tree in above[k : k + 2]
        for file in sorted(tree.glob(f"*/{_literal(tail)}"))
    ]


def _literal(path: Path) -> str:
    """The glob pattern that matches this path only."""
    return re.sub(r"([*?[])", r"[\1]", path.as_posix())


LAYOUT = Layout(
    f"folders with im0.png, im1.png, calib.txt, {TRUTH} and {MASK}",
    find,
    read,
    score,
    measure=("proper", "bad_1"),
    method="stereo",
)
