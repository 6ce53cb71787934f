"""Calls of the kernels with odd arguments: shapes of 0 and 1, NaN and infinity, huge and negative numbers, strides.

A call begins with arguments that fit together. Then, in half of the calls, some of them are replaced. The result must
be a return or a ValueError or TypeError, never a crash.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from random import Random
from typing import Any

import numpy as np

from dualpix import _core
from dualpix.types import reusing

from .oracle import Told, Wrong

SIDES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40)
VALUES = (0.0, -0.0, 1.0, -1.0, 255.0, 1e-45, -1e-38, 1e10, 3e38, -3e38, np.nan, np.inf, -np.inf)
WHOLE = (
    0,
    1,
    2,
    3,
    5,
    21,
    64,
    255,
    256,
    1023,
    1024,
    4095,
    4096,
    -1,
    -2,
    -1000,
    2**20,
    -(2**20),
    2**30,
    2**31 - 1,
    -(2**31),
    2**31,
    2**63,
    -(2**64),
)
# The time of a call grows with these, so they are refused or small.
SMALL = {"iterations": 30, "count": 3000}
Arguments = dict[str, Any]


class Draw:
    """Random arguments of one call."""

    def __init__(self, random: Random) -> None:
        self.random, self.numbers = random, np.random.default_rng(random.getrandbits(64))
        self.h, self.w = random.choice(SIDES), random.choice(SIDES)
        self.threads = random.choice((1, 1, 2, 3, 8))

    def map(self, *shape: int, dtype: Any = np.float32, ordinary: bool = False) -> Any:
        """An array of that shape, by default of the picture's: noise, a constant, or noise with odd values."""
        shape = shape or (self.h, self.w)
        if np.dtype(dtype).kind != "f":
            return self.numbers.integers(0, np.iinfo(dtype).max, shape).astype(dtype)
        scale = self.random.choice((1, 1, 100, 1e4))
        values = (self.numbers.standard_normal(shape) * scale).astype(dtype)
        if ordinary or self.random.random() < 0.5:
            return values
        if self.random.random() < 0.3:
            return np.full(shape, self.random.choice(VALUES), dtype)
        odd = self.numbers.random(shape) < self.random.choice((0.01, 0.2, 0.8))
        values[odd] = self.numbers.choice(np.array(VALUES, dtype), int(odd.sum()))
        return values

    def mask(self, *shape: int) -> Any:
        return self.numbers.integers(0, 2, shape or (self.h, self.w)).astype(np.uint8)

    def taps(self) -> Any:
        n = self.random.choice((1, 2, 3, 11, 22, 60))
        return np.full(n, 1 / n, np.float32) if self.random.random() < 0.7 else self.map(n)

    def disparities(self, least: int = 3) -> Arguments:
        first = self.random.choice((0, -1, -5, -40, 3, 50, -(2**20), 2**20))
        return {"first": first, "count": self.random.choice((least, least + 1, 8, 9, 17, 90))}

    def real(self, *usual: float) -> float:
        return self.random.choice(usual) if self.random.random() < 0.8 else self.random.choice(VALUES)

    def half(self, *shape: int) -> tuple[int, ...]:
        return tuple((side + 1) // 2 for side in shape or (self.h, self.w))


def _to_plane(r: Draw) -> Arguments:
    channels = r.random.choice((1, 2, 3, 4))
    pixels = r.map(r.h, r.w, channels, dtype=r.random.choice((np.uint8, np.uint16, np.float32)))
    tone = {"black": r.real(0, 20), "most": r.real(1, 255), "gamma": r.real(0.45, 2.2), "full": r.real(1, 255)}
    return {"pixels": pixels, "plane": r.map(), "weights": r.map(channels), "scale": r.real(1, 255)} | tone


def _match(r: Draw) -> Arguments:
    told = r.disparities() | {"taps": r.taps(), "subpixel": r.random.choice(list(_core.Subpixel)), "bias": r.map(21)}
    told |= {name: r.map() for name in ("left", "right", "alpha", "beta", "encc_left", "encc_right")}
    told |= {
        "side": r.random.choice((1, 1, 2)),
        "encc_window": r.random.choice((3, 5, 11, 41)),
        "ratio_threshold": r.real(0.5, 1),
        "noise_floor": r.real(0, 1),
    }
    if r.random.random() < 0.4:
        tiles = [-(-side // _core.tile) for side in (r.h, r.w)]
        ranges = np.empty((*tiles, 2), np.int32)
        ranges[..., 0], ranges[..., 1] = told["first"], r.random.choice((3, told["count"]))
        told["ranges"] = ranges
    told |= {"cost": r.random.choice(list(_core.Cost))}
    blocks = told["cost"] in (_core.Cost.sad, _core.Cost.ssd)
    return _coded(told | {"side": r.random.choice((1, 2)) if blocks else 1}, "cost")


def _condition(r: Draw) -> Arguments:
    priors = []
    for factor in (1, 2)[: r.random.choice((0, 1, 2))]:
        shape = (r.h, r.w) if factor == 1 else r.half()
        priors.append((r.map(*shape), r.map(*shape), factor, r.real(0.5, 1), r.real(0, 2)))
    told = {
        "alpha": r.map(),
        "beta": r.map(),
        "divisor": r.map(r.w),
        "priors": priors,
        "invalid_threshold": r.real(0, 1),
    }
    return told | ({"vertex": r.map(dtype=np.uint16)} if r.random.random() < 0.5 else {})


def _edge_weights(r: Draw) -> Arguments:
    told = {
        "guide": r.map(),
        "weights": r.map(r.h, r.random.choice((2, 4)), r.w, dtype=np.uint8),
        "sigma": r.real(1, 5),
    }
    spread = {"spread": r.map(-(-r.h // 4), -(-r.w // 4)), "flat": r.real(0, 1)}
    return told | (spread if r.random.random() < 0.5 else {})


def _aggregate(r: Draw) -> Arguments:
    told = {name: r.map() for name in ("alpha", "beta", "A", "B")}
    told["weights"] = r.map(r.h, r.random.choice((2, 4)), r.w, dtype=np.uint8)
    kind = r.random.choice(list(_core.Messages))
    robust = kind == _core.Messages.exact and r.random.random() < 0.5
    told |= {"messages": kind, "minimizer": r.map() if robust else r.random.choice((None, r.map()))}
    told["taus"] = [r.real(0, 0.5, 1) for _ in range(r.random.choice((1, 2, 3)))] if robust else []
    if r.random.random() < 0.5:
        told |= {"vertex": r.map(dtype=np.uint16), "fattening": r.real(0.5, 1)}
    if kind == _core.Messages.exact:
        told["first"] = r.real(0.01, 1)
    if robust:
        told["begun"] = r.random.random() < 0.5
    names = ("penalty", "scale", "jump_penalty", "farthest")
    return told | {name: r.real(0, 0.5, 1, 20) for name in names}


def _limit_suspects(r: Draw) -> Arguments:
    halves = {name: r.map(dtype=np.uint16) for name in ("vertex", "limited")}
    return halves | {"d": r.map(), "slack": r.real(0, 0.5, 1)}


def _blank_parts(r: Draw) -> Arguments:
    outputs = {"part": r.map(dtype=np.int32), "steps": r.mask(), "beside": r.map()}
    numbers = {"least": r.random.choice((-1, 0, 1, 20)), "reach": r.random.choice((-1, 0, 1, 8, 255, 256))}
    return {"blank": r.mask(), "d": r.map()} | outputs | numbers


def _take_changes(r: Draw) -> Arguments:
    every = r.random.choice((1, 2, 3, 64))
    small = (r.h - 1) // every + 1, (r.w - 1) // every + 1
    return {"d": r.map(), "before": r.map(*small), "after": r.map(*small), "every": every}


def _candidates(r: Draw) -> Arguments:
    kept = r.random.choice((1, 2, 4, 6))
    planes = {name: r.map(kept, r.h, r.w) for name in ("cost", "disparity", "curvature")}
    views = {name: r.map() for name in ("left", "right", "right_winner")}
    kinds = {"minimum": r.random.choice(list(_core.Minimum)), "cost_kind": r.random.choice(list(_core.Cost))}
    return _coded(planes | views | kinds | r.disparities() | {"taps": r.taps()}, "cost_kind")


def _coded(told: Arguments, cost: str) -> Arguments:
    """With views that hold census codes if the cost needs them."""
    if told[cost] == _core.Cost.census:
        for name in ("left", "right"):
            told[name] = np.floor(np.nan_to_num(np.abs(told[name])) % 2.0**24).astype(np.float32)
    return told


def _choose(r: Draw) -> Arguments:
    kept = r.random.choice((1, 2, 4, 6))
    planes = {name: r.map(kept, r.h, r.w) for name in ("cost", "disparity", "curvature", "chosen")}
    return planes | {"guide": r.map(), "step": r.real(0, 1), "jump": r.real(0, 5), "edge_sigma": r.real(1, 9)}


def _tile_sums(r: Draw) -> Arguments:
    margin, tile = r.random.choice((0, 1, 3)), r.random.choice((1, 2, 5, 16))
    h, w = r.h + 2 * margin, r.w + 2 * margin
    tiles = ((r.h - 1) // tile + 1, (r.w - 1) // tile + 1)
    kernel = lambda: r.map(2 * r.random.randint(0, margin) + 1, 2 * r.random.randint(0, margin) + 1)  # noqa: E731
    views = {"left": r.map(h, w), "right": r.map(h, w), "k_left": kernel(), "k_right": kernel()}
    return views | {"sums": r.map(*tiles), "squares": r.map(*tiles), "margin": margin, "tile": tile}


def _filter(r: Draw, **options: Any) -> Arguments:
    confidence = None if r.random.random() < 0.5 else np.abs(r.map())
    guide = r.map(r.random.choice((1, 3)), r.h, r.w)
    return {"d": r.map(), "confidence": confidence, "guide": guide, "out": r.map(), **options}


def _refocus(r: Draw) -> Arguments:
    shape = (r.h, r.w, r.random.choice((1, 3)))
    dtype = r.random.choice((np.uint8, np.uint16, np.float32))
    lines = r.random.choice((1, 5, 32))
    openings = np.empty((r.random.choice((1, 3)), r.random.choice((1, 2)), 2, lines), np.float32)
    openings[:, :, 0], openings[:, :, 1] = -r.random.random(), r.random.random()
    views = {"photo": r.map(*shape, dtype=dtype), "d": r.map(), "chords": openings, "out": r.map(*shape, dtype=dtype)}
    return views | {"focus": r.real(0, 1), "gain": r.real(0, 1, -8, 100), "linear": r.random.random() < 0.5}


def _covariances(r: Draw) -> Arguments:
    r.h, r.w, side = r.h + 2, r.w + 2, r.random.choice((1, 3, 8, 32))
    tiles = (r.h - 2) // side * ((r.w - 2) // side)
    return {"left": r.map(), "right": r.map(), "C": np.zeros((tiles, 6, 6)), "side": side}


def _shifts(r: Draw) -> Arguments:
    side = r.random.choice((1, 3, 8, 32))
    rest = np.zeros((3, r.h // side * (r.w // side)))
    told = {"left": r.map(), "right": r.map(), "rest": rest, "side": side, "reach": r.random.choice((0, 1, 9))}
    return told | {"alike": r.real(1e-3, 1)}


def _shrink(r: Draw) -> Arguments:
    return {"image": r.map(), "out": r.map(r.random.randint(1, r.h), r.random.randint(1, r.w))}


def _tile_extremes(r: Draw) -> Arguments:
    side = _core.tile // 2
    tiles = (-(-r.h // side), -(-r.w // side))
    return {"d": r.map(), "reach": r.random.choice((0, 1, 9)), "least": r.map(*tiles), "most": r.map(*tiles)}


def _unfilter(r: Draw) -> Arguments:
    pixel = r.random.choice((1, 2, 3, 4, 6, 8))
    data = r.map(r.h * (r.w * pixel + 1), dtype=np.uint8)
    data[:: r.w * pixel + 1] = r.numbers.integers(0, r.random.choice((5, 6)), r.h)  # the filters
    return {"data": data, "rows": r.map(r.h, r.w * pixel, dtype=np.uint8), "pixel": pixel}


def _packed(r: Draw) -> Arguments:
    size = r.random.choice((1, 2, 9, 100, 5000))
    return {"data": r.map(size, dtype=np.uint8), "out": r.map(r.random.choice((1, 7, size, 9999)), dtype=np.uint8)}


def _parsed(r: Draw) -> Arguments:
    text = r.numbers.choice(np.frombuffer(b"0123456789  \n\t#-", np.uint8), r.random.choice((1, 9, 300)))
    out = r.map(r.random.choice((1, 20, 300)), dtype=np.uint16)
    return {"text": text, "out": out, "largest": r.random.choice((1, 255, 65535))}


def _codes(r: Draw) -> Any:
    return r.numbers.integers(-333, 334, (r.h, r.w)).astype(np.int16)


def _sampled(r: Draw, *names: str) -> Arguments:
    """Maps of every step-th row and column."""
    step = r.random.choice((1, 2, 4, 60))
    return {name: r.map(-(-r.h // step), -(-r.w // step)) for name in names} | {"step": step}


def _maps(*names: str, **options: tuple[float, ...]) -> Callable[[Draw], Arguments]:
    """Maps of the picture's shape, and numbers."""
    return lambda r: {name: r.map() for name in names} | {name: r.real(*usual) for name, usual in options.items()}


CALLS: dict[str, Callable[[Draw], Arguments]] = {
    "to_plane": _to_plane,
    "multiply": lambda r: {
        "plane": r.map(),
        "grid": r.map(*r.random.choice(((1, 1), (3, 5), (200, 1)))),
        "height": r.h + r.random.choice((3, 3, 0, -1)),
        "width": r.w + r.random.choice((9, 9, 1 << 20, 0)),
        "top": r.random.choice((0, 0, 3, 3, -1)),
        "left": r.random.choice((0, 9, 1)),
        "step": r.random.choice((1, 1, 1, 2, 0, 1 << 30)),
    },
    "scale": _maps("plane", factor=(0.5, 2)),
    "largest": _maps("plane"),
    "sample": lambda r: _sampled(r, "out") | {"image": r.map()},
    "pyramid_down": lambda r: {"image": r.map(), "half": r.map(*r.half())},
    "pyramid_up": lambda r: {"half": r.map(*r.half()), "image": r.map(), "add": r.random.random() < 0.5},
    "subtract_bilateral": _maps("image", "out"),
    "match": _match,
    "tile_extremes": _tile_extremes,
    "tile_covariances": _covariances,
    "condition": _condition,
    "edge_weights": _edge_weights,
    "aggregate": _aggregate,
    "limit_suspects": _limit_suspects,
    "minimizer": _maps("A", "B", "d"),
    "smooth": lambda r: {"image": r.map(), "out": r.map(), "taps": r.taps().astype(np.float64)},
    "spread": lambda r: {"d": r.map(), "out": r.map(), "side": r.random.choice((1, 2, 11, 60))},
    "shrink": _shrink,
    "tile_shifts": _shifts,
    "near_texture": lambda r: {
        "matches": r.random.choice((r.map(), r.map(dtype=np.uint16))),
        "coarser": r.random.choice((None, r.mask(*r.half()))),
        "out": r.mask(),
        "side": r.random.choice((1, 3, 43, 8191)),
    },
    "expected_error": lambda r: (
        _maps("sigma", scale=(0.1, 1), lens=(0, 1), middle=(0, 1), y0=(0, 9), x0=(0, 9))(r)
        | {
            "signs": [(r.map(), r.real(0, 0.01), r.real(-0.5, 0.5)) for _ in range(r.random.choice((0, 1, 5)))],
            "step": 4,
        }
    ),
    "weigh_offsets": lambda r: (
        _maps("A", "d", farthest=(1, 3))(r) | {"vertex": r.map(dtype=np.uint16)} | _sampled(r, "weight", "apart")
    ),
    "fill_untextured": lambda r: {"sigma": r.map(), "textured": r.mask(), "value": r.real(1, 9)},
    "confidence_of": lambda r: {"sigma": r.map(), "textured": r.mask(), "confidence": r.map(), "sure": r.real(0.5, 1)},
    "limit": lambda r: (
        _maps("d", "confidence", low=(-3, 0), high=(0, 3), beyond=(0, 1))(r)
        | {"sigma": r.random.choice((None, r.map()))}
    ),
    "mean": _maps("values"),
    "census": _maps("image", "codes"),
    "find_candidates": _candidates,
    "choose": _choose,
    "refine": lambda r: _maps("left", "right", "d")(r) | {"textured": r.mask(), "window": r.random.choice((3, 11, 41))},
    "confirm": lambda r: (
        _maps("d", "curvature", "right", "sure", "S", most=(0, 1), trust=(0, 1), low=(-9, 9), high=(-9, 9))(r)
        | {"counts": np.empty(4, np.int64)}
    ),
    "weaken": _maps("d", "curvature", "S", "alpha", "beta"),
    "check_views": lambda r: _maps("left", "right", most=(0, 1))(r) | {"consistent": r.mask()},
    "sgm": lambda r: _maps("left", "right", "d", P1=(0, 3), P2=(3, 127))(r) | r.disparities(1) | {"taps": r.taps()},
    "tile_sums": _tile_sums,
    "guided_filter": lambda r: _filter(r, radius=r.random.choice((1, 4, 4096)), eps=r.real(0.01, 1)),
    "bilateral_solver": lambda r: _filter(
        r, luma=r.real(4, 8), chroma=r.real(4, 8), xy=r.random.choice((1, 8, 4096)), lam=r.real(0, 1), iterations=9
    ),
    "weighted_median": lambda r: _filter(r, radius=r.random.choice((1, 3, 255)), sigma=r.real(1, 20)),
    "follow_outlines": lambda r: (
        _maps("d", "room", sigma=(1, 20), step=(0, 1))(r)
        | {"guide": r.mask(), "step": r.random.choice((0.0, 0.3, 1.0, -1.0))}
    ),
    "take_changes": _take_changes,
    "to_bytes": lambda r: {"plane": r.map(), "bytes": r.mask()},
    "polish": lambda r: (
        _maps("d", "out", eps=(0.01, 1), low=(-3, 0), high=(0, 3))(r) | {"minus": r.random.choice((None, r.map()))}
    ),
    "blank_parts": _blank_parts,
    "remove_speckles": lambda r: {"d": r.map(), "size": r.random.choice((0, 1, 20)), "step": r.real(0, 1)},
    "fill_holes": _maps("d"),
    "defocus_codes": lambda r: _maps("d", focus=(0, 1), gain=(1, -8, 100))(r) | {"codes": _codes(r)},
    "find_background": lambda r: {"codes": _codes(r), "behind": _codes(r)},
    "refocus": _refocus,
    "unfilter": _unfilter,
    "unpack_bits": _packed,
    "unpack_lzw": _packed,
    "add_up": lambda r: {
        "values": r.map(r.h, r.w, r.random.choice((1, 3)), dtype=r.random.choice((np.uint8, np.uint16, np.uint32)))
    },
    "parse_numbers": _parsed,
    "copy": _maps("source", "target"),
    "multiply_adds": lambda r: {"count": r.random.choice((0, 1, 1000, 1e5)), "lanes": r.random.choice((4, 8, 16))},
    "allocate": lambda r: {"count": r.random.choice((-1, 0, 1, 4095, 1 << 20, 1 << 22, 1 << 62))},
    "begin": lambda r: {},
    "rest": lambda r: {},
    "release_free_memory": lambda r: {},
}
_NO_THREADS = ("blank_parts", "remove_speckles", "fill_holes", "allocate", "begin", "rest", "release_free_memory")
_NO_THREADS += ("unfilter", "unpack_bits", "unpack_lzw", "add_up", "parse_numbers")


def call(random: Random, told: Told) -> None:
    """One call, alone or in a block that keeps threads. They end with the block: the next input has its own."""
    name, arguments = drawn(random)
    told.size = 64 << 20  # a kernel may take some memory of its own
    with reusing() if random.random() < 0.5 else nullcontext():
        found = (_allocate if name == "allocate" else getattr(_core, name))(**arguments)
    if name == "begin":
        _core.rest()
    if not isinstance(found, int | float | None):
        raise Wrong(f"{name} returns {found!r}")


def _allocate(count: Any) -> None:
    """Memory that is asked for and is not there is a right answer."""
    with suppress(MemoryError):
        _core.allocate(count)[:4096].fill(1)


def drawn(random: Random) -> tuple[str, Arguments]:
    """The name of a kernel and its arguments."""
    name = random.choice(sorted(CALLS))
    r = Draw(random)
    arguments = CALLS[name](r)
    if name not in _NO_THREADS:
        arguments["threads"] = r.threads
    if arguments and random.random() < 0.5:
        for _ in range(random.choice((1, 1, 2))):
            chosen = random.choice(sorted(arguments))
            arguments[chosen] = _odd(chosen, arguments, r)
    return name, arguments


def _odd(name: str, arguments: Arguments, r: Draw) -> Any:
    """Something else in the place of an argument."""
    value = arguments[name]
    if isinstance(value, bool | None) or not isinstance(value, int | float | np.ndarray):
        return r.random.choice((None, 0, "text", value, r.map()))
    if isinstance(value, np.ndarray):
        return _odd_array(value, arguments, r)
    number = r.random.choice((*WHOLE, *VALUES) if isinstance(value, float) else WHOLE)
    most = SMALL.get(name)
    return min(number, most) if most is not None and number <= 2**20 else number


def _odd_array(value: Any, arguments: Arguments, r: Draw) -> Any:
    arrays = [each for each in arguments.values() if isinstance(each, np.ndarray)]
    shape = list(value.shape)
    axis = r.random.randrange(value.ndim)
    shape[axis] = r.random.choice((0, 1, 2, shape[axis] + 1, shape[axis] - 1, 2 * shape[axis]))
    locked = value.copy()
    locked.flags.writeable = False
    with np.errstate(all="ignore"):
        other = value.astype(r.random.choice((np.float64, np.int64, np.uint8, np.float16, ">f4")))
    return r.random.choice(
        (
            np.zeros([max(0, side) for side in shape], value.dtype),
            np.zeros((0,) * value.ndim, value.dtype),
            np.repeat(value, 2, axis=-1)[..., ::2],  # strides
            value[..., ::-1],
            np.asfortranarray(value),
            other,
            value[np.newaxis],
            np.frombuffer(b"\0" + value.tobytes(), np.uint8)[1:].view(value.dtype).reshape(value.shape),  # not aligned
            locked,
            r.random.choice(arrays),
            None,
        )
    )
