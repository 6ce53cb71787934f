"""The private folder beside the output, where a job keeps what is finished until all of it is."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np

from ..batches.keys import file_digest, key_of
from ..batches.versions import code_digest
from ..errors import DualpixError, OutputError
from ..io.atomic import remove
from ..io.locks import locked
from ..params import Params
from ..types import Image, StrPath
from ..version import version

KEY, PLAN = "key", "plan.json"  # whose tiles these are; what all of them need, the first thing that is finished


def identity(views: tuple[Image | StrPath, ...], params: Params, axis: str | None, tile: int) -> str:
    """The key of all that the tiles depend on: the content of the views, the options, and the code."""
    return key_of([_digest(view) for view in views], params.to_dict(), axis, tile, version(), code_digest())


def _digest(view: Image | StrPath) -> str:
    if not isinstance(view, (str, os.PathLike)):
        array = np.ascontiguousarray(view)
        return key_of(array.shape, array.dtype.str, blake2b(array.data.cast("B"), digest_size=20).hexdigest())
    if os.path.isdir(view):
        return key_of([[path.name, file_digest(str(path))] for path in sorted(Path(view).rglob("*")) if path.is_file()])
    return file_digest(os.fspath(view))


@contextmanager
def private_folder(output: str, key: str) -> Iterator[str]:
    """The folder of a job with that key. What another job has left there is removed.

    After the block it is removed. If the block fails, it stays, so that the work can go on, unless nothing was finished
    in it.
    """
    place = os.path.realpath(output)
    folder = os.path.join(os.path.dirname(place), f".{os.path.basename(place)}.dualpix-tiles")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: this folder cannot be made ({error.strerror}): choose another place") from None
    if os.path.islink(folder) or (os.listdir(folder) and not os.path.isfile(os.path.join(folder, KEY))):
        raise OutputError(f"{folder}: is where tiles would be kept, but holds something else: move it away")
    with locked(folder, "dualpix tiles"):
        _clear(Path(folder), key)
        try:
            yield folder
        except (DualpixError, KeyboardInterrupt):
            if not os.path.exists(os.path.join(folder, PLAN)):
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)


def _clear(folder: Path, key: str) -> None:
    """Remove what is of no use: half-written files, and all of another job."""
    named = folder / KEY
    ours = named.is_file() and named.read_text(encoding="utf-8", errors="replace") == key
    for path in folder.iterdir():
        if not ours or path.suffix == ".part":
            remove(path)
    if not ours:
        named.write_text(key, encoding="utf-8")
