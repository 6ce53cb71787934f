"""Warnings: views that seem to be exchanged, and stereo pairs that do not match well."""

import math

from ..quantiles import median
from ..types import Agreement, Map
from .confidence import SAMPLE, span_of
from .search import CLEAR

FALL = 0.1, 0.15  # px and share of the span: the lower third is farther than the upper one if it lies this much below

UNSEEN = 0.75  # share of unconfirmed pixels; pairs that match have less than 0.5, others more than 0.8
CROWDED = 0.005  # share of confirmed pixels within 1 px of an end of the range; below 0.001 if it covers all


def stereo_notes(
    agreement: Agreement, order: float | None, limits: tuple[float, float] | None, factor: int = 1
) -> list[str]:
    """A sentence for each thing that looks wrong.

    Parameters
    ----------
    order : float or None
        Share of the pixels that match better with positive disparities; None if unknown.
    limits : (float, float) or None
        The requested range, px of the matched views; None if it was automatic.
    factor : int
        The size of the user's views over that of the matched ones.
    """
    notes = []
    failing = f"{1 - agreement.confirmed:.0%} of the pixels fail the left-right check"
    forward = 0.5 if order is None else order
    if limits and limits[0] < 0:  # a range on both sides of 0 expects no order
        forward = 1 - forward if limits[1] <= 0 else 0.5
    if forward < 1 - CLEAR:
        way_out = "swap them" if limits else "swap them, or give the range"
        better = f"{1 - forward:.0%} of the pixels match better with the views exchanged"
        notes.append(f"{better}, and {failing}: {way_out}")
    elif 1 - agreement.confirmed > UNSEEN:
        notes.append(f"{failing}: the views may not be rectified or not show one scene, or the range may not cover it")
    low, high = limits or (0, 0)
    for name, limit, whole in (("lower", low, math.floor), ("upper", high, math.ceil)):
        end = whole(limit)
        # 0 is infinitely far: many pixels there do not mean that more are beyond.
        if end != 0 and agreement.ends.get(end, 0) > CROWDED:
            notes.append(
                f"{agreement.ends[end]:.0%} of the pixels lie at the {name} end of the range, {whole(factor * limit)} "
                "px: the range may not cover the scene: widen it"
            )
    return notes


def order_notes(d: Map) -> list[str]:
    """A warning if near and far seem to be exchanged in the upright map of a dual-pixel pair.

    The blur of a dual-pixel pair is the same if the views and the sign of the disparity are exchanged. So the pixels
    cannot tell. The scene can: in nearly all photographs the lower third is nearer than the upper third.
    """
    step, third = max(1, math.isqrt(d.size // SAMPLE)), len(d) // 3
    if not third:
        return []
    upper, lower = (median(part[::step, ::step]) for part in (d[:third], d[-third:]))
    fall = upper - lower
    if not fall > max(FALL[0], FALL[1] * span_of(d)):
        return []
    return [
        f"the lower third of the picture is {fall:.2f} px farther than the upper third, and in most photographs it is "
        "nearer: if near and far are exchanged in the map, exchange the views"
    ]
