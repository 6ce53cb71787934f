"""NumPy without the threads of its linear algebra, for commands that need none of it."""

import os

_NAME = "OPENBLAS_NUM_THREADS"


def import_numpy() -> None:
    """Import NumPy with one thread for OpenBLAS: to start one a core takes a third of its import.

    The environment is as before when this returns, so programs that the command starts have all their threads.
    """
    if _NAME in os.environ:
        return
    os.environ[_NAME] = "1"
    try:
        import numpy  # noqa: F401
    finally:
        del os.environ[_NAME]
