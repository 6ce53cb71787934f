"""A strip of pictures of one scene: view, truth, an older map, the map of the default preset, its confidence.

    python benchmarks/pictures.py SCENE -o strip.jpg [--before old.npy]

SCENE is a folder with l.png, r.png and d.npy, as `dualpix scenes` writes it, or `demo` for the pair of `dualpix demo`.
The older map is any map of the same pair. Prints the scores of the maps. A map is multiplied by the gain that is fitted
for its scores, and painted in the colours of the truth: red is near. Confidence 1 is white, 0 is black.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from ablation import exit_code

import dualpix
from dualpix.evaluation import demo
from dualpix.metrics import pixel_errors

Image = npt.NDArray[Any]

WIDTH = 316  # px, of one picture
GAP, HEADER = 5, 26  # px
QUALITY = 85


def load(scene: str) -> tuple[Image, Image, Image]:
    """The two views and the true disparity."""
    if scene == "demo":
        return dualpix.simulate(*demo.photograph(), noise=demo.NOISE)
    folder = Path(scene)
    pair = dualpix.read_pair(folder / "l.png", folder / "r.png")
    return pair.left, pair.right, dualpix.read_map(folder / "d.npy")


def view(image: Image) -> Image:
    """8-bit BGR."""
    grey = np.uint8(255 * (image / np.iinfo(image.dtype).max))
    return cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR if grey.ndim == 2 else cv2.COLOR_RGB2BGR)


def paint(values: Image, low: float, high: float, colours: int) -> Image:
    level = np.clip((np.nan_to_num(values, nan=low) - low) / (high - low), 0, 1)
    return cv2.applyColorMap(np.uint8(np.rint(255 * level)), colours)


def framed(image: Image, title: str, width: int = WIDTH) -> Image:
    height = round(width * image.shape[0] / image.shape[1])
    small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    full = cv2.copyMakeBorder(small, HEADER, 0, 0, GAP, cv2.BORDER_CONSTANT, value=(255, 255, 255))
    return cv2.putText(full, title, (2, HEADER - 8), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 1, cv2.LINE_AA)


def strip(scene: str, before: Path | None) -> Image:
    left, right, truth = load(scene)
    result = dualpix.disparity(left, right)
    maps = {} if before is None else {"before": dualpix.read_map(before)}
    maps["after"] = result.disparity
    low, high = (float(np.nanpercentile(truth, percent)) for percent in (0.5, 99.5))
    pictures = {"view": view(left), f"truth, {low:.1f} to {high:.1f} px": paint(truth, low, high, cv2.COLORMAP_TURBO)}
    for name, values in maps.items():
        score = pixel_errors(values, truth)
        print(f"{name:7} mae {score.mae:.3f} px  bad .25 {score.bad_0_25:.1f} %  bump {score.bump:.2f}")
        pictures[name] = paint(score.gain * values, low, high, cv2.COLORMAP_TURBO)
    pictures["confidence, after"] = paint(result.confidence, 0, 1, cv2.COLORMAP_BONE)
    return np.hstack([framed(image, title) for title, image in pictures.items()])[:, :-GAP]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", metavar="SCENE")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="STRIP.jpg")
    parser.add_argument("--before", type=Path, metavar="MAP", help="older map of the pair, to show beside the new one")
    args = parser.parse_args(argv)
    with exit_code() as code:
        picture = strip(args.scene, args.before)
        args.output.write_bytes(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1].tobytes())
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
