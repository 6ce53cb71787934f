"""The presets: complete sets of parameters by name, and how to start from one."""

import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from ..errors import ParameterError
from .declared import parameters
from .model import Params, known
from .rules import unknown_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT_PRESET: Final = "auto"


@cache
def _tables() -> dict[str, str]:
    """The text of every table of presets.toml, by name. One preset is read in a tenth of the time of all."""
    with open(os.path.join(os.path.dirname(__file__), "presets.toml"), encoding="utf-8") as file:
        _, *parts = re.split(r"^\[(.+)\]$", file.read(), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def _made(name: str) -> Params:
    return Params(**{key: value for key, value in tomllib.loads(_tables()[name]).items() if key != "description"})


def preset_names() -> tuple[str, ...]:
    """Names of the presets."""
    return tuple(_tables())


def preset_descriptions() -> dict[str, str]:
    """One line about each preset, by name."""
    return {name: tomllib.loads(table)["description"] for name, table in _tables().items()}


def preset(name: str) -> Params:
    """The parameters of a preset.

    Raises
    ------
    ParameterError
        If there is no preset of that name.
    """
    if not isinstance(name, str) or name not in _tables():
        raise ParameterError(unknown_name("preset", name, _tables()))
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
