"""Tiles of a picture: how to cut them, and how to solve one alone.

A tile needs a margin (see `margins`), the plan of the whole picture, and the belief of its next coarser scale. The
package `mosaic` does this for pictures that are too large to be solved whole.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from .. import _core
from ..run import Run
from ..types import Parabolas, Planes
from .frame import Frame
from .margins import Around, Margins
from .plan import Plan
from .scales import Level, Pyramid
from .search import searched
from .solve import gather, solve, without_map


class Tile(NamedTuple):
    """A part of a picture: rows and columns, without and with the margin."""

    rows: slice
    columns: slice
    outer_rows: slice
    outer_columns: slice

    @property
    def inner(self) -> tuple[slice, slice]:
        """The rows and columns without the margin, in the part with it."""
        both = (self.rows, self.outer_rows), (self.columns, self.outer_columns)
        rows, columns = (slice(own.start - outer.start, own.stop - outer.start) for own, outer in both)
        return rows, columns

    @property
    def coarser(self) -> tuple[slice, slice]:
        """The rows and columns with the margin at the next coarser scale."""
        rows, columns = (slice(at.start // 2, (at.stop + 1) // 2) for at in (self.outer_rows, self.outer_columns))
        return rows, columns


def margins(plan: Plan, limits: tuple[float, float]) -> Margins:
    """The margins of all stages at the finest scale of a plan, for disparities within the limits."""
    return plan.method.margins(searched(limits, 1))


def tiles(shape: tuple[int, ...], side: int, margin: Around) -> Iterator[Tile]:
    """Tiles of at most `side` pixels that cover a picture.

    The matcher gives every square of `_core.tile` pixels a range of its own. Margins start at multiples of that, so
    that the squares are those of the whole picture.
    """
    parts = [[slice(at, min(at + side, n)) for at in range(0, n, side)] for n in shape]
    for rows, columns in product(*parts):
        outer = (
            slice(max(part.start - around, 0) // _core.tile * _core.tile, min(part.stop + around, n))
            for part, around, n in zip((rows, columns), margin, shape, strict=True)
        )
        yield Tile(rows, columns, *outer)


def solve_tile(planes: Planes, coarser: Parabolas, plan: Plan, tile: Tile, run: Run | None = None) -> Parabolas:
    """The belief of a tile, without its margin.

    Parameters
    ----------
    planes : Planes
        Prepared planes of the finest scale; only the tile and its margin are read.
    coarser : Parabolas
        The belief of the next coarser scale of the whole picture.
    plan : Plan
        `Plan.finest` of the whole picture, with the mean curvature of that scale.
    """
    part = planes.cropped(tile.outer_rows, tile.outer_columns)
    below = coarser.cropped(*tile.coarser)
    return solve_part(part, below, plan, run).cropped(*tile.inner)


def solve_part(part: Planes, coarser: Parabolas, plan: Plan, run: Run | None = None) -> Parabolas:
    """The belief of a tile and its margin, from the planes and the coarser belief of just that part."""
    height, width = part.left.shape
    return solve(Pyramid(part, Frame((height, width))), plan, coarser=coarser, run=run)


def evidence_of(part: Planes, coarser: Parabolas, plan: Plan, run: Run) -> Parabolas:
    """The evidence of a tile and its margin, which gives the mean curvature. Its margin may be that of matching."""
    span = plan.search.at(1, coarser, run.threads)
    return gather(Level(part), span, plan.method, without_map(coarser, run.threads, plan.span), (), run)
