"""Outlines of the map that follow those of the picture."""

from .. import _core
from ..types import Map, Mask, empty, empty_like

STEP = 0.3  # px; a larger one within the window is a depth edge
REACH = 6  # px: the window has 2 REACH + 1 pixels a side, of which every second counts


def brightness_bytes(guide: Map, threads: int) -> Mask:
    """The brightness of the guide in bytes: a quarter of its memory, and enough to tell what looks alike."""
    small = empty(guide.shape, "uint8")
    _core.to_bytes(guide, small, threads)
    return small


def outlined(d: Map, guide: Mask, sigma: float, threads: int) -> Map:
    """The map with the weighted median of the window around every pixel near a depth edge.

    A pixel q of the window around p has the weight ``(1 + (I_p - I_q)^2 / (4 sigma^2))^-4`` with the brightness I of
    the guide, 0 to 255. So the ragged rim that matching windows leave moves to the outline of the thing.
    A near pixel does not become farther if near and far pixels are about as bright.
    """
    out = empty_like(d)
    _core.follow_outlines(d, guide, out, sigma=sigma, step=STEP, threads=threads)
    return out
