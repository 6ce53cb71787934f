"""The calibration of one camera and lens: what they do to views and disparity, and how to undo it.

White sheet: each view darkens towards its own side. Lens: away from the optical axis the pupil is clipped, so the same
depth has another disparity, ``d_observed(x, y) = gain(x, y) d + offset(x, y)``. Gain and offset are smooth.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, ParameterError
from ..io.sidecar import to_json
from ..types import Map, full_scale
from ..version import version
from .metric import Metric
from .sheet import Values, White

VERSION = 1  # of the file format

# A lens is symmetric, so gain and offset are even in x and y. x and y are -1 and 1 at the edges of the picture.
TERMS = {"1": (0, 0), "x^2": (2, 0), "y^2": (0, 2), "x^4": (4, 0), "x^2 y^2": (2, 2), "y^4": (0, 4)}


class Field(NamedTuple):
    """Coefficients of gain and offset in the order of TERMS. The gain has mean 1, the offset mean 0 px."""

    gain: tuple[float, ...]
    offset: tuple[float, ...]


class Plane(NamedTuple):
    """A calibration plane: its mean disparity, and the STD of its map as observed and when corrected, px.

    `distance` is its distance in m, if it is known.
    """

    disparity: float
    observed: float
    corrected: float
    distance: float | None = None

    def to_dict(self) -> dict[str, float]:
        """The figures that are known."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class SceneFit(NamedTuple):
    """A calibration scene: the mean distance of its map to its depth, brought to disparities by the best line, px.

    `observed` is that of the map as it is, `corrected` that of the corrected map, and `left_out` that of the map
    corrected with a field from all other captures.
    """

    observed: float
    corrected: float
    left_out: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """What to undo in the pictures of one camera and lens, at one size.

    Attributes
    ----------
    width, height : int
        Size of the pictures as the camera stores them, px.
    axis : "x" or "y"
        The direction in which the views differ.
    camera : str, optional
        The camera's name.
    white : White, optional
        The brightness of a white sheet in each view; None leaves the views as they are.
    field : Field, optional
        Gain and offset of the disparity; None leaves the map as it is.
    planes : tuple of Plane
        The planes that the field was fitted to.
    scenes : tuple of SceneFit
        The scenes that the field was fitted to.
    metric : Metric, optional
        From disparity to metres; None if no distances are known.
    source : str
        What errors call this calibration, such as the path of its file.
    """

    width: int
    height: int
    axis: str = "x"
    camera: str | None = None
    white: White | None = None
    field: Field | None = None
    planes: tuple[Plane, ...] = ()
    scenes: tuple[SceneFit, ...] = ()
    metric: Metric | None = None
    source: str = "calibration"

    def check(self, shape: tuple[int, ...], name: str, axis: str | None = None) -> None:
        """Refuse a picture of another size, or of another axis if given; errors call the picture `name`."""
        height, width = shape[:2]
        if (width, height) != (self.width, self.height):
            raise InputError(
                f"{self.source}: was made for {self.width}x{self.height} pixels but {name} is {width}x{height}: "
                "calibrate with pictures of that size"
            )
        if self.field is not None and axis is not None and axis != self.axis:
            raise InputError(
                f"{self.source}: was made for views that differ along {self.axis}, not {axis}, as the camera stores "
                f"them: calibrate along {axis}"
            )

    def check_numbers(self, dtype: np.dtype[Any], name: str) -> None:
        """Refuse a picture with another full scale than the white sheets, unless their black level is 0."""
        full = full_scale(dtype)
        if self.white and self.white.black and full != self.white.full:
            raise InputError(
                f"{self.source}: its black level, {self.white.black:g}, is for pixel values up to "
                f"{self.white.full:g}, but those of {name} go up to {full:g}: calibrate with pictures of the same kind"
            )

    def check_camera(self, name: str | None) -> None:
        """Refuse another camera, if both names are known."""
        if None not in (name, self.camera) and name != self.camera:
            raise InputError(
                f"{self.source}: was made for the camera {self.camera!r}, not {name!r}: "
                "give the calibration of that camera"
            )

    def black(self, asked: float) -> float:
        """The black level to use: that of the white sheets. Another requested level is refused."""
        if self.white is None or asked == self.white.black:
            return asked
        if asked:
            raise ParameterError(
                f"parameter black is {asked:g}, but {self.source} was made with {self.white.black:g}: "
                "leave it out, or calibrate again"
            )
        return self.white.black

    def white_gains(self, gamma: float = 1.0) -> tuple[Map, Map] | None:
        """Divisors of the left and the right view, after black level and gamma; None without white sheets.

        At most 1, where the brighter white sheet is brightest.
        """
        return self.white.gains((self.height, self.width), gamma) if self.white else None

    def corrected(self, d: Map) -> Map:
        """``(d - offset) / gain``: the disparity of a lens with the same pupil everywhere, px. NaN stays NaN."""
        if self.field is None:
            return d
        self.check(d.shape, "the map")
        gain, offset = (evaluate(part, d.shape) for part in self.field)
        return (d - offset) / gain

    def corrected_error(self, sigma: Map) -> Map:
        """``sigma / gain``: the expected error of the corrected disparity, px."""
        if self.field is None:
            return sigma
        return sigma / evaluate(self.field[0], sigma.shape)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the white sheets, ready for JSON."""
        field = self.field
        return {
            "camera": self.camera,
            "width": self.width,
            "height": self.height,
            "axis": self.axis,
            "gain": field and dict(zip(TERMS, field.gain, strict=True)),
            "offset": field and dict(zip(TERMS, field.offset, strict=True)),
            "planes": [plane.to_dict() for plane in self.planes],
            "scenes": [scene._asdict() for scene in self.scenes],
            **({"metric": self.metric.to_dict()} if self.metric else {}),
        }

    def to_json(self) -> str:
        """The text of a calibration file; `read_calibration` reads it."""
        record = {
            "dualpix": version(),
            "calibration": VERSION,
            "model": "d_observed = gain d + offset, x and y from -1 to 1; view = (image - black) / white",
            **self.to_dict(),
            "white": self.white and {name: np.asarray(part).tolist() for name, part in self.white._asdict().items()},
        }
        # Write each row of a map on one line.
        return re.sub(r"\[([^][{}]+)\]", lambda row: f"[{' '.join(row[1].split())}]", to_json(record)) + "\n"


class NoCalibration(Calibration):
    """An unknown lens: it accepts every picture and changes nothing."""

    def check(self, shape: tuple[int, ...], name: str, axis: str | None = None) -> None:
        """Accept the picture."""


NO_LENS = NoCalibration(0, 0)


def evaluate(coefficients: Sequence[float], shape: tuple[int, ...]) -> Map:
    """The polynomial of TERMS at every pixel of a picture of that height and width."""
    C = np.zeros((3, 3))
    for c, (i, j) in zip(coefficients, TERMS.values(), strict=True):
        C[j // 2, i // 2] = c
    y, x = (np.stack([np.ones(n), centres(n) ** 2, centres(n) ** 4]) for n in shape)
    return np.asarray((C.T @ y).T.astype(np.float32) @ x.astype(np.float32), np.float32)


def centres(n: int) -> Values:
    """The centres of n pixels, with the edges of the picture at -1 and 1."""
    return np.asarray((2 * np.arange(n) + 1) / n - 1, np.float64)
