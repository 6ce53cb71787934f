"""Scales: the Gaussian pyramid of the planes, from coarse to fine, and the memory they take."""

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..params import Params
from ..types import Flags, Image, Map, Mask, Planes
from .frame import Frame

COARSEST = 200  # px: the coarsest scale has about this side if the number of scales is "auto"
FARTHEST = 5  # px of the coarsest scale: a range that reaches beyond it asks for one more scale
PASSES = 4  # passes of aggregation for each scale but the finest if "auto"
MOST = 8  # scales


class Level:
    """One scale: its planes and its place in the pyramid.

    Attributes
    ----------
    planes : Planes
        Until they are spent.
    number, scales : int
        It is scale `number` of `scales`, coarse to fine, counted from 1.
    """

    def __init__(self, planes: Planes, number: int = 1, scales: int = 1, *, keep: bool = False) -> None:
        self.planes = planes
        self.number = number
        self.scales = scales
        self._keep = keep

    @property
    def factor(self) -> int:
        """The full size over the size of the level."""
        return int(2 ** (self.scales - self.number))

    def room(self) -> Map | None:
        """A plane that only the matching needed, to be overwritten; None if the level is kept."""
        left, right, guide = self.planes
        return None if self._keep or right is guide or right is left else right

    def spent(self) -> list[Map]:
        """Give up the planes and return them as scratch maps. Reusing memory is cheaper than allocating it.

        A level that is kept, to be solved again, has none.
        """
        if self._keep:
            return []
        maps = list({id(plane): plane for plane in self.planes}.values())
        del self.planes
        return maps


class Pyramid:
    """Owns the planes of a pair. Levels are taken out from coarse to fine, and a solved one is freed.

    Attributes
    ----------
    frame : Frame
        How they relate to the input.
    photo : image or None
        The picture whose edges the post-filter follows, if there is a filter.
    texture : map or None
        How much texture each pixel has, if the post-filter needs it.
    clipped : bool array or None
        Pixels of the stored input that are too bright to be trusted.
    guide : uint8 map or None
        The guide of the finest scale, if the outlines of the map follow it.
    """

    def __init__(
        self,
        finest: Planes,
        frame: Frame,
        photo: Image | None = None,
        clipped: Flags | None = None,
        guide: Mask | None = None,
    ) -> None:
        self.frame = frame
        self.photo = photo
        self.clipped = clipped
        self.texture: Map | None = None
        self.guide = guide
        self._made = [finest]  # fine to coarse
        self._mirror: Planes | None = None

    @property
    def finest(self) -> Planes:
        """The planes at full size, until `levels` takes them."""
        return self._made[0]

    def keep_mirror(self) -> None:
        """Keep what is needed to match the other view later."""
        self._mirror = self.finest.mirrored()

    def mirrored(self) -> "Pyramid":
        """The pyramid of the other view; can be taken once."""
        mirror, self._mirror = self._mirror, None
        assert mirror is not None
        return Pyramid(mirror, self.frame)

    def scale(self, halvings: int, threads: int) -> Planes:
        """The planes after so many halvings."""
        while len(self._made) <= halvings:
            self._made.append(self._made[-1].halved(threads))
        return self._made[halvings]

    def halvings_to(self, pixels: int) -> int:
        """How often the planes are halved until a plane has no more than that many pixels."""
        halvings, (height, width) = 0, self.finest.left.shape
        while height * width > pixels:
            halvings, height, width = halvings + 1, (height + 1) // 2, (width + 1) // 2
        return halvings

    def change(self, scales: int, threads: int, to: Callable[[Planes, int], Planes]) -> None:
        """Change the planes of every scale by ``to(planes, halvings)``. All are halved first."""
        self.scale(scales - 1, threads)
        del self._made[scales:]
        for halvings, planes in enumerate(self._made):
            self._made[halvings] = to(planes, halvings)

    def levels(self, scales: int, threads: int) -> Iterator[Level]:
        """From coarse to fine; each level is valid until the next is taken."""
        self.scale(scales - 1, threads)
        levels = self._made[:scales]
        del self._made
        for number in range(1, scales + 1):
            yield Level(levels.pop(), number, scales)


def passes_of(params: Params, shape: tuple[int, int]) -> tuple[int, ...]:
    """Passes per scale, coarse to fine. "auto": as many scales as make the coarsest about 200 x 200 pixels.

    The finest scale starts from what the coarser ones believe: a plain pass, one for each tau and one more are enough.
    """
    iterations = params.scales.iterations
    if not isinstance(iterations, str):
        return iterations
    height, width = shape
    halvings = round(math.log2(math.sqrt(height * width) / COARSEST))
    scales = min(max(1 + halvings, 1), MOST)
    taus = np.ravel(params.aggregation.robust_tau)
    last = min(2 + len(taus), PASSES) if scales > 1 and taus.all() else PASSES
    return (*(PASSES,) * (scales - 1), last)


def deepened(passes: tuple[int, ...], found: tuple[int, int]) -> tuple[int, ...]:
    """Passes per scale, with one more scale if the range found at the coarsest one, px, is wide.

    The blur of a thing grows with its disparity. Blur over many pixels leaves no texture to match, only noise. At half
    the size it is half as wide.
    """
    far = max(-found[0], found[1]) > FARTHEST
    return (passes[0], *passes) if far and len(passes) < MOST else passes
