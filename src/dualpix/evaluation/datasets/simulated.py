"""simulated: rendered dual-pixel pairs with the exact disparity of the left view."""

from pathlib import Path

import numpy as np

from ...errors import InputError
from ...io import read_map, read_pair
from ...types import Map, same_size
from ..metrics import pixel_errors
from ..metrics.pixels import CROP
from ..outcomes import Scene, Scores
from .layout import Layout, by_name, folders_with, numbers

FILES = ("l.png", "r.png", "d.npy")


def find(folder: Path) -> dict[str, Path]:
    """Every folder with l.png, r.png and d.npy."""
    return by_name(folders_with({*FILES}, folder))


def read(name: str, folder: Path) -> Scene:
    """The views and the signed disparity in pixels, NaN where unknown."""
    left, right, file = (folder / each for each in FILES)
    pair, truth = read_pair(left, right), read_map(file)
    same_size((str(left), pair.left.shape), (str(file), truth.shape))
    height, width = truth.shape
    if min(height, width) <= 2 * CROP:
        raise InputError(f"{left}: is {width}x{height}, but a border of {CROP} px is not scored: give larger pictures")
    if not np.isfinite(truth[CROP:-CROP, CROP:-CROP]).any():
        raise InputError(f"{file}: has no known disparity inside the border of {CROP} px: give at least one")
    return Scene(name, pair.left, pair.right, None, truth, in_pixels=True)


def score(scene: Scene, disparity: Map, confidence: Map | None) -> Scores:
    """Errors in pixels after one gain is fitted, and the order of the confidence."""
    return {"proper": numbers(pixel_errors(disparity, scene.truth, confidence))}


LAYOUT = Layout("folders with l.png, r.png and d.npy", find, read, score, measure=("proper", "mae"))
