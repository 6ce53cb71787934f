"""The recipe of a network: how the views go in and what comes out, in a TOML file beside it or after a ``?``."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from ..params.config import read_toml
from ..params.rules import Choice, OneOr, OrAuto, Real, Rule, Several, Whole, check, refusal, unknown_name

_COLOURS = Several(Real(-1e6, 1e6), 3, 3, "one number for each colour, in the order of the network")
_SPREADS = Several(Real(0, 1e6, above=True), 3, 3, "one number for each colour, in the order of the network")


class _NotZero(Real):
    """A number from low to high, but not 0."""

    def __str__(self) -> str:
        return f"{super().__str__()} except 0"

    def check(self, value: object) -> float:
        if not (number := super().check(value)):
            raise ValueError
        return number


# What each key must be. docs/networks.md says what it means.
KEYS: dict[str, Rule] = {
    "layout": Choice("auto", "two", "stacked", "side-by-side"),
    "axes": Choice("auto", "nchw", "nhwc"),
    "colour": Choice("auto", "rgb", "bgr", "grey"),
    "first": Choice("left", "right"),
    "white": Real(0, 1e6, above=True),
    "mean": OneOr(_COLOURS),
    "std": OneOr(_SPREADS),
    "width": OrAuto(Whole(16, 65536)),
    "multiple": Whole(1, 1024),
    "tile": OrAuto(Whole(16, 16384)),
    "overlap": OrAuto(Whole(0, 8192)),
    "output": Whole(-64, 63),
    "channel": Whole(-64, 63),
    "gain": _NotZero(-1e9, 1e9),
    "offset": Real(-1e9, 1e9),
}


@dataclass(frozen=True)
class Recipe:
    """How a network is run. A view ``I`` from 0 to 1 goes in as ``(white I - mean) / std``; ``d = gain y + offset``.

    Attributes
    ----------
    layout : str
        ``two``: an input for each view. ``stacked``: one input with the channels of both views. ``side-by-side``: one
        input, twice as wide. ``auto``: two inputs, or one of 2 or 6 channels.
    axes : str
        The order of the axes of the inputs and of an output with four: ``nchw`` or ``nhwc``, or what the file tells.
    colour : str
        The channels of a view: ``rgb``, ``bgr`` or ``grey``; ``auto`` is rgb for three channels and grey for one.
    first : str
        The view that goes in first: ``left`` or ``right``.
    white, mean, std : float
        Value of white before ``mean`` is subtracted; ``mean`` and ``std`` are a number, or one for each colour.
    width : int or "auto"
        The views are resized to this width, px, and the map back. ``auto``: their own.
    multiple : int
        Height and width are padded to multiples of this, px, by reflection. The map is cropped.
    tile : int or "auto"
        Larger views are cut into squares of this side, px. ``auto``: views of more than WHOLE pixels are.
    overlap : int or "auto"
        How far tiles overlap, px, at most half a tile. ``auto``: a quarter of a tile, at most 64.
    output, channel : int
        Which output is the map, and which channel of it; negative numbers count from the end.
    gain, offset : float
        From the output to ``d = x_left - x_right`` in px.
    """

    layout: str = "auto"
    axes: str = "auto"
    colour: str = "auto"
    first: str = "left"
    white: float = 1.0
    mean: float | tuple[float, ...] = 0.0
    std: float | tuple[float, ...] = 1.0
    width: int | str = "auto"
    multiple: int = 1
    tile: int | str = "auto"
    overlap: int | str = "auto"
    output: int = 0
    channel: int = 0
    gain: float = 1.0
    offset: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """All keys, ready for JSON."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def recipe_of(path: str, query: str = "", settings: dict[str, Any] | None = None) -> Recipe:
    """The recipe of a network: the TOML file beside it, then the query, then the settings.

    Parameters
    ----------
    path
        The network, such as ``net.onnx``; the recipe beside it is ``net.toml``, if there is one.
    query
        ``key=value`` pairs joined by ``&``, without any escapes.
    settings
        Values by key.

    Raises
    ------
    InputError
        If the TOML file cannot be read.
    ParameterError
        If a key is unknown, or a value is not what its key expects.
    """
    found: dict[str, Any] = {}
    beside = Path(path).with_suffix(".toml")
    if beside.exists():
        with _named(f"recipe {beside}"):
            found |= _checked(read_toml(beside, "recipe"))
    with _named(path):
        found |= dict(_parsed(text) for text in query.split("&") if text) | _checked(settings or {})
    return Recipe(**found)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Errors of the block say where they are."""
    try:
        yield
    except ParameterError as error:
        raise ParameterError(f"{where}: {error}") from None


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: check(key, value, _rule(key)) for key, value in settings.items()}


def _parsed(text: str) -> tuple[str, Any]:
    """Key and value of a part of the query."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ParameterError(f"?{text} is not KEY=VALUE, joined by &, such as ?layout=stacked&white=255")
    rule = _rule(key)
    try:
        return key, rule.check(rule.parse(value))
    except (ValueError, OverflowError):
        raise refusal(key, value, rule) from None


def _rule(key: str) -> Rule:
    if key not in KEYS:
        raise ParameterError(unknown_name("key", key, KEYS))
    return KEYS[key]
