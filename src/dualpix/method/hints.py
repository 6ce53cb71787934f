"""A user's hints as evidence: prior parabolas where the disparity is told, no weight where it is unknown.

They change the evidence of a scale before it is aggregated. So the aggregation carries them on to their surroundings,
as it does with all evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..camera.lens import Calibration, evaluate
from ..io.hints import NOTHING, Hint, painted
from ..io.orientation import as_stored, swaps_axes
from ..opencv import opencv
from ..types import Flags, Map, Parabolas, doubled
from .confidence import textured
from .frame import Frame
from .scales import Level

WEIGHT = np.float32(50)  # of a hint, in curvatures of the evidence that it overrules
COARSEST = 2  # full size over the size of the coarsest scale where a hint's disparity counts
SLIGHT = np.float32(1e-6)  # curvature of an unknown pixel, in mean curvatures: messages from any side overrule it


@dataclass(frozen=True, eq=False)
class Told:
    """What the user told about the pixels of the matched planes; see `dualpix.io.hints.painted`.

    Attributes
    ----------
    map : float32 map or None
        At full size: a disparity in px of the matched planes, minus infinity where it is unknown, NaN where nothing
        was told. None if there are no hints at all.
    """

    map: Map | None = None

    def at(self, level: Level) -> Told:
        """The hints at the size of the level; its pixel i lies at pixel ``factor i``.

        Disparities count at the two finest scales only. From coarser ones they would spread far beyond their region.
        """
        if self.map is None or level.factor == 1:
            return self
        here = self.map[:: level.factor, :: level.factor] / np.float32(level.factor)
        return Told(here if level.factor <= COARSEST else np.where(np.isfinite(here), NOTHING, here))

    def mirrored(self) -> Told:
        """The hints for the mirrored pair, in which the right view takes the place of the left.

        The right view shows a point of disparity d at x - d. Regions without a disparity stay where they are.
        """
        if self.map is None:
            return self
        seen = np.where(np.isfinite(self.map), NOTHING, self.map)
        y, x = np.nonzero(np.isfinite(self.map))
        d = self.map[y, x]
        place = np.rint(x - d).astype(np.int64)
        inside = (place >= 0) & (place < seen.shape[1])
        seen[y[inside], place[inside]] = d[inside]
        return Told(np.ascontiguousarray(seen[:, ::-1]))

    def forgotten(self, local: Parabolas, threads: int) -> Parabolas:
        """The local term without what is unknown, in place: the surroundings tell it, with hardly a weight."""
        if self.map is None or not (unknown := np.isneginf(self.map)).any():
            return local
        A, B = local.A, local.B
        # A' = w, B' = -2 w d, w = SLIGHT mean(A)
        w = SLIGHT * np.float32(self._mean(A))
        A[unknown], B[unknown] = 0, 0
        A[unknown], B[unknown] = w, -2 * w * around(Parabolas(A, B), threads)[unknown]
        return replace(local, vertex=None)

    def added(self, evidence: Parabolas) -> Parabolas:
        """The evidence with the told disparities, in place. They overrule the match and the coarser scale.

        What is unknown has no texture, so its confidence is 0.
        """
        if self.map is None:
            return evidence
        evidence = replace(evidence, textured=textured(evidence, 1))
        if evidence.textured is not None:
            evidence.textured[np.isneginf(self.map)] = 0
        if (near := self.near()) is None:
            return evidence
        A, B, d = evidence.A, evidence.B, self.map[near]
        # A' = A + w, B' = B - 2 w d, w = WEIGHT max(A, mean(A))
        w = WEIGHT * np.maximum(A[near], np.float32(self._mean(A)))
        A[near] += w
        B[near] -= 2 * w * d
        if evidence.textured is not None:
            evidence.textured[near] = 1
        if evidence.matched is not None:
            evidence.matched[near] = d
        return replace(evidence, vertex=None)

    def near(self) -> Flags | None:
        """Where a disparity is told; None if nowhere."""
        near: Flags | None = None if self.map is None else np.isfinite(self.map)
        return near if near is not None and near.any() else None

    def curvature(self, evidence: Parabolas) -> float | None:
        """The mean curvature of the evidence that is not told, so that hints do not change the smoothing elsewhere.

        None if there are no hints.
        """
        return None if self.map is None else self._mean(evidence.A)

    def _mean(self, A: Map) -> float:
        """The mean over the pixels that nothing was told about; over all if there are none."""
        assert self.map is not None
        untold: Flags = np.isnan(self.map)
        return float(A.mean(where=untold if untold.any() else True, dtype=np.float64))


NOT_TOLD = Told()


def around(parabolas: Parabolas, threads: int) -> Map:
    """The disparity of every pixel, or of its surroundings if it has no curvature."""
    if max(parabolas.A.shape) == 1:
        return parabolas.disparity(threads)
    smaller = parabolas.halved(threads)
    d = doubled(2 * around(smaller, threads), parabolas.A.shape, threads)
    return np.where(parabolas.A > 0, parabolas.disparity(threads), d)


def in_frame(hints: Sequence[Hint], frame: Frame, lens: Calibration) -> Told:
    """Bring hints from the picture as a viewer shows it into the frame of the matched planes.

    Parameters
    ----------
    hints
        Their disparities are those of the finished map, in px of the input.
    frame
        How the picture and the matched planes relate.
    lens
        What is undone in the finished map, so the matched planes still have it.
    """
    if not hints:
        return NOT_TOLD
    height, width = frame.shape[::-1] if swaps_axes(frame.orientation) else frame.shape
    told = as_stored(painted(hints, (height, width)), frame.orientation)
    if lens.field is not None:
        # d_observed = gain d + offset; gain > 0 keeps minus infinity
        told = evaluate(lens.field.gain, told.shape) * told + evaluate(lens.field.offset, told.shape)
    if frame.aspect != 1:
        cv2 = opencv()
        height, width = frame.square_shape
        told = np.asarray(cv2.resize(told, (width, height), interpolation=cv2.INTER_NEAREST))
    told = told * np.float32(frame.stretch)
    return Told(np.ascontiguousarray(told if frame.axis == "x" else told.T))
