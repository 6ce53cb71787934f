"""The scores, as ``dualpix.metrics``; see `dualpix.evaluation.metrics`."""

from .evaluation.metrics import AffineInvariant, BadPixels, affine_invariant, bad_pixels

__all__ = ["AffineInvariant", "BadPixels", "affine_invariant", "bad_pixels"]
