"""The temporal prior: what another frame of a clip believes, moved to this one.

Time is one more path of the aggregation. Its message has the exact form, and the similarity takes the place of the edge
weight.
"""

from dataclasses import dataclass

import numpy as np

from ..types import Map, Parabolas, Shape, doubled
from .confidence import EVERY, window_mean
from .motion import Motion
from .priors import Weighted
from .scales import Level

WEIGHT = 2.0  # w_t, in units of the mean curvature of the evidence
SAME = 0.5  # similarity above which a pixel shows the same thing
CHANGED = 0.04  # px: where disparities have changed by more than this beside the others, the other frame is no help
AROUND = 9  # in steps of four pixels: the side of the window in which a change is measured
STEP = 0.5  # px: a pixel whose disparity differs by more than this from the coarser scale shows another thing


@dataclass(frozen=True, eq=False)
class Temporal:
    """A prior from another frame. It enters at the finest scale only.

    So the coarser scale knows nothing of the other frame, and can object to it.

    Attributes
    ----------
    belief : Parabolas
        That of the other frame, at full size.
    motion : Motion
        From the other frame to this one.
    penalty : float
        ``w_t`` times the mean curvature of the evidence, px^-2: the most curvature that the prior can have.
    """

    belief: Parabolas
    motion: Motion
    penalty: float

    def at(self, level: Level, threads: int, coarser: Parabolas | None) -> Weighted | None:
        """The prior at the finest level, given the belief of the next coarser one; None at other levels."""
        if level.factor > 1:
            return None
        moved, s = self.motion.carried(self.belief, threads)
        if coarser:
            d = coarser.disparity(threads)
            if moved.signs and moved.signs.coarser is not None:
                nearer, same = change(d, moved.signs.coarser, s, threads)
                moved = shifted(moved, nearer)
                s = s * fourfold(same, s.shape, threads)
            s = s * agreement(moved.disparity(threads), 2 * doubled(d, s.shape, threads))
        return *message(moved, np.float32(self.penalty) * s), 1, 1.0, 0.0


def change(coarser: Map, before: Map, similarity: Map, threads: int) -> tuple[float, Map]:
    """What happened to the disparities since the other frame, as the coarser scale tells, which knows only one frame.

    Parameters
    ----------
    coarser : float32 map
        Disparities of the coarser scale, px of that scale.
    before : float32 map
        Those of the other frame, moved to this one, at every fourth pixel of the finest scale.
    similarity : float32 map
        At full size.

    Returns
    -------
    nearer : float
        The median change, px: a focus pull changes the whole picture by the same disparity.
    same : float32 map
        0 to 1 at every fourth pixel: low where the surroundings have changed in another way, as a thing that comes
        nearer.
    """
    found = (similarity[::EVERY, ::EVERY] > SAME).astype(np.float32)
    apart = np.float32(2) * (coarser[:: EVERY // 2, :: EVERY // 2] - before)
    nearer = float(np.median(apart[found > 0])) if found.any() else 0.0
    # c = the mean of (change - nearer) around the pixel; same = exp(-c^2 / (2 sigma^2))
    total, count = (window_mean(each, AROUND, threads) for each in (found * (apart - np.float32(nearer)), found))
    c = total / np.maximum(count, np.float32(1e-3))
    return nearer, np.asarray(np.exp(np.float32(-0.5 / CHANGED**2) * c**2), np.float32)


def fourfold(values: Map, shape: Shape, threads: int) -> Map:
    """A map of every fourth pixel at full size."""
    return doubled(doubled(values, tuple((n + 1) // 2 for n in shape), threads), shape, threads)


def shifted(parabolas: Parabolas, d: float) -> Parabolas:
    """The parabolas with vertices d px larger."""
    # A (x - d)^2 + B (x - d) = A x^2 + (B - 2 A d) x + ...
    return Parabolas(parabolas.A, parabolas.B - np.float32(2 * d) * parabolas.A)


def agreement(d: Map, expected: Map) -> Map:
    """How well disparities agree, 0 to 1: ``exp(-(d - d')^2 / (2 step^2))``."""
    return np.asarray(np.exp(np.float32(-0.5 / STEP**2) * (d - expected) ** 2), np.float32)


def message(belief: Parabolas, P: Map) -> tuple[Map, Map]:
    """A and B of the exact message over a step with the penalty P: ``min over d' of A d'^2 + B d' + P (d - d')^2``."""
    # A' = A P / (A + P), B' = B P / (A + P)
    share = np.divide(P, belief.A + P, out=np.zeros_like(P), where=P > 0)
    return share * belief.A, share * belief.B
