"""Time and peak memory of dualpix against OpenCV's StereoSGBM, on the same pair, in one run.

    python benchmarks/against_opencv.py [LEFT RIGHT] [--threads N] [--preset NAME] [--repeat N]

Without images, a simulated 15-megapixel pair is used. Times exclude reading files and are the best of the repeats,
taken in turn; ratios within one run are what counts, not seconds. Peak memory is that of a process of its own
that reads the files and computes one map.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np

import dualpix
from dualpix.io import read_image

DISPARITIES = 32
SGBM_MODES = {"SGBM HH": cv2.STEREO_SGBM_MODE_HH, "SGBM 5-way": cv2.STEREO_SGBM_MODE_SGBM}


def simulated_pair(folder: Path) -> list[Path]:
    """Noise of several sizes, displaced by -3..3 px from left to right, as 8-bit PNG."""
    height, width = 2940, 5180
    rng = np.random.default_rng(0)
    texture = sum(
        cv2.resize(rng.uniform(0, 60, (height // k, width // k)).astype(np.float32), (width, height))
        for k in (1, 3, 9, 27)
    )
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    right = cv2.remap(texture, x + 3 * np.cos(x / 400), y, cv2.INTER_CUBIC)
    paths = [folder / "left.png", folder / "right.png"]
    for path, view in zip(paths, (texture, right), strict=True):
        cv2.imwrite(str(path), np.clip(view, 0, 255).astype(np.uint8))
    return paths


def sgbm(mode: int, left: np.ndarray, right: np.ndarray) -> None:
    window = 5
    channels = 1 if left.ndim == 2 else left.shape[2]
    cv2.StereoSGBM_create(
        minDisparity=-DISPARITIES // 2,
        numDisparities=DISPARITIES,
        blockSize=window,
        P1=8 * channels * window**2,
        P2=32 * channels * window**2,
        mode=mode,
    ).compute(left, right)


def peak_megabytes(preset: str, paths: list[Path], threads: int) -> float:
    """Of a child that runs one map from files; this process must have had no larger child before."""
    code = f"import dualpix; dualpix.disparity({str(paths[0])!r}, {str(paths[1])!r}, {preset!r}, threads={threads})"
    subprocess.run([sys.executable, "-c", code], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", nargs="*", type=Path, metavar="LEFT RIGHT")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--preset", default="dslr-a")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if len(args.images) not in (0, 2):
        parser.error("give both views, or none")
    cv2.setNumThreads(args.threads)
    with tempfile.TemporaryDirectory() as folder:
        paths = args.images or simulated_pair(Path(folder))
        memory = peak_megabytes(args.preset, paths, args.threads)
        left, right = (read_image(path) for path in paths)

    stages: dict[str, float] = {}

    def ours() -> None:
        stages.update(dualpix.disparity(left, right, args.preset, threads=args.threads).timings)

    runs = {args.preset: ours}
    runs |= {name: (lambda mode=mode: sgbm(mode, left, right)) for name, mode in SGBM_MODES.items()}
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(args.repeat):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)

    height, width = left.shape[:2]
    print(f"{width}x{height}, {args.threads} threads, OpenCV {cv2.__version__} with {DISPARITIES} disparities")
    for name, seconds in best.items():
        print(f"{name:12s} {seconds:6.2f} s   {best[args.preset] / seconds:5.2f} = {args.preset} / {name}")
    print("stages       " + "  ".join(f"{stage} {seconds:.2f} s" for stage, seconds in stages.items()))
    floats = memory * 2**20 / (4 * width * height)
    print(f"peak memory  {memory:.0f} MB of the whole process, {floats:.1f} floats per pixel")


if __name__ == "__main__":
    main()
