"""What methods print, in a file, so that it neither mixes with results nor gets lost."""

import os
import time
from pathlib import Path
from typing import IO

from ..errors import OutputError, printable
from .outcomes import Outcome

MOST = 1_000_000  # bytes of one method on one scene that are kept
FOLDER = "logs"


def text_of(file: IO[bytes]) -> str:
    """The text in a file; the end of it if it is long."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - MOST))
    text = file.read(MOST).decode(errors="replace")
    return f"({size - MOST} bytes left out)\n{text}" if size > MOST else text


class Log:
    """A new file in a folder, made when there is something to write."""

    def __init__(self, folder: Path) -> None:
        self.path: Path | None = None
        self._folder = folder / FOLDER

    def add(self, outcome: Outcome) -> None:
        """Write what a method printed on a scene."""
        if not outcome.prints.strip():
            return
        try:
            if self.path is None:
                self._folder.mkdir(exist_ok=True)
                self.path = self._folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
            with self.path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"==== {printable(f'{outcome.method} on scene {outcome.scene}')}\n")
                file.write(outcome.prints.rstrip() + "\n\n")
        except OSError as error:
            raise OutputError(
                f"{self._folder}: cannot be written ({error.strerror}): give another folder as cache="
            ) from None
