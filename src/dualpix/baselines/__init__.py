"""Other methods to compare with: semi-global matching, our own and OpenCV's. All have ``d = x_left - x_right``."""

from ._opencv import opencv_sgbm
from ._sgm import sgm

__all__ = ["opencv_sgbm", "sgm"]
