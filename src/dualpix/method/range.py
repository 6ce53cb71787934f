"""The range of disparities, if the user gives none: found at the coarsest scale.

Finer scales follow what the coarser one has found; see `search.Search.at`.
"""

import numpy as np

from ..run import Run
from .kinds import Method
from .scales import Level
from .search import FIRST_REACH, Search, Span, around, extremes
from .solve import solve_scale


def find_range(level: Level, search: Search, method: Method, passes: int, run: Run) -> tuple[int, int]:
    """The range of the coarsest scale: doubled until all disparities lie clear of its ends, then cut to them.

    A narrow range leaves fewer false matches. If a wider range does not raise the mean curvature, there is nothing to
    find, and the first range is kept.
    """
    width = level.planes.left.shape[1]
    widest = max(width // 3, FIRST_REACH)
    reach = method.first_reach(width)
    sureness = []
    while True:
        span = Span(search.one_sided(range(-reach - 1, reach + 2)))
        belief = solve_scale(level, span, method, passes, run)
        sureness.append(belief.A.mean(dtype=np.float64))
        low, high = extremes(belief)
        del belief  # before the next one is made
        clear = max(-low, high) < reach - 1
        if clear or 2 * reach > widest:
            break
        reach *= 2
    # Noise can lie clear of the ends by chance; its curvature is lower in a wider range.
    if len(sureness) > 1 and sureness[-1] <= sureness[0] * (0.5 if clear else 1):
        low, high = -FIRST_REACH, FIRST_REACH
    found = search.one_sided(around(low, high))
    return found[0], found[-1]
