"""One job of a comparison: a method on a scene. It runs in a process of its own, see `batches.process.call`."""

import faulthandler
import time
import traceback
from dataclasses import dataclass

from ..batches.process import forget_peak, peak_megabytes
from ..errors import sentence
from .datasets import score
from .methods import Method
from .outcomes import Outcome, Scene
from .samples import fit_into, sampled


@dataclass(frozen=True, eq=False)
class Job:
    """A method to run on a scene of a data set."""

    dataset: str
    scene: Scene
    method: Method
    threads: int


def run(job: Job) -> Outcome:
    """Run the method and score its map at full size. The outcome holds the maps at the size a report shows."""
    import cv2  # before the clock runs

    faulthandler.enable()  # code that crashes tells where
    cv2.setNumThreads(job.threads)
    scene, name = job.scene, job.method.name
    try:
        job.method.prepare(job.threads)  # imported or built before the clock runs
        forget_peak()  # reading the scene does not count
        start = time.perf_counter()
        d, confidence = job.method.run(scene, job.threads)
        seconds, megabytes = time.perf_counter() - start, peak_megabytes()
        scores = score(job.dataset, scene, d, confidence)
    except Exception as error:  # the method may be anyone's code
        traceback.print_exc()
        return failure(job, sentence(error), traceback.format_exc())
    shape = fit_into(d.shape)
    small = None if confidence is None else sampled(confidence, shape)
    return Outcome(scene.name, name, sampled(d, shape), small, scores, seconds, megabytes)


def failure(job: Job, error: str, where: str = "") -> Outcome:
    """The outcome of a job without a map; `where` is the traceback."""
    return Outcome(job.scene.name, job.method.name, None, None, {}, float("nan"), float("nan"), error, where)
