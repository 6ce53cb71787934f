"""Black and white levels of the samples of a DNG, as its tags say.

LibRaw 0.22 returns [512, 512, 0, 0] for a two-sample DNG without BlackLevelRepeatDim: these are the levels of the two
samples, not of four colours. So the tags are read here.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._format import FormatError
from .._tiff_pages import Page

Values = npt.NDArray[np.float64]

_REPEAT, _BLACK, _DELTA_H, _DELTA_V, _WHITE, _ACTIVE = 50713, 50714, 50715, 50716, 50717, 50829
_MOST_REPEAT = 64  # rows and columns of black levels: a few in real files
_DAMAGED = "has damaged black or white levels: convert it to DNG again"


@dataclass(frozen=True, eq=False)
class Levels:
    """Black and white of one frame, in counts.

    Attributes
    ----------
    black : array
        Repeats over the picture from its top left corner; 2x2 if every colour has its own.
    white : float
        A count at or above it is clipped.
    columns, rows : array or None
        What is added to the black of every column and every row.
    """

    black: Values
    white: float
    columns: Values | None = None
    rows: Values | None = None

    def above_black(self, frame: npt.NDArray[np.uint16]) -> npt.NDArray[np.float32]:
        """The counts of a frame without the black level. Noise may make them negative."""
        light = frame.astype(np.float32)
        height, width = self.black.shape
        for (i, j), level in np.ndenumerate(self.black):
            light[i::height, j::width] -= np.float32(level)
        if self.columns is not None:
            light -= self.columns.astype(np.float32)
        if self.rows is not None:
            light -= self.rows.astype(np.float32)[:, None]
        return light

    @property
    def mean_black(self) -> float:
        """The mean black level."""
        return float(self.black.mean())


def dng_levels(page: Page, corner: tuple[int, int], shape: tuple[int, ...]) -> tuple[Levels, ...]:
    """The levels of every sample of a raw page of a DNG.

    Parameters
    ----------
    page
        The page with the mosaic.
    corner, shape
        First row and column, height and width of the picture that LibRaw returns. It begins at an even row and column,
        even if the active area, from which the tags count, does not.
    """
    samples = page.samples
    rows, columns = _two(_numbers(page, _REPEAT, [1, 1]))
    if not (1 <= rows <= _MOST_REPEAT and 1 <= columns <= _MOST_REPEAT):
        raise FormatError(_DAMAGED)
    black = _numbers(page, _BLACK, [0.0] * (rows * columns * samples))
    if black.size == 1 and rows * columns * samples > 1:  # one level for all
        black = np.full(rows * columns * samples, black[0])
    white = _numbers(page, _WHITE, [2.0**page.bits - 1])
    top, left = _two(_numbers(page, _ACTIVE, [0, 0])[:2])
    down, across = corner[0] - top, corner[1] - left
    deltas = [_numbers(page, _DELTA_V, [])[down:][: shape[0]], _numbers(page, _DELTA_H, [])[across:][: shape[1]]]
    fits = all(delta.size in (0, n) for delta, n in zip(deltas, shape, strict=True))
    if black.size != rows * columns * samples or min(down, across) < 0 or not fits:
        raise FormatError("has black levels that do not fit its samples: convert it to DNG again")
    # The tag's order is row, column, sample.
    black = np.roll(black.reshape(rows, columns, samples), (-down, -across), (0, 1))
    by_row, by_column = (delta if delta.size else None for delta in deltas)
    return tuple(Levels(black[..., k], float(white[min(k, white.size - 1)]), by_column, by_row) for k in range(samples))


def _numbers(page: Page, tag: int, default: list[float]) -> Values:
    """The numbers of a tag."""
    found = page.values(tag)
    if not len(found):
        return np.array(default, np.float64)
    if found.dtype.kind not in "uif":
        raise FormatError(_DAMAGED)
    numbers = found.astype(np.float64)
    if numbers.ndim == 2:  # numerator and denominator
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = numbers[:, 0] / numbers[:, 1]
    if not np.isfinite(numbers).all():
        raise FormatError(_DAMAGED)
    return numbers


def _two(numbers: Values) -> tuple[int, int]:
    if numbers.size != 2:
        raise FormatError(_DAMAGED)
    return int(numbers[0]), int(numbers[1])
