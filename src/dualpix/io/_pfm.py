"""PFM: one float32 a pixel, bottom row first. The sign of the scale gives the byte order."""

import re

import numpy as np

from ..types import Map
from ._format import Bytes, FormatError, Header, check_length

MAGIC = re.compile(rb"P[fF]\s")

_LONGEST_HEADER = 2**12  # bytes
_HEADER = re.compile(rb"P([fF])\s+(\d{1,9})\s+(\d{1,9})\s+([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s")


def header(data: Bytes) -> Header:
    """Read the size from the text header."""
    return _parse(data)[0]


def decode(data: bytes) -> Map:
    """Return the stored values, top row first. They are not multiplied by the scale, which is a display hint."""
    head, stored, start = _parse(data)
    check_length(len(data) - start, head.width * head.height * 4)
    return np.frombuffer(data, stored, offset=start).reshape(head.height, head.width)[::-1].astype(np.float32)


def encode(values: Map) -> bytes:
    """Encode little-endian with scale -1."""
    height, width = values.shape
    return f"Pf\n{width} {height}\n-1.0\n".encode() + values[::-1].astype("<f4").tobytes()


def _parse(data: Bytes) -> tuple[Header, np.dtype[np.float32], int]:
    found = _HEADER.match(data[:_LONGEST_HEADER])
    if not found:
        raise FormatError("has a damaged PFM header: export it again")
    if found[1] == b"F":
        raise FormatError("is a colour PFM, but a map has one value a pixel: save it as grey PFM (Pf)")
    stored = np.dtype("<f4" if found[4].startswith(b"-") else ">f4")
    return Header(int(found[2]), int(found[3]), 1, "float32"), stored, found.end()
