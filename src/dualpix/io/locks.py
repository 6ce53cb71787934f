"""Locks that the system gives back when their process ends, however it ends."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..errors import OutputError

SILENCE = 0.5  # s


def lock(file: int) -> None:
    """Lock a file or folder until it is closed. Nothing happens on a file system without locks, or on Windows."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def try_lock(file: int) -> bool:
    """Lock a file until it is closed; False if another process has locked it, or there are no locks."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def locked(
    folder: str, command: str, patience: float = 0, waits: Callable[[str], object] | None = None
) -> Iterator[tuple[int, ...]]:
    """Lock a folder. The system gives the lock back when the last process that has it ends, however it ends.

    Parameters
    ----------
    folder
        It exists.
    command
        What the other run is, for the error.
    patience
        Seconds to wait for a run that ends just now.
    waits
        Called with a sentence when it has waited for `SILENCE` seconds.

    Yields
    ------
    tuple of int
        File descriptors that hold the lock; none on Windows. A process that inherits them has the lock, too.

    Raises
    ------
    OutputError
        If another run has the lock.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield ()
        return
    place = os.open(folder, os.O_RDONLY)
    try:
        start = time.monotonic()
        while True:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waited = time.monotonic() - start
                if waited >= patience:
                    raise OutputError(
                        f"{folder}: another {command} is writing here: wait until it ends, or choose another output"
                    ) from None
                if waits and waited >= SILENCE:
                    waits(f"{folder}: another {command} is writing here: waiting up to {patience:g} s until it ends")
                    waits = None
                time.sleep(0.05)
            except OSError:  # a file system without locks
                break
        yield (place,)
    finally:
        os.close(place)
