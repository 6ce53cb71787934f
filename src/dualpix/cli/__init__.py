"""The command line: one module a command, and `main`, which runs them."""

from .lean import quick_imports

with quick_imports():
    from .main import main, run

__all__ = ["main", "run"]
