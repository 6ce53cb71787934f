"""Compare the map of two machines: one writes a pair and its map, the other makes the map again.

    python tools/same_map.py write FILE.npz      # here
    python tools/same_map.py compare FILE.npz    # there; the exit code is 1 if a pixel differs by more than LARGEST
"""

import platform
import sys
import time
from dataclasses import replace

import numpy as np

import dualpix

LARGEST = 1e-4  # px


def main(task: str, path: str) -> int:
    """Write or compare."""
    if task == "write":
        from dualpix.scenes import evening, make

        shot = make(replace(evening(), width=360, height=240))
        disparity = dualpix.disparity(shot.left, shot.right).disparity
        np.savez(path, left=shot.left, right=shot.right, disparity=disparity)
        return 0
    known = np.load(path)
    start = time.perf_counter()
    found = dualpix.disparity(known["left"], known["right"]).disparity
    seconds = time.perf_counter() - start
    apart = np.abs(found - known["disparity"])
    print(
        f"{platform.machine()}: {seconds:.0f} s, largest difference {apart.max():.2g} px, "
        f"{np.count_nonzero(apart > LARGEST)} of {apart.size} pixels above {LARGEST:g} px"
    )
    return int(apart.max() > LARGEST)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
