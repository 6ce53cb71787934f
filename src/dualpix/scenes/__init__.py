"""Scenes with known depth, rendered as dual-pixel pairs: `draw` chooses one at random, `make` renders it."""

from .draw import draw
from .evening import evening
from .make import Shot, make, stacked
from .recipe import Recipe

__all__ = ["Recipe", "Shot", "draw", "evening", "make", "stacked"]
