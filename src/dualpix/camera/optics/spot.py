"""What optics are: spots over the field, each a pair of blur kernels for every disparity.

The disparity is by definition the distance of the two centroids along x, in pixels. So every pair of kernels is scaled
until that distance is exact, and moved until the centroids lie at ``(+d/2, 0)`` in the left view and ``(-d/2, 0)`` in
the right view. The views are rectified: there is no vertical disparity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import ceil, log2
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Kernel = npt.NDArray[np.float64]

LEFT, RIGHT = 1, -1  # the views
FINE = 1.0  # px; samples of a spot are no farther apart than this
POINT = 1e-3  # px; a smaller sample is a point


class Spot(Protocol):
    """The pair of blur kernels at one point of the field."""

    def reach(self, disparity: float) -> float:
        """Return how far the kernels of this disparity extend from their origin, in pixels."""
        ...

    def kernel(self, disparity: float, view: int) -> Kernel:
        """Return the image of a point of this disparity in a view.

        Parameters
        ----------
        disparity : float
            ``x_left - x_right`` in pixels, signed.
        view : int
            `LEFT` or `RIGHT`.

        Returns
        -------
        (2R + 1, 2R + 1) array
            The origin is its centre. Its mass is 1, and its centroid is ``(disparity / 2, 0)`` in the left view and
            ``(-disparity / 2, 0)`` in the right view.
        """
        ...


Spots = Sequence[Sequence[Spot]]


class Optics(Protocol):
    """What a lens and its dual pixels do to a point out of focus."""

    def spots(self, height: int, width: int) -> Spots:
        """Return rows and columns of spots, evenly spaced over the picture from corner to corner.

        Between them, kernels are blended bilinearly. One single spot holds for the whole picture.
        """
        ...

    def record(self) -> dict[str, Any]:
        """Return what the optics are, for a JSON file."""
        ...


class Samples(NamedTuple):
    """Brightness of the two spots of a point on one square grid.

    Attributes
    ----------
    left, right : (N, M) arrays
        Each has mass 1.
    step : float
        Distance of two samples, in the spot's own unit.
    """

    left: Kernel
    right: Kernel
    step: float

    def of(self, view: int) -> Kernel:
        """Return the samples of a view."""
        return self.left if view == LEFT else self.right

    def distance(self) -> float:
        """Return the distance of the centroids along x, left minus right, in the spot's own unit."""
        return self._centroid(LEFT)[0] - self._centroid(RIGHT)[0]

    def places(self, view: int) -> tuple[Kernel, Kernel]:
        """Return x of the columns and y of the rows, in the spot's own unit.

        The origin is midway between the centroids along x, and at the view's own centroid along y.
        """
        y, x = (self.step * (np.arange(n) - (n - 1) / 2) for n in self.left.shape)
        middle = (self._centroid(LEFT)[0] + self._centroid(RIGHT)[0]) / 2
        return x - middle, y - self._centroid(view)[1]

    def _centroid(self, view: int) -> tuple[float, float]:
        """(x, y) from the middle of the grid."""
        spot = self.of(view)
        y, x = (self.step * (np.arange(n) - (n - 1) / 2) for n in spot.shape)
        return float(spot.sum(0) @ x), float(spot.sum(1) @ y)


class SampledSpot:
    """A spot that is known at sample points, for any disparity.

    With the distance D of the centroids of the samples, a sample at the place p lands at ``p d / D``, in pixels. It is
    a square as wide as the step, and is shared by the pixels around it (bilinear hats), which keeps mass and centroid
    exactly. A negative disparity reflects the spot through its origin, as defocus behind the focus plane does.

    Parameters
    ----------
    sampler
        Makes the samples for a fineness 1, 2, 4, ...; the step is inversely proportional to it.
    """

    def __init__(self, sampler: Callable[[int], Samples]) -> None:
        self._sampler = sampler
        self._known: dict[int, Samples] = {}

    def reach(self, disparity: float) -> float:
        return abs(disparity) * self._reach

    def kernel(self, disparity: float, view: int) -> Kernel:
        samples = self._samples(self._fineness(disparity))
        scale = disparity / samples.distance()
        size, width = ceil(self.reach(disparity)) + 1, abs(scale) * samples.step
        across, down = (_hats(scale * place, width, size) for place in samples.places(view))
        return np.asarray(down @ samples.of(view) @ across.T)

    def _samples(self, fineness: int) -> Samples:
        if fineness not in self._known:
            self._known[fineness] = self._sampler(fineness)
        return self._known[fineness]

    def _fineness(self, disparity: float) -> int:
        coarse = self._samples(1)
        step = abs(disparity / coarse.distance()) * coarse.step
        return int(2 ** ceil(log2(max(step / FINE, 1))))

    @cached_property
    def _reach(self) -> float:
        """The reach at a disparity of 1 px."""
        coarse = self._samples(1)
        farthest = 0.0
        for view in (LEFT, RIGHT):
            for place, axis in zip(coarse.places(view), (0, 1), strict=True):
                lit = coarse.of(view).any(axis)
                farthest = max(farthest, float(np.abs(place[lit]).max()))
        return (farthest + 1.5 * coarse.step) / abs(coarse.distance())  # finer samples may lie a little farther out


def _hats(positions: Kernel, width: float, size: int) -> Kernel:
    """Shares of the pixels ``-size..size`` in boxes of this width at these positions."""
    offsets = positions - np.arange(-size, size + 1)[:, None]
    if width < POINT:
        return np.asarray(np.maximum(1 - np.abs(offsets), 0))
    return np.asarray((_hat_integral(offsets + width / 2) - _hat_integral(offsets - width / 2)) / width)


def _hat_integral(x: Kernel) -> Kernel:
    """The integral of ``max(1 - |t|, 0)`` from 0 to x."""
    inside = np.clip(x, -1, 1)
    return np.asarray(inside - inside * np.abs(inside) / 2)
