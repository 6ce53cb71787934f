"""Other methods to compare with: semi-global matching, our own and OpenCV's, and two made for dual pixels.

All have ``d = x_left - x_right``.
"""

from . import _dpdisp, _sdof
from ._dpdisp import dpdisp
from ._opencv import opencv_sgbm
from ._sdof import sdof
from ._sgm import sgm
from ._tiles import CONSTANTS, Estimate

SETTINGS = {  # by name, what a baseline does not take as an argument
    "dpdisp": {**CONSTANTS, "steps": _dpdisp.STEPS},
    "sdof": {**CONSTANTS, "steps": _sdof.STEPS},
}
__all__ = ["Estimate", "dpdisp", "opencv_sgbm", "sdof", "sgm"]
