"""Which half of the pixels sees the left view.

The file does not tell. The light does, in part: in the middle of the picture the left view is brighter on the right and
the right view on the left, because light from the other side of the pupil arrives at a steeper angle. Two phones were
measured (docs/raw.md). An interchangeable lens may do the opposite, so the verdict is never silent.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...opencv import opencv
from ...types import Map

LEFT, RIGHT = "left", "right"
OTHER = {LEFT: RIGHT, RIGHT: LEFT}

GRID = (12, 32)  # rows and columns of the cells in which brightness is compared
MIDDLE = 0.5  # part of the width that counts; towards the borders the ratio of a phone turns round
CLEAR = 0.1  # tilt: change of log(A / B) from the centre to the border if it went on like that
SURE = 5.0  # standard errors


class Sides(NamedTuple):
    """Which view the stored half is, and why.

    Attributes
    ----------
    half : "left" or "right"
    reason : "given", "vignetting" or "assumed"
    tilt : float
        Slope of log(A / B) along x, with x from -1 to 1 over the picture. A is the stored half.
    sureness : float
        The tilt over its standard error.
    """

    half: str
    reason: str
    tilt: float
    sureness: float

    def note(self, name: str) -> str | None:
        """A warning for the user, unless he has said which half it is."""
        if self.reason == "given":
            return None
        check = f"if near and far are exchanged in the map, give first={OTHER[self.half]}"
        if self.reason == "vignetting":
            return (
                f"{name}: by its vignetting the stored half is the {self.half} view (tilt {self.tilt:+.2f}), a rule "
                f"that was measured on phones only: {check}, else first={self.half}"
            )
        return (
            f"{name}: nothing tells which half of the pixels is the left view (tilt {self.tilt:+.2f}), {self.half} is "
            f"assumed: {check}, else first={self.half}"
        )


def find_sides(half: Map, other: Map, good: npt.NDArray[np.bool_], said: str | None = None) -> Sides:
    """Decide which view a half is.

    Parameters
    ----------
    half, other : map
        Linear light of the stored half and of the other one.
    good : bool array
        Where neither is clipped.
    said : "left" or "right", optional
        What the user says.
    """
    tilt, sureness = _tilt(half, other, good)
    if said is not None:
        return Sides(said, "given", tilt, sureness)
    if abs(tilt) >= CLEAR and sureness >= SURE:
        return Sides(LEFT if tilt > 0 else RIGHT, "vignetting", tilt, sureness)
    return Sides(LEFT, "assumed", tilt, sureness)


def _tilt(half: Map, other: Map, good: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Slope of log(A / B) along x in the middle of the picture: the median of the rows of cells, and its sureness."""
    A, B, weight = (_cells(values) for values in (half * good, other * good, good.astype(np.float32)))
    columns = A.shape[1]
    x = (2 * np.arange(columns) + 1) / columns - 1
    usable = (np.abs(x) <= MIDDLE) & (weight > 0.5) & (A > 0) & (B > 0)
    slopes = [
        np.polyfit(x[row], np.log(a[row] / b[row]), 1)[0]
        for a, b, row in zip(A, B, usable, strict=True)
        if np.count_nonzero(row) >= 4
    ]
    if len(slopes) < 4:
        return 0.0, 0.0
    tilt = float(np.median(slopes))
    error = 1.48 * float(np.median(np.abs(np.array(slopes) - tilt))) / np.sqrt(len(slopes))
    return tilt, abs(tilt) / max(error, 1e-4)


def _cells(values: Map) -> npt.NDArray[np.float64]:
    cv2 = opencv()
    rows, columns = (min(n, size) for n, size in zip(GRID, values.shape, strict=True))
    return np.asarray(cv2.resize(values, (columns, rows), interpolation=cv2.INTER_AREA), np.float64)
