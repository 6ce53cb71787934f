"""From disparity to metres: ``1/z = 1/z_focus + d / a``.

d is the disparity in px of the input, larger is nearer. z is the distance from the lens along its axis, in metres. a is
in px m. A thin lens of focal length f that is focused at z_focus stands ``v = f / (1 - f / z_focus)`` in front of the
sensor, so the distance from the sensor is ``Z = z + v``.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..io.layers import finite_range
from ..io.sidecar import describe, statistics
from ..types import Map

LENS, SENSOR = "lens", "sensor"

Known = tuple[float, float, float]  # x and y in px of the map, and the distance in m


@dataclass(frozen=True)
class Metric:
    """The two numbers that turn disparity into metres, and how well they are known.

    Attributes
    ----------
    inverse_focus : float
        ``1/z_focus``, 1/m, measured from the lens; 0 is a focus at infinity.
    a : float
        px m, above 0: the disparity of a point that is one diopter nearer than the focus.
    lens_to_sensor : float
        v, m. 0 if the focal length is not known; then distances are from the lens.
    pivot, pivot_error : float
        The inverse distance that is known best, from the lens, and its standard error, 1/m. It is the mean of the
        known points, or the focus.
    a_error : float
        Standard error of a, as a share of a.
    source : str
        Where the numbers come from.
    approximate : bool
        Whether they were computed from the data of the lens instead of measured.
    """

    inverse_focus: float
    a: float
    lens_to_sensor: float = 0.0
    pivot: float = 0.0
    pivot_error: float = 0.0
    a_error: float = 0.0
    source: str = "calibration"
    approximate: bool = False

    @property
    def origin(self) -> str:
        """What distances are measured from, "sensor" or "lens"."""
        return SENSOR if self.lens_to_sensor else LENS

    @property
    def focus_distance(self) -> float:
        """The distance in focus, m from the origin; inf if it is infinity or beyond."""
        return 1 / self.inverse_focus + self.lens_to_sensor if self.inverse_focus > 0 else math.inf

    def depth(self, d: Map, sigma: Map | None = None) -> "Depth":
        """Turn a disparity map into metres.

        Parameters
        ----------
        d
            Disparities, px, larger is nearer. NaN stays NaN.
        sigma
            Expected error of every disparity, px. With it the depth has an uncertainty. inf is a disparity of which
            nothing is known; its depth is NaN.
        """
        # q = 1/z = 1/z_focus + d / a
        q = self.inverse_focus + d.astype(np.float64) / self.a
        # sigma_0^2 = sigma_pivot^2 + (sigma / a)^2
        sigma_0: Any = self.pivot_error
        if sigma is not None:
            q[np.isinf(sigma)] = np.nan
            sigma_0 = np.hypot(sigma_0, sigma.astype(np.float64) / self.a)
        # sigma_q^2 = sigma_0^2 + (q - q_pivot)^2 (sigma_a / a)^2
        sigma_q = np.hypot(sigma_0, (q - self.pivot) * self.a_error)
        # Infinity is within one standard error. A wrong scale a alone does not move a point there.
        infinite = q <= sigma_0
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(infinite, np.inf, 1 / q + self.lens_to_sensor)
            uncertainty = None
            if sigma is not None:
                # sigma_z = z^2 sigma_q, z from the lens
                uncertainty = np.where(infinite, np.inf, sigma_q / q**2).astype(np.float32)
        return Depth(z.astype(np.float32), uncertainty, self)

    def to_dict(self) -> dict[str, Any]:
        """The numbers, ready for a calibration file."""
        return {
            "model": "1/z = inverse_focus + d / a, z in m from the lens; from the sensor it is z + lens_to_sensor",
            "inverse_focus": self.inverse_focus,
            "a": self.a,
            "lens_to_sensor": self.lens_to_sensor,
            "pivot": self.pivot,
            "pivot_error": self.pivot_error,
            "a_error": self.a_error,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Depth:
    """Depth in metres.

    Attributes
    ----------
    metres : float32 map
        Distance along the axis of the lens, from `metric.origin`. inf where infinity is within the uncertainty of the
        disparity, NaN where the disparity is NaN or nothing is known of it.
    uncertainty : float32 map or None
        Standard error, m; inf where the depth is inf, NaN where it is NaN. None if the expected error of the
        disparity is not known.
    metric : Metric
        The numbers that were used.
    """

    metres: Map
    uncertainty: Map | None
    metric: Metric

    def __repr__(self) -> str:
        height, width = self.metres.shape
        found = describe(statistics(self.metres))
        return f"<dualpix.Depth: {width}x{height}, {found} m from the {self.metric.origin}, by {self.metric.source}>"


def relative_inverse_depth(d: Map) -> Map:
    """Inverse depth up to an unknown scale and offset: 0 is the farthest disparity of the map, 1 the nearest."""
    low, high = finite_range(d)
    level = (d.astype(np.float64) - low) / (high - low) if high > low else np.zeros(d.shape)
    return np.where(np.isfinite(d), level, np.nan).astype(np.float32)
