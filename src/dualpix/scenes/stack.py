"""A scene as a stack of surfaces: what is seen from the centre of the aperture, and what is hidden behind it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..camera.layers import EDGE, Array, Box, Surface, stretch
from ..camera.truth import seen_from_left

DEEP = 3  # surfaces behind each other that are kept


class Stack:
    """Surfaces ordered by depth at every pixel, the nearest first.

    Parameters
    ----------
    colour : (H, W, 3) array
        Of the background, which covers everything.
    disparity : (H, W) array
        Of the background, in pixels.
    """

    def __init__(self, colour: Array, disparity: Array) -> None:
        height, width = disparity.shape
        self._colour = np.zeros((DEEP, height, width, 3), np.float32)
        self._disparity = np.zeros((DEEP, height, width), np.float32)
        self._cover = np.zeros((DEEP, height, width), np.float32)
        self._colour[0], self._disparity[0], self._cover[0] = colour, disparity, 1
        self._ground = disparity.copy()

    @property
    def colour(self) -> Array:
        """The colours of the nearest surface; a view, to be changed in place."""
        return np.asarray(self._colour[0])

    @property
    def disparity(self) -> Array:
        """The disparities of the nearest surface."""
        return np.asarray(self._disparity[0])

    def put(self, box: Box, colour: Array, disparity: Array, cover: Array) -> None:
        """Add an object at its depth, in place. Where it lies behind the background, it is left out.

        Of two surfaces less than `EDGE` apart, the farther one keeps only what the nearer one does not cover.
        """
        left = (cover > 0) & (disparity > self._ground[box])
        above = np.zeros_like(cover), np.full_like(cover, np.inf)  # cover and disparity of the surface in front
        for rank in range(DEEP):
            here = left & ((disparity > self._disparity[rank][box]) | (self._cover[rank][box] == 0))
            for maps in (self._colour, self._disparity, self._cover):
                for lower in range(DEEP - 1, rank, -1):
                    maps[lower][box][here] = maps[lower - 1][box][here]
            own = np.where(above[1] - disparity > EDGE, cover, cover * (1 - above[0]))
            for maps, values in ((self._colour, colour), (self._disparity, disparity), (self._cover, own)):
                maps[rank][box][here] = values[here]
            if rank + 1 < DEEP:
                near = here & (disparity - self._disparity[rank + 1][box] <= EDGE)
                self._cover[rank + 1][box][near] *= 1 - own[near]
            left &= ~here
            above = self._cover[rank][box].copy(), self._disparity[rank][box].copy()

    def light(self, shade: Array | float) -> None:
        """Multiply the colours of all surfaces, in place."""
        self._colour *= np.asarray(shade, np.float32)[..., None]

    def surfaces(self, view: int, reach: int, channels: slice) -> Sequence[Surface]:
        """Return the surfaces for `render`.

        Parameters
        ----------
        view
            `LEFT` or `RIGHT`.
        reach
            What is hidden more than this far from an edge, in pixels, is left out.
        channels
            The colours wanted.
        """
        covers = self._cover * self._near_edges(reach)
        covers[0] = self._cover[0] * stretch(self._disparity[0], view)
        parts = zip(self._colour[..., channels], self._disparity, covers, strict=True)
        return [Surface(*part) for part in parts]

    def truth(self) -> Array:
        """Return the disparity of the left view, NaN where nothing known is seen."""
        solid = np.where(self._cover >= 0.5, self._disparity, np.float32(np.nan))
        seen = seen_from_left(*solid)
        return np.where(np.isfinite(seen), seen, np.float32(np.nan))

    def _near_edges(self, reach: int) -> npt.NDArray[np.bool_]:
        import cv2

        square = np.ones((3, 3), np.uint8)
        step = cv2.dilate(self._disparity[0], square) - cv2.erode(self._disparity[0], square) > EDGE
        edges = (step | (self._cover[0] < 1)).astype(np.uint8)
        side = 2 * reach + 1
        return np.asarray(cv2.dilate(edges, np.ones((side, side), np.uint8)), bool)
