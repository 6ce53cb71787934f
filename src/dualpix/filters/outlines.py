"""Outlines of the map that follow those of the picture."""

from .. import _core
from ..types import Map, Mask, empty, empty_like

STEP = 0.3  # px; a larger one within the window is a depth edge
WINDOW = 6  # px: the window has 2 WINDOW + 1 pixels a side, of which every third counts
REACH = WINDOW + 1  # px around a pixel that its result depends on
LEAST = 0.01  # of the brightness, 0 to 255; a smaller sigma changes nothing


def brightness_bytes(guide: Map, threads: int) -> Mask:
    """The brightness of the guide in bytes: a quarter of its memory, and enough to tell what looks alike."""
    small = empty(guide.shape, "uint8")
    _core.to_bytes(guide, small, threads)
    return small


def follow_outlines(d: Map, guide: Mask, sigma: float, threads: int) -> None:
    """Give every pixel at a depth edge the weighted median of the window around it, in place.

    A pixel q of the window around p has the weight ``(1 + (I_p - I_q)^2 / (4 sigma^2))^-4`` with the brightness I of
    the guide, 0 to 255. So the ragged rim that matching windows leave moves to the outline of the thing.
    A near pixel does not become farther if near and far pixels are about as bright. A pixel that changes gets the
    median of the 3x3 results around it.
    """
    _core.follow_outlines(d, guide, empty_like(d), sigma=max(sigma, LEAST), step=STEP, threads=threads)
