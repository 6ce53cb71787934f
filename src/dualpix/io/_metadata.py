"""What a picture passes on to a new version of itself: its colour profile (ICC), and its EXIF data."""

import struct
import zlib
from collections.abc import Sequence

from . import _exif, _heif, _jpeg, _png, _tiff, _webp
from ._format import Bytes, FormatError, matches
from .layers import Origin

_ICC_TAG, _ORIENTATION = 34675, 274
_LARGEST = 2**22  # bytes of a profile
_PART = 65519  # bytes of a profile in one segment of JPEG
_SEGMENT = 65533
_APP1, _APP2 = 0xE1, 0xE2
_ICC, _NAME = b"ICC_PROFILE\0", b"profile\0\0"


def profile(data: Bytes, channels: int) -> bytes:
    """Return the ICC profile of an image file; empty if there is none for so many colour channels, or it is damaged."""
    found = b""
    if matches(_jpeg.MAGIC, data):
        found = _jpeg.profile(data)
    elif matches(_png.MAGIC, data):
        found = _inflated(_png.chunk(data, b"iCCP").partition(b"\0")[2][1:])
    elif matches(_webp.MAGIC, data):
        found = _webp.chunk(data, b"ICCP")
    elif matches(_heif.MAGIC, data):
        found = _of_heif(data)
    elif matches(_tiff.MAGIC, data):
        found = bytes(_exif.directory(data, (_ICC_TAG,)).get(_ICC_TAG, ()))
    space = b"GRAY" if channels == 1 else b"RGB "
    return found if found[16:20] == space and found[36:40] == b"acsp" else b""


def upright_exif(data: Bytes) -> bytes:
    """Return the EXIF data of a JPEG, PNG or WebP for a picture that was turned upright; empty if there is none.

    The thumbnail shows the old picture, so the link to it is cut.
    """
    readers = ((_jpeg.MAGIC, _jpeg.exif), (_png.MAGIC, _png.exif), (_webp.MAGIC, _webp.exif))
    found = next((exif(data) for magic, exif in readers if matches(magic, data)), b"").removeprefix(_exif.PREFIX)
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(found[:4])
    if order is None:
        return b""
    block = bytearray(found)
    try:
        (start,) = struct.unpack_from(order + "I", block, 4)
        (count,) = struct.unpack_from(order + "H", block, start)
        entries = range(start + 2, start + 2 + 12 * count, 12)
        for entry in entries:
            if struct.unpack_from(order + "H", block, entry)[0] == _ORIENTATION:
                struct.pack_into(order + "HIHH", block, entry + 2, 3, 1, 1, 0)
        struct.pack_into(order + "I", block, entries.stop, 0)
    except struct.error:
        return b""
    return bytes(block)


def into_jpeg(jpeg: bytes, kept: Origin, xmp: Sequence[bytes] = ()) -> bytes:
    """The JPEG with EXIF data, the bodies of segments with XMP, and a profile, each if it is not empty."""
    parts = [kept.profile[i : i + _PART] for i in range(0, len(kept.profile), _PART)]
    bodies = [(_APP1, _exif.PREFIX + kept.exif)] if kept.exif else []
    bodies += [(_APP1, body) for body in xmp]
    if len(parts) < 256:
        bodies += [(_APP2, _ICC + bytes([i, len(parts)]) + part) for i, part in enumerate(parts, 1)]
    segments = (struct.pack(">BBH", 255, kind, len(body) + 2) + body for kind, body in bodies if len(body) <= _SEGMENT)
    start = 4 + int.from_bytes(jpeg[4:6], "big") if jpeg[2:4] == b"\xff\xe0" else 2  # after the header of JFIF
    return jpeg[:start] + b"".join(segments) + jpeg[start:]


def into_png(png: bytes, kept: Origin) -> bytes:
    """The PNG with a profile and EXIF data, each if it is not empty."""
    chunks = [(b"iCCP", _NAME + zlib.compress(kept.profile))] if kept.profile else []
    chunks += [(b"eXIf", kept.exif)] if kept.exif else []
    packed = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return png[:33] + b"".join(packed) + png[33:]  # after the signature and IHDR


def _of_heif(data: Bytes) -> bytes:
    try:
        places = [(a, b) for kind, a, b in _heif.properties(data) if kind == b"colr" and data[a : a + 4] == b"prof"]
    except FormatError:
        return b""
    return data[places[0][0] + 4 : places[0][1]] if places else b""


def _inflated(packed: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(packed, _LARGEST)
    except zlib.error:
        return b""
