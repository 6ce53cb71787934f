"""The matching window: the weights of the pixels whose costs are summed."""

import math

import numpy as np

from ..params.definitions import Matching
from ..types import Map, as_row

BOXED = ("bt", "census")  # costs whose window is a box


def window_taps(matching: Matching) -> Map:
    """Centre and one half of the matching window, the same along x and y."""
    return box_taps(matching.window) if matching.cost in BOXED else gaussian_taps(matching.window)


def window_side(matching: Matching) -> int:
    """Side of the matching window, px: its full width."""
    return 2 * len(window_taps(matching)) - 1


def gaussian_taps(omega: float) -> Map:
    """Centre and one half of a Gaussian of STD omega, cut at 2 ceil(2 omega) + 1 taps that sum to one."""
    taps = np.exp(-0.5 * (np.arange(math.ceil(2 * omega) + 1) / omega) ** 2)
    return as_row(taps / (2 * taps.sum() - taps[0]))


def box_taps(side: float) -> Map:
    """Centre and one half of a box of 2 floor(side / 2) + 1 taps that sum to one."""
    half = math.floor(side / 2)
    return as_row(np.full(half + 1, 1 / (2 * half + 1)))
