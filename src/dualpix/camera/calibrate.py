"""Calibrate a camera and lens from pictures of a white sheet and of textured planes."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..io import read_pair
from ..method.api import Input, check_pair, method_for
from ..method.pipeline import disparity
from ..params import DEFAULT_PRESET, Params, resolve
from ..run import Progress, Run, part_of, thread_count
from ..types import Map, Pair, same_size
from .lens import TERMS, Calibration, Field, Plane, centres, evaluate
from .lens_file import FAINTEST
from .sheet import Values, white_sheets

TILT = ((1, 0), (0, 1))  # the terms that a tilted plane adds: inverse depth is linear in x and y
MEANS = np.array([1 / ((i + 1) * (j + 1)) for i, j in TERMS.values()])  # mean of each term over the picture

MARGIN = 0.05  # share of width and height left out at each border of a plane's map
SAMPLES = 50_000  # pixels of a plane's map that the fit uses
PASSES = 15  # passes with weights that damp outliers, then as many with weights that drop them
LEAST = 0.2  # px: matching errors hide the gain of a smaller disparity, or difference between planes
ROUGH = 0.05, 0.1  # px and share of the disparity; a map rougher than their sum is not a plane


def calibrate(
    white: Sequence[tuple[Input, Input]] = (),
    planes: Sequence[tuple[Input, Input]] = (),
    *,
    camera: str | None = None,
    black: float = 0.0,
    axis: str | None = None,
    preset: str | Params = DEFAULT_PRESET,
    threads: int | None = None,
    progress: Progress | None = None,
    **overrides: Any,
) -> Calibration:
    """Measure what a camera and lens do to the views and to the disparity.

    Parameters
    ----------
    white : pairs of arrays or paths
        Left and right views of an evenly lit white sheet, out of focus; several are averaged.
    planes : pairs of arrays or paths
        Left and right views of a textured plane that fills the picture, square to the camera, each at a different
        distance. One plane gives the gain; two or more also give the offset. Distances need not be known.
    camera : str, optional
        The camera's name, kept in the file.
    black : float
        Black level: the pixel value of the white sheets without light.
    axis : "x" or "y", optional
        The direction in which the views differ as the camera stores them; detected if not given.
    preset, threads, progress, **overrides
        As for `dualpix.disparity`, which matches the planes.

    Raises
    ------
    InputError
        If the pictures cannot be used: different sizes, a white sheet that is clipped or not above black, a plane
        without texture, in focus, or not flat.
    ParameterError
        If nothing was given, or black is out of bounds.
    """
    if axis not in ("x", "y", None):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    params, threads = resolve(preset, overrides), thread_count(threads)
    if not white and not planes:
        raise ParameterError("nothing to calibrate from: give a pair of a white sheet, of a plane, or both")
    if black and not white:
        raise ParameterError("black is the black level of the white sheets: give a pair of them too")
    sheets, flats = ([_stored(left, right) for left, right in pairs] for pairs in (white, planes))
    pairs = sheets + flats
    same_size(*((pair.source.get("left", "a left view"), pair.shape) for pair in pairs))
    height, width = pairs[0].shape
    made = Calibration(width, height, axis or "x", camera, white_sheets(sheets, black) if sheets else None)
    if not flats:
        return made
    method = method_for(params, {}, made)
    for pair in flats:
        check_pair(pair, method)
    maps = []
    for i, pair in enumerate(flats):
        run = Run(threads, part_of(progress, i, len(flats)))
        found = disparity(pair, method, lens=made, axis=axis, run=run)
        maps.append((found.disparity, found.confidence))
        axis = axis or found.axis
        if found.evidence and found.evidence.axis not in (axis, None):
            raise InputError(f"{pair.name('left')}: {found.evidence.objection(axis)}: give the axis of all planes")
    names = [pair.name("left") for pair in flats]
    made = replace(made, axis=axis or "x", field=lens_field(maps, names))
    return replace(made, planes=_checked_planes(made, [d for d, _ in maps], names))


def _stored(left: Input, right: Input) -> Pair:
    """A pair without EXIF rotation: the calibration is for pixels as the camera stores them."""
    return replace(read_pair(left, right), orientation=1)


def _checked_planes(made: Calibration, maps: Sequence[Map], names: Sequence[str]) -> tuple[Plane, ...]:
    """The spread of each plane before and after the correction; a plane that is not flat after it is refused."""
    planes = tuple(_plane(d, made.corrected(d)) for d in maps)
    for name, plane in zip(names, planes, strict=True):
        if plane.corrected > 2 * (ROUGH[0] + ROUGH[1] * abs(plane.disparity)):
            raise InputError(
                f"{name}: is not a plane, its corrected disparity of {plane.disparity:.2f} px still varies by "
                f"{plane.corrected:.2f} px: take a flat textured surface that fills the picture"
            )
    return planes


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
    lowest = float(evaluate(gain, (64, 64)).min())
    if lowest < FAINTEST:
        raise InputError(
            f"{', '.join(names)}: the gain would fall to {lowest:.2f} of its mean, which no lens does: "
            "let the plane fill the picture, square to the camera"
        )
    return Field(tuple(gain.tolist()), tuple(offset.tolist()))


def fit_plane(d: Map, confidence: Map, name: str) -> Values:
    """Coefficients of the smooth even part of a plane's map, robust to outliers.

    Iteratively reweighted least squares of ``d = P(x, y) + t_x x + t_y y``, with residuals r and their scale s
    (median, as an STD). The tilt t belongs to the plane, not to the lens, and is dropped. Weights are the confidence
    times ``1 / max(|r|, s)`` at first, which needs no good start, then times ``1 / (1 + r^2 / 4 s^2)^2``, which
    ignores outliers.
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
    X = np.stack([x[seen] ** i * y[seen] ** j for i, j in (*TERMS.values(), *TILT)])
    D, weight, c = D[seen], c[seen], c[seen]
    for n in range(2 * PASSES):
        p = np.linalg.lstsq(weight * X @ X.T, weight * X @ D, rcond=None)[0]
        r = np.abs(D - p @ X)
        s = max(1.4826 * float(np.median(r)), 1e-6)
        weight = c / np.maximum(r, s) if n < PASSES else c / (1 + (r / (2 * s)) ** 2) ** 2
    mean = float(p[: len(TERMS)] @ MEANS)
    if s > ROUGH[0] + ROUGH[1] * abs(mean):
        raise InputError(
            f"{name}: is not a plane, its disparity of {mean:.2f} px varies by {s:.2f} px from place to place: "
            "take a flat textured surface that fills the picture"
        )
    return np.asarray(p[: len(TERMS)])


def _plane(d: Map, corrected: Map) -> Plane:
    rows, columns = (slice(int(MARGIN * n), n - int(MARGIN * n)) for n in d.shape)
    inner = corrected[rows, columns]
    return Plane(float(inner.mean()), float(d[rows, columns].std()), float(inner.std()))


def summary(made: Calibration) -> str:
    """The calibration in words: size, white sheets, and the STD of each plane before and after correction."""
    parts = [f"{made.width}x{made.height}"]
    if made.white:
        darkest = min(made.white.left.min(), made.white.right.min())
        parts.append(f"white sheets down to {darkest:.0%} of their brightest, black level {made.white.black:g}")
    parts += [
        f"plane at {plane.disparity:.3g} px, STD {plane.observed:.3g} px, {plane.corrected:.3g} px corrected"
        for plane in made.planes
    ]
    return "; ".join(parts)
