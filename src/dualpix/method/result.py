"""What `dualpix.disparity` returns."""

from dataclasses import dataclass
from pathlib import Path

from ..camera.axis import Axis
from ..io.orientation import swaps_axes
from ..params import Params
from ..types import Map, Parabolas
from .plan import Plan


@dataclass(frozen=True, eq=False)
class Result:
    """A disparity map and how it came about.

    Attributes
    ----------
    disparity : float32 array
        ``d = x_left - x_right`` in pixels of the input: left(x, y) matches right(x - d, y). Larger is nearer. It has
        the shape of the left view; if an EXIF tag turns the view, the map is turned with it.
    confidence : float32 array, the same shape
        In [0, 1]. With `sigma`, it falls with the expected error and is 1/2 at 0.25 px, before a calibration corrects
        the map. Without, it grows with the curvature, relative to the picture. 0 everywhere if a view is blank.
    params : Params
        The parameters that were used, as in the plan.
    timings : dict
        Seconds by stage.
    searched : (float, float)
        The requested range, or the one found, in pixels of the input.
    plan : Plan
        All decisions made before the pair was solved. It can be used again for the next frame of a clip.
    belief : Parabolas
        The aggregated parabolas, in the frame of the matched planes. They can serve as a prior.
    warnings : tuple of str
        What the user should know about the input and the match, a sentence each.
    sigma : float32 array of the same shape, or None
        The expected error in pixels of the input: half of the errors are below 0.67 sigma. None for presets whose
        curvatures have no unit (those of the paper, and stereo).
    """

    disparity: Map
    confidence: Map
    params: Params
    timings: dict[str, float]
    searched: tuple[float, float]
    plan: Plan
    belief: Parabolas
    warnings: tuple[str, ...] = ()
    sigma: Map | None = None

    @property
    def axis(self) -> str:
        """ "x" or "y", the direction in which the views differ in the map; along y, ``d = y_left - y_right``."""
        return self.plan.frame.seen_axis

    @property
    def evidence(self) -> Axis | None:
        """The axis detected from the views; None for stereo pairs, which are assumed to differ along x."""
        found = self.plan.evidence
        return found.turned() if found and swaps_axes(self.plan.frame.orientation) else found

    @property
    def calib(self) -> Path | None:
        """The calib.txt that the range comes from."""
        return self.plan.calib
