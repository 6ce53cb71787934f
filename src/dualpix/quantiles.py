"""Quantiles of many values. NumPy's own functions give the same, but sort more, and one imports masked arrays."""

import math
from collections.abc import Sequence

import numpy as np

from .types import Map

SAMPLE = 4096  # values that tell where a quantile lies
MARGIN = 160  # of these on either side: five standard deviations of how many lie below the median


def quantiles(values: Map, shares: Sequence[float]) -> list[float]:
    """The values below which such shares of all lie, by linear interpolation. NaN does not count; NaN if all are."""
    values = values.ravel()
    known = ~np.isnan(values)
    values = values if known.all() else values[known]
    if not values.size:
        return [math.nan] * len(shares)
    sample = np.sort(values[:: max(values.size // SAMPLE, 1)])
    return [_quantile(values, sample, share) for share in shares]


def median(values: Map) -> float:
    """The value in the middle, or the mean of the two there. NaN does not count; NaN if all are."""
    return quantiles(values, [0.5])[0]


def _quantile(values: Map, sample: Map, share: float) -> float:
    at = share * (values.size - 1)
    first = int(at)
    last = min(first + 1, values.size - 1)
    lower, upper = _between(values, sample, first, last)
    if at == first or lower == upper:  # 0 * inf and inf - inf are NaN
        return lower
    return lower + (at - first) * (upper - lower)


def _between(values: Map, sample: Map, first: int, last: int) -> list[float]:
    """The values of two neighbouring ranks. Only values close to them, by the sample, are sorted."""
    middle = first * sample.size // values.size
    low, high = sample[max(middle - MARGIN, 0)], sample[min(middle + MARGIN, sample.size - 1)]
    close, below = values[(values >= low) & (values <= high)], int(np.count_nonzero(values < low))
    if not below <= first <= last < below + close.size:
        close, below = values, 0
    ranks = [first - below, last - below]
    return [float(each) for each in np.partition(close, ranks)[ranks]]
