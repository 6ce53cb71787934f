"""Scores of an estimated map against ground truth.

Every score belongs to a protocol. Use ``proper``. The ``paper-*`` protocols repeat the published evaluations with their
quirks, so that figures can be compared with the published tables. Never compare figures of different protocols.

`affine_invariant` is for a truth up to scale and offset, `pixel_errors` for one in pixels up to a gain, `bad_pixels`
for absolute disparities. `ause` and `sigma_calibration` rate what a method says about its own errors.
"""

from .affine import AffineInvariant, affine_invariant
from .pixels import PixelErrors, pixel_errors
from .stereo import BadPixels, bad_pixels
from .uncertainty import SigmaCalibration, ause, sigma_calibration

__all__ = [
    "AffineInvariant",
    "BadPixels",
    "PixelErrors",
    "SigmaCalibration",
    "affine_invariant",
    "ause",
    "bad_pixels",
    "pixel_errors",
    "sigma_calibration",
]
