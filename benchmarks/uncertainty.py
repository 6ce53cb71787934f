"""Is sigma as large as the error? Ratios of errors to the sigma that the method expects.

    python benchmarks/uncertainty.py DATA [--set simulated|pixel4|r6ii|dslr|google ...] [--preset NAME]

DATA holds the folders of the sets, or some of them. The pixels of a set are divided into ten groups of growing sigma.
The table shows for each group the median sigma, the median |error|, and the ratio |error| / (0.6745 sigma): 1 is right,
above 1 the method is overconfident. The worst factor is the largest ratio or inverse of one.

Errors are in pixels of the estimate. The truth is first brought to them: by one gain per scene where it is in pixels,
by scale and offset elsewhere, fitted as for the scores. So sigma is checked up to the error of that fit.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from ablation import exit_code

import dualpix
from dualpix.evaluation.datasets import open_dataset
from dualpix.evaluation.metrics.affine import affine_fit
from dualpix.evaluation.metrics.pixels import CROP, fitted_gain
from dualpix.evaluation.outcomes import Scene
from dualpix.metrics import SigmaCalibration, sigma_calibration

SETS = ("simulated", "pixel4", "r6ii", "dslr", "google")
TRUSTED = 0.5  # weight of the truth, where the set has one


def signed_error(scene: Scene, d: np.ndarray) -> np.ndarray:
    """Estimate less truth in px of the estimate, NaN where the truth is unknown or not trusted."""
    truth = scene.truth.astype(np.float64)
    if scene.in_pixels:
        inside = np.full_like(truth, np.nan)
        inside[CROP:-CROP, CROP:-CROP] = truth[CROP:-CROP, CROP:-CROP]
        truth = inside
    elif scene.weight is not None:
        truth[scene.weight < TRUSTED] = np.nan
    known = np.isfinite(truth) & np.isfinite(d)
    x, y = d[known].astype(np.float64), truth[known]
    slope, offset = (fitted_gain(x, y), 0.0) if scene.in_pixels else affine_fit(x, y, np.ones_like(x))
    if slope <= 0:
        raise dualpix.InputError(f"scene {scene.name}: the map falls where the truth rises: it has no error in px")
    return d - (truth - offset) / slope


def lines(name: str, found: SigmaCalibration) -> str:
    """The table of a set."""
    rows = {"sigma, px": found.sigmas, "error, px": found.errors, "ratio": found.ratios}
    text = [f"  {label:10}" + "".join(f"{value:8.3f}" for value in values) for label, values in rows.items()]
    return "\n".join([f"{name}: worst factor {found.worst:.2f}", *text])


def check(name: str, data: Path, preset: str) -> bool:
    """Print the table of a set. False if this version has no sigma."""
    dataset, errors, sigmas = open_dataset(name, data), [], []
    for scene in map(dataset.load, dataset.scenes):
        result = dualpix.disparity(scene.left, scene.right, preset, scene.guide, axis=scene.axis)
        sigma = getattr(result, "sigma", None)
        if sigma is None:
            return False
        error = signed_error(scene, result.disparity)
        counted = np.isfinite(error)
        errors.append(error[counted])
        sigmas.append(sigma[counted])
        worst = sigma_calibration(errors[-1], sigmas[-1]).worst
        print(f"  {name} {scene.name}: worst factor {worst:.2f}", file=sys.stderr, flush=True)
    print(lines(name, sigma_calibration(np.concatenate(errors), np.concatenate(sigmas))), flush=True)
    return True


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS), help="only these sets")
    parser.add_argument("--preset", default="auto", help="the method (default: auto)")
    args = parser.parse_args(argv)
    with exit_code() as code:
        found = [name for name in args.set if (args.data / name).is_dir()]
        if not found:
            raise dualpix.InputError(f"{args.data}: holds none of {', '.join(args.set)}: give the folder that does")
        for name in found:
            if not check(name, args.data, args.preset):
                print("Result has no sigma in this version of dualpix, so there is nothing to check")
                break
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
