"""Kernels of dualpix: contiguous float32 maps in and out, the GIL released, the same bytes for any threads."""

import enum
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_Map = npt.NDArray[np.float32]
_Mask = npt.NDArray[np.uint8]
_Ranges = npt.NDArray[np.int32]
_Weights = npt.NDArray[np.uint8]
_Halves = npt.NDArray[np.uint16]  # the bits of float16
_Numbers = npt.NDArray[np.uint16]
_Matches = npt.NDArray[np.float32] | npt.NDArray[np.uint16]
_Codes = npt.NDArray[np.int16]
_Counts = npt.NDArray[np.int64]
_Double = npt.NDArray[np.float64]
_Bytes = npt.NDArray[np.uint8]
_Sums = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32] | npt.NDArray[np.uint64]
_Pixels = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.float32]

_Sign = tuple[_Map, float, float]  # map, floor, exponent
_Prior = tuple[_Map, _Map, int, float, float]  # A, B, factor, weight, limit

tile: int  # px, the side of the squares of `match`
most_radius: int  # px, the largest blur of `refocus`

class Cost(enum.Enum):
    sad = 0
    ssd = 1
    ncc = 2
    zncc = 3
    bt = 4
    census = 5

class Subpixel(enum.Enum):
    parabola = 0
    histeq = 1
    encc = 2

class Minimum(enum.Enum):
    whole = 0
    parabola = 1

class Messages(enum.Enum):
    paper = 0
    exact = 1
    jumps = 2

