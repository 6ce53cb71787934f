"""Time and memory of dualpix, compared with OpenCV and with the limits of the machine."""

from ._plot import check_plot, encode_plot
from ._record import SECTIONS, bench
from ._text import bench_lines

__all__ = [
    "SECTIONS",
    "bench",
    "bench_lines",
    "check_plot",
    "encode_plot",
]
