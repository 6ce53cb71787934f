"""Parameters from text: ``name=value`` on the command line, and config files."""

import re
import reprlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import InputError, ParameterError
from ..files import read_text
from .model import Params, known
from .presets import DEFAULT_PRESET, complete, preset, resolve
from .rules import Rule, check, refusal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_SEPARATORS = re.compile(r"[\s,;:]+")
_LONGEST, _LONGEST_LINE = 2**16, 1000  # characters


def parse_setting(text: str) -> tuple[str, Any]:
    """Name and checked value of a setting written as ``name=value``, such as ``iterations=3,3,2``."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ParameterError(f"setting {reprlib.repr(text)} must be NAME=VALUE, such as window=5")
    rule = known(name).rule
    try:
        return name, rule.check(rule.parse(value))
    except (ValueError, OverflowError):
        raise ParameterError(f"{refusal(f'parameter {name}', value, rule)}{_with_commas(value, rule)}") from None


def _with_commas(text: str, rule: Rule) -> str:
    """How to write numbers that something else separates, such as ``-4 4``; empty if they are wrong in any case."""
    written = ",".join(_SEPARATORS.split(text))
    try:
        rule.check(rule.parse(written))
    except (ValueError, OverflowError):
        return ""
    return f": write {written}"


def load_config(path: str | Path) -> dict[str, Any]:
    """Parameters from a TOML file of ``name = value`` lines. One of the lines may name a ``preset``.

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML.
    ParameterError
        If a name is unknown, or a value has the wrong type or is out of bounds.
    """
    settings = read_toml(path)
    try:
        if "preset" in settings:
            preset(settings["preset"])
        checked = {
            name: check(f"parameter {name}", value, known(name).rule)
            for name, value in settings.items()
            if name != "preset"
        }
    except ParameterError as error:
        raise ParameterError(f"config {path}: {error}") from None
    return settings | checked


def chosen(
    name: str | None = None,
    config: str | None = None,
    settings: Iterable[str] = (),
    search: tuple[float, float] | None = None,
    smoothing: str | None = None,
) -> tuple[str, Params]:
    """The name of the preset, and its parameters after the config, --set, --range and --filter."""
    overrides = {} if config is None else load_config(config)
    configured = overrides.pop("preset", DEFAULT_PRESET)
    name = configured if name is None else name
    base = preset(name)
    if complete(overrides):  # it replaces every value of the preset that was named
        base, overrides = preset(configured).replace(**overrides), {}
    overrides.update(map(parse_setting, settings))
    if search is not None:
        overrides["range"] = search
    if smoothing is not None:
        overrides["filter"] = smoothing
    return name, resolve(base, overrides)


def read_toml(path: str | Path, what: str = "config") -> dict[str, Any]:
    """The values in a small TOML file; `what` names it in errors. InputError if it cannot be read or is not TOML."""
    try:
        text = read_text(path, "utf-8-sig")  # Windows editors begin a file with a byte order mark
    except FileNotFoundError:
        raise InputError(f"{what} {path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"{what} {path}: cannot be read ({error.strerror}): give a TOML file") from None
    except UnicodeDecodeError:
        raise InputError(f"{what} {path} is not text: give a TOML file of name = value lines") from None
    # The time of tomllib grows with the square of the parts of a dotted name.
    if len(text) > _LONGEST:
        raise InputError(f"{what} {path} has more than {_LONGEST >> 10} kB: give only name = value lines")
    if max(map(len, text.split("\n"))) > _LONGEST_LINE:
        raise InputError(f"{what} {path} has a line of more than {_LONGEST_LINE} characters: shorten it")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        end = f"at line {text.count(chr(10)) + 1}, end of file"
        raise InputError(f"{what} {path} is not TOML: {error}".replace("at end of document", end)) from None
    except RecursionError:
        raise InputError(f"{what} {path} is nested too deep: give flat name = value lines") from None
    except ValueError:  # Python refuses whole numbers of more than 4300 digits
        raise InputError(f"{what} {path} holds a number with too many digits: shorten it") from None
