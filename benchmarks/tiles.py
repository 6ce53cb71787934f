"""How far a picture solved in tiles is from the same picture solved as a whole.

    python benchmarks/tiles.py DATA [--dataset NAME ...] [--side PX]

For every scene: the margin, and of the confident pixels the largest difference, the 99.9th percentile, and the share
that differs by more than 0.02 px.
"""

import argparse
from dataclasses import replace

import numpy as np

from dualpix.camera.lens import NO_LENS
from dualpix.evaluation.datasets import open_dataset
from dualpix.method.api import method_for
from dualpix.method.prepare import develop, prepare
from dualpix.method.scales import Pyramid
from dualpix.method.solve import solve
from dualpix.method.survey import Wishes, survey
from dualpix.method.tiles import margins, solve_tile, tiles
from dualpix.run import Run, thread_count
from dualpix.types import Pair, Planes

SURE = 0.5  # confidence
TOLERANCE = 0.02  # px


def compare(pair: Pair, axis: str, side: int) -> tuple[int, np.ndarray]:
    """The margin, and the differences of the confident pixels, px."""
    run, method = Run(thread_count(None)), method_for("auto", {})
    pyramid = develop(pair, method, NO_LENS, run)
    plan = survey(pyramid, pair, method, NO_LENS, Wishes(axis), run)
    prepare(pyramid, plan, run)
    planes = Planes(*(plane.copy() for plane in pyramid.finest))
    whole = solve(pyramid, plan, run=run)
    plan = replace(plan, curvatures=whole.curvatures)
    coarse = solve(Pyramid(planes.halved(run.threads), plan.frame), plan.coarser(), run=run)
    margin, shared = margins(plan, whole.limits).solving, plan.finest(coarse)
    d = np.empty_like(planes.left)
    for tile in tiles(d.shape, side, margin):
        d[tile.rows, tile.columns] = solve_tile(planes, coarse, shared, tile, run).disparity(run.threads)
    vertex = whole.disparity(run.threads)
    sure = method.confidence(whole, vertex, run) > SURE
    return margin, np.abs(d - vertex)[sure]


def main() -> None:
    """Print a line a scene."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--dataset", nargs="+", default=["pixel4"])
    parser.add_argument("--side", type=int, default=672, help="of the tiles, px")
    args = parser.parse_args()
    for name in args.dataset:
        dataset = open_dataset(name, args.data)
        for scene in map(dataset.load, dataset.scenes):
            pair = Pair(scene.left, scene.right, scene.guide)
            margin, error = compare(pair, scene.axis, args.side)
            print(
                f"{name} {scene.name}: margin {margin} px, largest {error.max():.4f} px, 99.9 % below "
                f"{np.quantile(error, 0.999):.4f} px, {100 * np.mean(error > TOLERANCE):.4f} % above {TOLERANCE} px",
                flush=True,
            )


if __name__ == "__main__":
    main()
