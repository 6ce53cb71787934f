"""Aggregation: parabola coefficients carried along straight paths through the image.

These are equations 4 and 5 of the paper; the kernel is ``core/aggregate/aggregate.cpp``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from .. import _core
from ..params.definitions import NO_LIMIT, Aggregation, Scales
from ..quantiles import median, quantiles
from ..types import Map, Parabolas, Signs, Weights, empty, empty_like
from .confidence import FAR, SAMPLE, spread
from .scales import PASSES

SMALLEST, LARGEST = 1e-15, 1e15  # bounds of the curvatures after the factor N
LEAST_FATTENING, LEAST_TAU = 1e-6, 1e-6  # px
FARTHEST = 0.005  # share of the pixels that lie behind the farthest surface of a scene
OVERSHOOT = 3  # a match may be this many times as far behind that surface as the map is before it
CORRECTED = 3  # robust passes of a scale; with so many or more, the map between the first two follows the outlines
DECAYS = 3  # a message has faded when its weight has fallen to exp(-DECAYS)
JUMPS = (
    2.0,
    2.0,
    180.0,
)  # px, T2 of the first passes: a larger step counts as a jump; the last value holds for all later passes


def margin(settings: Aggregation, scales: Scales) -> int | None:
    """Pixels around a tile whose messages still count; None if a tile needs the whole picture.

    K is the penalty. If all pixels have the mean curvature a and P = K a, the belief is about A = sqrt(a P), and a
    message loses the share A / P = 1 / sqrt(K) of its weight per pixel.

    The published penalty is P itself, and every pass goes on from the one before. Pixels count if their curvature is
    above the threshold Ta, so K is P / Ta at most. Messages that jump have no such scale.
    """
    if settings.messages == "exact":
        return math.ceil(DECAYS * math.sqrt(settings.penalty))
    if settings.messages == "jumps" or not scales.invalid_threshold:
        return None
    passes = PASSES if isinstance(scales.iterations, str) else max(scales.iterations)
    return math.ceil(passes * DECAYS * math.sqrt(settings.penalty / scales.invalid_threshold))


def edge_weights(
    guide: Map, settings: Aggregation, threads: int, signs: Signs | None = None, room: Map | None = None
) -> Weights:
    """The weight of the step between neighbours, ``w = exp(-s (I_p - I_q)^2 / sigma^2)``, in the kernels' 8-bit code.

    It is a factor of ``P_adapt`` in equation 4 of the paper, where s is 1. Weights are the same in every pass of a
    scale. Each row of pixels has one row of weights per direction of the step.

    `signs` tell what the disparities of the coarser scale span around every fourth pixel. Where that is little, the
    guide's edges are print and not depth, and s is small. `room` is a map that may be overwritten.
    """
    height, width = guide.shape
    weights = empty((height, settings.paths // 2, width), np.uint8)
    if signs and signs.coarser is not None and signs.span and settings.flat:
        # s = R^2 / (R^2 + (flat D)^2): R is what the disparities span around the pixel, D what most of the picture's do
        small = signs.coarser
        R = None if room is None else room.reshape(-1)[: small.size].reshape(small.shape)
        R = spread(small, FAR, threads, R)
        _core.edge_weights(guide, weights, settings.edge_sigma, threads, R, settings.flat * signs.span)
    else:
        _core.edge_weights(guide, weights, settings.edge_sigma, threads)
    return weights


def aggregate(
    evidence: Parabolas,
    weights: Weights,
    settings: Aggregation,
    passes: int,
    *,
    curvature: float | None = None,
    coarsest: bool = False,
    spare: list[Map] | None = None,
    outlined: Callable[[Map], None] | None = None,
    threads: int,
) -> Parabolas:
    """The belief of every pixel: its evidence plus the messages along the paths, after `passes` passes.

    Parameters
    ----------
    evidence : Parabolas
        Local term and priors. Its maps are used up.
    weights : uint8 array
        The edge weights of the guide: messages are weak where it has edges.
    curvature : float, optional
        Mean curvature of the evidence of the whole picture, the unit of the penalty; by default that of `evidence`.
    coarsest : bool
        Whether nothing coarser bounds the disparities. Then one-sided weights need a bound, see `hold_back`.
    spare : list of maps, optional
        Maps of the same size that may be overwritten. They are taken out of the list.
    outlined : function, optional
        Brings a map of disparities to the outlines of the guide, in place. Exact messages use it between passes.
    """
    mean = _core.mean(evidence.A, threads) if curvature is None else curvature
    maps = [] if spare is None else spare
    if settings.messages == "exact":
        belief = exact(evidence, weights, settings, passes, mean, coarsest, maps, outlined, threads)
    else:
        belief = paper(evidence, weights, settings, passes, mean, maps, threads)
    maps.clear()
    return replace(
        belief,
        agreement=evidence.agreement,
        limits=evidence.limits,
        curvatures=(*evidence.curvatures, mean),
        signs=evidence.signs,
    )


def paper(
    evidence: Parabolas,
    weights: Weights,
    settings: Aggregation,
    passes: int,
    mean: float,
    spare: list[Map],
    threads: int,
) -> Parabolas:
    """The published recursion, plain or with jumps: every pass starts from the mean over paths of the pass before.

    With ``normalize_iterations`` that mean is multiplied by ``N = alpha_1 / mean(alpha_1)`` (appendix B).
    """
    N = evidence.A / np.float64(max(mean, 1e-30)) if settings.normalize_iterations else None
    A, B = _taken(spare, evidence.A), _taken(spare, evidence.A)
    spare.clear()
    for i in range(passes):
        last = i + 1 == passes
        scale = 1 if last else 1 / settings.paths
        T2 = JUMPS[min(i, len(JUMPS) - 1)]
        all_passes(evidence, weights, A, B, settings, settings.penalty, scale=scale, T2=T2, threads=threads)
        if last:
            break
        evidence, A, B = Parabolas(A, B), evidence.A, evidence.B
        if N is not None:
            factor = np.clip(evidence.A * N, SMALLEST, LARGEST) / np.maximum(evidence.A, SMALLEST)
            np.multiply(evidence.A, factor, out=evidence.A)
            np.multiply(evidence.B, factor, out=evidence.B)
    d = evidence.A  # not needed any more
    _core.minimizer(A, B, d, threads)
    return Parabolas(A, B, vertex=d)


def exact(
    evidence: Parabolas,
    weights: Weights,
    settings: Aggregation,
    passes: int,
    mean: float,
    coarsest: bool,
    spare: list[Map],
    outlined: Callable[[Map], None] | None,
    threads: int,
) -> Parabolas:
    """Exact messages, summed as a belief: A is the curvature of evidence and messages together.

    With ``robust_tau`` every pass starts from the same evidence and smooths less where the last pass found a step
    (iteratively reweighted least squares). With ``fattening`` it also trusts a match less that is nearer than the last
    pass found; ``suspicion`` clears some of them. With ``first_penalty`` the first pass, which smooths all steps, is
    weaker. Without ``robust_tau``, one pass is exact.

    Where windows have fattened a near thing, every pass finds it as wide as the one before. So in a scale of four
    passes or more, the map of the second one is `outlined` before the third looks for steps and fattening in it.
    """
    # P = K mean(alpha)
    P = settings.penalty * mean
    A, B, d = (_taken(spare, evidence.A) for _ in range(3))
    taus = robust_passes(settings, passes)
    if coarsest and taus and settings.fattening and evidence.matched is not None:
        plain = replace(evidence, matched=None)
        all_passes(plain, weights, A, B, settings, P, taus=taus[:1], d=d, threads=threads)
        hold_back(evidence, d, A)
    first = settings.first_penalty if taus else 1.0
    # as long as nobody has measured the noise, there is no limit
    slack = NO_LIMIT if isinstance(settings.suspicion, str) else settings.suspicion
    begun = bool(taus and settings.fattening) and evidence.matched is not None and slack < NO_LIMIT
    if begun:
        all_passes(evidence, weights, A, B, settings, P, first=first, d=d, threads=threads)
        evidence = cleared(evidence, d, slack, threads)
    if outlined and follows_outlines(settings, passes):
        all_passes(evidence, weights, A, B, settings, P, first=first, taus=taus[:1], d=d, begun=begun, threads=threads)
        outlined(d)
        taus, begun = taus[1:], True
    all_passes(evidence, weights, A, B, settings, P, first=first, taus=taus, d=d, begun=begun, threads=threads)
    return Parabolas(A, B, vertex=d)


def cleared(evidence: Parabolas, d: Map, slack: float, threads: int) -> Parabolas:
    """The evidence with other vertices for the one-sided weights: no nearer than fattening can make them.

    `d` is the belief of the first pass.
    """
    assert evidence.matched is not None
    # v = min(v, max(H, d + slack)), with the highest d within 5 px, H
    limited = empty(d.shape, np.float16)
    _core.limit_suspects(evidence.matched.view(np.uint16), d, limited.view(np.uint16), slack, threads)
    return replace(evidence, matched=limited)


def hold_back(evidence: Parabolas, d: Map, room: Map) -> None:
    """Bring matches nearer that are far behind everything that d shows. In place; `room` is overwritten.

    Where matches are noise, one-sided weights drop the near half. The far half then pulls the map behind all surfaces
    of the scene. So its pull must end at the farthest of them, L. A match may lie behind L by a multiple of the noise
    s, and farther where d lies before L: there it must outweigh what is near.

    `d` is a belief without one-sided weights. It should be robust, as a first pass blurs what is small and far.
    """
    assert evidence.matched is not None
    step = max(1, math.isqrt(d.size // SAMPLE))
    seen = d[::step, ::step]
    apart = np.abs(evidence.matched[::step, ::step] - seen)
    L, s = quantiles(seen, [FARTHEST])[0], median(apart[np.isfinite(apart)])
    if math.isnan(s):
        return
    # v >= min(d, L - k (d - L)) - k s
    k = np.float32(OVERSHOOT)
    np.subtract(np.float32((1 + OVERSHOOT) * L), np.multiply(k, d, out=room), out=room)
    np.subtract(np.minimum(d, room, out=room), np.float32(OVERSHOOT * s), out=room)
    # v = -B / (2 A), so B <= -2 A v
    np.multiply(np.multiply(room, np.float32(-2), out=room), evidence.A, out=room)
    np.minimum(evidence.B, room, out=evidence.B)


def robust_passes(settings: Aggregation, passes: int) -> list[float]:
    """The tolerance of every pass after the first, px. The last one given holds for all later passes."""
    taus = np.ravel(settings.robust_tau)
    least = [max(float(tau), LEAST_TAU) if tau else 0.0 for tau in taus]  # as a float32 it must not become 0
    return [least[min(i, len(least) - 1)] for i in range(passes - 1)] if taus.any() else []


def follows_outlines(settings: Aggregation, passes: int) -> bool:
    """Whether a scale has passes enough for its map to follow the outlines between two of them."""
    return settings.messages == "exact" and len(robust_passes(settings, passes)) >= CORRECTED


def all_passes(
    evidence: Parabolas,
    weights: Weights,
    A: Map,
    B: Map,
    settings: Aggregation,
    P: float,
    *,
    first: float | Literal["auto"] = 1.0,
    taus: Sequence[float] = (),
    d: Map | None = None,
    begun: bool = False,
    scale: float = 1.0,
    T2: float = 0.0,
    threads: int,
) -> None:
    """A pass over all paths, and a robust one for each of `taus`: A and B, times `scale`, and ``-B / (2 A)`` in `d`.

    The first pass has the share `first` of the penalty P, all of it as long as nobody has measured the noise. If
    `begun`, `d` has its result already, and only the robust passes follow.
    """
    matched = evidence.matched
    _core.aggregate(
        evidence.A,
        evidence.B,
        weights,
        A,
        B,
        messages=_core.Messages[settings.messages],
        penalty=P,
        taus=taus,
        scale=scale,
        jump_penalty=settings.jump_penalty,
        farthest=T2,
        threads=threads,
        minimizer=d,
        vertex=matched.view(np.uint16) if matched is not None and settings.fattening else None,
        fattening=max(settings.fattening, LEAST_FATTENING),
        first=1.0 if first == "auto" else first,
        begun=begun,
    )


def _taken(spare: list[Map], like: Map) -> Map:
    """One of the spare maps, or a new one."""
    return spare.pop() if spare else empty_like(like)
