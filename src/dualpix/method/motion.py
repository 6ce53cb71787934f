"""The motion in a clip: where each pixel of a frame was in another frame, and whether that shows the same thing."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..opencv import opencv_threads
from ..types import Map, Parabolas, Shape, Signs, doubled, halved
from .confidence import EVERY

KINDS = ("flow", "none")  # how motion is found: by optical flow, or not at all, for a camera on a tripod
PIXELS = 2**19  # most pixels of the pictures in which motion is looked for
SMALLEST = 32  # px, the least side of such a picture
BRIGHTNESS = 12.0  # of 255 levels: a larger difference is another thing
RETURN = 1.0  # px of the small picture: who goes to the other frame and back ends so near to the start
CUT = 0.25  # mean similarity below which two frames show different scenes

Flow = npt.NDArray[np.float32]  # HxWx2, px along x and along y


@dataclass(frozen=True, eq=False)
class Motion:
    """How the pixels of a frame relate to those of another, in small pictures.

    Attributes
    ----------
    flow : HxWx2 array
        The pixel p was at ``p + flow(p)`` in the other frame, px of the small picture.
    similarity : float32 map
        0 to 1: whether the pixel shows what it showed there. 0 if it was hidden or outside the picture.
    """

    flow: Flow
    similarity: Map

    @property
    def is_cut(self) -> bool:
        """Whether the frames show different scenes."""
        return float(self.similarity.mean()) < CUT

    def carried(self, belief: Parabolas, threads: int) -> tuple[Parabolas, Map]:
        """The belief of the other frame, moved to this one, with what it knows of the coarser scale; the similarity.

        All are at full size; disparities of the coarser scale are those of every fourth pixel.
        """
        shape = belief.A.shape
        ratio = np.float32(2 ** halvings(shape))
        x, y = at(*(ratio * enlarged(np.ascontiguousarray(self.flow[..., k]), shape, threads) for k in (0, 1)))
        A, B = (sampled(each, (x, y), threads) for each in (belief.A, belief.B))
        signs, coarser = None, belief.signs and belief.signs.coarser
        if coarser is not None:
            fourth = [np.ascontiguousarray(each[::EVERY, ::EVERY]) / np.float32(EVERY) for each in (x, y)]
            signs = Signs(coarser=sampled(coarser, (fourth[0], fourth[1]), threads))
        return Parabolas(A, B, signs=signs), enlarged(self.similarity, shape, threads)


def small_picture(plane: Map, threads: int) -> Map:
    """The picture of a frame in which motion is looked for. It is never a view of the plane."""
    small = plane
    for _ in range(halvings(plane.shape)):
        small = halved(small, threads)
    return small.copy() if small is plane else small


def halvings(shape: Shape) -> int:
    """How often a picture is halved: once or more often, but never below the smallest side."""
    number = 0
    height, width = shape
    while min(height, width) >= 2 * SMALLEST and (number == 0 or height * width > PIXELS):
        height, width, number = (height + 1) // 2, (width + 1) // 2, number + 1
    return number


def find_motion(other: Map, now: Map, kind: str, threads: int) -> Motion:
    """The motion from the other frame to this one, both as small pictures of 0 to 255."""
    flow, back = np.zeros((*now.shape, 2), np.float32), None
    if kind == "flow" and min(now.shape) >= SMALLEST:
        flow, back = flows(other, now, threads)
    return Motion(flow, similarity_of(flow, back, other, now, threads))


def flows(other: Map, now: Map, threads: int) -> tuple[Flow, Flow]:
    """The flow from this frame to the other, and back. The same for any number of threads."""
    import cv2

    pictures = [np.clip(np.rint(each), 0, 255).astype(np.uint8) for each in (now, other)]

    def flow(pair: list[npt.NDArray[np.uint8]]) -> Flow:
        search: Any = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
        return np.asarray(search.calc(*pair, None), np.float32)

    with opencv_threads(1), ThreadPoolExecutor(min(threads, 2)) as pool:
        there, back = pool.map(flow, (pictures, pictures[::-1]))
    return there, back


def similarity_of(flow: Flow, back: Flow | None, other: Map, now: Map, threads: int) -> Map:
    """0 to 1 for every pixel p, which was at q = p + flow(p) in the other frame. The least of 3x3 pixels counts.

    `back` is the flow from the other frame to this one; None if nothing moves.
    """
    import cv2

    places = at(flow[..., 0], flow[..., 1])
    # s = exp(-(I(p) - I'(q))^2 / (2 sigma^2)) exp(-|flow(p) + back(q)|^2 / (2 r^2)), 0 outside the picture
    exponent = ((now - sampled(other, places, threads)) / np.float32(BRIGHTNESS)) ** 2
    if back is not None:
        away = flow + sampled(back, places, threads)
        exponent += (away**2).sum(axis=2) / np.float32(RETURN**2)
    x, y = places
    height, width = now.shape
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    s = np.where(inside, np.exp(np.float32(-0.5) * exponent), np.float32(0))
    return np.asarray(cv2.erode(s, np.ones((3, 3), np.uint8)), np.float32)


def at(dx: Map, dy: Map) -> tuple[Map, Map]:
    """Columns and rows of the places that lie so far from each pixel."""
    height, width = dx.shape
    x, y = np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)[:, None]
    return dx + x, dy + y


def sampled(values: npt.NDArray[np.float32], places: tuple[Map, Map], threads: int) -> npt.NDArray[np.float32]:
    """The values at places between pixels, by linear interpolation; outside, those of the nearest border pixel."""
    import cv2

    with opencv_threads(threads):
        found = cv2.remap(values, *places, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found, np.float32)


def enlarged(small: Map, shape: Shape, threads: int) -> Map:
    """A map of a small picture at full size."""
    shapes = [shape]
    for _ in range(halvings(shape)):
        shapes.append(tuple((n + 1) // 2 for n in shapes[-1]))
    for larger in reversed(shapes[:-1]):
        small = doubled(small, larger, threads)
    return small
