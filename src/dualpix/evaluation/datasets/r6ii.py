"""r6ii: Canon R6 II pairs with measured depth, of the Sdirt set (ICCV 2025)."""

from pathlib import Path

import numpy as np

from ...errors import InputError
from ...io import read_image, read_pair
from ...types import Map
from ..outcomes import Scene
from ..truth import unit_range
from .layout import Image, Layout, affine_scores, by_name, folders_with, one_channel

NEAREST, FARTHEST = 0.1, 10.0  # m; other depths are unknown


def find(folder: Path) -> dict[str, Path]:
    """Every folder with l.png, r.png and d.png. Those under flat/ hold planes for calibration, not scenes."""
    found = folders_with({"l.png", "r.png", "d.png"}, folder)
    return by_name(place for place in found if "flat" not in place.relative_to(folder).parts)


def read(name: str, folder: Path) -> Scene:
    """The views and the inverse depth. The depth map may be larger than the views, with the same aspect ratio."""
    pair = read_pair(folder / "l.png", folder / "r.png")
    depth = read_image(folder / "d.png")
    (height, width), (rows, columns) = pair.left.shape[:2], depth.shape[:2]
    if rows * width != columns * height or rows < height:
        raise InputError(
            f"{folder / 'd.png'}: is {columns}x{rows} but the views are {width}x{height}: give a depth map of their "
            "size, or a larger one of the same aspect ratio"
        )
    return Scene(name, pair.left, pair.right, None, inverse_depth(depth, (height, width)))


def inverse_depth(depth: Image, shape: tuple[int, int]) -> Map:
    """Inverse depth, scaled to 0..1 over the scene, NaN where the depth is unknown.

    Parameters
    ----------
    depth : image
        In millimetres if 16 bit, in 10/255 m if 8 bit.
    shape : (int, int)
        Height and width of the result.
    """
    import cv2

    plane = one_channel(depth)
    if plane.shape != shape:
        plane = np.asarray(cv2.resize(plane, shape[::-1], interpolation=cv2.INTER_NEAREST))
    metres = plane.astype(np.float32) / (1000 if plane.dtype == np.uint16 else 25.5)
    known = (metres > NEAREST) & (metres < FARTHEST)
    return unit_range(np.divide(1, metres, out=np.full(shape, np.nan, np.float32), where=known))


LAYOUT = Layout("folders with l.png, r.png and d.png", find, read, affine_scores("proper"))
