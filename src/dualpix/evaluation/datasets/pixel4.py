"""pixel4: raw Pixel 4 captures with defocus maps, of Xin et al. (ICCV 2021)."""

from pathlib import Path

import numpy as np

from ...camera.sheet import divided, white_sheets
from ...io import read_pair
from ...types import same_size
from ..outcomes import Scene
from .layout import Layout, affine_scores, one_channel, read_relative

SIDES = ("left", "right")
SHEET = "calibration/white_sheet_{}.png"  # a photograph of a white sheet, by side
BLACK = 1024.0  # raw value of black
WHITE_PERCENTILE = 99.5  # of the left view; shown as white
GAMMA = 1 / 2.2


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
    pair, sheets = (
        read_pair(*(folder / pattern.format(side) for side in SIDES)) for pattern in (f"{stem.name}_{{}}.png", SHEET)
    )
    same_size((pair.name("left"), pair.shape), (sheets.name("left"), sheets.shape))
    gains = white_sheets([sheets], BLACK).gains(pair.shape)
    views = [
        divided(one_channel(view).astype(np.float32) - np.float32(BLACK), gain)
        for view, gain in zip((pair.left, pair.right), gains, strict=True)
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


LAYOUT = Layout(
    "NNN_left.png, NNN_right.png, gt_defocus_map/NNN_gt.png and calibration/white_sheet_left.png and _right.png",
    find,
    read,
    affine_scores("proper"),
)
