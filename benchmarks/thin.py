"""How much of their height thin things and corners keep.

    python benchmarks/thin.py FOLDER [--set NAME=V1,V2 ...]

FOLDER/simulated has rendered scenes, as `dualpix scenes -o FOLDER/simulated` writes them. The rows are the preset auto,
and auto with each of the values. Thin things stand out of the truth by more than 0.25 px where a square of 15 px does
not fit. Corners and small things stand out where a disc of 41 px does not fit, away from thin things. Errors are mean
absolute errors in px. Height is the share of the true height that the map has, the median of a scene. All figures are
means over the scenes.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from ablation import exit_code
from tune import groups_of, with_auto

from dualpix.evaluation.datasets import open_dataset
from dualpix.evaluation.methods import Preset
from dualpix.evaluation.metrics.pixels import CROP
from dualpix.evaluation.outcomes import Scene
from dualpix.metrics import pixel_errors
from dualpix.run import thread_count

FloatArray = npt.NDArray[np.floating]

STANDS_OUT = 0.25  # px
SQUARE = np.ones((15, 15), np.uint8)
DISC = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (41, 41))
COLUMNS = ("all", "edges", "smooth", "bump", "thin", "thin height", "corners", "corner height")


def height(truth: FloatArray, shape: FloatArray) -> FloatArray:
    """By how much a pixel is nearer than the nearest surface that holds the shape around it, px; 0 at the border."""
    above = truth - cv2.morphologyEx(truth, cv2.MORPH_OPEN, shape)
    inside = np.zeros_like(above)
    inside[CROP:-CROP, CROP:-CROP] = above[CROP:-CROP, CROP:-CROP]
    return inside


def figures(scene: Scene, d: FloatArray) -> dict[str, float]:
    """The columns of one scene. Those of thin things or corners are missing where it has none."""
    truth = scene.truth.astype(np.float32)
    score = pixel_errors(d, truth)
    found = {"all": score.mae, "edges": score.edges, "smooth": score.smooth, "bump": score.bump}
    thin, corner = height(truth, SQUARE), height(truth, DISC)
    corner[thin > STANDS_OUT] = 0
    error = (score.gain or 1) * d - truth
    for name, column, above in (("thin", "thin height", thin), ("corners", "corner height", corner)):
        counted = above > STANDS_OUT
        if counted.any():
            found[name] = float(np.abs(error[counted]).mean())
            found[column] = float(np.median(1 + error[counted] / above[counted]))
    return {column: value for column, value in found.items() if value is not None}


def table(data: Path, settings: list[str]) -> None:
    """One row for each candidate."""
    dataset = open_dataset("simulated", data)
    candidates = with_auto(change for group in groups_of(settings, grid=False).values() for change in group)
    print(f"{'':24}" + "".join(f"{column:>15}" for column in COLUMNS))
    for label, params in candidates.items():
        columns = defaultdict(list)
        for scene in map(dataset.load, dataset.scenes):
            d, _ = Preset(label, params).run(scene, thread_count(None))
            for column, value in figures(scene, d).items():
                columns[column].append(value)
        print(f"{label:24}" + "".join(f"{np.mean(columns[column]):15.3f}" for column in COLUMNS), flush=True)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="FOLDER")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=V1,V2", help="values to try")
    args = parser.parse_args(argv)
    with exit_code() as code:
        table(args.data, args.set)
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
