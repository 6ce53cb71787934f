"""Which view a file is, by its name: left.png and right.png, IMG_1_L.tif and IMG_1_R.tif, im0.png and im1.png."""

from __future__ import annotations

import re
from collections.abc import Sequence

# The word for the left view, and that for the right one. A single letter counts at the end of the name only.
_WORDS = (("left", "right"), (r"(?<![a-z])l$", "r"), ("im0$", "im1"))


def right_of(name: str) -> set[str]:
    """What the right view may be called if this is the name of the left one, without suffix, in lower case."""
    stem = stem_of(name)
    return {re.sub(left, right, stem) for left, right in _WORDS if re.search(left, stem)}


def in_order(names: Sequence[str]) -> bool:
    """Whether two names are in the order left, right, as far as they tell."""
    first, second = names
    return stem_of(first) not in right_of(second)


def stem_of(name: str) -> str:
    """The name without suffix, in lower case."""
    return (name.rpartition(".")[0] or name).lower()
