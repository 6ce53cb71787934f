"""What a view shows about its sensor: pixels that are not square, and the black level."""

import math

import numpy as np

from ..errors import InputError
from ..types import Image

PIXEL_APP = (756, 2016)  # Rows and columns of the Pixel capture app's files. Their pixels are twice as tall as wide.


def pixel_aspect(asked: float | str, images: dict[str, Image]) -> float:
    """Return the height of a pixel over its width: the value asked for, or 1 for "auto".

    Parameters
    ----------
    asked
        A number, or "auto".
    images
        The views, by the names that an error uses.

    Raises
    ------
    InputError
        If a grey view has the size of the Pixel capture app's files, upright or turned, and `asked` is "auto" or the
        inverse of their aspect.
    """
    for name, image in images.items():
        if image.shape in (PIXEL_APP, PIXEL_APP[::-1]):
            aspect, shape = (2, "tall as wide") if image.shape == PIXEL_APP else (0.5, "wide as tall")
            if asked not in ("auto", 1 / aspect):
                continue
            raise InputError(
                f"{name} has the size of a Pixel capture app file, whose pixels are twice as {shape}: "
                f"set pixel_aspect={aspect} and black=4096 if it is one, else set pixel_aspect=1"
            )
    return 1.0 if asked == "auto" else float(asked)


def black_hint(left: Image, right: Image) -> str | None:
    """Return a hint for the user if the views look as if they still contain the black level, else None.

    Only 16-bit views are checked. Black levels of sensors are usually powers of two, so the darkest pixel is compared
    with these. The hint changes nothing: a scene need not contain black.
    """
    if left.dtype != np.uint16 or right.dtype != np.uint16:
        return None
    darkest = min(int(left.min()), int(right.min()))
    if darkest < 60:
        return None
    level = 2 ** round(math.log2(darkest))
    if not 0.98 * level <= darkest <= 1.06 * level:
        return None
    return f"no pixel is darker than {darkest}: if {level} is the camera's black level, set black={level}"
