"""The local term of ordinary stereo: the lowest few minima of every pixel's cost, and the choice among them.

Over tens of pixels a cost has many minima, and much of one view is occluded in the other. The neighbours and the other
view decide which minimum is right. Called by `kinds.Stereo.match`.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import ParameterError
from ..filters import fill_holes
from ..params import Params
from ..params.definitions import Matching, Minima
from ..types import Agreement, Map, Mask, Parabolas, Planes, empty, empty_like
from .match import Views, coded, seen_by, windows
from .search import Span
from .window import window_taps

Stack = npt.NDArray[np.float32]  # a map for each candidate

MINIMUM = {"encc": "whole", "parabola": "parabola"}  # where a candidate lies; encc starts from whole disparities

AGREE = 1.0  # px, how far the disparities of the two views may differ
AMBIGUOUS = np.float32(1e-4)  # S of a pixel with a second minimum as good, or without texture
DOUBTFUL = 1e-10  # S of a pixel in a speckle, or that fails the left-right check

# Measured on Middlebury's pairs by benchmarks/stereo_margins.py; see docs/tiles.md.
CHOICE_REACH = 64  # px: pixels farther away hardly ever change the choice
HIDDEN_REACH = 64  # px: how far messages cross pixels that have no evidence


def margin(matching: Matching, minima: Minima) -> int:
    """Pixels around a tile that the choice needs, beside the shift.

    A speckle has fewer than n pixels, so it reaches less than n px, and that only if it is a line. Paths rarely reach
    CHOICE_REACH px. Hardly any pixel needs both, so the larger of the two is enough.
    """
    choice = CHOICE_REACH if any(minima.choice) else 0
    return windows(matching) + max(choice, round(minima.speckles[0]) - 1, 0)


def shift(disparities: range) -> int:
    """Columns beside a tile that the left-right check needs.

    Pixel x of the left view meets x - d of the right one, for which the left pixels x - d + d' compete.
    """
    return max(abs(disparities[0]), abs(disparities[-1]), disparities[-1] - disparities[0])


class Found(NamedTuple):
    """Cost, disparity and curvature of the candidates of every pixel, and the winners of the right view."""

    cost: Stack
    disparity: Stack
    curvature: Stack
    right: Map


def check_combination(params: Params) -> None:
    """Refuse costs and sub-pixel methods that work with one minimum only."""
    if params.matching.cost in ("ncc", "zncc"):
        raise ParameterError(f"parameter cost {params.matching.cost} needs candidates=1: take census")
    if params.matching.subpixel not in MINIMUM:
        raise ParameterError(f"parameter subpixel {params.matching.subpixel} needs candidates=1: take parabola")


def chosen_parabolas(planes: Planes, span: Span, params: Params, threads: int) -> Parabolas:
    """One parabola a pixel of the left view, chosen among the lowest minima of its cost."""
    compared, correlated = seen_by(planes, params.matching, threads)
    found = find(compared, span.disparities, params.matching, params.minima.candidates, threads)
    if any(params.minima.choice):
        d, curvature = choose(found, planes.guide, params, threads)
        S = found.disparity[0]  # not needed any more
        S.fill(1)
    else:
        d, curvature = found.disparity[0], found.curvature[0]
        S = _distinctness(found, params.matching.ratio_threshold, params.minima.ambiguity)
    sure = found.cost[0]  # not needed any more
    sure[...] = d
    remove_speckles(sure, params.minima)
    agreement = confirm(d, curvature, found.right, sure, S, span.disparities, threads)
    if params.matching.subpixel == "encc":
        textured = np.empty(d.shape, np.uint8)
        _core.refine(*correlated, d, textured, params.matching.encc_window, threads)
        S *= np.where(textured, np.float32(1), AMBIGUOUS)
    del found, sure  # frees the costs
    A, B = empty_like(d), empty_like(d)
    _core.weaken(d, curvature, S, A, B, threads)
    return Parabolas(A, B, agreement=agreement)


def find(compared: Views, disparities: range, matching: Matching, kept: int, threads: int) -> Found:
    """The lowest minima of every pixel's cost, in rising order."""
    left, right = coded(compared, matching.cost, threads)
    cost, disparity, curvature = (empty((kept, *left.shape)) for _ in range(3))
    winners = empty_like(left)
    _core.find_candidates(
        left,
        right,
        cost,
        disparity,
        curvature,
        winners,
        first=disparities.start,
        count=len(disparities),
        taps=window_taps(matching),
        minimum=_core.Minimum[MINIMUM[matching.subpixel]],
        cost_kind=_core.Cost[matching.cost],
        threads=threads,
    )
    return Found(cost, disparity, curvature, winners)


