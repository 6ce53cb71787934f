"""The work on one huge picture, in a private folder. What is finished there is not done again."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..batches.runner import Runner
from ..errors import InputError
from ..io.atomic import OutputSet
from ..io.grids import Grid
from ..method.brightness import Gains
from ..method.confidence import compared
from ..method.margins import Around
from ..method.plan import Plan
from ..method.search import Span
from ..method.tiles import Tile
from ..params import Params
from ..run import Progress, Run, Step
from ..types import Map, Planes
from .beliefs import StoredBelief, layers_of, store, stored
from .survey import halvings_of, margin_of, surveyed
from .views import Pictures, Reduced, Views, all_of, exposure_of, halve
from .work import Answer, Mosaic, Scale, TileTask

MEASURING = 0.4  # share of the work on a scale


@dataclass(frozen=True)
class Finished:
    """All tiles of the finest scale, and how they came about.

    Attributes
    ----------
    tiles : Mosaic
        Disparity, and confidence or `signed` curvature, in the frame of the stored pictures.
    plan : Plan
        That of the whole picture, with the curvatures of all scales.
    searched : (float, float)
        The range, px.
    notes : tuple of str
        What the user should know, a sentence each.
    margin : (int, int)
        The margin of the finished tiles: rows and columns, px.
    megabytes : float
        The largest peak of memory of a process that solved tiles.
    """

    tiles: Mosaic
    plan: Plan
    searched: tuple[float, float]
    notes: tuple[str, ...]
    margin: Around
    megabytes: float

    @cached_property
    def curvature(self) -> float | None:
        """The mean curvature of the belief, for a relative confidence; None if it is absolute."""
        return None if self.plan.params.measures_error else self.tiles.mean_size(1)

    def disparity(self, rows: slice, columns: slice) -> Map:
        """A part of the map, px."""
        values: Map = self.tiles.window([0], rows, columns)[0]
        return values

    def confidence(self, rows: slice, columns: slice) -> Map:
        """How far to trust each disparity of a part of the map, 0 to 1."""
        values: Map = self.tiles.window([1], rows, columns)[0]
        return values if self.curvature is None else compared(np.maximum(values, 0), self.curvature)


@dataclass
class Job:
    """One huge picture.

    Attributes
    ----------
    folder : str
        The private folder.
    pictures : Pictures
        The two views.
    params : Params
        The parameters.
    axis : "x", "y" or None
        As for `dualpix.disparity`.
    side : int
        Side of the tiles, px.
    runner : Runner
        Who does the tiles.
    run : Run
        Threads of this process, and the clock.
    progress : callable or None
        Called with a `Step` when a tile has ended.
    """

    folder: str
    pictures: Pictures
    params: Params
    axis: str | None
    side: int
    runner: Runner
    run: Run
    progress: Progress | None = None
    _megabytes: float = field(default=0.0, init=False)
    _halvings: int = field(default=0, init=False)

    def done(self) -> Finished:
        """Do what is not done yet: a coarse belief of the whole, then every finer scale by tiles."""
        halvings = halvings_of(self.pictures.shape, self.params)
        self._halvings = halvings
        self._say("reducing", halvings, 0)
        with self.run.stage("reduce"):
            views, gains = self._views(halvings)
        plan, belief, notes = self._coarse(views[halvings], halvings, gains)
        for number in range(halvings - 1, -1, -1):
            here = plan
            for _ in range(number):
                here = here.coarser()
            scale = Scale(views[number], belief, here.finest(belief.whole()), is_finest=number == 0)
            with self.run.stage("curvature"):
                scale = self._measured(number, scale)
            with self.run.stage("tiles"):
                mosaic = self._solved(number, scale)
            if number:
                with self.run.stage("merge"):
                    belief = self._merged(number, scale, mosaic)
        plan = replace(plan, curvatures=(*belief.curvatures, *scale.plan.curvatures))
        first, last = scale.plan.search.finest or (0, 0)
        searched = plan.search.limits_of(Span(range(first, last + 1)))
        return Finished(mosaic, plan, searched, notes, self._margin(scale), self._megabytes)

    # ---- the whole picture -----------------------------------------------------------------------

    def _views(self, halvings: int) -> tuple[list[Views], Gains]:
        """The views of all scales, fine to coarse, and the exposure.

        It is applied after the views are halved, as that of the whole picture is: a difference in rounding can change
        which minimum of a stereo pair is chosen.
        """
        threads = self.run.threads
        gains = Gains.from_dict(self._once("gains.json", lambda: asdict(exposure_of(self.pictures, threads))))
        views: list[Views] = [self.pictures]
        for number in range(1, halvings + 1):
            views.append(self._reduced(number) or halve(views[-1], self.folder, number, threads))
        return views, gains

    def _reduced(self, number: int) -> Reduced | None:
        paths = [self._path(f"{name}-{number}.npy") for name in Planes._fields]
        if not os.path.exists(paths[0]):  # it is the last to appear
            return None
        left, right = map(Grid.of_npy, paths[:2])
        return Reduced(left, right, Grid.of_npy(paths[2]) if os.path.exists(paths[2]) else None)

    def _coarse(self, views: Views, number: int, gains: Gains) -> tuple[Plan, StoredBelief, tuple[str, ...]]:
        """The plan of the whole picture, and the belief of its coarse scale."""

        def solve() -> dict[str, Any]:
            planes, shape = all_of(views, self.run.threads), self.pictures.shape
            coarse = surveyed(planes, number, self.params, shape, gains, self.axis, self.run)
            del planes
            belief, layers = coarse.belief, layers_of(coarse.belief)
            measured, curvatures = belief.signs is not None, belief.curvatures
            store(lambda rows: layers[:, rows], belief.A.shape, self.folder, number, measured, curvatures)
            found = {"notes": coarse.notes, "measured": measured, "curvatures": curvatures}
            return {"plan": coarse.plan.to_dict(), **found}

        kept = self._once("plan.json", solve)
        belief = stored(self.folder, number, kept["measured"], tuple(kept["curvatures"]))
        return Plan.from_dict(kept["plan"]), belief, tuple(kept["notes"])

    # ---- tiles -----------------------------------------------------------------------------------

    def _margin(self, scale: Scale) -> Around:
        """What a solved tile of the scale needs around it, px."""
        solving = scale.margins.solving
        assert solving is not None
        assert scale.plan.search.finest is not None
        return margin_of(scale.plan.method, scale.plan.search.finest) if scale.is_finest else solving

    def _measured(self, number: int, scale: Scale) -> Scale:
        """The scale with the mean curvature of its evidence, which is the unit of the penalty."""

        def measure() -> float:
            tiles = scale.tiles(self.side, scale.margins.local)
            files = self._files("sum", number, tiles)
            self._run("measuring", number, (0, MEASURING), self._tasks(scale, tiles, files))
            height, width = scale.shape
            return sum(float(np.load(file).item()) for file in files) / (height * width)

        mean = self._once(f"curvature-{number}.json", measure)
        return replace(scale, plan=replace(scale.plan, curvatures=(mean,)))

    def _solved(self, number: int, scale: Scale) -> Mosaic:
        """The tiles of a scale."""
        tiles = scale.tiles(self.side, self._margin(scale))
        files = self._files("tile", number, tiles)
        turned = scale.is_finest and scale.plan.frame.axis == "y"
        places = [(tile.columns, tile.rows) if turned else (tile.rows, tile.columns) for tile in tiles]
        merged = number and os.path.exists(self._path(f"belief-{number}.json"))
        if not merged:
            self._run("solving", number, (MEASURING, 1), self._tasks(scale, tiles, files))
        return Mosaic(places, files)

    def _merged(self, number: int, scale: Scale, mosaic: Mosaic) -> StoredBelief:
        """The belief of a scale from its tiles."""
        measured, curvatures = scale.coarser.measured, (*scale.coarser.curvatures, *scale.plan.curvatures)
        height, width = scale.shape

        def merge() -> list[float]:
            def rows_of(rows: slice) -> Any:
                return mosaic.window(range(4), rows, slice(0, width))

            store(rows_of, (height, width), self.folder, number, measured, curvatures)
            return list(curvatures)

        self._once(f"belief-{number}.json", merge)
        for file in mosaic.files:
            if os.path.exists(file):
                os.remove(file)
        return stored(self.folder, number, measured, curvatures)

    def _files(self, name: str, number: int, tiles: Sequence[Tile]) -> list[str]:
        return [self._path(f"{name}-{number}-{index}.npy") for index in range(len(tiles))]

    def _tasks(self, scale: Scale, tiles: Sequence[Tile], files: Sequence[str]) -> list[TileTask]:
        """A task for every tile that has no file yet."""
        return [
            TileTask(index, scale, tile, file)
            for index, (tile, file) in enumerate(zip(tiles, files, strict=True))
            if not os.path.exists(file)
        ]

    def _run(self, name: str, number: int, share: tuple[float, float], tasks: list[TileTask]) -> None:
        """Run tasks, which are that share, from and to, of the work on scale `number`."""
        begin, end = share
        with closing(self.runner.run(tasks)) as found:
            for ended, answer in enumerate(found, 1):
                if answer.error is not None:
                    raise _refusal(answer)
                self._megabytes = max(self._megabytes, answer.megabytes)
                self._say(name, number, begin + (end - begin) * ended / len(tasks), ended, len(tasks))

    def _say(self, name: str, number: int, done: float, tile: int = 0, tiles: int = 0) -> None:
        """Report a step of scale `number`, of whose work that share is done. Scale 0 is the finest."""
        if self.progress:
            coarser = sum(4.0**-other for other in range(number + 1, self._halvings + 1))
            total = sum(4.0**-other for other in range(self._halvings + 1))
            share = (coarser + done * 4.0**-number) / total
            self.progress(Step(f"{name}, 1/{2**number}", share, tile, tiles, "tile"))

    # ---- the folder ------------------------------------------------------------------------------

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """What `make` returns, as JSON. It is kept and not made again."""
        path = self._path(name)
        if not os.path.exists(path):
            text = json.dumps(make())
            with OutputSet([path]) as files:
                files.write(path, text.encode())
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def _refusal(answer: Answer) -> Exception:
    if answer.is_input:
        return InputError(answer.error)
    return RuntimeError(f"tile {answer.number}: {answer.error}. Finished tiles are kept: start again to go on")
