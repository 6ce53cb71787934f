"""The filters in plain NumPy, pixel by pixel: the oracle of their kernels. Slow on purpose.

Guides are HxWx3 or HxWx1 arrays; weights are 0 where there is no data.
"""

import numpy as np


def known(d):
    return np.abs(d) <= 1e9


def window(shape, y, x, radius):
    """The pixels around (y, x), cut at the border."""
    rows, columns = (slice(max(0, at - radius), at + radius + 1) for at in (y, x))
    return rows, columns


# ---- guided filter -------------------------------------------------------------------------------
def guided_filter(d, guide, weight, radius, eps):
    """Every window fits d = a . c + b, c the colours; a pixel takes the mean of the fits of all windows it lies in."""
    fits = np.full((*d.shape, guide.shape[2] + 1), np.nan)
    for y, x in np.ndindex(d.shape):
        at = window(d.shape, y, x, radius)
        some = weight[at] > 0
        if not some.any():
            continue
        p, c, w = d[at][some], guide[at][some], weight[at][some] / weight[at].sum()
        mean_p, mean_c = w @ p, w @ c
        covariance = (w[:, None] * (c - mean_c)).T @ (c - mean_c) + eps * np.eye(c.shape[1])
        a = np.linalg.solve(covariance, (w * (p - mean_p)) @ (c - mean_c))
        fits[y, x] = *a, mean_p - a @ mean_c
    out = np.full(d.shape, np.nan)
    for y, x in np.ndindex(d.shape):
        near = fits[window(d.shape, y, x, radius)].reshape(-1, fits.shape[2])
        near = near[~np.isnan(near[:, -1])]
        if len(near):
            *a, b = near.mean(axis=0)
            out[y, x] = a @ guide[y, x] + b
    return out


# ---- bilateral solver ----------------------------------------------------------------------------
def bilateral_solver(d, guide, weight, sizes, lam):
    """Minimise with dense matrices on the vertices. guide: luma, or luma and two chromas; sizes: the same, then x, y.

    Returns the map, with NaN where no chain of neighbouring vertices leads to data.
    """
    h, w = d.shape
    x, y = np.meshgrid(np.arange(w) + 0.5, np.arange(h) + 0.5)
    position = np.dstack([guide, x, y]) / sizes
    cells = np.floor(position).astype(int).reshape(h * w, -1)
    vertices, vertex = np.unique(cells, axis=0, return_inverse=True)
    vertex = vertex.ravel()
    S = np.eye(len(vertices))[vertex].T
    number = {tuple(v): i for i, v in enumerate(vertices)}
    dimensions = vertices.shape[1]

    def neighbour(v, k, sign):
        moved = vertices[v].copy()
        moved[k] += sign
        return number.get(tuple(moved))

    B = 2.0 * dimensions * np.eye(len(vertices))
    for v in range(len(vertices)):
        for k in range(dimensions):
            for sign in (1, -1):
                if (u := neighbour(v, k, sign)) is not None:
                    B[v, u] = 1
    n = np.ones(len(vertices))
    for _ in range(10):
        n = np.sqrt(n * S.sum(axis=1) / (B @ n))
    L = np.diag(n * (B @ n)) - np.diag(n) @ B @ np.diag(n)

    c, t = weight.ravel(), np.where(weight > 0, d, 0).ravel()
    reached = S @ c > 0
    for _ in vertices:
        reached = B @ reached > 0
    values = np.full(len(vertices), np.nan)
    A = lam * L + np.diag(S @ c)
    values[reached] = np.linalg.solve(A[np.ix_(reached, reached)], (S @ (c * t))[reached])

    out = np.empty(h * w)
    for pixel, v in enumerate(vertex):
        out[pixel] = values[v]
        above = position.reshape(h * w, -1)[pixel] - vertices[v] - 0.5
        for k in range(dimensions):
            u = neighbour(v, k, 1 if above[k] > 0 else -1)
            if u is not None:
                out[pixel] += abs(above[k]) * (values[u] - values[v])
    return out.reshape(h, w)


# ---- weighted median -----------------------------------------------------------------------------
def median_weights(d, guide, weight, y, x, radius, sigma):
    """Values of the window around (y, x) in ascending order, and their weights."""
    at = window(d.shape, y, x, radius)
    w = weight[at] * np.exp(-((guide[at] - guide[y, x]) ** 2).sum(axis=2) / (2 * sigma**2))
    values, w = d[at][weight[at] > 0], w[weight[at] > 0]
    order = np.argsort(values, kind="stable")
    return values[order], w[order]


def weighted_median(d, guide, weight, radius, sigma):
    out = np.full(d.shape, np.nan)
    for y, x in np.ndindex(d.shape):
        values, w = median_weights(d, guide, weight, y, x, radius, sigma)
        if values.size:
            out[y, x] = values[np.argmax(np.cumsum(w) >= w.sum() / 2)]
    return out


# ---- regions -------------------------------------------------------------------------------------
def remove_speckles(d, size, step):
    out, seen = np.where(known(d), d, np.nan), ~known(d)
    for start in np.ndindex(d.shape):
        if seen[start]:
            continue
        seen[start] = True
        region = [start]
        for y, x in region:
            for q in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
                inside = 0 <= q[0] < d.shape[0] and 0 <= q[1] < d.shape[1]
                if inside and not seen[q] and abs(d[y, x] - d[q]) <= step:
                    seen[q] = True
                    region.append(q)
        if len(region) < size:
            out[tuple(np.transpose(region))] = np.nan
    return out


def fill_holes(d):
    d = np.where(known(d), d, np.nan)
    while np.isnan(d).any():
        filled = d.copy()
        for y, x in np.argwhere(np.isnan(d)):
            near = d[window(d.shape, y, x, 1)]
            near = np.sort(near[~np.isnan(near)])
            if near.size:
                filled[y, x] = near[(near.size - 1) // 2]
        d = filled
    return d
