"""Maps and photographs as small image files. A script can read the values of a map from its colours."""

import math
import struct
import zlib
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...io import preview
from ...io.previews import blended
from ...types import Map, full_scale

Image = npt.NDArray[np.uint8]

STEPS = 252  # between 253 colours; with the grey of invalid pixels they fit into a palette of 8 bits
GREY = 128  # of invalid pixels
# RGB, lowest to highest. White is good in both: no error, a sure pixel. Red is bad in one and never used in the other.
RAMPS = {
    "signed": ((16, 48, 128), (86, 150, 214), (247, 247, 247), (236, 132, 84), (138, 20, 30)),
    "sure": ((20, 0, 40), (22, 72, 84), (40, 140, 96), (150, 205, 130), (247, 247, 247)),
}
JPEG_QUALITY = 82

Colours = Literal["plain", "signed", "sure"]


class Scale(NamedTuple):
    """A colour scale: the values of the first and the last colour, and the number of steps between them.

    `steps` must divide STEPS. Fewer steps make smaller files. The colours are those of previews (plain); blue below the
    middle, white there and red above (signed); or from dark to green to white (sure).
    """

    low: float
    high: float
    steps: int = STEPS
    colours: Colours = "plain"

    @property
    def digits(self) -> int:
        """The number of decimals that a step needs."""
        return max(0, math.ceil(-math.log10((self.high - self.low) / self.steps)))


def painted(values: Map, scale: Scale) -> bytes:
    """PNG of the map. Indices of the palette: 0 where NaN, else 1 plus the step."""
    share = (np.clip(values, scale.low, scale.high, dtype=np.float64) - scale.low) / (scale.high - scale.low)
    step = np.rint(np.nan_to_num(share) * scale.steps) * (STEPS // scale.steps)
    return _indexed_png(np.where(np.isnan(values), 0, step + 1).astype(np.uint8), scale.colours)


def ramp(colours: Colours = "plain") -> bytes:
    """PNG of all colours in one row, from low to high."""
    return _indexed_png(np.arange(1, STEPS + 2, dtype=np.uint8)[None], colours)


def shrunk(image: npt.NDArray[Any], shape: tuple[int, int]) -> Image:
    """An image (HxW or HxWx3; uint8, uint16 or float in [0, 1]) reduced to that size by averaging."""
    import cv2

    small = cv2.resize(image, shape[::-1], interpolation=cv2.INTER_AREA).astype(np.float32)
    return np.asarray(np.rint(small * np.float32(255 / full_scale(image.dtype))), np.uint8)


def photograph(image: Image) -> bytes:
    """JPEG of a grey or RGB image."""
    import cv2

    pixels = image if image.ndim == 2 else image[..., ::-1]
    return bytes(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1])


@cache
def _palette(colours: Colours) -> bytes:
    count = STEPS + 1
    plain = colours == "plain"
    table = preview(np.arange(count)[None], 0, STEPS)[0, :count] if plain else blended(RAMPS[colours], count)
    return bytes([GREY] * 3) + table.tobytes()


def _indexed_png(levels: Image, colours: Colours) -> bytes:
    """PNG with the palette, which OpenCV cannot write. Rows use filter 2 of PNG: the difference to the row above."""
    height, width = levels.shape
    rows = np.insert(np.diff(levels, axis=0, prepend=np.uint8(0)), 0, 2, axis=1)
    squeeze = zlib.compressobj(strategy=zlib.Z_RLE)  # files as small as at the slowest level, 30 times as fast
    data = squeeze.compress(rows.tobytes()) + squeeze.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits, indexed
    chunks = (b"IHDR" + header, b"PLTE" + _palette(colours), b"IDAT" + data, b"IEND")
    return b"\x89PNG\r\n\x1a\n" + b"".join(struct.pack(f">I{len(c)}sI", len(c) - 4, c, zlib.crc32(c)) for c in chunks)
