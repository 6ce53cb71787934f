"""Reduction of maps to the size at which they are kept and shown."""

import numpy as np

from ..types import Map

LARGEST, SMALLEST = 640, 160  # px, longer side of the largest and of the smallest pictures
FEW = 20  # scenes whose pictures are kept at the largest size


def fit_into(shape: tuple[int, ...], side: int = LARGEST) -> tuple[int, int]:
    """Height and width, reduced in proportion until neither is above `side`."""
    factor = min(1.0, side / max(shape[:2]))
    height, width = (max(1, round(length * factor)) for length in shape[:2])
    return height, width


def sampled(values: Map, shape: tuple[int, int]) -> Map:
    """The map reduced to that shape by taking single pixels, so that its values are those that were scored.

    Values that are not finite become NaN.
    """
    middles = (((np.arange(n) + 0.5) * whole / n).astype(int) for n, whole in zip(shape, values.shape, strict=True))
    taken = values[np.ix_(*middles)]
    return np.where(np.isfinite(taken), taken, np.nan).astype(np.float32)


def picture_side(scenes: int) -> int:
    """The side, px, at which pictures of so many scenes are kept: all of them need as much room as those of FEW."""
    return max(SMALLEST, min(LARGEST, int(LARGEST * (FEW / max(scenes, 1)) ** 0.5)))
