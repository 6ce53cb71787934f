"""The presets: complete sets of parameters by name, and how to start from one."""

import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from ..errors import ParameterError
from .definitions import parameters
from .model import Params, known
from .rules import unknown_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_PRESET: Final = "auto"


@cache
def _presets() -> dict[str, dict[str, Any]]:
    with open(os.path.join(os.path.dirname(__file__), "presets.toml"), "rb") as file:
        return tomllib.load(file)


@cache
def _made(name: str) -> Params:
    return Params(**{key: value for key, value in _presets()[name].items() if key != "description"})


def preset_names() -> tuple[str, ...]:
    """Names of the presets."""
    return tuple(_presets())


def preset_descriptions() -> dict[str, str]:
    """One line about each preset, by name."""
    return {name: table["description"] for name, table in _presets().items()}


def preset(name: str) -> Params:
    """The parameters of a preset.

    Raises
    ------
    ParameterError
        If there is no preset of that name.
    """
    if not isinstance(name, str) or name not in _presets():
        raise ParameterError(unknown_name("preset", name, _presets()))
    return _made(name)


def resolve(base: str | Params, overrides: Mapping[str, Any]) -> Params:
    """The parameters of a preset, or given ones, with some of them replaced.

    All parameters at once, such as those of a sidecar, are taken as they are: some never have an effect.
    """
    params = base if isinstance(base, Params) else preset(base)
    if not complete(overrides):
        return params.replace(**overrides)
    for name in overrides:
        known(name)
    return Params(**overrides)


def complete(settings: Mapping[str, Any]) -> bool:
    """Whether every parameter is set, so that nothing of a preset is left."""
    return settings.keys() >= parameters(Params).keys()
