"""How the input and the matched planes relate: pixel aspect, axis and EXIF orientation."""

from dataclasses import dataclass

import numpy as np

from ..camera.axis import OTHER
from ..io.orientation import swaps_axes, upright
from ..opencv import opencv
from ..types import Image, Map, Planes


@dataclass(frozen=True)
class Frame:
    """The change of frame, made once on the way in and undone once on the way out.

    The planes that are matched have square pixels, and their views differ along x.

    Attributes
    ----------
    shape : (int, int)
        Height and width of the views as stored.
    aspect : float
        Height of the camera's pixels over their width.
    axis : "x" or "y"
        The direction in which the stored views differ.
    orientation : int
        EXIF orientation, by which the finished map is turned.
    """

    shape: tuple[int, int]
    aspect: float = 1.0
    axis: str = "x"
    orientation: int = 1

    # ---- in ----

    def square(self, image: Image) -> Image:
        """The image with square pixels: rows or columns are added by linear interpolation."""
        if self.aspect == 1:
            return image
        cv2 = opencv()
        height, width = self.square_shape
        return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR))

    def turned(self, planes: Planes) -> Planes:
        """Square planes in the matched frame, where the views differ along x."""
        return planes if self.axis == "x" else planes.transposed()

    # ---- out ----

    def back(self, values: Map) -> Map:
        """Bring a map from the matched frame to that of the stored input; each pixel averages what it covers."""
        values = values if self.axis == "x" else np.ascontiguousarray(values.T)
        if values.shape == self.shape:
            return values
        cv2 = opencv()
        return np.asarray(cv2.resize(values, self.shape[::-1], interpolation=cv2.INTER_AREA), np.float32)

    def back_disparity(self, d: Map) -> Map:
        """The same for disparities, which become pixels of the input."""
        stored = self.back(d)
        if self.stretch != 1:
            stored *= np.float32(1 / self.stretch)
        return stored

    def upright(self, values: Map) -> Map:
        """Turn a map of the stored input as a viewer turns the picture."""
        return upright(values, self.orientation)

    # ---- facts ----

    @property
    def square_shape(self) -> tuple[int, int]:
        """Height and width of the planes with square pixels, before they are turned."""
        height, width = self.shape
        return round(height * max(self.aspect, 1)), round(width * max(1 / self.aspect, 1))

    @property
    def length(self) -> int:
        """Width of the matched planes, px: the side along which disparities lie."""
        return self.square_shape["yx".index(self.axis)]

    @property
    def stretch(self) -> float:
        """Matched pixels for every pixel of the input along the axis."""
        k = "yx".index(self.axis)
        return self.square_shape[k] / self.shape[k]

    @property
    def seen_axis(self) -> str:
        """The direction in which the views differ as a viewer shows them."""
        return OTHER[self.axis] if swaps_axes(self.orientation) else self.axis

    @property
    def flipped(self) -> bool:
        """Whether turning the picture reverses the axis: a viewer then sees ``d = x_right - x_left``, larger nearer."""
        y, x = np.mgrid[0:2, 0:3].astype(np.float32)
        seen = upright(x if self.axis == "x" else y, self.orientation)
        return bool(np.diff(seen, axis="yx".index(self.seen_axis)).mean() < 0)
