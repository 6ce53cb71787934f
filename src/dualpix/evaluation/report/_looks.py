"""Scenes as the page shows them: reduced, with all maps in the unit of the truth and on common colour scales."""

from dataclasses import dataclass

import numpy as np

from ...types import Map
from ..metrics.pixels import edge_split, near_edges
from ..outcomes import Comparison, Outcome, Scene
from ..samples import fit_into, sampled
from ._pictures import STEPS, Image, Scale, shrunk

COARSE = STEPS // 4  # steps of the scale of confidences
SIGNED = STEPS // 3  # steps of the scale of errors; even, so that 0 has a colour of its own
LARGEST_PX, LARGEST_SHARE = 1.0, 0.1  # the ends of the scale of errors, in px or as a share of the truth's range


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps of one method on one scene, in the unit of the truth. `error` is `values` less truth."""

    values: Map
    error: Map
    confidence: Map | None


@dataclass(frozen=True, eq=False)
class Look:
    """A scene, reduced to at most LARGEST pixels a side.

    `outcomes` has all methods that ran, `maps` those that gave a map. `values_scale` is the scale of truth and maps.
    """

    scene: Scene
    photo: Image
    truth: Map
    weight: Map
    outcomes: dict[str, Outcome]
    maps: dict[str, Maps]
    values_scale: Scale

    @property
    def error_scale(self) -> Scale:
        """The scale of errors, which is that of all scenes with the same unit."""
        largest = LARGEST_PX if self.scene.in_pixels else LARGEST_SHARE
        return Scale(-largest, largest, SIGNED, "signed")

    def splits(self) -> dict[str, dict[str, float]]:
        """The mean errors near depth edges and away from them by method, px; none if the truth is relative."""
        if not self.scene.in_pixels:
            return {}
        near = near_edges(self.truth)
        return {method: edge_split(np.abs(maps.error), near) for method, maps in self.maps.items()}


def look_at(comparison: Comparison, scene: Scene) -> Look:
    """A scene and the maps of all methods, ready to be shown."""
    shape = fit_into(scene.truth.shape)
    truth = sampled(scene.truth, shape)
    weight = np.ones_like(truth) if scene.weight is None else sampled(scene.weight, shape)
    outcomes = {each.method: each for each in comparison.outcomes if each.scene == scene.name}
    maps = {}
    for method, outcome in outcomes.items():
        if outcome.disparity is None:
            continue
        values = sampled(outcome.disparity, shape)
        values = gain(comparison, outcome) * values if scene.in_pixels else fitted(values, truth, weight)
        confidence = None if outcome.confidence is None else sampled(outcome.confidence, shape)
        maps[method] = Maps(values, values - truth, confidence)
    view = scene.left if scene.guide is None else scene.guide
    return Look(scene, shrunk(view, shape), truth, weight, outcomes, maps, _scale_of(truth))


def _scale_of(truth: Map) -> Scale:
    """The range of the truth with a margin, as maps may exceed it."""
    known = truth[np.isfinite(truth)]
    low, high = np.percentile(known, (1, 99)).tolist() if known.size else (0.0, 1.0)
    room = 0.1 * (high - low) or 0.5
    return Scale(low - room, high + room)


def gain(comparison: Comparison, outcome: Outcome) -> np.float32:
    """The factor with which the map was scored."""
    return np.float32(outcome.scores.get(comparison.measure[0], {}).get("gain", 1.0))


def fitted(x: Map, y: Map, w: Map) -> Map:
    """a x + b for the a, b that minimise the sum of w (a x + b - y)^2; NaN if x and y share no pixel."""
    valid = np.isfinite(x) & np.isfinite(y) & (w > 0)
    if not valid.any():
        return np.full_like(x, np.nan)
    weight = w[valid].astype(np.float64)
    mean_x, mean_y = (float(np.average(each[valid], weights=weight)) for each in (x, y))
    dx, dy = x[valid] - mean_x, y[valid] - mean_y
    variance = float(np.sum(weight * dx * dx))
    a = float(np.sum(weight * dx * dy)) / variance if variance > 0 else 0.0
    return np.asarray(a * (x - mean_x) + mean_y, np.float32)
