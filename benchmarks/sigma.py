"""Fit the expected error: `SIGMA`, `LENS` and `MIDDLE` of `dualpix.method.confidence`.

    python benchmarks/sigma.py DATA [RENDERED ...]

DATA holds the folders of data sets, or some of them. RENDERED holds scenes made by `dualpix scenes -o
RENDERED/simulated`. The exponents bring the median error of each tenth of the pixels of each set close to 0.6745 sigma.
The worst tenth of a set counts most. The order of the pixels counts a little, too: the variance of
``log sigma - log(|error| + 0.01 px)``. Every set of DATA has the same weight. Rendered scenes have a twentieth of it:
their lenses are ideal, so their errors are smaller. The search starts at the present values and at a fit by least
squares; the better end counts. Last, each set is left out: the table shows how well the fit to the others holds.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from ablation import exit_code
from scipy.optimize import minimize
from uncertainty import SETS, lines, signed_error

import dualpix
from dualpix.evaluation.datasets import open_dataset
from dualpix.method.confidence import FLOORS, LENS, MIDDLE, POWER, SIGMA, lens_sign, picture_span, signs_of_error
from dualpix.metrics import ause, sigma_calibration
from dualpix.types import doubled

SAMPLE = 40_000  # pixels of a scene
POOL = 20_000  # pixels of a set
LEAST = 0.01  # px, added to the error
# Bounds of exponents. More evidence must be surer, and more difference less sure. Blank regions must be unsure even if
# most of them are right on these scenes.
LOW = {"constant": -9.0, "texture": -1.0}
HIGH = {"constant": 9.0, "texture": -0.1}
RENDERED = 1 / 20  # weight of rendered scenes
FINE = 0.3  # a tenth of the pixels whose log(error / (0.6745 sigma)) is within this is right
ORDER = 0.1  # weight of the order
STEPS = 500  # of a search
ROUNDS = 2  # searches from each start; each goes on from the last one
SIMPLEX = 0.1  # first step of the search along each axis
NAMES = (*SIGMA, "lens", "middle")


def sample(scene, rng):
    """Signs, the last two those of the lens, and |errors| of some pixels of a scene."""
    # blank parts as they are: the belief that is kept does not have the fill
    result = dualpix.disparity(scene.left, scene.right, "auto", scene.guide, axis=scene.axis, blank=0)
    error = np.abs(signed_error(scene, result.disparity))
    belief, frame = result.belief, result.plan.frame
    signs, d = [], belief.disparity()
    logs = (np.log(sign + FLOORS[name]) for name, sign in signs_of_error(belief, d, 1).items())
    lens = lens_sign(belief, d)
    for sign in (*logs, lens, np.full_like(lens, picture_span(belief, d) ** POWER)):
        half = [(n + 1) // 2 for n in belief.A.shape]
        full = doubled(doubled(sign, half, 1), belief.A.shape, 1)
        signs.append(frame.upright(frame.back(full)))
    at = rng.choice(np.flatnonzero(np.isfinite(error)), SAMPLE)
    return np.stack([sign.ravel()[at] for sign in signs], axis=1).astype(np.float64), error.ravel()[at]


def fit(sets):
    """Constant and exponents."""
    bounds = np.array([(LOW.get(name, 0.0), HIGH.get(name, 1.0)) for name in NAMES]).T
    drawn = [(weight, *pooled(scenes)) for weight, scenes in sets.values()]

    def loss(c):
        return sum(weight * misfit(np.clip(c, *bounds), signs, error) for weight, signs, error in drawn)

    X, y = (
        np.concatenate(each)
        for each in zip(*((signs, np.log(error + LEAST)) for _, signs, error in drawn), strict=True)
    )
    c = np.linalg.lstsq(np.column_stack([np.ones(len(y)), X[:, :-2]]), y, rcond=None)[0]
    starts = [*SIGMA.values(), LENS, MIDDLE], np.append(c, [0.1, 0.1])
    found = [search(loss, np.asarray(start), bounds) for start in starts]
    return min(found, key=loss)


def search(loss, c, bounds):
    """A minimum near c."""
    for _ in range(ROUNDS):
        start = np.clip(c, *bounds)
        corners = start + SIMPLEX * np.eye(len(c) + 1, len(c), -1)
        options = {"maxfev": STEPS, "adaptive": True, "initial_simplex": corners}
        c = minimize(loss, start, method="Nelder-Mead", options=options).x
    return np.clip(c, *bounds)


def pooled(scenes):
    """Signs and errors of some pixels of all scenes."""
    signs, errors = (np.concatenate(each) for each in zip(*scenes, strict=True))
    at = np.random.default_rng(1).choice(len(errors), min(POOL, len(errors)), replace=False)
    return signs[at], errors[at]


def misfit(c, signs, error):
    """How far sigma is from the errors of a set, by tenths of its pixels."""
    expected = sigma(c, signs)
    off = np.abs(np.log(sigma_calibration(error, expected).ratios))
    order = np.var(np.log(expected / (error + LEAST)))
    return 20 * np.mean(np.maximum(off - FINE, 0) ** 2) + 20 * max(off.max() - FINE, 0) ** 2 + ORDER * order


def sigma(c, signs):
    """The expected error; the last of the signs are ``D rho^2`` and D."""
    lens = c[-2] * np.hypot(signs[:, -2], c[-1] * signs[:, -1])
    return np.hypot(np.exp(c[0] + signs[:, :-2] @ c[1:-2]), lens)


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
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("rendered", type=Path, nargs="*", metavar="RENDERED")
    args = parser.parse_args(argv)
    rng, sets = np.random.default_rng(0), {}
    with exit_code() as code:
        for data in (args.data, *args.rendered):
            weight = 1 if data == args.data else RENDERED
            for name in (name for name in SETS if (data / name).is_dir()):
                dataset = open_dataset(name, data)
                scenes = [sample(dataset.load(scene), rng) for scene in dataset.scenes]
                sets[f"{data.name}/{name}"] = weight, scenes
        c = fit(sets)
        print("all sets:", dict(zip(NAMES, c.round(3).tolist(), strict=True)))
        for name, (_, scenes) in sets.items():
            others = {each: sets[each] for each in sets if each != name}
            show(f"{name}, fitted to all sets", c, scenes)
            show(f"{name}, fitted to the others", fit(others or sets), scenes)
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
