"""Removal of small regions."""

import numpy.typing as npt

from .. import _core
from ..params.rules import Real, Whole, check
from ..types import Map
from .common import as_map


def remove_speckles(d: npt.ArrayLike, *, size: int, step: float) -> Map:
    """Set small connected regions to NaN.

    Parameters
    ----------
    d : HxW array
        Disparities.
    size : int
        Regions with fewer pixels are removed.
    step : float
        Two neighbours along x or y are connected if they differ by at most this much (px).
    """
    size, step = check("size", size, Whole(0, 2**31 - 1)), check("step", step, Real(0, 1e9))
    out = as_map("d", d).copy()
    _core.remove_speckles(out, size, step)
    return out
