"""How many metres off: planes that were calibrated with, and scenes of the same camera and lens with known depth.

    python benchmarks/metric.py DATA

DATA holds r6ii/flat/001/{0600,1500}/f4/{l,r}.png, planes at 0.6 m and 1.5 m, and scenes with depth under r6ii/box and
r6ii/casual. If pixel4/calibration/blur_kernels_{left,right}.npy is there, it prints the baseline of these kernels, too.
Prints the median depth of the planes, and for every scene the median of |z - truth| / truth in percent,
over all pixels with known depth. Each column is a way to get metres:

planes    calibrated with both planes; the map is corrected for the lens
sensor    the same, with distances taken from the sensor (focal length 50 mm) instead of the lens
points    two pixels of flat places whose true depth is given, near the 10th and 90th percentile of depth
focus     the focus distance, 1 m, and the one of these pixels that is farther from it in diopters
exif      focal length, aperture, focus distance and sensor of the camera, nothing measured
none      1 m everywhere: what a column must beat
inside    of planes: percent of the pixels with finite depth whose error is below their uncertainty
inf       of planes: percent of the pixels that are too far to tell
"""

import argparse
import sys
from pathlib import Path

import cv2
import numpy as np
from ablation import exit_code

import dualpix
from dualpix.camera.ranging import BASELINE, from_exif, metric_of
from dualpix.io import read_image
from dualpix.io.shot import Shot

PLANES = {"0600": 0.6, "1500": 1.5}  # folder: distance, m
CAMERA = Shot(focal_length=50, aperture=4, focus_distance=1.0, sensor_width=36)
BORDER = 0.05  # share of width and height of a plane that is left out at every side
NEAREST, FARTHEST = 0.1, 10.0  # m; other depths are unknown
FLAT = 0.05  # relative difference of the depths around a known point


def truth(folder: Path, shape: tuple[int, int]) -> np.ndarray:
    """Depth in metres, NaN where unknown."""
    stored = read_image(folder / "d.png")
    stored = stored if stored.ndim == 2 else stored[..., 0]
    z = stored.astype(np.float32) / (1000 if stored.dtype == np.uint16 else 25.5)
    z = cv2.resize(z, shape[::-1], interpolation=cv2.INTER_NEAREST)
    return np.where((z > NEAREST) & (z < FARTHEST), z, np.nan)


def known_points(z: np.ndarray, confidence: np.ndarray) -> list[tuple[float, float, float]]:
    """The near and the far one of two pixels whose depth a user might have measured.

    They are sure, 40 px from the border, and all depths around them are within 5 %: nobody measures an edge.
    """
    inner = np.zeros(z.shape, bool)
    inner[40:-40, 40:-40] = True
    around = np.ones((11, 11), np.uint8)  # px, whose median a known point takes
    nearest, farthest = cv2.erode(np.nan_to_num(z), around), cv2.dilate(np.nan_to_num(z, nan=np.inf), around)
    usable = inner & (farthest - nearest < FLAT * farthest)
    usable &= confidence >= np.quantile(confidence[usable], 0.7)
    found = []
    for percent in (10, 90):
        goal = np.percentile(z[usable], percent)
        y, x = np.unravel_index(np.argmin(np.where(usable, np.abs(z - goal), np.inf)), z.shape)
        found.append((float(x), float(y), float(z[y, x])))
    return found


def error(z: np.ndarray, true: np.ndarray) -> float:
    """Median relative error, percent; inf counts as infinitely wrong."""
    known = np.isfinite(true)
    return 100 * float(np.median(np.abs(z[known] - true[known]) / true[known]))


