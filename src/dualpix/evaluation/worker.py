"""The process in which one method runs on one scene: its memory is its own, and if it crashes nothing else does."""

import os
import pickle
import re
import sys
import threading
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import DualpixError
from .datasets import score
from .methods import Function, Method
from .outcomes import Outcome, Scene, Scores
from .samples import fit_into, sampled


@dataclass(frozen=True, eq=False)
class Job:
    """What a worker is asked to do, and by which process."""

    dataset: str
    scene: Scene
    method: Method
    threads: int
    parent: int


def main() -> None:
    """Read a pickled Job from stdin and write its pickled Outcome to stdout."""
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what the method prints is not the answer
        job: Job = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_end_with, args=(job.parent,), daemon=True).start()
        pickle.dump(run(job), answer)
    os._exit(0)  # the method may have left threads behind


def run(job: Job) -> Outcome:
    """The method's map, scored at full size; the outcome holds it and its confidence reduced to what a page shows."""
    import cv2  # before the clock runs

    cv2.setNumThreads(job.threads)
    scene, name = job.scene, job.method.name
    try:
        if isinstance(job.method, Function):
            job.method.function()  # imports it, before the clock runs too
        forget_peak()
        start = time.perf_counter()
        d, confidence = job.method.run(scene, job.threads)
        seconds, megabytes = time.perf_counter() - start, peak_megabytes()
        scores: Scores = score(job.dataset, scene, d)
    except Exception as error:  # anyone's code runs here
        traceback.print_exc()
        return failure(scene.name, name, _sentence(error))
    shape = fit_into(d.shape)
    trust = None if confidence is None else sampled(confidence, shape)
    return Outcome(scene.name, name, sampled(d, shape), trust, scores, seconds, megabytes)


def failure(scene: str, method: str, error: str) -> Outcome:
    """The outcome of a method that gave no map."""
    return Outcome(scene, method, None, None, {}, float("nan"), float("nan"), error)


def _sentence(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, DualpixError) else f"{type(error).__name__}: {text}".rstrip(": ")


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


# ---- memory --------------------------------------------------------------------------------------


def peak_megabytes() -> float:
    """The most memory that this process has had at a time; NaN where the system does not say."""
    with suppress(OSError):
        return int(re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[0]) / 1024
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def forget_peak() -> None:
    """Reading the scene does not count, where the system can be told."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
