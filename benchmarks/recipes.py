"""The pictures of docs/refocus.md and docs/recipes.md, made with the commands that these pages show.

    python benchmarks/recipes.py -o docs

The photo is the left view of `dualpix demo`. Its depth in metres is not known: the distances of two points are made up.
Writes refocus.jpg, shapes.jpg, recipe-blur.jpg, recipe-exr.jpg, recipe-mask.jpg and recipe-cloud.jpg.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from ablation import exit_code
from pictures import GAP, QUALITY, framed, paint

import dualpix
from dualpix.evaluation import demo
from dualpix.io import encode_png
from dualpix.render import refocus
from dualpix.render.openings import SHAPES

Image = npt.NDArray[Any]

LARGE = 474  # px, width of a large picture

# Points of the photo: the front wheel, a box behind. The scene that the demo draws is near and far there, too.
NEAR, FAR = "553,304", "560,70"
KNOWN = ("--known", f"{NEAR}=1.5", "--known", f"{FAR}=4")  # metres, made up


def run(*args: str, folder: Path) -> None:
    """Run a command in a folder."""
    subprocess.run([sys.executable, "-m", "dualpix", *args, "--force"], cwd=folder, check=True, stdout=subprocess.PIPE)


def shoot(folder: Path) -> None:
    """Write the pair and its maps: d.tiff in px, z.tiff in metres."""
    left, right, _ = dualpix.simulate(*demo.photograph(), noise=demo.NOISE)
    for name, view in (("photo.png", left), ("right.png", right)):
        (folder / name).write_bytes(encode_png(view))
    run("disparity", "photo.png", "right.png", "-o", "d.tiff", folder=folder)
    run("depth", "d.tiff", "-o", "z.tiff", *KNOWN, folder=folder)


def refocused(folder: Path) -> dict[str, Image]:
    for name, point in (("near.png", NEAR), ("far.png", FAR)):
        run("refocus", "photo.png", "d.tiff", "-o", name, "--focus", point, "--aperture", "4", folder=folder)
    d = dualpix.read_map(folder / "d.tiff")
    low, high = float(d.min()), float(d.max())
    return {
        "photo": picture(folder, "photo.png"),
        "map, red is near": paint(d, low, high, cv2.COLORMAP_TURBO),
        f"--focus {NEAR}": picture(folder, "near.png"),
        f"--focus {FAR}": picture(folder, "far.png"),
    }


def shapes(_: Path) -> dict[str, Image]:
    """Points of light behind the focus, all over a picture."""
    lights = np.zeros((240, 316, 3), np.float32)
    rng = np.random.default_rng(1)
    for x, y in np.array(np.meshgrid(np.arange(25, 316, 38), np.arange(22, 240, 39))).reshape(2, -1).T:
        cv2.circle(lights, (int(x), int(y)), 2, rng.uniform(0.4, 1, 3).tolist(), -1, cv2.LINE_AA)
    d = np.full(lights.shape[:2], -6, np.float32)
    found = {f"--shape {s}": refocus(lights, d, focus=0, aperture=2, shape=s, linear=True) for s in SHAPES}
    return {title: np.uint8(255 * np.clip(image * 30, 0, 1) ** (1 / 2.2)) for title, image in found.items()}


def blur(folder: Path) -> dict[str, Image]:
    run("disparity", "photo.png", "right.png", "-o", "depth.png", "--png", "grey", "--near", "black", folder=folder)
    return {
        "photo.png": picture(folder, "photo.png"),
        "depth.png, near is black": picture(folder, "depth.png"),
        "what to expect": picture(folder, "near.png"),
    }


def exr(folder: Path) -> dict[str, Image]:
    run("depth", "d.tiff", "-o", "shot.exr", "--photo", "photo.png", *KNOWN, folder=folder)
    z = dualpix.read_map(folder / "shot.exr")
    return {
        "RGB of shot.exr": picture(folder, "photo.png"),
        "Z of shot.exr, 1 to 5 m": paint(z, 1, 5, cv2.COLORMAP_BONE),
        "what to expect": picture(folder, "near.png"),
    }


def mask(folder: Path) -> dict[str, Image]:
    run("mask", "d.tiff", "-o", "near.pfm", "--from", "0.3", "--to", "inf", "--soft", "0.5", folder=folder)
    photo, alpha = picture(folder, "photo.png"), dualpix.read_map(folder / "near.pfm")
    light = (photo / 255.0) ** 2.2 * (0.15 + 0.85 * alpha[..., None])
    return {
        "photo.png": photo,
        "near.pfm, the mask": paint(alpha, 0, 1, cv2.COLORMAP_BONE),
        "exposure -2.7 EV outside": np.uint8(255 * light ** (1 / 2.2)),
    }


def cloud(folder: Path) -> dict[str, Image]:
    run("depth", "d.tiff", "-o", "shot.ply", "--photo", "photo.png", *KNOWN, folder=folder)
    import trimesh  # comes with dualpix[test]

    found = trimesh.load(folder / "shot.ply")
    points, colours = np.asarray(found.vertices), np.asarray(found.colors)[:, :3]
    return {f"shot.ply, turned by {angle} degrees": seen(points, colours, angle) for angle in (-15, 0, 15)}


def seen(points: Image, colours: Image, angle: float) -> Image:
    """The cloud from another side: turned about the vertical through its middle, near points over far ones."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    middle = np.array([0, 0, np.median(points[:, 2])])
    x, y, z = ((points - middle) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]).T + middle).T
    width, height = 500, 340
    scale = 0.9 * width / np.ptp(x / np.abs(z))
    columns, rows = np.rint(width / 2 + scale * x / np.abs(z)), np.rint(height / 2 - scale * y / np.abs(z))
    inside = (columns >= 1) & (columns < width - 1) & (rows >= 1) & (rows < height - 1)
    order = np.argsort(-np.abs(z[inside]))
    image = np.full((height, width, 3), 40, np.uint8)
    columns, rows = columns[inside][order].astype(int), rows[inside][order].astype(int)
    for dy, dx in np.ndindex(2, 2):
        image[rows + dy, columns + dx] = colours[inside][order][:, ::-1]
    return image


PICTURES = {
    "refocus.jpg": refocused,
    "shapes.jpg": shapes,
    "recipe-blur.jpg": blur,
    "recipe-exr.jpg": exr,
    "recipe-mask.jpg": mask,
    "recipe-cloud.jpg": cloud,
}


def picture(folder: Path, name: str) -> Image:
    """A picture file as 8-bit BGR."""
    return np.asarray(cv2.imread(str(folder / name), cv2.IMREAD_COLOR))


def strip(pictures: dict[str, Image]) -> Image:
    """Pictures beside each other; four are larger and stand two by two."""
    if len(pictures) < 4:
        return np.hstack([framed(image, title) for title, image in pictures.items()])[:, :-GAP]
    frames = [framed(image, title, LARGE) for title, image in pictures.items()]
    return np.vstack([np.hstack(frames[:2]), np.hstack(frames[2:])])[:, :-GAP]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    args = parser.parse_args(argv)
    with exit_code() as code, tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shoot(folder)
        for name, make in PICTURES.items():
            data = cv2.imencode(".jpg", strip(make(folder)), [cv2.IMWRITE_JPEG_QUALITY, QUALITY])[1]
            (args.output / name).write_bytes(data.tobytes())
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
