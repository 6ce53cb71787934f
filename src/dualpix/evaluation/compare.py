"""Compare methods on a data set: every method on every scene, each in a process of its own."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..run import Progress, Step, thread_count
from . import process
from .cache import Cache, cache_folder, read_outcome, scene_digest, write_outcome
from .datasets import Dataset
from .methods import Method
from .outcomes import Comparison, Outcome, Scene
from .samples import fit_into, sampled
from .versions import versions
from .worker import Job, failure, run


def compare(
    dataset: Dataset,
    methods: Iterable[Method],
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
        See `dualpix.evaluation.methods.method`. A method that fails on a scene does not stop the others.
    threads
        Number of threads; by default ``DUALPIX_THREADS``, else every core.
    cache
        The folder of the finished outcomes; by default `cache_folder`. An outcome is used again only if the content of
        the scene, the parameters of the method, the number of threads, the code and the libraries are the same.
        Failures are not kept.
    progress
        Called with a `Step` when a method begins on a scene.
    pictures
        Keep scenes and maps in the result, at the size a report shows. Without them, a large set needs little memory.

    Raises
    ------
    OutputError
        If the cache cannot be written.
    """
    threads = thread_count(threads)
    store = Cache(cache_folder() if cache is None else Path(cache))
    chosen = {method.name: method for method in methods}
    parameters = {name: method.parameters for name, method in chosen.items()}
    result = Comparison(dataset.name, dataset.measure, [], parameters, [], versions=versions())
    total = len(dataset.scenes) * len(chosen)
    for i, name in enumerate(dataset.scenes):
        try:
            scene = dataset.load(name)
        except InputError as error:
            result.skipped[name] = str(error).removeprefix(f"scene {name}: ")
            continue
        result.sizes[name] = scene.left.shape[0], scene.left.shape[1]
        content = scene_digest(scene)
        for done, method in enumerate(chosen.values(), i * len(chosen)):
            if progress:
                progress(Step(f"{name}: {method.name}", done / total, done + 1, total))
            job = Job(dataset.name, scene, method, threads)
            outcome = _kept_or_run(store.file(job, content), job)
            result.outcomes.append(outcome if pictures else replace(outcome, disparity=None, confidence=None))
        if pictures:
            result.scenes.append(_small(scene))
    return result


def _kept_or_run(path: Path, job: Job) -> Outcome:
    outcome = read_outcome(path)
    if outcome is None:
        outcome = _in_a_process(job)
        if outcome.error is None:
            write_outcome(path, outcome)
    return replace(outcome, scene=job.scene.name, method=job.method.name)


def _in_a_process(job: Job) -> Outcome:
    try:
        return process.call(run, job)
    except process.ProcessError as error:
        return failure(job, str(error))


def _small(scene: Scene) -> Scene:
    """The scene at the size a report shows: photographs are averaged, maps are sampled."""
    import cv2

    shape = fit_into(scene.truth.shape)

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
