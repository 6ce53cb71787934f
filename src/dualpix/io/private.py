"""A private folder for temporary files. A folder that a killed process left is removed when the next one is made."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ..ending import forget, remember, uninterrupted
from ..errors import OutputError
from .locks import try_lock

PREFIX, LOCK = "dualpix-app-", "lock"
STARTING = 60  # s: a folder without a lock that is younger may belong to a process that starts right now


class PrivateFolder:
    """A folder that only this user can read. It exists until `close`, and holds a lock as long as the process lives."""

    def __init__(self, parent: Path | None = None, prefix: str = PREFIX) -> None:
        try:
            place = parent or Path(tempfile.gettempdir())
            remove_leftovers(place, prefix)
            with uninterrupted():
                self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=place))  # mode 0700
                remember(str(self.path))
            new = self.path / (LOCK if os.name == "nt" else LOCK + ".new")  # Windows renames no open file
            self._lock = open(new, "wb")  # noqa: SIM115 - it stays open
            try_lock(self._lock.fileno())
            if new.name != LOCK:
                new.rename(self.path / LOCK)  # from now on others look at it, and it is locked
        except OSError as error:
            raise OutputError(
                f"a temporary folder cannot be made ({error.strerror}): set the environment variable TMPDIR"
            ) from None

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        self._lock.close()
        forget(str(self.path))

    def __enter__(self) -> PrivateFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def remove_leftovers(place: Path, prefix: str = PREFIX) -> None:
    """Remove the folders of processes that ended without removing them, such as by kill -9."""
    for folder in place.glob(prefix + "*"):
        with suppress(OSError):
            if _is_ours(folder) and _is_dead(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    found = folder.lstat()  # a link is not followed
    owner = getattr(os, "getuid", lambda: found.st_uid)()
    return folder.is_dir() and not folder.is_symlink() and found.st_uid == owner


def _is_dead(folder: Path) -> bool:
    """Whether no process holds the lock."""
    try:
        with open(folder / LOCK, "r+b") as lock:
            return try_lock(lock.fileno())
    except FileNotFoundError:
        return time.time() - folder.stat().st_mtime > STARTING
