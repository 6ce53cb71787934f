"""Peak memory of a method, in a process of its own that is given the views."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Hashable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...run import opencv_threads
from ..compare import exit_status
from ..worker import forget_peak, peak_megabytes
from ._cases import Case, Run, Tell, label

Key = TypeVar("Key", bound=Hashable)


class Peak(NamedTuple):
    """MB of the whole process, and those above what it had with both views loaded; NaN and why if it failed."""

    megabytes: float
    above: float
    error: str | None = None

    def record(self, pixels: int) -> dict[str, Any]:
        """Ready for JSON; floats are those above the views."""
        if self.error:
            return {"error": self.error}
        floats = self.above * 2**20 / 4 / pixels
        return {"megabytes": self.megabytes, "above_views": self.above, "floats_per_pixel": floats}


def peaks(cases: Mapping[Key, Case], tell: Tell) -> dict[Key, Peak]:
    """Of each method."""
    found = {}
    for name, case in cases.items():
        tell(f"{label(name)}, memory")
        found[name] = peak(case)
    return found


def peak(case: Case) -> Peak:
    """Of one method; nothing of this process counts."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from dualpix.evaluation.bench._memory import main; main()"
    with TemporaryDirectory() as folder:
        for name, view in zip(("left.npy", "right.npy"), case.views, strict=True):
            np.save(Path(folder, name), view)
        job = pickle.dumps((folder, case.run, case.threads))
        done = subprocess.run([sys.executable, "-c", code], input=job, capture_output=True, check=False)
    if os.environ.get("DUALPIX_DEBUG") == "1":
        sys.stderr.write(done.stderr.decode(errors="replace"))
    if done.returncode:
        return Peak(float("nan"), float("nan"), f"its process ended with {exit_status(done.returncode)}")
    return Peak(*json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """The process: what to run comes in by stdin, its peak goes out by stdout."""
    import cv2  # noqa: F401  before anything is measured

    folder, run, threads = pickle.load(sys.stdin.buffer)
    print(json.dumps(_measured(run, folder, threads)))


def _measured(run: Run, folder: str, threads: int) -> tuple[float, float]:
    left, right = (np.load(Path(folder, name)) for name in ("left.npy", "right.npy"))
    with opencv_threads(threads):
        forget_peak()
        before = peak_megabytes()
        run(left, right, threads)
        after = peak_megabytes()
    return after, after - before
