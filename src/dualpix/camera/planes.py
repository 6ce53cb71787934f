"""Captures of textured planes: their smooth even part, the lens field of planes alone, and how flat they become."""

import math
from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from ..types import Map
from .field import MARGIN, Capture, checked_field, robust_fit
from .lens import TERMS, Calibration, Field, Plane, centres
from .metric import Metric
from .ranging import Point, from_points
from .sheet import Values

MEANS = np.array([1 / ((i + 1) * (j + 1)) for i, j in TERMS.values()])  # mean of each term over the picture

SAMPLES = 50_000  # pixels of a plane's map that the fit uses
LEAST = 0.2  # px: matching errors hide the gain of a smaller disparity, or difference between planes
ROUGH = 0.05, 0.1  # px and share of the disparity; a map rougher than their sum is not a plane


def lens_field(maps: Sequence[tuple[Map, Map]], names: Sequence[str]) -> Field:
    """Gain and offset from disparity maps of planes, each with its confidence.

    A plane's map is the polynomial ``P_k = gain d_k + offset``, with d_k its mean over the picture. Each coefficient
    is a line in d_k. One plane gives only the gain, ``P_1 / d_1``.
    """
    P = np.stack([fit_plane(d, confidence, name) for (d, confidence), name in zip(maps, names, strict=True)])
    d = P @ MEANS
    if len(P) == 1:
        if abs(d[0]) < LEAST:
            raise InputError(
                f"{names[0]}: the plane is in focus, its disparity is {d[0]:.2f} px: take one with at least {LEAST} px"
            )
        gain, offset = P[0] / d[0], np.zeros(len(TERMS))
    else:
        if np.ptp(d) < LEAST:
            raise InputError(
                f"{names[0]} and {names[1]}: the disparities of the planes differ by {np.ptp(d):.2f} px: "
                f"take planes that differ by at least {LEAST} px, or give only one"
            )
        offset, gain = np.polynomial.polynomial.polyfit(d, P, 1)
    return checked_field(gain, offset, names)


def fit_plane(d: Map, confidence: Map, name: str) -> Values:
    """Coefficients of the smooth even part of a plane's map, robust to outliers.

    The fit is ``d = P(x, y) + t_x x + t_y y``. The tilt t belongs to the plane, not to the lens, and is dropped.
    """
    plane = plane_capture(d, confidence, name)
    p, _, s, _ = robust_fit(np.concatenate([plane.terms(), plane.shapes[1:]]), plane.d, plane.confidence)
    mean = float(p[: len(TERMS)] @ MEANS)
    if s > ROUGH[0] + ROUGH[1] * abs(mean):
        raise InputError(
            f"{name}: is not a plane, its disparity of {mean:.2f} px varies by {s:.2f} px from place to place: "
            "take a flat textured surface that fills the picture"
        )
    return np.asarray(p[: len(TERMS)])


def plane_capture(d: Map, confidence: Map, name: str) -> Capture:
    """A plane's map as a capture. Its shapes are 1, x and y: the inverse depth of a tilted plane is linear in x and y.

    Raises
    ------
    InputError
        If a part of the picture has no texture.
    """
    rows, columns = (slice(int(MARGIN * n), n - int(MARGIN * n)) for n in d.shape)
    step = max(1, math.isqrt(d.size // SAMPLES))
    inner = (slice(rows.start, rows.stop, step), slice(columns.start, columns.stop, step))
    D = d[inner].astype(np.float64)
    c = np.where(np.isfinite(D), confidence[inner], 0).astype(np.float64)
    thirds = [part.mean() for band in np.array_split(c, 3) for part in np.array_split(band, 3, axis=1)]
    if min(thirds) <= 0.1 * max(thirds):
        raise InputError(
            f"{name}: the plane shows too little texture in a part of the picture: let a printed texture fill it"
        )
    y, x = np.meshgrid(*(centres(n)[part] for n, part in zip(d.shape, inner, strict=True)), indexing="ij")
    seen = c > 0
    x, y = x[seen], y[seen]
    return Capture(name, x, y, D[seen], c[seen], np.stack([np.ones(len(x)), x, y]))


def checked_planes(
    made: Calibration, maps: Sequence[Map], names: Sequence[str], distances: Sequence[float] = ()
) -> tuple[Plane, ...]:
    """The spread of each plane before and after the correction; a plane that is not flat after it is refused."""
    known: Sequence[float | None] = distances or [None] * len(maps)
    planes = tuple(_plane(d, made.corrected(d), distance) for d, distance in zip(maps, known, strict=True))
    for name, plane in zip(names, planes, strict=True):
        if plane.corrected > 2 * (ROUGH[0] + ROUGH[1] * abs(plane.disparity)):
            raise InputError(
                f"{name}: is not a plane, its corrected disparity of {plane.disparity:.2f} px still varies by "
                f"{plane.corrected:.2f} px: take a flat textured surface that fills the picture"
            )
    return planes


def plane_metric(made: Calibration, maps: Sequence[Map], names: Sequence[str], focal_length: float | None) -> Metric:
    """From disparity to metres, by planes of known distance; the focal length is in mm."""
    points = [
        Point(f"the plane {name}", plane.distance or 0.0, float(np.median(_inner(made.corrected(d)))), plane.corrected)
        for d, name, plane in zip(maps, names, made.planes, strict=True)
    ]
    return from_points(points, None, None if focal_length is None else focal_length / 1000, "planes")


def _plane(d: Map, corrected: Map, distance: float | None) -> Plane:
    inner = _inner(corrected)
    return Plane(float(inner.mean()), float(_inner(d).std()), float(inner.std()), distance)


def _inner(d: Map) -> Map:
    rows, columns = (slice(int(MARGIN * n), n - int(MARGIN * n)) for n in d.shape)
    return d[rows, columns]
