"""Do threads help on a busy machine? Times by threads, quiet and with an endless program on each processor.

    python benchmarks/busy.py LEFT RIGHT [--threads N ...] [--repeat N]

There is one endless program for each processor that this process may use, with the same priority. So the method has
about half of the machine at best. The speed-up is over the first number of threads, in the same state of the machine.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time

import numpy as np

import dualpix
from dualpix.io.images import read_image

ENDLESS = "import os\nos.sched_setaffinity(0, {%d})\nwhile True: pass"


@contextlib.contextmanager
def busy(processors: set[int]):
    """Keeps every processor busy."""
    programs = [subprocess.Popen([sys.executable, "-c", ENDLESS % p]) for p in processors]
    try:
        time.sleep(0.5)
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def times(left: np.ndarray, right: np.ndarray, threads: list[int], repeat: int) -> dict[int, float]:
    """Median seconds of a map for each number of threads. They take turns."""
    seconds = {n: [] for n in threads}
    for n in threads * (repeat + 1):
        begin = time.perf_counter()
        dualpix.disparity(left, right, threads=n)
        seconds[n].append(time.perf_counter() - begin)
    return {n: statistics.median(of[1:]) for n, of in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("left")
    parser.add_argument("right")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    parser.add_argument("--repeat", type=int, default=7, help="maps of which the median is taken")
    args = parser.parse_args()
    views = read_image(args.left), read_image(args.right)
    for state, held in (("quiet", contextlib.nullcontext()), ("busy", busy(os.sched_getaffinity(0)))):
        with held:
            found = times(*views, args.threads, args.repeat)
        base = found[args.threads[0]]
        for n, seconds in found.items():
            print(f"{state:6s} {n:3d} threads {seconds:7.3f} s  speed-up {base / seconds:.2f}")


if __name__ == "__main__":
    main()
