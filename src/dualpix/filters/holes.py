"""Filling of holes."""

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..types import Map
from .common import FARTHEST, as_map


def fill_holes(d: npt.ArrayLike) -> Map:
    """Fill NaN from the rims of the holes inwards, each pixel by the median of its valid 3x3 neighbours.

    An even number of neighbours gives the lower median, because a hidden pixel belongs to the background. The time
    does not depend on the size of the holes.

    Raises
    ------
    InputError
        If the map has no valid pixel.
    """
    out = as_map("d", d).copy()
    if not (np.abs(out) <= FARTHEST).any():
        raise InputError("d has no valid pixel to fill its holes from: give a map with data")
    _core.fill_holes(out)
    return out
