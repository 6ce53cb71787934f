"""Blank parts of a picture, filled from what surrounds them.

Nothing is matched within a blank part. Its disparities come from the contours around it, and a contour belongs to the
nearer of its two sides. So a blank part lies as far as most of its contours. Where something nearer cuts it off, it
goes on behind that. If its surface ends at its contours, they do not tell how it lies between them. So only parts are
filled beyond whose contours the same surface goes on, such as the black part of a poster.

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
GOES_ON = 0.7  # and if the map lies on that plane beyond as large a share of them
SURROUNDED = 0.75  # share of the outline of a square of the same area that its contours must have
ALL = 0.95  # share of the contours around a pixel that must lie on the plane for it to be brought nearer
CELL = 4  # samples a side: how finely the distance of the contours from the plane is known

Numbers = npt.NDArray[np.int32]
Doubles = npt.NDArray[np.float64]


class Contours(NamedTuple):
    """Samples beyond the contours of blank parts: part, place, disparity of the contour, and that of the map there."""

    part: Numbers
    y: Doubles
    x: Doubles
    d: Doubles
    beyond: Doubles


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
    around = Around.of(part, steps, is_blank)
    contours = seen_beyond(around, d, beside)
    if not contours.d.size:
        return None
    planes = Planes(contours, parts, r)
    plane = planes.at(contours.part, contours.y, contours.x)
    apart = contours.d - plane
    on_plane = np.abs(apart) < 2 * r
    seen = np.bincount(contours.part, minlength=parts + 1)
    good = surrounded(around, parts)
    for there, share in ((on_plane, MOST), (np.abs(contours.beyond - plane) < 2 * r, GOES_ON)):
        good &= np.bincount(contours.part[there], minlength=parts + 1) >= np.maximum(share * seen, 1)
    rest = spread_out(contours, apart, on_plane & good[contours.part], d.shape, threads)
    inside = good[around.part] & (around.steps <= INSIDE)
    at = around.at[inside]
    fill = planes.at(around.part[inside], *divmod(at, d.shape[1])).astype(np.float32) + rest.ravel()[at] - d.ravel()[at]
    # on the way to contours of the plane, nothing may lie behind it
    may_come_nearer = share_around(contours, on_plane, d.shape, threads).ravel()[at] >= ALL
    change = np.zeros_like(d)
    change.ravel()[at] = np.where(around.steps[inside] == 0, fill, np.maximum(fill, 0) * may_come_nearer)
    return change if change.any() else None


class Around(NamedTuple):
    """The samples in blank parts and around them: place in the map, part, steps to it, and whether beyond a contour."""

    at: npt.NDArray[np.intp]
    part: Numbers
    steps: Mask
    beyond: Flags

    @classmethod
    def of(cls, part: Numbers, steps: Mask, is_blank: Mask) -> "Around":
        """The samples whose part is not 0."""
        at = np.flatnonzero(part != 0)
        far = steps.ravel()[at]
        return cls(at, part.ravel()[at], far, (far > INSIDE) & (is_blank.ravel()[at] == 0))


def surrounded(around: Around, parts: int) -> Flags:
    """Whether contours go around most of a part. One thing before a blank wall tells nothing about the wall."""
    area = np.bincount(around.part[around.steps == 0], minlength=parts + 1)
    outline = 4 * np.sqrt(area) * (OUTSIDE - INSIDE)
    beyond = np.bincount(around.part[around.beyond], minlength=parts + 1)
    enough: Flags = beyond >= np.maximum(SURROUNDED * outline, 1)
    return enough


def seen_beyond(around: Around, d: Map, beside: Map) -> Contours:
    """The samples that lie beyond a contour, some of them if there are many, by part."""
    at, part = around.at[around.beyond], around.part[around.beyond]
    step = max(1, at.size // LOOKED_AT)
    at, part = at[::step], part[::step]
    order = np.argsort(part, kind="stable")
    at, part = at[order], part[order]
    beyond = d.ravel()[at]
    # a contour is as near as the nearer of its sides
    contour = np.maximum(beyond, beside.ravel()[at])
    return Contours(part, *(each.astype(np.float64) for each in (*divmod(at, d.shape[1]), contour, beyond)))


class Planes:
    """A plane for each part, through most of its contours. Of those that do not fit, nearer ones count less.

    It is found by iteratively reweighted least squares. The tolerance R of the first round is what the contours span,
    and is halved from round to round.
    """

    def __init__(self, contours: Contours, parts: int, r: float) -> None:
        part, y, x, d, _ = contours
        total = Totals(part)
        count = total.of(np.ones_like(d))
        middle = [total.of(at) / count for at in (y, x)]
        v, u = (at - total.each(mean) for at, mean in zip((y, x), middle, strict=True))
        extent = np.sqrt(total.of(v * v + u * u) / count) + 1
        X = np.stack([np.ones_like(d), v / total.each(extent), u / total.each(extent)])
        # what the sums below are made of: X X^T and X d
        XX, Xd = (X[:, None] * X).reshape(9, -1), X * d
        start, low, high = total.ranked(d, (FARTHER, 0.1, 0.9))
        # the coefficients p of d = p . X
        p = np.stack([start, np.zeros_like(start), np.zeros_like(start)])
        for i in range(ROUNDS):
            e = d - (X * total.each(p)).sum(axis=0)
            R = np.maximum(np.where(e > 0, r, 2 * r), total.each(high - low) * 0.5**i)
            g = (1 + (e / R) ** 2) ** -2
            # (sum g X X^T + FLAT sum g diag(0, 1, 1)) p = sum g X d
            M = total.of(g * XX).T.reshape(-1, 3, 3)
            M += np.diag([0, FLAT, FLAT]) * M[:, :1, :1] + 1e-12 * np.eye(3)
            p = np.linalg.solve(M, total.of(g * Xd).T[..., None])[..., 0].T
        # d = q . (1, y, x)
        slopes = p[1:] / extent
        self.q = np.zeros((3, parts + 1))
        self.q[:, total.parts] = p[0] - (slopes * middle).sum(axis=0), *slopes

    def at(self, part: Numbers, y: npt.NDArray[Any], x: npt.NDArray[Any]) -> Doubles:
        """The disparities at samples of parts, px."""
        c, by, bx = self.q[:, part]
        d: Doubles = c + by * y + bx * x
        return d


class Totals:
    """Sums of values by part. The parts are in ascending order."""

    def __init__(self, part: Numbers) -> None:
        self.parts, self.first, self.count = np.unique(part, return_index=True, return_counts=True)
        self._which = np.repeat(np.arange(len(self.parts)), self.count)

    def of(self, values: Doubles) -> Doubles:
        """The sum of the values of every part, along the last axis."""
        sums: Doubles = np.add.reduceat(values, self.first, axis=-1)
        return sums

    def each(self, values: Doubles) -> Doubles:
        """The value of the part that each sample belongs to, along the last axis."""
        return values[..., self._which]

    def ranked(self, values: Doubles, q: Sequence[float]) -> list[Doubles]:
        """The quantiles q of the values of every part."""
        ordered = values[np.lexsort((values, self._which))]
        return [ordered[self.first + (share * (self.count - 1)).astype(np.int64)] for share in q]


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
    rows, columns = mean.shape
    padded = np.zeros((2, rows + rows % 2, columns + columns % 2))
    padded[:, :rows, :columns] = total, count
    pairs = padded[:, ::2] + padded[:, 1::2]
    totals, counts = pairs[..., ::2] + pairs[..., 1::2]
    larger = smooth_between(totals, counts, threads).astype(np.float32)
    around = np.ascontiguousarray(larger.repeat(2, axis=0).repeat(2, axis=1)[:rows, :columns])
    return np.where(count > 0, mean, window_mean(around, 3, threads))


def share_around(contours: Contours, on_plane: Flags, shape: tuple[int, ...], threads: int) -> Map:
    """The share of the contours around a sample that lie on the plane of their part; 0 where there are none."""
    side = 2 * (OUTSIDE // CELL) + 1
    on, of = (
        window_mean(in_cells(contours, value, shape).astype(np.float32), side, threads)
        for value in (on_plane, np.ones_like(contours.d))
    )
    return at_samples(on / np.maximum(of, 1e-6), shape, threads)
