"""A benchmark compared with an earlier one of the same machine."""

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from ...errors import InputError, ParameterError
from ...files import parse_json, read_text
from ...types import StrPath

PAIRS = {"pair": "", "stereo pair": ", stereo pair"}  # and what is added to the names of their methods
SAME = ("cpu", "threads")


class Change(NamedTuple):
    """How the time of a method has changed.

    Attributes
    ----------
    then, now : float
        Seconds of the fastest run.
    ratio : float
        now / then.
    low, high : float
        The ratio if, of one of the two, the median run counted instead of the fastest.
    """

    then: float
    now: float
    ratio: float
    low: float
    high: float


def read_record(path: StrPath) -> dict[str, Any]:
    """What ``dualpix bench --json`` has printed before, with the times of the methods."""
    try:
        record = parse_json(read_text(path))
        if all(each["runs"] for pair in PAIRS for each in record["methods"][pair]["methods"].values()):
            return dict(record)
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise InputError(f"{path} is no record of methods: make one with dualpix bench --only methods --json > FILE.json")


def comparable(path: StrPath, now: dict[str, Any], sections: Sequence[str]) -> dict[str, Any]:
    """The record in a file, unless it is of another machine, another number of threads or another pair."""
    if "methods" not in sections:
        raise ParameterError("against compares the methods: measure methods, too")
    then = read_record(path)
    wrong = [f"{name} is {then.get(name)}, not {now[name]}" for name in SAME if then.get(name) != now[name]]
    sides = ("width", "height", "channels")
    if any(then["pair"].get(side) != now["pair"][side] for side in sides):
        wrong.append("its pair is another one")
    if wrong:
        raise InputError(f"{path} cannot be compared ({'; '.join(wrong)}): measure both in the same way")
    return then


def changes(then: dict[str, Any], now: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The change of every method that both records have, by name."""
    found = {}
    for pair, suffix in PAIRS.items():
        before, after = (record["methods"][pair]["methods"] for record in (then, now))
        for name in after:
            if name in before:
                found[name + suffix] = change(before[name]["runs"], after[name]["runs"])._asdict()
    return found


def change(before: list[float], after: list[float]) -> Change:
    """From the seconds of all runs, then and now."""
    then, now = min(before), min(after)
    return Change(then, now, now / then, now / median(before), median(after) / then)
