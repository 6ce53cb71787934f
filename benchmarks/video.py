"""Flicker, error, ghosts and speed of clips: every frame alone, with the frame before, and with both sides.

    python benchmarks/video.py [--scenes N] [--frames N] [--size WIDTH HEIGHT] [--speed] [--json]

Clips are rendered (see benchmarks/clips.py), so disparity and motion are known.

flicker: the median absolute change of the disparity from one frame to the next, px, along the true motion. Only pixels
count that show the same surface in both frames. Nothing is subtracted from it. The first two frames of a clip are left
out, since the first has no past. error: the mean absolute error, px, of all frames; of an object that flies through the
picture, within 12 px of where it is or was in the last three frames; of a cut, of the first frame behind it; of a focus
pull, in which all disparities grow by 0.05 px a frame; on an object that comes nearer by 0.15 px a frame (nearer).
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence

import cv2
import numpy as np
from clips import NEVER_SEEN, Clip, Frame, film

import dualpix

FLYING = 14.0  # px a frame
SAME = 0.05  # px: the true disparity of a point does not change more
WIDE = 25  # px around the flying object

Maps = list[np.ndarray]
WAYS: dict[str, Callable[[Sequence[Frame]], Iterator[np.ndarray]]] = {
    "alone": lambda frames: (dualpix.disparity(f.left, f.right).disparity for f in frames),
    "frame before": lambda frames: (r.disparity for r in dualpix.sequence((f.left, f.right) for f in frames)),
    "both sides": lambda frames: (
        r.disparity for r in dualpix.sequence(((f.left, f.right) for f in frames), two_sided=True)
    ),
}


def flicker(clip: Clip, frames: Sequence[Frame], maps: Maps) -> float:
    """The median change along the true motion, px; the mean over the frames from the third on."""
    y, x = np.indices(maps[0].shape, np.float32)
    found = []
    for number in range(2, len(maps)):
        truth = frames[number].disparity
        was = (x - clip.motion(np.nan_to_num(truth))).astype(np.float32)
        outside = {"borderMode": cv2.BORDER_CONSTANT, "borderValue": np.nan}
        truth_before = cv2.remap(frames[number - 1].disparity, was, y, cv2.INTER_NEAREST, **outside)
        before = cv2.remap(maps[number - 1], was, y, cv2.INTER_LINEAR, **outside)
        same = np.abs(truth_before - truth) < SAME
        found.append(np.nanmedian(np.abs(maps[number] - before)[same]))
    return float(np.mean(found))


def error(frames: Sequence[Frame], maps: Maps) -> float:
    """The mean absolute error, px."""
    return float(np.mean([np.nanmean(np.abs(d - f.disparity)) for f, d in zip(frames, maps, strict=True)]))


def error_near_object(frames: Sequence[Frame], maps: Maps) -> float:
    """The mean absolute error where the flying object is or was in the last three frames, px."""
    found = []
    for number in range(1, len(maps)):
        flown = [f.disparity > NEVER_SEEN - 0.5 for f in frames[max(number - 3, 0) : number + 1]]
        near = cv2.dilate(np.any(flown, axis=0).astype(np.uint8), np.ones((WIDE, WIDE))) > 0
        found.append(np.nanmean(np.abs(maps[number] - frames[number].disparity)[near]))
    return float(np.mean(found))


def error_on_object(frames: Sequence[Frame], maps: Maps) -> float:
    """The mean absolute error on the object of its own, px."""
    found = [np.abs(d - f.disparity)[f.disparity > NEVER_SEEN - 0.5] for f, d in zip(frames, maps, strict=True)]
    return float(np.mean([each.mean() for each in found]))


def measured(arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """All figures by way."""
    width, height = arguments.size
    size = {"width": width, "height": height, "frames": arguments.frames}
    clips = [Clip(scene, **size) for scene in range(arguments.scenes)]
    pans = [list(film(clip)) for clip in clips]
    flying = [list(film(Clip(scene, flying=FLYING, **size))) for scene in range(arguments.scenes)]
    pulled = list(film(Clip(0, pull=0.05, **size)))
    nearing = list(film(Clip(0, flying=2.0, approach=0.15, **size)))
    figures = {}
    for way, maps_of in WAYS.items():
        maps = [list(maps_of(frames)) for frames in pans]
        cut = list(maps_of(pans[0][:4] + pans[-1][:4]))
        figures[way] = {
            "flicker": float(np.mean([flicker(*each) for each in zip(clips, pans, maps, strict=True)])),
            "error": float(np.mean([error(*each) for each in zip(pans, maps, strict=True)])),
            "object": float(np.mean([error_near_object(frames, list(maps_of(frames))) for frames in flying])),
            "cut": error(pans[-1][:1], cut[4:5]),
            "focus pull": error(pulled, list(maps_of(pulled))),
            "nearer": error_on_object(nearing, list(maps_of(nearing))),
        }
    return figures


def speed(frames: Sequence[Frame]) -> dict[str, float]:
    """Seconds a frame, alone and with the frame before: the least, in turns, since other programs may run.

    The first two frames of the clip are left out: they warm up, and the first is always surveyed.
    """
    clip = dualpix.Sequence()
    spent: dict[str, list[float]] = {"alone": [], "frame before": []}
    for frame in frames:
        for way, solve in (("alone", dualpix.disparity), ("frame before", clip.add)):
            start = time.perf_counter()
            solve(frame.left, frame.right)
            spent[way].append(time.perf_counter() - start)
    return {way: min(seconds[2:]) for way, seconds in spent.items()}


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=4)
    parser.add_argument("--frames", type=int, default=12)
    parser.add_argument("--size", type=int, nargs=2, default=[640, 480])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--speed", action="store_true", help="measure only the speed")
    arguments = parser.parse_args()
    if arguments.speed:
        width, height = arguments.size
        spent = speed(list(film(Clip(0, width, height, arguments.frames))))
        print(json.dumps(spent | {"speed": spent["alone"] / spent["frame before"]}))
        return
    figures = measured(arguments)
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    names = list(figures["alone"])
    print("| way | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for way, row in figures.items():
        print(
            f"| {way} | " + " | ".join(f"{value:.4f}" if value < 1 else f"{value:.1f}" for value in row.values()) + " |"
        )


if __name__ == "__main__":
    main()
