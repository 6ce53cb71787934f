"""Refocus: a photo and its disparity map to a photo with another focus and a wider aperture."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..filters.common import as_map
from ..io.photos import load_photo
from ..io.recorded import assumptions
from ..params.rules import Choice, Real, Rule, check
from ..run import thread_count, warn
from ..types import Image, Map, StrPath, same_size
from .metres import filled, read_focus_map
from .openings import SHAPES, openings

RADIUS = 3 * math.pi / 8  # px of blur radius at 1 px of disparity: the centroids of the halves of a disc are |d| apart
AROUND = 4  # px; the focus is the median disparity this far around its point
RULES: dict[str, Rule] = {"aperture": Real(0, 1000, above=True), "shape": Choice(*SHAPES)}

Focus = float | Sequence[float]


def refocus(
    photo: StrPath | npt.ArrayLike,
    disparity: StrPath | npt.ArrayLike,
    *,
    focus: Focus,
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
        The path of an image or of a file with two views, such as a raw file; or HxW or HxWx3 (RGB), uint8, uint16 or
        float in [0, 1].
    disparity
        The path of a map by `dualpix disparity` or `dualpix depth`, or an HxW array in pixels of the photo: ``x_left -
        x_right``, larger is nearer. NaN is filled from its surroundings.
    focus
        What is sharp: a point (x, y) of the photo, from 0 at its left and top; or a disparity in pixels.
    aperture
        Diameter of the opening, relative to that of the lens which took the photo; above 0. With 2, a photo at f/4
        becomes one at f/2.
    shape
        The shape of the opening: "disc", "hexagon", or "cat-eye", a disc that is clipped towards the corners.
    linear
        Whether the values of the photo are linear light, to which a raw file is then developed. Otherwise they are
        sRGB.
    threads
        As for `dualpix.disparity`. The result does not depend on it.

    Returns
    -------
    ndarray
        Of the shape and type of the photo; float16 and float64 become float32.

    Raises
    ------
    InputError
        If photo and map differ in size, the point is outside the photo, or a disc is larger than 512 px.
    """
    lens = Lens(aperture, shape, linear)
    image = load_photo(photo, "photo", linear)
    if isinstance(disparity, (str, os.PathLike)):
        d = read_focus_map(disparity).d
        for sentence in assumptions(disparity):
            warn(sentence)
    else:
        d = filled(as_map("disparity", disparity), "disparity")
    same_size(("photo", image.shape), ("disparity", d.shape))
    return lens.blur(image, d, focus_of(d, focus), thread_count(threads))


@dataclass(frozen=True)
class Lens:
    """The lens that blurs; see `refocus`. Wrong values are refused when it is made."""

    aperture: float
    shape: str = "disc"
    linear: bool = False

    def __post_init__(self) -> None:
        for name, rule in RULES.items():
            object.__setattr__(self, name, check(name, getattr(self, name), rule))

    @property
    def gain(self) -> float:
        """Blur radius at 1 px of disparity from the focus, px."""
        return self.aperture * RADIUS

    def largest_disc(self, d: Map, focus: float) -> float:
        """Return the diameter of the largest disc, px."""
        return 2 * self.gain * max(abs(float(d.max()) - focus), abs(float(d.min()) - focus))

    def check(self, d: Map, focus: float) -> None:
        """Refuse discs that are too large.

        Raises
        ------
        InputError
            It says which aperture is possible.
        """
        largest, most = self.largest_disc(d, focus), 2 * _core.most_radius
        fits = math.floor(1000 * self.aperture * most / largest) / 1000 if largest > most else self.aperture
        if fits == 0:
            raise InputError(
                f"the map reaches from {d.min():.4g} to {d.max():.4g}, which is out of range for disparities in px: "
                "give the map of dualpix disparity"
            )
        if largest > most:
            raise InputError(
                f"aperture {self.aperture:g} makes discs of up to {largest:.0f} px, over the limit of {most} px: "
                f"give at most {fits:g}"
            )

    def blur(self, image: Image, d: Map, focus: float, threads: int) -> Image:
        """Return the image with the blur of every pixel: image as by `as_image`, d without NaN, focus a disparity."""
        self.check(d, focus)
        pixels = image.reshape(*d.shape, -1)
        out = np.empty_like(pixels)
        chords = openings(self.shape, *d.shape)
        _core.refocus(pixels, d, chords, out, focus=focus, gain=self.gain, linear=self.linear, threads=threads)
        return out.reshape(image.shape)


def focus_of(d: Map, focus: Focus) -> float:
    """Return the disparity in focus: the number itself, or the median around the point (x, y).

    Raises
    ------
    InputError
        If the point is outside the map, or is none.
    """
    values = np.asarray(focus, dtype=object).ravel().tolist()
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) not in (1, 2) or not np.isfinite(numbers).all():
        raise InputError(f"focus is {focus!r}: give a point (x, y), or a disparity in px")
    if len(numbers) == 1:
        return numbers[0]
    (x, y), (height, width) = numbers, d.shape
    if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
        raise InputError(
            f"focus {x:g},{y:g} is outside the photo of {width}x{height}: give x from 0 to {width - 1} and y from 0 to "
            f"{height - 1}"
        )
    rows, columns = (slice(max(round(at) - AROUND, 0), round(at) + AROUND + 1) for at in (y, x))
    return float(np.median(d[rows, columns]))
