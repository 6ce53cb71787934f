"""`dualpix.batch`: many captures to maps, in several processes; what is finished is not done again."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from ..errors import InputError
from ..files import given_path
from ..io import urls
from ..io.atomic import output_path
from ..io.formats import SUFFIXES
from ..method.memory import available
from ..params import DEFAULT_PRESET, Params, resolve
from ..params.overrides import Overrides, Preset, Unpack
from ..params.rules import Choice, Real, Whole, check
from ..run import LOG, thread_count
from ..types import StrPath
from .capture import Capture
from .cluster import LOCAL, Cluster, check_scheduler, count_threads
from .folder import BATCH, check_folder, opened
from .inputs import Row, find_shots
from .outcome import Outcome
from .processes import Processes
from .recipe import Recipe, as_task, check_outputs
from .results import Results
from .runner import Here, Runner, Task
from .shot import Shot

Inputs = StrPath | Row | Sequence[StrPath | Row]


def batch(
    inputs: Inputs,
    output: StrPath,
    preset: Preset | Params = DEFAULT_PRESET,
    *,
    format: str = "tiff",
    png: str | None = None,
    near: str | None = None,
    confidence: bool = False,
    preview: bool = False,
    calibration: StrPath | None = None,
    layout: str | None = None,
    first: str | None = None,
    axis: str | None = None,
    mask_occluded: bool = False,
    jobs: int | None = None,
    threads: int | None = None,
    mem_limit: float | None = None,
    force: bool = False,
    scheduler: str | None = None,
    runner: Runner | None = None,
    **overrides: Unpack[Overrides],
) -> Batch:
    """Make the maps of many captures. Iterating over the result does the work.

    >>> for outcome in dualpix.batch("photos", "maps"):
    ...     print(outcome.name, outcome.error or outcome.outputs["disparity"])

    Parameters
    ----------
    inputs
        A folder, a pattern such as ``photos/**/*.CR3``, a manifest (.csv, .jsonl), a file with both views, or a row of
        a manifest as a dict; or a list of them. Paths may be URLs, such as ``s3://bucket/photos``.
    output
        The folder for maps, sidecars and ``results.jsonl``, or a URL. If the batch was begun there before, it goes on.
    preset, **overrides
        As for `dualpix.disparity`.
    format : str
        Suffix of the maps.
    png, near : str, optional
        For .png maps: see ``dualpix disparity``.
    confidence, preview : bool
        Also write ``NAME.confidence.tiff`` and ``NAME.preview.png``.
    calibration, layout, first, axis, mask_occluded
        As for `dualpix.disparity`. A row of a manifest may say otherwise, except for `mask_occluded`.
    jobs : int, optional
        Number of processes; by default one for every thread, fewer if memory is short.
    threads : int, optional
        Number of threads of all processes together; by default ``DUALPIX_THREADS``, else every core.
    mem_limit : float, optional
        Memory of all processes together, GB; by default all that is free now.
    force : bool
        Use `output` even if it holds another batch or other files. Outputs of the same name are replaced.
    scheduler : str, optional
        Run on Dask: "local", or the address of a scheduler, such as ``tcp://node1:8786``. At an address, the workers
        have their own `jobs`, `threads` and `mem_limit`, so these must not be given.
    runner : Runner, optional
        Runs the captures instead of `jobs` processes here; see `dualpix.batches.runner`.

    Returns
    -------
    Batch
        Yields an `Outcome` for every capture. An error of one does not stop the others.

    Raises
    ------
    DualpixError
        At once, if inputs, options or the output folder are not as they must be. Nothing is written then.
    """
    recipe = Recipe(
        preset=preset if isinstance(preset, str) else "",
        params=resolve(preset, overrides),
        suffix=f".{format.removeprefix('.').lower()}",
        png=png,
        near=near,
        confidence=confidence,
        preview=preview,
        calibration=None if calibration is None else given_path(calibration, "calibration"),
        layout=layout,
        first=first,
        axis=axis,
        mask_occluded=mask_occluded,
    )
    return Batch(
        _as_list(inputs),
        output_path(output, "output"),
        recipe,
        jobs=jobs,
        threads=threads,
        mem_limit=mem_limit,
        force=force,
        scheduler=scheduler,
        runner=runner,
    )


class Batch:
    """A batch that is checked and ready to run. ``len`` is its number of captures.

    Attributes
    ----------
    others : int
        Pictures in the input folders that belong to no capture.
    jobs, threads : int
        Number of processes, and of threads in each of them.
    waits : callable
        Is told in a sentence when another batch writes in the folder, and this one waits for its end. By default it is
        logged.
    """

    def __init__(
        self,
        inputs: Sequence[StrPath | Row],
        output: StrPath,
        recipe: Recipe,
        *,
        jobs: int | None = None,
        threads: int | None = None,
        mem_limit: float | None = None,
        force: bool = False,
        scheduler: str | None = None,
        runner: Runner | None = None,
    ) -> None:
        check("format", recipe.suffix[1:], Choice(*(suffix[1:] for suffix in SUFFIXES)))
        if scheduler is not None:
            check_scheduler(scheduler, jobs=jobs, threads=threads, mem_limit=mem_limit)
        if urls.is_url(output):
            urls.check_writable(os.fspath(output))
        self._folder, self._recipe, self._runner, self._scheduler = urls.plain(output), recipe, runner, scheduler
        self._limit = available() if mem_limit is None else check("mem_limit", mem_limit, Real(0, 1e9, above=True))
        cores = thread_count(threads)
        asked = None if jobs is None else check("jobs", jobs, Whole(1, 1024))
        recipe.check_calibration()  # else every capture would fail for the same reason
        self._shots, self.others = find_shots(inputs, recipe.layout, self._folder)
        files = (self._folder, *(file for shot in self._shots for file in (shot.left, shot.right) if file))
        self._in_memory = any(urls.scheme(file) == "memory" for file in files)
        if self._in_memory and scheduler is not None:
            raise InputError("memory:// is the memory of this process, which workers do not see: give another URL")
        if not self._shots:
            raise InputError(f"{', '.join(map(str, inputs)) or 'inputs'}: holds no capture: give at least one")
        self.threads = 1
        check_outputs(map(self._capture, self._shots), self._shots, self._folder)
        self._identity = {
            "inputs": [_described(each) for each in inputs],
            "options": recipe.to_dict(),
        }
        check_folder(self._folder, self._identity, force)
        self.jobs: int = asked or self._sensible_jobs(cores)
        self.threads = max(1, cores // self.jobs)
        if scheduler not in (None, LOCAL):
            self.jobs, self.threads, self._limit = count_threads(scheduler), 1, None
        elif scheduler == LOCAL and self._limit is not None:
            self._limit /= self.jobs  # every worker has its share

        self.waits: Callable[[str], object] = LOG.warning

    def __len__(self) -> int:
        return len(self._shots)

    def __iter__(self) -> Generator[Outcome, None, None]:
        """Run the captures that are not finished. Yields what became of each, those that were finished included."""
        with (
            opened(self._folder, self._identity, self.waits) as lock,
            closing(Results(self._folder)) as results,
            closing(self._chosen_runner(lock).run(map(self._task, self._shots))) as outcomes,
        ):
            for outcome in outcomes:
                results.add(outcome)
                yield outcome

    def _chosen_runner(self, lock: tuple[int, ...]) -> Runner:
        if self._runner is not None:
            return self._runner
        if self._scheduler is not None:
            seen = None if urls.is_url(self._folder) else os.path.join(os.path.abspath(self._folder), BATCH)
            return Cluster(self._scheduler, self.jobs, seen)
        return Here() if self._in_memory else Processes(self.jobs, self._limit, lock)

    def _capture(self, shot: Shot) -> Capture:
        return self._recipe.capture(shot, self._folder, self.threads, self._limit)

    def _task(self, shot: Shot) -> Task[Outcome]:
        return as_task(self._capture(shot))

    def _sensible_jobs(self, cores: int) -> int:
        """One process for every core, but not more than there are captures, or than memory holds of the first one."""
        if self._in_memory:
            return 1
        needed = self._task(self._shots[0]).gigabytes()
        fit = cores if self._limit is None or not needed else int(self._limit / needed)
        return max(1, min(cores, len(self._shots), fit))


def _as_list(inputs: Any) -> list[StrPath | Row]:
    """One input or several. What cannot be any is refused later, when it is looked at."""
    one = isinstance(inputs, str | bytes | os.PathLike | Mapping) or not isinstance(inputs, Iterable)
    return [inputs] if one else list(inputs)


def _described(given: StrPath | Row) -> str | dict[str, str]:
    """An input as the file of the batch names it."""
    if isinstance(given, Mapping):
        return {column: str(value) for column, value in given.items()}
    return urls.absolute(given)
