"""What a camera does to views and disparity, found once from pictures of a white sheet and of a plane.

White sheet: each view is darker towards its own side. Plane: off the axis the pupil is clipped, and the same depth
shows another disparity, ``d_observed(x, y) = gain(x, y) d + offset(x, y)``. Both are smooth; both are undone here.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError, ParameterError
from ..io import Pair, read_pair
from ..io.sidecar import to_json
from ..run import thread_count
from ..types import Map, full_scale

if TYPE_CHECKING:
    from ..method.pipeline import Image, Progress
    from ..params import Params

Values = npt.NDArray[np.float64]

VERSION = 1

# A lens is symmetric, so gain and offset are even in x and y, which are -1 and 1 at the edges of the picture.
TERMS = {"1": (0, 0), "x^2": (2, 0), "y^2": (0, 2), "x^4": (4, 0), "x^2 y^2": (2, 2), "y^4": (0, 4)}
TILT = ((1, 0), (0, 1))  # what a tilted plane adds: inverse depth is linear in x and y
MEANS = np.array([1 / ((i + 1) * (j + 1)) for i, j in TERMS.values()])  # of the terms, over the picture

MARGIN = 0.05  # of width and height, left out at each border of a plane's map
SAMPLES = 50_000  # pixels of it that are enough
PASSES = 15  # with weights that only damp outliers, and as many with weights that drop them
LEAST = 0.2  # px of defocus, or between planes, below which the errors of matching hide the gain
ROUGH = 0.05, 0.1  # px, and as a share of the disparity: together, the roughest that the map of a plane is
FAINTEST = 0.1  # of the mean: a gain below it is no lens's

CELLS = 32  # along the longer side, into which a white sheet is averaged
CELL = 16  # px, their least side
SMALLEST = 32  # px, the least side of a white sheet
DARKEST = 0.02  # of the brightest cell of a white sheet, below which it is none
CLIPPED = 1e-3  # share of the pixels that may have the brightest value, if it is crowded


class Field(NamedTuple):
    """Coefficients of gain and offset by TERMS. The mean over the picture is 1 of the gain, 0 px of the offset."""

    gain: tuple[float, ...]
    offset: tuple[float, ...]


class White(NamedTuple):
    """Black level and largest value of the input's numbers, and a sheet's brightness in each view, 1 at most."""

    black: float
    full: float
    left: Values
    right: Values


class Plane(NamedTuple):
    """Mean disparity of a plane, and the STD of its map inside the margins as observed and as corrected, px."""

    disparity: float
    observed: float
    corrected: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """What to undo in the pictures of one camera and lens, at one size.

    Attributes
    ----------
    width, height : int
        Size of the pictures, px.
    axis : "x" or "y"
        Along which the views differ.
    camera : str, optional
        Its name.
    white : White, optional
        For the views; None leaves them as they are.
    field : Field, optional
        For the disparity; None leaves it as it is.
    planes : tuple of Plane
        What the field was found from.
    source : str
        What errors call this calibration, such as the path of its file.
    """

    width: int
    height: int
    axis: str = "x"
    camera: str | None = None
    white: White | None = None
    field: Field | None = None
    planes: tuple[Plane, ...] = ()
    source: str = "calibration"

    def check(self, shape: tuple[int, ...], name: str, axis: str | None = None) -> None:
        """Refuse a picture or map of another size or, where it is given, axis; `name` is what errors call it."""
        height, width = shape[:2]
        if (width, height) != (self.width, self.height):
            raise InputError(
                f"{self.source}: was made for {self.width}x{self.height} pixels but {name} is {width}x{height}: "
                "calibrate with pictures of that size"
            )
        if self.field is not None and axis is not None and axis != self.axis:
            raise InputError(
                f"{self.source}: was made for views that differ along {self.axis}, not {axis}: calibrate along {axis}"
            )

    def check_numbers(self, dtype: np.dtype[Any], name: str) -> None:
        """Refuse a picture in whose numbers the black level would be another."""
        full = full_scale(dtype)
        if self.white and self.white.black and full != self.white.full:
            raise InputError(
                f"{self.source}: its black level, {self.white.black:g}, is one of numbers up to {self.white.full:g}, "
                f"but those of {name} go up to {full:g}: calibrate with pictures of the same kind"
            )

    def check_camera(self, name: str | None) -> None:
        """Refuse another camera, if both names are known."""
        if None not in (name, self.camera) and name != self.camera:
            raise InputError(
                f"{self.source}: was made for the camera {self.camera!r}, not {name!r}: "
                "give the calibration of that camera"
            )

    def settled(self, params: "Params") -> "Params":
        """The parameters with the black level of the white sheets, unless they have one: then it must be the same."""
        if self.white is None or params.black == self.white.black:
            return params
        if params.black:
            raise ParameterError(
                f"parameter black is {params.black:g}, but {self.source} was made with {self.white.black:g}: "
                "leave it out, or calibrate again"
            )
        return params.replace(black=self.white.black)

    def white_gains(self, gamma: float = 1.0) -> tuple[Map, Map] | None:
        """What to divide the left and the right view by, after black level and gamma; None without white sheets.

        ``(I / gain)^gamma = I^gamma / gain^gamma``. At most 1, where the brighter white sheet is brightest.
        """
        if self.white is None:
            return None
        left, right = (_spread(grid**gamma, (self.height, self.width)) for grid in (self.white.left, self.white.right))
        return left, right

    def corrected(self, d: Map) -> Map:
        """``(d - offset) / gain``: the disparity a lens with the same pupil everywhere would show, px; NaN stays."""
        self.check(d.shape, "the map")
        if self.field is None:
            return d
        gain, offset = (evaluate(part, d.shape) for part in self.field)
        return (d - offset) / gain

    def to_dict(self) -> dict[str, Any]:
        """What was found but for the maps, ready for JSON."""
        field = self.field
        return {
            "camera": self.camera,
            "width": self.width,
            "height": self.height,
            "axis": self.axis,
            "gain": field and dict(zip(TERMS, field.gain, strict=True)),
            "offset": field and dict(zip(TERMS, field.offset, strict=True)),
            "planes": [plane._asdict() for plane in self.planes],
        }

    def to_json(self) -> str:
        """The text of a calibration file; `read_calibration` turns it back."""
        from .. import __version__

        record = {
            "dualpix": __version__,
            "calibration": VERSION,
            "model": "d_observed = gain d + offset, x and y from -1 to 1; view = (image - black) / white",
            **self.to_dict(),
            "white": self.white and {name: np.asarray(part).tolist() for name, part in self.white._asdict().items()},
        }
        # A row of a map takes one line, not one for each number.
        return re.sub(r"\[([^][{}]+)\]", lambda row: f"[{' '.join(row[1].split())}]", to_json(record)) + "\n"


def evaluate(coefficients: Sequence[float], shape: tuple[int, ...]) -> Map:
    """The polynomial of TERMS at every pixel of a picture of that height and width."""
    C = np.zeros((3, 3))
    for c, (i, j) in zip(coefficients, TERMS.values(), strict=True):
        C[j // 2, i // 2] = c
    y, x = (np.stack([np.ones(n), centres(n) ** 2, centres(n) ** 4]) for n in shape)
    return np.asarray((C.T @ y).T.astype(np.float32) @ x.astype(np.float32), np.float32)


def centres(n: int) -> Values:
    """Where n pixels lie between the edges of the picture, -1 and 1."""
    return np.asarray((2 * np.arange(n) + 1) / n - 1, np.float64)


# ---- from pictures to a calibration ----------------------------------------------------------------------


def calibrate(
    white: Sequence[tuple["Image", "Image"]] = (),
    planes: Sequence[tuple["Image", "Image"]] = (),
    *,
    camera: str | None = None,
    black: float = 0.0,
    axis: str | None = None,
    threads: int | None = None,
    progress: "Progress | None" = None,
    **overrides: Any,
) -> Calibration:
    """Find out what a camera does to its views and to the disparity.

    Parameters
    ----------
    white : pairs of arrays or paths
        Left and right views of an evenly lit white sheet, out of focus; several are averaged.
    planes : pairs of arrays or paths
        Left and right views of a textured plane that fills the picture, square to the camera, each at another
        distance. With one only the gain is found; with two or more the offset too. Distances need not be known.
    camera : str, optional
        Its name, which goes into the file.
    black : float
        What the camera records in the dark, in the numbers of the white sheets, as the parameter black.
    axis : "x" or "y", optional
        The direction in which the views differ; if not given it is found out.
    threads, progress, **overrides
        As for `dualpix.disparity`, which the planes are matched with.

    Raises
    ------
    InputError
        If the pictures cannot be used: of different sizes, a sheet with zeros or clipped, a plane without
        texture, too near to focus, or not a plane.
    ParameterError
        If nothing was given, or black is out of bounds.
    """
    from ..method.pipeline import disparity

    if axis not in ("x", "y", None):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    threads = thread_count(threads)
    if not white and not planes:
        raise ParameterError("nothing to calibrate from: give a pair of a white sheet, of a plane, or both")
    if black and not white:
        raise ParameterError("black is that of the white sheets: give a pair of them too")
    sheets, flats = ([read_pair(left, right) for left, right in pairs] for pairs in (white, planes))
    height, width = _common_size(sheets + flats)
    made = Calibration(width, height, axis or "x", camera)
    if sheets:
        made = replace(made, white=white_sheets(sheets, black))
    maps = []
    for pair, (left, right) in zip(flats, planes, strict=True):
        found = disparity(left, right, axis=axis, calibration=made, threads=threads, progress=progress, **overrides)
        maps.append((found.disparity, found.confidence))
        axis = axis or found.axis
        if found.evidence and found.evidence.axis not in (axis, None):
            raise InputError(f"{_name(pair)}: {found.evidence.objection(axis)}: give the axis of all planes")
    if not maps:
        return made
    made = replace(made, axis=axis or "x")
    made = replace(made, field=lens_field(maps, [_name(pair) for pair in flats]))
    found_planes = tuple(_plane(d, made.corrected(d)) for d, _ in maps)
    for pair, plane in zip(flats, found_planes, strict=True):
        if plane.corrected > 2 * (ROUGH[0] + ROUGH[1] * abs(plane.disparity)):
            raise InputError(
                f"{_name(pair)}: is not a plane, corrected its disparity of {plane.disparity:.2f} px still varies by "
                f"{plane.corrected:.2f} px: take a flat textured surface that fills the picture"
            )
    return replace(made, planes=found_planes)


def _common_size(pairs: Sequence[Pair]) -> tuple[int, int]:
    said = ["{0} is {2}x{1}".format(pair.source.get("left", "a left view"), *pair.left.shape) for pair in pairs]
    for pair, size in zip(pairs, said, strict=True):
        if pair.left.shape[:2] != pairs[0].left.shape[:2]:
            raise InputError(f"{size} but {said[0]}: give pictures of the same size")
    height, width = pairs[0].left.shape[:2]
    return height, width


def lens_field(maps: Sequence[tuple[Map, Map]], names: Sequence[str]) -> Field:
    """Gain and offset from disparity maps of planes, each with its confidence.

    A plane's map is the polynomial ``P_k = gain d_k + offset``, with d_k its mean over the picture: coefficient by
    coefficient a line in d_k. One plane gives only the gain, ``P_1 / d_1``.
    """
    P = np.stack([fit_plane(d, confidence, name) for (d, confidence), name in zip(maps, names, strict=True)])
    d = P @ MEANS
    if len(P) == 1:
        if abs(d[0]) < LEAST:
            raise InputError(
                f"{names[0]}: the plane is in focus, its disparity is {d[0]:.2f} px and tells nothing of the gain: "
                f"take one that shows at least {LEAST} px"
            )
        gain, offset = P[0] / d[0], np.zeros(len(TERMS))
    else:
        if np.ptp(d) < LEAST:
            raise InputError(
                f"{names[0]} and {names[1]}: the disparities of the planes differ by {np.ptp(d):.2f} px: "
                f"take them at distances that differ by at least {LEAST} px, or give only one"
            )
        offset, gain = np.polynomial.polynomial.polyfit(d, P, 1)
    lowest = float(evaluate(gain, (64, 64)).min())
    if lowest < FAINTEST:
        raise InputError(
            f"{', '.join(names)}: the gain would fall to {lowest:.2f} of its mean, which no lens does: "
            "let the plane fill the picture, square to the camera"
        )
    return Field(tuple(gain.tolist()), tuple(offset.tolist()))


def fit_plane(d: Map, confidence: Map, name: str) -> Values:
    """Coefficients of the smooth even part of a plane's map, robust to outliers.

    Iteratively reweighted least squares of ``d = P(x, y) + t_x x + t_y y``, with the residuals r and their scale s
    (median, as an STD). The tilt t is the plane's and is left out. Weights are the confidence times, first,
    ``1 / max(|r|, s)``, which needs no good start, then ``1 / (1 + r^2 / 4 s^2)^2``, which forgets outliers.
    """
    rows, columns = (slice(int(MARGIN * n), n - int(MARGIN * n)) for n in d.shape)
    step = max(1, math.isqrt(d.size // SAMPLES))
    inner = (slice(rows.start, rows.stop, step), slice(columns.start, columns.stop, step))
    D = d[inner].astype(np.float64)
    c = np.where(np.isfinite(D), confidence[inner], 0).astype(np.float64)
    thirds = [part.mean() for band in np.array_split(c, 3) for part in np.array_split(band, 3, axis=1)]
    if min(thirds) <= 0.1 * max(thirds):
        raise InputError(
            f"{name}: the plane shows too little texture in a part of the picture: let a printed texture fill it"
        )
    y, x = np.meshgrid(*(centres(n)[part] for n, part in zip(d.shape, inner, strict=True)), indexing="ij")
    seen = c > 0
    X = np.stack([x[seen] ** i * y[seen] ** j for i, j in (*TERMS.values(), *TILT)])
    D, weight, c = D[seen], c[seen], c[seen]
    for n in range(2 * PASSES):
        p = np.linalg.lstsq(weight * X @ X.T, weight * X @ D, rcond=None)[0]
        r = np.abs(D - p @ X)
        s = max(1.4826 * float(np.median(r)), 1e-6)
        weight = c / np.maximum(r, s) if n < PASSES else c / (1 + (r / (2 * s)) ** 2) ** 2
    mean = float(p[: len(TERMS)] @ MEANS)
    if s > ROUGH[0] + ROUGH[1] * abs(mean):
        raise InputError(
            f"{name}: is not a plane, its disparity of {mean:.2f} px varies by {s:.2f} px from place to place: "
            "take a flat textured surface that fills the picture"
        )
    return np.asarray(p[: len(TERMS)])


def white_sheets(pairs: Sequence[Pair], black: float) -> White:
    """The gain of each view from white sheets, in cells; 1 where the brighter view is brightest."""
    full = full_scale(pairs[0].left.dtype)
    for pair in pairs:
        if {pair.left.dtype, pair.right.dtype} != {pairs[0].left.dtype}:
            raise InputError(
                f"{_name(pair)}: white sheets of different kinds, such as 8 and 16 bit: give all of one kind"
            )
    if not 0 <= black < full:
        raise ParameterError(
            f"black must be from 0 to below {full:g}, the full scale of the white sheets, not {black:g}"
        )
    grids = []
    for pair in pairs:
        views = {"left": pair.left, "right": pair.right}
        for name, view in views.items():
            _check_sheet(view, black, pair.source.get(name, f"white sheet {name}"))
        both = np.stack([_cells(view) - black for view in views.values()])
        grids.append(both / both.max())
        if grids[-1].min() < DARKEST:
            raise InputError(
                f"{_name(pair)}: falls to {grids[-1].min():.1%} of its brightest, which no white sheet does: "
                "let an evenly lit one fill the picture"
            )
    left, right = np.mean(grids, axis=0).round(6)
    return White(float(black), full, left, right)


def _check_sheet(view: npt.NDArray[Any], black: float, name: str) -> None:
    if min(view.shape[:2]) < SMALLEST:
        raise InputError(
            f"{name}: a white sheet must have at least {SMALLEST} pixels a side, not {view.shape[1]}x{view.shape[0]}"
        )
    full = full_scale(view.dtype)
    dark = int(np.count_nonzero(view <= black))
    if dark:
        raise InputError(
            f"{name}: a white sheet must be above the black level, {black:g}, everywhere, but {dark} of its values are "
            "not: expose it longer, let it fill the picture, and take dead pixels out"
        )
    levels, counts = np.unique(view, return_counts=True)
    # Noise thins out towards the brightest value; clipping piles up there.
    crowded = counts[-1] > CLIPPED * view.size and len(counts) > 8 and counts[-1] > 4 * counts[-2]
    if crowded or (levels[-1] == full and counts[-1] > CLIPPED * view.size):
        raise InputError(
            f"{name}: {counts[-1] / view.size:.1%} of the white sheet are clipped at {levels[-1]:g}: expose it shorter"
        )


def _cells(view: npt.NDArray[Any]) -> Values:
    """Brightness in cells: the mean of the middle half of each, so that dust and hot pixels drop out."""
    plane = view.reshape(*view.shape[:2], -1).mean(axis=2, dtype=np.float64)
    side = max(CELL, max(plane.shape) / CELLS)
    cells = [max(2, round(n / side)) for n in plane.shape]
    rows, columns = (
        np.linspace(0, n, count + 1).round().astype(int) for n, count in zip(plane.shape, cells, strict=True)
    )
    grid = np.empty(cells)
    for i, j in np.ndindex(*cells):
        values = np.sort(plane[rows[i] : rows[i + 1], columns[j] : columns[j + 1]], axis=None)
        quarter = values.size // 4
        grid[i, j] = values[quarter : values.size - quarter].mean()
    return grid


def _spread(grid: Values, shape: tuple[int, ...]) -> Map:
    """The grid's values at every pixel, linear between the middles of its cells and beyond the outermost."""
    values = grid.astype(np.float32)
    for axis, n in enumerate(shape):
        t = (np.arange(n) + 0.5) * grid.shape[axis] / n - 0.5
        i = np.clip(t.astype(int), 0, grid.shape[axis] - 2)
        f = np.expand_dims((t - i).astype(np.float32), 1 - axis)
        values = values.take(i, axis) * (1 - f) + values.take(i + 1, axis) * f
    # A steep fall goes on beyond the last middle, but not to nothing.
    return np.maximum(values, np.float32(grid.min() / 2))


