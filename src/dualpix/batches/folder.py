"""The output folder of a batch: whose it is, who writes in it, and what a killed run has left there."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..ending import at_end
from ..errors import OutputError
from ..files import parse_json
from ..io import OutputSet, urls
from ..io.locks import locked
from ..io.parts import is_part, remove_dead
from ..version import version

BATCH, RESULTS = "batch.json", "results.jsonl"
MOST_NAMES = 4  # that a sentence lists
SHOWN = {"suffix": "format"}  # options whose name is another one outside
PATIENCE = 10.0  # s that we wait for the processes of a killed run to end


def is_batch(folder: str) -> bool:
    """Whether a folder holds the outputs of a batch."""
    return _read(folder) is not None


def check_folder(folder: str, batch: dict[str, Any], force: bool) -> None:
    """Refuse a folder that holds another batch or other files, unless `force`.

    Parameters
    ----------
    folder
        May exist or not. The folder above must exist.
    batch
        What the batch is made of, ready for JSON: its inputs and options.
    force
        Use the folder in any case.
    """
    if urls.is_url(folder):
        urls.check_writable(folder)
    else:
        _check_usable(folder)
    if force:
        return
    found = _read(folder)
    if found is None:
        if any(not is_part(name) for name in _names(folder)):
            raise OutputError(f"{folder}: holds other files: choose an empty folder, or force=True to use this one")
    elif different := _different(found, _as_json(batch)):
        names = ", ".join(different[:MOST_NAMES] + ["more"] * (len(different) > MOST_NAMES))
        raise OutputError(
            f"{folder}: holds a batch with other options ({names}): choose another folder, or force=True to make this "
            "batch there"
        )


def _different(found: Any, batch: dict[str, Any]) -> list[str]:
    """The names of what differs: inputs, options, parameters. Another preset explains other parameters."""
    if not isinstance(found, dict):
        return ["options"]
    names: list[str] = []
    for name, value in batch.items():
        other = found.get(name)
        if other == value or (name == "params" and "preset" in names):
            continue
        inner = isinstance(value, dict) and isinstance(other, dict)
        names += _different(other, value) if inner else [SHOWN.get(name, name)]
    return names or ["options"] * (found != batch)


def _check_usable(folder: str) -> None:
    """Refuse a path that cannot be a folder for outputs."""
    if not os.path.exists(folder):
        above = os.path.dirname(os.path.abspath(folder))
        if not os.path.isdir(above):
            raise OutputError(f"{folder}: the folder {above} does not exist: create it first")
        return
    if not os.path.isdir(folder):
        raise OutputError(f"{folder}: is not a folder: choose another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{folder}: the folder is not writable: choose another place")


def _names(folder: str) -> list[str]:
    """What is in a folder, if it is there."""
    if urls.is_url(folder):
        return [urls.base_name(each) for each in urls.files_below(folder, depth=1)]
    return os.listdir(folder) if os.path.isdir(folder) else []


@contextmanager
def opened(
    folder: str, batch: dict[str, Any], waits: Callable[[str], object] | None = None
) -> Iterator[tuple[int, ...]]:
    """Make the folder if it is missing, and keep other batches out while the block runs. A store has no locks.

    Parts of files are removed at the beginning, if a killed run has left some, and at the end, when our own processes
    have ended. So it does not matter what one of them did when it was killed. `waits` is told when another batch is in
    the folder, and may end soon.

    Yields
    ------
    tuple of int
        File descriptors that hold the lock. A process that writes in the folder should inherit them. Then the lock
        lasts as long as the process.
    """
    if urls.is_url(folder):
        if _read(folder) != _as_json(batch):
            urls.put(urls.joined(folder, BATCH), _text(batch))
        yield ()
        return
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: this folder cannot be made ({error.strerror}): choose another place") from None
    with locked(folder, "dualpix batch", PATIENCE, waits) as lock:
        _remove_parts(folder)
        path = os.path.join(folder, BATCH)
        if _read(folder) != _as_json(batch):
            with OutputSet([path], force=True) as files:
                files.write(path, _text(batch))
        with at_end(lambda: _remove_parts(folder)):
            yield lock


def _read(folder: str) -> Any:
    """What the batch in a folder is made of; None if the folder holds none."""
    try:
        found = parse_json(urls.read(urls.joined(folder, BATCH)))
    except (OSError, ValueError):
        return None
    return found.get("batch") if isinstance(found, dict) and "dualpix" in found else None


def _text(batch: dict[str, Any]) -> bytes:
    return json.dumps({"dualpix": version(), "batch": batch}, indent=2).encode()


def _as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


def _remove_parts(folder: str) -> None:
    for place, _, names in os.walk(folder):
        if any(map(is_part, names)):
            remove_dead(place)
