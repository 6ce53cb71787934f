"""Optics: how the two views blur a point that is out of focus.

`HALF_DISC` is the ideal dual pixel, `Pupil` a model with a few numbers, `Measured` a real camera's kernels.
"""

from .half_disc import HALF_DISC, HalfDisc, half_disc
from .measured import Measured, read_measured
from .named import parse_optics
from .pupil import Pupil
from .spot import LEFT, RIGHT, Kernel, Optics, Spot

__all__ = [
    "HALF_DISC",
    "LEFT",
    "RIGHT",
    "HalfDisc",
    "Kernel",
    "Measured",
    "Optics",
    "Pupil",
    "Spot",
    "half_disc",
    "parse_optics",
    "read_measured",
]
