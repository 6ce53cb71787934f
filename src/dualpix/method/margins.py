"""Margins: how many pixels around a tile each stage needs.

Every stage declares its own in a function `margin`: `match`, `aggregate`, `confidence` and `filters.post`. The kind of
pair adds them up (`kinds.Method.margins`), and `tiles` uses them.
"""

from typing import NamedTuple


class Margins(NamedTuple):
    """Pixels around a tile that each stage needs, px of its scale; None if it needs the whole picture."""

    matching: int | None
    aggregation: int | None
    confidence: int | None
    filter: int | None

    @property
    def solving(self) -> int | None:
        """The margin of `solve`: messages come from pixels that need whole windows themselves."""
        return None if self.matching is None or self.aggregation is None else self.matching + self.aggregation
