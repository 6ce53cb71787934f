"""How a parameter is declared: its rule, meaning and needs, and the groups that parameters belong to."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from .needs import ALWAYS, Need
from .rules import Rule, check


@dataclass(frozen=True, eq=False, repr=False)
class Parameter:
    """The description of a parameter: the source of checks, help and documentation.

    Attributes
    ----------
    rule : Rule
        What its value must be.
    doc : str
        What it does, in plain sentences.
    symbol : str
        Its letter in the papers and in docs/method.md, if it has one.
    unit : str
        The unit of its value, if it has one.
    needs : Need
        The settings of other parameters without which it has no effect.
    """

    rule: Rule
    doc: str
    symbol: str
    unit: str
    needs: Need

    @property
    def expects(self) -> str:
        """Bounds, unit and symbol in one line."""
        unit = f"unit: {self.unit}" if self.unit else ""
        symbol = f"symbol: {self.symbol}" if self.symbol else ""
        return "; ".join(filter(None, (str(self.rule), unit, symbol)))

    @property
    def meaning(self) -> str:
        """What it does, and when."""
        return self.doc if self.needs is ALWAYS else f"{self.doc} It has an effect only with {self.needs}."


def parameter(rule: Rule, doc: str, symbol: str = "", unit: str = "", needs: Need = ALWAYS) -> Any:
    """The dataclass field of a parameter; see `Parameter`."""
    return field(metadata={"parameter": Parameter(rule, doc, symbol, unit, needs)})


_by_group: dict[type["Group"], dict[str, Parameter]] = {}


def parameters(group: type["Group"]) -> dict[str, Parameter]:
    """The parameters of a group by name, in order."""
    if group not in _by_group:
        _by_group[group] = {each.name: each.metadata["parameter"] for each in fields(group)}
    return _by_group[group]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Parameters that belong together. Values are checked, and stored in the type of their rule."""

    def __post_init__(self) -> None:
        for name, each in parameters(type(self)).items():
            object.__setattr__(self, name, check(f"parameter {name}", getattr(self, name), each.rule))


G = TypeVar("G", bound=Group)


def of_checked(group: type[G], values: Mapping[str, Any]) -> G:
    """The group with these values, all of them, which were checked before. A map makes a dozen of groups."""
    made = object.__new__(group)
    vars(made).update(values)
    return made
