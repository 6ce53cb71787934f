"""The calibrated bias of the sub-pixel vertex ``histeq``.

The histogram-equalised kernel errs by up to 0.03 px. The error depends on the offset x and on the sharpness of the
picture: white noise reverses its sign. ``python -m dualpix.method.subpixel`` prints the table below.
"""

from itertools import pairwise

import numpy as np

from .. import _core
from ..types import Map, as_row, empty_like
from .window import gaussian_taps

# bias(x) at x = -1, -0.9 ... 1, px
# fmt: off
HISTEQ_BIAS = (
    0.0, 0.01686, 0.028, 0.03159, 0.02418, 0.0, -0.02418,
    -0.03159, -0.028, -0.01686, 0.0, 0.01686, 0.028, 0.03159,
    0.02418, 0.0, -0.02418, -0.03159, -0.028, -0.01686, 0.0,
)
# fmt: on


SHARPNESS = 0.75  # px, STD of the blur of a sharp photograph: sensor, lens and demosaicing


def calibrate_histeq_bias(size: int = 512, seed: int = 0) -> list[float]:
    """The mean error of the uncorrected vertex at x = -1, -0.9 ... 1, on noise shifted by known amounts.

    Noise as sharp as a photograph is shifted along x by exactly 0, 0.1 ... 1 px (a phase ramp on its spectrum) and
    matched with the window of the DSLR presets. The kernel is symmetric, so bias(-x) = -bias(x), and shifts of 0, 1/2
    and 1 px have none.
    """
    noise = np.fft.rfft2(np.random.default_rng(seed).uniform(0, 255, (size, size)))
    f2 = np.fft.fftfreq(size)[:, None] ** 2 + np.fft.rfftfreq(size) ** 2
    left = np.fft.irfft2(noise * np.exp(-2 * np.pi**2 * SHARPNESS**2 * f2), (size, size)).astype(np.float32)
    errors = np.array([_mean_error(left, shift) for shift in np.linspace(0, 1, 11)])
    # Odd about 1/2 as well: averaging both halves reduces the noise and makes the zeros exact.
    half = 0.5 * (errors - errors[::-1])
    return [round(float(b), 5) + 0.0 for b in np.concatenate([-half[:0:-1], half])]


def _mean_error(left: Map, shift: float) -> float:
    width = left.shape[1]
    ramp = np.exp(2j * np.pi * np.fft.rfftfreq(width) * shift)
    right = np.fft.irfft(np.fft.rfft(left, axis=1) * ramp, width, axis=1).astype(np.float32)
    alpha, beta = empty_like(left), empty_like(left)
    no_bias = as_row(np.zeros(21))
    _core.match(
        left,
        right,
        alpha,
        beta,
        first=-2,
        count=6,
        side=1,
        taps=gaussian_taps(8),
        subpixel=_core.Subpixel.histeq,
        bias=no_bias,
        encc_window=3,
        encc_left=left,
        encc_right=right,
        ratio_threshold=2.2,
        noise_floor=0,
        cost=_core.Cost.sad,
        threads=1,
    )
    inner = (slice(48, -48), slice(48, -48))
    return float((-beta / (2 * alpha))[inner].mean(dtype=np.float64)) - shift


if __name__ == "__main__":
    table = calibrate_histeq_bias()
    print(",\n".join(", ".join(map(str, table[i:j])) for i, j in pairwise([0, 7, 14, 21])))
