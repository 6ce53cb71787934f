"""OpenCV, imported when it is first used: most maps need none of it, and its import takes as long as a small map."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_asked: list[int] = []  # the threads of the blocks that run, the innermost last


def opencv() -> Any:
    """The module ``cv2``, with the threads of the block of `opencv_threads` that runs."""
    import cv2

    if _asked:
        cv2.setNumThreads(_asked[-1])
    return cv2


@contextmanager
def opencv_threads(threads: int) -> Iterator[None]:
    """Let OpenCV use that many threads while the block runs. It is not imported for that: see `opencv`."""
    loaded: Any = sys.modules.get("cv2")
    before = loaded.getNumThreads() if loaded else -1  # -1 is the number that OpenCV chooses
    _asked.append(threads)
    try:
        if loaded:
            loaded.setNumThreads(threads)
        yield
    finally:
        _asked.remove(threads)
        loaded = sys.modules.get("cv2")
        if loaded:
            loaded.setNumThreads(before)
