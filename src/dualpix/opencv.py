"""OpenCV, imported when it is first used: most maps need none of it, and its import takes as long as a small map."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .forks import no_fork

OWN = -1  # stands for the number of threads that OpenCV chooses

# The blocks that run, of all threads of Python: OpenCV has one number for the whole process. By block, its threads;
# the one that began last counts.
_running: dict[object, int] = {}
_before = OWN  # the number when no block ran


def opencv() -> Any:
    """The module ``cv2``, with the threads of the block of `opencv_threads` that began last."""
    with no_fork:
        import cv2

        if _running:
            _set_threads()
    return cv2


@contextmanager
def opencv_threads(threads: int) -> Iterator[None]:
    """Let OpenCV use that many threads while the block runs. It is not imported for that: see `opencv`."""
    global _before
    block = object()
    with no_fork:
        if not _running:
            loaded = sys.modules.get("cv2")
            _before = loaded.getNumThreads() if loaded else OWN
        _running[block] = threads
        _set_threads()
    try:
        yield
    finally:
        with no_fork:
            del _running[block]
            _set_threads()


def _set_threads() -> None:
    loaded: Any = sys.modules.get("cv2")
    if loaded:
        loaded.setNumThreads(next(reversed(_running.values()), _before))
