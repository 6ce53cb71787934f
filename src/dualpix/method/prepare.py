"""From pictures to what is matched: grey planes of the two views, even in brightness, and the plane of the edges."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import ParameterError
from ..params import Params
from ..types import Map, as_row, full_scale
from .scales import Level

LUMA = (0.299, 0.587, 0.114)
MEAN = (1 / 3, 1 / 3, 1 / 3)

UNSURE = 0.005  # of the brightness: a difference between the views that their low-passes cannot be trusted to show
WIDE = 0.1  # of the longer side, a low-pass that does for any camera
SMALL = 128  # px, the longer side of the pictures whose low-pass is taken
STEEPEST = 4.0  # the largest ratio that is taken for vignetting


def prepare(
    images: list[npt.NDArray[Any]], params: Params, threads: int, white: tuple[Map, Map] | None = None
) -> Level:
    """Grey views and guide on a 0..255 scale, or of the exposure asked for. Edges are those of the channels' mean.

    images are the left and the right view, and the guide if it is another picture than the left view; white is what
    a calibration divides the views by.
    """
    left, right = (grey_plane(image, LUMA, params, threads) for image in images[:2])
    if white:
        left /= white[0]
        right /= white[1]
    if params.vignetting and np.ptp(left) and np.ptp(right):
        _even_out(left, right, params.vignetting)
    own = len(images) == 2
    if own and images[0].ndim == 2 and params.guide_gamma == 1 and not params.exposure:
        return Level(left, right, left)
    edges = grey_plane(images[0] if own else images[2], MEAN, params if own else None, threads)
    if own and white:
        edges /= white[0]
    if params.guide_gamma != 1:
        _raise(edges, params.guide_gamma, threads)
    if params.exposure:
        gain = params.exposure / _brightness(left)
        left *= gain
        right *= gain
        edges *= params.exposure / _brightness(edges)
    return Level(left, right, edges)


def even(planes: Level) -> Map:
    """The right view as `_even_out` makes it, for presets that match it as it is."""
    right = planes.right.copy()
    _even_out(planes.left, right, WIDE)
    return right


def _even_out(left: Map, right: Map, share: float) -> None:
    """Bring the right view to the brightness that the left one has around every pixel, ``R LPF(L) / LPF(R)``.

    The low-pass is a Gaussian whose STD is that share of the longer side. Ratios are followed but for UNSURE:
    that much of a difference may be that of what the two views see.
    """
    import cv2

    height, width = left.shape
    shrunk = SMALL / max(height, width, SMALL)
    size = max(1, round(shrunk * width)), max(1, round(shrunk * height))
    low_passes = []
    for view in (left, right):
        quarter = view if max(view.shape) <= 4 * SMALL or min(view.shape) < 4 else _quarter(view)
        small = cv2.resize(quarter, size, interpolation=cv2.INTER_AREA)
        low_passes.append(cv2.GaussianBlur(small, (0, 0), share * max(size), borderType=cv2.BORDER_REFLECT))
    darkest = 1e-3 * max(float(view.max()) for view in low_passes)
    if darkest == 0:
        return
    of_left, of_right = (np.maximum(view, darkest) for view in low_passes)
    ratio = np.clip(np.log(of_left / of_right), -math.log(STEEPEST), math.log(STEEPEST))
    gain = np.exp(np.sign(ratio) * np.maximum(np.abs(ratio) - UNSURE, 0))
    right *= cv2.resize(gain, (width, height), interpolation=cv2.INTER_LINEAR)


def _quarter(view: Map) -> Map:
    """The means of squares of four: from there to any other size it is not far. Up to three px are left out."""
    import cv2

    height, width = (n // 4 for n in view.shape)
    means = cv2.resize(view[: 4 * height, : 4 * width], (width, height), interpolation=cv2.INTER_AREA)
    return np.asarray(means, np.float32)


def picture(image: npt.NDArray[Any], params: Params, own: bool, threads: int) -> npt.NDArray[Any]:
    """The guide of the filters, 0 to 1, as bright as what is matched; an `own` view has black and gamma."""
    if not (params.exposure or (own and (params.black or params.white != "auto" or params.gamma != 1))):
        return image
    channels = np.atleast_3d(image)
    planes = [
        grey_plane(np.ascontiguousarray(channels[..., c]), (1,), params if own else None, threads)
        for c in range(channels.shape[2])
    ]
    bright = np.stack(planes, axis=2)
    bright *= (params.exposure / _brightness(bright.max(axis=2)) if params.exposure else 1) / 255
    return np.minimum(bright if image.ndim == 3 else bright[..., 0], 1)


def _brightness(plane: Map) -> float:
    """The 99th percentile of the intensities, from a sample of them; never 0, nor far below the brightest."""
    step = max(1, math.isqrt(plane.size // 100_000))
    return max(float(np.quantile(plane[::step, ::step], 0.99)), float(plane.max()) / 64, 1e-6)


def detail(plane: Map, threads: int) -> Map:
    """``I - bilateral(I)``."""
    out = np.empty_like(plane)
    _core.subtract_bilateral(plane, out, threads)
    return out


def grey_plane(image: npt.NDArray[Any], weights: tuple[float, ...], camera: Params | None, threads: int) -> Map:
    """A grey plane on a 0..255 scale; black, white and gamma are those of the camera that took it."""
    plane = np.empty(image.shape[:2], np.float32)
    pixels, weights = (image[..., None], (1,)) if image.ndim == 2 else (image, weights)
    full = full_scale(image.dtype)
    black, white = (camera.black, camera.white) if camera else (0.0, "auto")
    white = full if white == "auto" else white
    if not black < white <= full:
        raise ParameterError(
            f"parameters black and white must rise, up to {full:g} for {image.dtype} images, not be {black:g} and "
            f"{white:g}: give them in the numbers of the images"
        )
    # I = 255 (i - black) / (white - black), then 255 (I / 255)^gamma
    scale = 255 / (white - black)
    _core.to_plane(pixels, plane, as_row(weights), scale, threads)
    if black or white < full:
        plane -= np.float32(scale * black)
        np.clip(plane, 0, 255, out=plane)
    if camera and camera.gamma != 1:
        _raise(plane, camera.gamma, threads)
    return plane


def _raise(plane: Map, gamma: float, threads: int) -> None:
    """``255 (I / 255)^gamma`` in place."""
    _core.power(plane, gamma, 255 ** (1 - gamma), threads)
