"""Other methods to compare with.

Semi-global matching, our own and OpenCV's; SDoF and DPdisp, which were made for dual pixels; and our own local term
without aggregation (winner takes all). All return ``d = x_left - x_right``.
"""

from . import _dpdisp, _sdof, _wta
from ._dpdisp import dpdisp
from ._opencv import opencv_sgbm
from ._sdof import sdof
from ._sgm import sgm
from ._tiles import CONSTANTS, Estimate
from ._wta import wta

# Settings of each baseline that are not arguments of its function, for the record of an evaluation.
SETTINGS: dict[str, dict[str, object]] = {
    "dpdisp": {**CONSTANTS, "steps": _dpdisp.STEPS},
    "sdof": {**CONSTANTS, "steps": _sdof.STEPS},
    "wta": _wta.settings(_wta.PARAMS),
}
__all__ = ["Estimate", "dpdisp", "opencv_sgbm", "sdof", "sgm", "wta"]
