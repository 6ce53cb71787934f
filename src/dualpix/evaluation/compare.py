"""All methods on all scenes of a data set: each in a process of its own, and what is finished is kept."""

import json
import os
import pickle
import platform
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import cache as once
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError, OutputError
from ..io import OutputSet
from ..run import thread_count
from ..version import version
from .datasets import Dataset
from .methods import Method
from .outcomes import Comparison, Outcome, Scene
from .samples import fit_into, sampled
from .worker import Job, failure

Progress = Callable[[str, int, int], None]


def compare(
    dataset: Dataset,
    methods: Iterable[Method],
    *,
    threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    pictures: bool = True,
) -> Comparison:
    """Run the methods on every scene, score their maps, and keep the outcomes for the next time.

    Parameters
    ----------
    dataset
        See `dualpix.datasets.open_dataset`. Scenes that cannot be loaded are left out, and told.
    methods
        See `dualpix.methods.method`. One that fails on a scene does not stop the others.
    threads
        For the methods; by default ``DUALPIX_THREADS``, or else every core.
    cache
        Folder of the finished outcomes, `cache_folder` if not given. They are found again by the content of the scene,
        the method's parameters, the number of threads, and the code and libraries that ran; failures are not kept.
    progress
        ``progress(text, done, total)``, called when a method begins on a scene.
    pictures
        Keep scenes and maps in the comparison, reduced to what a page can show. Without, large sets take no memory.

    Raises
    ------
    OutputError
        If the cache cannot be written.
    """
    threads = thread_count(threads)
    store = _made(cache_folder() if cache is None else Path(cache))
    chosen = {method.name: method for method in methods}
    scenes: list[Scene] = []
    outcomes: list[Outcome] = []
    skipped: dict[str, str] = {}
    sizes: dict[str, tuple[int, int]] = {}
    steps = len(dataset.scenes) * len(chosen)
    for done, name in enumerate(dataset.scenes):
        try:
            scene = dataset.load(name)
        except InputError as error:
            skipped[name] = str(error).removeprefix(f"scene {name}: ")
            continue
        sizes[name] = scene.left.shape[0], scene.left.shape[1]
        content = _digest(scene)
        for k, method in enumerate(chosen.values()):
            if progress:
                progress(f"{name}: {method.name}", done * len(chosen) + k, steps)
            job = Job(dataset.name, scene, method, threads, os.getpid())
            outcome = _kept_or_run(store / f"{_key(job, content)}.npz", job)
            outcomes.append(outcome if pictures else replace(outcome, disparity=None, confidence=None))
        if pictures:
            scenes.append(_small(scene))
    parameters = {name: method.parameters for name, method in chosen.items()}
    return Comparison(dataset.name, dataset.measure, scenes, parameters, outcomes, skipped, versions(), sizes)


def versions() -> dict[str, str]:
    """Of dualpix, its code, Python and the libraries, by name."""
    import cv2

    return {
        "dualpix": version(),
        "dualpix code": _code(),
        "python": platform.python_version(),
        "numpy": np.version(),
        "opencv": cv2.version(),
    }


def _small(scene: Scene) -> Scene:
    """To be looked at: photographs as means, maps as single pixels."""
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


# ---- the processes -------------------------------------------------------------------------------


def _kept_or_run(path: Path, job: Job) -> Outcome:
    outcome = _read(path)
    if outcome is None:
        outcome = _in_a_process(job)
        if outcome.error is None:
            _write(path, outcome)
    return replace(outcome, scene=job.scene.name, method=job.method.name)


def _in_a_process(job: Job) -> Outcome:
    """The child imports what its parent would. Files, unlike pipes, do not wait for what a method leaves running."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from dualpix.evaluation.worker import main; main()"
    command = [sys.executable, "-c", code]
    with TemporaryFile() as answer, TemporaryFile() as said:
        done = subprocess.run(command, input=pickle.dumps(job, 5), stdout=answer, stderr=said, check=False)
        answer.seek(0)
        said.seek(0)
        if os.environ.get("DUALPIX_DEBUG") == "1":
            sys.stderr.write(said.read().decode(errors="replace"))
        if done.returncode:
            return failure(job.scene.name, job.method.name, f"its process ended with {exit_status(done.returncode)}")
        try:
            outcome: Outcome = pickle.load(answer)
        except (EOFError, pickle.UnpicklingError):  # it was not our code that ended it
            return failure(job.scene.name, job.method.name, "its process ended without a map")
        return outcome


def exit_status(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit status {code}"
    kind = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
    return kind + ", as for want of memory" * (kind == "SIGKILL")


# ---- what is finished ----------------------------------------------------------------------------


def cache_folder() -> Path:
    """Where finished outcomes are kept: in the platform's folder for what can be computed again."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
    whole = Path(base).expanduser()
    return (whole if whole.is_absolute() else Path.home() / ".cache") / "dualpix" / "evaluate"


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(0, "not writable")
    except OSError as error:
        raise OutputError(
            f"{folder}: cannot be the cache ({error.strerror}): give another folder with --cache"
        ) from None
    return folder


def _read(path: Path) -> Outcome | None:
    """None if it is not there, or damaged: then it is made again."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            maps = {name: file[name] for name in ("disparity", "confidence") if name in file}
            record = json.loads(str(file["record"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    return Outcome("", "", maps.get("disparity"), maps.get("confidence"), **record)


def _write(path: Path, outcome: Outcome) -> None:
    record = {"scores": outcome.scores, "seconds": outcome.seconds, "megabytes": outcome.megabytes}
    content: dict[str, Any] = {"record": json.dumps(record), "disparity": outcome.disparity}
    if outcome.confidence is not None:
        content["confidence"] = outcome.confidence
    file = BytesIO()
    np.savez(file, **content)
    with OutputSet([path], force=True) as outputs:
        outputs.write(path, file.getbuffer())


def _key(job: Job, content: str) -> str:
    asked = [job.dataset, content, job.method.parameters, job.threads, versions()]
    return blake2b(json.dumps(asked, sort_keys=True).encode(), digest_size=20).hexdigest()


def _digest(scene: Scene) -> str:
    """Of all that a scene holds but its name."""
    digest = blake2b(digest_size=20)
    for field in fields(scene):
        value = getattr(scene, field.name)
        if isinstance(value, np.ndarray):
            digest.update(f"{field.name} {value.dtype} {value.shape}".encode())
            digest.update(np.ascontiguousarray(value).data)
        elif field.name != "name":
            digest.update(f"{field.name} {value!r}".encode())
    return digest.hexdigest()


@once
def _code() -> str:
    """A digest of this package, the compiled part included."""
    folder = Path(__file__).parents[1]
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".toml"))
    digest = blake2b(digest_size=8)
    for path in (*files, Path(_core.__file__)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
