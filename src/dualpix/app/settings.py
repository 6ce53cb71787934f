"""The settings of a run as the page sends them, checked, and as parameters of the method."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import ParameterError
from ..io.pairs import LAYOUTS, SIDES
from ..params import DEFAULT_PRESET, Params, parse_setting, resolve

FILTERS = {
    "none": "as matched",
    "guided": "smooth, with the edges of the photo",
    "solver": "very smooth, with the edges of the photo",
}
CHOICES: Mapping[str, tuple[str, ...]] = {
    "filter": tuple(FILTERS),
    "axis": ("x", "y"),
    "layout": LAYOUTS,
    "first": SIDES,
}


@dataclass(frozen=True)
class Settings:
    """What the user chose; None is the default of the command.

    Attributes
    ----------
    preset, range, filter, axis, layout, first, mask_occluded
        As the options of ``dualpix disparity``.
    calibration : str or None
        The number of an uploaded calibration.
    set : dict
        Parameters by name, each as text, as ``--set`` takes it.
    """

    preset: str = DEFAULT_PRESET
    range: tuple[float, float] | None = None
    filter: str | None = None
    axis: str | None = None
    layout: str | None = None
    first: str | None = None
    mask_occluded: bool = False
    calibration: str | None = None
    set: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, record: object) -> Settings:
        """Check what the page sent.

        Raises
        ------
        ParameterError
            In the words of the command.
        """
        if not isinstance(record, dict):
            raise ParameterError("settings must be an object of names and values")
        known = [each.name for each in fields(cls)]
        for name in record:
            if name not in known:
                raise ParameterError(f"unknown setting {name!r}: choose one of {', '.join(known)}")
        given = {name: value for name, value in record.items() if value is not None}
        for name, choices in CHOICES.items():
            if name in given and given[name] not in choices:
                raise ParameterError(f"{name} must be {' or '.join(choices)}, not {given[name]!r}")
        if "range" in given:
            given["range"] = _two_numbers(given["range"])
        if not isinstance(given.get("mask_occluded", False), bool):
            raise ParameterError(f"mask_occluded must be true or false, not {given['mask_occluded']!r}")
        if not isinstance(given.get("calibration", ""), str):
            raise ParameterError("calibration must be the number of an uploaded calibration")
        if "set" in given:
            given["set"] = _texts(given["set"])
        settings = cls(**given)
        settings.params()
        return settings

    def params(self) -> Params:
        """The parameters: those of the preset, changed as the command changes them."""
        overrides = dict(parse_setting(f"{name}={value}") for name, value in self.set.items())
        if self.range is not None:
            overrides["range"] = self.range
        if self.filter is not None:
            overrides["filter"] = self.filter
        return resolve(self.preset, overrides)

    def to_json(self) -> dict[str, Any]:
        """The inverse of `from_json`."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return values | {"range": self.range and list(self.range), "set": dict(self.set)}


def _two_numbers(value: object) -> tuple[float, float]:
    if (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(each, int | float) and not isinstance(each, bool) for each in value)
    ):
        with suppress(OverflowError):
            return float(value[0]), float(value[1])
    raise ParameterError("range must be two numbers, the smallest and the largest disparity in px")


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str | int | float | list) for each in value.values()):
        raise ParameterError("set must be an object of parameters and their values")
    return {name: _text(each) for name, each in value.items()}


def _text(value: str | float | list[Any]) -> str:
    """A value as ``--set`` takes it."""
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
