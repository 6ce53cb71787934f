"""The planes that our own method matches, for code that runs parts of it without the pipeline."""

from ..camera.lens import NO_LENS
from ..io import read_pair
from ..method.brightness import apply_gains, find_gains
from ..method.frame import Frame
from ..method.prepare import grey_planes
from ..method.survey import blank
from ..params import Photometry
from ..types import Planes
from ._views import Image


def matched_planes(left: Image, right: Image, photometry: Photometry, threads: int) -> Planes:
    """The full-size planes of a pair that our own method would match, if pixels are square and the axis is x."""
    pair = read_pair(left, right)
    planes = grey_planes(pair, Frame(pair.shape), photometry, NO_LENS, threads)
    apply_gains(planes, find_gains(planes, photometry, threads, equalise=not blank(planes)), threads)
    return planes
