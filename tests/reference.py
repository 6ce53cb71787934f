"""Continuous cost aggregation in plain NumPy: the oracle every kernel is tested against.

Reads like the paper, keeps whole cost volumes, and is slow on purpose. Sign: d = x_left - x_right, so
left(x, y) matches right(x - d, y). Intensities are on a 0..255 scale. Letters are the paper's:
alpha, beta are the coefficients of a pixel's parabola alpha d^2 + beta d + gamma; A, B those of the aggregated one.
"""

from functools import cache

import numpy as np

STEPS = np.arange(-6, 7, 3)  # px, to the pixels of the window of `outlines`
DIRECTIONS = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)]  # (dy, dx) of a step


# ---- preparation ----------------------------------------------------------------------------------
def prepare(left, right, guide, params):
    """Views and guide of every scale as they are matched, fine to coarse, from planes of at most 128 px a side."""
    gain = gain_of(left, right, params["vignetting"]) if params["vignetting"] else np.ones_like(right)
    guide = 255 * (guide / 255) ** params["guide_gamma"]
    of_views, of_guide = 1, 1
    if params["exposure"]:
        of_views, of_guide = (params["exposure"] / np.quantile(plane, 0.99) for plane in (left, guide))
    pyramid = [(left, right, guide)]
    for _ in range(len(params["iterations"]) - 1):
        pyramid.append(tuple(pyramid_down(image) for image in pyramid[-1]))
    return [
        (of_views * left, of_views * gain[:: 2**k, :: 2**k] * right, of_guide * guide)
        for k, (left, right, guide) in enumerate(pyramid)
    ]


def gain_of(left, right, share):
    """LPF(L) / LPF(R), with ratios moved 0.5 % towards 1, but not beyond it."""
    sigma = share * max(left.shape)
    half = int(np.round(8 * sigma + 1)) // 2
    taps = np.exp(-0.5 * (np.arange(-half, half + 1) / sigma) ** 2)
    of_left, of_right = (smooth(view, taps / taps.sum()) for view in (left, right))
    ratio = np.log(of_left / of_right)
    return np.exp(np.sign(ratio) * np.maximum(np.abs(ratio) - 0.005, 0))


# ---- matching cost ------------------------------------------------------------------------------
def gaussian_window(omega):
    """The taps of a Gaussian of STD omega, cut at 2 ceil(2 omega) + 1, summing to one."""
    half = int(np.ceil(2 * omega))
    taps = np.exp(-0.5 * (np.arange(-half, half + 1) / omega) ** 2)
    return taps / taps.sum()


