"""What panels of plots are made of: logarithmic scales, and round numbers beside them."""

import math
from collections.abc import Callable, Sequence

from ._figure import Shape, Words

BARS = 40  # px, height of a panel of bars without the bars
ROW = 22  # px, height of a bar with its gap

Panel = tuple[list[Shape], int]  # shapes, with the corner of the panel at the origin; and the height of the panel


def nothing(title: str) -> Panel:
    """A panel for figures that are not there."""
    return [Words(title, 0, 14, colour="ink"), Words("could not be measured", 0, 34)], BARS + ROW


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """A logarithmic scale from low..high to start..end. If low equals high, every value is in the middle."""
    span = math.log(high / low)
    return lambda value: start + (end - start) * (math.log(value / low) / span if span else 0.5)


def limits(values: Sequence[float]) -> tuple[float, float]:
    """The round numbers just below and just above all values."""
    rounds = _rounds(min(values) / 2.6, max(values) * 2.6)
    return max(r for r in rounds if r <= min(values)), min(r for r in rounds if r >= max(values))


def levels(low: float, high: float) -> list[float]:
    """At most seven round numbers from low to high."""
    rounds = _rounds(low, high)
    return rounds if len(rounds) <= 7 else [r for r in rounds if f"{r:e}"[0] == "1"] or rounds[:: len(rounds) // 7 + 1]


def _rounds(low: float, high: float) -> list[float]:
    """All of 1, 2, 5, 10, 20 ... from low to high."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = (float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5))
    return [value for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
