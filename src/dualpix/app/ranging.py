"""Metres for a run: from known points, a focus distance, EXIF data or a calibration, as ``dualpix depth`` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..camera.metric import Metric
from ..camera.ranging import metric_of
from ..errors import ParameterError
from ..io.shot import read_shot
from ..params.rules import Real, check
from .matching import map_of

if TYPE_CHECKING:
    from ..types import Map
    from .shots import Run, Shot

NUMBER = Real(-1e9, 1e9)
POINTS = 100


@dataclass(frozen=True)
class Ranging:
    """What the user told about distances.

    Attributes
    ----------
    known : tuple of (x, y, metres)
    focus_distance : float or None
        m.
    exif : bool
        Whether the file of the left view tells.
    """

    known: tuple[tuple[float, float, float], ...] = ()
    focus_distance: float | None = None
    exif: bool = False

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Ranging:
        """Check what the page sent."""
        known, focus, exif = body.get("known") or [], body.get("focus_distance"), body.get("exif", False)
        if not isinstance(known, list) or len(known) > POINTS:
            raise ParameterError(f"known must be a list of at most {POINTS} points [x, y, metres]")
        if not all(isinstance(each, list) and len(each) == 3 for each in known):
            raise ParameterError("known must be a list of points [x, y, metres]")
        if not isinstance(exif, bool):
            raise ParameterError("exif must be true or false")
        points = tuple(tuple(check("known", each, NUMBER) for each in point) for point in known)
        return cls(points, None if focus is None else check("focus_distance", focus, NUMBER), exif)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was told."""
        return self == Ranging()


def metric_of_run(shot: Shot, run: Run, d: Map | None = None) -> Metric | None:
    """The two numbers that turn the disparities of a run into metres; None if nobody told them."""
    told, lens = run.ranging, run.lens if run.lens and run.lens.metric else None
    if lens is None and told.is_empty:
        return None
    return metric_of(
        map_of(run) if d is None else d,
        calibration=lens if not (told.known or told.exif) else None,
        focus_distance=told.focus_distance,
        known=told.known,
        exif=shot.source.paths["left"] if told.exif else None,
    )


def angle_of(shot: Shot, run: Run, metric: Metric) -> float | None:
    """The angle of view at the distance in focus, degrees, if EXIF data gave the metres."""
    if not run.ranging.exif:
        return None
    shape = shot.height or 0, shot.width or 0
    return read_shot(shot.source.paths["left"]).fov(shape, None, 1000 * metric.lens_to_sensor)


def to_json(metric: Metric | None) -> dict[str, Any] | None:
    """For the page: ``1/z = inverse_focus + d inverse_scale``, z in m from the lens."""
    if metric is None:
        return None
    words = f"focus at {metric.focus_distance:.3g} m, a = {metric.a:.3g} px m, from {metric.source}"
    if metric.approximate:
        words += "; approximate: a may be wrong by a factor of 2.5, give known points for better depth"
    return {
        "inverse_focus": metric.inverse_focus,
        "inverse_scale": 1 / metric.a,
        "lens_to_sensor": metric.lens_to_sensor,
        "origin": metric.origin,
        "approximate": metric.approximate,
        "words": words,
    }
