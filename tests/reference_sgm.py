"""Semi-global matching (Hirschmueller 2008) in plain NumPy: the oracle of its kernel.

Letters are the paper's: C(p, d) is the cost of pixel p at disparity d, L_r(p, d) the cost of the path to it in
direction r, S their sum. All are whole sixteenths of an intensity; d is the first axis of volumes.
"""

import numpy as np

import reference


def sixteenths(value):
    return np.floor(16 * np.asarray(value) + 0.5).astype(int)


def cost_volume(left, right, disparities, window):
    """The mean Birchfield-Tomasi distance over a box, at most 255."""
    return sixteenths(np.minimum(reference.cost_volume(left, right, disparities, window, "bt"), 255))


def path_costs(C, direction, P1, P2):
    """L_r(p, d) = C(p, d) + min(L_r(q, d), L_r(q, d +- 1) + P1, min L_r(q) + P2) - min L_r(q), with q = p - r."""
    (dy, dx), (_, h, w) = direction, C.shape
    L = C.copy()
    for y in range(h)[:: dy or 1]:
        for x in range(w)[:: dx or 1]:
            if 0 <= y - dy < h and 0 <= x - dx < w:
                q = L[:, y - dy, x - dx]
                never = [q.max() + P2 + 1]
                below, above = np.concatenate([never, q[:-1]]), np.concatenate([q[1:], never])
                best = np.minimum(np.minimum(q, q.min() + P2), np.minimum(below, above) + P1)
                L[:, y, x] += best - q.min()
    return L


def minimum(S, first):
    """The first disparity of least sum, refined by a parabola if it has two neighbours."""
    n = np.argmin(S, axis=0)
    inside = (n > 0) & (n < len(S) - 1)
    before, at, after = (np.take_along_axis(S, np.clip(n + i, 0, len(S) - 1)[None], 0)[0] for i in (-1, 0, 1))
    return first + n + np.where(inside, reference.vertex_parabola((before - at) * 1.0, (after - at) * 1.0), 0)


def sgm(left, right, disparities, P1, P2, window):
    C = cost_volume(left, right, disparities, window)
    P1, P2 = sixteenths(P1), sixteenths(P2)
    return minimum(sum(path_costs(C, r, P1, P2) for r in reference.DIRECTIONS), disparities[0])
