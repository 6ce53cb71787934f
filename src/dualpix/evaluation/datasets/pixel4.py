"""pixel4: raw Pixel 4 captures with defocus maps, of Xin et al. (ICCV 2021)."""

from pathlib import Path

import numpy as np

from ...io import read_image, read_pair
from ...types import Map, same_size
from ..outcomes import Scene
from .layout import Image, Layout, affine_scores, one_channel, read_relative

SIDES = ("left", "right")
SHEET = "calibration/white_sheet_{}.png"  # a photograph of a white sheet, by side
BLACK = 1024  # raw value of black
WHITE_PERCENTILE = 99.5  # of the left view; shown as white
GAMMA = 1 / 2.2
SHEET_BLUR = 20.0  # px, STD of the Gaussian that removes the noise of a white sheet


def find(folder: Path) -> dict[str, Path]:
    """NNN_left.png, NNN_right.png and NNN_gt.png are one scene; each place is ``folder/NNN``."""
    if not all((folder / SHEET.format(side)).is_file() for side in SIDES):
        return {}
    files = (path for pattern in ("*_left.png", "*_right.png", "*/*_gt.png") for path in folder.glob(pattern))
    return {name: folder / name for name in sorted({path.name.rpartition("_")[0] for path in files})}


def read(name: str, stem: Path) -> Scene:
    """The raw green planes, divided by the white sheets and brought to display gamma, and the truth.

    The truth covers the middle two thirds of the views. It is stored larger where farther, and 0 where unknown.
    """
    folder = stem.parent
    pair = read_pair(*(folder / f"{stem.name}_{side}.png" for side in SIDES))
    views = [
        _without_vignetting(view, folder / f"{stem.name}_{side}.png", folder / SHEET.format(side))
        for side, view in zip(SIDES, (pair.left, pair.right), strict=True)
    ]
    white = max(float(np.percentile(views[0], WHITE_PERCENTILE)), 1e-6)
    left, right = (np.clip(view / white, 0, 1, dtype=np.float32) ** GAMMA for view in views)
    height, width = left.shape
    file = folder / f"gt_defocus_map/{stem.name}_gt.png"
    known = read_relative(file)
    rows, columns = 2 * height // 3, 2 * width // 3
    same_size((f"two thirds of {stem.name}_left.png", (rows, columns)), (str(file), known.shape))
    truth = np.full_like(left, np.nan)
    y, x = (height - rows) // 2, (width - columns) // 2
    truth[y : y + rows, x : x + columns] = np.where(known > 0, 1 - known, np.nan)
    return Scene(name, left, right, None, truth)


def _without_vignetting(view: Image, file: Path, sheet_file: Path) -> Map:
    plane, sheet = one_channel(view), one_channel(read_image(sheet_file))
    same_size((str(file), plane.shape), (str(sheet_file), sheet.shape))
    return divided_by_sheet(plane, sheet, BLACK)


def divided_by_sheet(view: Image, sheet: Image, black: float) -> Map:
    """The light of a raw view, divided by that of a white sheet, which removes vignetting.

    Parameters
    ----------
    view, sheet : HxW array
        Raw values of the same side. The sheet is blurred to remove its noise.
    black : float
        The raw value of black.
    """
    import cv2

    white = cv2.GaussianBlur(sheet.astype(np.float32) - black, (0, 0), SHEET_BLUR)
    light: Map = np.maximum(view.astype(np.float32) - black, 0)
    light /= np.maximum(white, 1)
    return light


LAYOUT = Layout(
    "NNN_left.png, NNN_right.png, gt_defocus_map/NNN_gt.png and calibration/white_sheet_left.png and _right.png",
    find,
    read,
    affine_scores("proper"),
)
