"""Semi-global matching, our own."""

from .. import _core
from ..errors import InputError, ParameterError
from ..method import grey
from ..method.window import box_taps
from ..params.rules import Flag, Odd, Real, check
from ..run import thread_count
from ..types import Map, empty_like
from ._views import Image, grey_views, whole_disparities

PENALTY = Real(0, 127)
WINDOW = Odd(1, 63)


def sgm(
    left: Image,
    right: Image,
    range: tuple[float, float] = (0, 70),
    *,
    P1: float = 3.25,
    P2: float = 8.25,
    window: int = 5,
    detail: bool = True,
    threads: int | None = None,
) -> Map:
    """Semi-global matching (Hirschmueller 2008): eight paths, constant penalties, a parabola for the sub-pixel part.

    The cost of a pixel is the mean Birchfield-Tomasi distance over a window. There is no left-right check and no
    filter. Views of W x H pixels need 4 W H D bytes, where D is the number of disparities, rounded up to a multiple of
    16. The default penalties reproduce the published scores on Middlebury best; P1 = 1 scores better.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size. Colours are converted to grey.
    range : (float, float)
        The least and the greatest disparity, px.
    P1, P2 : float
        The penalties on a path for a change of one disparity and for a larger change, in intensities on a 0..255
        scale; P1 <= P2. They are rounded to sixteenths, as costs are.
    window : int
        Side of the window, px; odd.
    detail : bool
        Compare the detail of the views, I - bilateral(I), instead of the views I.
    threads : int, optional
        As for `dualpix.disparity`; the result does not depend on it.

    Returns
    -------
    float32 array
        ``d = x_left - x_right`` in pixels: left(x, y) matches right(x - d, y). Dense and finite.

    Raises
    ------
    InputError
        If a view cannot be used, or there is not enough memory.
    ParameterError
        If a parameter is of the wrong type or out of bounds.
    """
    P1, P2 = check("P1", P1, PENALTY), check("P2", P2, PENALTY)
    if P1 > P2:
        raise ParameterError(f"P1 must not be above P2, but they are {P1:g} and {P2:g}: swap them")
    taps = box_taps(check("window", window, WINDOW))
    detail = check("detail", detail, Flag())
    threads = thread_count(threads)
    views = grey_views(left, right, threads)
    disparities = whole_disparities(range, views[0].shape[1])
    if detail:
        views = grey.detail(views[0], threads), grey.detail(views[1], threads)
    d = empty_like(views[0])
    try:
        first, count = disparities.start, len(disparities)
        _core.sgm(*views, d, first=first, count=count, taps=taps, P1=P1, P2=P2, threads=threads)
    except MemoryError:
        raise InputError(
            f"left and right need {4e-9 * d.size * len(disparities):.3g} GB over {len(disparities)} disparities, more "
            "than there is: give smaller views or a smaller range"
        ) from None
    return d
