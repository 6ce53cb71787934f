"""The types that the stages of the method hand to each other, and the arrays that cross into the kernels."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import InputError

Image = npt.NDArray[Any]  # HxW or HxWx3 (RGB), uint8, uint16 or float in [0, 1]
Map = npt.NDArray[np.float32]  # HxW
Mask = npt.NDArray[np.uint8]  # HxW, 1 where true
Flags = npt.NDArray[np.bool_]  # HxW
Ranges = npt.NDArray[np.int32]  # first disparity and count of every tile
Weights = npt.NDArray[np.uint8]  # of the edges between pixels, in the kernels' 8-bit code
Halves = npt.NDArray[np.float16]  # HxW
Shape = tuple[int, ...]
LARGE = 1 << 18  # bytes; smaller arrays are no matter for the pool
StrPath = str | os.PathLike[str]


class Readable(Protocol):
    """A file object that gives bytes."""

    def read(self) -> bytes: ...


class SupportsDLPack(Protocol):
    """An array of another library."""

    def __dlpack__(self) -> Any: ...


class SupportsArrayInterface(Protocol):
    """Such as a picture of Pillow."""

    @property
    def __array_interface__(self) -> Mapping[str, Any]: ...


# A picture that users give: a path, an array of any library, a picture of Pillow, or an encoded picture.
Input = StrPath | npt.ArrayLike | bytes | bytearray | memoryview | Readable | SupportsDLPack | SupportsArrayInterface


# ---- array helpers ---------------------------------------------------------------------------------------


def as_row(values: Iterable[float]) -> Map:
    """A contiguous float32 vector."""
    return np.ascontiguousarray(values, dtype=np.float32)


def empty(shape: Sequence[int], dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """An array that is not initialised. A large one takes the memory of one that was freed before."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return _core.allocate(size).view(dtype).reshape(shape) if size >= LARGE else np.empty(shape, dtype)


@contextmanager
def reusing() -> Iterator[None]:
    """Keep memory and threads for the kernels of this block: getting new ones takes as long as a small kernel.

    Afterwards the threads end, and the system may have the memory.
    """
    _core.begin()
    try:
        yield
    finally:
        _core.rest()