def to_plane(
    pixels: _Pixels,
    plane: _Map,
    weights: _Map,
    scale: float,
    threads: int,
    *,
    most: float,
    black: float = 0.0,
    gamma: float = 1.0,
    full: float = 1.0,
) -> None: ...
def multiply(
    plane: _Map, grid: _Map, *, height: int, width: int, top: int, left: int, step: int, threads: int
) -> None: ...
def pyramid_down(image: _Map, half: _Map, threads: int) -> None: ...
def pyramid_up(half: _Map, image: _Map, *, add: bool, threads: int) -> None: ...
def subtract_bilateral(image: _Map, out: _Map, threads: int) -> None: ...
def match(
    left: _Map,
    right: _Map,
    alpha: _Map,
    beta: _Map,
    *,
    first: int,
    count: int,
    side: int,
    taps: _Map,
    subpixel: Subpixel,
    bias: _Map,
    encc_window: int,
    encc_left: _Map,
    encc_right: _Map,
    ratio_threshold: float,
    noise_floor: float,
    cost: Cost,
    threads: int,
    ranges: _Ranges | None = None,
) -> None: ...
def tile_extremes(d: _Map, reach: int, least: _Map, most: _Map, threads: int) -> None: ...
def tile_covariances(left: _Map, right: _Map, C: _Double, side: int, threads: int) -> None: ...
def condition(
    alpha: _Map,
    beta: _Map,
    divisor: _Map,
    *,
    priors: Sequence[_Prior],
    invalid_threshold: float,
    threads: int,
    vertex: _Halves | None = None,
) -> None: ...
def edge_weights(
    guide: _Map, weights: _Weights, sigma: float, threads: int, spread: _Map | None = None, flat: float = 0.0
) -> None: ...
def aggregate(
    alpha: _Map,
    beta: _Map,
    weights: _Weights,
    A: _Map,
    B: _Map,
    *,
    messages: Messages,
    penalty: float,
    taus: Sequence[float],
    scale: float,
    jump_penalty: float,
    farthest: float,
    threads: int,
    minimizer: _Map | None = None,
    vertex: _Halves | None = None,
    fattening: float = 0.0,
    first: float = 1.0,
    begun: bool = False,
) -> None: ...
def limit_suspects(vertex: _Halves, d: _Map, limited: _Halves, slack: float, threads: int) -> None: ...
def allocate(count: int) -> _Bytes: ...
def begin() -> None: ...
def rest() -> None: ...
def release_free_memory() -> None: ...
def minimizer(A: _Map, B: _Map, d: _Map, threads: int) -> None: ...
def scale(plane: _Map, factor: float, threads: int) -> None: ...
def largest(plane: _Map, threads: int) -> float: ...
def sample(image: _Map, out: _Map, step: int, threads: int) -> None: ...
def smooth(image: _Map, out: _Map, taps: _Double, threads: int) -> None: ...
def spread(d: _Map, out: _Map, side: int, threads: int) -> None: ...
def shrink(image: _Map, out: _Map, threads: int) -> None: ...
def tile_shifts(
    left: _Map, right: _Map, rest: _Double, *, side: int, reach: int, alike: float, threads: int
) -> None: ...
def near_texture(matches: _Matches, coarser: _Mask | None, out: _Mask, side: int, threads: int) -> None: ...
def fill_untextured(sigma: _Map, textured: _Mask, value: float, threads: int) -> None: ...
def expected_error(
    signs: Sequence[_Sign],
    sigma: _Map,
    *,
    scale: float,
    lens: float,
    middle: float,
    y0: float,
    x0: float,
    step: int,
    threads: int,
) -> None: ...
def weigh_offsets(
    A: _Map, vertex: _Halves, d: _Map, weight: _Map, apart: _Map, step: int, farthest: float, threads: int
) -> None: ...
def confidence_of(sigma: _Map, textured: _Mask, confidence: _Map, sure: float, threads: int) -> None: ...
def limit(
    d: _Map, confidence: _Map, sigma: _Map | None, *, low: float, high: float, beyond: float, threads: int
) -> None: ...
def mean(values: _Map, threads: int) -> float: ...
def census(image: _Map, codes: _Map, threads: int) -> None: ...
def find_candidates(
    left: _Map,
    right: _Map,
    cost: _Map,
    disparity: _Map,
    curvature: _Map,
    right_winner: _Map,
    *,
    first: int,
    count: int,
    taps: _Map,
    minimum: Minimum,
    cost_kind: Cost,
    threads: int,
) -> None: ...
def choose(
    cost: _Map,
    disparity: _Map,
    curvature: _Map,
    guide: _Map,
    chosen: _Map,
    *,
    step: float,
    jump: float,
    edge_sigma: float,
    threads: int,
) -> None: ...
def refine(left: _Map, right: _Map, d: _Map, textured: _Mask, window: int, threads: int) -> None: ...
def check_views(left: _Map, right: _Map, consistent: _Mask, most: float, threads: int) -> None: ...
def confirm(
    d: _Map,
    curvature: _Map,
    right: _Map,
    sure: _Map,
    S: _Map,
    counts: _Counts,
    *,
    most: float,
    trust: float,
    low: float,
    high: float,
    threads: int,
) -> None: ...
def weaken(d: _Map, curvature: _Map, S: _Map, alpha: _Map, beta: _Map, threads: int) -> None: ...
def sgm(
    left: _Map, right: _Map, d: _Map, *, first: int, count: int, taps: _Map, P1: float, P2: float, threads: int
) -> None: ...
def tile_sums(
    left: _Map,
    right: _Map,
    k_left: _Map,
    k_right: _Map,
    sums: _Map,
    squares: _Map,
    *,
    margin: int,
    tile: int,
    threads: int,
) -> None: ...
def guided_filter(
    d: _Map, confidence: _Map | None, guide: _Map, out: _Map, *, radius: int, eps: float, threads: int
) -> None: ...
def bilateral_solver(
    d: _Map,
    confidence: _Map | None,
    guide: _Map,
    out: _Map,
    *,
    luma: float,
    chroma: float,
    xy: int,
    lam: float,
    iterations: int,
    threads: int,
) -> None: ...
def weighted_median(
    d: _Map, confidence: _Map | None, guide: _Map, out: _Map, *, radius: int, sigma: float, threads: int
) -> None: ...
def polish(
    d: _Map, out: _Map, *, eps: float, low: float, high: float, threads: int, minus: _Map | None = None
) -> None: ...
def follow_outlines(d: _Map, guide: _Mask, room: _Map, *, sigma: float, step: float, threads: int) -> None: ...
def take_changes(d: _Map, before: _Map, after: _Map, *, every: int, threads: int) -> None: ...
def to_bytes(plane: _Map, bytes: _Mask, threads: int) -> None: ...
def blank_parts(blank: _Mask, d: _Map, part: _Ranges, steps: _Mask, beside: _Map, *, least: int, reach: int) -> int: ...
def remove_speckles(d: _Map, size: int, step: float) -> None: ...
def fill_holes(d: _Map) -> None: ...
def defocus_codes(d: _Map, codes: _Codes, *, focus: float, gain: float, threads: int) -> None: ...
def find_background(codes: _Codes, behind: _Codes, *, threads: int) -> None: ...
def refocus(
    photo: _Pixels, d: _Map, chords: _Map, out: _Pixels, *, focus: float, gain: float, linear: bool, threads: int
) -> None: ...
def copy(source: _Map, target: _Map, threads: int) -> None: ...
def multiply_adds(count: float, lanes: int, threads: int) -> float: ...
def unfilter(data: _Bytes, rows: _Bytes, pixel: int) -> bool: ...
def unpack_bits(data: _Bytes, out: _Bytes) -> int: ...
def unpack_lzw(data: _Bytes, out: _Bytes) -> int: ...
def add_up(values: _Sums) -> None: ...
def parse_numbers(text: _Bytes, out: _Numbers, largest: int) -> int: ...
