"""The photo of a shot as the page shows it: RGBA, upright, of the size of the map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import _core
from ..io.images import resampled
from ..io.layers import Layers
from ..io.photos import read_photo
from ..types import Image, full_scale
from .matching import write

if TYPE_CHECKING:
    from .settings import Settings
    from .shots import Shot

Pixels = npt.NDArray[np.uint8]

DARK = 0.35  # of white: a picture without brighter parts is dark


class Photo(NamedTuple):
    """The file of the pixels, H x W x RGBA, and its size."""

    path: Path
    width: int
    height: int

    def pixels(self, step: int = 1) -> Pixels:
        """The pixels, each the mean of step x step."""
        rgba = np.fromfile(self.path, np.uint8).reshape(self.height, self.width, 4)
        if step == 1:
            return rgba
        rows, columns = (-(-side // step) for side in rgba.shape[:2])
        sums = np.add.reduceat(
            np.add.reduceat(rgba, range(0, self.height, step), 0, np.uint32), range(0, self.width, step), 1
        )
        tall, wide = (
            np.minimum(step, side - step * np.arange(n)) for side, n in ((self.height, rows), (self.width, columns))
        )
        small: Pixels = np.rint(sums / (tall[:, None] * wide)[..., None]).astype(np.uint8)
        return small


def photo_of(shot: Shot, settings: Settings) -> Photo:
    """The photo, read when it is first asked for. `settings` say how one file holds both views."""
    path = shot.folder / f"photo-{settings.layout}-{settings.first}.rgba"
    with shot.lock:
        if not path.exists():
            image = _read(shot, settings)
            shot.sizes[path.name] = image.shape[0], image.shape[1]
            write(path, np.dstack([image, np.full(image.shape[:2], 255, np.uint8)]).data)
            del image
            _core.release_free_memory()
        shot.height, shot.width = height, width = shot.sizes[path.name]
    return Photo(path, width, height)


def _read(shot: Shot, settings: Settings) -> Pixels:
    """The guide, or the left view, as 8-bit RGB."""
    paths = shot.source.paths
    picture = read_photo(paths["left"], layout=settings.layout, first=settings.first)
    if "guide" in paths:
        shape = picture.shape[0], picture.shape[1]
        picture = resampled(read_photo(paths["guide"]), shape, paths["guide"], paths["left"])
    shot.is_brightened = is_dark(picture)
    colours = Layers(np.empty(picture.shape[:2], np.float32), photo=brightened(picture)).colours()
    assert colours is not None
    return colours


def is_dark(picture: Image) -> bool:
    """Whether a picture of more than 8 bits is so dark that few of 256 levels would be left of it."""
    return picture.dtype != np.uint8 and float(np.percentile(picture[::4, ::4], 99)) < DARK * full_scale(picture.dtype)


def brightened(picture: Image) -> Image:
    """A dark picture as the screen shows it, on the scale 0 to 1; others as they are.

    The outermost 1 % is cut, and an exponent lifts the median to 0.4 at most.
    """
    if not is_dark(picture):
        return picture
    low, middle, high = (float(each) for each in np.percentile(picture[::4, ::4], (0.5, 50, 99)))
    high = max(high, low + 1e-6 * full_scale(picture.dtype))
    share = np.clip((picture.astype(np.float32) - low) / (high - low), 0, 1)
    lift = np.log(0.4) / np.log(np.clip((middle - low) / (high - low), 1e-3, 0.999))
    return np.asarray(share ** np.clip(lift, 0.45, 1), np.float32)