def empty_like(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of the same shape and type that is not initialised."""
    return empty(array.shape, array.dtype)


def copy_of(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A contiguous copy of an array or of a view into one."""
    copy = empty_like(array)
    copy[...] = array
    return copy


def copy_of_map(plane: Map, threads: int) -> Map:
    """A copy of a contiguous map."""
    copy = empty_like(plane)
    _core.copy(plane, copy, threads)
    return copy


def halved(plane: Map, threads: int) -> Map:
    """A map at half the size, smoothed before; its pixel i lies at pixel 2 i."""
    half = empty([(n + 1) // 2 for n in plane.shape])
    _core.pyramid_down(plane, half, threads)
    return half


def doubled(half: Map, shape: Shape, threads: int) -> Map:
    """A half-size map at full size, by linear interpolation; its pixel i lies at pixel 2 i."""
    full = empty(shape)
    _core.pyramid_up(half, full, add=False, threads=threads)
    return full


def full_scale(dtype: np.dtype[Any]) -> float:
    """The largest value an image of that type can hold; 1 for floats."""
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def same_size(first: tuple[str, Shape], *others: tuple[str, Shape]) -> None:
    """Refuse images, given as name and shape, that differ in width or height from the first.

    Raises
    ------
    InputError
        It names both images and their sizes.
    """
    for name, shape in others:
        if shape[:2] != first[1][:2]:
            (height, width), (rows, columns) = shape[:2], first[1][:2]
            raise InputError(
                f"{name} is {width}x{height} but {first[0]} is {columns}x{rows}: give images of the same size"
            )


# ---- pairs, planes and parabolas --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pair:
    """Two views of one shot, of the same size, as the camera stored them.

    Attributes
    ----------
    left, right : image
        HxW or HxWx3 (RGB), uint8, uint16 or float32 in [0, 1].
    guide : image or None
        An image of the same size whose edges stop the smoothing; None is the left view.
    source : dict
        Path by name ("left", "right", "guide") of those that came from a file.
    orientation : int
        EXIF orientation, 1 to 8: how a viewer turns the stored pixels. 1 is "as they are". The views are matched as
        stored, since left and right belong to the sensor; the finished map is turned upright.
    clipped : bool array or None
        HxW, true where the sensor was too bright to record both views. The confidence becomes 0 there.
    pixel_aspect : float or None
        Height of a pixel over its width, if the file tells.
    notes : tuple of str
        What the user should know about the file, a sentence each.
    """

    left: Image
    right: Image
    guide: Image | None = None
    source: dict[str, str] = field(default_factory=dict)
    orientation: int = 1
    clipped: Flags | None = None
    pixel_aspect: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.left.shape[0], self.left.shape[1]

    def name(self, which: str) -> str:
        """What errors call an image: its path, or "left", "right" or "guide"."""
        return self.source.get(which, which)


class Planes(NamedTuple):
    """The grey planes of one scale, on a 0..255 scale: both views, and the guide whose edges stop the smoothing."""

    left: Map
    right: Map
    guide: Map

    def halved(self, threads: int) -> "Planes":
        """The next coarser scale; its pixel i lies at pixel 2 i of this one."""
        left, right = halved(self.left, threads), halved(self.right, threads)
        return Planes(left, right, left if self.guide is self.left else halved(self.guide, threads))

    def transposed(self) -> "Planes":
        """Rows become columns."""
        left, right = copy_of(self.left.T), copy_of(self.right.T)
        return Planes(left, right, left if self.guide is self.left else copy_of(self.guide.T))

    def mirrored(self) -> "Planes":
        """The pair seen in a mirror: the right view takes the place of the left, and disparities keep their sign."""
        left, right = copy_of(self.right[:, ::-1]), copy_of(self.left[:, ::-1])
        return Planes(left, right, left)

    def cropped(self, rows: slice, columns: slice) -> "Planes":
        """A part of the planes, copied."""
        left, right = copy_of(self.left[rows, columns]), copy_of(self.right[rows, columns])
        return Planes(left, right, left if self.guide is self.left else copy_of(self.guide[rows, columns]))


class Agreement(NamedTuple):
    """How well the two views of a stereo pair confirm each other.

    Attributes
    ----------
    confirmed : float
        Share of the matched pixels that the other view confirms and that are no speckles.
    ends : dict
        Share of the pixels that are confirmed and within 1 px of an end of the range, by that end (px).
    """

    confirmed: float
    ends: dict[int, float]


class Place(NamedTuple):
    """Where the middle of a picture is in a map of a part of it: row, column, and its distance from the corners, px."""

    y: float
    x: float
    corner: float

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> "Place":
        """That of a map of the whole picture."""
        y, x = (0.5 * (n - 1) for n in shape)
        return cls(y, x, max(math.hypot(y, x), 1.0))

    def seen_from(self, row: int, column: int) -> "Place":
        """That in a part which starts at this row and column."""
        return Place(self.y - row, self.x - column, self.corner)

    def doubled(self) -> "Place":
        """That at the next finer scale."""
        return Place(*(2 * each for each in self))


class Signs(NamedTuple):
    """What tells about the errors of a belief, beside its curvatures, at every fourth pixel. None is not known.

    Attributes
    ----------
    texture : float32 map or None
        Mean curvature of the matches around a pixel.
    bias : float32 map or None
        How far the matches around a pixel lie from the belief on average, px, 0 or more.
    coarser : float32 map or None
        The disparities of the next coarser scale, px of that scale.
    span : float or None
        What most disparities of the next coarser scale span in the whole picture, px of that scale.
    place : Place or None
        Where the middle of the picture is; None if the maps are the whole picture.
    below : float32 map or None
        `texture` of the next coarser scale, at every eighth pixel of this one; None for a part of a picture.
    filled : mask or None
        1 where the belief has other disparities than its parabolas, by the contours of a blank part.
    """

    texture: Map | None = None
    bias: Map | None = None
    coarser: Map | None = None
    span: float | None = None
    place: Place | None = None
    below: Map | None = None
    filled: Mask | None = None

    def cropped(self, rows: slice, columns: slice, shape: tuple[int, ...]) -> "Signs":
        """Those of a part of a field of that shape. Its first row and column should be multiples of 4.

        It keeps the span and the middle of the picture.
        """
        at = tuple(slice(part.start // 4, (part.stop + 3) // 4) for part in (rows, columns))
        texture, bias, coarser = (None if each is None else each[at].copy() for each in self[:3])
        place = (self.place or Place.of(shape)).seen_from(rows.start, columns.start)
        return Signs(texture, bias, coarser, self.span, place)


class Texture(NamedTuple):
    """Where texture was matched, beside the vertices of the matches.

    Attributes
    ----------
    coarser : mask or None
        `textured` of the coarser scale.
    side : int
        That of the window which looks for it, px.
    """

    coarser: Mask | None
    side: int


@dataclass(frozen=True, eq=False)
class Parabolas:
    """One parabola ``A d^2 + B d`` a pixel: the currency of the method.

    The vertex ``-B / (2 A)`` is the disparity; the curvature A says how sure it is. A local term, a prior and an
    aggregated belief are all of this type.

    Attributes
    ----------
    A, B : float32 maps
        A is 0 or more, in 1/px^2 where the curvature is relative to the noise.
    textured : mask or None
        1 where this scale or a coarser one has matched texture near the pixel.
    limits : (float, float) or None
        The disparities that could win, px of this scale.
    curvatures : tuple of float
        Mean curvature of the evidence of each scale so far, coarse to fine.
    agreement : Agreement or None
        For stereo: how well the views confirm each other at this scale.
    vertex : float32 map or None
        The disparity, if already computed.
    matched : float16 map or None
        Of evidence: the vertex of the local term alone, without priors; minus infinity where there is no texture.
    signs : Signs or None
        What tells about the errors; None if the curvatures have no unit.
    texture : Texture or None
        Of evidence: what `textured` can be made from, until it is needed.
    """

    A: Map
    B: Map
    textured: Mask | None = None
    limits: tuple[float, float] | None = None
    curvatures: tuple[float, ...] = ()
    agreement: Agreement | None = None
    vertex: Map | None = None
    matched: Halves | None = None
    signs: Signs | None = None
    texture: Texture | None = None

    def disparity(self, threads: int = 1) -> Map:
        """``d = -B / (2 A)``, 0 where A is 0."""
        if self.vertex is not None:
            return self.vertex
        A, B = np.ascontiguousarray(self.A), np.ascontiguousarray(self.B)
        d = empty_like(A)
        _core.minimizer(A, B, d, threads)
        return d

    def halved(self, threads: int) -> "Parabolas":
        """The same parabolas at half the size: d halves, so A grows by 4 and B by 2."""
        return Parabolas(4 * halved(self.A, threads), 2 * halved(self.B, threads))

    def cropped(self, rows: slice, columns: slice) -> "Parabolas":
        """A part of the field, copied."""
        A, B = copy_of(self.A[rows, columns]), copy_of(self.B[rows, columns])
        textured = None if self.textured is None else copy_of(self.textured[rows, columns])
        signs = None if self.signs is None else self.signs.cropped(rows, columns, self.A.shape)
        return Parabolas(A, B, textured, self.limits, self.curvatures, signs=signs)
