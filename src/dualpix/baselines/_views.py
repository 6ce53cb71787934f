"""What several baselines begin with: grey views and the whole disparities to try."""

import math
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ..errors import ParameterError
from ..io import read_pair
from ..method.grey import LUMA, PLAIN, grey_plane
from ..params.rules import Real, Several, check
from ..types import Map

Image = npt.NDArray[Any] | str | Path

LIMITS = Several(Real(-1e5, 1e5), 2, 2, "min and max, min < max", rising=True)


def grey_views(left: Image, right: Image, threads: int) -> tuple[Map, Map]:
    """Both views as grey planes on a 0..255 scale."""
    pair = read_pair(left, right)
    return grey_plane(pair.left, LUMA, PLAIN, threads), grey_plane(pair.right, LUMA, PLAIN, threads)


def whole_disparities(limits: tuple[float, float], width: int) -> range:
    """All whole disparities of the range, which is rounded outwards."""
    low, high = check("range", limits, LIMITS)
    if max(abs(low), abs(high), high - low) >= width:
        raise ParameterError(
            f"range {low:g} to {high:g} is wider than the views, {width} pixels: give a range that fits into them"
        )
    return range(math.floor(low), math.ceil(high) + 1)
