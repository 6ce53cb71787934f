"""Run the command with ``python -m dualpix``."""

from .cli import run

run()
