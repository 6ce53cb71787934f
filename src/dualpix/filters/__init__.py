"""Filters of a finished map.

NaN, and any disparity beyond 1e9 px, is missing data and never spreads. Confidence is a weight in [0, 1]; a pixel of
weight 0 counts as missing. Guides are images: HxW or HxWx3 (RGB), uint8, uint16 or float in [0, 1]. Disparities keep
their sign and unit.
"""

from .guided import guided_filter
from .holes import fill_holes
from .median import weighted_median
from .solver import bilateral_solver
from .speckles import remove_speckles

__all__ = ["bilateral_solver", "fill_holes", "guided_filter", "remove_speckles", "weighted_median"]
