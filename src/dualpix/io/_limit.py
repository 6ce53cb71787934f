"""The limit of pixels, which is checked before any pixel is decoded."""

import os
import reprlib

from ..errors import ParameterError

_MAX_PIXELS = 2**28
_MOST_DIGITS = 18  # of the environment variable


def too_large(width: int, height: int) -> str | None:
    """What is wrong with a picture of more pixels than the environment variable ``DUALPIX_MAX_PIXELS`` allows."""
    pixels, limit = width * height, max_pixels()
    if pixels <= limit:
        return None
    return (
        f"{width}x{height} are {pixels} pixels, over the limit of {limit}: "
        f"to read it, set the environment variable DUALPIX_MAX_PIXELS={pixels}"
    )


def max_pixels() -> int:
    """The most pixels that a picture may have."""
    text = os.environ.get("DUALPIX_MAX_PIXELS", str(_MAX_PIXELS))
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) == 0:
        raise ParameterError(f"DUALPIX_MAX_PIXELS must be a whole number above 0, not {reprlib.repr(text)}")
    return int(text)
