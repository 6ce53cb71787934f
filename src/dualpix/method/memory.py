"""How much memory a map takes, so that too large a pair is refused before the machine runs out of it."""

from pathlib import Path, PurePosixPath

from ..errors import InputError
from ..params import Params

# float32 maps of the size of the pair that are alive at once, at most, beside the two views: measured, and rounded up.
PAPER, EXACT, DETAIL, CODES, NORMALIZED, ONE_SCALE, OTHER_VIEW = 9, 9, 1, 1, 5, 2, 3
# Of wide baselines: all but the candidates, each of these, and the paper's doubts about them.
WIDE, CANDIDATE, DOUBTS = 8, 4, 13
# While a filter runs; the solver has a cell for every few pixels, and in the worst case for each.
GUIDED, WIDE_GUIDED, SOLVER, CELL, WIDE_SOLVER = 12, 29, 15, 28, 42

FIXED = 0.03  # GB, what does not grow with the pair: tiles, tables, gaps in the heap


def floats_per_pixel(params: Params, both_views: bool) -> float:
    """Of the method with these parameters, whatever the range of disparities."""
    wide = params.candidates > 1
    if wide:
        matched = WIDE + CANDIDATE * params.candidates + DOUBTS * (not any(params.choice))
    else:
        matched = EXACT if params.messages == "exact" else PAPER + NORMALIZED * params.normalize_iterations
        matched += DETAIL * (params.detail != "none") + CODES * (params.cost == "census")
        matched += ONE_SCALE * (len(params.iterations) == 1)
    filtered = {
        "none": 0.0,
        "guided": WIDE_GUIDED if wide else GUIDED,
        "solver": WIDE_SOLVER if wide else SOLVER + CELL * min(1.0, (4 / params.solver_xy) ** 2),
    }
    return max(matched + OTHER_VIEW * both_views, filtered[params.filter])


def check_memory(
    name: str, shape: tuple[int, ...], aspect: float, params: Params, both_views: bool, mem_limit: float | None
) -> None:
    """Refuse a pair if it needs more than mem_limit, GB, or without one than there is.

    shape is the height and width of its pictures, aspect the height of their pixels over the width.
    """
    height, width = shape
    needed = FIXED + 4e-9 * height * width * max(aspect, 1 / aspect) * floats_per_pixel(params, both_views)
    limit = available() if mem_limit is None else mem_limit
    if limit is not None and needed > limit:
        means = "are free" if mem_limit is None else "mem_limit allows"
        raise InputError(
            f"{name} is {width}x{height} pixels, for which about {needed:.2g} GB of memory are needed beside the "
            f"views, more than the {limit:.3g} GB that {means}: give smaller views or another mem_limit"
        )


def available() -> float | None:
    """Memory that may still be had, GB: of the machine, of the group of processes, and of this one, if limited."""
    found = [_machine(), *_groups(), _process()]
    return min((each for each in found if each is not None), default=None)


def _machine() -> float | None:
    kilobytes = _entry(_read("/proc/meminfo"), "MemAvailable:")
    return None if kilobytes is None else 1024e-9 * kilobytes


def _groups() -> list[float]:
    """What each of the groups that this process is in leaves, with version 2 of Linux's control groups and 1."""
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
                # files in the cache are given back when needed, unless they live there
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
