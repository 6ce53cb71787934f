"""From the two frames of a raw file to two grey views in the size of the picture."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...opencv import opencv
from ...types import Flags, Map
from .files import BOTH, HALF, Frames, clipped
from .sides import LEFT, Sides, find_sides

# Over the Bayer mosaic this filter always sums 1/4 red, 1/2 green and 1/4 blue. Its response is 0 at the frequencies of
# the mosaic. So no pattern is left that would match at disparity 0, and the view keeps the size of the picture.
TAPS = (0.25, 0.5, 0.25)


@dataclass(frozen=True, eq=False)
class Split:
    """The two views of a raw file.

    Attributes
    ----------
    left, right : float32 maps
        Grey, linear light, 0 is black. 1 is the white of both halves together, so the views are one stop darker than
        the picture and nothing is cut off.
    clipped : bool array
        Where a pixel that a view uses is clipped. There the difference of the frames is not the other half.
    sides : Sides
        Which half is which.
    """

    left: Map
    right: Map
    clipped: Flags
    sides: Sides

    @property
    def clipped_share(self) -> float:
        """Share of the pixels that are clipped."""
        return float(self.clipped.mean())


def split(frames: Frames, first: str | None = None) -> Split:
    """Take the two views out of the frames.

    Parameters
    ----------
    frames : Frames
        A + B and a half.
    first : "left" or "right", optional
        The view that the stored half is. By default the vignetting tells.
    """
    cv2 = opencv()
    half, other = halves(frames)
    white = np.float32(frames.levels[BOTH].white - frames.levels[BOTH].mean_black)
    stored, rest = _grey(half, white), _grey(other, white)
    del half, other
    bad = clipped(frames.both, frames.levels[BOTH]) | clipped(frames.half, frames.levels[HALF])
    bad = cv2.dilate(bad.view(np.uint8), np.ones((3, 3), np.uint8)).view(np.bool_)
    sides = find_sides(stored, rest, ~bad, first)
    left, right = (stored, rest) if sides.half == LEFT else (rest, stored)
    return Split(left, right, bad, sides)


def halves(frames: Frames) -> tuple[Map, Map]:
    """The stored half and the other one, as mosaics in counts above black: ``B = (A + B) - A``."""
    both, half = (
        level.above_black(frame) for level, frame in zip(frames.levels, (frames.both, frames.half), strict=True)
    )
    both -= half
    return half, both


def record(frames: Frames, found: Split) -> dict[str, Any]:
    """What a sidecar says about the split."""
    return {
        "width": int(frames.both.shape[1]),
        "height": int(frames.both.shape[0]),
        "orientation": frames.orientation,
        "black": [level.black.ravel().tolist() for level in frames.levels],
        "white": [level.white for level in frames.levels],
        "ratio": frames.ratio,
        "half": found.sides._asdict(),
        "clipped": found.clipped_share,
    }


def _grey(mosaic: Map, white: np.float32) -> Map:
    """The mosaic without its colours. Mirroring at the border keeps the order of the colours."""
    cv2 = opencv()
    taps = np.array(TAPS, np.float32)
    view = np.asarray(cv2.sepFilter2D(mosaic, -1, taps, taps, borderType=cv2.BORDER_REFLECT_101), np.float32)
    view /= white
    return view
