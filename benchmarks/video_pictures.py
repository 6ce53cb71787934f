"""The picture of docs/video.md: what changes from one frame to the next of a rendered clip.

    python benchmarks/video_pictures.py docs/video.jpg

Left view; absolute change of the disparity along the true motion, every frame alone, and with the frame before. White
is 0.1 px or more.
"""

import sys

import cv2
import numpy as np
from clips import Clip, film
from video import WAYS

WHITE = 0.1  # px
NUMBER = 5  # of the frame


def main() -> None:
    """Write the picture."""
    clip = Clip(1, frames=NUMBER + 1)
    frames = list(film(clip))
    y, x = np.indices(frames[0].left.shape, np.float32)
    was = (x - clip.motion(np.nan_to_num(frames[-1].disparity))).astype(np.float32)
    panels = [frames[-1].left]
    for way in ("alone", "frame before"):
        maps = list(WAYS[way](frames))
        change = np.abs(maps[-1] - cv2.remap(maps[-2], was, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
        panels.append(np.clip(np.rint(255 / WHITE * change), 0, 255).astype(np.uint8))
    picture = cv2.resize(np.hstack(panels), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    cv2.imwrite(sys.argv[1], picture, [cv2.IMWRITE_JPEG_QUALITY, 85])


if __name__ == "__main__":
    main()
