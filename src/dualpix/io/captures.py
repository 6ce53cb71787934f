"""Captures as data sets store them: the folders of Google's set, Middlebury's calib.txt."""

import math
import re
import reprlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..files import given_path, read_text
from ..opencv import opencv
from ..types import Image, StrPath
from .images import Pair, read_image, read_views
from .orientation import as_stored

# ---- the folders of Google's dual-pixel set ------------------------------------------------------

_LEFT = re.compile(r"result_leftPd_(\w+)\.png")


class CaptureFiles(NamedTuple):
    """The files of one capture. All of them exist."""

    left: Path
    right: Path
    guide: Path


def find_capture(path: StrPath, capture: str | None = None) -> CaptureFiles:
    """Find the views and the guide of a capture of Google's dual-pixel set.

    Parameters
    ----------
    path
        The folder that holds ``left_pd`` and ``right_pd``, or the left view of a capture,
        ``left_pd/<capture>/result_leftPd_center.png``.
    capture
        The name of the capture, if the folder holds several.

    Raises
    ------
    InputError
        If a file is missing.
    """
    path = Path(given_path(path, "path"))
    if path.is_dir():
        path = path / "left_pd" / (capture or _only_capture(path)) / "result_leftPd_center.png"
    named = _LEFT.fullmatch(path.name)
    if not named or path.parent.parent.name != "left_pd":
        raise InputError(
            f"{path}: is not a capture: give left_pd/<capture>/result_leftPd_center.png or the folder above left_pd"
        )
    root, capture, phone = path.parents[2], path.parent.name, named[1]
    files = CaptureFiles(
        path,
        root / "right_pd" / capture / f"result_rightPd_{phone}.png",
        root / "scaled_images" / capture / f"result_scaled_image_{phone}.jpg",
    )
    for role, file in zip(("left view", "right view", "guide"), files, strict=True):
        if not file.is_file():
            raise InputError(f"{file}: no such file: put the {role} of capture {capture} there")
    return files


def read_capture(path: StrPath, capture: str | None = None) -> Pair:
    """Read a capture of Google's dual-pixel set; see `find_capture`.

    The views are shifted along y. The guide is stored at half the size of the views and is enlarged to their size.
    """
    files = find_capture(path, capture)
    views = read_views(files.left, files.right)
    guide = enlarge(as_stored(read_image(files.guide), views.orientation), views.left.shape[:2], str(files.guide))
    return replace(views, guide=guide, source={name: str(file) for name, file in files._asdict().items()})


def enlarge(guide: Image, shape: tuple[int, ...], name: str) -> Image:
    """Enlarge a guide to the shape of the views. Their size must be a whole multiple of its size."""
    cv2 = opencv()
    height, width = guide.shape[:2]
    factor = max(shape[1] // width, 1)
    if (factor * height, factor * width) != shape:
        raise InputError(
            f"{name} is {width}x{height}, but the views' {shape[1]}x{shape[0]} is not a whole multiple of it: "
            "give the guide of this capture"
        )
    return np.asarray(cv2.resize(guide, shape[::-1], interpolation=cv2.INTER_LINEAR))


def _only_capture(root: Path) -> str:
    folder = root / "left_pd"
    if not folder.is_dir():
        raise InputError(f"{root}: is a folder without left_pd and right_pd, so it is no capture: give a file in it")
    names = sorted(each.name for each in folder.iterdir() if each.is_dir())
    if len(names) != 1:
        if not names:
            raise InputError(f"{folder}: holds no capture: give the folder of a data set")
        raise InputError(f"{folder}: holds {len(names)} captures: name the one to read, such as {names[0]}")
    return names[0]


# ---- the calibration of Middlebury's stereo pairs ------------------------------------------------


def known_range(left: StrPath, length: int) -> tuple[float, float] | None:
    """Read the range of disparities from the calib.txt beside the left view: 0 to ``ndisp`` (px).

    Parameters
    ----------
    left
        The left view's file.
    length
        Pixels of the view along the disparity.

    Returns
    -------
    tuple or None
        None if there is no such file.

    Raises
    ------
    InputError
        If the file has no valid ndisp, or ndisp is not below the length.
    """
    path = Path(left).with_name("calib.txt")
    try:
        text = read_text(path, errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): give the range instead") from None
    entry = re.search(r"^[ \t]*ndisp[ \t]*=[ \t]*(\S+)", text, re.MULTILINE)
    if not entry:
        raise InputError(f"{path} has no ndisp (the number of disparities): add a line ndisp=N or give the range")
    try:
        ndisp = float(entry[1])
    except ValueError:
        ndisp = math.nan
    if not 1 <= ndisp < length:
        raise InputError(
            f"{path}: ndisp must be a number from 1 to {length - 1}, below the size of {left}, not "
            f"{reprlib.repr(entry[1])}: correct it or give the range"
        )
    return 0.0, ndisp
