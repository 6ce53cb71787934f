"""What the filters share: checks of their inputs, and the guide as colour planes."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..io.images import as_image
from ..run import thread_count
from ..types import Image, Map, as_row, empty, empty_like, full_scale, same_size

Colours = tuple[tuple[float, ...], ...]  # one plane a row: the weights of red, green and blue

RGB: Colours = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
# Luma and chroma of JPEG (ITU-R BT.601)
YUV: Colours = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))

FARTHEST = 1e9  # A larger disparity counts as missing (px); kFarthest in the kernels.
LEAST = np.float32(1e-3)  # The least confidence of a pixel in a dense map, so that none counts as missing.


def along_edges(
    kernel: Callable[..., None],
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    confidence: npt.ArrayLike | None,
    threads: int | None,
    colours: Colours,
    full: float,
    **settings: float,
) -> Map:
    """Check the inputs of an edge-aware filter and run its kernel.

    Parameters
    ----------
    kernel
        The function of `dualpix._core`.
    d, guide, confidence, threads
        The arguments of the public filters.
    colours, full
        The kernel gets the guide in these colours, on a scale from 0 to `full`.
    settings
        The numbers that the kernel takes, by name.
    """
    threads = thread_count(threads)
    values, image, trust = _inputs(d, guide, confidence)
    out = empty_like(values)
    kernel(values, trust, _planes(image, colours, full, threads), out, **settings, threads=threads)
    return out


def as_map(name: str, values: npt.ArrayLike) -> Map:
    """Return a map as contiguous float32, masked pixels as NaN; errors call it `name`."""
    try:
        array = np.ma.filled(values, np.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths: give a 2-D map of real numbers") from None
    if array.ndim != 2 or array.dtype.kind not in "uif":
        raise InputError(f"{name} is {array.ndim}-D {array.dtype}: give a 2-D map of real numbers")
    if array.size == 0:
        raise InputError(f"{name} has no pixels, its shape is {array.shape}: give a map with pixels")
    return np.ascontiguousarray(array, np.float32)


def _inputs(d: npt.ArrayLike, guide: npt.ArrayLike, confidence: npt.ArrayLike | None) -> tuple[Map, Image, Map | None]:
    values, image = as_map("d", d), as_image(guide, "guide")
    same_size(("d", values.shape), ("guide", image.shape))
    if confidence is None:
        return values, image, None
    trust = as_map("confidence", confidence)
    same_size(("d", values.shape), ("confidence", trust.shape))
    # NaN fails both comparisons.
    if not (trust.min() >= 0 and trust.max() <= 1):
        raise InputError("confidence holds NaN or values outside [0, 1]: give weights from 0 to 1")
    return values, image, trust


def _planes(image: Image, colours: Colours, full: float, threads: int) -> Map:
    """Return the image as one plane a colour on a scale from 0 to `full`. A grey image has one plane."""
    pixels, weights = (image[..., None], ((1.0,),)) if image.ndim == 2 else (image, colours)
    planes = empty((len(weights), *image.shape[:2]), np.float32)
    scale = full / full_scale(image.dtype)
    for plane, weight in zip(planes, weights, strict=True):
        _core.to_plane(pixels, plane, as_row(weight), scale, threads, most=math.inf)
    return planes
