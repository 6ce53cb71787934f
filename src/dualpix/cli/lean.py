"""Faster imports, for commands that are over soon."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_THREADS = "OPENBLAS_NUM_THREADS"

owns_process = False  # whether the command has this process for itself; `run` says so


@contextmanager
def quick_imports() -> Iterator[None]:
    """Import NumPy with one thread for its linear algebra, and modules without looking for garbage among them.

    Modules stay to the end. So nobody needs to look for garbage among them afterwards, either, if the process is the
    command's own. To start a thread a core takes a third of NumPy's import. The environment is as before at the end, so
    programs that the command starts have all their threads.
    """
    collects, ours, known = gc.isenabled(), _THREADS not in os.environ, len(sys.modules)
    gc.disable()
    if ours:
        os.environ[_THREADS] = "1"
    try:
        yield
    finally:
        if ours:
            del os.environ[_THREADS]
        if owns_process and len(sys.modules) > known:
            gc.freeze()
        if collects:
            gc.enable()
