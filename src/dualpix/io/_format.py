"""What every format module offers: magic bytes, the header, and the stored values. One boundary for their errors."""

import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import DualpixError, InputError, show_debug
from ..files import FileBytes
from ..types import Image, StrPath, empty

UPRIGHT = 1  # the EXIF orientation of a picture that is stored as it is seen
Bytes = bytes | FileBytes  # Headers are read from a file that is not loaded.

_LONGEST_MAGIC = 32
_PIECE = 2**18  # compressed bytes that are inflated at once


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


@contextmanager
def reading(path: StrPath) -> Iterator[None]:
    """Turn whatever goes wrong in a decoder into an InputError that names the file.

    Decoders raise whatever a damaged file makes them run into. With ``DUALPIX_DEBUG=1`` the place is printed.
    """
    try:
        yield
    except FormatError as error:
        raise InputError(f"{path}: {error}") from error
    except DualpixError:
        raise
    except MemoryError:
        raise InputError(f"{path}: its pixels do not fit in memory: use a smaller image") from None
    except Exception as error:
        show_debug()
        raise InputError(f"{path}: is damaged, or of a kind that cannot be read: copy or export it again") from error


def matches(magic: re.Pattern[bytes], data: Bytes) -> bool:
    """Whether the data begin with the magic bytes of a format."""
    return magic.match(data[:_LONGEST_MAGIC]) is not None


def unpack(form: str, data: Bytes, start: int) -> tuple[Any, ...]:
    """Numbers at an offset, as `struct.unpack_from`; struct.error if the data end before."""
    return struct.unpack(form, data[start : start + struct.calcsize(form)])


def inflate(parts: Iterable[memoryview], size: int) -> npt.NDArray[np.uint8]:
    """So many bytes of a zlib stream; fewer if it ends before, none if it is damaged. What follows is not looked at."""
    stored, done, stream = empty((size,), np.uint8), 0, zlib.decompressobj()
    for piece in (part[i : i + _PIECE] for part in parts for i in range(0, len(part), _PIECE)):
        try:
            found = stream.decompress(piece, size - done + 1)  # one more, so that the checksum at the end is reached
        except zlib.error:
            return stored[:0]
        more = min(len(found), size - done)
        stored[done : done + more] = np.frombuffer(found, np.uint8, more)
        done += more
        if len(found) > more or stream.eof:
            break
    return stored[:done]


def check_length(found: int, promised: int) -> None:
    """Refuse uncompressed pixels that do not have exactly the promised length."""
    if found != promised:
        raise FormatError(f"has {found} bytes of pixels but its header promises {promised}: copy it again")


class Sized(Protocol):
    """What has a width and a height, px."""

    @property
    def width(self) -> int: ...

    @property
    def height(self) -> int: ...


def check_shape(image: Image, header: Sized) -> Image:
    """The image, refused if a library has decoded another size than the header tells."""
    if image.shape[:2] != (header.height, header.width):
        height, width = image.shape[:2]
        raise FormatError(
            f"holds {width}x{height} pixels but its header tells {header.width}x{header.height}: export it again"
        )
    return image
