"""What a clip is read from: two videos, one video with both views, or numbered frames."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from ..errors import InputError, ParameterError
from ..io import read_pair
from ..io.frames import find_frames, is_pattern
from ..io.pairs import LAYOUTS, SIDES
from ..io.video import probe_video, read_video
from ..types import Image, Pair, same_size


@dataclass(frozen=True)
class View:
    """One input: a video, or a list of pictures.

    Attributes
    ----------
    name : str
        As the user gave it.
    count : int
        Number of frames.
    size : (int, int) or None
        Width and height of a video, px.
    rate : Fraction or None
        Frames a second of a video, if it tells.
    files : tuple of str
        The pictures; empty for a video.
    """

    name: str
    count: int
    size: tuple[int, int] | None = None
    rate: Fraction | None = None
    files: tuple[str, ...] = ()

    def images(self, start: int) -> Iterator[Image | str]:
        """Frames of a video, or paths of pictures, from number `start` on."""
        return iter(self.files[start:]) if self.files else read_video(self.name, start)

    @property
    def inputs(self) -> tuple[str, ...]:
        """All files that are read."""
        return self.files or (self.name,)


@dataclass(frozen=True)
class Clip:
    """The frames to match: two inputs, or one that holds both views.

    Attributes
    ----------
    left, right : View
        Without `right`, `left` holds both views.
    layout, first : str or None
        How one input holds both views, and which comes first; see `dualpix.read_pair`.
    """

    left: View
    right: View | None = None
    layout: str | None = None
    first: str | None = None

    @property
    def count(self) -> int:
        """Number of frames."""
        return self.left.count

    @property
    def rate(self) -> Fraction | None:
        """Frames a second; None for numbered frames."""
        return self.left.rate or (self.right and self.right.rate) or None

    @property
    def inputs(self) -> tuple[str, ...]:
        """All files that are read."""
        return self.left.inputs + (self.right.inputs if self.right else ())

    def pairs(self, start: int = 0) -> Iterator[Pair]:
        """The frames from number `start` on. Errors name the frame."""
        lefts = self.left.images(start)
        rights = self.right.images(start) if self.right else None
        for number in range(start, self.count):
            left, right = _next(lefts, self.left, number), None
            if rights and self.right:
                right = _next(rights, self.right, number)
            yield self._pair(left, right, number)

    def _pair(self, left: Image | str, right: Image | str | None, number: int) -> Pair:
        if isinstance(left, str):
            return read_pair(left, right, layout=self.layout, first=self.first)
        at = f", frame {number + 1}"
        if right is None:
            one, other = halves(left, self.layout or LAYOUTS[0], self.left.name)
            left, right = (other, one) if self.first == SIDES[1] else (one, other)
            return Pair(left, right, source={"left": self.left.name + at, "right": self.left.name + at})
        pair = read_pair(left, right)
        names = {"left": self.left.name, "right": self.right.name if self.right else ""}
        return replace(pair, source={side: name + at for side, name in names.items()})


def open_clip(left: str, right: str | None, layout: str | None, first: str | None) -> Clip:
    """Find the frames, and check that they belong together. No pixel is decoded.

    Raises
    ------
    InputError
        If an input cannot be read, or they differ in length, size or rate.
    """
    if right is not None and (layout is not None or first is not None):
        raise ParameterError("layout= and first= say how one file holds both views: leave them out, or give one input")
    one = open_view(left)
    if right is None:
        if not one.files and layout is None:
            raise InputError(f"{left}: is one video: say by layout= how it holds both views, or give two videos")
        return Clip(one, None, layout, first)
    other = open_view(right)
    if one.size and other.size:
        same_size((left, one.size[::-1]), (right, other.size[::-1]))
    if one.rate and other.rate and one.rate != other.rate:
        rates = f"{float(other.rate):.6g} frames/s but {left} has {float(one.rate):.6g}"
        raise InputError(f"{right} has {rates}: give videos of the same frame rate")
    if one.count != other.count:
        raise InputError(f"{right} has {other.count} frames but {left} has {one.count}: give clips of the same length")
    return Clip(one, other)


def open_view(path: str) -> View:
    """A folder or a pattern is a list of pictures, everything else a video."""
    if os.path.isdir(path) or is_pattern(path):
        files = tuple(find_frames(path))
        return View(path, len(files), files=files)
    info = probe_video(path)
    return View(path, info.frames, (info.width, info.height), info.rate)


def halves(picture: Image, layout: str, name: str) -> tuple[Image, Image]:
    """The two views of a picture that holds both."""
    axis = 1 if layout == LAYOUTS[0] else 0
    length = picture.shape[axis]
    if length % 2:
        side = "columns" if axis else "rows"
        raise InputError(f"{name}: has {length} {side}, which two views of the same size cannot have: crop it")
    half = length // 2
    one, other = (picture[:, :half], picture[:, half:]) if axis else (picture[:half], picture[half:])
    return one.copy(), other.copy()


def _next(images: Iterator[Image | str], view: View, number: int) -> Image | str:
    image = next(images, None)
    if image is None:
        raise InputError(f"{view.name}: ends after {number} of {view.count} frames: the file is damaged, copy it again")
    return image
