"""What every file format offers to the reader: magic bytes, a header, and the stored values."""

import mmap
import re
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

Bytes = bytes | mmap.mmap  # the headers of files too large to read are looked at where they are


class FormatError(Exception):
    """What is wrong with the content of a file, to be read after the file's name."""


@dataclass(frozen=True)
class Header:
    """Size and kind of the values a file promises; ``channels`` counts no alpha."""

    width: int
    height: int
    channels: int
    dtype: str


class Format(Protocol):
    """A module that reads one format. It knows bytes, never paths, and raises FormatError."""

    MAGIC: re.Pattern[bytes]

    def header(self, data: Bytes) -> Header: ...

    def decode(self, data: bytes) -> NDArray[Any]: ...


def check_length(found: int, promised: int) -> None:
    """Refuse raw pixel data that does not fill the promised size exactly."""
    if found != promised:
        raise FormatError(f"has {found} bytes of pixels and a header that promises {promised}: copy it again")
