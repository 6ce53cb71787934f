"""The command line: one module a command, and `main`, which runs them."""

from .main import main, run

__all__ = ["main", "run"]
