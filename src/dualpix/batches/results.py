"""``results.jsonl``: one line for every capture of a batch."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import OutputError
from ..io import OutputSet
from ..io.sidecar import to_json
from .folder import RESULTS
from .outcome import Outcome


class Results:
    """The list of what was done. It outlives a killed run.

    What was finished keeps its line. Failures are forgotten, because they are tried again. So is a line that was
    cut short.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, RESULTS)
        self._replaced = False
        done = self._tidy(("done",))
        self._keys: dict[str, str] = {name: _parsed(line)["key"] for name, line in done.items()}

    def add(self, outcome: Outcome) -> None:
        """Add the line of an outcome, unless it is there."""
        if outcome.key is not None and self._keys.get(outcome.name) == outcome.key:
            return
        self._replaced |= outcome.name in self._keys  # by inputs or parameters that were others
        line = json.dumps(json.loads(to_json(self._record(outcome)))) + "\n"
        try:
            with open(self._path, "ab") as file:
                file.write(line.encode())
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Leave one line for every capture."""
        if self._replaced:
            self._tidy(("done", "failed"))

    def _tidy(self, wanted: tuple[str, ...]) -> dict[str, bytes]:
        """Keep the last line of every capture if it has a wanted status. Returns the lines by name."""
        before = b""
        with suppress(FileNotFoundError):
            before = Path(self._path).read_bytes()
        last = {record["name"]: (record, line) for line in before.split(b"\n") if (record := _parsed(line))}
        lines = {name: line for name, (record, line) in last.items() if record["status"] in wanted}
        after = b"".join(line + b"\n" for line in lines.values())
        if after != before:
            with OutputSet([self._path], force=True) as files:
                files.write(self._path, after)
        return lines

    def _record(self, outcome: Outcome) -> dict[str, Any]:
        outputs = {role: os.path.relpath(path, self._folder) for role, path in outcome.outputs.items()}
        record = {"name": outcome.name, "status": "done" if outcome.error is None else "failed", "key": outcome.key}
        if outcome.error is not None:
            return record | {"error": outcome.error}
        return record | {"seconds": outcome.seconds, "outputs": outputs, "warnings": outcome.warnings}


def _parsed(line: bytes) -> dict[str, Any]:
    """The content of a line; empty if it was cut short."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    whole = isinstance(found, dict) and {"name", "status", "key"} <= found.keys()
    return found if whole else {}