def baselines(data: Path, r6ii: float) -> None:
    """The distance between the half pupils, as a share of the aperture."""
    print(
        f"baseline over aperture: half discs {4 / (3 * np.pi):.3f}, R6 II by its planes {r6ii:.3f}, assumed {BASELINE}"
    )
    files = [data / f"pixel4/calibration/blur_kernels_{side}.npy" for side in ("left", "right")]
    if not all(path.is_file() for path in files):
        return
    left, right = (np.clip(np.load(path), 0, None).astype(np.float64) for path in files)
    left, right = (kernels / kernels.sum(axis=(1, 2), keepdims=True) for kernels in (left, right))
    y, x = np.mgrid[: left.shape[1], : left.shape[2]]
    shift = ((left - right) * x).sum(axis=(1, 2))
    both = (left + right) / 2
    middle = [(both * axis).sum(axis=(1, 2))[:, None, None] for axis in (x, y)]
    # The mean of r^2 over a disc is D^2 / 8.
    diameter = np.sqrt(8 * (both * ((x - middle[0]) ** 2 + (y - middle[1]) ** 2)).sum(axis=(1, 2)))
    print(f"  Pixel 4 by its kernels {np.median(np.abs(shift) / diameter):.3f}")


def planes(folder: Path, lens: dualpix.Calibration) -> None:
    for name, distance in PLANES.items():
        result = dualpix.disparity(folder / name / "f4/l.png", folder / name / "f4/r.png", calibration=lens)
        z = result.depth(lens).metres
        rows, columns = (slice(round(BORDER * n), n - round(BORDER * n)) for n in z.shape)
        middle = float(np.median(z[rows, columns]))
        print(f"plane at {distance:g} m: median {middle:.3f} m, {100 * (middle / distance - 1):+.1f} %")


def ways(folder: Path, lens: dualpix.Calibration, sensor: dualpix.Calibration) -> dict[str, float]:
    """The median relative error of each way, percent."""
    views = folder / "l.png", folder / "r.png"
    result = dualpix.disparity(*views, calibration=lens)
    d, true = result.disparity, truth(folder, result.disparity.shape)
    points = known_points(true, result.confidence)
    other = max(points, key=lambda point: abs(1 / point[2] - 1 / CAMERA.focus_distance))
    metrics = {
        "planes": lens.metric,
        "sensor": sensor.metric,
        "points": metric_of(d, known=points, sigma=result.sigma),
        "focus": metric_of(d, known=[other], focus_distance=CAMERA.focus_distance, sigma=result.sigma),
    }
    found = {name: error(metric.depth(d, result.sigma).metres, true) for name, metric in metrics.items()}
    depth, known = lens.metric.depth(d, result.sigma), np.isfinite(true)
    finite = known & np.isfinite(depth.metres)
    inside = (np.abs(depth.metres - true) < depth.uncertainty)[finite].mean()
    plain = dualpix.disparity(*views)
    exif = from_exif(CAMERA, d.shape, None, None, "the camera")
    found["exif"] = error(exif.depth(plain.disparity, plain.sigma).metres, true)
    found["none"] = error(np.full(d.shape, CAMERA.focus_distance), true)
    return {**found, "inside": 100 * inside, "inf": 100 * (1 - finite.sum() / known.sum())}


def scenes(folder: Path) -> list[Path]:
    return sorted(path.parent for part in ("box", "casual") for path in (folder / part).rglob("d.png"))


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    args = parser.parse_args(argv)
    folder = args.data / "r6ii"
    with exit_code() as code:
        flat = folder / "flat/001"
        pairs = [(flat / name / "f4/l.png", flat / name / "f4/r.png") for name in PLANES]
        lens, sensor = (
            dualpix.calibrate(planes=pairs, distances=list(PLANES.values()), focal_length=f) for f in (None, 50)
        )
        planes(flat, lens)
        exif = from_exif(CAMERA, (lens.height, lens.width), None, None, "the camera")
        print(f"a by planes {lens.metric.a:.3f} px m, by EXIF {exif.a:.3f} px m")
        baselines(args.data, BASELINE * lens.metric.a / exif.a)
        table = {}
        for scene in scenes(folder):
            table[str(scene.relative_to(folder))] = ways(scene, lens, sensor)
        names = list(next(iter(table.values())))
        print(f"{'median relative error, %':26}" + "".join(f"{name:>8}" for name in names))
        for scene, row in table.items():
            print(f"{scene:26}" + "".join(f"{row[name]:8.1f}" for name in names))
        for label, mean in (("mean", np.mean), ("median", np.median)):
            print(f"{label:26}" + "".join(f"{mean([row[name] for row in table.values()]):8.1f}" for name in names))
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
