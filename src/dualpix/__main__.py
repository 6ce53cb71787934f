"""``python -m dualpix``."""

from .cli import run

run()
