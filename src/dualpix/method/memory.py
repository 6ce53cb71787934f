"""How much memory a map takes. A pair that needs too much is refused before the machine runs out."""

from pathlib import Path, PurePosixPath

from ..errors import InputError
from ..params import Params
from .frame import Frame
from .scales import passes_of

# The most float32 maps of the pair's size that exist at once beside the two views; measured, and rounded up.
PAPER, EXACT, DETAIL, CODES, NORMALIZED, ONE_SCALE, OTHER_VIEW = 9, 9, 1, 1, 5, 5, 3
# Stereo: everything but the candidates, each candidate, and the paper's judgement of them.
WIDE, CANDIDATE, DOUBTS = 8, 4, 13
# While a filter runs. The solver has a cell for every few pixels; in the worst case, for every pixel.
GUIDED, WIDE_GUIDED, SOLVER, CELL, WIDE_SOLVER = 13, 29, 15, 28, 43

FIXED = 0.03  # GB that do not grow with the pair: tiles, tables, gaps in the heap


def floats_per_pixel(params: Params, scales: int, both_views: bool) -> float:
    """Float32 maps that the method needs with these parameters and number of scales, for any range."""
    wide = params.minima.candidates > 1
    if wide:
        matched = WIDE + CANDIDATE * params.minima.candidates + DOUBTS * (not any(params.minima.choice))
    else:
        exact = params.aggregation.messages == "exact"
        matched = EXACT if exact else PAPER + NORMALIZED * params.aggregation.normalize_iterations
        matched += DETAIL * (params.matching.detail != "none") + CODES * (params.matching.cost == "census")
        # the range is found in copies of the coarsest planes
        matched += ONE_SCALE * (scales == 1 and params.scales.range == "auto")
    filtered = {
        "none": 0.0,
        "guided": WIDE_GUIDED if wide else GUIDED,
        "solver": WIDE_SOLVER if wide else SOLVER + CELL * min(1.0, (4 / params.smoothing.solver_xy) ** 2),
    }
    return max(matched + OTHER_VIEW * both_views, filtered[params.smoothing.filter])


def check_memory(name: str, frame: Frame, params: Params, both_views: bool, mem_limit: float | None) -> None:
    """Refuse a pair that needs more than `mem_limit` GB or, without a limit, more than is free."""
    rows, columns = frame.square_shape
    scales = len(passes_of(params.scales.iterations, frame.square_shape))
    needed = FIXED + 4e-9 * rows * columns * floats_per_pixel(params, scales, both_views)
    limit = available() if mem_limit is None else mem_limit
    if limit is not None and needed > limit:
        height, width = frame.shape
        means = "are free" if mem_limit is None else "mem_limit allows"
        raise InputError(
            f"{name} is {width}x{height} pixels and needs about {needed:.2g} GB of memory beside the views, more "
            f"than the {limit:.3g} GB that {means}: give smaller views or another mem_limit"
        )


def available() -> float | None:
    """Free memory, GB: the least of what the machine, the control groups and the limit of this process leave."""
    found = [_machine(), *_groups(), _process()]
    return min((each for each in found if each is not None), default=None)


def _machine() -> float | None:
    kilobytes = _entry(_read("/proc/meminfo"), "MemAvailable:")
    return None if kilobytes is None else 1024e-9 * kilobytes


def _groups() -> list[float]:
    """What each control group of this process leaves, for versions 1 and 2 of Linux's control groups."""
    found = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names, shared = "/sys/fs/cgroup", ("memory.max", "memory.current"), ("file", "shmem")
        elif "memory" in controllers.split(","):
            root, names = "/sys/fs/cgroup/memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
            shared = ("total_cache", "total_shmem")
        else:
            continue
        for group in (PurePosixPath(path), *PurePosixPath(path).parents):
            folder = f"{root}{group}".rstrip("/")
            limit, used = (_read(f"{folder}/{name}").strip() for name in names)
            if limit.isdecimal() and used.isdecimal():
                # cached files are freed when memory is needed, except shared memory
                cached, living = (_entry(_read(f"{folder}/memory.stat"), name) or 0 for name in shared)
                found.append(1e-9 * max(int(limit) - int(used) + cached - living, 0))
    return found


def _process() -> float | None:
    """What `ulimit -v` leaves."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    used = _entry(_read("/proc/self/status"), "VmSize:")
    return None if limit == resource.RLIM_INFINITY or used is None else 1e-9 * max(limit - 1024 * used, 0)


def _entry(text: str, name: str) -> int | None:
    """The number after that name."""
    lines = (line.split() for line in text.splitlines())
    return next((int(words[1]) for words in lines if len(words) > 1 and words[0] == name), None)


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:  # not Linux, or not allowed to
        return ""
