"""google: Pixel 3 captures with depth from several cameras, of Garg et al. (ICCV 2019)."""

from pathlib import Path

import numpy as np

from ...errors import InputError
from ...io import read_image, read_map, read_pair
from ...io.captures import find_capture
from ...types import Map, same_size
from ..metrics import affine_invariant
from ..outcomes import Scene, Scores
from .layout import Image, Layout, by_name, numbers, read_relative

FOLDERS = ("left_pd", "right_pd", "scaled_images", "merged_depth", "merged_conf")

# Rows and columns in the middle of the views.
MATCHED = (1344, 1008)
SCORED = (1024, 768)


def find(folder: Path) -> dict[str, Path]:
    """The captures in this folder or, if it is split into train and test, in the folders inside.

    A capture has a folder of its name in each of FOLDERS; its place is ``root/name``.
    """
    inner = (path for path in sorted(folder.iterdir()) if path.is_dir())
    roots = [folder] if (folder / "left_pd").is_dir() else [path for path in inner if (path / "left_pd").is_dir()]
    parts = (root / part for root in roots for part in FOLDERS)
    captures = (capture for part in parts if part.is_dir() for capture in part.iterdir() if capture.is_dir())
    return by_name(capture.parents[1] / capture.name for capture in captures)


def read(name: str, place: Path) -> Scene:
    """The middle of the views, which differ along y, with the truth at their size.

    Guide, depth and confidence are stored at half the size of the views. Depth is stored larger where farther.
    """
    import cv2

    root, capture = place.parent, place.name
    files = find_capture(root, capture)
    depth_file = root / "merged_depth" / capture / "result_merged_depth_center.png"
    weight_file = root / "merged_conf" / capture / "result_merged_conf_center.npy"
    pair, picture = read_pair(*files[:2]), read_image(files.guide)
    depth, weight = read_relative(depth_file), read_map(weight_file)
    height, width = pair.left.shape[:2]
    if height % 2 or width % 2:
        raise InputError(f"{files.left}: is {width}x{height}: give views of even width and height")
    same_size(
        (f"half of {files.left}", (height // 2, width // 2)),
        (str(files.guide), picture.shape),
        (str(depth_file), depth.shape),
        (str(weight_file), weight.shape),
    )
    if not (weight >= 0).all():
        raise InputError(f"{weight_file}: holds negative or unknown values: give weights of 0 or more")
    guide = cv2.resize(picture, (width, height), interpolation=cv2.INTER_CUBIC)
    left, right, guide, known, weight = (
        np.ascontiguousarray(_middle(image, MATCHED))
        for image in (pair.left, pair.right, guide, _doubled(1 - depth), _doubled(weight))
    )
    truth = np.full_like(known, np.nan)
    _middle(truth, SCORED)[:] = _middle(known, SCORED)
    return Scene(name, left, right, guide, truth, weight=weight, axis="y")


def score(scene: Scene, disparity: Map, confidence: Map | None) -> Scores:
    """Scores at the size of the stored ground truth, over the part that is scored and nothing around it.

    The paper takes its 256 levels from that part. It ranks ties in scan order, so for its protocol the truth must be
    turned back to how it is stored: larger where farther.
    """
    import cv2

    assert scene.weight is not None
    disparity, truth, weight = (_middle(values, SCORED) for values in (disparity, scene.truth, scene.weight))
    height, width = disparity.shape
    half = cv2.resize(disparity, (width // 2, height // 2), interpolation=cv2.INTER_AREA)
    truth, weight = truth[::2, ::2], weight[::2, ::2]
    return {
        protocol: numbers(affine_invariant(half, known, protocol, weight))
        for protocol, known in (("paper-google", 1 - truth), ("proper", truth))
    }


def _doubled(values: Map) -> Map:
    return values.repeat(2, axis=0).repeat(2, axis=1)


def _middle(values: Image, shape: tuple[int, int]) -> Image:
    """At most that many rows and columns, from the middle.

    The first row and column are even, so that a doubled map starts with both pixels of a pair.
    """
    y, x = (max(whole - part, 0) // 4 * 2 for whole, part in zip(values.shape, shape, strict=False))
    return values[y : y + shape[0], x : x + shape[1]]


LAYOUT = Layout(", ".join(FOLDERS), find, read, score)