def box_window(side):
    """Equal taps, an odd number, at most the side."""
    n = 2 * int(side // 2) + 1
    return np.full(n, 1 / n)


def smooth(image, taps, padding="symmetric"):
    """Separable window with symmetric padding (the mirror repeats the edge pixel), or another mode of np.pad."""
    half = len(taps) // 2
    for axis in (1, 0):
        pad = [(0, 0), (0, 0)]
        pad[axis] = (half, half)
        padded, n = np.pad(image, pad, mode=padding), image.shape[axis]
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


def correlation_cost(L, R, taps):
    """1 - W*(L R) / sqrt(W*L^2 W*R^2); a root mean square below 0.1 counts as 0.1, so that 0 / 0 is 0."""
    L2, R2 = (np.maximum(smooth(image**2, taps), 0.1**2) for image in (L, R))
    return 1 - smooth(L * R, taps) / np.sqrt(L2 * R2)


def zero_mean_correlation_cost(L, R, taps):
    """The same for windows minus their weighted means: W*((L - mean)(R - mean)) = W*(L R) - (W*L)(W*R)."""
    L, R = L - L.mean(), R - L.mean()  # changes nothing but the rounding

    def covariance(a, b):
        return smooth(a * b, taps) - smooth(a, taps) * smooth(b, taps)

    return 1 - covariance(L, R) / np.sqrt(np.maximum(covariance(L, L), 0.1**2) * np.maximum(covariance(R, R), 0.1**2))


def half_way(image):
    """Least and greatest of a pixel and the values half-way to its left and right neighbours; ends are repeated."""
    padded = np.pad(image, ((0, 0), (1, 1)), mode="edge")
    values = image, (image + padded[:, :-2]) / 2, (image + padded[:, 2:]) / 2
    return np.min(values, axis=0), np.max(values, axis=0)


def birchfield_tomasi(left, right, d):
    """The lesser of the distances of R(x - d) from the half-way interval of L(x), and of L(x) from that of R(x - d)."""

    def distance(value, low, high):
        return np.maximum(np.maximum(value - high, low - value), 0)

    there = distance(shifted(right, d), *half_way(left))
    back = distance(left, *(shifted(bound, d) for bound in half_way(right)))
    return np.minimum(there, back)


def census(image):
    """24 bits a pixel, one for each neighbour of the 5x5 window that is darker by more than 0.75; ends are repeated."""
    h, w = image.shape
    padded = np.pad(image, 2, mode="edge")
    darker = [padded[y : y + h, x : x + w] < image - 0.75 for y in range(5) for x in range(5) if (y, x) != (2, 2)]
    return sum(bit.astype(int) << (23 - k) for k, bit in enumerate(darker))


def hamming_distance(left_codes, right_codes, d):
    """The number of bits in which two codes differ; outside the image no bit is set."""
    differ = left_codes ^ shifted(right_codes, d)
    return sum((differ >> k) & 1 for k in range(24)).astype(float)


BOXED = ("bt", "census")


def window(omega, cost):
    return box_window(omega) if cost in BOXED else gaussian_window(omega)


def block_means(image, side):
    """The mean of every block of side x side pixels; those at the end are cut off."""
    rows, columns = (np.arange(0, n, side) for n in image.shape)
    sums, pixels = (np.add.reduceat(np.add.reduceat(x, rows), columns, axis=1) for x in (image, np.ones_like(image)))
    return sums / pixels


def block_window(omega, side):
    """The Gaussian in blocks: a block is a box of variance side^2 / 12, and both together have STD omega."""
    k = np.arange(-round(2 * omega / side), round(2 * omega / side) + 1)
    taps = np.exp(-(k**2) / (2 * ((omega / side) ** 2 - 1 / 12)))
    return taps / taps.sum()


def smooth_blocks(image, omega, side=2):
    """The window over the means of blocks, the same for all pixels of a block."""
    spread = smooth(block_means(image, side), block_window(omega, side)).repeat(side, axis=0).repeat(side, axis=1)
    return spread[: image.shape[0], : image.shape[1]]


def cost_volume(left, right, disparities, omega, cost="sad"):
    """C[i] of L(x) and R(x - d_i); bt and census have a box of side omega and replicate padding, others a Gaussian.

    Large Gaussians of sad and ssd are those of blocks.
    """
    taps = window(omega, cost)
    codes = [census(view) for view in (left, right)] if cost == "census" else None

    def windowed(difference):
        return smooth_blocks(difference, omega) if omega >= 4 else smooth(difference, taps)

    of = {
        "sad": lambda d: windowed(np.abs(left - shifted(right, d))),
        "ssd": lambda d: windowed((left - shifted(right, d)) ** 2),
        "ncc": lambda d: correlation_cost(left, shifted(right, d), taps),
        "zncc": lambda d: zero_mean_correlation_cost(left, shifted(right, d), taps),
        "bt": lambda d: smooth(birchfield_tomasi(left, right, d), taps, "edge"),
        "census": lambda d: smooth(hamming_distance(*codes, d), taps, "edge"),
    }[cost]
    return np.stack([of(d) for d in disparities])


# ---- parabola, vertex, confidence -----------------------------------------------------------------
def vertex_parabola(l, r):
    """Offset of the minimum of the parabola through three costs; l, r are the rises on either side."""
    return np.divide(l - r, 2 * (l + r), out=np.zeros_like(l), where=l + r > 0)


def vertex_histeq(l, r, bias):
    """Offset by the histogram-equalised kernel, minus its calibrated bias at x = -1, -0.9 ... 1."""
    small, large = np.minimum(l, r), np.maximum(l, r)
    t = np.divide(small, large, out=np.ones_like(l), where=large > 0)
    x = (0.5 - (t + t**2) / 4) * np.where(l <= r, -1, 1)
    return x - np.interp(x, np.linspace(-1, 1, 21), bias)


def vertex(l, r, subpixel, bias):
    return vertex_parabola(l, r) if subpixel == "parabola" else vertex_histeq(l, r, bias)


def windows(image, n, reach):
    """The zero-mean n x n windows around every pixel and `reach` columns beyond; ends are repeated."""
    half = n // 2
    padded = np.pad(image, ((half, half), (half + reach, half + reach)), mode="edge")
    w = np.lib.stride_tricks.sliding_window_view(padded, (n, n))
    return w - w.mean(axis=(2, 3), keepdims=True)


def correlation(a, b):
    return (a * b).sum(axis=(2, 3)) / np.sqrt((a * a).sum(axis=(2, 3)) * (b * b).sum(axis=(2, 3)) + 1e-300)


def vertex_encc(left, right, d0, n):
    """Offset from d0 where the left and the interpolated right window correlate best, and whether there is texture.

    Windows of the right image at k and k - 1, with t between them. Where one of the two intervals beside d0 has no
    interior maximum, it offers d0 itself.
    """
    reach = int(np.abs(d0).max()) + 2
    rows, cols = np.indices(left.shape)
    L, R = windows(left, n, 0), windows(right, n, reach)
    best = np.full(left.shape, -np.inf)
    offset = np.zeros(left.shape)
    for k in (cols - d0, cols - d0 + 1):
        Rk, Rk1 = R[rows, k + reach], R[rows, k - 1 + reach]
        rho1, rho2, r = correlation(L, Rk), correlation(L, Rk1), correlation(Rk, Rk1)
        size = np.sqrt((Rk * Rk).sum(axis=(2, 3)))
        lam = np.sqrt((Rk1 * Rk1).sum(axis=(2, 3))) / np.maximum(size, 1e-300)
        denominator = lam * (r * rho2 - rho1) - (rho2 - r * rho1)
        inside = (denominator < 0) & (1 - r**2 > 1e-6)
        t = np.divide(rho2 - r * rho1, denominator, out=(cols - d0 - k).astype(float), where=inside)
        at_d0 = correlation(L, R[rows, cols - d0 + reach]) ** 2
        value = np.divide(rho1**2 + rho2**2 - 2 * r * rho1 * rho2, 1 - r**2, out=at_d0, where=inside)
        # the match lies at k + t, so d = x - k - t; clipped to 1 px from d0, with the correlation there
        x = np.clip(cols - k - t - d0, -1, 1)
        bounded = (cols - k - d0 - x)[..., None, None]
        value = np.where(np.abs(cols - k - t - d0) > 1, correlation(L, Rk - bounded * (Rk1 - Rk)) ** 2, value)
        better = value > best
        offset[better] = x[better]
        best[better] = value[better]
    centre = R[rows, cols - d0 + reach]
    textured = np.minimum((L**2).mean(axis=(2, 3)), (centre**2).mean(axis=(2, 3))) > 0.5
    return np.where(textured, offset, 0), textured


def local_parabolas(cost, disparities, subpixel, bias, ratio_threshold, views=None, encc_window=None, noise_floor=0):
    """alpha, beta of every pixel from its cost volume, scaled by the confidence: equations 1, 2 and 3 of the paper."""
    n, rows, cols = len(disparities), *np.indices(cost.shape[1:])
    # The winner has two neighbours: it is never the first or the last disparity.
    i0 = 1 + np.argmin(cost[1:-1], axis=0)
    c0 = cost[i0, rows, cols]
    l = np.maximum(cost[i0 - 1, rows, cols] - c0, 0)
    r = np.maximum(cost[i0 + 1, rows, cols] - c0, 0)
    a = (l + r) / 2
    if subpixel == "encc":
        x, textured = vertex_encc(*views, disparities[0] + i0, encc_window)
        a = a * textured
    else:
        x = vertex(l, r, subpixel, bias)
    if noise_floor:
        a = a / (c0 + noise_floor)

    others = np.where(np.arange(n)[:, None, None] == i0, np.inf, cost)
    i1 = np.argmin(others, axis=0)
    q = others[i1, rows, cols] / np.maximum(c0, 1e-4)
    score = np.clip((q - 1) / (ratio_threshold - 1), 0.01, 1) ** 2
    score[np.abs(i1 - i0) <= 1] = 1

    alpha = score * a
    return alpha, -2 * alpha * (disparities[0] + i0 + x)


def border_divisor(width, omega, disparities, border):
    """The divisor of alpha and beta: border at the image's edge, 1 beyond a margin, linear between."""
    margin = int(np.floor(2 * omega + max(abs(disparities[0]), abs(disparities[-1])) + 0.5))
    x = np.arange(width)
    distance = np.minimum(x, x[::-1])
    return np.maximum(border - (border - 1) * distance / max(margin - 1, 1), 1)


def invalidate(alpha, beta, threshold):
    """Where alpha < Ta the parabola keeps its vertex but has almost no weight, at most 1e-4 Ta.

    The paper sets beta = 0 there, which pulls such pixels to d = 0.
    """
    weak = np.where(alpha < threshold, np.minimum(alpha, 1e-4 * threshold), alpha)
    return weak, beta * np.divide(weak, alpha, out=np.zeros_like(alpha), where=alpha > 0)


# ---- aggregation ----------------------------------------------------------------------------------
def edge_weight(guide, sigma, share=None):
    """w(p, q) of neighbouring pixels as the kernels store it: rounded to a 3-bit mantissa, 0 below 2^-30.

    The share of the square of 4 x 4 pixels multiplies the exponent. The pixel later in the rows decides which square.
    """

    @cache  # every iteration asks for the same edges
    def weight(p, q):
        y, x = max(p, q)
        s = 1 if share is None else share[y // 4, x // 4]
        w = np.exp(-s * (guide[p] - guide[q]) ** 2 / sigma**2)
        mantissa, exponent = np.frexp(w)
        return np.ldexp(np.round(2**4 * mantissa), exponent - 4) if w >= 2.0**-30 else 0

    return weight


def path(alpha, beta, weight, step, penalty, exact=False, d=None, tau=0):
    """The messages A, B that arrive at every pixel along one direction; a path starts with the local parabola.

    Equation 4 of the paper is alpha + A, beta + B.
    """
    dy, dx = step
    h, w = alpha.shape
    A, B = np.zeros_like(alpha), np.zeros_like(beta)
    for y in range(h)[:: dy or 1]:
        for x in range(w)[:: dx or 1]:
            p, q = (y, x), (y - dy, x - dx)
            if not (0 <= q[0] < h and 0 <= q[1] < w):
                continue
            Pw = penalty * weight(p, q)
            if d is not None:
                Pw /= (1 + (d[p] - d[q]) ** 2 / tau**2) ** 2
            Aq, Bq = alpha[q] + A[q], beta[q] + B[q]
            # exact: the minimum over d' of Aq d'^2 + Bq d' + Pw (d - d')^2;  paper: Pa = P w min(max(Aq, 0), 1)
            message = Aq * Pw / (Aq + Pw + 1e-30) if exact else Pw * min(max(Aq, 0), 1)
            A[p] = message
            B[p] = message * Bq / Aq if Aq > 0 else 0
    return A, B


def one_pass(alpha, beta, weight, paths, penalty, exact=False, *robust):
    """The sums over paths of local term and message; with exact messages the local term counts once."""
    A, B = ((1 if exact else paths) * m for m in (alpha, beta))
    for step in DIRECTIONS[:paths]:
        A_r, B_r = path(alpha, beta, weight, step, penalty, exact, *robust)
        A, B = A + A_r, B + B_r
    return A, B


def aggregate(alpha, beta, weight, penalty, paths, iterations, normalize, mean=None):
    """S = sum over paths, iterated with alpha, beta <- N S / paths."""
    N = alpha / np.maximum(alpha.mean() if mean is None else mean, 1e-30) if normalize else 1
    A, B = one_pass(alpha, beta, weight, paths, penalty)
    for _ in range(iterations - 1):
        alpha, beta = A / paths, B / paths
        if normalize:  # repeated, N runs out of float32's range; vertices stay
            bounded = np.clip(N * alpha, 1e-15, 1e15) / np.maximum(alpha, 1e-15)
            alpha, beta = alpha * bounded, beta * bounded
        A, B = one_pass(alpha, beta, weight, paths, penalty)
    return A, B


def one_sided(v, d, r):
    """g: how much a match with vertex v counts if the last iteration found d. Too near is suspect, too far is not."""
    return 1 / (1 + np.clip((v - d) / r, 0, 5) ** 2)


def cleared(v, d, slack, reach=5):
    """Vertices no nearer than fattening can make them: than the highest d within `reach`, or slack before their d.

    They are kept as half floats.
    """
    padded = np.pad(d, reach, constant_values=-np.inf)
    H = np.lib.stride_tricks.sliding_window_view(padded, (2 * reach + 1, 2 * reach + 1)).max((2, 3))
    limit = np.clip(np.maximum(H, d + slack), -65504, 65504).astype(np.float16)
    return np.minimum(v, limit)


def held_back(alpha, beta, v, d, k=3):
    """beta with vertices that are not far behind everything that d shows.

    L is the farthest surface. Noise, by the median s of |v - d|, may lie k s behind it, or behind d where that is
    farther. Where d is nearer than L, matches may also be k times as far behind L as d is before it.
    """
    apart = np.abs(v - d)[np.isfinite(v)]
    if not apart.size:
        return beta
    L = np.quantile(d, 0.005)
    limit = np.minimum(d, L - k * (d - L)) - k * np.median(apart)
    return np.where(minimizer(alpha, beta) < limit, -2 * alpha * limit, beta)


def aggregate_exact(
    alpha,
    beta,
    weight,
    K,
    paths,
    iterations,
    tau,
    v=None,
    r=0,
    mean=None,
    first=1,
    slack=np.inf,
    coarsest=False,
    outlined=None,
):
    """Beliefs; every iteration starts from the same parabolas, with weights from the disparities of the last one.

    tau is one value, or one for each iteration after the first; the last also serves all further ones. 0: no weights.
    With r, the parabolas also have one-sided weights; v holds the vertices of the matches. The first of several robust
    iterations has the share `first` of the penalty. At the coarsest scale vertices are held back before, by two
    iterations without these weights and with the whole penalty. `slack` is the suspicion, see `cleared`.
    With four iterations or more, the third uses the disparities of the second as `outlined` returns them.
    """
    P = K * (alpha.mean() if mean is None else mean)
    taus = np.ravel(tau)
    if coarsest and r and taus.any() and iterations > 1:
        A, B = one_pass(alpha, beta, weight, paths, P, True)
        robust = (minimizer(A, B), taus[0]) if taus[0] else ()
        beta = held_back(alpha, beta, v, minimizer(*one_pass(alpha, beta, weight, paths, P, True, *robust)))
    A, B = one_pass(alpha, beta, weight, paths, first * P if iterations > 1 and taus.any() else P, True)
    if r and np.isfinite(slack):
        v = cleared(v, minimizer(A, B), slack)
    for i in range(iterations - 1):
        tau, d = taus[min(i, len(taus) - 1)], minimizer(A, B)
        if outlined and taus.any() and i == 1 and iterations >= 4:
            d = outlined(d)
        g = one_sided(v, d, r) if r and tau else 1
        A, B = one_pass(g * alpha, g * beta, weight, paths, P, True, d if tau else None, tau)
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
    """Equation 5 of the paper: d = -B / (2 A)."""
    return np.divide(-B, 2 * A, out=np.zeros_like(A), where=A > 0)


def span(d, side):
    """The largest less the smallest value in the window around each pixel, cut at the border."""
    half = side // 2
    around = np.lib.stride_tricks.sliding_window_view(np.pad(d, half, mode="edge"), (side, side))
    return around.max(axis=(2, 3)) - around.min(axis=(2, 3))


def window_mean(values, side):
    """The mean in the window around each pixel, mirrored at the border."""
    padded = np.pad(values, side // 2, mode="symmetric")
    return np.lib.stride_tricks.sliding_window_view(padded, (side, side)).mean(axis=(2, 3))


def area_means(image, shape):
    """The image with fewer rows and columns; each pixel is the mean of the area that it covers."""
    for axis, small in enumerate(shape):
        n = image.shape[axis]
        ends, edges = np.arange(n + 1), np.linspace(0, n, small + 1)
        covered = np.minimum(ends[1:], edges[1:, None]) - np.maximum(ends[:-1], edges[:-1, None])
        weights = np.maximum(covered, 0) * small / n
        image = weights @ image if axis == 0 else image @ weights.T
    return image


def shifted_tiles(left, right, side, reach, alike):
    """What the right view leaves unexplained of the variance of every tile: at its place, shifted along x, along y."""
    height, width = left.shape
    found = []
    for y in range(0, height - side + 1, side):
        for x in range(0, width - side + 1, side):
            L = left[y : y + side, x : x + side].astype(float)

            def rest(dx, dy, x=x, y=y, L=L):
                if not (0 <= x + dx <= width - side and 0 <= y + dy <= height - side):
                    return np.inf
                R = right[y + dy : y + dy + side, x + dx : x + dx + side].astype(float)
                common = max(np.mean((L - L.mean()) * (R - R.mean())), 0)
                return max(L.var() - common**2 / (R.var() + alike), 0)

            shifts = range(-reach, reach + 1)
            found.append((rest(0, 0), min(rest(s, 0) for s in shifts), min(rest(0, s) for s in shifts)))
    return np.array(found).T


def bias(v, a, d):
    """The mean of |sum a (v - d)| / sum a around every 4th pixel; v: vertices of the matches, -inf for none."""
    a = np.where(np.isfinite(v), a, 0)[::4, ::4]
    apart = np.clip(np.where(np.isfinite(v), v - d, 0), -3, 3)[::4, ::4]
    total = window_mean(a, 5)
    return window_mean(
        np.abs(np.divide(window_mean(a * apart, 5), total, out=np.zeros_like(total), where=total > 0)), 5
    )


def expected_error(alpha, d, coarse_d, bias, exponents, lens, power, in_middle):
    """sigma^2 = (exp(constant) * product of powers)^2 + (lens * span of the picture^power)^2 (rho^4 + in_middle^2).

    It is known at every 4th pixel. rho is the distance from the middle of the picture, 1 at its corners. Powers of: the
    span of d in 17 pixels, that of the coarser scale in 41, the mean of the local curvature alpha around the pixel, the
    mean difference of the two scales, and the bias.
    """
    low, high = np.percentile(coarse_d, [2, 98])
    powers = {
        "near": span(d[::4, ::4], 5) + 0.02,
        "far": 2 * span(coarse_d[::2, ::2], 11) + 0.02,
        "texture": window_mean(alpha[::4, ::4], 5) + 1e-5,
        "scales": window_mean(np.abs(d[::4, ::4] - 2 * coarse_d[::2, ::2]), 5) + 0.01,
        "bias": bias + 0.01,
    }
    match = np.exp(exponents["constant"]) * np.prod([powers[k] ** exponents[k] for k in powers], axis=0)
    (y, x), (height, width) = np.indices(d.shape)[:, ::4, ::4], d.shape
    middle = (height - 1) / 2, (width - 1) / 2
    rho2 = ((y - middle[0]) ** 2 + (x - middle[1]) ** 2) / max(middle[0] ** 2 + middle[1] ** 2, 1)
    return np.hypot(match, lens * (2 * (high - low)) ** power * np.hypot(rho2, in_middle))


def depth_share(coarse_d, flat):
    """s = R^2 / (R^2 + (flat D)^2) at every 4th pixel.

    R is what the coarser scale's disparities span in 41 pixels, D what most of all its disparities span.
    """
    low, high = np.percentile(coarse_d, [2, 98])
    R = span(coarse_d[::2, ::2], 11)
    return R**2 / (R**2 + (flat * (high - low)) ** 2)


def relief_factor(d, relief):
    """f, by which window and penalty are multiplied: relief / median |d(x + 1) - d(x)| of the coarser scale."""
    return np.clip(relief / max(np.median(np.abs(np.diff(d, axis=1))), 1e-9), 0.27, 1)


def noise(alpha, beta, F):
    """n = F median |v(x + 1) - v(x)|: the noise of the matches at 1/F of the full size, px."""
    v = np.where(alpha > 0, minimizer(alpha, beta), np.nan)
    return F * np.nanmedian(np.abs(np.diff(v, axis=1)))


def first_share(alpha, beta, F):
    """(n / 0.06 px)^4 between 0.01 and 1: the share of the penalty that the first pass of every scale has."""
    return np.clip((noise(alpha, beta, F) / 0.06) ** 4, 0.01, 1)


def suspicion_for(alpha, beta, F):
    """0.1 px n / (0.06 px - n), 1000 px at most: how much nearer a lonely match is suspected."""
    n = noise(alpha, beta, F)
    return min(0.1 * n / (0.06 - n), 1000) if n < 0.06 else 1000


def polish_for(alpha, beta, F):
    """The step of the polish: 0.2 px n / 0.06 px, between 0.1 and 0.2 px."""
    return np.clip(0.2 * noise(alpha, beta, F) / 0.06, 0.1, 0.2)


def polish(d, step, scales=3):
    """The guided filter of d by itself in windows of 5 x 5, cut at the border; eps = step^2, a = v^2 / (v^2 + eps^2).

    Before that, what it changes in the halved map, with a third of the eps, is added.
    """
    if scales > 1:
        half = pyramid_down(d)
        d = d + upsample(polish(half, step / np.sqrt(3), scales - 1) - half, d.shape)

    def mean(values):
        h, w = values.shape
        rows = [slice(max(y - 2, 0), y + 3) for y in range(h)]
        columns = [slice(max(x - 2, 0), x + 3) for x in range(w)]
        return np.array([[values[row, column].mean() for column in columns] for row in rows])

    m = mean(d)
    v = np.maximum(mean(d**2) - m**2, 0)
    a = v**2 / (v**2 + step**4)
    return mean(a) * d + mean((1 - a) * m)


def outlines(d, guide, sigma, step=0.3, half=0.5):
    """The weighted median of 5 x 5 pixels, three apart, around the pixels where these span more than `step`.

    The weights are (1 + (I_p - I_q)^2 / (4 sigma^2))^-4 with the guide I. The interval in which the median must lie is
    halved ten times; the least pixel in it is taken. A near pixel does not become farther if near and far pixels are
    about as bright. A pixel that changes gets the median of the 3 x 3 results around it.
    """
    v, I = (pixels_around(each, STEPS) for each in (d, guide))
    weight = (1 + (I - guide) ** 2 / (4 * sigma**2)) ** -4.0
    low, high = v.min(axis=0), v.max(axis=0)
    near, between = high - low > step, (low + high) / 2
    before = v > between
    with np.errstate(invalid="ignore"):
        contrast = (I * before).sum(axis=0) / before.sum(axis=0) - (I * ~before).sum(axis=0) / (~before).sum(axis=0)
    stays = (np.abs(contrast) < 1.5 * sigma) & (d > between)
    low = low - (high - low) / 1024
    for _ in range(10):
        middle = (low + high) / 2
        is_above = (weight * (v > middle)).sum(axis=0) > half * weight.sum(axis=0)
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    median = np.where(v > low, v, np.inf).min(axis=0)
    m = np.where(near, np.where(stays, np.maximum(median, d), median), d)
    return np.where(m == d, d, np.median(pixels_around(m, [-1, 0, 1]), axis=0))


def outlines_between(d, guide, sigma, every=3):
    """The outlines of every third pixel, for a step of 0.45 px. A pixel that changes takes its 3 x 3 block along."""
    before = d[::every, ::every]
    after = outlines(before, guide[::every, ::every], sigma, 0.45)
    y, x = np.indices(d.shape) // every
    return np.where((after != before)[y, x], after[y, x], d)


def as_bytes(guide):
    """The brightness in whole numbers from 0 to 255."""
    return np.floor(np.clip(guide, 0, 255) + 0.5)


def pixels_around(values, steps):
    """The pixels at such steps in y and x from every pixel, first axis; the outermost ones repeated."""
    at = [np.clip(np.arange(n) + k, 0, n - 1) for n in values.shape for k in steps]
    rows, columns = at[: len(steps)], at[len(steps) :]
    return np.stack([values[np.ix_(row, column)] for row in rows for column in columns])


def searched(limits, factor):
    """First and last whole disparity at 1/factor of the full size: the limits, and one more so that these can win."""
    return int(np.floor(limits[0] / factor)) - 1, int(np.ceil(limits[1] / factor)) + 1


def next_range(d, limits, factor):
    """The integer disparities that cover d with a margin of two, within the limits."""
    first, last = searched(limits, factor)
    low = np.clip(int(np.round(d.min())) - 2, first, last - 2)
    high = np.clip(int(np.ceil(np.float32(d.max()))) + 2, low + 2, last)  # float32: rounding must not make 2 a 3
    return np.arange(low, high + 1)


def condition(alpha, beta, divisor, priors, threshold):
    """alpha, beta before the aggregation: divided at the border, all priors added, invalid pixels weakened.

    A prior is (A, B, factor, weight, limit). Those of factor 2 come from the coarser scale, where disparities are half
    as large. Its share is weight / (1 + A / limit), or weight if the limit is 0.
    """
    alpha, beta = alpha / divisor, beta / divisor
    for A, B, factor, weight, limit in priors:
        A, B = A.astype(float), B.astype(float)
        if factor == 2:
            A, B = upsample(A / 4, alpha.shape), upsample(B / 2, alpha.shape)
        share = weight / (1 + A / limit) if limit else weight
        alpha, beta = alpha + share * A, beta + share * B
    return invalidate(alpha, beta, threshold)


def stroke(points, radius, shape):
    """True where a pixel is within the radius of the line through the points (x, y)."""
    y, x = np.indices(shape)
    inside = np.zeros(shape, bool)
    for (x0, y0), (x1, y1) in zip(points, points[1:] or points, strict=False):
        length = (x1 - x0) ** 2 + (y1 - y0) ** 2
        t = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length, 0, 1) if length else 0
        inside |= np.hypot(x - x0 - t * (x1 - x0), y - y0 - t * (y1 - y0)) <= radius
    return inside


def forgotten(alpha, beta, told):
    """The local term where a user told "unknown" (minus infinity): that of the surroundings, with hardly a weight."""
    unknown, mean = np.isneginf(told), alpha[np.isnan(told)].mean()
    alpha, beta = (np.where(unknown, 0, each) for each in (alpha, beta))
    w = np.where(unknown, 1e-6 * mean, 0)
    return alpha + w, beta - 2 * w * around(alpha, beta)


def hinted(alpha, beta, told, weight=50):
    """The evidence where a user told a disparity: a parabola around it is added.

    Its curvature is 50 times that of the evidence, or of the mean evidence if this is more.
    """
    near, mean = np.isfinite(told), alpha[np.isnan(told)].mean()
    w = np.where(near, weight * np.maximum(alpha, mean), 0)
    return alpha + w, beta - 2 * w * np.where(near, told, 0)


def around(A, B):
    """The disparity of every pixel; where it has no curvature, that of the coarser scale."""
    if max(A.shape) == 1:
        return minimizer(A, B)
    coarse = around(pyramid_down(A), pyramid_down(B) / 2)
    return np.where(A > 0, minimizer(A, B), 2 * upsample(coarse, A.shape))


def one_scale(left, right, guide, disparities, prior, iterations, params, told, share=None):
    """A, B of one scale; the prior is a pair of coefficient maps of the same size, or None; share: of the edges."""
    omega = params["window"]
    cost = cost_volume(left, right, disparities, omega)
    alpha, beta = local_parabolas(
        cost,
        disparities,
        params["subpixel"],
        params["bias"],
        params["ratio_threshold"],
        (left, right),
        params["encc_window"],
        params["noise_floor"],
    )
    alpha, beta = forgotten(alpha, beta, told)
    v = np.where(alpha > 0, minimizer(alpha, beta), -np.inf)
    v = np.where(np.isfinite(told), told, v)
    divisor = border_divisor(left.shape[1], omega, disparities, params["border"])
    priors = [] if prior is None else [(*prior, 1, params["prior_weight"], params["prior_limit"])]
    alpha, beta = condition(alpha, beta, divisor, priors, params["invalid_threshold"])
    alpha, beta = hinted(alpha, beta, told)
    mean = alpha[np.isnan(told)].mean()  # hints do not change the smoothing elsewhere
    strength = edge_weight(guide, params["edge_sigma"], share), params["penalty"], params["paths"], iterations
    if params["messages"] == "exact":
        first = 1 if params["first_penalty"] == "auto" else params["first_penalty"]  # the number of scales is given
        slack = np.inf if params["suspicion"] in ("auto", 1000) else params["suspicion"]
        robust = params["robust_tau"], v, params["fattening"], mean, first, slack
        sigma, kept = params["outlines"], np.isfinite(told)  # outlines could take a hint for fattening
        outlined = sigma and (lambda d: np.where(kept, d, outlines_between(d, as_bytes(guide), sigma)))
        return aggregate_exact(alpha, beta, *strength, *robust, coarsest=prior is None, outlined=outlined)
    return aggregate(alpha, beta, *strength, params["normalize_iterations"], mean)


def disparity(pyramid, params, told=None):
    """The whole method, coarse to fine: A / F^2, B / F of a scale are the prior of the next one (F = 2).

    `pyramid` has the views and the guide of every scale, fine to coarse. `told` is what a user told about every pixel,
    see `forgotten` and `hinted`. A coarser scale has every second pixel.
    """
    told = np.full(pyramid[0][0].shape, np.nan) if told is None else told
    scales = len(params["iterations"])
    first, last = searched(params["range"], 2 ** (scales - 1))
    edges = params["flat"] and params["messages"] == "exact" and params["noise_floor"]
    prior, disparities, A, B = None, np.arange(first, last + 1), None, None
    for scale, (level, iterations) in enumerate(zip(reversed(pyramid), params["iterations"], strict=True)):
        if prior is not None:
            prior = upsample(A / 4, level[0].shape), upsample(B / 2, level[0].shape)
            disparities = next_range(minimizer(*prior), params["range"], 2 ** (scales - 1 - scale))
            f = relief_factor(minimizer(A, B), params["relief"]) if params["relief"] else 1
            share = depth_share(minimizer(A, B), params["flat"]) if edges else None
        else:
            f, share = 1, None
        fitted = params | {"window": f * params["window"], "penalty": f * params["penalty"]}
        F = 2 ** (scales - 1 - scale)
        here = told[::F, ::F] / F
        if F > 2:  # only the two finest scales know the told disparities
            here = np.where(np.isfinite(here), np.nan, here)
        A, B = one_scale(*level, disparities, prior, iterations, fitted, here, share)
        prior = A, B
    d = np.clip(minimizer(A, B), *params["range"])
    if params["outlines"]:
        d = outlines(d, as_bytes(pyramid[0][2]), params["outlines"])
    step = 0.2 if params["polish"] == "auto" else params["polish"]  # the number of scales is given
    return np.clip(polish(d, step) if step else d, *params["range"]), A
