"""Margins: how many pixels around a tile each stage needs.

The numbers are declared beside the stages: `match.margin`, `aggregate.margin`, `confidence.margin` and
`filters.post.margin`. `kinds.DualPixel.margins` and `kinds.Stereo.margins` put them together.

`tiles` needs them to solve a tile alone.
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

    @property
    def all(self) -> int | None:
        """The margin of a finished tile: each stage needs what the stages before it have made."""
        if self.solving is None or self.confidence is None or self.filter is None:
            return None
        return self.solving + self.confidence + self.filter
