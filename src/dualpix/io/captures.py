"""What files know about a capture: the folders of Google's set, pixels that are not square, black levels, calib.txt."""

import math
import os
import re
import reprlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..types import Map
from . import Pair, read_image, read_pair

Image = npt.NDArray[Any]

# ---- the folders of Google's dual-pixel set ------------------------------------------------------

_LEFT = re.compile(r"result_leftPd_(\w+)\.png")


class CaptureFiles(NamedTuple):
    """The files of one capture, all there."""

    left: Path
    right: Path
    guide: Path


def find_capture(path: str | os.PathLike[str], capture: str | None = None) -> CaptureFiles:
    """Find the views and the guide of a capture of Google's dual-pixel set.

    Parameters
    ----------
    path
        The folder that holds ``left_pd`` and ``right_pd``, or the left view of a capture,
        ``left_pd/<capture>/result_leftPd_center.png``.
    capture
        The capture's name, where path is a folder with several.

    Raises
    ------
    InputError
        If a file is missing; the sentence names what was looked for.
    """
    path = Path(path)
    if path.is_dir():
        path = path / "left_pd" / (capture or _only_capture(path)) / "result_leftPd_center.png"
    named = _LEFT.fullmatch(path.name)
    if not named or path.parent.parent.name != "left_pd":
        raise InputError(f"{path}: is no left_pd/<capture>/result_leftPd_center.png, nor a folder that holds left_pd")
    root, capture, phone = path.parents[2], path.parent.name, named[1]
    files = CaptureFiles(
        path,
        root / "right_pd" / capture / f"result_rightPd_{phone}.png",
        root / "scaled_images" / capture / f"result_scaled_image_{phone}.jpg",
    )
    for role, file in zip(("left view", "right view", "guide"), files, strict=True):
        if not file.is_file():
            raise InputError(f"{file}: no such file: it is where the {role} of capture {capture} belongs")
    return files


def read_capture(path: str | os.PathLike[str], capture: str | None = None) -> Pair:
    """Read a capture of Google's dual-pixel set; see `find_capture`.

    The views are shifted along y. The guide, stored at half the size, is brought to that of the views.
    """
    files = find_capture(path, capture)
    views = read_pair(files.left, files.right)
    guide = enlarge(read_image(files.guide), views.left.shape[:2], str(files.guide))
    return Pair(views.left, views.right, guide, {name: str(file) for name, file in files._asdict().items()})


def enlarge(guide: Image, shape: tuple[int, ...], name: str) -> Image:
    """Bring a guide, stored at a whole fraction of the size of the views, to their shape."""
    import cv2

    height, width = guide.shape[:2]
    factor = max(shape[1] // width, 1)
    if (factor * height, factor * width) != shape:
        raise InputError(
            f"{name} is {width}x{height}, no whole fraction of the {shape[1]}x{shape[0]} of the views: "
            "give the guide of this capture"
        )
    return np.asarray(cv2.resize(guide, shape[::-1], interpolation=cv2.INTER_LINEAR))


def _only_capture(root: Path) -> str:
    folder = root / "left_pd"
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder: give the one that holds left_pd and right_pd")
    names = sorted(each.name for each in folder.iterdir() if each.is_dir())
    if len(names) != 1:
        say = f"such as {names[0]}" if names else "there is none"
        raise InputError(f"{folder}: holds {len(names)} captures: name the one to read, {say}")
    return names[0]


# ---- pixels that are not square ------------------------------------------------------------------

PIXEL_APP = (756, 2016)  # rows and columns of what the Pixel capture app writes; its pixels are twice as tall as wide


def pixel_aspect(asked: float | str, images: dict[str, Image]) -> float:
    """The height of a pixel over its width: what was asked for or, with "auto", 1.

    Raises
    ------
    InputError
        With "auto", if a grey image, by name, has the size of those of the Pixel capture app, upright or turned.
    """
    for name, image in images.items():
        if image.shape in (PIXEL_APP, PIXEL_APP[::-1]):
            aspect, shape = (2, "tall as wide") if image.shape == PIXEL_APP else (0.5, "wide as tall")
            if asked not in ("auto", 1 / aspect):
                continue
            raise InputError(
                f"{name} has the size of a picture of the Pixel capture app, whose pixels are twice as {shape}: "
                f"set pixel_aspect={aspect} and black=4096 if it is one, or else pixel_aspect=1"
            )
    return 1.0 if asked == "auto" else float(asked)


def to_square(image: Image, aspect: float) -> Image:
    """An image with rows or columns added, by linear interpolation, until its pixels are square.

    Parameters
    ----------
    image : HxW or HxWx3 array
        uint8, uint16 or float32.
    aspect : float
        Height of its pixels over their width. Above 1 there will be more rows, below 1 more columns.
    """
    import cv2

    if aspect == 1:
        return image
    height, width = image.shape[:2]
    size = round(width * max(1 / aspect, 1)), round(height * max(aspect, 1))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_LINEAR))


def from_square(values: Map, shape: tuple[int, ...], axis: str | None = None) -> Map:
    """A map of square pixels as one of the image that `to_square` was given, each pixel the mean of what it covers.

    Parameters
    ----------
    values : float32 array
        A map of the image with square pixels.
    shape : (int, int)
        The rows and columns of the image it was made from.
    axis : "x" or "y", optional
        Where the values are disparities: along which, so that they come in the pixels of that image.
    """
    import cv2

    if values.shape == shape:
        return values
    small: Map = np.asarray(cv2.resize(values, shape[::-1], interpolation=cv2.INTER_AREA), np.float32)
    if axis is not None:
        k = "yx".index(axis)
        small *= shape[k] / values.shape[k]
    return small


# ---- black levels --------------------------------------------------------------------------------


def black_hint(left: Image, right: Image) -> str | None:
    """What to tell a user whose 16-bit views look as if their black level had been left in, or None.

    Sensors' black levels are powers of two. It is a hint, not a setting: a scene may well have no black in it.
    """
    if left.dtype != np.uint16 or right.dtype != np.uint16:
        return None
    darkest = min(int(left.min()), int(right.min()))
    if darkest < 60:
        return None
    level = 2 ** round(math.log2(darkest))
    if not 0.98 * level <= darkest <= 1.06 * level:
        return None
    return f"no pixel is darker than {darkest}: if {level} is the black level of the camera, set black={level}"


# ---- the calibration of Middlebury's stereo pairs ------------------------------------------------


def known_range(left: str | os.PathLike[str], length: int) -> tuple[float, float] | None:
    """0 to the ``ndisp`` of the calib.txt beside the left view, in px; None if there is no such file.

    Raises
    ------
    InputError
        If the file is there but does not say, or what it says is more than the length of the view along its axis.
    """
    path = Path(left).with_name("calib.txt")
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): give the range instead") from None
    entry = re.search(r"^[ \t]*ndisp[ \t]*=[ \t]*(\S+)", text, re.MULTILINE)
    if not entry:
        raise InputError(f"{path} has no ndisp, the number of disparities: add a line ndisp=N or give the range")
    try:
        ndisp = float(entry[1])
    except ValueError:
        ndisp = math.nan
    if not 1 <= ndisp < length:
        raise InputError(
            f"{path}: ndisp must be a number from 1 to {length - 1}, less than the pixels of {left}, not "
            f"{reprlib.repr(entry[1])}: correct it or give the range"
        )
    return 0.0, ndisp
