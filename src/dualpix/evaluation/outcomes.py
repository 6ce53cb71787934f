"""What a comparison of methods on a data set consists of: scenes, methods, and the outcome of each on each."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..types import Map

Scores = dict[str, dict[str, float]]  # by protocol, then by name of the score

COVERED = 0.95  # of the known pixels; a method that gives fewer is not compared with those that give more
OF_COVERED = ("ai1", "ai2", "spearman", "geometric_mean", "rmse")  # the scores of what a map covers, and no more


@dataclass(frozen=True, eq=False)
class Scene:
    """A pair ready to be matched, and what is known about it.

    Attributes
    ----------
    name : str
        Unique in its data set.
    left, right : images
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1]; differing along `axis`.
    guide : image or None
        The picture whose edges count; None is the left view.
    truth : float32 array
        Of the left view's shape, larger is nearer, NaN where unknown or not to be scored. In pixels, ``d = x_left -
        x_right``, if `in_pixels`; else known up to scale and offset, 0 to 1.
    weight : float32 array or None
        Of the same shape: how much a pixel counts.
    axis : "x" or "y"
    range : (float, float) or None
        Disparities to search, px, where the data set says so.
    """

    name: str
    left: npt.NDArray[Any]
    right: npt.NDArray[Any]
    guide: npt.NDArray[Any] | None
    truth: Map
    in_pixels: bool = False
    weight: Map | None = None
    axis: str = "x"
    range: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """One method on one scene.

    Attributes
    ----------
    scores : dict
        By protocol, then by name: ``{"proper": {"ai1": 0.03, ...}, "paper-dslr": {...}}``; lower is better,
        but for ``coverage``.
    seconds, megabytes : float
        Time of the method alone, and peak memory of the process that ran it.
    error : str or None
        Why there is no map.
    """

    scene: str
    method: str
    disparity: Map | None
    confidence: Map | None
    scores: Scores
    seconds: float
    megabytes: float
    error: str | None = None


@dataclass(frozen=True, eq=False)
class Comparison:
    """All methods on all scenes of a data set.

    Attributes
    ----------
    dataset : str
    measure : (str, str)
        Protocol and score that methods are ranked by, such as ``("proper", "geometric_mean")``.
    scenes : list of Scene
    methods : dict
        By name, the exact parameters of each, ready for JSON.
    outcomes : list of Outcome
    skipped : dict
        By name of the scene, the sentence that says why it was left out.
    versions : dict
        Of dualpix, Python and the libraries, by name.
    sizes : dict
        By name of the scene, height and width of the views that were matched.
    """

    dataset: str
    measure: tuple[str, str]
    scenes: list[Scene]
    methods: dict[str, dict[str, Any]]
    outcomes: list[Outcome]
    skipped: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def ranked(self) -> list[str]:
        """Methods, best first by the measure.

        Behind those with more maps stand those with fewer, whose means are of other scenes; and, where the measure is
        of what a map covers, behind those that cover COVERED of the truth those that do not.
        """

        def key(method: str) -> tuple[int, bool, float]:
            mean = self.mean(method, *self.measure)
            behind = self.measure[1] in OF_COVERED and self.partial(method)
            return -len(self.finished(method)), behind, math.inf if math.isnan(mean) else mean

        return sorted(self.methods, key=key)

    def finished(self, method: str) -> list[Outcome]:
        """Those of the scenes on which the method gave a map."""
        return [each for each in self.outcomes if each.method == method and each.error is None]

    def partial(self, method: str) -> bool:
        """Whether its maps cover less than COVERED of the truth, on average."""
        return self.mean(method, self.measure[0], "coverage") < COVERED

    def mean(self, method: str, protocol: str, score: str) -> float:
        """Mean of a score over the scenes on which the method gave a map; NaN if there is none."""
        return float(np.mean(values)) if (values := self.values(method, protocol, score)) else float("nan")

    def median(self, method: str, protocol: str, score: str) -> float:
        """The same for the median."""
        return float(np.median(values)) if (values := self.values(method, protocol, score)) else float("nan")

    def values(self, method: str, protocol: str, score: str) -> list[float]:
        """A score of every scene on which the method gave a map."""
        own = (outcome.scores.get(protocol, {}) for outcome in self.outcomes if outcome.method == method)
        return [scores[score] for scores in own if score in scores]
