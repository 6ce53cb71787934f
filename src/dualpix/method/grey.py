"""From the pixel values of a picture to a grey plane on a 0..255 scale."""

import math
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from ..errors import ParameterError
from ..params.definitions import Photometry
from ..types import Image, Map, as_row, empty, empty_like, full_scale

LUMA = (0.299, 0.587, 0.114)  # the views
MEAN = (1 / 3, 1 / 3, 1 / 3)  # the guide
FULL = 255.0  # the scale of a plane
DETAIL_REACH = 7  # px, half of the bilateral filter's window


@dataclass(frozen=True)
class Camera:
    """Black level, white level and gamma of a picture. The defaults change nothing."""

    black: float = 0.0
    white: float | str = "auto"
    gamma: float = 1.0

    @classmethod
    def of(cls, photometry: Photometry) -> "Camera":
        """The camera of the views."""
        return cls(photometry.black, photometry.white, photometry.gamma)

    def raised(self, gamma: float) -> "Camera":
        """The camera whose planes are raised to that power, too."""
        return replace(self, gamma=self.gamma * gamma)


PLAIN = Camera()  # for a guide from another camera


def grey_plane(image: Image, weights: tuple[float, ...], camera: Camera, threads: int) -> Map:
    """A grey plane on a 0..255 scale: ``I = 255 ((i - black) / (white - black))^gamma``."""
    plane = empty(image.shape[:2], np.float32)
    pixels, weights = (image[..., None], (1,)) if image.ndim == 2 else (image, weights)
    full = full_scale(image.dtype)
    black, white = camera.black, full if camera.white == "auto" else float(camera.white)
    if not black < white <= full:
        raise ParameterError(
            f"parameter black is {black:g} and white is {white:g}, but black must be below white, and white at most "
            f"{full:g} for {image.dtype} images: give them as pixel values"
        )
    scale = FULL / (white - black)
    most = FULL if black or white < full else math.inf
    tone = {"black": scale * black, "most": most, "gamma": camera.gamma, "full": FULL}
    _core.to_plane(pixels, plane, as_row(weights), scale, threads, **tone)
    return plane


def detail(plane: Map, threads: int) -> Map:
    """``I - bilateral(I)``."""
    out = empty_like(plane)
    _core.subtract_bilateral(plane, out, threads)
    return out
