"""How certain the ranking of methods is: intervals of their means, and tests of their differences.

The scenes are taken as a random sample. The interval of a mean is a bootstrap: scenes are drawn again with replacement,
and the interval holds the middle 95 % of the means. The test of two methods is a paired permutation test: if they were
equal, the difference on every scene could as well have the other sign. The p-value is the share of sign patterns whose
mean difference is at least as large. The random numbers have a fixed seed, so figures are the same each time.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .outcomes import Comparison, count

LEVEL = 0.95  # of the intervals
SIGNIFICANT = 0.05  # a smaller p-value is significant
ROUNDS = 10_000  # random samples
BLOCK = 500  # of them at once, to need little memory
EXACT = 13  # scenes, up to which all sign patterns are tried
SEED = 20
PLACES = ("gold", "silver", "bronze")

Interval = tuple[float, float]


class Difference(NamedTuple):
    """Two methods on the scenes that both finished with a finite score.

    `mean` is the mean of `first` less `second`, so it is negative if `first` is better. `p` is corrected for the number
    of pairs of methods (Holm); 1 if there is no scene.
    """

    first: str
    second: str
    mean: float
    p: float
    scenes: int


def interval(values: Sequence[float]) -> Interval | None:
    """The bootstrap interval of the mean; None for fewer than two values."""
    if len(values) < 2:
        return None
    x, random = np.asarray(values, np.float64), np.random.default_rng(SEED)
    means = [x[random.integers(0, x.size, (BLOCK, x.size))].mean(axis=1) for _ in range(ROUNDS // BLOCK)]
    low, high = np.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2)).tolist()
    return low, high


def permutation_p(differences: Sequence[float]) -> float:
    """The two-sided p-value of paired differences: how often random signs give a mean as large.

    Up to EXACT differences all signs are tried. Beyond, ROUNDS random ones, and the true signs as one of them.
    Differences that are not finite do not count; 1 if none is left.
    """
    d = np.asarray(_finite(differences), np.float64)
    if not d.any():
        return 1.0
    if d.size <= EXACT:
        signs = (1 - 2 * (np.arange(2**d.size)[:, None] >> np.arange(d.size) & 1)).astype(np.int8)
        return _as_large(signs, d) / len(signs)
    rng, sides = np.random.default_rng(SEED), np.array([-1, 1], np.int8)
    found = sum(_as_large(rng.choice(sides, (BLOCK, d.size)), d) for _ in range(ROUNDS // BLOCK))
    return (1 + found) / (1 + ROUNDS)


def differences(comparison: Comparison) -> list[Difference]:
    """All pairs of methods by the measure, each with the better-ranked method first."""
    protocol, score = comparison.measure
    found = {
        method: {
            each.scene: each.scores[protocol][score]
            for each in comparison.finished(method)
            if score in each.scores.get(protocol, {})
        }
        for method in comparison.methods
    }
    pairs = list(combinations(comparison.ranked(), 2))
    each_scene = [_finite([found[a][s] - found[b][s] for s in found[a] if s in found[b]]) for a, b in pairs]
    p = _holm([permutation_p(own) for own in each_scene])
    return [
        Difference(a, b, float(np.mean(own)) if own else float("nan"), p[i], len(own))
        for i, ((a, b), own) in enumerate(zip(pairs, each_scene, strict=True))
    ]


def medals(comparison: Comparison, tests: Sequence[Difference]) -> dict[str, str]:
    """Gold, silver and bronze by method.

    The first three of `Comparison.rivals` get one, if the method is significantly better than every one behind it.
    """
    ranked = comparison.rivals()
    better = {(each.first, each.second) for each in tests if each.mean < 0 and each.p < SIGNIFICANT}
    return {
        method: medal
        for place, (method, medal) in enumerate(zip(ranked, PLACES, strict=False), 1)
        if ranked[place:] and all((method, other) in better for other in ranked[place:])
    }


def fewest_scenes(methods: int) -> int:
    """The number of scenes below which no difference can be significant, however clear it is."""
    pairs = methods * (methods - 1) // 2
    return next(n for n in range(1, 64) if pairs * 2.0 ** (1 - n) < SIGNIFICANT)


def _finite(values: Sequence[float]) -> list[float]:
    return [each for each in values if math.isfinite(each)]


def too_few(methods: int, tests: Sequence[Difference]) -> str:
    """The sentence if there are too few scenes for any difference to be significant; empty if there are enough."""
    scenes, fewest = max((each.scenes for each in tests), default=0), fewest_scenes(methods)
    if not 0 < scenes < fewest:
        return ""
    return f"With {count(scenes, 'scene')} no difference can be significant: that takes {fewest}."


def _as_large(signs: npt.NDArray[np.int8], d: npt.NDArray[np.float64]) -> int:
    """The number of sign patterns whose sum is as large as that of d, up to rounding."""
    return int((np.abs(signs @ d) >= abs(d.sum()) - 1e-9 * np.abs(d).sum()).sum())


def _holm(p: list[float]) -> list[float]:
    """The p-values corrected for their number, by Holm's method."""
    corrected, largest = [0.0] * len(p), 0.0
    for k, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - k) * p[i]))
        corrected[i] = largest
    return corrected
