"""Rules: what a value must be.

``str(rule)`` says what the rule expects, ``rule.check(value)`` returns the value in the rule's own type, and
``rule.parse(text)`` reads a value from text. Both raise ValueError or OverflowError if the value does not fit.

Rules are compared by nobody. Without the methods for that, the module is imported in half of the time.
"""

import numbers
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..errors import ParameterError


@dataclass(frozen=True, eq=False, repr=False)
class Real:
    """A number from low to high; with ``above``, low itself is excluded."""

    low: float
    high: float
    above: bool = False

    def __str__(self) -> str:
        low = f"above {self.low:g} and up" if self.above else f"from {self.low:g}"
        return f"a number {low} to {self.high:g}"

    def check(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise ValueError
        number = float(value)
        # NaN fails every comparison, so this refuses it, too.
        if not self.low <= number <= self.high or (self.above and number == self.low):
            raise ValueError
        return number

    def parse(self, text: str) -> float:
        return float(text)


@dataclass(frozen=True, eq=False, repr=False)
class Whole:
    """A whole number from low to high."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"a whole number from {self.low} to {self.high}"

    def check(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise ValueError
        if not self.low <= int(value) <= self.high:
            raise ValueError
        return int(value)

    def parse(self, text: str) -> int:
        return int(text)


@dataclass(frozen=True, eq=False, repr=False)
class Flag:
    """true or false."""

    def __str__(self) -> str:
        return "true or false"

    def check(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise ValueError
        return value

    def parse(self, text: str) -> bool:
        if text.lower() not in ("true", "false"):
            raise ValueError
        return text.lower() == "true"


class Choice:
    """One of a few words or whole numbers."""

    def __init__(self, *options: str | int) -> None:
        self.options = options

    def __str__(self) -> str:
        return " or ".join(map(str, self.options))

    def check(self, value: object) -> str | int:
        if isinstance(value, bool) or not isinstance(value, str | numbers.Integral):
            raise ValueError
        return self.options[self.options.index(value)]

    def parse(self, text: str) -> str | int:
        return self.options[[str(option) for option in self.options].index(text)]


@dataclass(frozen=True, eq=False, repr=False)
class Several:
    """A tuple of `shortest` to `longest` values that follow one rule.

    `meaning` says in words what they are. With ``rising``, every value is larger than the one before. In text they
    are separated by commas; brackets are optional.
    """

    each: Real | Whole
    shortest: int
    longest: int
    meaning: str
    rising: bool = False

    def __str__(self) -> str:
        return f"{self.meaning}, each {self.each}"

    def check(self, value: object) -> tuple[float, ...]:
        if not isinstance(value, list | tuple) or not self.shortest <= len(value) <= self.longest:
            raise ValueError
        values = tuple(self.each.check(item) for item in value)
        if self.rising and any(a >= b for a, b in pairwise(values)):
            raise ValueError
        return values

    def parse(self, text: str) -> tuple[float, ...]:
        if text[:1] + text[-1:] in ("()", "[]"):
            text = text[1:-1]
        return tuple(self.each.parse(item) for item in text.split(","))


@dataclass(frozen=True, eq=False, repr=False)
class OrAuto:
    """The word auto, or what another rule expects."""

    rule: Real | Whole | Several

    def __str__(self) -> str:
        return f"auto or {self.rule}"

    def check(self, value: object) -> str | float | tuple[float, ...]:
        return "auto" if value == "auto" else self.rule.check(value)

    def parse(self, text: str) -> str | float | tuple[float, ...]:
        return "auto" if text == "auto" else self.rule.parse(text)


@dataclass(frozen=True, eq=False, repr=False)
class Odd:
    """An odd whole number from low to high."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"an odd whole number from {self.low} to {self.high}"

    def check(self, value: object) -> int:
        number = Whole(self.low, self.high).check(value)
        if number % 2 == 0:
            raise ValueError
        return number

    def parse(self, text: str) -> int:
        return int(text)


@dataclass(frozen=True, eq=False, repr=False)
class OneOr:
    """A single value, or a tuple of them."""

    rule: Several

    def __str__(self) -> str:
        return f"{self.rule.each}, or {self.rule}"

    def check(self, value: object) -> float | tuple[float, ...]:
        return self.rule.check(value) if isinstance(value, list | tuple) else self.rule.each.check(value)

    def parse(self, text: str) -> float | tuple[float, ...]:
        return self.rule.parse(text) if set(text) & set("[(,") else self.rule.each.parse(text)


Rule = Real | Whole | Odd | Flag | Choice | Several | OrAuto | OneOr


def check(name: str, value: object, rule: Rule) -> Any:
    """The value in the rule's own type. NumPy scalars count as numbers, arrays as lists.

    Raises
    ------
    ParameterError
        If the value is not what the rule expects. The message begins with `name`.
    """
    try:
        return rule.check(value.tolist() if hasattr(value, "tolist") else value)
    except (ValueError, OverflowError):
        raise refusal(name, value, rule) from None


def refusal(name: str, value: object, rule: Rule) -> ParameterError:
    """The error for a value that is not what the rule expects."""
    shown = " ".join(reprlib.repr(value).split())
    return ParameterError(f"{name} must be {rule}, not {shown}")


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """The message for an unknown name: the closest known name, if there is one, and all of them."""
    names = list(known)
    return f"unknown {kind} {reprlib.repr(name)}: {did_you_mean(name, names)}the {kind}s are {', '.join(names)}"


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The question whether the closest known name is meant, with a space behind it; empty if none is close."""
    import difflib  # here, as only a mistake needs it

    close = difflib.get_close_matches(name, list(known), n=1) if isinstance(name, str) else []
    return f"did you mean {close[0]}? " if close else ""
