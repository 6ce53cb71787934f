"""The grey planes of every scale of a huge pair: the finest from the pictures, the others kept on disk."""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..camera.lens import NO_LENS
from ..io.grids import Grid, written
from ..io.windows import Picture
from ..method.brightness import Gains, Part, apply_gains, brightness_of, sampling
from ..method.frame import Frame
from ..method.prepare import grey_planes
from ..params.definitions import Photometry
from ..types import Map, Pair, Planes, Shape

STRIPE = 2**22  # px that are reduced at once
REACH = 2  # px around a pixel that its halved value depends on


class Views(Protocol):
    """The planes of one scale, in the frame of the stored pictures. They can be pickled and read anywhere."""

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        ...

    def planes(self, rows: slice, columns: slice, threads: int) -> Planes:
        """A part of the planes, without their gains."""
        ...


@dataclass(frozen=True)
class Pictures:
    """The finest scale: windows of the pictures, developed when they are read."""

    left: Picture
    right: Picture
    photometry: Photometry

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self.left.shape[:2]

    def planes(self, rows: slice, columns: slice, threads: int) -> Planes:
        """A part of the planes."""
        pair = Pair(self.left.window(rows, columns), self.right.window(rows, columns))
        return grey_planes(pair, Frame(pair.shape), self.photometry, NO_LENS, threads)


@dataclass(frozen=True)
class Reduced:
    """A coarser scale, on disk. Without a guide, the left view takes its place."""

    left: Grid
    right: Grid
    guide: Grid | None

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self.left.shape

    def planes(self, rows: slice, columns: slice, threads: int) -> Planes:
        """A part of the planes."""
        left, right = self.left.window(rows, columns), self.right.window(rows, columns)
        return Planes(left, right, left if self.guide is None else self.guide.window(rows, columns))


def all_of(views: Views, threads: int) -> Planes:
    """The whole planes of a small scale."""
    height, width = views.shape
    return views.planes(slice(0, height), slice(0, width), threads)


def prepared(views: Views, gains: Gains, axis: str, rows: slice, columns: slice, threads: int) -> Planes:
    """A part of the planes, ready to match: with their gains.

    Rows and columns are those of the matched frame.
    """
    rows, columns = (rows, columns) if axis == "x" else (columns, rows)
    planes = views.planes(rows, columns, threads)
    apply_gains(planes, gains, threads, Part(views.shape, rows.start, columns.start))
    height, width = planes.left.shape
    return Frame((height, width), axis=axis).turned(planes)


def exposure_of(pictures: Pictures, threads: int) -> Gains:
    """The gains that give left view and guide the requested exposure. The pictures are read once."""
    exposure = pictures.photometry.exposure
    if not exposure:
        return Gains()
    height, width = pictures.shape
    step = sampling(height * width)
    rows_at_once = max(STRIPE // width // step * step, step)
    samples: list[list[Map]] = [[], []]
    most = [0.0, 0.0]
    for top in range(0, height, rows_at_once):
        planes = pictures.planes(slice(top, min(top + rows_at_once, height)), slice(0, width), threads)
        for i, plane in enumerate((planes.left, planes.guide)):
            samples[i].append(plane[::step, ::step].copy())
            most[i] = max(most[i], float(plane.max()))
    views, guide = (
        exposure / brightness_of(np.concatenate(sample), brightest)
        for sample, brightest in zip(samples, most, strict=True)
    )
    return Gains(None, views, guide)


def halve(views: Views, folder: str, number: int, threads: int) -> Reduced:
    """The next coarser scale, written to the folder stripe by stripe. The left view's file appears last."""
    height, width = views.shape
    rows_at_once = max(STRIPE // width // 2 * 2, 2)
    shape = (height + 1) // 2, (width + 1) // 2
    names = [os.path.join(folder, f"{name}-{number}.npy") for name in Planes._fields]
    shared = views.planes(slice(0, 1), slice(0, 1), 1)
    kept = names[:2] if shared.guide is shared.left else names
    with ExitStack() as stack:
        files = [stack.enter_context(written(name, shape)) for name in kept]
        for top in range(0, height, rows_at_once):
            bottom = min(top + rows_at_once, height)
            above = max(top - REACH, 0)
            planes = views.planes(slice(above, min(bottom + REACH, height)), slice(0, width), threads)
            half = planes.halved(threads)
            wanted = slice((top - above) // 2, (top - above) // 2 + (bottom - top + 1) // 2)
            for file, plane in zip(files, half, strict=False):
                file.add(plane[wanted])
    return Reduced(Grid.of_npy(names[0]), Grid.of_npy(names[1]), Grid.of_npy(names[2]) if len(kept) == 3 else None)
