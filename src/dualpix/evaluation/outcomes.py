"""The parts of a comparison of methods on a data set: scenes, outcomes, and their ranking."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..types import Map

Scores = dict[str, dict[str, float]]  # by protocol, then by name of the score

COVERED = 0.95  # share of the known pixels; a method that covers less is not compared with the others
# Scores that count only the pixels of the map.
OF_COVERED = ("ai1", "ai2", "spearman", "geometric_mean", "rmse", "mae", "smooth", "edges", "bump", "ause")


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 scene, 2 scenes."""
    return f"{number} {noun}{'s' * (number != 1)}"


@dataclass(frozen=True, eq=False)
class Scene:
    """A pair ready to be matched, with its ground truth.

    Attributes
    ----------
    name : str
        Unique in its data set.
    left, right : images
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1].
    guide : image or None
        The image whose edges the map should follow; None for the left view.
    truth : float32 array
        Ground truth of the left view, of its shape; larger is nearer, NaN where unknown or not scored.
    in_pixels : bool
        The truth is a disparity in pixels, ``d = x_left - x_right``. If not, it is known only up to scale and offset,
        and lies in [0, 1].
    weight : float32 array or None
        Weight of each pixel in the scores.
    axis : "x" or "y"
        The direction in which the views differ.
    range : (float, float) or None
        The disparities to search, px, if the data set gives them.
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
    """The result of one method on one scene.

    Attributes
    ----------
    scene, method : str
        Their names.
    disparity, confidence : float32 array or None
        The maps, at the size a report shows.
    scores : dict
        By protocol, then by name: ``{"proper": {"ai1": 0.03, ...}, "paper-dslr": {...}}``. Scores that do not apply are
        left out. Lower is better, except for ``coverage`` and ``gain``.
    seconds, megabytes : float
        Time of the method alone, and peak memory of the process that ran it.
    error : str or None
        Why there is no map, if there is none.
    traceback : str
        Where the error happened; empty if there is none.
    prints : str
        What the method printed; empty if the map was kept from an earlier run.
    """

    scene: str
    method: str
    disparity: Map | None
    confidence: Map | None
    scores: Scores
    seconds: float
    megabytes: float
    error: str | None = None
    traceback: str = ""
    prints: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of all methods on all scenes of a data set.

    Attributes
    ----------
    dataset : str
        Its name; the name of its folder if a user has described it.
    measure : (str, str)
        The protocol and the score that rank the methods, such as ``("proper", "geometric_mean")``.
    scenes : list of Scene
        At the size a report shows; empty if pictures were not requested.
    methods : dict
        The exact parameters of each method, by name, ready for JSON.
    outcomes : list of Outcome
    skipped : dict
        Why each skipped scene was skipped, by name.
    versions : dict
        See `dualpix.batches.versions`.
    sizes : dict
        Height and width of the matched views, by name of the scene.
    log : Path or None
        The file with all that methods printed; None if they printed nothing.
    notes : tuple of str
        What the user should know about how the data set was read.
    """

    dataset: str
    measure: tuple[str, str]
    scenes: list[Scene]
    methods: dict[str, dict[str, Any]]
    outcomes: list[Outcome]
    skipped: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    log: Path | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        scenes = count(len({each.scene for each in self.outcomes}), "scene")
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        ranked = ", ".join(self.ranked())
        return f"<Comparison {self.dataset}: {scenes}{skipped}; best first by {' '.join(self.measure)}: {ranked}>"

    def _repr_html_(self) -> str:
        """For notebooks: the tables of the methods, and what failed."""
        from .publish import html_table

        return html_table(self)

    def ranked(self) -> list[str]:
        """The methods, best first.

        The measure ranks them, with two exceptions. Methods that failed on some scenes come last: their means are over
        other scenes. And if the measure counts only the pixels of a map, methods that cover less than COVERED of the
        truth come behind those that cover more.
        """

        def key(method: str) -> tuple[int, bool, float]:
            mean = self.mean(method, *self.measure)
            behind = self.measure[1] in OF_COVERED and self.partial(method)
            return -len(self.finished(method)), behind, math.inf if math.isnan(mean) else mean

        return sorted(self.methods, key=key)

    def rivals(self, score: str | None = None) -> list[str]:
        """The methods, best first, that a score compares fairly; by default the measure.

        They gave maps of as many scenes as any other. If the measure or the score counts only the pixels of a map, they
        cover enough of the truth.
        """
        ranked = self.ranked()
        counts = {method: len(self.finished(method)) for method in ranked}
        complete = [method for method in ranked if counts[method] == max(counts.values())]
        if self.measure[1] not in OF_COVERED and (score or self.measure[1]) not in OF_COVERED:
            return complete
        return [method for method in complete if not self.partial(method)]

    def finished(self, method: str) -> list[Outcome]:
        """The outcomes of the scenes on which the method gave a map."""
        return [each for each in self.outcomes if each.method == method and each.error is None]

    def partial(self, method: str) -> bool:
        """Whether the maps of the method cover less than COVERED of the truth, on average."""
        return self.mean(method, self.measure[0], "coverage") < COVERED

    def mean(self, method: str, protocol: str, score: str) -> float:
        """Mean of a score over the scenes on which the method gave a map; NaN if there is none."""
        return float(np.mean(values)) if (values := self.values(method, protocol, score)) else float("nan")

    def median(self, method: str, protocol: str, score: str) -> float:
        """Median of a score over the scenes on which the method gave a map; NaN if there is none."""
        return float(np.median(values)) if (values := self.values(method, protocol, score)) else float("nan")

    def values(self, method: str, protocol: str, score: str) -> list[float]:
        """A score by scene, of the scenes on which the method gave a map."""
        own = (outcome.scores.get(protocol, {}) for outcome in self.outcomes if outcome.method == method)
        return [scores[score] for scores in own if score in scores]
