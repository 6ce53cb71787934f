"""What a calibration improves: the spread of the map of a plane, and the error of scenes of the same camera.

    python benchmarks/calibration.py DATA [--scenes]

DATA holds two planes, r6ii/flat/001/{0600,1500}/f4/{l,r}.png, the scenes of r6ii, and pixel4 with its white sheets.
Figures are geometric means of the default preset, averaged over the scenes, in protocol proper. With --scenes the lens
field comes from the depth of some scenes of a set, and only the other scenes are scored.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from ablation import Scene, exit_code, load

import dualpix
from dualpix.evaluation.metrics import affine_invariant

BORDER = 0.05  # share of width and height that is left out at every side


def spread(d: np.ndarray) -> float:
    """STD of a map inside the border, px."""
    rows, columns = (slice(round(BORDER * n), n - round(BORDER * n)) for n in d.shape)
    return float(d[rows, columns].std())


def error(scene: Scene, left: object, right: object, **options: object) -> float:
    d = dualpix.disparity(left, right, **options).disparity
    return affine_invariant(d, scene.truth, scene.protocol).geometric_mean


def planes(data: Path) -> None:
    folder = data / "r6ii/flat/001"
    pairs = {name: (folder / name / "f4/l.png", folder / name / "f4/r.png") for name in ("0600", "1500")}
    lenses = {name: dualpix.calibrate(planes=[pair]) for name, pair in pairs.items()}
    lenses["both"] = dualpix.calibrate(planes=list(pairs.values()))
    for name, pair in pairs.items():
        observed = spread(dualpix.disparity(*pair).disparity)
        print(f"plane {name}: STD {observed:.4f} px")
        for lens, calibration in lenses.items():
            left = spread(dualpix.disparity(*pair, calibration=calibration).disparity)
            print(f"  calibrated with {lens}: {left:.4f} px, {100 * (left / observed - 1):+.1f} %", flush=True)
    scenes = load(data, ["r6ii"])["r6ii"]
    for lens, calibration in {"none": None, **lenses}.items():
        errors = [error(scene, scene.left, scene.right, calibration=calibration) for scene in scenes]
        print(f"r6ii scenes, calibrated with {lens}: {np.mean(errors):.4f}", flush=True)


def sheets(data: Path) -> None:
    folder = data / "pixel4"
    white = tuple(folder / f"calibration/white_sheet_{side}.png" for side in ("left", "right"))
    lens = dualpix.calibrate(white=[white], black=1024)
    names = sorted(path.name.removesuffix("left.png") for path in folder.glob("*_left.png"))
    scenes = load(data, ["pixel4"])["pixel4"]
    raw: dict[str, dict[str, object]] = {
        "as they are": {},
        "black": {"black": 1024, "white": 16383},
        "black and gamma": {"black": 1024, "white": 16383, "gamma": 0.45},
        "white sheets": {"calibration": lens},
    }
    for label, options in raw.items():
        views = ((folder / f"{name}left.png", folder / f"{name}right.png") for name in names)
        errors = [error(scene, *pair, **options) for scene, pair in zip(scenes, views, strict=True)]
        print(f"pixel4 raw views, {label}: {np.mean(errors):.4f}", flush=True)


FITTED = (5, 4, 3, 2)  # numbers of scenes that a field is fitted to


def folds(count: int, fitted: int) -> list[list[int]]:
    """Every run of `fitted` neighbours in a ring of scenes, so that each scene is used equally often."""
    return [[(first + i) % count for i in range(fitted)] for first in range(count)]


def scene_fields(data: Path) -> None:
    """What the depth of some scenes is worth for the others of the same camera."""
    for name, scenes in load(data, ["pixel4", "r6ii"]).items():
        maps = [dualpix.disparity(scene.left, scene.right).disparity for scene in scenes]
        plain = [
            affine_invariant(d, scene.truth, scene.protocol).geometric_mean
            for d, scene in zip(maps, scenes, strict=True)
        ]
        print(f"{name}, {len(scenes)} scenes: {np.mean(plain):.4f} without calibration")
        for fitted in (k for k in FITTED if k < len(scenes)):
            before, after = [], []
            for used in folds(len(scenes), fitted):
                lens = dualpix.calibrate(scenes=[(scenes[i].left, scenes[i].right, scenes[i].truth) for i in used])
                for i in sorted(set(range(len(scenes))) - set(used)):
                    found = affine_invariant(lens.corrected(maps[i]), scenes[i].truth, scenes[i].protocol)
                    before.append(plain[i])
                    after.append(found.geometric_mean)
            change = 100 * (np.mean(after) / np.mean(before) - 1)
            better = sum(a < b for a, b in zip(after, before, strict=True))
            print(
                f"  fitted to {fitted} scenes, scored on the others: {np.mean(after):.4f}, {change:+.1f} %, "
                f"{better} of {len(after)} maps better",
                flush=True,
            )


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--scenes", action="store_true", help="only the fields from the depth of scenes, by folds")
    args = parser.parse_args(argv)
    with exit_code() as code:
        if args.scenes:
            scene_fields(args.data)
        else:
            planes(args.data)
            sheets(args.data)
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
