"""Filters of a finished map. NaN is missing data, as is anything beyond 1e9 px, and never spreads.

Confidence is in [0, 1] and counts as a weight: 0 is as good as missing. Guides are images: HxW or HxWx3 (RGB), uint8,
uint16 or float in [0, 1]. Disparities keep their sign and unit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InputError
from ..io.images import as_image
from ..params import Params
from ..params.groups import (
    GUIDED_EPS,
    GUIDED_WINDOW,
    MEDIAN_RADIUS,
    MEDIAN_SIGMA,
    SOLVER_COLOUR,
    SOLVER_LAMBDA,
    SOLVER_XY,
)
from ..params.rules import Real, Whole, check
from ..run import thread_count
from ..types import Map, as_row, full_scale

RGB = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
# Luma and chromas of JPEG (ITU-R BT.601)
YUV = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))

FARTHEST = 1e9  # px, kFarthest of the kernels
LEAST = np.float32(1e-3)  # confidence that every pixel of a dense map has for its filter: none counts as missing


def guided_filter(
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    *,
    window: int = 45,
    eps: float = 0.2,
    confidence: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Map:
    """Guided filter (He, Sun and Tang 2010): the map as a locally linear function of the guide's colours.

    Parameters
    ----------
    d : HxW array
        Disparities.
    guide : image
        Where it has edges, the result may have them.
    window : int
        Side of the windows, px, odd; they are cut at the border.
    eps : float
        Variance of the guide, on a 0..1 scale, from which on an edge is followed.
    confidence : HxW array, optional
        Weights of the means and covariances in a window.
    threads : int, optional
        As for `dualpix.disparity`; the result does not depend on it.

    Returns
    -------
    float32 array
        NaN where no window that holds the pixel has any data.
    """
    radius = check("window", window, GUIDED_WINDOW) // 2
    eps = check("eps", eps, GUIDED_EPS)
    return _along_edges(_core.guided_filter, d, guide, confidence, threads, RGB, 1, radius=radius, eps=eps)


def bilateral_solver(
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    *,
    luma: float = 16,
    chroma: float = 8,
    xy: int = 8,
    lam: float = 15,
    confidence: npt.ArrayLike | None = None,
    iterations: int = 25,
    threads: int | None = None,
) -> Map:
    """Fast bilateral solver (Barron and Poole 2016): close to the data, smooth among pixels alike in place and colour.

    Parameters
    ----------
    d : HxW array
        Disparities.
    guide : image
        Pixels are alike if their luma and chroma in it are.
    luma, chroma : float
        How far alike reaches, on a 0..255 scale.
    xy : int
        The same along x and y, px.
    lam : float
        How much smoothness counts against the data.
    confidence : HxW array, optional
        How much a pixel counts as data.
    iterations : int
        Steps of conjugate gradients, at most; it takes fewer if they converge.
    threads : int, optional
        As for `dualpix.disparity`; the result does not depend on it.

    Returns
    -------
    float32 array
        Pixels without data follow those alike. NaN where no chain of pixels alike leads to any data, such as
        everywhere in a map of NaN; `fill_holes` closes the rest.
    """
    luma, chroma = check("luma", luma, SOLVER_COLOUR), check("chroma", chroma, SOLVER_COLOUR)
    xy, lam = check("xy", xy, SOLVER_XY), check("lam", lam, SOLVER_LAMBDA)
    iterations = check("iterations", iterations, Whole(0, 10_000))
    settings = {"luma": luma, "chroma": chroma, "xy": xy, "lam": lam, "iterations": iterations}
    return _along_edges(_core.bilateral_solver, d, guide, confidence, threads, YUV, 255, **settings)


def weighted_median(
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    *,
    radius: int = 3,
    sigma: float = 0.1,
    confidence: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> Map:
    """Median of the window around every pixel p, weighted by ``exp(-|I_p - I_q|^2 / (2 sigma^2))`` and confidence.

    Parameters
    ----------
    d : HxW array
        Disparities.
    guide : image
        The colours I.
    radius : int
        The window has 2 radius + 1 pixels a side, cut at the border.
    sigma : float
        Difference of colours, on a 0..1 scale.
    confidence : HxW array, optional
        Weights of their own.
    threads : int, optional
        As for `dualpix.disparity`; the result does not depend on it.

    Returns
    -------
    float32 array
        Always one of the values in the window; NaN where it has none.
    """
    radius, sigma = check("radius", radius, MEDIAN_RADIUS), check("sigma", sigma, MEDIAN_SIGMA)
    return _along_edges(_core.weighted_median, d, guide, confidence, threads, RGB, 1, radius=radius, sigma=sigma)


def remove_speckles(d: npt.ArrayLike, *, size: int, step: float) -> Map:
    """Small regions become NaN.

    Parameters
    ----------
    d : HxW array
        Disparities.
    size : int
        Regions with fewer pixels are removed.
    step : float
        Pixels side by side, or one above the other, belong together if they differ by at most that much, px.
    """
    size, step = check("size", size, Whole(0, 2**31 - 1)), check("step", step, Real(0, 1e9))
    out = _map("d", d).copy()
    _core.remove_speckles(out, size, step)
    return out


def fill_holes(d: npt.ArrayLike) -> Map:
    """NaN replaced from the rims of the holes inwards, each time by the median of the 3x3 neighbours that are there.

    Of an even number of neighbours the lower median is taken: what is hidden lies behind. Time does not depend on the
    size of the holes.

    Raises
    ------
    InputError
        If there is no data at all.
    """
    out = _map("d", d).copy()
    if not (np.abs(out) <= FARTHEST).any():
        raise InputError("d has no data: there is nothing to fill its holes from, give a map that has some")
    _core.fill_holes(out)
    return out


def post_filter(d: Map, confidence: Map, guide: npt.NDArray[Any], params: Params, threads: int) -> Map:
    """The filter that the parameters ask for, along the edges of the guide, and its median; dense maps stay dense."""
    trust = np.maximum(confidence, LEAST)
    if params.filter == "guided":
        window, eps = params.guided_window, params.guided_eps
        d = guided_filter(d, guide, window=window, eps=eps, confidence=trust, threads=threads)
    elif params.filter == "solver":
        d = bilateral_solver(
            d,
            guide,
            luma=params.solver_luma,
            chroma=params.solver_chroma,
            xy=params.solver_xy,
            lam=params.solver_lambda,
            confidence=trust,
            threads=threads,
        )
    if params.median_radius:
        radius, sigma = params.median_radius, params.median_sigma
        d = weighted_median(d, guide, radius=radius, sigma=sigma, confidence=trust, threads=threads)
    return d


def _along_edges(
    kernel: Callable[..., None],
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    confidence: npt.ArrayLike | None,
    threads: int | None,
    colours: tuple[tuple[float, ...], ...],
    full: float,
    **settings: float,
) -> Map:
    """What a kernel makes of the map, given the guide's colours on a scale of 0 to full, and its settings."""
    threads = thread_count(threads)
    values, image, trust = _inputs(d, guide, confidence)
    out = np.empty_like(values)
    kernel(values, trust, _planes(image, colours, full, threads), out, **settings, threads=threads)
    return out


