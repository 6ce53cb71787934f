"""Finished outcomes of comparisons, kept on disk so that nothing is computed twice."""

import json
import os
import sys
from dataclasses import fields
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_STORED

import numpy as np

from ..batches.keys import key_of
from ..batches.versions import versions
from ..errors import OutputError, show_debug
from ..files import open_file, parse_json
from ..io import OutputSet
from .outcomes import Outcome, Scene
from .worker import Job


def cache_folder() -> Path:
    """The default folder, inside the platform's cache folder."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME", "")
    whole = Path(base).expanduser()
    return (whole if whole.is_absolute() else Path.home() / ".cache") / "dualpix" / "evaluate"


class Cache:
    """A folder with one file for every finished job."""

    def __init__(self, folder: Path) -> None:
        """Make the folder if it does not exist; raise OutputError if that fails or it is not writable."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(0, "not writable")
        except OSError as error:
            raise OutputError(
                f"{folder}: cannot be the cache ({error.strerror}): give another folder as cache="
            ) from None
        self.folder = folder

    def file(self, key: str) -> Path:
        """The file of the outcome with this key."""
        return self.folder / f"{key}.npz"

    def find(self, key: str) -> Outcome | None:
        """The outcome with this key, without names of scene and method; None if it is missing or damaged."""
        return read_outcome(self.file(key))

    def keep(self, key: str, outcome: Outcome) -> None:
        """Keep an outcome. Failures are not kept."""
        if outcome.error is None:
            write_outcome(self.file(key), outcome)


def job_key(job: Job, content: str) -> str:
    """The key of a job on a scene with that digest. It covers everything that the outcome depends on."""
    return key_of(job.dataset, content, job.method.parameters, job.threads, versions())


def read_outcome(path: Path) -> Outcome | None:
    """The outcome in a file, without names of scene and method; None if the file is missing or damaged."""
    try:
        with open_file(path) as opened, np.load(opened, allow_pickle=False) as file:
            if any(member.compress_type != ZIP_STORED for member in file.zip.infolist()):
                return None  # not ours: small files could become large maps
            record = parse_json(str(file["record"]))
            maps = {name: file[name] for name in record.pop("maps")}
        if any(getattr(values, "dtype", None) != np.float32 or values.ndim != 2 for values in maps.values()):
            return None
        return Outcome("", "", maps["disparity"], maps.get("confidence"), **record)
    except FileNotFoundError:
        return None
    except Exception:  # a damaged file makes NumPy and zipfile raise whatever they run into
        show_debug()
        return None


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Keep an outcome that has a map."""
    maps: dict[str, Any] = {"disparity": outcome.disparity}
    if outcome.confidence is not None:
        maps["confidence"] = outcome.confidence
    record = {"maps": [*maps], "scores": outcome.scores, "seconds": outcome.seconds, "megabytes": outcome.megabytes}
    file = BytesIO()
    np.savez(file, record=json.dumps(record), **maps)
    with OutputSet([path], force=True) as outputs:
        outputs.write(path, file.getbuffer())


def scene_digest(scene: Scene) -> str:
    """A digest of everything in a scene except its name."""
    digest = blake2b(digest_size=20)
    for field in fields(scene):
        value = getattr(scene, field.name)
        if isinstance(value, np.ndarray):
            digest.update(f"{field.name} {value.dtype} {value.shape}".encode())
            digest.update(np.ascontiguousarray(value).data)
        elif field.name != "name":
            digest.update(f"{field.name} {value!r}".encode())
    return digest.hexdigest()
