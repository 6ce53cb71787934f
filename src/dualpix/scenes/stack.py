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

    @property
    def colour(self) -> Array:
        """The colours of the nearest surface; a view, to be changed in place."""
        return np.asarray(self._colour[0])

    @property
    def disparity(self) -> Array:
        """The disparities of the nearest surface."""
        return np.asarray(self._disparity[0])

    def put(self, box: Box, colour: Array, disparity: Array, cover: Array) -> None:
        """Add an object in front, in place. Where it lies behind the nearest surface, it is left out.

        Where it lies less than `EDGE` in front, it replaces what it covers; else that stays behind it.
        """
        here = (cover > 0) & (disparity > self._disparity[0][box])
        gap = disparity - self._disparity[0][box] > EDGE
        kept = np.where(gap, 1, 1 - cover) * self._cover[0][box]
        for maps in (self._colour, self._disparity, self._cover):
            for rank in range(DEEP - 1, 0, -1):
                maps[rank][box][here] = maps[rank - 1][box][here]
        self._cover[1][box][here] = kept[here]
        for maps, values in ((self._colour, colour), (self._disparity, disparity), (self._cover, cover)):
            maps[0][box][here] = values[here]

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
        seen = np.full(self._disparity.shape[1:], -np.inf, np.float32)
        for disparity, cover in zip(self._disparity, self._cover, strict=True):
            np.maximum(seen, seen_from_left(np.where(cover >= 0.5, disparity, np.nan)), out=seen)
        return np.where(np.isfinite(seen), seen, np.float32(np.nan))

    def _near_edges(self, reach: int) -> npt.NDArray[np.bool_]:
        import cv2

        square = np.ones((3, 3), np.uint8)
        step = cv2.dilate(self._disparity[0], square) - cv2.erode(self._disparity[0], square) > EDGE
        side = 2 * reach + 1
        return np.asarray(cv2.dilate(step.astype(np.uint8), np.ones((side, side), np.uint8)), bool)
