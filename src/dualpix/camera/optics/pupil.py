"""A model of the pupil that the two halves of a dual pixel see."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from math import hypot
from typing import Any

import numpy as np

from ...params.rules import Real, check
from .spot import Kernel, SampledSpot, Samples, Spots

SAMPLES = 64  # across the pupil at fineness 1
NODES = (5, 7)  # rows and columns of spots over the picture, if they differ
BOUNDS = {"split": Real(0, 2), "overlap": Real(0, 0.7), "cat_eye": Real(0, 1)}


@dataclass(frozen=True)
class Pupil:
    """A round pupil, shared softly by the two views and clipped off axis.

    At a point (u, v) of the pupil, in pupil radii, the left view sees

    ``left(u, v) = open(u, v) (h(u) + overlap (1 - h(u)))`` with ``h(u) = (1 + sin(pi/2 clip(u / split, -1, 1))) / 2``

    and the right view ``open(u, v) (h(-u) + overlap (1 - h(-u)))``. `open` is 1 where ``u^2 + v^2 < 1`` and
    ``|(u, v) + cat_eye q| < 1``. q is the place in the picture, from its centre to the right and down, 1 at the
    corners. This is the spot of a point in front of the focus. Behind it, the spot is reflected through the origin.

    Parameters
    ----------
    split : float
        Half the width of the soft border between the halves, in pupil radii, 0 to 2. 0 is a sharp border.
    overlap : float
        Sensitivity of each view in the half of the other, as a share of that in its own; 0 to 0.7.
    cat_eye : float
        Displacement of the second disc that clips the pupil, at the corners of the picture, in pupil radii; 0 to 1.
    """

    split: float = 0.0
    overlap: float = 0.0
    cat_eye: float = 0.0

    def __post_init__(self) -> None:
        for name, rule in BOUNDS.items():
            object.__setattr__(self, name, check(name, getattr(self, name), rule))

    def spots(self, height: int, width: int) -> Spots:
        if not self.cat_eye:
            return [[SampledSpot(partial(self.samples, 0.0, 0.0))]]
        diagonal = hypot(height, width)
        rows, columns = (
            np.linspace(-1, 1, n) * size / diagonal for n, size in zip(NODES, (height, width), strict=True)
        )
        return [[SampledSpot(partial(self.samples, float(x), float(y))) for x in columns] for y in rows]

    def record(self) -> dict[str, Any]:
        return {"kind": "pupil", **asdict(self)}

    def samples(self, x: float, y: float, fineness: int) -> Samples:
        """Return what the views see of the pupil from the place (x, y), 1 at the corners of the picture."""
        n = SAMPLES * fineness  # even: a sharp border lies between two samples
        u = (2 * np.arange(n) + 1 - n) / n
        v = u[:, None]
        opening = _disc(u, v) * _disc(u + self.cat_eye * x, v + self.cat_eye * y)
        part = np.clip(u / max(self.split, 1 / n), -1, 1)
        half = (1 + np.sin(np.pi / 2 * part)) / 2
        left, right = (opening * (h + self.overlap * (1 - h)) for h in (half, 1 - half))
        return Samples(left / left.sum(), right / right.sum(), 2 / n)


def _disc(u: Kernel, v: Kernel) -> Kernel:
    """1 inside the unit disc, 0 outside, with a ramp of one sample between them."""
    step = 2 / v.size
    return np.clip((1 - np.hypot(u, v)) / step + 0.5, 0, 1)
