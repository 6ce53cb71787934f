"""``results.jsonl``: one line for every capture of a batch."""

import json
import time
from contextlib import suppress
from typing import Any

from ..errors import OutputError
from ..files import open_file, parse_json
from ..io import OutputSet, urls
from ..io.sidecar import to_json
from .folder import RESULTS
from .outcome import Outcome

PAUSE = 10.0  # s between two puts of the file
SHARE = 20  # the pause is so many times longer than the put


class Results:
    """The list of what was done. It outlives a killed run.

    What was finished keeps its line. Failures are forgotten, because they are tried again. So is a line that was
    cut short.
    """

    def __init__(self, folder: str) -> None:
        self._folder = urls.absolute(folder)
        self._path = urls.joined(folder, RESULTS)
        self._file: _Appended | _Put = _Put(self._path) if urls.is_url(folder) else _Appended(self._path)
        self._replaced = False
        done = self._tidy(("done",))
        self._keys: dict[str, str] = {name: _parsed(line)["key"] for name, line in done.items()}

    def add(self, outcome: Outcome) -> None:
        """Add the line of an outcome, unless it is there."""
        if outcome.key is not None and self._keys.get(outcome.name) == outcome.key:
            return
        self._replaced |= outcome.name in self._keys  # by inputs or parameters that were others
        line = json.dumps(json.loads(to_json(self._record(outcome)))) + "\n"
        self._file.append(line.encode())

    def close(self) -> None:
        """Leave one line for every capture."""
        self._file.flush()
        if self._replaced:
            self._tidy(("done", "failed"))

    def _tidy(self, wanted: tuple[str, ...]) -> dict[str, bytes]:
        """Keep the last line of every capture if it has a wanted status. Returns the lines by name."""
        before = self._file.read()
        last = {record["name"]: (record, line) for line in before.split(b"\n") if (record := _parsed(line))}
        lines = {name: line for name, (record, line) in last.items() if record["status"] in wanted}
        after = b"".join(line + b"\n" for line in lines.values())
        if after != before:
            self._file.replace(after)
        return lines

    def _record(self, outcome: Outcome) -> dict[str, Any]:
        outputs = {role: urls.relative(path, self._folder) for role, path in outcome.outputs.items()}
        record = {"name": outcome.name, "status": "done" if outcome.error is None else "failed", "key": outcome.key}
        if outcome.error is not None:
            return record | {"error": outcome.error}
        return record | {"seconds": outcome.seconds, "outputs": outputs, "warnings": outcome.warnings}


class _Appended:
    """A file that grows line by line."""

    def __init__(self, path: str) -> None:
        self._path = path

    def read(self) -> bytes:
        try:
            with open_file(self._path) as file:  # of any length: a batch may have a million captures
                return file.readall()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be read ({error.strerror}): remove it") from None

    def append(self, line: bytes) -> None:
        try:
            with open(self._path, "ab") as file:
                file.write(line)
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}") from error

    def flush(self) -> None:
        """Nothing is held back."""

    def replace(self, content: bytes) -> None:
        with OutputSet([self._path], force=True) as files:
            files.write(self._path, content)


class _Put:
    """A file in a store, where files do not grow: it is put now and then, whole."""

    def __init__(self, url: str) -> None:
        self._url, self._content, self._held = url, bytearray(), 0
        self._next = time.monotonic() + PAUSE
        with suppress(FileNotFoundError):
            self._content += urls.read(url)

    def read(self) -> bytes:
        return bytes(self._content)

    def append(self, line: bytes) -> None:
        self._content += line
        self._held += 1
        if time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Put what is held back. A long file is put less often, so that most of the time is left for work."""
        if self._held:
            start = time.monotonic()
            urls.put(self._url, self._content)
            self._held, end = 0, time.monotonic()
            self._next = end + max(PAUSE, SHARE * (end - start))

    def replace(self, content: bytes) -> None:
        self._content, self._held = bytearray(content), 1
        self.flush()


def _parsed(line: bytes) -> dict[str, Any]:
    """The content of a line; empty if it was cut short."""
    try:
        found = parse_json(line)
    except ValueError:
        return {}
    whole = isinstance(found, dict) and {"name", "status", "key"} <= found.keys()
    return found if whole else {}
