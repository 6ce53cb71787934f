"""The eight EXIF orientations: from stored pixels to what a viewer shows, and back.

`_exif` reads the tag in JPEG and PNG files, `_tiff` in TIFF files. `images.read_pair` refuses two views with different
orientations. Views are matched as stored; `method.finish` turns the finished map.
"""

import numpy as np

from ..types import Image

# From stored to upright: swap the axes, then step through rows and columns (-1 is backwards).
_STEPS = {
    1: (False, 1, 1),
    2: (False, 1, -1),
    3: (False, -1, -1),
    4: (False, -1, 1),
    5: (True, 1, 1),
    6: (True, 1, -1),
    7: (True, -1, -1),
    8: (True, -1, 1),
}


def upright(image: Image, orientation: int) -> Image:
    """Turn stored pixels as a viewer shows them.

    Parameters
    ----------
    image
        HxW or HxWx3.
    orientation
        The value of the EXIF tag, 1 to 8.

    Returns
    -------
    ndarray
        Contiguous; it may share the memory of `image`.
    """
    swap, rows, columns = _STEPS[orientation]
    turned = image.swapaxes(0, 1) if swap else image
    return np.ascontiguousarray(turned[::rows, ::columns])


def as_stored(image: Image, orientation: int) -> Image:
    """Undo `upright`: bring an upright image into the frame of the stored pixels."""
    swap, rows, columns = _STEPS[orientation]
    turned = image[::rows, ::columns]
    return np.ascontiguousarray(turned.swapaxes(0, 1) if swap else turned)


def swaps_axes(orientation: int) -> bool:
    """Tell whether turning the image upright swaps width and height."""
    return _STEPS[orientation][0]
