"""Which views to take out of a raw mosaic: errors of the maps, and the strip of pictures in docs/raw.md.

    python benchmarks/raw_views.py DIR [-o strip.jpg]

DIR holds scenes with l.png, r.png (gamma 2.2) and d.npy. Each pair is made linear, put behind a Bayer filter, and taken
out again in several ways. Prints the mean error of the maps in px, as they are and after one gain for each scene. Needs
the extras raw and test.
"""

import argparse
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import rawpy

import dualpix
from dualpix.io import raw, read_image, read_map
from dualpix.io.raw.split import TAPS
from dualpix.io.srgb import display

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from raw_files import cr2, dng, frames_of, mosaic

Image = npt.NDArray[Any]

BALANCE = (0.5, 1.0, 0.7)  # red, green and blue of white, as a sensor sees it
COUNTS = 8000  # of white in one half
GAMMA = 2.2
WIDTH = 240  # px, of one picture of the strip


def gamma(light: Image) -> Image:
    return (np.clip(light, 0, 1) ** (1 / GAMMA)).astype(np.float32)


def grey(samples: Image) -> Image:
    taps = np.array(TAPS, np.float32)
    return cv2.sepFilter2D(samples.astype(np.float32), -1, taps, taps, borderType=cv2.BORDER_REFLECT_101) / COUNTS


def binned(samples: Image) -> Image:
    return sum(samples[i::2, j::2] for i in (0, 1) for j in (0, 1)) / (4 * COUNTS)


def demosaiced(samples: Image, algorithm: rawpy.DemosaicAlgorithm) -> Image:
    with rawpy.imread(io.BytesIO(dng((samples + 512).astype(np.uint16)))) as file:
        picture = file.postprocess(
            demosaic_algorithm=algorithm,
            output_bps=16,
            no_auto_bright=True,
            gamma=(1, 1),
            user_flip=0,
            use_camera_wb=True,
            output_color=rawpy.ColorSpace.raw,
        )
    return picture / 65535 * (16383 - 512) / COUNTS


def maps(left: Image, right: Image) -> Iterator[tuple[str, Image]]:
    """The map of every way, by name. The views are linear, 0 to 1."""
    samples = [mosaic(np.rint(view * BALANCE * COUNTS)) for view in (left, right)]
    filtered = [grey(view) for view in samples]
    yield "the pair before the filter", matched(gamma(left), gamma(right))
    yield "filter 1 2 1, full size", matched(*map(gamma, filtered))
    picture = demosaiced(sum(samples) / 2, rawpy.DemosaicAlgorithm.AHD)
    yield "the same, colour picture as guide", matched(*map(gamma, filtered), guide=gamma(picture))
    yield "the filter, linear light", matched(*(np.clip(view, 0, 1) for view in filtered))
    for name, kind in (("AHD", rawpy.DemosaicAlgorithm.AHD), ("bilinear", rawpy.DemosaicAlgorithm.LINEAR)):
        yield f"{name} demosaicing", matched(*(gamma(demosaiced(view, kind)) for view in samples))
    half = matched(*(gamma(binned(view)) for view in samples))
    yield "2x2 pixels binned, half size", 2 * cv2.resize(half, left.shape[1::-1], interpolation=cv2.INTER_LINEAR)


def matched(left: Image, right: Image, guide: Image | None = None) -> Image:
    return dualpix.disparity(left, right, guide=guide, axis="x").disparity


def errors(found: Image, truth: Image) -> tuple[float, float]:
    """Mean error in px, as it is and after one gain."""
    known = np.isfinite(truth)
    found, truth = found[known], truth[known]
    gain = (found * truth).sum() / (found**2).sum()
    return float(np.abs(found - truth).mean()), float(np.abs(gain * found - truth).mean())


def table(folder: Path) -> None:
    scores: dict[str, list[tuple[float, float]]] = {}
    scenes = sorted(path.parent for path in folder.glob("*/d.npy"))
    for scene in scenes:
        truth = read_map(scene / "d.npy")
        height, width = (n // 2 * 2 for n in truth.shape)
        views = [(read_image(scene / f"{side}.png")[:height, :width] / 65535) ** GAMMA for side in "lr"]
        for name, found in maps(*views):
            scores.setdefault(name, []).append(errors(found, truth[:height, :width]))
    print(f"mean error of {len(scenes)} scenes, px        as it is   after one gain")
    for name, found in scores.items():
        print(f"{name:40s} {np.mean(found, axis=0)[0]:8.3f} {np.mean(found, axis=0)[1]:12.3f}")


def strip() -> Image:
    """A CR2 of the demo's photo, taken apart: both frames as stored, the left view, the picture, the map."""
    from dualpix.evaluation import demo

    photo, depth = demo.photograph()
    height, width = (n // 2 * 2 for n in depth.shape)
    photo, depth = photo[:height, :width], depth[:height, :width]
    left, right, _ = dualpix.simulate((photo / np.iinfo(photo.dtype).max) ** GAMMA, depth)
    samples = [mosaic(np.rint(view * BALANCE * COUNTS).astype(np.int64)) for view in (left, right)]
    path = Path("raw_views.cr2")
    path.write_bytes(cr2(*frames_of(*samples)))
    try:
        frames, (picture, _) = raw.read_frames(path), raw.read_picture(path)
        view = display(raw.split(frames, "left").left)
        found = dualpix.disparity(path, first="left", axis="x").disparity
    finally:
        path.unlink()
    low, high = np.percentile(found, (1, 99))
    turbo = cv2.applyColorMap(np.uint8(np.clip((found - low) / (high - low), 0, 1) * 255), cv2.COLORMAP_TURBO)
    shown = [*(frame / 16383 for frame in (frames.both, frames.half)), view]
    panels = [
        cv2.cvtColor(np.uint8(np.clip(image, 0, 1) ** (1 if image is view else 0.45) * 255), cv2.COLOR_GRAY2BGR)
        for image in shown
    ]
    panels += [np.uint8(picture[..., ::-1] >> 8), turbo]
    return np.hstack(
        [cv2.resize(panel, (WIDTH, WIDTH * height // width), interpolation=cv2.INTER_AREA) for panel in panels]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    table(options.folder)
    if options.output:
        cv2.imwrite(options.output, strip(), [cv2.IMWRITE_JPEG_QUALITY, 85])