# ---- checking what came in -------------------------------------------------------------------------------


def _map(name: str, values: npt.ArrayLike) -> Map:
    try:
        array = np.ma.filled(values, np.nan) if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    except ValueError:
        raise InputError(f"{name} has rows of different lengths: give a 2-D map of real numbers") from None
    if array.ndim != 2 or array.dtype.kind not in "uif":
        raise InputError(f"{name} is {array.ndim}-D {array.dtype}: give a 2-D map of real numbers")
    if array.size == 0:
        raise InputError(f"{name} has no pixels, its shape is {array.shape}: give a map that has some")
    return np.ascontiguousarray(array, np.float32)


def _inputs(
    d: npt.ArrayLike, guide: npt.ArrayLike, confidence: npt.ArrayLike | None
) -> tuple[Map, npt.NDArray[Any], Map | None]:
    values, image = _map("d", d), as_image(guide, "guide")
    trust = None if confidence is None else _map("confidence", confidence)
    shapes = {"guide": image.shape[:2]} | ({} if trust is None else {"confidence": trust.shape})
    for name, shape in shapes.items():
        if shape != values.shape:
            raise InputError(f"{name} has shape {shape} but d has {values.shape}: resample or crop one to the other")
    # NaN fails both comparisons.
    if trust is not None and not (trust.min() >= 0 and trust.max() <= 1):
        raise InputError("confidence holds values outside [0, 1] or NaN: give weights from 0 to 1")
    return values, image, trust


def _planes(image: npt.NDArray[Any], colours: tuple[tuple[float, ...], ...], full: float, threads: int) -> Map:
    """The planes of an image one after the other, on a scale of 0 to full; of a grey image just that one."""
    pixels, weights = (image[..., None], ((1.0,),)) if image.ndim == 2 else (image, colours)
    planes = np.empty((len(weights), *image.shape[:2]), np.float32)
    scale = full / full_scale(image.dtype)
    for plane, weight in zip(planes, weights, strict=True):
        _core.to_plane(pixels, plane, as_row(weight), scale, threads)
    return planes
