"""The scores, as ``dualpix.metrics``; see `dualpix.evaluation.metrics`."""

from .evaluation.metrics import (
    AffineInvariant,
    BadPixels,
    PixelErrors,
    SigmaCalibration,
    affine_invariant,
    ause,
    bad_pixels,
    pixel_errors,
    sigma_calibration,
)

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
