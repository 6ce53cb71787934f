"""Outlines of the map that follow those of the picture."""

import numpy as np

from .. import _core
from ..types import Flags, Map, Mask, empty, empty_like

STEP = 0.3  # px; a larger one within the window is a depth edge
WINDOW = 6  # px: the window has 2 WINDOW + 1 pixels a side, of which every third counts
REACH = WINDOW + 1  # px around a pixel that its result depends on
EVERY = 3  # between passes, every third row and column counts; it divides the side of a tile
STEP_BETWEEN = 0.45  # px of the scale, as STEP between passes
REACH_BETWEEN = EVERY * REACH + EVERY - 1  # px around a pixel that its result between passes depends on
LEAST = 0.01  # of the brightness, 0 to 255; a smaller sigma changes nothing


def brightness_bytes(guide: Map, threads: int) -> Mask:
    """The brightness of the guide in bytes: a quarter of its memory, and enough to tell what looks alike."""
    small = empty(guide.shape, "uint8")
    _core.to_bytes(guide, small, threads)
    return small


def follow_outlines(d: Map, guide: Mask, sigma: float, threads: int, step: float = STEP) -> None:
    """Give every pixel at a depth edge the weighted median of the window around it, in place.

    A pixel q of the window around p has the weight ``(1 + (I_p - I_q)^2 / (4 sigma^2))^-4`` with the brightness I of
    the guide, 0 to 255. So the ragged rim that matching windows leave moves to the outline of the thing.
    A near pixel does not become farther if near and far pixels are about as bright. A pixel that changes gets the
    median of the 3x3 results around it.
    """
    _core.follow_outlines(d, guide, empty_like(d), sigma=max(sigma, LEAST), step=step, threads=threads)


def reduced_brightness(guide: Map, threads: int) -> Mask:
    """What `follow_coarsely` needs of the guide."""
    return brightness_bytes(np.ascontiguousarray(guide[::EVERY, ::EVERY]), threads)


def follow_coarsely(d: Map, guide: Mask, sigma: float, threads: int, kept: Flags | None = None) -> None:
    """Bring the disparities between two passes to the outlines of the guide, in place, except those that are `kept`.

    The fattening of a near thing is as wide as the matching window, so the window of the median is 39 pixels wide:
    that of `follow_outlines` in every third pixel. What changes there changes in the 3x3 pixels that it stands for.
    """
    known = None if kept is None else d[kept]
    before = d[::EVERY, ::EVERY].copy()
    after = before.copy()
    follow_outlines(after, guide, sigma, threads, STEP_BETWEEN)
    _core.take_changes(d, before, after, every=EVERY, threads=threads)
    if kept is not None:
        d[kept] = known
