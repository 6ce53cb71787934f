"""Semi-global matching of OpenCV."""

import numpy as np

from ..errors import ParameterError
from ..params.rules import Choice, Odd, check
from ..run import thread_count
from ..types import Map
from ._views import Image, grey_views, whole_disparities

MODES = {
    "3way": "STEREO_SGBM_MODE_SGBM_3WAY",
    "5way": "STEREO_SGBM_MODE_SGBM",
    "hh4": "STEREO_SGBM_MODE_HH4",
    "hh": "STEREO_SGBM_MODE_HH",
}
BLOCK = Odd(1, 11)
STEPS = 16  # OpenCV returns disparities in 1/16 px, and searches a multiple of 16 of them
FARTHEST = 2**15 // STEPS - 1  # px, the largest disparity that fits into its 16 bits


def opencv_sgbm(
    left: Image, right: Image, range: tuple[float, float] = (0, 70), *, mode: str = "hh", block: int = 5
) -> Map:
    """``cv2.StereoSGBM`` with the usual penalties, ``P1 = 8 block^2`` and ``P2 = 32 block^2``, without any filter.

    The views are converted to grey and 8 bit. OpenCV uses the threads of ``cv2.setNumThreads``.

    Parameters
    ----------
    left, right : array or path
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size.
    range : (float, float)
        The least and the greatest disparity, px. The greatest is raised until the number of disparities is a multiple
        of 16.
    mode : "3way", "5way", "hh4" or "hh"
        The paths: three, five (OpenCV's default), four, or all eight.
    block : int
        Side of the window, px, odd.

    Returns
    -------
    float32 array
        ``d = x_left - x_right`` in pixels, in steps of 1/16: left(x, y) matches right(x - d, y). NaN where OpenCV has
        no value: where the left-right check fails, and in as many columns at the side as the range is wide. To get
        values there too, pad both views by the range and crop the map.

    Raises
    ------
    InputError
        If a view cannot be used.
    ParameterError
        If a parameter is of the wrong type or out of bounds.
    """
    import cv2

    mode, block = check("mode", mode, Choice(*MODES)), check("block", block, BLOCK)
    views = grey_views(left, right, thread_count(None))
    width = views[0].shape[1]
    asked = whole_disparities(range, width)
    first, count = asked.start, -(-len(asked) // STEPS) * STEPS
    beyond = max(first + count, 0) - min(first, 0)  # columns without a value
    if width - beyond <= block // 2 or max(-first, first + count) > FARTHEST:
        raise ParameterError(
            f"range {asked[0]} to {asked[-1]} is too wide for OpenCV: it searches {first} to {first + count - 1} px in "
            f"views {width} px wide, and at most {FARTHEST} px: give a smaller range or wider views"
        )
    matcher = cv2.StereoSGBM.create(
        minDisparity=first,
        numDisparities=count,
        blockSize=block,
        P1=8 * block**2,
        P2=32 * block**2,
        mode=getattr(cv2, MODES[mode]),
    )
    sixteenths = matcher.compute(*(np.rint(view).astype(np.uint8) for view in views))
    return np.where(sixteenths < STEPS * first, np.nan, sixteenths / STEPS).astype(np.float32)
