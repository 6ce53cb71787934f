"""Wide-baseline stereo in plain NumPy: the oracle of its kernels. Slow on purpose.

Sign: d = x_left - x_right. Letters are the method's: C is a cost volume with d first, alpha, beta the coefficients of a
pixel's parabola, S how distinct its minimum is, L_r the cost of a path in direction r.
"""

import numpy as np

import reference
import reference_filters

NO_CANDIDATE = 1e6
AMBIGUOUS, DOUBTFUL = 1e-4, 1e-10


# ---- candidates -----------------------------------------------------------------------------------
def minima(C, disparities, minimum):
    """Where C has a minimum over d, and its disparity and curvature there. Of equal costs the last is the minimum.

    The first and the last disparity have only one neighbour and are no minima.
    """
    before, at, after = C[:-2], C[1:-1], C[2:]
    found = (at <= before) & (at < after)
    rises = np.where(found, before - at, 0), np.where(found, after - at, 0)
    x = 0 if minimum == "whole" else reference.vertex(*rises, minimum, None)
    return found, np.array(disparities[1:-1], float)[:, None, None] + x, sum(rises) / 2


def candidates(C, disparities, minimum, kept):
    """Cost, disparity and curvature of the `kept` lowest minima, in rising order; of equal ones the lowest d first."""
    found, d, a = minima(C, disparities, minimum)
    missing = np.zeros((kept, *C.shape[1:]))
    cost, d, a = (
        np.concatenate([np.where(found, values, none), missing + none])
        for values, none in ((C[1:-1], NO_CANDIDATE), (d, 0), (a, 0))
    )
    order = np.argsort(cost, axis=0, kind="stable")[:kept]
    return tuple(np.take_along_axis(values, order, 0) for values in (cost, d, a))


def right_winners(C, disparities):
    """The disparity of the lowest C(x + d, d) of every right pixel x; NaN where no left pixel meets it."""
    _, h, w = C.shape
    costs = np.full((len(disparities) - 2, h, w), np.inf)
    for i, d in enumerate(disparities[1:-1]):
        x = np.arange(w)
        inside = (x + d >= 0) & (x + d < w)
        costs[i][:, inside] = C[i + 1][:, x[inside] + d]
    lowest = np.argmin(costs, axis=0)
    return np.where(np.isfinite(costs.min(axis=0)), np.array(disparities[1:-1], float)[lowest], np.nan)


# ---- the choice among them ------------------------------------------------------------------------
def path_costs(cost, d, guide, step, P1, P2, sigma):
    """L_p(k) = c_p(k) + min(L_q(j) + P1 (d_p(k) - d_q(j))^2 over j, min L_q + P2 w) - min L_q."""
    (dy, dx), (_, h, w) = step, cost.shape
    L = cost.copy()
    for y in range(h)[:: dy or 1]:
        for x in range(w)[:: dx or 1]:
            p, q = (y, x), (y - dy, x - dx)
            if not (0 <= q[0] < h and 0 <= q[1] < w):
                continue
            L_q, jump = L[:, q[0], q[1]], d[:, y, x, None] - d[:, q[0], q[1]]
            weight = np.exp(-((guide[p] - guide[q]) ** 2) / sigma**2)
            best = np.minimum((L_q + P1 * jump**2).min(axis=1), L_q.min() + P2 * weight)
            L[:, y, x] += best - L_q.min()
    return L


def choose(cost, d, a, guide, P1, P2, sigma):
    """Disparity and curvature of the lowest sum over eight paths, and the margin to the next."""
    S = sum(path_costs(cost, d, guide, step, P1, P2, sigma) for step in reference.DIRECTIONS)
    chosen = np.argmin(S, axis=0)[None]
    lowest = np.sort(S, axis=0)
    margin = lowest[1] - lowest[0] if len(S) > 1 else np.full(guide.shape, np.inf)
    trust = np.clip(margin / (2 * P2), 0.01, 1) ** 2 if P2 else 1
    return np.take_along_axis(d, chosen, 0)[0], trust * np.take_along_axis(a, chosen, 0)[0], margin


