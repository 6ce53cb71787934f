"""What every format module offers: magic bytes, the header, and the stored values."""

import mmap
import re
from dataclasses import dataclass
from typing import Protocol

from ..types import Image

UPRIGHT = 1  # the EXIF orientation of a picture that is stored as it is seen
Bytes = bytes | mmap.mmap  # Headers are read from a mapped file, so that a huge file is not loaded.


class FormatError(Exception):
    """What is wrong with the content of a file. The reader puts the file's name before it."""


@dataclass(frozen=True)
class Header:
    """Size and type of the stored values. ``channels`` does not count alpha; ``orientation`` is EXIF's, 1 to 8."""

    width: int
    height: int
    channels: int
    dtype: str
    orientation: int = UPRIGHT


class Format(Protocol):
    """A module that reads one format from bytes, without paths, and raises FormatError."""

    MAGIC: re.Pattern[bytes]

    def header(self, data: Bytes) -> Header: ...

    def decode(self, data: bytes) -> Image: ...


def check_length(found: int, promised: int) -> None:
    """Refuse uncompressed pixels that do not have exactly the promised length."""
    if found != promised:
        raise FormatError(f"has {found} bytes of pixels but its header promises {promised}: copy it again")
