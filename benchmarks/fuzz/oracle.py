"""Judges one input: a clean error or a right result, within the limits of memory and time."""

from __future__ import annotations

import resource
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from dualpix.errors import DualpixError, in_words

MEGABYTE = 1 << 20
TIMES, MEMORY = 10, 64 * MEGABYTE  # the memory limit of a reader: announced bytes times this, and this in addition
SECONDS = 2.0
MOST_PIXELS = 1_000_000  # DUALPIX_MAX_PIXELS of all runs


class Wrong(Exception):
    """A result that no file can justify."""


@dataclass
class Told:
    """What a file says about itself before it is decoded."""

    size: int = 0  # bytes of the announced picture

    def picture(self, width: int, height: int, channels: int, itemsize: int) -> None:
        if width * height > MOST_PIXELS:
            return  # a reader refuses it, so it needs no memory
        self.size = max(self.size, width * height * channels * itemsize)


@dataclass
class Limits:
    """Memory and time of one input. Sanitizers need far more of both, so that they are not limited then."""

    enforced: bool = True
    _rss: int = field(default=0, init=False)
    _wall: float = field(default=0, init=False)
    _cpu: float = field(default=0, init=False)

    def begin(self) -> None:
        self._rss = _resident()
        if _peak() > self._rss + 8 * MEGABYTE:
            with suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5")  # forget the peak; Linux
        self._rss = max(self._rss, _peak())
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def exceeded(self, told: Told) -> tuple[str, str] | None:
        # On a busy machine the clock runs on, with threads the CPU time does: the lower one counts.
        seconds = min(time.perf_counter() - self._wall, time.process_time() - self._cpu)
        grown = _peak() - self._rss
        if not self.enforced:
            return None
        if seconds > SECONDS:
            return "too slow", f"{seconds:.1f} s"
        if grown > TIMES * told.size + MEMORY:
            return "too much memory", f"{grown / MEGABYTE:.0f} MB for a picture of {told.size} bytes"
        return None


def judge(work: Callable[[Told], None], limits: Limits, clean: tuple[type[Exception], ...]) -> tuple[str, str] | None:
    """Run it. None if all is well, else what happened: a short name of the finding, and the details."""
    told = Told()
    limits.begin()
    found = None
    try:
        work(told)
    except clean as error:
        found = _unclear(error)
    except Exception as error:  # whatever a reader lets through
        found = f"{type(error).__name__} at {_where(error)}", "".join(traceback.format_exception(error))
    return found or limits.exceeded(told)


def _unclear(error: Exception) -> tuple[str, str] | None:
    """What is wrong with the sentence of an error."""
    if not isinstance(error, DualpixError):
        return None
    said = in_words(error)
    if not said.strip():
        return "error without a sentence", repr(error)
    if "\n" in said or any((ord(letter) < 32 and letter != "\t") or ord(letter) == 127 for letter in said):
        return f"control characters in a sentence at {_where(error)}", repr(said)
    if "do not fit in memory" in said:
        return f"out of memory at {_where(error)}", said
    return None


def _where(error: BaseException) -> str:
    """The innermost line of dualpix that the error passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/dualpix/" in frame.filename]
    return f"{frames[-1].filename.rpartition('/dualpix/')[2]}:{frames[-1].lineno}" if frames else "no line of dualpix"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _resident() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
