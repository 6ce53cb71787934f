"""Find the two numbers of `Metric`: from known distances, from the focus distance, or from EXIF."""

import math
import reprlib
from collections.abc import Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np

from ..errors import InputError, ParameterError
from ..files import given_path
from ..io.shot import Shot, read_shot
from ..types import Map, StrPath
from .field import robust_fit, scale
from .lens import Calibration
from .lens_file import read_calibration
from .metric import Known, Metric

# Distance between the centres of the half pupils, as a share of the aperture. Half discs have 4 / (3 pi) = 0.42, the
# kernels measured on a Pixel 4 0.21, and disparities on a Canon R6 II are as if it were 0.08. See docs/depth.md.
BASELINE = 0.2
BASELINE_ERROR = 1.0  # standard error of 1 / BASELINE, as a share

LEAST = 0.1  # px: known points whose disparities differ less tell nothing
LEAST_SHARE, LEAST_DIOPTERS = 0.001, 1e-6  # known distances that differ less are the same
NEAREST = 0.001  # m: a shorter distance is no distance in metres
PASSES, SETTLED = 100, 1e-9  # the lens stops moving when it moves by less, m
POINT_ERROR = 0.1  # px: standard error of a disparity if nothing better is known
WINDOW = 5  # px: disparities within this distance of a known point count for it


NUMBERS = (
    "metres need two numbers of the camera: give a calibration with distances, two known points, a focus distance and "
    "one known point, or EXIF data"
)


class Point(NamedTuple):
    """A known distance: what errors call it, the distance in m, its disparity in px and the error of that in px."""

    name: str
    distance: float
    d: float
    error: float = POINT_ERROR


def metric_of(
    d: Map,
    *,
    calibration: Calibration | StrPath | None = None,
    focus_distance: float | None = None,
    known: Sequence[Known] = (),
    exif: StrPath | None = None,
    focal_length: float | None = None,
    sigma: Map | None = None,
) -> Metric:
    """The two numbers for a disparity map, by the way that was given; see `Result.depth` for the parameters.

    Raises
    ------
    ParameterError
        If too little, too much or an impossible distance was given.
    InputError
        If a file cannot be used, or the known points contradict the map.
    """
    known = known_points(known)
    ways = {"calibration": calibration is not None, "known points": bool(known), "EXIF": exif is not None}
    chosen = [name for name, given in ways.items() if given]
    if len(chosen) > 1:
        raise ParameterError(f"{' and '.join(chosen)} both say how far things are: give only one of them")
    if not chosen:
        raise ParameterError(NUMBERS if focus_distance is None else f"the focus distance is one number, but {NUMBERS}")
    f = None if focal_length is None else positive("the focal length", focal_length) / 1000
    if focus_distance is not None:
        positive("the focus distance", focus_distance)
    if calibration is not None:
        if focal_length is not None:
            raise ParameterError("the calibration has its own focal length: leave focal-length out")
        return _calibrated(calibration, d.shape, focus_distance)
    if exif is not None:
        return from_exif(read_shot(given_path(exif, "exif")), d.shape, focus_distance, focal_length, str(exif))
    points = [point_at(d, *each, sigma) for each in known]
    return from_points(points, focus_distance, f, source="known points")


def positive(name: str, value: float) -> float:
    """Refuse a distance or length that is not above 0; infinity is one."""
    if not value > 0:
        raise ParameterError(f"{name} is {value:g}: give a number above 0")
    return value


# ---- known points ----------------------------------------------------------------------------------------


def known_points(known: Sequence[Known]) -> list[Known]:
    """Refuse what is no list of three numbers each."""
    try:
        points = [(x, y, distance) for x, y, distance in known]
        if all(isinstance(number, Real) for point in points for number in point):
            return points
    except (TypeError, ValueError):
        pass
    shown = " ".join(reprlib.repr(known).split())
    raise ParameterError(f"known must be points (x, y, metres), such as [(320, 200, 1.5)], not {shown}")


