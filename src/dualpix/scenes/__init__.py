"""Random scenes with known depth, rendered as dual-pixel pairs: `draw` chooses one, `make` renders it."""

from .draw import draw
from .make import Shot, make, stacked
from .recipe import Recipe

__all__ = ["Recipe", "Shot", "draw", "make", "stacked"]
