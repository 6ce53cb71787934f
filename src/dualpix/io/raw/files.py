"""From a raw file to its two frames, through LibRaw: A + B, and one half.

LibRaw chooses the frame of a CR2 or CR3 file while it opens it, so ``shot_select`` is set before the file is opened.
rawpy.imread sets it after that, and returns frame 0 twice.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...types import Image, StrPath
from .. import _tiff
from .._extra import missing
from .._format import FormatError, matches, reading
from .._reader import check_pixels, file_bytes
from .levels import Levels, dng_levels

if TYPE_CHECKING:
    import rawpy

Frame = npt.NDArray[np.uint16]


class NoSecondFrame(InputError):
    """A raw file without the half of its pixels."""


BOTH, HALF = 0, 1
RATIO = (1.5, 2.7)  # A + B over A of a whole picture: 2, and room for a lens that shades one half
DARKEST = 4.0  # counts: a darker frame is black
CLIPPED = 0.98  # share of white from which on a pixel counts as clipped: sensors bend before they clip

_ORIENTATIONS = (1, 2, 4, 3, 5, 8, 6, 7)  # EXIF orientation, by LibRaw's flip
_SWITCH_ON = (
    'holds one frame, not both halves of the pixels: switch on "Dual Pixel RAW" in the camera\'s shooting menu (a few '
    "Canon cameras have it) and take the picture again"
)
_DAMAGED = "is damaged or cut short: copy it from the camera again"


@dataclass(frozen=True, eq=False)
class Frames:
    """The two frames of a dual-pixel raw file, as LibRaw unpacks them, without masked borders.

    Attributes
    ----------
    path : str
    both, half : HxW uint16
        A + B, and A or B: the samples behind the colour filter, in counts with the black level.
    levels : (Levels, Levels)
        Black and white of the two frames.
    ratio : float
        A + B over the half, of the whole picture.
    orientation : int
        EXIF orientation, 1 to 8.
    """

    path: str
    both: Frame
    half: Frame
    levels: tuple[Levels, Levels]
    ratio: float
    orientation: int = 1


def read_frames(path: StrPath) -> Frames:
    """Read both frames of a raw file and check that the second is a half of the first.

    Raises
    ------
    InputError
        If LibRaw cannot read the file, it has no second frame, or the frames do not belong together.
    """
    name, data = os.fspath(path), _bytes(path)
    with _unpacked(name, data, BOTH) as raw:
        _check_mosaic(name, raw)
        both, levels, orientation = raw.raw_image_visible.copy(), _levels(raw, data), _orientation(raw)
    with _unpacked(name, data, HALF) as raw:
        _check_mosaic(name, raw)
        half, own = raw.raw_image_visible.copy(), _levels(raw, data)
    if both.shape != half.shape:
        raise InputError(f"{name}: its two frames differ in size: give a dual-pixel raw file")
    # A DNG lists the levels of both samples; in other files every frame has its own.
    pair = (levels[0], levels[1]) if len(levels) > 1 else (levels[0], own[0])
    return Frames(name, both, half, pair, _checked_ratio(name, both, half, pair), orientation)


def describe(path: StrPath) -> dict[str, Any]:
    """What a raw file holds, ready for JSON: size, orientation, frames, and the black and white of each.

    Raises
    ------
    InputError
        If LibRaw cannot read the file.
    """
    name, data = os.fspath(path), _bytes(path)
    with _unpacked(name, data, BOTH) as raw:
        _check_mosaic(name, raw)
        height, width = raw.raw_image_visible.shape
        levels, orientation = list(_levels(raw, data)), _orientation(raw)
    frames = 1
    with suppress(NoSecondFrame), _unpacked(name, data, HALF) as raw:
        frames = 2
        levels = (levels + list(_levels(raw, data)))[:2]
    return {
        "width": width,
        "height": height,
        "orientation": orientation,
        "frames": frames,
        "black": [level.black.ravel().tolist() for level in levels],
        "white": [level.white for level in levels],
    }


def size(path: StrPath) -> tuple[int, int]:
    """Height and width of a raw file, from its header.

    Raises
    ------
    InputError
        If LibRaw cannot read it.
    """
    check_installed(path)
    import rawpy

    file_bytes(path)  # refuses a pipe
    raw = rawpy.RawPy()
    try:
        raw.open_file(os.fspath(path))
        return raw.sizes.height, raw.sizes.width
    except (rawpy.LibRawError, OSError, RuntimeError) as error:
        raise InputError(f"{path}: {_DAMAGED}") from error
    finally:
        raw.close()


def read_picture(path: StrPath, linear: bool = False) -> tuple[Image, int]:
    """Develop A + B as a colour picture, as stored: LibRaw's demosaicing (AHD) and the camera's white balance.

    Returns
    -------
    picture : ndarray
        HxWx3 uint16, sRGB; or linear light of the same primaries. Its size is that of the frames.
    orientation : int
        EXIF orientation, 1 to 8.
    """
    name, data = os.fspath(path), _bytes(path)
    with _unpacked(name, data, BOTH) as raw:
        _check_mosaic(name, raw)
        orientation = _orientation(raw)  # user_flip changes it
        colours = _sites(raw)
        black = np.resize(_levels(raw, data)[0].black, colours.shape)
        by_colour = {int(colour): float(black[place]) for place, colour in np.ndenumerate(colours)}
        picture: Image = raw.postprocess(
            use_camera_wb=any(raw.camera_whitebalance),
            no_auto_bright=True,
            output_bps=16,
            user_flip=0,
            user_black=0,
            user_cblack=[round(by_colour.get(colour, black.mean())) for colour in range(4)],
            gamma=(1, 1) if linear else (2.4, 12.92),
        )
        return picture, orientation


# ---- LibRaw --------------------------------------------------------------------------------------


def check_installed(path: StrPath) -> None:
    """Refuse a raw file if rawpy is not installed."""
    if missing("rawpy"):
        raise InputError(f"{path}: is a camera raw file, which needs rawpy: pip install 'dualpix[raw]'")


def _bytes(path: StrPath) -> bytes:
    check_installed(path)
    return file_bytes(path)[:]


@contextmanager
def _unpacked(name: str, data: bytes, number: int) -> "Iterator[rawpy.RawPy]":
    """Open one frame of a raw file. What goes wrong is one sentence."""
    with reading(name), _by_libraw(name, data, number) as raw:
        yield raw


@contextmanager
def _by_libraw(name: str, data: bytes, number: int) -> "Iterator[rawpy.RawPy]":
    import rawpy

    raw = rawpy.RawPy()
    try:
        raw.set_unpack_params(shot_select=number)  # before the file is opened
        raw.open_buffer(BytesIO(data))
        check_pixels(name, raw.sizes.raw_width, raw.sizes.raw_height)
        _check_complete(data)  # before LibRaw prints what is missing
        raw.unpack()
        yield raw
    except rawpy.LibRawRequestForNonexistentImageError:
        raise NoSecondFrame(f"{name}: {_SWITCH_ON}") from None
    except (rawpy.LibRawFileUnsupportedError, rawpy.NotSupportedError):
        raise InputError(
            f"{name}: LibRaw finds no raw picture that it can read: copy it again, or convert it to DNG"
        ) from None
    except (rawpy.LibRawUnsufficientMemoryError, MemoryError):
        raise InputError(f"{name}: does not fit in memory: close other programs") from None
    except (rawpy.LibRawError, OSError, RuntimeError) as error:
        raise InputError(f"{name}: {_DAMAGED}") from error
    finally:
        raw.close()


def _check_complete(data: bytes) -> None:
    """Refuse a file whose pixels end beyond its end. LibRaw fills the rest with zeros."""
    if matches(_tiff.MAGIC, data) and _tiff.raw_end(data) > len(data):
        raise FormatError(_DAMAGED)


def _check_mosaic(name: str, raw: "rawpy.RawPy") -> None:
    import rawpy

    if raw.raw_type != rawpy.RawType.Flat or np.asarray(raw.raw_pattern).shape != (2, 2):
        raise InputError(
            f"{name}: is not a mosaic of single colours, so its halves cannot be told apart: "
            "take full-size raw, not sRAW"
        )


def _orientation(raw: "rawpy.RawPy") -> int:
    return _ORIENTATIONS[raw.sizes.flip & 7]


def _sites(raw: "rawpy.RawPy") -> npt.NDArray[Any]:
    """LibRaw's colour of the four sites at the top left of the picture, which need not be the sensor's corner."""
    return np.roll(np.asarray(raw.raw_pattern), (-raw.sizes.top_margin, -raw.sizes.left_margin), (0, 1))


def _levels(raw: "rawpy.RawPy", data: bytes) -> tuple[Levels, ...]:
    """Black and white: of all samples for a DNG, of this frame for other files."""
    if matches(_tiff.MAGIC, data):
        page = _tiff.raw_page(data)
        if page is not None:
            corner = raw.sizes.top_margin, raw.sizes.left_margin
            return dng_levels(page, corner, raw.raw_image_visible.shape)
    black = np.array(raw.black_level_per_channel, np.float64)[_sites(raw)]
    white = [float(level) for level in (raw.white_level, *(raw.camera_white_level_per_channel or ())) if level > 0]
    return (Levels(black, min(white, default=65535.0)),)


# ---- do the frames belong together? --------------------------------------------------------------


def _checked_ratio(name: str, both: Frame, half: Frame, levels: tuple[Levels, Levels]) -> float:
    """``sum (A + B) / sum A`` over pixels that are not clipped, refused unless it is near 2."""
    if np.array_equal(both, half):
        raise InputError(
            f"{name}: its two frames are equal, so it is no dual-pixel raw file: give one taken with Dual Pixel RAW"
        )
    good = ~clipped(both, levels[BOTH])
    if not good.any():
        raise InputError(f"{name}: every pixel is too bright: take it again with a shorter exposure")
    total, part = (
        float(level.above_black(frame).mean(where=good)) for level, frame in zip(levels, (both, half), strict=True)
    )
    if total < DARKEST:
        raise InputError(f"{name}: is black: take off the lens cap")
    ratio = total / part if part > 0 else float("inf")
    if not RATIO[0] <= ratio <= RATIO[1]:
        raise InputError(
            f"{name}: its first frame is {ratio:.2f} times as bright as its second, but both halves together should be "
            "twice as bright as one: give a dual-pixel raw file, not a burst"
        )
    return ratio


def clipped(frame: Frame, levels: Levels) -> npt.NDArray[np.bool_]:
    """Where a frame is too bright to be trusted."""
    return frame >= levels.mean_black + CLIPPED * (levels.white - levels.mean_black)
