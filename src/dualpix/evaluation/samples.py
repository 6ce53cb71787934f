"""Maps made as small as they are kept and shown."""

import numpy as np

from ..types import Map

LARGEST = 640  # px, the longer side


def fit_into(shape: tuple[int, ...], side: int = LARGEST) -> tuple[int, int]:
    """Height and width, reduced if need be so that neither is above `side`."""
    factor = min(1.0, side / max(shape[:2]))
    height, width = (max(1, round(length * factor)) for length in shape[:2])
    return height, width


def sampled(values: Map, shape: tuple[int, int]) -> Map:
    """A map of that shape made of single pixels, not means, the middle ones: values stay those that were scored.

    What is not finite becomes NaN.
    """
    middles = (((np.arange(n) + 0.5) * whole / n).astype(int) for n, whole in zip(shape, values.shape, strict=True))
    taken = values[np.ix_(*middles)]
    return np.where(np.isfinite(taken), taken, np.nan).astype(np.float32)
