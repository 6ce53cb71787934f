"""The temporal prior in plain NumPy, the oracle of `method/motion.py` and `method/temporal.py`.

Letters: p is a pixel of this frame, q = p + flow(p) its place in the other one. A, B are the belief of the other frame.
"""

import numpy as np

from reference import minimizer, upsample, window_mean


def sample(image, x, y):
    """The image at (x, y), linear between pixels; outside, the nearest pixel of the border."""
    h, w = image.shape[:2]
    x, y = np.clip(x, 0, w - 1), np.clip(y, 0, h - 1)
    x0, y0 = np.minimum(np.floor(x), max(w - 2, 0)).astype(int), np.minimum(np.floor(y), max(h - 2, 0)).astype(int)
    x1, y1 = np.minimum(x0 + 1, w - 1), np.minimum(y0 + 1, h - 1)
    fx, fy = (each.reshape(each.shape + (1,) * (image.ndim - 2)) for each in (x - x0, y - y0))
    top = (1 - fx) * image[y0, x0] + fx * image[y0, x1]
    return (1 - fy) * top + fy * ((1 - fx) * image[y1, x0] + fx * image[y1, x1])


def places(flow):
    """q of every p: x and y."""
    y, x = np.indices(flow.shape[:2])
    return x + flow[..., 0], y + flow[..., 1]


def similarity(flow, back, other, now, sigma=12, r=1):
    """exp(-(I(p) - I'(q))^2 / (2 sigma^2)) exp(-|flow(p) + back(q)|^2 / (2 r^2)), 0 outside; the least of 3x3 px."""
    x, y = places(flow)
    s = np.exp(-((now - sample(other, x, y)) ** 2) / (2 * sigma**2))
    s *= np.exp(-((flow + sample(back, x, y)) ** 2).sum(-1) / (2 * r**2))
    h, w = now.shape
    s[(x < 0) | (x > w - 1) | (y < 0) | (y > h - 1)] = 0
    padded = np.pad(s, 1, constant_values=np.inf)
    return np.min([padded[i : i + h, j : j + w] for i in range(3) for j in range(3)], axis=0)


def enlarge(small, shape, halvings):
    """A map at full size, pixel i of the small one at pixel 2 i, as often as the picture was halved."""
    shapes = [shape]
    for _ in range(halvings):
        shapes.append(tuple((n + 1) // 2 for n in shapes[-1]))
    for larger in reversed(shapes[:-1]):
        small = upsample(small, larger)
    return small


def message(A, B, P):
    """The lower envelope of A d'^2 + B d' + P (d - d')^2 over d', without its constant."""
    return A * P / (A + P), B * P / (A + P)


def temporal_prior(A, B, flow, s, halvings, penalty, coarse, coarse_before=None, step=0.5):
    """A, B of the prior: moved by the flow, shifted by the median change of the coarser scale, sent over a step.

    Where the coarser scale has changed in another way than by the median, the prior is weak.

    `coarse` are the disparities of the coarser scale of this frame, `coarse_before` those of the other frame. The
    penalty is w_t times the mean curvature.
    """
    full = 2**halvings * np.stack([enlarge(flow[..., k], A.shape, halvings) for k in (0, 1)], axis=2)
    s = enlarge(s, A.shape, halvings)
    x, y = places(full)
    A, B = sample(A, x, y), sample(B, x, y)
    if coarse_before is not None:
        # at every fourth pixel, which is every second of the coarser scale
        before = sample(coarse_before[::2, ::2], x[::4, ::4] / 4, y[::4, ::4] / 4)
        found = s[::4, ::4] > 0.5
        change = 2 * (coarse[::2, ::2] - before)
        nearer = np.median(change[found])
        B = B - 2 * A * nearer
        c = window_mean(found * (change - nearer), 9) / np.maximum(window_mean(found.astype(float), 9), 1e-3)
        same = np.exp(-(c**2) / (2 * 0.04**2))
        s = s * upsample(upsample(same, coarse.shape), A.shape)
    s = s * np.exp(-((minimizer(A, B) - 2 * upsample(coarse, A.shape)) ** 2) / (2 * step**2))
    return message(A, B, penalty * s)


def chain(alpha, beta, P):
    """A and B of every frame of a clip at rest, all frames known: the exact minimum over all other frames.

    Energy: the sum of alpha_t d_t^2 + beta_t d_t over the frames, and of P (d_t - d_t+1)^2 between them. alpha and beta
    have the frames first. The matrix of the energy is inverted for every pixel.
    """
    n = len(alpha)
    steps = P * (np.diag(np.r_[np.ones(n - 1), 0]) + np.diag(np.r_[0, np.ones(n - 1)]))
    steps -= P * (np.eye(n, k=1) + np.eye(n, k=-1))
    A, B = np.empty(alpha.shape), np.empty(alpha.shape)
    for at in np.ndindex(alpha.shape[1:]):
        inverse = np.linalg.inv(np.diag(alpha[(slice(None), *at)]) + steps)
        d = -0.5 * inverse @ beta[(slice(None), *at)]
        A[(slice(None), *at)] = 1 / np.diag(inverse)
        B[(slice(None), *at)] = -2 * d / np.diag(inverse)
    return A, B
