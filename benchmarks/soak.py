"""Long and crowded use: huge pairs, many calls, many threads, processes that were forked.

    python benchmarks/soak.py                  # everything; some minutes on two idle cores
    python benchmarks/soak.py calls threads    # some parts: huge, calls, threads, processes

Every part prints its figures and whether they are as they must be. The exit code is 1 if any is not. Linux only: memory
is read from /proc.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import cv2
import numpy as np

import dualpix

SHIFT = 2  # px, the disparity of all pairs
HUGE = 10_000  # px, rows and columns of the huge pair
LIMIT = 4.0  # GB for the huge pair
CALLS, WARM = 1_000, 100
GROWTH = 8.0  # MB that calls WARM..CALLS may add: gaps in the heap
THREADS = 8
SMALL = 240, 320  # rows and columns of all other pairs
PAIRS = 8  # different small pairs
STARTS = ("fork", "spawn", "forkserver")
PATIENCE = 300  # s until a process that gives no answer counts as hanging

Pair = tuple[np.ndarray, np.ndarray]


def pair(seed: int, height: int = SMALL[0], width: int = SMALL[1]) -> Pair:
    """A colour pair with the disparity SHIFT everywhere."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, 256, (height // 4 + 1, width // 4 + 1, 3), np.uint8)
    left = cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
    return left, np.roll(left, -SHIFT, axis=1)


def digest(seed: int, threads: int = 2) -> bytes:
    """The bytes of the disparity of a small pair."""
    return dualpix.disparity(*pair(seed), threads=threads).disparity.tobytes()


def resident() -> float:
    """Memory of this process, MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def huge() -> bool:
    """A pair of 100 MP through the command: its peak memory, files and all."""
    import tifffile

    with tempfile.TemporaryDirectory() as folder:
        names = [str(Path(folder, name)) for name in ("left.tif", "right.tif", "map.tif")]
        for name, view in zip(names, pair(0, HUGE, HUGE), strict=False):
            tifffile.imwrite(name, view)
        start = time.perf_counter()
        command = [sys.executable, "-m", "dualpix", "disparity", *names[:2], "-o", names[2], "--quiet"]
        child = subprocess.Popen(command)
        _, status, usage = os.wait4(child.pid, 0)
        seconds, gigabytes = time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e9
        if status:
            print(f"huge: dualpix disparity ended with {os.waitstatus_to_exitcode(status)}")
            return False
        error = float(np.median(np.abs(tifffile.memmap(names[2]) - SHIFT)))
    print(f"huge: {HUGE}x{HUGE} colour, {seconds:.0f} s, peak memory {gigabytes:.2f} GB, median error {error:.3f} px")
    return gigabytes <= LIMIT and error < 0.1


def calls() -> bool:
    """Many calls in this process: its memory does not grow."""
    start = time.perf_counter()
    for number in range(1, CALLS + 1):
        digest(number % PAIRS)
        if number == WARM:
            before = resident()
    grown = resident() - before
    seconds = time.perf_counter() - start
    print(f"calls: {before:.1f} MB after {WARM}, {grown:+.1f} MB after {CALLS}, {seconds:.0f} s")
    return grown <= GROWTH


def threads() -> bool:
    """Many Python threads at once give the bytes of one after another."""
    work = [*range(PAIRS)] * 4
    alone = [digest(seed) for seed in work]
    with ThreadPoolExecutor(THREADS) as pool:
        together = [*pool.map(digest, work)]
    wrong = different(alone, together)
    print(f"threads: {THREADS} at once, {wrong} of {len(work)} maps differ from those made one after another")
    return wrong == 0


def processes() -> bool:
    """Children of every kind give the bytes of their parent, also if it has used threads, and while it does."""
    work = [*range(PAIRS)]
    alone = [digest(seed) for seed in work]  # the parent has used threads of the core and of OpenCV
    good = True
    for method in STARTS:
        for busy in (False, True):
            with Busy() if busy else nullcontext():
                wrong = in_children(method, work, alone)
            while_busy = ", while threads of the parent compute" if busy else ""
            print(f"processes: {method}, {wrong} of {len(work)} maps differ or never came{while_busy}")
            good &= wrong == 0
    return good


def in_children(method: str, work: list[int], alone: list[bytes]) -> int:
    """How many maps are wrong or missing if two children make them."""
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        try:
            return different(alone, pool.map_async(digest, work, chunksize=1).get(PATIENCE))
        except multiprocessing.TimeoutError:
            return len(work)


class Busy:
    """Threads that compute maps until the end of the block."""

    def __enter__(self) -> None:
        self._stop = False
        self._pool = ThreadPoolExecutor(2)
        self._tasks = [self._pool.submit(self._compute) for _ in range(2)]

    def __exit__(self, *_: object) -> None:
        self._stop = True
        for task in self._tasks:
            task.result()
        self._pool.shutdown()

    def _compute(self) -> None:
        while not self._stop:
            digest(0)


def different(first: Iterable[bytes], second: Iterable[bytes]) -> int:
    """How many maps are not the same."""
    return sum(a != b for a, b in zip(first, second, strict=True))


PARTS: dict[str, Callable[[], bool]] = {"huge": huge, "calls": calls, "threads": threads, "processes": processes}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    chosen = parser.parse_args().parts or [*PARTS]
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"unknown part {sorted(unknown)[0]}: there are {', '.join(PARTS)}")
    failed = [name for name in chosen if not PARTS[name]()]
    print(f"failed: {', '.join(failed)}" if failed else "all as it must be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
