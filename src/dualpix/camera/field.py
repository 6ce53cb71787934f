"""One lens field for many captures: gain and offset by robust least squares, held back by a prior.

``d(x, y) = gain(x, y) u(x, y) + offset(x, y)``. The true disparity u of a capture is an unknown combination of known
maps, its shapes: of 1 and the inverse depth for a scene, of 1, x and y for a plane, which may be tilted.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from .lens import TERMS, Field, evaluate
from .lens_file import FAINTEST
from .sheet import Values

MARGIN = 0.05  # share of width and height left out at each border of a map
PASSES = 15  # passes with weights that damp outliers, then as many with weights that drop them
NOISE = 0.01  # px: no capture is trusted to be more precise than this
# The prior: how much gain and offset vary over the picture, as RMS. The terms of order 4 vary less.
GAIN = 0.1  # of the mean gain
OFFSET = 0.05  # of the span of the disparities
HIGHER = 0.3  # order 4 relative to order 2
INDEPENDENT = 30  # errors of neighbouring pixels are alike: a capture counts as this many measurements

# Gain and offset are sums of even Legendre polynomials, each with mean 0 and RMS 1 over the picture. Rows are
# P2(x), P2(y), P4(x), P2(x) P2(y) and P4(y), columns are TERMS.
_P2, _P4 = 5**0.5 / 2 * np.array([-1, 3, 0]), 3 / 8 * np.array([3, -30, 35])  # by powers of x^2
_ONE = np.array([1, 0, 0])
MODES: Values = np.array(
    [
        [along_x[i // 2] * along_y[j // 2] for i, j in TERMS.values()]
        for along_x, along_y in ((_P2, _ONE), (_ONE, _P2), (_P4, _ONE), (_P2, _P2), (_ONE, _P4))
    ]
)
SIZES = np.array([1, 1, HIGHER, HIGHER, HIGHER])  # of the modes, in the prior


class Capture(NamedTuple):
    """Pixels of the disparity map of one capture, and what is known of its depth there.

    Attributes
    ----------
    name : str
        What errors call the capture.
    x, y : (n,) arrays
        Position, -1 to 1 across the picture.
    d, confidence : (n,) arrays
        Disparity in px, and how far to trust it, above 0.
    shapes : (k, n) array
        The true disparity is a combination of its rows.
    """

    name: str
    x: Values
    y: Values
    d: Values
    confidence: Values
    shapes: Values

    def terms(self) -> Values:
        """The TERMS at the pixels, (6, n)."""
        return np.stack([self.x**i * self.y**j for i, j in TERMS.values()])

    def corrected(self, field: Field) -> Values:
        """The disparities without the lens field."""
        terms = self.terms()
        return (self.d - field.offset @ terms) / (field.gain @ terms)

    def error(self, field: Field | None = None) -> float:
        """Mean distance of the disparities, as they are or corrected, to the nearest combination of the shapes, px."""
        d = self.d if field is None else self.corrected(field)
        return float(np.average(robust_fit(self.shapes, d, self.confidence).residual, weights=self.confidence))


# ---- robust fit ------------------------------------------------------------------------------------------


class RobustFit(NamedTuple):
    """Coefficients, absolute residuals, the scale of the residuals (median, as an STD), and the last weights."""

    p: Values
    residual: Values
    scale: float
    weight: Values


def robust_fit(X: Values, d: Values, confidence: Values) -> RobustFit:
    """Iteratively reweighted least squares of ``d = p X``."""
    weight = confidence
    for n in range(2 * PASSES):
        p = solve(weight * X @ X.T, weight * X @ d)
        r = np.abs(d - p @ X)
        s = scale(r)
        weight = weights(r, s, confidence, n)
    return RobustFit(p, r, s, weight)


def scale(r: Values) -> float:
    """The scale of absolute residuals: their median, as an STD."""
    return max(1.4826 * float(np.median(r)), 1e-6)


def weights(r: Values, s: float, confidence: Values, n: int) -> Values:
    """Weights after pass n, for absolute residuals r of scale s.

    At first ``1 / max(r, s)``, which needs no good start, then ``1 / (1 + r^2 / 4 s^2)^2``, which ignores outliers.
    """
    return confidence / np.maximum(r, s) if n < PASSES else confidence / (1 + (r / (2 * s)) ** 2) ** 2


def solve(H: Values, b: Values) -> Values:
    """The least-squares solution of ``H p = b``, also if H is singular."""
    return np.asarray(np.linalg.lstsq(H, b, rcond=None)[0])


# ---- the shared field ------------------------------------------------------------------------------------


def shared_field(captures: Sequence[Capture]) -> Field:
    """The gain, with mean 1, and the offset, with mean 0 px, that explain all captures best.

    Gauss-Newton steps on ``d = (1 + g E) (p_k S_k) + o E``, with modes E, shapes S_k and residuals weighted as in
    `robust_fit`. Each capture counts INDEPENDENT times over its own noise. The prior pulls g and o to 0, so that the
    field stays small where the captures say little about it.
    """
    span = np.subtract(*np.percentile(np.concatenate([each.d for each in captures]), (95, 5)))
    prior = np.concatenate([GAIN * SIZES, OFFSET * max(float(span), NOISE) * SIZES])
    parts = [_Part(each) for each in captures]
    g, o = np.zeros(len(MODES)), np.zeros(len(MODES))
    for n in range(2 * PASSES):
        N = np.sum([part.equations(g, o, n) for part in parts], axis=0)
        g, o = np.split(np.linalg.solve(N[:-1, :-1] + np.diag(prior**-2), N[:-1, -1]), 2)
        for part in parts:
            part.adapt(g, o)
    gain, offset = g @ MODES, o @ MODES
    gain[0] += 1
    return checked_field(gain, offset, [each.name for each in captures])


class _Part:
    """A capture while the field is fitted: the coefficients p of its shapes, and the weights of its pixels."""

    def __init__(self, capture: Capture) -> None:
        self.d, self.confidence, self.S = capture.d, capture.confidence, capture.shapes
        self.E = MODES @ capture.terms()
        start = robust_fit(self.S, self.d, self.confidence)
        self.p, self.weight = start.p, start.weight

    def equations(self, g: Values, o: Values, n: int) -> Values:
        """Normal equations of g and o, the right side as the last column, without what p can explain."""
        u, S = self.p @ self.S, (1 + g @ self.E) * self.S
        r = np.abs(self.d - u - g @ self.E * u - o @ self.E)
        s = max(scale(r), NOISE)
        self.weight = w = weights(r, s, self.confidence, n)
        A = np.concatenate([self.E * u, self.E, [self.d - u]])
        A -= solve(w * S @ S.T, w * S @ A.T).T @ S
        N: Values = w * A @ A.T * (INDEPENDENT / (w.sum() * s**2))
        return N

    def adapt(self, g: Values, o: Values) -> None:
        """The p that fits this field best."""
        S = (1 + g @ self.E) * self.S
        self.p = solve(self.weight * S @ S.T, self.weight * S @ (self.d - o @ self.E))


def checked_field(gain: Values, offset: Values, names: Sequence[str]) -> Field:
    """The field of these coefficients; a gain that no lens has is refused."""
    lowest = float(evaluate(gain.tolist(), (64, 64)).min())
    if lowest < FAINTEST:
        raise InputError(
            f"{', '.join(names)}: the gain would fall to {lowest:.2f} of its mean, which no lens does: "
            "let planes fill the picture, square to the camera, and check the depth of scenes"
        )
    return Field(tuple(gain.tolist()), tuple(offset.tolist()))
