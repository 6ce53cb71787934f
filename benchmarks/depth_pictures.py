"""The picture of docs/depth.md: view, depth, mask and mesh of the pair of `dualpix demo`.

    python benchmarks/depth_pictures.py -o strip.jpg

The pair is simulated, with a lens focused at 2 m and a = 12 px m. The distances of two points are taken from the true
map, as a user would measure them. Prints the error of the depth.
"""

import argparse
import sys
from pathlib import Path

import cv2
import numpy as np
from ablation import exit_code
from pictures import GAP, QUALITY, framed, paint, view

import dualpix
from dualpix.camera.metric import Metric
from dualpix.evaluation import demo
from dualpix.io._cloud import mesh
from dualpix.io.layers import Layers
from dualpix.render.mask import depth_mask

CAMERA = Metric(inverse_focus=0.5, a=12.0)
ANGLE = 14  # degrees that the mesh is turned
MASK = (1.2, 2.0)  # m, with a ramp of 0.2 m


def from_the_side(layers: Layers) -> np.ndarray:
    """The mesh seen from the side: the centres of its triangles, the nearest one last."""
    found, triangles = mesh(layers)
    points = found.points[triangles].mean(axis=1)
    colours = found.colours[triangles].mean(axis=1).astype(np.uint8)
    turn, middle = np.radians(ANGLE), np.array([0, 0, -2.0])
    rotation = np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])
    x, y, z = ((points - middle) @ rotation.T + middle).T
    (height, width), f = layers.values.shape, layers.focal_length
    column, row = np.rint(width / 2 - f * x / z).astype(int), np.rint(height / 2 + f * y / z).astype(int)
    order = np.argsort(z)
    inside = ((column >= 0) & (column < width) & (row >= 0) & (row < height))[order]
    order = order[inside]
    picture = np.zeros((height, width, 3), np.uint8)
    picture[row[order], column[order]] = colours[order]
    return picture[..., ::-1]


def strip() -> np.ndarray:
    left, right, d = dualpix.simulate(*demo.photograph(), noise=demo.NOISE)
    result = dualpix.disparity(left, right)
    true = CAMERA.depth(d).metres
    known = []
    for percent in (15, 85):  # where the truth has this rank, and the map is sure
        sure = np.isfinite(true) & (result.confidence > np.quantile(result.confidence, 0.8))
        goal = np.percentile(true[sure], percent)
        y, x = np.unravel_index(np.argmin(np.where(sure, np.abs(true - goal), np.inf)), true.shape)
        known.append((float(x), float(y), float(true[y, x])))
    z = result.depth(known=known).metres
    seen = np.isfinite(true)
    print(f"median relative error {100 * np.median(np.abs(z - true)[seen] / true[seen]):.1f} %")
    low, high = np.percentile(1 / z, (1, 99))
    mask = (255 * depth_mask(z, *MASK, 0.2)).astype(np.uint8)
    photo = view(left)
    pictures = {
        "view": photo,
        f"depth, {1 / high:.1f} to {1 / low:.1f} m": paint(1 / z, low, high, cv2.COLORMAP_TURBO),
        f"mask, {MASK[0]:g} to {MASK[1]:g} m": cv2.cvtColor(mask, cv2.COLOR_GRAY2BGR),
        ".glb from the side": from_the_side(Layers(z, "m", photo[..., ::-1])),
    }
    return np.hstack([framed(image, title) for title, image in pictures.items()])[:, :-GAP]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="STRIP.jpg")
    args = parser.parse_args(argv)
    with exit_code() as code:
        args.output.write_bytes(cv2.imencode(".jpg", strip(), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1].tobytes())
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