def _plane(d: Map, corrected: Map) -> Plane:
    rows, columns = (slice(int(MARGIN * n), n - int(MARGIN * n)) for n in d.shape)
    inner = corrected[rows, columns]
    return Plane(float(inner.mean()), float(d[rows, columns].std()), float(inner.std()))


def _name(pair: Pair) -> str:
    return pair.source.get("left", "left")


def summary(made: Calibration) -> str:
    """What was found, in words: size, and how much of the spread of each plane is left."""
    parts = [f"{made.width}x{made.height}"]
    if made.white:
        darkest = min(made.white.left.min(), made.white.right.min())
        parts.append(f"white sheets down to {darkest:.0%} of their brightest, black level {made.white.black:g}")
    parts += [
        f"plane at {plane.disparity:.3g} px, STD {plane.observed:.3g} px, {plane.corrected:.3g} px corrected"
        for plane in made.planes
    ]
    return "; ".join(parts)


# ---- the file --------------------------------------------------------------------------------------------


def read_calibration(path: str | Path) -> Calibration:
    """Read a calibration file, checked in full.

    Raises
    ------
    InputError
        If it cannot be read, is none, is of another version, or is damaged.
    """
    record = _read_json(path)
    if "calibration" not in record:
        raise InputError(f"calibration {path}: is not a calibration: give a file that dualpix calibrate wrote")
    if record["calibration"] != VERSION:
        raise InputError(
            f"calibration {path}: has version {record['calibration']!r} but this dualpix reads {VERSION}: "
            "calibrate again, or use the dualpix that wrote it"
        )
    try:
        return _from_record(record, f"calibration {path}")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"calibration {path}: is damaged, {what}: calibrate again") from None


