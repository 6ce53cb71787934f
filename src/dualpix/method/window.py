"""The matching window: the weights of the pixels whose costs are summed."""

import math

import numpy as np

from ..params.definitions import Matching
from ..types import Map, as_row

BOXED = ("bt", "census")  # costs whose window is a box
SIDE = 2  # px, side of the blocks that share a cost: with 4 the maps lose a percent, and little time is won
BLOCKS = 2.0  # blocks that the STD of the window must have at least for that


def window_taps(matching: Matching) -> Map:
    """Centre and one half of the matching window, the same along x and y."""
    return box_taps(matching.window) if matching.cost in BOXED else gaussian_taps(matching.window)


def window_side(matching: Matching) -> int:
    """Side of the matching window, px: its full width."""
    return 2 * len(window_taps(matching)) - 1


def block_side(matching: Matching) -> int:
    """Side of the blocks of pixels that share a cost, px.

    A block is small against the window. With encc, its pixels have offsets of their own from the common disparity.
    """
    return SIDE if matching.cost in ("sad", "ssd") and matching.window >= BLOCKS * SIDE else 1


def block_taps(matching: Matching) -> Map:
    """The window as `window_taps`, in blocks.

    A block is a box with the variance side^2 / 12, which the window has less, so that both together have its STD.
    """
    side = block_side(matching)
    if side == 1:
        return window_taps(matching)
    omega = math.sqrt((matching.window / side) ** 2 - 1 / 12)
    taps = np.exp(-0.5 * (np.arange(round(2 * matching.window / side) + 1) / omega) ** 2)
    return as_row(taps / (2 * taps.sum() - taps[0]))


def window_reach(matching: Matching) -> int:
    """Pixels on each side of a pixel that its cost depends on. It may lie at either end of its block."""
    return len(block_taps(matching)) * block_side(matching) - 1


def gaussian_taps(omega: float) -> Map:
    """Centre and one half of a Gaussian of STD omega, cut at 2 ceil(2 omega) + 1 taps that sum to one."""
    taps = np.exp(-0.5 * (np.arange(math.ceil(2 * omega) + 1) / omega) ** 2)
    return as_row(taps / (2 * taps.sum() - taps[0]))


def box_taps(side: float) -> Map:
    """Centre and one half of a box of 2 floor(side / 2) + 1 taps that sum to one."""
    half = math.floor(side / 2)
    return as_row(np.full(half + 1, 1 / (2 * half + 1)))
