"""Blank parts of a picture, filled from what surrounds them.

Nothing is matched within a blank part. Its disparities come from the contours around it, and a contour belongs to the
nearer of its two sides. So a blank part lies as far as most of its contours. Where something nearer cuts it off, it
goes on behind that.

A part is blank if the next coarser scale has no texture there. The signs of that scale are known at every eighth pixel
of the map. All maps here have these samples.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..params import Params
from ..types import Flags, Map, Mask, Parabolas, doubled, empty, empty_like
from .confidence import EVERY, sampled, window_mean

STEP = 2 * EVERY  # px: the coarser scale tells what is blank
SPECKLES = 5  # side of a window; a pixel is blank if most of the window is
LEAST = 0.005  # share of the picture of a part that counts
INSIDE, OUTSIDE = 4, 8  # steps: within INSIDE windows still see the contour; what lies beyond tells its depth
LOOKED_AT = 2_000  # samples beyond contours, at most twice as many
FARTHER = 0.3  # share of the contours that lie behind the plane that the fit starts with
ROUNDS = 8  # of the fit
FLAT = 0.3  # weight of planes without slope, as a share of that of the contours
MOST = 0.6  # a part is filled if as large a share of its contours lies on one plane
SURROUNDED = 0.75  # share of the outline of a square of the same area that its contours must have
ALL = 0.95  # share of the contours around a pixel that must lie on the plane for it to be brought nearer
CELL = 4  # samples a side: how finely the distance of the contours from the plane is known

Numbers = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]


class Contours(NamedTuple):
    """Samples beyond the contours of blank parts: part, place, and disparity of the contour."""

    part: Numbers
    y: Doubles
    x: Doubles
    d: Doubles


def filled(belief: Parabolas, params: Params, threads: int) -> Parabolas:
    """The belief with other disparities in the blank parts of the picture; its parabolas stay."""
    signs, blank = belief.signs, params.smoothing.blank
    if not blank or not params.aggregation.fattening or signs is None or signs.below is None:
        return belief
    d = belief.disparity(threads)
    change = change_of(sampled(d, STEP, threads), signs.below, blank, params.aggregation.fattening, threads)
    if change is not None:
        is_filled = (change != 0).view(np.uint8).repeat(2, axis=0).repeat(2, axis=1)
        rows, columns = (-(-n // EVERY) for n in d.shape)
        signs = signs._replace(filled=is_filled[:rows, :columns])
        for size in (STEP // 2, STEP // 4):
            change = doubled(change, tuple(-(-n // size) for n in d.shape), threads)
        _core.pyramid_up(change, d, add=True, threads=threads)
    return replace(belief, vertex=d, signs=signs)


def change_of(d: Map, texture: Map, blank: float, r: float, threads: int) -> Map | None:
    """What to add to the disparities d, px; None if nothing changes.

    Parameters
    ----------
    d, texture : float32 map
        Disparities, and the mean curvature of the matches around them.
    blank : float
        Curvature below which a pixel is blank.
    r : float
        Distance from a plane, px, that is usual for contours of the same surface.
    """
    part, steps, beside = empty(d.shape, np.int32), empty(d.shape, np.uint8), empty_like(d)
    is_blank = (window_mean((texture < blank).astype(np.float32), SPECKLES, threads) > 0.5).view(np.uint8)
    parts = _core.blank_parts(is_blank, d, part, steps, beside, least=math.ceil(LEAST * d.size), reach=OUTSIDE)
    if not parts:
        return None
    # a contour is as near as the nearer of its sides
    beyond = (steps > INSIDE) & (is_blank == 0)
    contours = seen_beyond(part, beyond, np.maximum(d, beside))
    if not contours.d.size:
        return None
    planes = Planes(contours, parts, r)
    apart = contours.d - planes.at(contours.part, contours.y, contours.x)
    on_plane = np.abs(apart) < 2 * r
    seen = np.bincount(contours.part, minlength=parts + 1)
    good = np.bincount(contours.part[on_plane], minlength=parts + 1) >= np.maximum(MOST * seen, 1)
    good &= surrounded(part, steps, beyond, parts)
    rest = spread_out(contours, apart, on_plane & good[contours.part], d.shape, threads)
    change = np.zeros_like(d)
    is_good = good[part]  # never of part 0, which is none
    inside = is_good & (steps == 0)
    change[inside] = fill(planes, part, rest, inside) - d[inside]
    # on the way to contours of the plane, nothing may lie behind it
    on_the_way = is_good & (steps > 0) & (steps <= INSIDE)
    on_the_way &= share_around(contours, on_plane, d.shape, threads) >= ALL
    change[on_the_way] = np.maximum(fill(planes, part, rest, on_the_way) - d[on_the_way], 0)
    return change if change.any() else None


def surrounded(part: Numbers, steps: Mask, beyond: Flags, parts: int) -> Flags:
    """Whether contours go around most of a part. One thing before a blank wall tells nothing about the wall."""
    area = np.bincount(part[steps == 0], minlength=parts + 1)
    outline = 4 * np.sqrt(area) * (OUTSIDE - INSIDE)
    enough: Flags = np.bincount(part[beyond], minlength=parts + 1) >= np.maximum(SURROUNDED * outline, 1)
    return enough


def seen_beyond(part: Numbers, beyond: Flags, contour: Map) -> Contours:
    """The samples that lie beyond a contour, some of them if there are many."""
    y, x = np.nonzero(beyond)
    step = max(1, y.size // LOOKED_AT)
    y, x = y[::step], x[::step]
    return Contours(part[y, x], y.astype(np.float64), x.astype(np.float64), contour[y, x].astype(np.float64))


class Planes:
    """A plane for each part, through most of its contours. Of those that do not fit, nearer ones count less.

    It is found by iteratively reweighted least squares. The tolerance R of the first round is what the contours span,
    and is halved from round to round.
    """

    def __init__(self, contours: Contours, parts: int, r: float) -> None:
        part, y, x, d = contours
        count = np.maximum(np.bincount(part, minlength=parts + 1), 1)
        self.middle = [np.bincount(part, at, parts + 1) / count for at in (y, x)]
        around = (y - self.middle[0][part]) ** 2 + (x - self.middle[1][part]) ** 2
        self.extent = np.sqrt(np.bincount(part, around, parts + 1) / count) + 1
        # the coefficients p of d = p . (1, v, u)
        self.p = np.zeros((parts + 1, 3))
        start, low, high = ranked(part, d, count, (FARTHER, 0.1, 0.9))
        self.p[:, 0] = start
        X = self._places(part, y, x)
        for i in range(ROUNDS):
            e = d - (X * self.p[part].T).sum(axis=0)
            R = np.maximum(np.where(e > 0, r, 2 * r), (high - low)[part] * 0.5**i)
            g = (1 + (e / R) ** 2) ** -2
            # (sum g X X^T + FLAT sum g diag(0, 1, 1)) p = sum g X d
            M = np.array([[np.bincount(part, g * a * b, parts + 1) for a in X] for b in X]).transpose(2, 0, 1)
            M += np.diag([0, FLAT, FLAT]) * M[:, :1, :1] + 1e-12 * np.eye(3)
            b = np.array([np.bincount(part, g * a * d, parts + 1) for a in X]).T
            self.p = np.linalg.solve(M, b[..., None])[..., 0]

    def at(self, part: Numbers, y: npt.NDArray[Any], x: npt.NDArray[Any]) -> Doubles:
        """The disparities at samples of parts, px."""
        d: Doubles = (self._places(part, y, x) * self.p[part].T).sum(axis=0)
        return d

    def _places(self, part: Numbers, y: npt.NDArray[Any], x: npt.NDArray[Any]) -> Doubles:
        """Rows 1, v, u: the place of each sample, relative to the middle and the extent of the contours of its part."""
        v, u = ((at - middle[part]) / self.extent[part] for at, middle in zip((y, x), self.middle, strict=True))
        return np.stack([np.ones_like(v), v, u])


def ranked(part: Numbers, d: Doubles, count: npt.NDArray[Any], q: Sequence[float]) -> list[Any]:
    """The quantiles q of the values of every part."""
    ordered = d[np.lexsort((d, part))]
    first = np.searchsorted(np.sort(part), np.arange(len(count)))
    return [ordered[np.minimum(first + (share * (count - 1)).astype(np.int64), len(d) - 1)] for share in q]


def fill(planes: Planes, part: Numbers, rest: Map, where: Flags) -> Map:
    """The disparities of some samples: the plane of their part, and how far the contours nearby lie from it."""
    y, x = np.nonzero(where)
    d: Map = planes.at(part[y, x], y, x).astype(np.float32) + rest[y, x]
    return d


def in_cells(contours: Contours, values: npt.NDArray[Any], shape: tuple[int, ...]) -> Doubles:
    """The sums of such values in cells of the map."""
    rows, columns = (-(-n // CELL) for n in shape)
    cell = contours.y.astype(np.int64) // CELL * columns + contours.x.astype(np.int64) // CELL
    sums: Doubles = np.bincount(cell, values, rows * columns).astype(np.float64).reshape(rows, columns)
    return sums


def at_samples(cells: npt.NDArray[Any], shape: tuple[int, ...], threads: int) -> Map:
    """A map of cells at every sample."""
    full = cells.astype(np.float32).repeat(CELL, axis=0).repeat(CELL, axis=1)
    return window_mean(np.ascontiguousarray(full[: shape[0], : shape[1]]), CELL + 1, threads)


def spread_out(contours: Contours, apart: Doubles, known: Flags, shape: tuple[int, ...], threads: int) -> Map:
    """How far the contours on a plane lie from it, and between them a smooth surface, at every sample."""
    total, count = (in_cells(contours, np.where(known, value, 0), shape) for value in (apart, 1.0))
    return at_samples(smooth_between(total, count, threads), shape, threads)


def smooth_between(total: Doubles, count: Doubles, threads: int) -> npt.NDArray[Any]:
    """The mean of every cell; of a cell that is empty, that of larger and larger cells around it."""
    mean = total / np.maximum(count, 1)
    if max(total.shape) == 1 or count.all():
        return mean
    padded = [np.pad(each, [(0, n % 2) for n in each.shape]) for each in (total, count)]
    larger = [each.reshape(len(each) // 2, 2, -1, 2).sum(axis=(1, 3)) for each in padded]
    around = smooth_between(larger[0], larger[1], threads).repeat(2, axis=0).repeat(2, axis=1)
    around = window_mean(np.ascontiguousarray(around[: len(mean), : mean.shape[1]], np.float32), 3, threads)
    return np.where(count > 0, mean, around)


def share_around(contours: Contours, on_plane: Flags, shape: tuple[int, ...], threads: int) -> Map:
    """The share of the contours around a sample that lie on the plane of their part; 0 where there are none."""
    side = 2 * (OUTSIDE // CELL) + 1
    on, of = (
        window_mean(in_cells(contours, value, shape).astype(np.float32), side, threads)
        for value in (on_plane, np.ones_like(contours.d))
    )
    return at_samples(on / np.maximum(of, 1e-6), shape, threads)