def choose(found: Found, guide: Map, params: Params, threads: int) -> tuple[Map, Map]:
    """Disparity and curvature of the candidate of every pixel that fits its neighbours best."""
    chosen = empty(found.cost.shape)
    step, jump = params.minima.choice
    sigma = params.aggregation.edge_sigma
    _core.choose(*found[:3], guide, chosen, step=step, jump=jump, edge_sigma=sigma, threads=threads)
    return chosen[0], found.curvature[0]


def _distinctness(found: Found, ratio_threshold: float, ambiguity: float) -> Map:
    """S, the trust in the lowest minimum, 0 to 1: how clearly it beats the other minima, judged by the closest rival.

    AMBIGUOUS if a minimum more than 2 px away is as good. With ``q_k = C(d_k) / C(d_0)``:
    ``S = min over k of clip((q_k - 1) / (Tq - 1), 0.01, 1)^2``, which is equation 3 of the paper for several minima.
    """
    best, others = found.cost[0], found.cost[1:]
    distance = np.abs(found.disparity[1:] - found.disparity[0])
    q = others / np.maximum(best, np.float32(1e-4))
    S = np.clip((q - 1) / np.float32(ratio_threshold - 1), 0.01, 1) ** 2
    S[distance <= 1] = 1
    result: Map = S.min(axis=0, initial=1)
    result[((distance > 2) & (others - best < ambiguity)).any(axis=0)] = AMBIGUOUS
    return result


def forward_share(planes: Planes, params: Params, threads: int) -> float:
    """Share of the pixels that match better with a positive disparity than with a negative one.

    Disparities up to a third of the width are tried. 0.5 if nothing differs.
    """
    reach = max(1, planes.left.shape[1] // 3)
    spans = range(reach + 2), range(-reach - 1, 1)
    forward, backward = (find(planes[:2], span, params.matching, 1, threads).cost[0] for span in spans)
    differ = forward != backward
    return float(np.mean((forward < backward)[differ])) if differ.any() else 0.5


# ---- occlusion -------------------------------------------------------------------------------------------


def consistent(left: Map, right: Map, threads: int) -> Mask:
    """The left-right check: 1 where the disparities of the two views agree, 0 where one view is occluded."""
    mask = np.empty(left.shape, np.uint8)
    _core.check_views(left, right, mask, AGREE, threads)
    return mask


def confirm(d: Map, curvature: Map, right: Map, sure: Map, S: Map, disparities: range, threads: int) -> Agreement:
    """How well the views agree; S becomes DOUBTFUL where they do not, and in speckles, where `sure` is NaN.

    Where the curvature is 0, the cost has no minimum, and d is meaningless.
    """
    ends = disparities[1], disparities[-2]
    counts = np.empty(4, np.int64)
    _core.confirm(
        d, curvature, right, sure, S, counts, most=AGREE, trust=DOUBTFUL, low=ends[0], high=ends[1], threads=threads
    )
    matched, confirmed, *crowded = counts.tolist()
    share = confirmed / matched if matched else 1.0
    return Agreement(share, {end: count / d.size for end, count in zip(ends, crowded, strict=True)})


def remove_speckles(d: Map, minima: Minima) -> None:
    """Set d to NaN in small regions that differ from everything around them."""
    size, step = minima.speckles
    _core.remove_speckles(d, round(size), step)


def filled(d: Map, seen: Mask, minima: Minima) -> tuple[Map, Map]:
    """The map with occluded pixels and speckles filled from their surroundings, and a confidence: 0 there, else 1.

    If no pixel would remain, the map stays as it is.
    """
    known = np.where(seen, d, np.float32(np.nan))
    remove_speckles(known, minima)
    sure = ~np.isnan(known)
    return (fill_holes(np.where(sure, d, np.float32(np.nan))) if sure.any() else d), sure.astype(np.float32)
