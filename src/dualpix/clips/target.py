"""What a clip is written to: a folder of frames, or a grey video; and what its codes mean."""

import json
import os
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import OutputError, ParameterError
from ..io.atomic import writing
from ..io.images import encode_png
from ..io.maps import encode_map
from ..io.previews import preview
from ..io.sidecar import CLIP, frame_name
from ..io.video import GREY_BITS, PREVIEW_SUFFIXES, TAG, VideoWriter, check_pyav
from ..types import Map

FRAMES, VIDEOS = ("tiff", "png"), tuple(GREY_BITS)
FORMATS = FRAMES + VIDEOS
VIDEO_SUFFIX = ".mkv"


@dataclass(frozen=True)
class Grey:
    """Disparities as grey codes: black is far, white is near.

    Attributes
    ----------
    black, white : float
        The disparities of code 0 and of the highest code, px. Those beyond are clipped.
    bits : int
        10, 12 or 16.
    """

    black: float
    white: float
    bits: int

    def codes(self, d: Map) -> npt.NDArray[np.uint16]:
        """``code = (2^bits - 1) (d - black) / (white - black)``, rounded. NaN is black."""
        level = (d.astype(np.float64) - self.black) / (self.white - self.black)
        level = np.clip(np.where(np.isnan(level), 0, level), 0, 1)
        return np.asarray(np.rint((2**self.bits - 1) * level), np.uint16)

    def outside(self, d: Map) -> int:
        """How many pixels are clipped."""
        return int(((d < self.black) | (d > self.white)).sum())

    def record(self) -> dict[str, Any]:
        """What the codes mean, as in the sidecar of a grey PNG."""
        return {
            "quantity": "disparity, px",
            "black": self.black,
            "white": self.white,
            "near": "white",
            "bits": self.bits,
        }


@dataclass(frozen=True)
class Target:
    """The outputs of a clip.

    Attributes
    ----------
    path : str
        A folder, or a .mkv file.
    format : str
        One of `FORMATS`.
    preview : str or None
        A small colour video.
    """

    path: str
    format: str
    preview: str | None = None

    @property
    def is_video(self) -> bool:
        """Whether the frames go into one video file."""
        return self.format in VIDEOS

    @property
    def bits(self) -> int:
        """Bits of the grey codes; 0 for float frames."""
        return 0 if self.format == "tiff" else GREY_BITS.get(self.format, 16)

    @property
    def sidecar(self) -> str:
        """The JSON file that says what the numbers mean."""
        return os.path.splitext(self.path)[0] + ".json" if self.is_video else os.path.join(self.path, CLIP)


def target_of(path: str, format: str | None, preview: str | None) -> Target:
    """The outputs, checked by their suffixes: without a suffix a folder, .mkv a video.

    Raises
    ------
    OutputError
        If the suffix is unknown or does not fit the format, or PyAV is missing.
    """
    path = path.rstrip("/\\") or path
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in ("", VIDEO_SUFFIX) and not os.path.isdir(path):
        raise OutputError(f"{path}: give a folder for frames (a name without a suffix), or a video that ends in .mkv")
    video = suffix == VIDEO_SUFFIX and not os.path.isdir(path)
    fitting = VIDEOS if video else FRAMES
    if format is not None and format not in fitting:
        what = "a video" if video else "a folder"
        raise OutputError(f"{path}: is {what}, and the format {format} is not for it: choose {' or '.join(fitting)}")
    if preview is not None and not preview.lower().endswith(PREVIEW_SUFFIXES):
        raise OutputError(f"{preview}: a preview is a video: choose a name that ends in {', '.join(PREVIEW_SUFFIXES)}")
    for each in filter(None, (path if video else None, preview)):
        check_pyav(each)
    return Target(path, format or fitting[0], preview)


def grey_of(bounds: tuple[float, float] | None, searched: tuple[float, float], bits: int) -> Grey:
    """The requested meaning of black and white, or the searched range."""
    black, white = bounds or searched
    return Grey(float(black), float(white), bits)


def extent(d: Map) -> tuple[float, float]:
    """The range of the colours of a preview, px: that of most disparities of the first frame, and a tenth more."""
    known = d[np.isfinite(d)]
    low, high = np.percentile(known, (1, 99)).tolist() if known.size else (0.0, 0.0)
    margin = max(0.1 * (high - low), 0.1)
    return low - margin, high + margin


def check_bounds(bounds: tuple[float, float] | None) -> None:
    """Refuse a black and a white that are not two increasing numbers."""
    if bounds is not None and not (np.isfinite(bounds).all() and bounds[0] < bounds[1]):
        raise ParameterError(f"grey must be two disparities, the far one first, not {bounds[0]:g} and {bounds[1]:g}")


def check_rate(fps: float | None) -> Fraction | None:
    """Frames a second as a fraction; 23.976 becomes 24000/1001.

    Raises
    ------
    ParameterError
        If it is not from 0.01 to 1000.
    """
    if fps is None:
        return None
    if not 0.01 <= fps <= 1000:
        raise ParameterError(f"fps must be a number from 0.01 to 1000, not {fps:g}")
    film = Fraction(round(fps) * 1000, 1001)
    return film if round(fps, 3) == round(float(film), 3) else Fraction(fps).limit_denominator(1000)


class SegmentWriter:
    """Writes the frames of one segment into the folder of parts.

    Parameters
    ----------
    target, grey, rate
        What to write.
    shown
        The disparities at the ends of the colours of the preview, px.
    folder
        The folder of parts.
    segment, first
        Number of the segment, and of its first frame.
    """

    def __init__(
        self,
        target: Target,
        grey: Grey,
        shown: tuple[float, float],
        rate: Fraction,
        folder: str,
        segment: int,
        first: int,
    ) -> None:
        self._target, self._grey, self._shown, self._folder, self._number = target, grey, shown, folder, first
        self._videos: dict[str, VideoWriter] = {}
        if target.is_video:
            self._videos["map"] = VideoWriter(part(folder, "map", segment), rate, target.format, metadata(grey))
        if target.preview:
            self._videos["preview"] = VideoWriter(part(folder, "preview", segment), rate, "preview")

    def add(self, d: Map) -> None:
        """Write the next frame."""
        with writing(self._folder):
            self._add(d)
        self._number += 1

    def _add(self, d: Map) -> None:
        target, grey = self._target, self._grey
        if target.is_video:
            self._videos["map"].add(grey.codes(d))
        else:
            path = os.path.join(self._folder, "frames", frame_name(self._number, target.format))
            data = encode_map(path, d) if target.format == "tiff" else encode_png(grey.codes(d))
            with open(path, "wb") as file:
                file.write(data)
        if target.preview:
            self._videos["preview"].add(preview(d, *self._shown))

    def close(self, error: BaseException | None = None) -> None:
        """Finish the files of the segment, or remove them after an error."""
        with writing(self._folder):
            for video in self._videos.values():
                video.__exit__(type(error) if error else None, error, None)


def part(folder: str, what: str, segment: int) -> str:
    """The file of a segment in the folder of parts."""
    return os.path.join(folder, f"{what}_{segment:05d}.mkv")


def metadata(grey: Grey) -> dict[str, str]:
    """The tags of a grey video."""
    return {TAG: json.dumps(grey.record())}
