"""How many threads to use."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from .params.rules import Whole, check


def thread_count(threads: int | None) -> int:
    """The number asked for, or that of ``DUALPIX_THREADS``, or that of the cores this process may use."""
    name: str = "threads"
    value: object = threads
    if threads is None:
        text = os.environ.get("DUALPIX_THREADS")
        if text is None:
            affinity = getattr(os, "sched_getaffinity", None)
            return len(affinity(0)) if affinity else os.cpu_count() or 1
        name, value = "DUALPIX_THREADS", int(text) if text.isdecimal() else text
    number: int = check(name, value, Whole(1, 1024))
    return number


@contextmanager
def opencv_threads(threads: int) -> Iterator[None]:
    """As many threads for OpenCV while the block runs."""
    import cv2

    before = cv2.getNumThreads()
    cv2.setNumThreads(threads)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
