"""AVIF and HEIC: the boxes are read here for size and orientation. OpenCV decodes AVIF, libheif (extra) HEIC."""

import re
import struct
from collections.abc import Iterator

import numpy as np

from ..types import Image
from . import _opencv
from ._av1 import frame_sizes
from ._boxes import boxes, find
from ._extra import missing
from ._format import Bytes, FormatError, Header, check_shape, unpack
from ._items import items
from ._limit import too_large
from .orientation import as_stored

_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1", b"heif")
MAGIC = re.compile(rb".{4}ftyp(?:avif|avis|" + b"|".join(_HEIC_BRANDS) + rb")", re.DOTALL)

_DAMAGED = "is a damaged AVIF or HEIC: copy or export it again"
_TURNED, _MIRRORED = (1, 8, 3, 6), (2, 7, 4, 5)  # orientations by quarter turns anti-clockwise, then left for right


def header(data: Bytes) -> Header:
    """Read size and orientation of the primary image from its properties. EXIF does not count in these files."""
    size, turn, mirrored = None, 0, False
    for kind, start, end in properties(data):
        if kind == b"ispe" and end - start >= 12:
            size = unpack(">II", data, start + 4)
        elif kind == b"clap" and end - start >= 16 and not _is_avif(data):  # libheif crops, OpenCV does not
            w, w_unit, h, h_unit = unpack(">4I", data, start)
            size = w // max(w_unit, 1), h // max(h_unit, 1)
        elif kind == b"irot" and end > start:
            turn += -(data[start] & 3) if mirrored else data[start] & 3  # a turn after a mirror is one before, reversed
        elif kind == b"imir" and end > start:
            mirrored = not mirrored
            turn += 0 if data[start] & 1 else 2  # top for bottom is half a turn, then left for right
    if size is None:
        raise FormatError(_DAMAGED)
    orientation = (_MIRRORED if mirrored else _TURNED)[turn % 4]
    return Header(size[0], size[1], 3, "uint8" if _bits(data) == 8 else "uint16", orientation)


def decode(data: bytes) -> Image:
    """Decode to RGB as stored. More than 8 bits become 16, so that white is 65535."""
    if _is_avif(data):
        _check_frames(data, header(data))
        return _rgb(_full_scale(_opencv.decode(data, header(data)), _bits(data)))
    if missing("pi_heif"):
        raise FormatError("is a HEIC image, which needs libheif: pip install 'dualpix[heic]'")
    import pi_heif

    if said := too_large(*_decoded_size(data)):
        raise FormatError(said)
    try:
        image = np.array(pi_heif.open_heif(_without_metadata(data), convert_hdr_to_8bit=False))
    except (ValueError, EOFError, SyntaxError, RuntimeError, OSError, IndexError) as error:
        raise FormatError(_DAMAGED) from error
    expected = header(data)
    # libheif turns the picture upright.
    return check_shape(as_stored(_rgb(image), expected.orientation), expected)


def _check_frames(data: bytes, expected: Header) -> None:
    """Refuse an AVIF whose frames are larger than the picture: libavif decodes them before it looks."""
    if data[8:12] == b"avis":
        raise FormatError("is an animated AVIF: save the picture to use as a file of its own")
    for item in items(data, b"av01"):
        for width, height in frame_sizes(item):
            if width > expected.width or height > expected.height:
                raise FormatError(
                    f"holds {width}x{height} pixels but its header tells {expected.width}x{expected.height}: "
                    "export it again"
                )


def _bits(data: Bytes) -> int:
    """Bits of a sample: as the property pixi says, or in an AVIF without one, the configuration of its codec."""
    found = {kind: (start, end) for kind, start, end in properties(data)}
    start, end = found.get(b"pixi", (0, 0))
    if end - start >= 6:
        return data[start + 5]
    start, end = found.get(b"av1C", (0, 0))
    flags = data[start + 2] if end - start >= 3 else 0
    return 8 + 2 * (flags >> 6 & 1) + 2 * (flags >> 5 & 1)  # high_bitdepth, twelve_bit


def _full_scale(image: Image, bits: int) -> Image:
    """OpenCV returns the codes of 10 and 12 bits as they are."""
    if image.dtype == np.uint8:
        return image
    if image.max() >> bits:
        raise FormatError(_DAMAGED)
    return np.rint(image * np.float32(65535 / (2**bits - 1))).astype(np.uint16)


def _decoded_size(data: Bytes) -> tuple[int, int]:
    """Width and height before the picture is cropped: libheif decodes all of it first."""
    sizes = [unpack(">II", data, a + 4) for kind, a, b in properties(data) if kind == b"ispe" and b - a >= 12]
    return sizes[-1][0], sizes[-1][1]


def _without_metadata(data: bytes) -> bytes:
    """The file without the links to its metadata, since pi_heif crashes on damaged metadata."""
    start, end = find(data, 0, len(data), b"meta") or (0, 0)
    return data[:start] + data[start:end].replace(b"cdsc", b"none") + data[end:]


def _rgb(image: Image) -> Image:
    return np.stack([image] * 3, axis=2) if image.ndim == 2 else image[..., :3]


def _is_avif(data: Bytes) -> bool:
    return data[8:12] in (b"avif", b"avis") or b"avif" in data[16 : int.from_bytes(data[:4], "big")]


def properties(data: Bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, start and end of the properties of the primary image: what ipma assigns to the item of pitm."""
    meta = find(data, 0, len(data), b"meta")
    if meta is None:
        raise FormatError(_DAMAGED)
    inside = meta[0] + 4, meta[1]
    primary, listed = find(data, *inside, b"pitm"), find(data, *inside, b"iprp")
    if primary is None or listed is None or primary[1] - primary[0] < 6:
        raise FormatError(_DAMAGED)
    wide = data[primary[0]] != 0
    item = int.from_bytes(data[primary[0] + 4 : primary[0] + (8 if wide else 6)], "big")
    properties, links = find(data, *listed, b"ipco"), find(data, *listed, b"ipma")
    if properties is None or links is None:
        raise FormatError(_DAMAGED)
    known = list(boxes(data, *properties))
    try:
        chosen = _assigned(data[links[0] : links[1]], item)
    except (struct.error, IndexError) as error:
        raise FormatError(_DAMAGED) from error
    yield from (known[index - 1] for index in chosen if 0 < index <= len(known))


def _assigned(table: bytes, item: int) -> list[int]:
    """The numbers of the properties of an item, from the body of ipma."""
    version, long_index = table[0], table[3] & 1
    (count,) = struct.unpack_from(">I", table, 4)
    position = 8
    for _ in range(min(count, len(table))):
        identity, position = _number(table, position, 4 if version else 2)
        uses, position = _number(table, position, 1)
        found = []
        for _ in range(uses):
            index, position = _number(table, position, 2 if long_index else 1)
            found.append(index & (0x7FFF if long_index else 0x7F))
        if identity == item:
            return found
    return []


def _number(table: bytes, position: int, size: int) -> tuple[int, int]:
    if position + size > len(table):
        raise IndexError
    return int.from_bytes(table[position : position + size], "big"), position + size
