"""A folder that only one run may write to."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import OutputError


@contextmanager
def locked(folder: str, command: str, patience: float = 0) -> Iterator[tuple[int, ...]]:
    """Lock a folder. The system gives the lock back when the last process that has it ends, however it ends.

    Parameters
    ----------
    folder
        It exists.
    command
        What the other run is, for the error.
    patience
        Seconds to wait for a run that ends just now.

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
        end = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise OutputError(
                        f"{folder}: another {command} is writing here: wait until it ends, or choose another output"
                    ) from None
                time.sleep(0.05)
            except OSError:  # a file system without locks
                break
        yield (place,)
    finally:
        os.close(place)
