"""Margins: how many pixels around a tile each stage needs.

The numbers are declared beside the stages: `match.margin`, `candidates.margin`, `aggregate.margin`,
`confidence.margin` and `filters.post.margin`. `kinds.DualPixel.margins` and `kinds.Stereo.margins` put them together.

`tiles` needs them to solve a tile alone.
"""

from typing import NamedTuple

Around = tuple[int, int]  # px above and below a tile, and px at its left and right


class Margins(NamedTuple):
    """Pixels around a tile that each stage needs, px of its scale; None if it needs the whole picture.

    Attributes
    ----------
    matching, aggregation, confidence, filter : int or None
        On every side.
    shift : int
        What matching needs more at the left and right, where the other view is shifted.
    """

    matching: int
    shift: int
    aggregation: int | None
    confidence: int
    filter: int | None

    @property
    def local(self) -> Around:
        """The margin of the evidence."""
        return self.matching, self.matching + self.shift

    @property
    def solving(self) -> Around | None:
        """The margin of `solve`: messages come from pixels that need whole windows themselves."""
        return None if self.aggregation is None else _wider(self.local, self.aggregation)

    @property
    def all(self) -> Around | None:
        """The margin of a finished tile: each stage needs what the stages before it have made."""
        if self.solving is None or self.filter is None:
            return None
        return _wider(self.solving, self.confidence + self.filter)


def _wider(margin: Around, more: int) -> Around:
    return margin[0] + more, margin[1] + more