def distinctness(cost, d, Tq, Td):
    """S, the least of clip((q_k - 1) / (Tq - 1), 0.01, 1)^2 with q_k = C(d_k) / C(d_0), 1 for minima next to d_0.

    1e-4 where a minimum more than 2 px away costs less than Td more.
    """
    S = np.ones(cost.shape[1:])
    for k in range(1, len(cost)):
        q, away = cost[k] / np.maximum(cost[0], 1e-4), np.abs(d[k] - d[0])
        S = np.minimum(S, np.where(away <= 1, 1, np.clip((q - 1) / (Tq - 1), 0.01, 1) ** 2))
    for k in range(1, len(cost)):
        S[(np.abs(d[k] - d[0]) > 2) & (cost[k] - cost[0] < Td)] = AMBIGUOUS
    return S


# ---- both views -----------------------------------------------------------------------------------
def consistent(left, right, most):
    """True where the right disparity at the pixel nearest to x - d agrees with d; false outside and for NaN."""
    same = np.zeros(left.shape, bool)
    for y, x in np.ndindex(left.shape):
        at = np.rint(x - left[y, x])
        same[y, x] = 0 <= at < left.shape[1] and abs(left[y, x] - right[y, int(at)]) <= most
    return same


def local_parabolas(C, disparities, plain, guide, params):
    """alpha, beta of one minimum of C, weakened where the right view, a speckle or other minima contradict it."""
    minimum = "whole" if params.subpixel == "encc" else params.subpixel
    cost, d, a = candidates(C, disparities, minimum, params.candidates)
    if any(params.choice):
        d, a, _ = choose(cost, d, a, guide, *params.choice, params.edge_sigma)
        S = np.ones(d.shape)
    else:
        S = distinctness(cost, d, params.ratio_threshold, params.ambiguity)
        d, a = d[0], a[0]
    speckled = np.isnan(reference_filters.remove_speckles(d, *params.speckles))
    S[~consistent(d, right_winners(C, disparities), 1) | speckled] = DOUBTFUL
    if params.subpixel == "encc":
        offset, textured = reference.vertex_encc(*plain, d.astype(int), params.encc_window)
        d, S = d + offset, np.where(textured, S, AMBIGUOUS * S)
    return S * a, -2 * S * a * d


# ---- the published rules for jumps ----------------------------------------------------------------
def path_with_jumps(alpha, beta, weight, step, P1, P2, T2):
    """A, B of every pixel along one direction, with j = |vertex_p - m_q|.

    j < 2: the step of the paper with P1; j < T2: with P2; beyond: the parabola of q if it is 1000 times as sure and
    there is no edge, else the pixel's own.
    """
    (dy, dx), (h, w) = step, alpha.shape
    A, B = alpha.copy(), beta.copy()
    for y in range(h)[:: dy or 1]:
        for x in range(w)[:: dx or 1]:
            p, q = (y, x), (y - dy, x - dx)
            if not (0 <= q[0] < h and 0 <= q[1] < w):
                continue
            w_pq = weight(p, q)
            m_q = -B[q] / (2 * A[q])
            j = abs(-beta[p] / (2 * alpha[p]) - m_q)
            if j < max(2, T2):
                message = (P1 if j < 2 else P2) * w_pq * min(A[q], 1)
                A[p], B[p] = alpha[p] + message, beta[p] - 2 * message * m_q
            elif A[q] > 1000 * alpha[p] and w_pq >= 0.5:
                A[p], B[p] = A[q], B[q]
    return A, B


def aggregate_with_jumps(alpha, beta, weight, P1, P2, paths, iterations):
    """The sums over paths; T2 is 2 in the first two iterations and 180 after. N = alpha_1 / mean(alpha_1)."""
    N = alpha / alpha.mean()
    for i in range(iterations):
        along = [
            path_with_jumps(alpha, beta, weight, step, P1, P2, 2 if i < 2 else 180)
            for step in reference.DIRECTIONS[:paths]
        ]
        A, B = np.sum(along, axis=0)
        bounded = np.clip(N * A / paths, 1e-15, 1e15) / np.maximum(A / paths, 1e-15)
        alpha, beta = bounded * A / paths, bounded * B / paths
    return A, B
