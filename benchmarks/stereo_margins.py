"""How far pixels of a stereo pair influence each other: tiles with growing margins against the whole picture.

    python benchmarks/stereo_margins.py MIDDLEBURY/trainingQ [--preset stereo] [--tile 128]

For every pair and margin it prints the share of the pixels whose disparity differs by more than 0.02 px, of those with
a confidence above 0.5 and of all, in parts per million. Columns have the range as a further margin. Only the finest
scale is solved by tiles.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from dualpix.camera.lens import NO_LENS
from dualpix.io import read_pair
from dualpix.method.api import method_for
from dualpix.method.candidates import shift
from dualpix.method.prepare import develop, prepare
from dualpix.method.scales import Pyramid
from dualpix.method.solve import solve
from dualpix.method.survey import Wishes, survey
from dualpix.method.tiles import solve_tile, tiles
from dualpix.run import Run
from dualpix.types import Planes

MARGINS = 0, 8, 16, 32, 64, 128, 192  # px
SURE, TOLERANCE = 0.5, 0.02  # confidence, px


def compare(folder: Path, preset: str, side: int, run: Run) -> None:
    """Print a line for every margin."""
    pair, method = read_pair(folder / "im0.png", folder / "im1.png"), method_for(preset, {})
    pyramid = develop(pair, method, NO_LENS, run)
    plan = survey(pyramid, pair, method, NO_LENS, Wishes(), run)
    prepare(pyramid, plan, run)
    planes = Planes(*(plane.copy() for plane in pyramid.finest))
    belief = solve(pyramid, plan, run=run)
    plan = replace(plan, curvatures=belief.curvatures)
    coarser = solve(Pyramid(planes.halved(run.threads), plan.frame), plan.coarser(), run=run)
    shared = plan.finest(coarser)
    assert shared.search.finest is not None
    first, last = shared.search.finest
    sure = method.confidence(belief, method.sigma(belief, belief.disparity(), 1), 1) > SURE
    print(f"{folder.name}: {sure.mean():.0%} confident, {first} to {last} px")
    for margin in MARGINS:
        d = np.empty_like(belief.A)
        for tile in tiles(d.shape, side, (margin, margin + shift(range(first, last + 1)))):
            d[tile.rows, tile.columns] = solve_tile(planes, coarser, shared, tile, run).disparity()
        error = np.abs(d - belief.disparity())
        confident, every = (1e6 * np.mean(each > TOLERANCE) for each in (error[sure], error))
        print(f"  {margin:4d} px: {confident:8.0f} ppm, at most {error[sure].max():.4f} px; of all {every:8.0f} ppm")


def main() -> None:
    """Compare all pairs of the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--preset", default="stereo")
    parser.add_argument("--tile", type=int, default=128)
    args = parser.parse_args()
    for view in sorted(args.folder.glob("*/im0.png")):
        compare(view.parent, args.preset, args.tile, Run(2))


if __name__ == "__main__":
    main()
