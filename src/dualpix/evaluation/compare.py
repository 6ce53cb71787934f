"""Compare methods on a data set: every method on every scene, each in a process of its own."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from ..batches import process
from ..batches.runner import Here
from ..batches.store import once
from ..batches.versions import versions
from ..errors import InputError
from ..run import Progress, Step, thread_count
from ..types import Map
from .cache import Cache, cache_folder, job_key, scene_digest
from .datasets import Dataset
from .methods import Method, methods_of
from .outcomes import Comparison, Outcome, Scene
from .prints import Log, text_of
from .samples import LARGEST, fit_into, picture_side, sampled
from .worker import Job, failure, run


def compare(
    dataset: Dataset,
    methods: Iterable[str | Method],
    *,
    threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    pictures: bool = True,
) -> Comparison:
    """Run the methods on every scene and score their maps. Finished outcomes are kept for the next time.

    Parameters
    ----------
    dataset
        See `open_dataset`. Scenes that cannot be loaded are skipped and listed in the result.
    methods
        Their names, such as "auto" or "file:function", or what `dualpix.evaluation.methods.method` returns for them. A
        method that fails on a scene does not stop the others.
    threads
        Number of threads; by default ``DUALPIX_THREADS``, else every core.
    cache
        The folder of the finished outcomes; by default `cache_folder`. An outcome is used again only if the content of
        the scene, the parameters of the method, the number of threads, the code and the libraries are the same.
        Failures are not kept.
    progress
        Called with a `Step` when a method begins on a scene.
    pictures
        Keep scenes and maps in the result, at the size a report shows, which is smaller for many scenes.

    Raises
    ------
    ParameterError
        If there is no method, or no such method.
    OutputError
        If the cache cannot be written.
    """
    threads, chosen = thread_count(threads), methods_of(methods)
    store = Cache(cache_folder() if cache is None else Path(cache))
    parameters = {name: method.parameters for name, method in chosen.items()}
    side = picture_side(len(dataset.scenes)) if pictures else 0
    result = Comparison(dataset.title, dataset.measure, [], parameters, [], versions=versions(), notes=dataset.notes)
    log = Log(store.folder)
    for outcome in Here().run(_tasks(dataset, chosen, threads, store, result, progress, side)):
        log.add(outcome)
        result.outcomes.append(replace(_reduced(outcome, side), prints=""))
    return replace(result, log=log.path)


@dataclass(frozen=True, eq=False)
class _Kept:
    """A job as a task whose outcome is kept; see `batches.runner.Task`."""

    job: Job
    key: str
    store: Cache

    def run(self) -> Outcome:
        outcome = once(self.store, self.key, lambda: _in_a_process(self.job))
        return replace(outcome, scene=self.job.scene.name, method=self.job.method.name)

    def failed(self, why: str) -> Outcome:
        return failure(self.job, why)

    def gigabytes(self) -> float:
        return 0.0


def _tasks(
    dataset: Dataset,
    methods: dict[str, Method],
    threads: int,
    store: Cache,
    result: Comparison,
    progress: Progress | None,
    side: int,
) -> Iterator[_Kept]:
    """Every method on every scene. One scene is in memory at a time. What is known of the scenes goes into `result`.

    Scenes are kept with at most `side` px a side; 0 keeps none.
    """
    total = len(dataset.scenes) * len(methods)
    for i, name in enumerate(dataset.scenes):
        try:
            scene = dataset.load(name)
        except InputError as error:
            result.skipped[name] = str(error).removeprefix(f"scene {name}: ")
            continue
        result.sizes[name] = scene.left.shape[0], scene.left.shape[1]
        content = scene_digest(scene)
        for done, method in enumerate(methods.values(), i * len(methods)):
            if progress:
                progress(Step(f"{name}: {method.name}", done / total, done + 1, total))
            job = Job(dataset.name, scene, method, threads)
            yield _Kept(job, job_key(job, content), store)
        if side:
            result.scenes.append(_small(scene, side))


def _in_a_process(job: Job) -> Outcome:
    with TemporaryFile() as prints:
        try:
            outcome = process.call(run, job, prints)
        except process.ProcessError as error:
            outcome = failure(job, str(error))
        printed = text_of(prints)
    return replace(outcome, prints=printed, traceback=outcome.traceback or printed * (outcome.error is not None))


def _reduced(outcome: Outcome, side: int) -> Outcome:
    """The outcome with maps of at most `side` px a side; without them if it is 0."""

    def small(values: Map | None) -> Map | None:
        return sampled(values, fit_into(values.shape, side)) if side and values is not None else None

    return replace(outcome, disparity=small(outcome.disparity), confidence=small(outcome.confidence))


def _small(scene: Scene, side: int = LARGEST) -> Scene:
    """The scene at the size a report shows: photographs are averaged, maps are sampled."""
    import cv2

    shape = fit_into(scene.truth.shape, side)

    def photograph(image: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(cv2.resize(image, shape[::-1], interpolation=cv2.INTER_AREA))

    return replace(
        scene,
        left=photograph(scene.left),
        right=photograph(scene.right),
        guide=None if scene.guide is None else photograph(scene.guide),
        truth=sampled(scene.truth, shape),
        weight=None if scene.weight is None else sampled(scene.weight, shape),
    )
