"""The range of disparities, found at the coarsest scale if nothing else gives it.

`survey.survey` decides whether to call `find_range`. The parameter `range` comes first, unless it is "auto"; then the
calib.txt beside a stereo pair. Finer scales follow what the coarser one has found; see `search.Search.at`.
"""

import numpy as np

from ..run import Run
from .kinds import Method
from .noise import noise_of
from .scales import Level
from .search import FIRST_REACH, Search, Span, around, extremes
from .solve import believe, gather


def find_range(level: Level, search: Search, method: Method, passes: int, run: Run) -> tuple[tuple[int, int], float]:
    """The range of the coarsest scale: doubled until all disparities lie clear of its ends, then cut to them.

    Also the noise of its matches, px.

    A narrow range leaves fewer false matches. So the first range is kept if wider ones find nothing. Either the
    disparities reach the ends of the widest range, too, and the mean curvature is no higher than in the first. Or they
    lie clear of the ends, but the mean curvature has fallen to half or less.
    """
    width = level.planes.left.shape[1]
    widest = max(width // 3, FIRST_REACH)
    reach = method.first_reach(width)
    sureness = []
    while True:
        span = Span(search.one_sided(range(-reach - 1, reach + 2)))
        evidence = gather(level, span, method, None, (), run)
        noise = noise_of(evidence)
        belief = believe(evidence, level, method, passes, None, run)
        sureness.append(belief.A.mean(dtype=np.float64))
        low, high = extremes(belief)
        del evidence, belief  # before the next ones are made
        clear = max(-low, high) < reach - 1
        if clear or 2 * reach > widest:
            break
        reach *= 2
    # Noise can lie clear of the ends by chance; its curvature is lower in a wider range.
    if len(sureness) > 1 and sureness[-1] <= sureness[0] * (0.5 if clear else 1):
        low, high = -FIRST_REACH, FIRST_REACH
    found = search.one_sided(around(low, high))
    return (found[0], found[-1]), noise
