"""Refocus: a photo and its disparity map to a photo with another focus and a wider aperture."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..filters import fill_holes
from ..filters.common import as_map
from ..io import load_image, read_map
from ..params.rules import Choice, Real, check
from ..run import thread_count
from ..types import Image, Map, StrPath, same_size
from .openings import SHAPES, openings

APERTURE = Real(0, 1000, above=True)
SHAPE = Choice(*SHAPES)
RADIUS = 3 * math.pi / 8  # px of blur radius for a disparity of 1 px: the two halves of a disc are |d| apart
AROUND = 4  # px; the focus is the median disparity this far around its point


def refocus(
    photo: StrPath | npt.ArrayLike,
    disparity: StrPath | npt.ArrayLike,
    *,
    focus: float | Sequence[float],
    aperture: float,
    shape: str = "disc",
    linear: bool = False,
    threads: int | None = None,
) -> Image:
    """Blur a photo as a lens with this focus and aperture would.

    A point of disparity d becomes a disc of diameter ``aperture (3 pi / 4) |d - d_focus|`` in pixels. Near objects
    blur over far ones; far ones never blur over near ones. Blur is added only: what is blurred in the photo stays so.

    Parameters
    ----------
    photo
        A path, or HxW or HxWx3 (RGB), uint8, uint16 or float in [0, 1].
    disparity
        A path, or an HxW map in pixels of the photo: ``x_left - x_right``, larger is nearer. NaN is filled from its
        surroundings.
    focus
        What is sharp: a point (x, y) of the photo, from 0 at its left and top; or a disparity in pixels.
    aperture
        Diameter of the opening, relative to that of the lens which took the photo; above 0. With 2, a photo at f/4
        becomes one at f/2.
    shape
        The shape of the opening: "disc", "hexagon", or "cat-eye", a disc that is clipped towards the corners.
    linear
        Whether the values of the photo are linear light. Otherwise they are sRGB.
    threads
        As for `dualpix.disparity`. The result does not depend on it.

    Returns
    -------
    array of the shape and type of the photo; float16 and float64 become float32

    Raises
    ------
    InputError
        If photo and map differ in size, the point is outside the photo, or a blur is larger than 512 px.
    """
    factor, shape = check("aperture", aperture, APERTURE), str(check("shape", shape, SHAPE))
    threads = thread_count(threads)
    image = load_image(photo, "photo")
    d = known(read_map(disparity) if isinstance(disparity, (str, os.PathLike)) else as_map("disparity", disparity))
    same_size(("photo", image.shape), ("disparity", d.shape))
    return blurred(image, d, focus_of(d, focus), factor, shape, linear, threads)


def known(d: Map) -> Map:
    """Return the map without holes.

    Raises
    ------
    InputError
        If no pixel has a value.
    """
    missing = ~np.isfinite(d)
    if not missing.any():
        return d
    if missing.all():
        raise InputError("disparity has no valid pixel: give a map with values")
    return fill_holes(np.where(missing, np.float32(np.nan), d))


def focus_of(d: Map, focus: float | Sequence[float]) -> float:
    """Return the disparity that is in focus: the number itself, or the median around the point (x, y)."""
    if isinstance(focus, (int, float, np.integer, np.floating)) and not isinstance(focus, bool):
        if not math.isfinite(focus):
            raise InputError(f"focus is {focus}: give a disparity in px, or a point (x, y)")
        return float(focus)
    try:
        x, y = (float(value) for value in focus)
    except (TypeError, ValueError):
        raise InputError(f"focus is {focus!r}: give a point (x, y), or a disparity in px") from None
    height, width = d.shape
    if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
        raise InputError(
            f"focus {x:g},{y:g} is outside the photo of {width}x{height}: give x from 0 to {width - 1} and "
            f"y from 0 to {height - 1}"
        )
    column, row = round(x), round(y)
    rows, columns = (slice(max(at - AROUND, 0), at + AROUND + 1) for at in (row, column))
    return float(np.median(d[rows, columns]))


def blurred(image: Image, d: Map, focus: float, aperture: float, shape: str, linear: bool, threads: int) -> Image:
    """Return the photo with its blur; the arguments are those of `refocus`, checked. `focus` is a disparity."""
    largest = aperture * RADIUS * largest_defocus(d, focus)
    if largest > _core.most_radius:
        raise InputError(
            f"aperture {aperture:g} blurs up to {2 * largest:.0f} px, over the limit of {2 * _core.most_radius} px: "
            f"give at most {aperture * _core.most_radius / largest:.3g}"
        )
    pixels = image.reshape(*d.shape, -1)
    out = np.empty_like(pixels)
    chords = openings(shape, *d.shape)
    _core.refocus(pixels, d, chords, out, focus=focus, gain=aperture * RADIUS, linear=linear, threads=threads)
    return out.reshape(image.shape)


def largest_defocus(d: Map, focus: float) -> float:
    """Return the largest ``|d - focus|`` of the map, px."""
    return max(abs(float(d.max()) - focus), abs(float(d.min()) - focus))
