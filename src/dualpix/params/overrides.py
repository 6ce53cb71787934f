"""The types of the parameters for type checkers, so that they find a misspelt name or a wrong value.

`definitions.py` and `presets.toml` are the sources: a test compares names, types and choices.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Unpack  # every type checker knows it, whatever is installed
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:

    class Unpack:
        """A stand-in: Python 3.10 has none, and only type checkers need it."""

        def __class_getitem__(cls, item):
            return item


__all__ = ["Overrides", "OverridesOfCalibrate", "Preset", "Unpack"]

Preset = Literal["auto", "dslr-a", "dslr-b", "phone", "phone-paper", "stereo", "stereo-paper"]


class OverridesOfCalibrate(TypedDict, total=False):
    """All but black and white, which mean something else to `dualpix.calibrate`."""

    # Photometry
    pixel_aspect: float | Literal["auto"]
    gamma: float
    vignetting: float
    exposure: float
    guide_gamma: float

    # Matching
    cost: Literal["sad", "ssd", "ncc", "zncc", "bt", "census"]
    window: float
    detail: Literal["none", "cost", "all"]
    subpixel: Literal["parabola", "histeq", "encc"]
    encc_window: int
    noise_floor: float
    ratio_threshold: float
    border: float

    # Minima
    candidates: int
    choice: tuple[float, float]
    ambiguity: float
    speckles: tuple[float, float]

    # Aggregation
    messages: Literal["paper", "exact", "jumps"]
    penalty: float
    first_penalty: float | Literal["auto"]
    jump_penalty: float
    robust_tau: float | tuple[float, ...]
    fattening: float
    suspicion: float | Literal["auto"]
    edge_sigma: float
    flat: float
    paths: Literal[4, 8]
    normalize_iterations: bool

    # Scales
    iterations: tuple[int, ...] | Literal["auto"]
    range: tuple[float, float] | Literal["auto"]
    relief: float
    prior_weight: float
    prior_limit: float
    invalid_threshold: float

    # Smoothing
    blank: float
    outlines: float
    polish: float | Literal["auto"]
    filter: Literal["none", "guided", "solver"]
    guided_window: int
    guided_eps: float
    solver_luma: float
    solver_chroma: float
    solver_xy: int
    solver_lambda: float
    solver_confidence: Literal["curvature", "texture"]
    median_radius: int
    median_sigma: float


class Overrides(OverridesOfCalibrate, total=False):
    """The parameters that can be given by name, each optional; `help(dualpix.Params)` explains them."""

    black: float
    white: float | Literal["auto"]
