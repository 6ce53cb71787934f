"""Maps for refocusing, without holes. Blur is proportional to disparity, so metres are turned back into it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..filters import fill_holes
from ..io.layers import METRES, RELATIVE
from ..io.recorded import read_recorded
from ..types import Map, StrPath


class FocusMap(NamedTuple):
    """Disparities, and what tells the disparity of a distance; None if that is not known.

    Attributes
    ----------
    d : float32 map
        px, larger is nearer, 0 is what the photo is focused on.
    metric : dict or None
        The entry "metric" of the sidecar of a map in metres.
    name : str
        The file.
    """

    d: Map
    metric: dict[str, Any] | None
    name: str

    def at(self, distance: float) -> float:
        """Return the disparity of a distance in metres, measured as the map measures it."""
        if self.metric is None:
            raise InputError(
                f"{self.name}: holds no metres, so no distance can be focused on: give a map of dualpix depth"
            )
        if not distance > self.metric["lens_to_sensor"]:
            raise InputError(f"a focus {distance:g} m away is not in front of the lens: give a larger distance")
        return float(_disparity(np.float64(distance), self.metric))


def read_focus_map(path: StrPath) -> FocusMap:
    """Read a map of disparities or of metres, without holes.

    Raises
    ------
    InputError
        If it cannot be read, or is in metres without the numbers to turn it into disparities.
    """
    values, unit, sidecar = read_recorded(path)
    if unit == RELATIVE:
        raise InputError(f"{path}: holds relative inverse depth, but blur needs px: give the map of dualpix disparity")
    if unit != METRES:
        return FocusMap(filled(values, str(path)), None, str(path))
    metric = (sidecar or {}).get("metric")
    numbers = metric if isinstance(metric, dict) else {}
    if not all(isinstance(numbers.get(name), int | float) for name in ("inverse_focus", "a", "lens_to_sensor")):
        raise InputError(f"{path}: its sidecar does not say how metres follow from disparities: write the map again")
    return FocusMap(filled(_disparity(values, numbers).astype(np.float32), str(path)), numbers, str(path))


def filled(d: Map, name: str) -> Map:
    """Return the map without holes. Errors call it `name`.

    Raises
    ------
    InputError
        If no pixel has a value.
    """
    missing = ~np.isfinite(d)
    if missing.all():
        raise InputError(f"{name}: has no valid pixel: give a map with values")
    return fill_holes(np.where(missing, np.float32(np.nan), d)) if missing.any() else d


def _disparity(z: Any, metric: dict[str, Any]) -> Any:
    # 1/(z - v) = 1/z_focus + d / a
    return metric["a"] * (1 / (z - metric["lens_to_sensor"]) - metric["inverse_focus"])