def point_at(d: Map, x: float, y: float, distance: float, sigma: Map | None = None) -> Point:
    """The disparity around a pixel of the map: the median of its window."""
    name, (height, width) = f"the known point {x:g},{y:g}", d.shape
    if not (0 <= x < width and 0 <= y < height):
        raise ParameterError(f"{name} is outside the map of {width}x{height} pixels: count from its top left corner")
    positive(f"the distance of {name}", distance)
    row, column = int(y), int(x)
    window = (slice(max(row - WINDOW, 0), row + WINDOW + 1), slice(max(column - WINDOW, 0), column + WINDOW + 1))
    found = d[window][np.isfinite(d[window])]
    if not found.size:
        raise InputError(f"{name} has no disparity, the map is NaN there: choose another point")
    error = POINT_ERROR if sigma is None else float(np.nanmedian(sigma[window]))
    return Point(name, distance, float(np.median(found)), error if math.isfinite(error) else POINT_ERROR)


def from_points(
    points: Sequence[Point], focus_distance: float | None, focal_length: float | None, source: str
) -> Metric:
    """Fit ``d = a (q - 1/z_focus)``, with ``q = 1/z``, to known distances; with the focus given, only a is fitted.

    Three or more points are fitted robustly. Distances are from the sensor if the focal length (m) is known, else from
    the lens.
    """
    _check(points, focus_distance)
    Z, d = (np.array([getattr(point, name) for point in points], np.float64) for name in ("distance", "d"))
    v, q_focus = focal_length or 0.0, 0.0
    if focus_distance is not None:
        q_focus, v = thin_lens(focus_distance, focal_length)
    moving = bool(focal_length) and focus_distance is None  # v depends on the focus that is found
    for _ in range(PASSES if moving else 1):
        q = _from_lens(Z, v, points)
        X = np.stack([q, np.ones_like(q)]) if focus_distance is None else (q - q_focus)[None]
        p, spread = _line(X, d, float(np.mean([point.error for point in points])))
        if p[0] <= 0:
            raise InputError(_wrong_order(points))
        if focus_distance is None:
            q_focus = -p[1] / p[0]
        if moving:
            v, before = _extension(q_focus, focal_length or 0.0), v
            if abs(v - before) < SETTLED:
                break
    else:
        if moving:
            raise ParameterError(_too_near(focal_length or 0.0))
    a = float(p[0])
    if focus_distance is not None:
        a_error = spread / math.sqrt(float((X**2).sum()))
        return Metric(q_focus, a, v, q_focus, 0.0, a_error / a, source)
    # The errors of a line: smallest at the mean of the points, growing with the distance to it.
    pivot = float(q.mean())
    a_error, pivot_error = spread / math.sqrt(float(((q - pivot) ** 2).sum())), spread / math.sqrt(len(q))
    return Metric(float(q_focus), a, float(v), pivot, pivot_error / a, a_error / a, source)


def thin_lens(distance: float, focal_length: float | None) -> tuple[float, float]:
    """1/z_focus (1/m) from the lens, and the distance v from lens to sensor (m), of a focus distance from the sensor.

    z and v are the roots of ``t^2 - Z t + f Z = 0``, because ``z + v = Z`` and ``1/z + 1/v = 1/f``. Without focal
    length the distance is from the lens.
    """
    if not focal_length:
        return 1 / distance, 0.0
    if math.isinf(distance):
        return 0.0, focal_length
    root = distance**2 - 4 * focal_length * distance
    if root < 0:
        raise ParameterError(
            f"a lens of {1000 * focal_length:g} mm cannot focus at {distance:g} m from the sensor, only beyond "
            f"{4 * focal_length:g} m: check both"
        )
    z = (distance + math.sqrt(root)) / 2
    return 1 / z, distance - z


def _extension(q_focus: float, f: float) -> float:
    """The distance v from lens to sensor (m), ``v = f / (1 - f / z_focus)``. No lens is focused nearer than 2 f."""
    if f * q_focus > 0.5:
        raise ParameterError(_too_near(f))
    return f / (1 - f * q_focus)


def _too_near(f: float) -> str:
    return (
        f"the known distances put the focus nearer than {4 * f:g} m from the sensor, which a lens of {1000 * f:g} mm "
        "cannot do: check them and the focal length, or leave the focal length out"
    )


