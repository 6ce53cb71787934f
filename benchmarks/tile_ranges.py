"""Maps with one range for every tile, compared with maps with one range for the whole picture.

    python benchmarks/tile_ranges.py DATA

DATA holds the folders dslr, pixel4 and r6ii, or some of them. The columns are means over the scenes: the geometric mean
of AI(1), AI(2) and 1 - |rho| of both maps; the share of confident pixels (confidence above 0.5, and above 0.9) where
the maps differ by more than 0.02 px; the RMS of all differences; and the disparities searched per pixel at the finest
scale.
"""

import sys
from pathlib import Path

import numpy as np

import dualpix
from dualpix.evaluation.datasets import open_dataset, score
from dualpix.method import search
from dualpix.method.search import tile_ranges

PROTOCOLS = {"dslr": "paper-dslr", "pixel4": "proper", "r6ii": "proper"}


def main(data: Path) -> None:
    print("set      geo, common  geo, tiles  > 0.02 px of c > 0.5  of c > 0.9   RMS, px  disparities")
    for name, protocol in PROTOCOLS.items():
        if not (data / name).is_dir():
            continue
        dataset, rows = open_dataset(name, data), []
        for scene in map(dataset.load, dataset.scenes):
            (common, _), (tiles, searched) = (run(scene, narrow) for narrow in (False, True))
            difference = np.abs(tiles.disparity - common.disparity)
            geo = [score(name, scene, each.disparity)[protocol]["geometric_mean"] for each in (common, tiles)]
            off = [100 * np.mean(difference[common.confidence > sure] > 0.02) for sure in (0.5, 0.9)]
            rows.append([*geo, *off, np.sqrt(np.mean(difference**2)), *searched])
        one, other, half, most, rms, all_of_them, needed = np.mean(rows, axis=0)
        print(f"{name:8s} {one:11.5f} {other:11.5f} {half:19.2f} % {most:9.2f} % {rms:9.4f}", end="")
        print(f"  {all_of_them:.1f} -> {needed:.1f}")


def run(scene, narrow):
    """The result, and the disparities of the finest scale: of the whole picture, and the mean over the tiles."""
    searched = []

    def ranges(disparities, *rest):
        found = tile_ranges(disparities, *rest)
        searched[:] = [len(disparities), found[..., 1].mean()]
        return found if narrow else None

    search.tile_ranges = ranges
    return dualpix.disparity(scene.left, scene.right, "auto", scene.guide, axis=scene.axis), searched


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
