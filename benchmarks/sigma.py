"""Fit the expected error: the exponents of `dualpix.method.confidence.SIGMA`.

    python benchmarks/sigma.py DATA [DATA ...]

Each DATA holds the folders of data sets, or some of them. Folders made by `dualpix scenes -o DATA/simulated` are sets,
too. ``log(|error| + 0.01 px)`` is fitted by a linear function of the logarithms of `signs_of_error`, by least squares.
Every set counts the same, and every scene of a set. Then a power of the fit is taken so that the median error is 0.6745
sigma for small and for large sigma. Last, each set is left out: the table shows how well the fit to the others holds.
"""

import argparse
import sys
from pathlib import Path

import cv2
import numpy as np
from ablation import exit_code
from uncertainty import SETS, lines, signed_error

import dualpix
from dualpix.evaluation.datasets import open_dataset
from dualpix.method.confidence import signs_of_error
from dualpix.metrics import ause, sigma_calibration

SAMPLE = 20_000  # pixels of a scene
LEAST = 0.01  # px, added to the error
# Bounds of exponents. More evidence must be surer. Blank regions are unsure, but not so much that the order suffers in
# pictures where most of them are right (Pixel 4).
BOUNDS = {"texture": (-0.13, 0.0), "curvature": (-1.0, -0.1)}
NAMES = ("constant", "near", "far", "texture", "curvature")


def sample(scene, rng):
    """Signs and |errors| of some pixels of a scene."""
    result = dualpix.disparity(scene.left, scene.right, "auto", scene.guide, axis=scene.axis)
    error = np.abs(signed_error(scene, result.disparity))
    belief, frame = result.belief, result.plan.frame
    signs = []
    for sign in signs_of_error(belief, belief.disparity()).values():
        full = cv2.resize(sign, belief.A.shape[::-1], interpolation=cv2.INTER_LINEAR)
        signs.append(frame.upright(frame.back(full)))
    at = rng.choice(np.flatnonzero(np.isfinite(error)), SAMPLE)
    return np.stack([sign.ravel()[at] for sign in signs], axis=1).astype(np.float64), error.ravel()[at]


def fit(sets):
    """Constant and exponents."""
    rows, values, weights = [], [], []
    for scenes in sets.values():
        for signs, error in scenes:
            rows.append(np.column_stack([np.ones(len(error)), signs]))
            values.append(np.log(error + LEAST))
            weights.append(np.full(len(error), 1 / len(scenes)))
    X, y, w = np.concatenate(rows), np.concatenate(values), np.sqrt(np.concatenate(weights))
    free, c = np.ones(len(NAMES), bool), np.zeros(len(NAMES))
    for name in (None, *BOUNDS):  # one after the other: an exponent outside its bounds is set to the nearer one
        if name is not None:
            at = NAMES.index(name)
            bounded = np.clip(c[at], *BOUNDS[name])
            free[at] = bounded == c[at]
            c[at] = bounded
        c[free] = np.linalg.lstsq(X[:, free] * w[:, None], (y - X[:, ~free] @ c[~free]) * w, rcond=None)[0]
    return stretched(c, sets)


def stretched(c, sets):
    """A power of the fit, and a factor, that bring the median errors of all tenths closest to 0.6745 sigma.

    Least squares draw predictions towards the mean, so small errors come out too large, and large ones too small.
    """
    tenths = [calibration(c, scenes) for scenes in sets.values()]
    x, y = (np.log(np.concatenate([getattr(each, name) for each in tenths])) for name in ("sigmas", "errors"))
    power, offset = np.polyfit(x, y - np.log(0.6745), 1)
    return power * c + offset * np.eye(len(c))[0]


def sigma(c, signs):
    return np.exp(c[0] + signs @ c[1:])


def show(name, c, scenes):
    """How well the fit holds on a set."""
    area = np.mean([ause(error, -sigma(c, signs)) for signs, error in scenes])
    print(f"{lines(name, calibration(c, scenes))}\n  AUSE {area:.3f}", flush=True)


def calibration(c, scenes):
    """Errors and sigma of a set, by tenths of its pixels."""
    errors, sigmas = zip(*((error, sigma(c, signs)) for signs, error in scenes), strict=True)
    return sigma_calibration(np.concatenate(errors), np.concatenate(sigmas))


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    args = parser.parse_args(argv)
    rng, sets = np.random.default_rng(0), {}
    with exit_code() as code:
        for data in args.data:
            for name in (name for name in SETS if (data / name).is_dir()):
                dataset = open_dataset(name, data)
                sets[f"{data.name}/{name}"] = [sample(dataset.load(scene), rng) for scene in dataset.scenes]
        print("all sets:", dict(zip(NAMES, fit(sets).round(3).tolist(), strict=True)))
        for name, scenes in sets.items():
            others = {each: sets[each] for each in sets if each != name}
            show(f"{name}, fitted to the others", fit(others or sets), scenes)
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
