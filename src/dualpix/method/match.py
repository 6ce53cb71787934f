"""The local term: from two grey planes to one parabola a pixel.

A pixel's cost around its best disparity is ``alpha d^2 + beta d + gamma``; the vertex ``-beta / (2 alpha)`` is
its own estimate of d, and alpha how far to trust it.
"""

import math

import numpy as np

from .. import _core
from ..params import Params
from ..types import Map, Ranges, as_row
from .subpixel import HISTEQ_BIAS

COST = ("sad", "ssd", "ncc", "zncc", "bt", "census")
BOXED = ("bt", "census")
SUBPIXEL = ("parabola", "histeq", "encc")


def local_parabolas(
    left: Map,
    right: Map,
    disparities: range,
    params: Params,
    threads: int,
    correlated: tuple[Map, Map] | None = None,
    ranges: Ranges | None = None,
) -> tuple[Map, Map]:
    """alpha, beta of every pixel of the left view, from the windowed cost at whole disparities.

    left and right are grey planes on a 0..255 scale. The disparities, at least three, are in pixels of these
    planes; the best is never the first or the last of them, so that it has two neighbours. encc correlates other
    planes than those compared if they are given. ranges are narrower ones, of `pyramid.tile_ranges`.
    """
    encc_left, encc_right = correlated or (left, right)
    left, right = (coded(plane, params, threads) for plane in (left, right))
    alpha, beta = np.empty_like(left), np.empty_like(left)
    _core.match(
        left,
        right,
        alpha,
        beta,
        first=disparities.start,
        count=len(disparities),
        taps=window_taps(params),
        subpixel=SUBPIXEL.index(params.subpixel),
        bias=as_row(HISTEQ_BIAS),
        encc_window=params.encc_window,
        encc_left=encc_left,
        encc_right=encc_right,
        ratio_threshold=params.ratio_threshold,
        noise_floor=params.noise_floor,
        threads=threads,
        cost=COST.index(params.cost),
        ranges=ranges,
    )
    return alpha, beta


def coded(plane: Map, params: Params, threads: int) -> Map:
    """What is compared of a plane: itself, or its census codes."""
    if params.cost != "census":
        return plane
    codes = np.empty_like(plane)
    _core.census(plane, codes, threads)
    return codes


def window_taps(params: Params) -> Map:
    """Centre and one side of the matching window of the cost, along x and along y."""
    return box_taps(params.window) if params.cost in BOXED else gaussian_taps(params.window)


def gaussian_taps(omega: float) -> Map:
    """Centre and one side of a Gaussian of STD omega, cut at 2 ceil(2 omega) + 1 taps that sum to one."""
    taps = np.exp(-0.5 * (np.arange(math.ceil(2 * omega) + 1) / omega) ** 2)
    return as_row(taps / (2 * taps.sum() - taps[0]))


def box_taps(side: float) -> Map:
    """Centre and one side of a box of 2 floor(side / 2) + 1 taps that sum to one."""
    half = math.floor(side / 2)
    return as_row(np.full(half + 1, 1 / (2 * half + 1)))


def border_divisor(width: int, disparities: range, params: Params) -> Map:
    """What alpha and beta of each column are divided by: the views overlap badly left and right.

    Falls linearly from ``params.border`` at the edge to 1 over ``round(2 omega + max|d|)`` columns.
    """
    reach = max(abs(disparities[0]), abs(disparities[-1]))
    margin = math.floor(2 * params.window + reach + 0.5)
    x = np.arange(width)
    distance = np.minimum(x, x[::-1])
    return as_row(np.maximum(params.border - (params.border - 1) * distance / max(margin - 1, 1), 1))
