"""Continuous cost aggregation in plain NumPy: the oracle every kernel is tested against.

Reads like the paper, keeps whole cost volumes, and is slow on purpose. Sign: d = x_left - x_right, so
left(x, y) matches right(x - d, y). Intensities are on a 0..255 scale. Letters are the paper's:
alpha, beta are the coefficients of a pixel's parabola alpha d^2 + beta d + gamma; A, B those of the aggregated one.
"""

import numpy as np

DIRECTIONS = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)]  # (dy, dx) of a step


# ---- matching cost ------------------------------------------------------------------------------
def gaussian_window(omega):
    """The taps of a Gaussian of STD omega, cut at 2 ceil(2 omega) + 1, summing to one."""
    half = int(np.ceil(2 * omega))
    taps = np.exp(-0.5 * (np.arange(-half, half + 1) / omega) ** 2)
    return taps / taps.sum()


def smooth(image, taps):
    """Separable window with symmetric padding (the mirror repeats the edge pixel)."""
    half = len(taps) // 2
    for axis in (1, 0):
        pad = [(0, 0), (0, 0)]
        pad[axis] = (half, half)
        padded, n = np.pad(image, pad, mode="symmetric"), image.shape[axis]
        slices = (np.take(padded, range(k, k + n), axis) for k in range(len(taps)))
        image = sum(tap * s for tap, s in zip(taps, slices, strict=True))
    return image


def shifted(right, d):
    """R(x - d), zero where that lies outside the image."""
    w = right.shape[1]
    out = np.zeros_like(right)
    x = np.arange(w)
    inside = (x - d >= 0) & (x - d < w)
    out[:, inside] = right[:, x[inside] - d]
    return out


def cost_volume(left, right, disparities, omega):
    """C[i] = window * |L(x) - R(x - d_i)|."""
    taps = gaussian_window(omega)
    return np.stack([smooth(np.abs(left - shifted(right, d)), taps) for d in disparities])


# ---- parabola, vertex, confidence -----------------------------------------------------------------
def vertex_parabola(l, r):
    """Offset of the minimum of the parabola through three costs; l, r are the rises on either side."""
    return np.divide(l - r, 2 * (l + r), out=np.zeros_like(l), where=l + r > 0)


def vertex_histeq(l, r, bias):
    """Offset by the histogram-equalised kernel, less its calibrated bias at x = -1, -0.9 ... 1."""
    small, large = np.minimum(l, r), np.maximum(l, r)
    t = np.divide(small, large, out=np.ones_like(l), where=large > 0)
    x = (0.5 - (t + t**2) / 4) * np.where(l <= r, -1, 1)
    return x - np.interp(x, np.linspace(-1, 1, 21), bias)


def local_parabolas(cost, disparities, subpixel, bias, ratio_threshold):
    """alpha, beta of every pixel from its cost volume, scaled by the confidence of section 3."""
    n, rows, cols = len(disparities), *np.indices(cost.shape[1:])
    # The winner has two neighbours: it is never the first or the last disparity.
    i0 = 1 + np.argmin(cost[1:-1], axis=0)
    c0 = cost[i0, rows, cols]
    l = np.maximum(cost[i0 - 1, rows, cols] - c0, 0)
    r = np.maximum(cost[i0 + 1, rows, cols] - c0, 0)
    x = vertex_parabola(l, r) if subpixel == "parabola" else vertex_histeq(l, r, bias)
    a = (l + r) / 2

    others = np.where(np.arange(n)[:, None, None] == i0, np.inf, cost)
    i1 = np.argmin(others, axis=0)
    q = others[i1, rows, cols] / np.maximum(c0, 1e-4)
    score = np.clip((q - 1) / (ratio_threshold - 1), 0.01, 1) ** 2
    score[np.abs(i1 - i0) <= 1] = 1

    alpha = score * a
    return alpha, -2 * alpha * (disparities[0] + i0 + x)


def border_divisor(width, omega, disparities, border):
    """What alpha and beta are divided by: border at the image's edge, 1 beyond a margin, linear between."""
    margin = int(np.floor(2 * omega + max(abs(disparities[0]), abs(disparities[-1])) + 0.5))
    x = np.arange(width)
    distance = np.minimum(x, x[::-1])
    return np.maximum(border - (border - 1) * distance / max(margin - 1, 1), 1)


def invalidate(alpha, beta, threshold):
    """Where alpha < Ta the parabola keeps its vertex but next to no weight, at most 1e-4 Ta.

    The paper sets beta = 0 there, which pulls such pixels to d = 0.
    """
    weak = np.where(alpha < threshold, np.minimum(alpha, 1e-4 * threshold), alpha)
    return weak, beta * np.divide(weak, alpha, out=np.zeros_like(alpha), where=alpha > 0)


