"""A capture with files behind URLs: inputs are fetched to a private folder, outputs are put where they belong."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import DualpixError, sentence
from ..files import parse_json
from ..io import urls
from ..io.one_file import app_right
from ..io.private import PrivateFolder
from .capture import Capture, Files, Made, write
from .outcome import Outcome
from .store import Store

PREFIX = "dualpix-fetched-"
_ROLES = ("left", "right", "guide", "hints", "calibration")


@dataclass(frozen=True)
class Remote:
    """A capture as a task, any of whose files may be behind URLs; see `runner.Task`."""

    capture: Capture

    def run(self) -> Outcome:
        """Write the outputs, unless they are there. Nothing else is left, wherever it runs."""
        try:
            with PrivateFolder(prefix=PREFIX) as folder:
                copies = _Copies(folder.path)
                local = copies.of(self.capture)
                outputs = _Objects(local) if urls.is_url(local.outputs["sidecar"]) else Files(local)
                outcome = local.kept_in(_Named(outputs, copies))
                error = None if outcome.error is None else copies.named(outcome.error)
                return replace(outcome, error=error, warnings=tuple(map(copies.named, outcome.warnings)))
        except Exception as error:  # one bad capture must not stop the others
            return self.failed(sentence(error))

    def failed(self, why: str) -> Outcome:
        """The outcome without a map."""
        return self.capture.failed(why)

    def gigabytes(self) -> float:
        """Memory that `run` needs; 0 if the left view must be fetched first."""
        return 0.0 if urls.is_url(self.capture.left) else self.capture.gigabytes()


def is_remote(capture: Capture) -> bool:
    """Whether a file of a capture is behind a URL."""
    inputs = (getattr(capture, role) for role in _ROLES)
    return any(urls.is_url(path) for path in (*inputs, *capture.outputs.values()) if path is not None)


@contextmanager
def local_copy(path: str) -> Iterator[str]:
    """A path where the content of a file is, while the block runs. Errors name the file, not its copy."""
    with PrivateFolder(prefix=PREFIX) if urls.is_url(path) else nullcontext() as folder:
        copies = _Copies(folder.path if folder else Path())
        try:
            yield copies.copy(path)
        except DualpixError as error:
            raise type(error)(copies.named(str(error))) from None


# ---- inputs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Copies:
    """Copies of files in a folder, and where they came from."""

    folder: Path
    origins: dict[str, str] = field(default_factory=dict)  # URLs by the paths of their copies

    def of(self, capture: Capture) -> Capture:
        """The same capture with copies as its inputs."""
        paths = {role: path for role in _ROLES if (path := getattr(capture, role)) is not None}
        copies: dict[str, Any] = {role: self.copy(path) for role, path in paths.items()}
        for name in _beside(capture):
            with suppress(FileNotFoundError):
                self.copy_beside(copies["left"], name)
        look = capture.look
        photo: str | None = next((copies[role] for role, path in paths.items() if path == look.photo), look.photo)
        return replace(capture, **copies, look=look._replace(photo=photo))

    def copy(self, path: str) -> str:
        """A copy of a file behind a URL. A path stays as it is."""
        if not urls.is_url(path):
            return path
        for copy, origin in self.origins.items():
            if origin == path:
                return copy
        place = self.folder / str(len(self.origins))  # files of one name come from many folders
        place.mkdir()
        return self._fetched(path, place / urls.base_name(path))

    def copy_beside(self, left: str, name: str) -> None:
        """Copy a file that lies beside the left view, if it is there."""
        if left in self.origins and urls.is_file(url := urls.joined(urls.parent(self.origins[left]), name)):
            self._fetched(url, Path(left).with_name(name))

    def _fetched(self, url: str, copy: Path) -> str:
        urls.fetch(url, copy)
        self.origins[str(copy)] = url
        return str(copy)

    def named(self, text: str) -> str:
        """A text that names URLs, not copies."""
        for copy, url in self.origins.items():
            text = text.replace(copy, url)
        return text

    def named_in(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record whose texts name URLs, not copies."""
        return {key: self._named(value) for key, value in record.items()}

    def _named(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.named(value)
        if isinstance(value, dict):
            return self.named_in(value)
        return [self._named(each) for each in value] if isinstance(value, list | tuple) else value


def _beside(capture: Capture) -> Iterator[str]:
    """Names of files that are read if they lie beside the left view."""
    if capture.right is not None:
        yield "calib.txt"
    elif other := app_right(urls.base_name(capture.left)):
        yield other


# ---- outputs -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Named:
    """A store of records that name URLs, not copies."""

    store: Store[Made]
    copies: _Copies

    def find(self, key: str) -> Made | None:
        return self.store.find(key)

    def keep(self, key: str, made: Made) -> None:
        self.store.keep(key, made._replace(record=self.copies.named_in(made.record)))


class _Objects:
    """The outputs of a capture in a store of objects. As in a folder, the sidecar is the last and holds the key."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    def find(self, key: str) -> Made | None:
        outputs = self._capture.outputs
        record = self._record()
        if record is None or record.get("key") != key or not all(map(urls.is_file, outputs.values())):
            return None
        return Made(record, None)

    def keep(self, key: str, made: Made) -> None:
        files = _Held()
        write(files, self._capture, Made({"key": key, **made.record}, made.result))
        if (record := self._record()) is not None and record.get("key") != key:
            urls.remove(self._capture.outputs["sidecar"])  # from here on, an older result is not finished any more
        for url, data in files.items():
            urls.put(url, data)

    def _record(self) -> dict[str, Any] | None:
        """The sidecar that is there."""
        try:
            record = parse_json(urls.read(self._capture.outputs["sidecar"]))
        except (FileNotFoundError, ValueError):
            return None
        whole = isinstance(record, dict) and record.get("map") == os.path.basename(self._capture.outputs["disparity"])
        return record if whole else None


class _Held(dict[str, bytes | memoryview]):
    """Files that are encoded, in their order. None of them is written before all are."""

    write = dict.__setitem__
