"""Scenes as the page shows them: reduced, with all maps in the unit of the truth and on common colour scales."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...types import Map
from ..outcomes import Comparison, Outcome, Scene
from ..samples import fit_into, sampled
from ._pictures import STEPS, Image, Scale, shrunk

COARSE = STEPS // 4  # steps of the scales of errors and confidences


@dataclass(frozen=True, eq=False)
class Maps:
    """The maps of one method on one scene. `values` are in the unit of the truth."""

    values: Map
    error: Map
    confidence: Map | None


@dataclass(frozen=True, eq=False)
class Look:
    """A scene, reduced to at most LARGEST pixels a side.

    `outcomes` has all methods that ran, `maps` those that gave a map.
    """

    scene: Scene
    photo: Image
    truth: Map
    weight: Map
    outcomes: dict[str, Outcome]
    maps: dict[str, Maps]

    @cached_property
    def values_scale(self) -> Scale:
        """The scale of truth and maps: the range of the truth with a margin, as maps may exceed it."""
        known = self.truth[np.isfinite(self.truth)]
        low, high = np.percentile(known, (1, 99)).tolist() if known.size else (0.0, 1.0)
        room = 0.1 * (high - low) or 0.5
        return Scale(low - room, high + room)

    @cached_property
    def error_scale(self) -> Scale:
        """The scale of errors: up to the 95th percentile of a method's errors, median over the methods."""
        errors = [maps.error[np.isfinite(maps.error)] for maps in self.maps.values()]
        highest = [float(np.percentile(error, 95)) for error in errors if error.size]
        low, high, _ = self.values_scale
        return Scale(0, max(float(np.median(highest or [0])), (high - low) / 100), COARSE)


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
        values = values if scene.in_pixels else fitted(values, truth, weight)
        confidence = None if outcome.confidence is None else sampled(outcome.confidence, shape)
        maps[method] = Maps(values, np.abs(values - truth), confidence)
    view = scene.left if scene.guide is None else scene.guide
    return Look(scene, shrunk(view, shape), truth, weight, outcomes, maps)


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
