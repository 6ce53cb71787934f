"""One scale as independent tasks: a tile each. They run in any process that sees the same files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..batches.process import peak_megabytes
from ..camera.lens import NO_LENS
from ..errors import DualpixError, sentence
from ..io.grids import Array, Grid, save
from ..method.finish import finish
from ..method.frame import Frame
from ..method.margins import Around, Margins
from ..method.memory import gigabytes
from ..method.plan import Plan
from ..method.prepare import guide_of_outlines
from ..method.result import Result
from ..method.scales import Pyramid
from ..method.tiles import Tile, evidence_of, solve_part, tiles
from ..opencv import opencv_threads
from ..run import Run
from ..types import Map, Parabolas, Planes, Shape
from .beliefs import StoredBelief, layers_of
from .views import Views, prepared

PROCESS = 0.2  # GB that a process needs beside its maps
READ = 4  # float32 maps beside those of the method: the views as read, and their planes


class Answer(NamedTuple):
    """What became of a tile.

    Attributes
    ----------
    number : int
        Its number.
    megabytes : float
        The peak of memory of the process so far.
    error : str or None
        What went wrong.
    is_input : bool
        Whether the error is the input's.
    """

    number: int
    megabytes: float = 0.0
    error: str | None = None
    is_input: bool = False


@dataclass(frozen=True)
class Scale:
    """What all tiles of a scale share.

    Attributes
    ----------
    views : Views
        Their planes.
    coarser : StoredBelief
        The belief of the next coarser scale.
    plan : Plan
        `Plan.finest` of that belief. Its curvature may be missing until it is measured.
    is_finest : bool
        Whether the tiles are finished, or kept as beliefs for the next scale.
    """

    views: Views
    coarser: StoredBelief
    plan: Plan
    is_finest: bool

    @property
    def shape(self) -> Shape:
        """Rows and columns in the matched frame."""
        return self.views.shape if self.plan.frame.axis == "x" else self.views.shape[::-1]

    @property
    def margins(self) -> Margins:
        """What a tile needs around it."""
        assert self.plan.search.finest is not None
        first, last = self.plan.search.finest
        return self.plan.method.margins(range(first, last + 1))

    def tiles(self, side: int, margin: Around) -> list[Tile]:
        """Its tiles, in the matched frame."""
        return list(tiles(self.shape, side, margin))

    def part(self, tile: Tile, threads: int) -> tuple[Planes, Parabolas]:
        """The planes and the coarser belief of a tile and its margin."""
        rows, columns = tile.outer_rows, tile.outer_columns
        planes = prepared(self.views, self.plan.gains, self.plan.frame.axis, rows, columns, threads)
        return planes, self.coarser.window(*tile.coarser)

    def curvature(self, tile: Tile, run: Run) -> Array:
        """The sum of the curvatures of the evidence of a tile, as an array."""
        evidence = evidence_of(*self.part(tile, run.threads), self.plan, run)
        return np.asarray(evidence.A[tile.inner].sum(dtype=np.float64, keepdims=True))

    def solved(self, tile: Tile, run: Run) -> Map:
        """The layers of a tile without its margin: those of a belief, or disparity and confidence if it is finished.

        Finished tiles are in the frame of the stored pictures. A relative confidence needs the mean curvature of all
        tiles, so they hold the `signed` curvature instead.
        """
        planes, coarser = self.part(tile, run.threads)
        guide = guide_of_outlines(planes, self.plan.params, run.threads) if self.is_finest else None
        belief = solve_part(planes, coarser, self.plan, run)
        if not self.is_finest:
            return layers_of(belief.cropped(*tile.inner))
        height, width = belief.A.shape
        axis = self.plan.frame.axis
        frame = Frame((height, width) if axis == "x" else (width, height), axis=axis)
        pyramid = Pyramid(planes, frame, guide=guide)
        result = finish(belief, None, pyramid, replace(self.plan, frame=frame), NO_LENS, run)
        inner = tile.inner if axis == "x" else tile.inner[::-1]
        sure = result.confidence if self.plan.params.measures_error else signed(result, frame)
        return np.stack([result.disparity[inner], sure[inner]])


def signed(result: Result, frame: Frame) -> Map:
    """The curvature of the belief of every pixel, negative where the confidence is 0."""
    A = frame.back(result.belief.A)
    return np.where(result.confidence > 0, A, -A)


@dataclass(frozen=True)
class TileTask:
    """A tile to measure, if the plan has no curvature yet, or to solve; see `batches.runner.Task`."""

    number: int
    scale: Scale
    tile: Tile
    file: str
    threads: int = 1

    def run(self) -> Answer:
        """Do it. A file that exists is a finished tile; it appears whole or not at all."""
        try:
            if not os.path.exists(self.file):
                do = self.scale.solved if self.scale.plan.curvatures else self.scale.curvature
                with opencv_threads(self.threads):
                    save(self.file, do(self.tile, Run(self.threads)))
            return Answer(self.number, peak_megabytes())
        except Exception as error:  # the answer says what is wrong
            return self.failed(sentence(error))._replace(is_input=isinstance(error, DualpixError))

    def failed(self, why: str) -> Answer:
        """The answer without a result."""
        return Answer(self.number, error=why)

    def gigabytes(self) -> float:
        """Memory that `run` needs."""
        rows, columns = (at.stop - at.start for at in (self.tile.outer_rows, self.tile.outer_columns))
        return PROCESS + gigabytes((rows, columns), READ + self.scale.plan.method.floats_per_pixel(2, False))


@dataclass(frozen=True)
class Mosaic:
    """The finished tiles of a scale, and the files that hold them. Rows and columns are those of the tiles' files."""

    places: Sequence[tuple[slice, slice]]
    files: Sequence[str]

    @cached_property
    def grids(self) -> list[Grid]:
        """The files, as one tall array each: layer above layer."""
        return [_tall(file) for file in self.files]

    def mean_size(self, layer: int) -> float:
        """The mean of the absolute values of a layer."""
        sums = (np.abs(np.load(file, mmap_mode="r")[layer]).sum(dtype=np.float64) for file in self.files)
        pixels = sum((rows.stop - rows.start) * (columns.stop - columns.start) for rows, columns in self.places)
        return float(sum(sums) / pixels)

    def window(self, layers: Sequence[int], rows: slice, columns: slice) -> Map:
        """Some layers of a part of the picture."""
        part = np.empty((len(layers), rows.stop - rows.start, columns.stop - columns.start), np.float32)
        for grid, place in zip(self.grids, self.places, strict=True):
            (y, x), height = (at.start for at in place), place[0].stop - place[0].start
            above, below = max(rows.start, y), min(rows.stop, place[0].stop)
            before, behind = max(columns.start, x), min(columns.stop, place[1].stop)
            if above >= below or before >= behind:
                continue
            for number, layer in enumerate(layers):
                first = layer * height - y
                part[
                    number,
                    above - rows.start : below - rows.start,
                    before - columns.start : behind - columns.start,
                ] = grid.window(slice(first + above, first + below), slice(before - x, behind - x))
        return part


def _tall(file: str) -> Grid:
    grid = Grid.of_npy(file)
    layers, height, width = grid.shape
    return replace(grid, shape=(layers * height, width))
