"""How much memory a map takes, so that too large a pair is refused before the machine runs out of it."""

from pathlib import Path

from .errors import InputError
from .params import Params

# float32 maps of the size of the pair that are alive at once, at most, beside the two views.
PAPER, EXACT, DETAIL, OTHER_VIEW = 9, 8, 1, 3
FILTER, WIDE_FILTER = 15, 42
# Of wide baselines: all but the candidates, each of these, and the paper's doubts about them.
WIDE, CANDIDATE, DOUBTS = 8, 4, 12


def floats_per_pixel(params: Params, both_views: bool) -> int:
    """Of the method with these parameters, whatever the range of disparities."""
    if params.candidates > 1:
        matched = WIDE + CANDIDATE * params.candidates + DOUBTS * (not any(params.choice))
    else:
        matched = (EXACT if params.messages == "exact" else PAPER) + DETAIL * (params.detail != "none")
    filtered = 0 if params.filter == "none" else WIDE_FILTER if params.candidates > 1 else FILTER
    return max(matched + OTHER_VIEW * both_views, filtered)


def check_memory(name: str, shape: tuple[int, ...], params: Params, both_views: bool, mem_limit: float | None) -> None:
    """Refuse a pair of that height and width if it needs more than mem_limit, GB, or without one than there is."""
    height, width = shape
    needed = 4e-9 * height * width * floats_per_pixel(params, both_views)
    limit = available() if mem_limit is None else mem_limit
    if limit is not None and needed > limit:
        means = "are free" if mem_limit is None else "mem_limit allows"
        raise InputError(
            f"{name} is {width}x{height} pixels, for which about {needed:.3g} GB of memory are needed, more than the "
            f"{limit:.3g} GB that {means}: give smaller views or another mem_limit"
        )


def available() -> float | None:
    """Memory that may still be had, GB: of the machine, and of the group of processes if that is limited."""
    found = [_machine(), _group()]
    return min((each for each in found if each is not None), default=None)


def _machine() -> float | None:
    lines = _read("/proc/meminfo").splitlines()
    return next((1024e-9 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def _group() -> float | None:
    limit, used = (_read(f"/sys/fs/cgroup/memory.{what}").strip() for what in ("max", "current"))
    if not (limit.isdecimal() and used.isdecimal()):
        return None
    statistics = _read("/sys/fs/cgroup/memory.stat").splitlines()
    # files in the cache are given back when needed
    cached = next((int(line.split()[1]) for line in statistics if line.startswith("file ")), 0)
    return 1e-9 * max(int(limit) - int(used) + cached, 0)


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # not Linux, or not allowed to
        return ""
