"""What must be gone when the process ends, and steps that no signal may cut in two."""

import atexit
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_leftovers: set[str] = set()  # temporary files and folders
_last: dict[Callable[[], object], None] = {}  # what else is done at the end, in the order in which it was asked for
_steps = threading.RLock()  # held during steps that belong together


def remove(path: str | os.PathLike[str]) -> None:
    """Remove a file, or a folder with all it holds. Nothing happens if it does not exist."""
    with suppress(FileNotFoundError):
        if os.path.isdir(path) and not os.path.islink(path):
            import shutil  # takes long to import, and folders are rare

            shutil.rmtree(path)
        else:
            os.remove(path)


@contextmanager
def leftover(path: str) -> Iterator[None]:
    """Remove a temporary file or folder at the end of the block, or of the process if that comes first."""
    _leftovers.add(path)
    try:
        yield
    finally:
        forget(path)


@contextmanager
def at_end(act: Callable[[], object]) -> Iterator[None]:
    """Call a function at the end of the block, or of the process if that comes first.

    Of several, the newest is called first. A function may be called twice, and by two threads at once: the end of the
    process does not wait for a block that is ending.
    """
    _last[act] = None
    try:
        yield
    finally:
        act()
        _last.pop(act, None)


def remember(path: str) -> None:
    """Remove a file or folder at the end of the process, unless it is forgotten before."""
    _leftovers.add(path)


def forget(path: str) -> None:
    """Remove a temporary file or folder now, if it is still there. If that fails, it is tried again at the end."""
    with suppress(OSError):
        remove(path)
        _leftovers.discard(path)


def remove_leftovers(ending: bool = False) -> None:
    """Remove all temporary files and folders of this process, and do what `at_end` asks for.

    Steps that belong together are finished before. With `ending`, other threads cannot begin such steps any more. The
    caller ends the process at once.
    """
    got = _steps.acquire(timeout=5)  # s; after them, something is wrong with the disk
    for act in reversed(tuple(_last)):  # files go when the processes that write them have ended
        with suppress(Exception):  # the others have their turn
            act()
    for path in tuple(_leftovers):
        forget(path)
    if got and not ending:
        _steps.release()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals that end the process wait until the end of the block. It must be short."""
    if threading.current_thread() is not threading.main_thread():  # others are not interrupted by signals
        with _steps:
            yield
        return
    came: list[int] = []
    before: dict[int, Callable[[int, FrameType | None], object] | int] = {}
    try:
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if handler is not None and handler != signal.SIG_IGN:
                before[number] = handler
                signal.signal(number, lambda number, _: came.append(number))
        with _steps:
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def _forget_all() -> None:
    """After a fork the child has no temporary files and nothing to end: all that is its parent's."""
    global _steps
    _leftovers.clear()
    _last.clear()
    _steps = threading.RLock()


atexit.register(remove_leftovers)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
