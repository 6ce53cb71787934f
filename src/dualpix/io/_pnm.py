"""PGM and PPM: binary (P5, P6) and ASCII (P2, P3), 8 and 16 bit."""

import re

import numpy as np
import numpy.typing as npt

from .. import _core
from ..types import Image
from ._format import Bytes, FormatError, Header, check_length

MAGIC = re.compile(rb"P[2356][\s#]")

_NO_NUMBER, _BEYOND = -1, -2  # answers of parse_numbers
_GAP = rb"(?:\s|#[^\n]*\n)+"
_LONGEST_HEADER = 2**12  # bytes, comments included
_HEADER = re.compile(rb"P([2356])" + (_GAP + rb"(\d{1,9})") * 3 + rb"(?:\s|$)")


def header(data: Bytes) -> Header:
    """Read size and type from the text header."""
    return _parse(data)[0]


def decode(data: bytes) -> Image:
    """Return the stored numbers. They are not stretched from the file's maximum to the full range."""
    head, largest, ascii_digits, start = _parse(data)
    shape = (head.height, head.width, head.channels)[: 2 if head.channels == 1 else 3]
    size = head.height * head.width * head.channels
    if ascii_digits:
        return _ascii(np.frombuffer(data, np.uint8, offset=start), size, largest).astype(head.dtype).reshape(shape)
    stored = np.dtype(head.dtype).newbyteorder(">")
    check_length(len(data) - start, size * stored.itemsize)
    return np.frombuffer(data, stored, offset=start).astype(head.dtype).reshape(shape)


def _parse(data: Bytes) -> tuple[Header, int, bool, int]:
    """Return header, largest value, whether the pixels are ASCII, and where they start."""
    found = _HEADER.match(data[:_LONGEST_HEADER])
    if not found:
        raise FormatError("has a damaged PGM or PPM header: export it again")
    kind, width, height, largest = (int(field) for field in found.groups())
    if not 0 < largest < 2**16:
        raise FormatError(f"claims a largest value of {largest}, but PGM and PPM hold 1 to 65535: export it again")
    dtype = "uint8" if largest < 2**8 else "uint16"
    return Header(width, height, 3 if kind in (3, 6) else 1, dtype), largest, kind in (2, 3), found.end()


def _ascii(text: npt.NDArray[np.uint8], size: int, largest: int) -> Image:
    values = np.empty(min(size, len(text)), np.uint16)  # a number has at least one digit
    count = _core.parse_numbers(text, values, largest)
    if count == _NO_NUMBER:
        raise FormatError("holds words that are not numbers: export it again")
    if count == _BEYOND:
        raise FormatError(f"holds values outside 0..{largest}, the range in its header: export it again")
    if count != size:
        raise FormatError(f"holds {count} values but its header promises {size}: copy it again")
    return values