def _check(points: Sequence[Point], focus_distance: float | None) -> None:
    for point in points:
        if positive(f"the distance of {point.name}", point.distance) < NEAREST:
            raise ParameterError(f"the distance of {point.name} is {point.distance:g} m, too near: give metres")
    distances = [point.distance for point in points]
    if focus_distance is None:
        if len(points) < 2:
            raise ParameterError("one known distance is not enough: give another one, or the distance that is in focus")
        if _same(distances):
            raise ParameterError(
                f"all known distances are about {points[0].distance:g} m: give two that differ, one nearer and one "
                "farther"
            )
        if np.ptp([point.d for point in points]) < LEAST:
            raise InputError(
                f"the disparities of {points[0].name} and the others differ by less than {LEAST} px, too little to "
                "tell distances: choose points that differ more in depth"
            )
    elif _same([*distances, focus_distance]):
        raise ParameterError(
            f"the known distance is that of the focus, {focus_distance:g} m: give one that is nearer or farther"
        )
    elif max(abs(point.d) for point in points) < LEAST:
        raise InputError(
            f"{points[0].name} has almost no disparity, it is in focus: choose one that is nearer or farther"
        )


def _same(distances: Sequence[float]) -> bool:
    """Whether all distances are about the same."""
    q = 1 / np.array(distances, np.float64)
    return bool(np.ptp(q) < max(LEAST_SHARE * q.max(), LEAST_DIOPTERS))


def _wrong_order(points: Sequence[Point]) -> str:
    shown = ", ".join(f"{point.name} at {point.distance:g} m has {point.d:.2f} px" for point in points[:3])
    return (
        f"{shown}, but nearer things must have larger disparities: check the distances, and whether left and right are "
        "swapped"
    )


def _from_lens(Z: np.ndarray, v: float, points: Sequence[Point]) -> np.ndarray:
    z = Z - v
    if (z <= 0).any():
        nearest = points[int(np.argmin(Z))]
        raise ParameterError(
            f"the distance of {nearest.name}, {nearest.distance:g} m, is shorter than the lens is long: give distances "
            "from the sensor, or leave the focal length out"
        )
    return np.asarray(1 / z)


def _line(X: np.ndarray, d: np.ndarray, error: float) -> tuple[np.ndarray, float]:
    """Coefficients p of ``d = p X``, and the standard error of d. Robust if there are more points than needed."""
    if d.size > len(X):
        fit = robust_fit(X, d, np.ones_like(d))
        return fit.p, max(scale(fit.residual), error)
    return np.linalg.solve(X @ X.T, X @ d), error


# ---- files -----------------------------------------------------------------------------------------------


def _calibrated(calibration: Calibration | StrPath, shape: tuple[int, ...], focus_distance: float | None) -> Metric:
    """The numbers in a calibration. Another focus distance changes z_focus, and a by the extension of the lens."""
    if not isinstance(calibration, Calibration):
        calibration = read_calibration(given_path(calibration, "calibration"))
    lens = calibration
    metric = lens.metric
    if metric is None:
        raise InputError(f"{lens.source}: has no distances: calibrate with two or more planes, each with its distance")
    if shape != (lens.width, lens.height):  # A map that was turned upright is as good.
        lens.check(shape, "the map")
    if focus_distance is None:
        return metric
    v = metric.lens_to_sensor
    f = v / (1 + v * metric.inverse_focus)  # 1/f = 1/v + 1/z_focus
    q, new_v = thin_lens(focus_distance, f)
    a = metric.a * (new_v / v if v else 1)  # a is proportional to v
    return Metric(q, a, new_v, q, 0.0, metric.a_error, metric.source)


def from_exif(
    shot: Shot, shape: tuple[int, ...], focus_distance: float | None, focal_length: float | None, name: str
) -> Metric:
    """Approximate numbers from the data of the lens: ``a = k (f / N) v / p``.

    f / N is the diameter of the aperture, p the pitch of the pixels of the map, and k the BASELINE. Distances are from
    the sensor.
    """
    if shot == Shot():
        raise InputError(
            f"{name}: has no EXIF data, or is a HEIC file, whose data is not read: give the JPEG or raw file"
        )
    f, N = focal_length or shot.focal_length, shot.aperture
    distance = focus_distance if focus_distance is not None else shot.focus_distance
    side = shot.sensor_side(shape, f)
    if not (f and N and distance and side):
        needed = {"focal length": f, "aperture": N, "focus distance": distance, "size of the sensor": side}
        lacking = [what for what, value in needed.items() if not value]
        advice = "give the focus distance" if lacking == ["focus distance"] else "give known points instead"
        raise InputError(f"{name}: its EXIF data has no {', no '.join(lacking)}: {advice}")
    f, p = f / 1000, side / 1000 / max(shape)
    q, v = thin_lens(distance, f)
    # a = k (f / N) v / p
    a = BASELINE * f / N * v / p
    return Metric(q, a, v, q, 0.0, BASELINE_ERROR, "EXIF", approximate=True)
