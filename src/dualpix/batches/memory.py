"""How much memory a capture needs, from the headers of its files."""

from ..errors import InputError
from ..io import probe, raw
from ..io.captures import find_capture
from ..io.one_file import kind_of, pages_info
from ..method import api
from ..method.kinds import method_of
from ..params import Params

PROCESS = 0.06  # GB of Python and its libraries
RAW_VIEWS = 14  # bytes a pixel: two float32 views and a picture of 3 x 16 bit
_BYTES = {"uint8": 1, "uint16": 2}


def expected_gigabytes(left: str, layout: str | None, params: Params, mask_occluded: bool) -> float:
    """Memory of the process that makes a map of this capture; 0 if the file does not tell its size."""
    try:
        (height, width), views = _size(left)
    except (InputError, OSError, ValueError):  # running it will say what is wrong
        return 0.0
    if layout == "side-by-side":
        width //= 2
    elif layout == "top-bottom":
        height //= 2
    maps = api.expected_gigabytes((height, width), method_of(params), mask_occluded)
    return PROCESS + 1e-9 * views * height * width + maps


def _size(left: str) -> tuple[tuple[int, int], int]:
    """Height and width of the file's pixels, and bytes a pixel of both views and a guide."""
    kind = kind_of(left)
    if kind == "raw":
        return raw.size(left), RAW_VIEWS
    if kind == "folder":
        left = str(find_capture(left).left)
    found = pages_info(left) if kind == "pages" else probe(left)
    each = found.channels * _BYTES.get(found.dtype, 4)
    return (found.height, found.width), 3 * each