def _read_json(path: str | Path) -> dict[str, Any]:
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"calibration {path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"calibration {path}: cannot be read ({error.strerror}): give a calibration file") from None
    except (ValueError, RecursionError):  # neither text nor JSON
        record = None
    return record if isinstance(record, dict) else {}


def _from_record(record: dict[str, Any], source: str) -> Calibration:
    """The calibration of a file's record; KeyError or ValueError says what is wrong with it."""
    width, height = (_whole(record, name) for name in ("width", "height"))
    if record["axis"] not in ("x", "y"):
        raise ValueError("axis is neither x nor y")
    if not isinstance(record["camera"], str | None):
        raise ValueError("camera is not a name")
    gain, offset, white = (record[name] for name in ("gain", "offset", "white"))
    if (gain is None) != (offset is None):
        raise ValueError("of gain and offset only one is there")
    field = None
    if gain is not None:
        field = Field(_coefficients(gain, "gain"), _coefficients(offset, "offset"))
        if evaluate(field.gain, (64, 64)).min() < FAINTEST:
            raise ValueError(f"gain falls below {FAINTEST}")
    if white is not None:
        black, full = (float(_numbers(white[name], name, 0)) for name in ("black", "full"))
        white = White(black, full, *(_numbers(white[name], f"white {name}", 2) for name in ("left", "right")))
        if not 0 <= black < full or any(
            min(grid.shape) < 2 or grid.min() < DARKEST or grid.max() > 1 for grid in (white.left, white.right)
        ):
            raise ValueError("white has values that are out of bounds")
    planes = tuple(
        Plane(*(float(_numbers(each[name], name, 0)) for name in Plane._fields)) for each in record["planes"]
    )
    return Calibration(width, height, record["axis"], record["camera"], white, field, planes, source)


def _whole(record: dict[str, Any], name: str) -> int:
    value = record[name]
    if type(value) is not int or value < 1:
        raise ValueError(f"{name} is not a whole number above 0")
    return value


def _coefficients(terms: dict[str, Any], name: str) -> tuple[float, ...]:
    if not isinstance(terms, dict) or terms.keys() != TERMS.keys():
        raise ValueError(f"{name} does not have the terms {', '.join(TERMS)}")
    return tuple(_numbers([terms[term] for term in TERMS], name, 1).tolist())


def _numbers(values: object, name: str, dimensions: int) -> Values:
    """A number, row or grid of finite numbers; ValueError if it is anything else."""
    try:
        numbers = np.array(values)
    except ValueError:
        raise ValueError(f"the rows of {name} differ in length") from None
    if numbers.ndim != dimensions or numbers.size == 0 or numbers.dtype.kind not in "if":
        raise ValueError(f"{name} does not hold the numbers it should")
    if not (np.abs(numbers) < 1e6).all():
        raise ValueError(f"{name} is out of bounds")
    return numbers.astype(np.float64)
