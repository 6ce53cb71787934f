"""`Params`: all parameters of the method, and the rules for changing them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import ParameterError
from .declared import G, Parameter, of_checked, parameters
from .definitions import (
    GROUPS,
    Aggregation,
    Matching,
    Minima,
    Photometry,
    Scales,
    Smoothing,
)
from .overrides import Overrides, Unpack
from .rules import check, unknown_name


# The bases are named from last to first: that is how a dataclass orders its fields.
@dataclass(frozen=True, kw_only=True, repr=False)
class Params(Smoothing, Scales, Aggregation, Minima, Matching, Photometry):
    """All parameters of the method, checked on construction.

    Start from a preset and change what you need: ``preset("dslr-a").replace(window=5)``. Every parameter is an
    attribute, such as ``params.window``. The groups are attributes, too, such as ``params.matching``.

    Disparities are in pixels of the input, ``d = x_left - x_right``. Brightness is on a scale of 0 to 255.

    Raises
    ------
    ParameterError
        If a value has the wrong type or is out of bounds.
    """

    @cached_property
    def photometry(self) -> Photometry:
        return self._only(Photometry)

    @cached_property
    def matching(self) -> Matching:
        return self._only(Matching)

    @cached_property
    def minima(self) -> Minima:
        return self._only(Minima)

    @cached_property
    def aggregation(self) -> Aggregation:
        return self._only(Aggregation)

    @cached_property
    def scales(self) -> Scales:
        return self._only(Scales)

    @cached_property
    def smoothing(self) -> Smoothing:
        return self._only(Smoothing)

    @property
    def measures_error(self) -> bool:
        """Whether the curvature of a belief is an inverse variance, so that an error can be expected from it."""
        return self.messages == "exact" and self.noise_floor > 0 and self.candidates == 1

    def _only(self, group: type[G]) -> G:
        return of_checked(group, {name: getattr(self, name) for name in parameters(group)})

    def replace(self, **changes: Unpack[Overrides]) -> Params:
        """A copy with some parameters changed, which are checked.

        Raises
        ------
        ParameterError
            If a name is unknown, a value has the wrong type or is out of bounds, or a parameter gets a new value but
            has no effect in this combination.
        """
        rules = {name: known(name).rule for name in changes}
        new = {name: check(f"parameter {name}", value, rules[name]) for name, value in changes.items()}
        changed = of_checked(Params, {name: getattr(self, name) for name in parameters(Params)} | new)
        for name in changes:
            if getattr(changed, name) != getattr(self, name) and not changed.has_effect(name):
                needs = known(name).needs
                raise ParameterError(
                    f"parameter {name} has no effect with {needs.unmet(changed)}: it needs {needs}: "
                    "leave it out, or set that too"
                )
        return changed

    def has_effect(self, name: str) -> bool:
        """Whether a parameter matters, with the others as they are."""
        return known(name).needs.met(self)

    def to_dict(self) -> dict[str, Any]:
        """The parameters by name, ready for JSON. ``Params(**d)`` turns them back."""
        values = {name: getattr(self, name) for name in parameters(Params)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def __repr__(self) -> str:
        groups = (", ".join(f"{name}={getattr(self, name)!r}" for name in parameters(group)) for group in GROUPS)
        return "Params(\n" + "".join(f"    {group},\n" for group in groups) + ")"


def known(name: str) -> Parameter:
    """The description of a parameter.

    Raises
    ------
    ParameterError
        If there is no parameter of that name.
    """
    every = parameters(Params)
    if name not in every:
        raise ParameterError(unknown_name("parameter", name, every))
    return every[name]


def expectations() -> dict[str, str]:
    """What each parameter must be, in words, by name."""
    return {name: str(each.rule) for name, each in parameters(Params).items()}


def _section() -> str:
    """All parameters as a numpydoc section, for ``help(Params)``."""
    lines = ["Parameters", "    ----------"]
    for name, each in parameters(Params).items():
        lines += [f"    {name} : {each.expects}", *(f"        {line}" for line in _wrapped(each.meaning, 92))]
    return "\n".join(lines) + "\n\n    "


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of words, up to that many letters long. The module textwrap takes 4 ms for all parameters."""
    lines = []
    while len(text) > width:
        end = text.rfind(" ", 0, width + 1)
        if end < 0:
            end = (text + " ").index(" ")  # a word that is longer than a line
        lines.append(text[:end])
        text = text[end + 1 :]
    return [*lines, text]


if Params.__doc__:  # python -OO has none
    Params.__doc__ = Params.__doc__.replace("Raises", f"{_section()}Raises", 1)
