"""When a parameter has an effect: the settings of other parameters that it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False, repr=False)
class Setting:
    """A condition on one parameter: its name, the condition in words, and the test of its value."""

    name: str
    words: str
    met: Callable[[Any], bool]


@dataclass(frozen=True, eq=False, repr=False)
class Need:
    """Settings that a parameter needs, combined with ``&`` and ``|``.

    Attributes
    ----------
    ways : tuple of tuples of Setting
        One way is enough. All settings of a way must be met together.
    """

    ways: tuple[tuple[Setting, ...], ...]

    def __and__(self, other: "Need") -> "Need":
        return Need(tuple(mine + theirs for mine in self.ways for theirs in other.ways))

    def __or__(self, other: "Need") -> "Need":
        return Need(self.ways + other.ways)

    def __str__(self) -> str:
        return ", or ".join(" and ".join(setting.words for setting in way) for way in self.ways)

    def met(self, params: object) -> bool:
        """Whether these parameters have the settings."""
        return any(all(_holds(setting, params) for setting in way) for way in self.ways)

    def unmet(self, params: object) -> str:
        """For each way, the first present value that blocks it, such as ``messages=exact``."""
        names = [next(each.name for each in way if not _holds(each, params)) for way in self.ways]
        return " and ".join(f"{name}={spell(getattr(params, name))}" for name in dict.fromkeys(names))


ALWAYS = Need(((),))  # one way, and it needs nothing


def equals(name: str, wanted: object) -> Need:
    """The parameter has this value."""
    return Need(((Setting(name, f"{name}={spell(wanted)}", lambda value: value == wanted),),))


def that(name: str, words: str, met: Callable[[Any], bool]) -> Need:
    """The parameter meets a condition; `words` come after its name."""
    return Need(((Setting(name, f"{name} {words}", met),),))


def spell(value: object) -> str:
    """A value as ``--set`` takes it."""
    if isinstance(value, tuple):
        return ",".join(map(spell, value))
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _holds(setting: Setting, params: object) -> bool:
    return setting.met(getattr(params, setting.name))
