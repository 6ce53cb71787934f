"""Winner takes all: the local term alone, without aggregation."""

import numpy as np

from ..method.match import local_parabolas
from ..method.search import Span, searched
from ..params import DEFAULT_PRESET, Params, preset
from ..params.rules import check
from ..run import thread_count
from ..types import Map, Parabolas
from ._planes import matched_planes
from ._views import LIMITS, Image

PARAMS = preset(DEFAULT_PRESET).replace(subpixel="parabola")

# The parameters that the local term depends on. The others have no effect here.
LOCAL = (
    *("black", "white", "gamma", "vignetting", "exposure", "detail"),
    *("cost", "window", "subpixel", "ratio_threshold", "noise_floor"),
)


def wta(left: Image, right: Image, range: tuple[float, float] = (-12, 12), *, threads: int | None = None) -> Map:
    """Winner takes all: every pixel gets the disparity of its own lowest cost.

    The cost is the local term of the default preset, with a parabola for the sub-pixel part. Nothing is aggregated.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size.
    range : (float, float)
        The least and the greatest disparity, px.
    threads : int, optional
        As for `dualpix.disparity`; the result does not depend on it.

    Returns
    -------
    float32 array
        ``d = x_left - x_right`` in pixels: left(x, y) matches right(x - d, y). NaN where the cost has no minimum.

    Raises
    ------
    InputError
        If a view cannot be used.
    ParameterError
        If a parameter is of the wrong type or out of bounds.
    """
    limits = check("range", range, LIMITS)
    threads = thread_count(threads)
    local = _local_term(left, right, limits, PARAMS, threads)
    d: Map = np.clip(local.disparity(threads), *limits)
    d[~(local.A > 0)] = np.nan
    return d


def settings(params: Params) -> dict[str, object]:
    """The parameters that have an effect, ready for JSON."""
    return {name: value for name, value in params.to_dict().items() if name in LOCAL}


def _local_term(left: Image, right: Image, limits: tuple[float, float], params: Params, threads: int) -> Parabolas:
    """The parabolas of the left view at full size."""
    planes = matched_planes(left, right, params.photometry, threads)
    return local_parabolas(planes, Span(searched(limits, 1)), params.matching, threads)
