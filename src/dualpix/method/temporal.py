"""The temporal prior: what another frame of a clip believes, moved to this one.

Time is one more path of the aggregation. Its message has the exact form, and the similarity takes the place of the edge
weight.
"""

from dataclasses import dataclass

import numpy as np

from ..types import Map, Parabolas, doubled
from .confidence import EVERY
from .motion import Motion
from .priors import Weighted
from .scales import Level

WEIGHT = 2.0  # w_t, in units of the mean curvature of the evidence
SAME = 0.5  # similarity above which a pixel shows the same thing
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
            moved = shifted(moved, change(d, moved, s))
            s = s * agreement(moved.disparity(threads), 2 * doubled(d, s.shape, threads))
        return *message(moved, np.float32(self.penalty) * s), 1, 1.0, 0.0


def change(coarser: Map, moved: Parabolas, similarity: Map) -> float:
    """How much nearer the whole picture has come since the other frame, px. A focus pull does that.

    It is the median change of the disparities of the coarser scale, which knows nothing of the other frame. 0 if those
    of the other frame are not known.
    """
    before = moved.signs and moved.signs.coarser
    same = similarity[::EVERY, ::EVERY] > SAME
    if before is None or not same.any():
        return 0.0
    return 2 * float(np.median((coarser[:: EVERY // 2, :: EVERY // 2] - before)[same]))


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