# ---- aggregation ----------------------------------------------------------------------------------
def path(alpha, beta, guide, step, penalty, sigma):
    """A, B along one direction; a path starts with the local parabola."""
    dy, dx = step
    h, w = alpha.shape
    A, B = alpha.copy(), beta.copy()
    for y in range(h)[:: dy or 1]:
        for x in range(w)[:: dx or 1]:
            yp, xp = y - dy, x - dx
            if 0 <= yp < h and 0 <= xp < w:
                # Pa = P w min(max(A_{p-1}, 0), 1);  A_p = alpha_p + Pa;  B_p = beta_p + Pa B_{p-1} / A_{p-1}
                weight = np.exp(-((guide[y, x] - guide[yp, xp]) ** 2) / sigma**2)
                Pa = penalty * weight * min(max(A[yp, xp], 0), 1)
                A[y, x] = alpha[y, x] + Pa
                B[y, x] = beta[y, x] + (Pa * B[yp, xp] / A[yp, xp] if A[yp, xp] > 0 else 0)
    return A, B


def aggregate(alpha, beta, guide, penalty, sigma, paths, iterations, normalize):
    """S = sum over paths, iterated with alpha, beta <- N S / paths."""
    N = alpha / np.maximum(alpha.mean(), 1e-30) if normalize else 1
    A, B = None, None
    for iteration in range(iterations):
        if iteration:
            alpha, beta = N * A / paths, N * B / paths
            if normalize:  # repeated, N runs out of float32's range
                bounded = np.clip(alpha, 1e-12, 1e12) / np.maximum(alpha, 1e-12)
                alpha, beta = alpha * bounded, beta * bounded
        A, B = 0, 0
        for step in DIRECTIONS[:paths]:
            A_r, B_r = path(alpha, beta, guide, step, penalty, sigma)
            A, B = A + A_r, B + B_r
    return A, B


# ---- scales ---------------------------------------------------------------------------------------
def pyramid_down(image):
    """Half size: 1 4 6 4 1 smoothing, then every second pixel, so that pixel i lies at 2 i below."""
    return smooth(image, np.array([1, 4, 6, 4, 1]) / 16)[::2, ::2]


def upsample(coarse, shape):
    """Bilinear, on the grid of pyramid_down: fine pixel x lies at x / 2 above."""
    for axis, n in enumerate(shape):
        at = np.arange(n) / 2
        low = np.floor(at).astype(int)
        high = np.minimum(low + 1, coarse.shape[axis] - 1)
        t = (at - low).reshape([-1 if k == axis else 1 for k in range(2)])
        coarse = (1 - t) * np.take(coarse, low, axis) + t * np.take(coarse, high, axis)
    return coarse


def minimizer(A, B):
    """d = -B / (2 A)."""
    return np.divide(-B, 2 * A, out=np.zeros_like(A), where=A > 0)


def searched(limits, factor):
    """First and last whole disparity at 1/factor of the full size: the limits, and one more so that these can win."""
    return int(np.floor(limits[0] / factor)) - 1, int(np.ceil(limits[1] / factor)) + 1


def next_range(d, limits, factor):
    """The integer disparities that cover d with a margin of two, within the limits."""
    first, last = searched(limits, factor)
    low = np.clip(int(np.round(d.min())) - 2, first, last - 2)
    high = np.clip(int(np.ceil(d.max())) + 2, low + 2, last)
    return np.arange(low, high + 1)


def one_scale(left, right, guide, disparities, prior, iterations, params):
    """A, B of one scale; the prior is a pair of coefficient maps of the same size, or None."""
    omega = params["window"]
    cost = cost_volume(left, right, disparities, omega)
    alpha, beta = local_parabolas(cost, disparities, params["subpixel"], params["bias"], params["ratio_threshold"])
    divisor = border_divisor(left.shape[1], omega, disparities, params["border"])
    alpha, beta = alpha / divisor, beta / divisor
    if prior is not None:
        alpha = alpha + params["prior_weight"] * prior[0]
        beta = beta + params["prior_weight"] * prior[1]
    alpha, beta = invalidate(alpha, beta, params["invalid_threshold"])
    return aggregate(
        alpha,
        beta,
        guide,
        params["penalty"],
        params["edge_sigma"],
        params["paths"],
        iterations,
        params["normalize_iterations"],
    )


def disparity(left, right, guide, params):
    """The whole method: coarse to fine, each scale's A / F^2, B / F the next one's prior (F = 2)."""
    scales = len(params["iterations"])
    pyramid = [(left, right, guide)]
    for _ in range(scales - 1):
        pyramid.append(tuple(pyramid_down(image) for image in pyramid[-1]))
    first, last = searched(params["range"], 2 ** (scales - 1))
    prior, disparities, A, B = None, np.arange(first, last + 1), None, None
    for scale, (level, iterations) in enumerate(zip(reversed(pyramid), params["iterations"], strict=True)):
        if prior is not None:
            prior = upsample(A / 4, level[0].shape), upsample(B / 2, level[0].shape)
            disparities = next_range(minimizer(*prior), params["range"], 2 ** (scales - 1 - scale))
        A, B = one_scale(*level, disparities, prior, iterations, params)
        prior = A, B
    return np.clip(minimizer(A, B), *params["range"]), A
