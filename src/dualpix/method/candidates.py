"""Wide baselines: over tens of pixels a cost has many minima, and much of one view is hidden from the other.

The lowest few minima of every pixel are kept; which of them is right, its neighbours and the other view tell.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import ParameterError
from ..filters import fill_holes, remove_speckles
from ..params import Params
from ..types import Map
from .confidence import Mask
from .match import COST, coded, window_taps
from .scales import Level, pyramid

MINIMUM = {"encc": 0, "parabola": 1}  # encc starts from whole disparities

AGREE = 1.0  # px, how far the disparities of the two views may differ
AMBIGUOUS = np.float32(1e-4)  # S of a pixel with another minimum as good, or without texture
DOUBTFUL = np.float32(1e-10)  # S of a pixel in a speckle, or that the other view does not confirm
UNSEEN = 0.75  # share of pixels that are not confirmed; below 0.5 for pairs that match, above 0.8 for others
CROWDED = 0.005  # share of pixels, confirmed, within 1 px of an end of the range; below 0.001 if it covers the scene
SMALL = 128  # px, the longer side of the views whose order is looked at
CLEAR = 0.65  # share of pixels that tell the order of the views; 0.84 and more by census in a pair, 0.5 by chance


class Local(NamedTuple):
    """The parabola chosen for every pixel, and how the pair looks as a whole.

    Attributes
    ----------
    alpha, beta : float32 arrays
        As those of `dualpix.matching.local_parabolas`.
    confirmed : float
        Share of the pixels with any minimum that both views see alike, and that are no speckles.
    ends : dict
        Share of the pixels that are confirmed and lie within 1 px of it, by the least and the largest disparity that
        may win.
    """

    alpha: Map
    beta: Map
    confirmed: float
    ends: dict[int, float]

    def objections(self, order: float | None, limits: tuple[float, float] | None) -> list[str]:
        """What the user should know about the pair, a sentence each.

        order is as `order` finds it, None if nobody looked; limits are the range asked for, None if it was found.
        """
        notes = []
        failing = f"{1 - self.confirmed:.0%} of the pixels fail the left-right check"
        forward = 0.5 if order is None else order
        if limits and limits[0] < 0:  # a range on both sides of 0 expects no order
            forward = 1 - forward if limits[1] <= 0 else 0.5
        if forward < 1 - CLEAR:
            way_out = "swap them" if limits else "swap them, or give the range"
            better = f"{1 - forward:.0%} of the pixels match better with the views exchanged"
            notes.append(f"{better}, and {failing}: {way_out}")
        elif 1 - self.confirmed > UNSEEN:
            notes.append(f"{failing}: the views may not be rectified, or not of one scene, or outside the range")
        asked = (math.floor(limits[0]), math.ceil(limits[1])) if limits else ()
        for name, end in zip(("lower", "upper"), asked, strict=False):
            # 0 is as far as there is: many pixels there are no sign that more are beyond.
            if end != 0 and self.ends.get(end, 0) > CROWDED:
                notes.append(
                    f"{self.ends[end]:.0%} of the pixels lie at the {name} end of the range, {end} px, which may not "
                    "cover the scene: widen it"
                )
        return notes


def order(planes: Level, params: Params, threads: int) -> float:
    """Share of the pixels that match better with a positive disparity than with a negative one, as they should.

    Looked at in views made small, with disparities up to a third of their width.
    """
    halvings = math.ceil(math.log2(max(*planes.left.shape, SMALL) / SMALL))
    small = pyramid(planes, 1 + halvings, threads)[0]
    reach = max(1, small.left.shape[1] // 3)
    alone = params.replace(candidates=1)
    costs = (_find(small[:2], span, alone, threads)[0][0] for span in (range(reach + 2), range(-reach - 1, 1)))
    forward, backward = costs
    differ = forward != backward
    return float(np.mean((forward < backward)[differ])) if differ.any() else 0.5


def one_sided(disparities: range, order: float) -> range:
    """Those of the disparities, at least three, that the order of the views leaves: none behind what is farthest."""
    if order > CLEAR:
        return range(max(disparities.start, -1), max(disparities.stop, 2))
    if order < 1 - CLEAR:
        return range(min(disparities.start, -1), min(disparities.stop, 2))
    return disparities


def local_parabolas(
    compared: tuple[Map, Map], plain: tuple[Map, Map], guide: Map, disparities: range, params: Params, threads: int
) -> Local:
    """One parabola a pixel of the left view, chosen among the lowest minima of its cost.

    compared are the planes that the cost sees, plain those that encc correlates, all on a 0..255 scale; disparities
    are as for `dualpix.matching.local_parabolas`.
    """
    cost, disparity, curvature, winners = _find(compared, disparities, params, threads)
    if any(params.choice):
        step, jump = params.choice
        _core.choose(cost, disparity, curvature, guide, step, jump, params.edge_sigma, threads)
        S = np.ones_like(guide)
    else:
        S = _distinctness(cost, disparity, params)
    del cost
    d, alpha = disparity[0], curvature[0]
    found = alpha > 0  # the others have no minimum, and a d that means nothing
    confirmed = found & (consistent(d, winners, threads) == 1) & ~speckled(d, params)
    S[~confirmed] = DOUBTFUL
    ends = {end: float(np.mean((np.abs(d - end) <= 1) & confirmed)) for end in (disparities[1], disparities[-2])}
    if params.subpixel == "encc":
        textured = np.empty(d.shape, np.uint8)
        _core.refine(*plain, d, textured, params.encc_window, threads)
        S *= np.where(textured, np.float32(1), AMBIGUOUS)
    alpha = alpha * S
    return Local(alpha, -2 * alpha * d, float(confirmed.sum() / found.sum()) if found.any() else 1.0, ends)


def _find(
    compared: tuple[Map, Map], disparities: range, params: Params, threads: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32], Map]:
    """Cost, disparity and curvature of the candidates, and what wins in the right view."""
    if params.cost in ("ncc", "zncc"):
        raise ParameterError(f"parameter cost {params.cost} keeps no candidates: take census")
    if params.subpixel not in MINIMUM:
        raise ParameterError(f"parameter subpixel {params.subpixel} keeps no candidates: take parabola")
    left, right = (coded(plane, params, threads) for plane in compared)
    cost, disparity, curvature = (np.empty((params.candidates, *left.shape), np.float32) for _ in range(3))
    winners = np.empty_like(left)
    _core.find_candidates(
        left,
        right,
        cost,
        disparity,
        curvature,
        winners,
        first=disparities.start,
        count=len(disparities),
        taps=window_taps(params),
        minimum=MINIMUM[params.subpixel],
        cost_kind=COST.index(params.cost),
        threads=threads,
    )
    return cost, disparity, curvature, winners


def _distinctness(cost: npt.NDArray[np.float32], disparity: npt.NDArray[np.float32], params: Params) -> Map:
    """S of the lowest minimum, by the others: the least over them, and next to none if one far off costs no more.

    With ``q_k = C(d_k) / C(d_0)``: ``S = min over k of clip((q_k - 1) / (Tq - 1), 0.01, 1)^2``.
    """
    best, others = cost[0], cost[1:]
    distance = np.abs(disparity[1:] - disparity[0])
    q = others / np.maximum(best, np.float32(1e-4))
    S = np.clip((q - 1) / np.float32(params.ratio_threshold - 1), 0.01, 1) ** 2
    S[distance <= 1] = 1
    result: Map = S.min(axis=0, initial=1)
    result[((distance > 2) & (others - best < params.ambiguity)).any(axis=0)] = AMBIGUOUS
    return result


def mirrored(level: Level) -> Level:
    """The pair in a mirror: the right view is the left one, and disparities keep their sign."""
    left, right = np.ascontiguousarray(level.right[:, ::-1]), np.ascontiguousarray(level.left[:, ::-1])
    return Level(left, right, left)


def consistent(left: Map, right: Map, threads: int) -> Mask:
    """1 where the disparities of the two views agree, else 0: there is something else in front of one of them."""
    mask = np.empty(left.shape, np.uint8)
    _core.check_views(left, right, mask, AGREE, threads)
    return mask


def speckled(d: Map, params: Params) -> npt.NDArray[np.bool_]:
    """True in small regions that differ from all around them."""
    size, step = params.speckles
    return np.isnan(remove_speckles(d, size=round(size), step=step))


def filled(d: Map, seen: Mask, params: Params) -> tuple[Map, Map]:
    """The map with all that is hidden or speckled replaced from its surroundings, and a confidence of 0 there, else 1.

    A map of which nothing is left stays as it is.
    """
    known = np.where(seen, d, np.float32(np.nan))
    sure = ~speckled(known, params)
    return (fill_holes(np.where(sure, d, np.float32(np.nan))) if sure.any() else d), sure.astype(np.float32)
