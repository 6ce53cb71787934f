"""Compare the maps of two machines: one writes a pair and its maps, the other makes the maps again.

    python tools/same_map.py write FILE.npz      # here
    python tools/same_map.py compare FILE.npz    # there; the exit code is 1 if the core's map is not the same

Without brightness equalisation the map is the work of the core alone, up to rounding that no pixel shows. With it, the
blur of OpenCV and the logarithm of NumPy round differently on each machine. Then pixels that match two places equally
well may choose the other one. That map is compared for information.
"""

import platform
import sys
from dataclasses import replace

import numpy as np

import dualpix

LARGEST = 1e-4  # px
SETTINGS = {"core": {"vignetting": 0}, "preset auto": {}}


def maps(left: np.ndarray, right: np.ndarray) -> dict[str, np.ndarray]:
    """The disparities with each setting."""
    return {name: dualpix.disparity(left, right, **options).disparity for name, options in SETTINGS.items()}


def main(task: str, path: str) -> int:
    """Write or compare."""
    if task == "write":
        from dualpix.scenes import evening, make

        left, right, _ = make(replace(evening(), width=360, height=240))
        np.savez(path, left=left, right=right, **maps(left, right))
        return 0
    known = np.load(path)
    apart = {name: np.abs(found - known[name]) for name, found in maps(known["left"], known["right"]).items()}
    for name, each in apart.items():
        share = 100 * np.mean(each > LARGEST)
        print(
            f"{platform.machine()}, {name}: largest difference {each.max():.2g} px, {share:.2f} % above {LARGEST:g} px"
        )
    return int(apart["core"].max() > LARGEST)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
