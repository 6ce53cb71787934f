"""Wide-baseline stereo: scores on Middlebury, and time and memory against OpenCV's StereoSGBM.

    python benchmarks/stereo.py DATA [--threads N] [--repeat N] [--only scores|ablation|speed|memory]

DATA holds folders of Middlebury (v3) scenes: im0.png, im1.png, calib.txt, disp0GT.pfm, mask0nocc.png.
Scores are means over the scenes, in protocol proper, over the pixels that both views see. Times are the best of the
repeats and do not include reading files. Peak memory is that of the method in a process of its own, without the views.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from ablation import exit_code

import dualpix
from dualpix import baselines, filters
from dualpix.evaluation.bench._measure import in_turn, peaks
from dualpix.evaluation.bench._methods import NAMES, wide_cases
from dualpix.evaluation.bench._pairs import wide_pair
from dualpix.evaluation.datasets import open_dataset
from dualpix.evaluation.metrics import bad_pixels
from dualpix.evaluation.outcomes import Scene

LARGE = (2000, 1500)  # width and height: 3 megapixels


# ---- the methods -----------------------------------------------------------------------------------------


def cca(preset: str | dualpix.Params, **options: object) -> Callable[[Scene], np.ndarray]:
    return lambda s: dualpix.disparity(s.left, s.right, preset, range=s.range, **options).disparity


def sgm(P1: float, P2: float) -> Callable[[Scene], np.ndarray]:
    return lambda s: baselines.sgm(s.left, s.right, s.range, P1=P1, P2=P2)


def sgm_helped(s: Scene) -> np.ndarray:
    """With padded views, so that blank walls do not match the black outside."""
    pad = round(s.range[1])
    return baselines.sgm(*padded(s, pad), s.range, P1=1, P2=8)[:, pad:]


def padded(s: Scene, pad: int) -> list[np.ndarray]:
    return [np.pad(view, ((0, 0), (pad, 0), (0, 0)), mode="edge") for view in (s.left, s.right)]


def sgbm_raw(s: Scene) -> np.ndarray:
    """The output of OpenCV: pixels without a value are one below the range."""
    return np.nan_to_num(baselines.opencv_sgbm(s.left, s.right, counted(s)), nan=s.range[0] - 1)


def sgbm_helped(s: Scene) -> np.ndarray:
    """With views padded so that no column is lost, and holes filled."""
    pad = -(-round(s.range[1]) // 16) * 16
    return filters.fill_holes(baselines.opencv_sgbm(*padded(s, pad), counted(s))[:, pad:])


def counted(s: Scene) -> tuple[float, float]:
    """ndisp disparities from 0. With one more, OpenCV would search 16 more and lose up to 16 columns."""
    return s.range[0], s.range[1] - 1


METHODS = {
    "stereo": cca("stereo"),
    "stereo, solver": cca("stereo", filter="solver"),
    "stereo, guided": cca("stereo", filter="guided"),
    "stereo-paper": cca("stereo-paper"),
    "stereo-paper, solver": cca("stereo-paper", filter="solver"),
    "own SGM, P1 3.25 P2 8.25": sgm(3.25, 8.25),
    "own SGM, P1 1 P2 8": sgm(1, 8),
    "own SGM, P1 1 P2 8, padded": sgm_helped,
    "OpenCV SGBM HH": sgbm_raw,
    "OpenCV SGBM HH, padded, filled": sgbm_helped,
}


# Changes to the preset `stereo`, one at a time.
CHANGES: dict[str, dict[str, object]] = {
    "as it is": {},
    "published cost: bt on detail": {"cost": "bt", "detail": "cost"},
    "published vertex: encc": {"subpixel": "encc"},
    "lowest minimum, no choice, ambiguity 0.1": {"choice": (0, 0), "ambiguity": 0.1},
    "2 candidates": {"candidates": 2},
    "6 candidates": {"candidates": 6},
    "P2 8": {"choice": (1.5, 8)},
    "P2 32": {"choice": (1.5, 32)},
    "one scale": {"iterations": (4,)},
    "prior weight 0.003": {"prior_weight": 0.003},
    "prior weight 0.03": {"prior_weight": 0.03},
    "quadratic: no robust tau": {"robust_tau": 0},
    "window 3": {"window": 3},
    "window 7": {"window": 7},
    "no speckles removed": {"speckles": (0, 0)},
    "no median after the filter": {"median_radius": 0},
}


def score(found: dict[str, Scene]) -> None:
    print(f"means over {len(found)} scenes, proper protocol")
    print("| method | bad 0.5 | bad 1 | bad 2 | RMSE |\n|---|---|---|---|---|")
    for name, method in METHODS.items():
        print(f"| {name} | {means(method, found)} |", flush=True)


def ablation(found: dict[str, Scene]) -> None:
    print("| | unfiltered: bad 0.5 | bad 1 | bad 2 | RMSE | solver: bad 0.5 | bad 1 | bad 2 | RMSE |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, change in CHANGES.items():
        changed = dualpix.preset("stereo").replace(filter="solver", **change)
        pair = (means(cca(changed, filter=filter), found) for filter in ("none", "solver"))
        print(f"| {name} | {' | '.join(pair)} |", flush=True)


def means(method: Callable[[Scene], np.ndarray], found: dict[str, Scene]) -> str:
    scores = [bad_pixels(method(s), s.truth) for s in found.values()]
    keys = ("bad_0_5", "bad_1", "bad_2", "rmse")
    return " | ".join(f"{np.mean([getattr(each, key) for each in scores]):.2f}" for key in keys)


# ---- time and memory -------------------------------------------------------------------------------------


def hh(left: np.ndarray, right: np.ndarray, disparities: int) -> None:
    grey = [cv2.cvtColor(view, cv2.COLOR_RGB2GRAY) for view in (left, right)]
    count = -(-disparities // 16) * 16
    matcher = cv2.StereoSGBM.create(0, count, 5, 8 * 25, 32 * 25, mode=cv2.STEREO_SGBM_MODE_HH)
    matcher.compute(*grey)


def speed(scene: Scene, threads: int, repeat: int) -> None:
    cv2.setNumThreads(threads)
    compare(scene.left, scene.right, round(scene.range[1]), threads, repeat)
    large = (cv2.resize(view, LARGE, interpolation=cv2.INTER_CUBIC) for view in (scene.left, scene.right))
    compare(*large, 256, threads, repeat)


def compare(left: np.ndarray, right: np.ndarray, disparities: int, threads: int, repeat: int) -> None:
    runs: dict[str, Callable[[], object]] = {
        "stereo": lambda: dualpix.disparity(left, right, "stereo", range=(0, disparities), threads=threads),
        "own SGM": lambda: baselines.sgm(left, right, (0, disparities), threads=threads),
        "SGBM HH": lambda: hh(left, right, disparities),
    }
    best = in_turn(runs, repeat)
    ratios = (f"{name} {seconds:.3f} s, {seconds / best['SGBM HH']:.2f} of HH" for name, seconds in best.items())
    size = f"{left.shape[1]}x{left.shape[0]}, {disparities} disparities, {threads} threads"
    print(f"{size}: " + "; ".join(ratios), flush=True)


def memory(threads: int) -> None:
    width, height = LARGE
    pixels = width * height
    for disparities in (32, 64, 128, 256, 512):
        cases = wide_cases(wide_pair(pixels / 1e6, disparities), disparities, threads)
        found = peaks(cases, lambda text: None)
        ours, theirs = found["stereo"], found[NAMES["hh"]]
        print(
            f"{width}x{height}, {disparities} disparities: stereo {ours.above:.0f} MB "
            f"({ours.record(pixels)['floats_per_pixel']:.1f} floats per pixel), SGBM HH {theirs.above:.0f} MB, "
            f"ratio {ours.above / theirs.above:.2f}",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", choices=("scores", "ablation", "speed", "memory"))
    args = parser.parse_args()
    with exit_code() as code:
        run(args)
    return code[0]


def run(args: argparse.Namespace) -> None:
    dataset = open_dataset("middlebury", args.data)
    found = {name: dataset.load(name) for name in dataset.scenes}
    if args.only in (None, "scores"):
        score(found)
    if args.only in (None, "ablation"):
        ablation(found)
    if args.only in (None, "speed"):
        speed(found.get("Motorcycle") or next(iter(found.values())), args.threads, args.repeat)
    if args.only in (None, "memory"):
        memory(args.threads)


if __name__ == "__main__":
    sys.exit(main())
