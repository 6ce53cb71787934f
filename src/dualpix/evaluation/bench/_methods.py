"""The methods that are compared, by name: our presets, our own SGM and OpenCV's SGM."""

from functools import partial
from typing import Any

import numpy as np

from ... import baselines
from ...baselines._opencv import MODES
from ...method import api
from ...params import resolve
from ...types import full_scale
from ._measure import Case, Image, Method, Views

PRESETS = ("auto", "dslr-a", "phone")
FIRST, COUNT = -16, 32  # first and number of disparities of semi-global matching on dual pixels
VOLUME = 4e9  # bytes; methods that store the costs of all disparities are left out if these need more
BLOCK = 5  # px, side of OpenCV's window
GREY = ("3way", "5way", "hh")  # OpenCV's modes that also run on grey views of a colour pair
NAMES = {"3way": "SGBM 3WAY", "5way": "SGBM 5-way", "hh4": "SGBM HH4", "hh": "SGBM HH"}


def dual_pixel_cases(views: Views, threads: int) -> dict[str, Case]:
    """Our presets and semi-global matching. OpenCV's runs on colour views, if there are any, and on grey ones.

    The grey views are made beforehand, so their making does not count.
    """
    runs: dict[str, Method] = {name: partial(ours, preset=name) for name in PRESETS}
    runs["own SGM"] = partial(own_sgm, limits=(FIRST, FIRST + COUNT - 1))
    theirs: dict[str, Method] = {
        name: partial(sgbm, mode=mode, first=FIRST, count=COUNT) for mode, name in NAMES.items()
    }
    eight_bit = _bytes(views[0]), _bytes(views[1])
    cases = {name: Case(run, views, threads) for name, run in runs.items()}
    cases |= {name: Case(run, eight_bit, threads) for name, run in theirs.items()}
    if views[0].ndim == 3:
        cases |= {grey(NAMES[mode]): Case(theirs[NAMES[mode]], grey_views(views), threads) for mode in GREY}
    return {name: case for name, case in cases.items() if name not in left_out(views)}


def left_out(views: Views) -> dict[str, str]:
    """The methods that are left out, and why."""
    gigabytes = 4e-9 * views[0].shape[0] * views[0].shape[1] * COUNT
    why = f"its costs need {gigabytes:.1f} GB, over {1e-9 * VOLUME:g}"
    storing = ("own SGM", NAMES["hh4"], NAMES["hh"], grey(NAMES["hh"]))
    return dict.fromkeys(storing, why) if gigabytes > 1e-9 * VOLUME else {}


def wide_cases(views: Views, disparities: int, threads: int) -> dict[str, Case]:
    """Our preset and OpenCV's SGM on an ordinary stereo pair."""
    runs: dict[str, Method] = {
        "stereo": partial(ours, preset="stereo", range=(0, disparities - 1)),
        NAMES["hh"]: partial(sgbm, mode="hh", first=0, count=disparities),
    }
    return {name: Case(run, views, threads) for name, run in runs.items()}


def ours(left: Image, right: Image, threads: int, preset: str, **options: Any) -> dict[str, float]:
    """Our own method; returns the seconds by stage."""
    return api.disparity(left, right, resolve(preset, options), threads=threads).timings


def own_sgm(left: Image, right: Image, threads: int, limits: tuple[float, float]) -> None:
    """Our own semi-global matching."""
    baselines.sgm(left, right, limits, threads=threads)


def sgbm(left: Image, right: Image, threads: int, mode: str, first: int, count: int) -> None:
    """OpenCV's semi-global matching with its usual penalties. OpenCV has its own setting for threads."""
    import cv2

    area = BLOCK**2 * (3 if left.ndim == 3 else 1)
    matcher = cv2.StereoSGBM.create(first, count, BLOCK, 8 * area, 32 * area, mode=getattr(cv2, MODES[mode]))
    matcher.compute(left, right)


def grey(name: str) -> str:
    """The name of a method that runs on grey views of a colour pair."""
    return f"{name}, grey"


def grey_views(views: Views) -> Views:
    """The views in 8 bits and grey."""
    import cv2

    left, right = (_bytes(view) for view in views)
    if left.ndim == 2:
        return left, right
    return np.asarray(cv2.cvtColor(left, cv2.COLOR_RGB2GRAY)), np.asarray(cv2.cvtColor(right, cv2.COLOR_RGB2GRAY))


def small_cases(views: Views, threads: int) -> dict[str, Case]:
    """Our default preset and OpenCV's 5-way mode on grey views."""
    theirs = partial(sgbm, mode="5way", first=FIRST, count=COUNT)
    return {"auto": Case(partial(ours, preset="auto"), views, threads), NAMES["5way"]: Case(theirs, views, threads)}


def _bytes(view: Image) -> Image:
    """The view in 8 bits, which OpenCV needs."""
    return view if view.dtype == np.uint8 else np.rint(view * (255 / full_scale(view.dtype))).astype(np.uint8)
