"""Captures with known depth: where their depth map lies in the picture, what its values mean, and which pixels count.

A depth map is reduced to a grid of pixels when it is read, so many large captures fit in memory.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..io import read_map
from ..types import Image, Map, Shape, StrPath
from .field import MARGIN, Capture, robust_fit, shared_field
from .lens import Field, SceneFit, centres
from .sheet import Values

# What the values of a depth map mean, and which part of the picture the map covers.
KINDS = {"inverse": "inverse depth", "depth": "depth"}
AREAS = {"whole": "the whole picture", "centre": "the centre of the picture, pixel for pixel"}
Reading = tuple[str, str]  # of KINDS and AREAS

SAMPLES = 6_000  # pixels of a capture that the fit uses
FEWEST = 100  # with fewer usable pixels a scene is refused
EDGE = 0.5  # a step of the depth from one sample to the next by more than this many STDs is an edge
UNRELATED = 0.75  # a depth that leaves more than this share of the disparities unexplained is not theirs
BETTER = 0.8  # a reading that leaves less than this share of the error of another is the right one

Place = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]  # rows and columns of the pixels of a grid


# ---- depth maps ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Truth:
    """A depth map at the pixels of the grid.

    Attributes
    ----------
    name : str
        What errors call the map.
    grids : dict
        The values as stored, NaN where unknown, for each area that the map may cover.
    """

    name: str
    grids: Mapping[str, Values]

    def inverse_depth(self, reading: Reading) -> Values:
        """Inverse depth in an unknown unit, NaN where unknown."""
        kind, area = reading
        values = self.grids[area]
        if kind == "inverse":
            return values
        return np.divide(1, values, out=np.full_like(values, np.nan), where=values > 0)


def read_truth(depth: Image | StrPath, name: str, shape: Shape, area: str) -> Truth:
    """The depth map of views of that height and width; `area` is the part that it is said to cover.

    Errors call an array by `name`, and a file by its path.

    Raises
    ------
    InputError
        If it cannot be read, does not fit the views, knows no depth, or knows the same depth everywhere.
    """
    if isinstance(depth, str | os.PathLike):
        name, stored = os.fspath(depth), read_map(depth)
    else:
        stored = _as_map(depth, name)
    known = np.isfinite(stored) & (stored != 0)
    if not known.any():
        raise InputError(f"{name}: knows no depth, all its values are 0, NaN or infinite: give another depth map")
    low, high = stored.min(where=known, initial=np.inf), stored.max(where=known, initial=-np.inf)
    if low == high:
        raise InputError(
            f"{name}: has the same depth everywhere: give a scene with depth, or give its views as a plane"
        )
    places = _places(stored.shape[:2], shape)
    if area not in places:
        raise InputError(_misfit(name, stored.shape, shape, area, places))
    return Truth(name, {area: _at(stored, known, place) for area, place in places.items()})


def _as_map(depth: npt.ArrayLike, name: str) -> Map:
    values = np.asarray(depth)
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "uif":
        kind = f"shape {values.shape} and type {values.dtype}"
        raise InputError(f"{name}: has {kind}: give an HxW array of real numbers")
    return values.astype(np.float32)


def grid(shape: Shape) -> Place:
    """Rows and columns of the pixels that are looked at, in a picture of that height and width."""
    height, width = shape[:2]
    step = max(1, math.isqrt(height * width // SAMPLES))
    y, x = (np.arange(int(MARGIN * n) + step // 2, n - int(MARGIN * n), step) for n in (height, width))
    return y, x


def _places(stored: Shape, shape: Shape) -> dict[str, Place]:
    """Where the pixels of the grid are in a depth map of that size, for each area that it may cover."""
    (rows, columns), (height, width) = stored, shape[:2]
    y, x = grid(shape)
    places: dict[str, Place] = {}
    # The aspect ratio is the same if one side is the rounded multiple of the other.
    if 2 * abs(rows * width - columns * height) <= max(width, height):
        places["whole"] = (2 * y + 1) * rows // (2 * height), (2 * x + 1) * columns // (2 * width)
    if rows <= height and columns <= width:
        places["centre"] = y - (height - rows) // 2, x - (width - columns) // 2
    return places


def _at(stored: Map, known: npt.NDArray[np.bool_], place: Place) -> Values:
    """The map at these places, NaN where it is unknown or does not reach."""
    inside = [(at >= 0) & (at < n) for at, n in zip(place, stored.shape, strict=True)]
    at = np.ix_(*(along[ok] for along, ok in zip(place, inside, strict=True)))
    values = np.full([len(along) for along in place], np.nan)
    values[np.ix_(*inside)] = np.where(known[at], stored[at], np.nan)
    return values


def _misfit(name: str, stored: Shape, shape: Shape, area: str, places: Mapping[str, Place]) -> str:
    sizes = f"{name}: is {stored[1]}x{stored[0]} but the views are {shape[1]}x{shape[0]}"
    if area == "centre" and "whole" in places:
        return f"{sizes}, so it cannot be their centre: give the centre, or scene_area=whole"
    advice = "give a depth map of the same aspect ratio"
    return f"{sizes}: {advice}" + (", or scene_area=centre if it covers that" if "centre" in places else "")


# ---- from maps to captures -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scene:
    """A matched scene: its disparity and confidence on the grid, and its depth."""

    truth: Truth
    shape: Shape
    d: Values
    confidence: Values

    @classmethod
    def sampled(cls, truth: Truth, d: Map, confidence: Map) -> "Scene":
        """The scene of a whole disparity map; nothing of the map is kept but the pixels of the grid."""
        at = np.ix_(*grid(d.shape))
        return cls(truth, d.shape, d[at].astype(np.float64), confidence[at].astype(np.float64))

    def capture(self, reading: Reading) -> Capture:
        """The usable pixels: of known depth and disparity, with confidence, and away from edges of the depth."""
        t = self.truth.inverse_depth(reading)
        t = np.where(_extreme(t), np.nan, t)
        known = np.isfinite(t) & np.isfinite(self.d) & (self.confidence > 0)
        usable = known & ~_edges(t)
        n = int(np.count_nonzero(usable))
        if n < FEWEST:
            self._check_sign(reading)
            if np.count_nonzero(known) >= FEWEST:
                raise InputError(
                    f"{self.truth.name}: its depth jumps at nearly every pixel, as noise on a flat depth does: give a "
                    "scene with depth, or give its views as a plane"
                )
            raise InputError(
                f"{self.truth.name}: only {n} of {t.size} pixels that were looked at have texture and a known depth "
                "away from edges: give a depth map that covers more of the picture, or another scene"
            )
        if np.ptp(t[usable]) == 0:
            raise InputError(f"{self.truth.name}: has one depth only where the views have texture: give another scene")
        rows, columns = grid(self.shape)
        y, x = np.meshgrid(centres(self.shape[0])[rows], centres(self.shape[1])[columns], indexing="ij")
        inverse = (t[usable] - t[usable].mean()) / t[usable].std()
        shapes = np.stack([inverse, np.ones(n)])
        return Capture(self.truth.name, x[usable], y[usable], self.d[usable], self.confidence[usable], shapes)

    def _check_sign(self, reading: Reading) -> None:
        kind, area = reading
        values = self.truth.grids[area]
        if kind == "depth" and (n := np.count_nonzero(values < 0)):
            raise InputError(
                f"{self.truth.name}: has negative distances at {n} of {values.size} pixels that were looked at: give "
                "distances above 0, or scene_kind=inverse if it holds disparities"
            )


def _extreme(t: Values) -> npt.NDArray[np.bool_]:
    """Where the depth is so far from all others that it must be wrong; such pixels would rule a fit."""
    if not np.isfinite(t).any():
        return np.zeros(t.shape, bool)
    low, high = np.nanpercentile(t, (1, 99))
    return np.asarray((t < 2 * low - high) | (t > 2 * high - low))


def _edges(t: Values) -> npt.NDArray[np.bool_]:
    """Where the depth has a step to a neighbour on the grid. Unknown pixels are no neighbours."""
    import cv2

    known = np.isfinite(t)
    edges = np.zeros_like(known)
    if known.any():
        window = np.ones((3, 3), np.uint8)
        most, least = cv2.dilate(np.where(known, t, -np.inf), window), cv2.erode(np.where(known, t, np.inf), window)
        edges[known] = most[known] - least[known] > EDGE * t[known].std()
    return edges


# ---- the field, and checks -------------------------------------------------------------------------------


def captures_of(scenes: Sequence[Scene], reading: Reading) -> list[Capture]:
    """The captures of matched scenes, once their disparities confirm how the depth maps are read.

    Raises
    ------
    InputError
        If another reading explains the disparities much better.
    """
    captures = [scene.capture(reading) for scene in scenes]
    _check_reading(scenes, reading)
    return captures


def _check_reading(scenes: Sequence[Scene], reading: Reading) -> None:
    """Refuse a reading if another one leaves much less of the disparities unexplained."""
    areas = set.intersection(*(set(scene.truth.grids) for scene in scenes))
    left = {}
    for each in ((kind, area) for kind in KINDS for area in sorted(areas)):
        try:
            left[each] = float(np.mean([np.log(_relation(scene.capture(each)).left) for scene in scenes]))
        except InputError:  # too few pixels if read like this
            continue
    best = min(left, key=lambda each: (left[each], each[1] != reading[1]))  # for a map of full size both areas are one
    if left[best] >= left[reading] + math.log(BETTER):
        return
    (kind, area), meaning, remedy = best, [], []
    if kind != reading[0]:
        meaning.append(f"hold {KINDS[kind]}")
        remedy.append(f"scene_kind={kind}")
    if area != reading[1]:
        meaning.append(f"cover {AREAS[area]}")
        remedy.append(f"scene_area={area}")
    raise InputError(
        f"{scenes[0].truth.name}: the disparities fit the depth maps much better if these {' and '.join(meaning)}: "
        f"give {' and '.join(remedy)}, or check the maps"
    )


def scenes_field(scenes: Sequence[Capture], planes: Sequence[Capture]) -> tuple[Field, tuple[SceneFit, ...]]:
    """The field that scenes and planes share, and what it is worth for each scene.

    Raises
    ------
    InputError
        If a scene does not follow its depth, or if scenes have opposite signs.
    """
    field, fits, slopes = shared_field([*planes, *scenes]), [], []
    for scene in scenes:
        others = shared_field([*planes, *(each for each in scenes if each is not scene)])
        slope, left = _relation(scene, others)
        if left > UNRELATED:
            raise InputError(
                f"{scene.name}: the disparity of its views does not follow this depth: check that it belongs to them "
                "and is aligned with the left view, or leave the scene out"
            )
        slopes.append(slope)
        fits.append(SceneFit(scene.error(), scene.error(field), scene.error(others)))
    if min(slopes) < 0 < max(slopes):
        near, far = (scenes[slopes.index(slope)].name for slope in (max(slopes), min(slopes)))
        raise InputError(
            f"{far}: the disparity falls where that of {near} grows: give all views in the same order and all depth "
            "maps of one kind"
        )
    return field, tuple(fits)


class _Relation(NamedTuple):
    """Slope of the disparity over the inverse depth, and the share of its spread that the depth leaves unexplained."""

    slope: float
    left: float


def _relation(capture: Capture, field: Field | None = None) -> _Relation:
    """How the disparities, as they are or corrected, depend on the depth."""
    d = capture.d if field is None else capture.corrected(field)
    fit = robust_fit(capture.shapes, d, capture.confidence)
    left, spread = (
        float(np.average(each, weights=capture.confidence)) for each in (fit.residual, np.abs(d - np.median(d)))
    )
    return _Relation(float(fit.p[0]), max(left, 1e-9) / max(spread, 1e-9))
