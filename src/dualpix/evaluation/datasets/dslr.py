"""dslr: Canon pairs with ground truth, of Punnappurath et al. (ICCP 2020)."""

import re
from pathlib import Path

import numpy as np

from ...errors import InputError
from ...io import read_pair
from ...types import same_size
from ..outcomes import Scene
from .layout import Layout, affine_scores, read_relative

FILE = re.compile(r"(.+)_([LRD])\.(?:jpe?g|png|tiff?)", re.IGNORECASE)

# The published evaluation leaves out a border of 100 px, but only 99 rows and columns at the top and left.
BORDER = 100
SCORED = slice(BORDER - 1, -BORDER)


def find(folder: Path) -> dict[str, Path]:
    """NNN_L, NNN_R and NNN_D are one scene; each place is ``folder/NNN``."""
    found = (FILE.fullmatch(path.name) for path in folder.iterdir())
    return {stem: folder / stem for stem in sorted({each[1] for each in found if each})}


def read(name: str, stem: Path) -> Scene:
    """The views and the ground truth, which is relative and larger where nearer.

    NNN_B, the sum of both views, is no guide: it lies half a disparity beside the map of the left view.
    """
    left, right, truth_file = (_file(stem, letter) for letter in "LRD")
    pair = read_pair(left, right)
    known = read_relative(truth_file)
    same_size((str(left), pair.left.shape), (str(truth_file), known.shape))
    height, width = known.shape
    if min(height, width) < 2 * BORDER:
        raise InputError(
            f"{left}: is {width}x{height}, but a border of {BORDER} px is not scored: give larger pictures"
        )
    truth = np.full_like(known, np.nan)
    truth[SCORED, SCORED] = known[SCORED, SCORED]
    return Scene(name, pair.left, pair.right, None, truth)


def _file(stem: Path, letter: str) -> Path:
    """The file of the scene with that letter, whatever its suffix."""
    for path in sorted(stem.parent.iterdir()):
        found = FILE.fullmatch(path.name)
        if found and found[1] == stem.name and found[2].upper() == letter:
            return path
    raise InputError(f"{stem}_{letter}: no such .jpg, .png or .tif: add it or remove the rest of the scene")


LAYOUT = Layout("NNN_L.jpg, NNN_R.jpg and NNN_D.TIF", find, read, affine_scores("paper-dslr", "proper"))
