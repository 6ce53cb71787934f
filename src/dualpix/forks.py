"""Forks: a process that is forked while another thread imports a module or holds a lock would hang."""

import logging  # noqa: F401 - Pillow imports it, and what it does at a fork must be known before one waits
import os
import sys
import threading
from contextlib import suppress
from importlib import import_module

no_fork = threading.RLock()  # while a thread holds it, forks of other threads wait


def _release() -> None:
    """Give the lock free after a fork. It is not held if the wait for it was interrupted."""
    with suppress(RuntimeError):  # an RLock is released by none but its owner
        no_fork.release()


def _wait() -> None:
    """Wait until no thread holds the lock, and until the modules of this package that others import are imported."""
    no_fork.acquire()
    for name, module in tuple(sys.modules.items()):
        if name.startswith("dualpix.") and getattr(module.__spec__, "_initializing", False):
            with suppress(ImportError):  # that of the other thread, which tells it
                import_module(name)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_parent=_release, after_in_child=_release)
