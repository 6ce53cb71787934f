"""The pictures and the table of docs/gallery.md, from scenes that `dualpix scenes` renders.

    python benchmarks/gallery.py -o docs

Writes one picture for each of five scenes: the left view, the map of the default preset, the truth, and the photo with
the nearest or the farthest thing in focus. Prints the table of all scenes. Truth and map share their
colours: red is near.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
from ablation import exit_code
from pictures import GAP, QUALITY, framed, paint, view

import dualpix
from dualpix.metrics import pixel_errors
from dualpix.scenes.files import write_scenes

SEED, COUNT, SIZE = 7, 12, (640, 448)
SHOWN = ("001", "002", "005", "007", "008")  # 008 is the worst of all
APERTURE = 3.0
WIDTH = 344  # px, of one picture


def sheet(folder: Path, near: bool) -> tuple[np.ndarray, str]:
    """The four pictures of a scene, and its row of the table."""
    pair, truth = dualpix.read_pair(folder / "l.png", folder / "r.png"), dualpix.read_map(folder / "d.npy")
    found = dualpix.disparity(pair.left, pair.right, filter="guided")
    plain = dualpix.disparity(pair.left, pair.right)
    score = pixel_errors(plain.disparity, truth, plain.confidence)
    low, high = (float(np.nanpercentile(truth, percent)) for percent in (0.5, 99.5))
    focus = float(np.percentile(found.disparity, 98 if near else 2))
    refocused = dualpix.render.refocus(pair.left, found.disparity, focus=focus, aperture=APERTURE)
    pictures = {
        "left view": view(pair.left),
        f"found, {low:.1f} to {high:.1f} px": paint(score.gain * plain.disparity, low, high, cv2.COLORMAP_TURBO),
        "truth": paint(truth, low, high, cv2.COLORMAP_TURBO),
        f"{'near' if near else 'far'} in focus, aperture {APERTURE:g}": view(refocused),
    }
    row = f"| {folder.name} | {low:.1f} to {high:.1f} | {score.mae:.3f} | {score.bad_1:.1f} | {score.ause:.2f} |"
    tiles = [framed(image, title, WIDTH) for title, image in pictures.items()]
    return np.vstack([np.hstack(tiles[:2]), np.hstack(tiles[2:])])[:, :-GAP], row


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    args = parser.parse_args(argv)
    print("| scene | disparities, px | mean error, px | wrong by more than 1 px, % | AUSE |\n|---|---|---|---|---|")
    with exit_code() as code, tempfile.TemporaryDirectory() as folder:
        write_scenes(folder, COUNT, SEED, SIZE)
        for number in range(COUNT):
            name = f"{number:03}"
            picture, row = sheet(Path(folder, name), near=number % 2 == 0)
            print(row)
            if name in SHOWN:
                coded = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1]
                (args.output / f"gallery-{name}.jpg").write_bytes(coded.tobytes())
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
