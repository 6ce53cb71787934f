"""How much memory a map takes. A pair that needs too much is refused before the machine runs out."""

from pathlib import PurePosixPath

from ..errors import InputError
from ..params import Params
from .frame import Frame

# Float32 maps of the pair's size that exist at once beside the two views; measured, and rounded up.
PAPER = 9  # published messages
EXACT = 8.0  # exact messages
MATCHED = 0.5  # more for the vertices of the matches
NORMALIZED = 5  # more with normalize_iterations
DETAIL = 1  # more if the detail of the views is compared
CODES = 1  # more for census codes
ONE_SCALE = 7  # more if the range is found in copies of the only scale
OTHER_VIEW = 5  # more if both views are matched
OTHER_FRAME = 8.5  # more if the frame before is known: its belief, and the prior made from it
STEREO = 9  # stereo without its candidates
STEREO_OTHER_VIEW = 4  # more if both views are matched
CANDIDATE = 4  # more for each candidate
JUDGED = 13  # more if candidates are judged by their costs alone (choice is 0,0)
STRETCHED = 2  # more, of the input's own size, if its pixels are not square
# While a filter runs:
GUIDED, STEREO_GUIDED = 16, 29
SOLVER, STEREO_SOLVER = 17, 43
CELL = 28  # more for each cell of the solver's grid, which has at most one a pixel

FIXED = 0.03  # GB that do not grow with the pair: tiles, tables, gaps in the heap


def dual_pixel_floats(params: Params, scales: int, both_views: bool) -> float:
    """Float32 maps that dual-pixel matching needs, for any range."""
    exact = params.aggregation.messages == "exact"
    maps = EXACT if exact else PAPER + NORMALIZED * params.aggregation.normalize_iterations
    maps += MATCHED * (params.aggregation.fattening > 0 or params.measures_error)
    maps += DETAIL * (params.matching.detail != "none") + CODES * (params.matching.cost == "census")
    maps += ONE_SCALE * (scales == 1 and params.scales.range == "auto")
    cells = min(1.0, (4 / params.smoothing.solver_xy) ** 2)
    filtered = {"none": 0.0, "guided": GUIDED, "solver": SOLVER + CELL * cells}
    return max(maps + OTHER_VIEW * both_views, filtered[params.smoothing.filter])


def stereo_floats(params: Params, both_views: bool) -> float:
    """Float32 maps that stereo matching needs, for any range."""
    maps = STEREO + CANDIDATE * params.minima.candidates + JUDGED * (not any(params.minima.choice))
    filtered = {"none": 0.0, "guided": STEREO_GUIDED, "solver": STEREO_SOLVER}
    return max(maps + STEREO_OTHER_VIEW * both_views, filtered[params.smoothing.filter])


def gigabytes(shape: tuple[int, int], floats_per_pixel: float) -> float:
    """Memory beside the views, GB."""
    rows, columns = shape
    return FIXED + 4e-9 * rows * columns * floats_per_pixel


def check_memory(name: str, frame: Frame, floats_per_pixel: float, mem_limit: float | None) -> None:
    """Refuse a pair that needs more than `mem_limit` GB or, without a limit, more than is free."""
    height, width = frame.shape
    stretched = 4e-9 * height * width * STRETCHED if frame.aspect != 1 else 0
    needed = gigabytes(frame.square_shape, floats_per_pixel) + stretched
    limit = available() if mem_limit is None else mem_limit
    if limit is not None and needed > limit:
        means = "are free" if mem_limit is None else "mem_limit= allows"
        raise InputError(
            f"{name} is {width}x{height} pixels and needs about {needed:.2g} GB of memory beside the views, more "
            f"than the {limit:.3g} GB that {means}: give smaller views or another mem_limit="
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
            limit = _read(f"{folder}/{names[0]}").strip()
            used = _read(f"{folder}/{names[1]}").strip() if limit.isdecimal() else ""
            if used.isdecimal():
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
        with open(path, "rb", buffering=0) as file:  # without buffer and decoder: a map reads up to twenty such files
            return file.read().decode()
    except OSError:  # not Linux, or not allowed to
        return ""
