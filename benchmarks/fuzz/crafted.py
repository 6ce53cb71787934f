"""Crafted files, each the cause of a past defect: bombs of memory or time, false headers, deep nesting.

They are made by code because some have a megabyte. `dualpix` must answer each with a clean error or a right result,
within the limits of the oracle.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import cache

from .targets import seeds

MEGABYTE = 1 << 20


def jpeg_with_a_hidden_frame() -> bytes:
    """Marker FF01 has no length. A walker that skips two bytes and more misses the true frame header."""
    jpeg = seeds("jpeg")[0]
    start = jpeg.index(b"\xff\xc0")
    true = bytearray(jpeg[start : start + 19])
    small, huge = bytes(true), bytes(true[:5]) + struct.pack(">HH", 20000, 20000) + bytes(true[9:])
    # After FF01 a wrong walker takes the two next bytes, FF C0, as a length and jumps over the true header.
    return (
        jpeg[:start] + b"\xff\x01" + huge + b"\xff\xfe" + struct.pack(">H", 2 + len(small)) + small + jpeg[start + 19 :]
    )


def deflate_tiff() -> bytes:
    """16x16 pixels whose strip inflates to 900 MB."""
    return _tiff({256: 16, 257: 16, 258: 8, 259: 8, 262: 1, 277: 1, 278: 16}, _bomb())


def many_directories(count: int = 20_000) -> bytes:
    """A TIFF whose directories form a long chain."""
    length = 2 + 9 * 12 + 4
    head = b"II*\0" + struct.pack("<I", 8)
    body = []
    for number in range(count):
        following = 8 + (number + 1) * length if number + 1 < count else 0
        tags = {256: 1, 257: 1, 258: 8, 259: 1, 262: 1, 273: 0, 277: 1, 278: 1, 279: 1}
        body.append(struct.pack("<H", len(tags)) + _entries(tags) + struct.pack("<I", following))
    return head + b"".join(body)


def repeated_directories(count: int = 900) -> bytes:
    """A TIFF of 4096 tags, whose SubIFDs are all the same 3000 of them."""
    end = 8 + 2 + 12 * 4096 + 4
    tags = {256: 1, 257: 1, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: 1, 279: 1}
    sub_pages = struct.pack("<HHII", 330, 4, count, end)
    others = _entries({30_000 + i: 3000 << 16 for i in range(4096 - len(tags) - 1)})
    places = struct.pack("<I", 8 + 12 * 20) * count
    return b"II*\0" + struct.pack("<IH", 8, 4096) + _entries(tags) + sub_pages + others + bytes(4) + places


def png_bomb() -> bytes:
    """8x8 pixels whose data inflates to 900 MB."""
    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", _bomb()) + _chunk(b"IEND", b"")


def png_text_bomb() -> bytes:
    """A compressed text and a compressed profile that inflate to 900 MB each."""
    whole = seeds("png")[0]
    chunks = b"".join(_chunk(kind, b"p\0\0" + _bomb()) for kind in (b"iCCP", b"zTXt"))
    return whole[:33] + chunks + whole[33:]


def pgm_spaces(size: int = MEGABYTE) -> bytes:
    return b"P5" + b" " * size + b"4 4\n255\n" + bytes(16)


def pgm_comments(size: int = MEGABYTE) -> bytes:
    return b"P5\n" + b"#\n" * (size // 2) + b"4 4\n255\n" + bytes(16)


def npy(shape: str) -> Callable[[], bytes]:
    def made() -> bytes:
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
        head += b" " * (-(len(head) + 11) % 64) + b"\n"
        return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(16)

    return made


def nested(text: str, times: int) -> Callable[[], bytes]:
    return lambda: b'{"dualpix": "1", "map": "map.png", "grey": ' + text.encode() * times


def digits(before: str, after: str = "") -> Callable[[], bytes]:
    return lambda: (before + "9" * 5000 + after).encode()


def zip_bomb() -> bytes:
    """A cache file whose map inflates to 120 MB."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("disparity.npy", "record.npy"):
            archive.writestr(name, npy("(30000000,)")()[:-16] + bytes(120 * MEGABYTE))
    return file.getvalue()


def onnx_with_a_wide_tag() -> bytes:
    """The tag of a tensor's file has a 33rd bit, which C++ drops: a reader that keeps it misses the file."""

    def field(tag: bytes, body: bytes) -> bytes:
        return tag + bytes([len(body)]) + body

    entry = field(b"\x0a", b"location") + field(b"\x12", b"../w.bin")
    return field(b"\x3a", field(b"\x2a", field(b"\xea\x80\x80\x80\x10", entry)))


def progressive_jpeg(scans: int = 50_000) -> bytes:
    """A progressive JPEG with very many scans over a picture of some size."""
    whole = next(data for data in seeds("jpeg") if b"\xff\xc2" in data)
    start, end = whole.index(b"\xff\xda"), whole.index(b"\xff\xd9")
    frame = whole.index(b"\xff\xc2")
    large = whole[: frame + 5] + struct.pack(">HH", 1000, 1000) + whole[frame + 9 : start]
    scan = whole[start:end].split(b"\xff\xc4")[0]
    return large + (scan * scans)[:MEGABYTE] + b"\xff\xd9"


CRAFTED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "JPEG with a hidden frame": ("jpeg", jpeg_with_a_hidden_frame),
    "JPEG of many scans": ("jpeg", progressive_jpeg),
    "TIFF that inflates": ("tiff", deflate_tiff),
    "TIFF of 20,000 directories": ("tiff", many_directories),
    "TIFF of repeated directories": ("tiff", repeated_directories),
    "PNG that inflates": ("png", png_bomb),
    "PNG with texts that inflate": ("png", png_text_bomb),
    "PGM header of spaces": ("pnm", pgm_spaces),
    "PGM header of comments": ("pnm", pgm_comments),
    "NPY of shape (-2, -2)": ("npy", npy("(-2, -2)")),
    "NPY of shape (True, 4)": ("npy", npy("(True, 4)")),
    "NPY of huge shape": ("npy", npy("(9" + "9" * 30 + ", 1)")),
    "NPY of nested shape": ("npy", npy("(" * 500 + ")" * 500)),
    "sidecar of nested lists": ("sidecar", nested("[", 100_000)),
    "sidecar of nested objects": ("sidecar", nested('{"a":', 100_000)),
    "sidecar of 5,000 digits": ("sidecar", digits('{"dualpix": "1", "map": "map.png", "png": "mm", "width": ', "}")),
    "calibration of 5,000 digits": ("calibration", digits('{"calibration": 1, "width": ', "}")),
    "calibration of nested lists": ("calibration", lambda: b'{"calibration": ' + b"[" * 100_000),
    "parameters of 5,000 digits": ("params", digits("window = ")),
    "parameters of dotted names": ("params", lambda: b"a." * 30_000 + b"a = 1"),
    "parameters of nested lists": ("params", lambda: b"window = " + b"[" * 100_000),
    "manifest of 5,000 digits": ("manifest-jsonl", digits('{"left": "a.png", "window": ', "}")),
    "manifest of nested lists": ("manifest-jsonl", lambda: b'{"left": ' + b"[" * 100_000),
    "hints of 5,000 digits": ("hints", digits('[{"kind": "near", "radius": ', "}]")),
    "cache file that inflates": ("cache", zip_bomb),
    "ONNX with a wide tag": ("onnx", onnx_with_a_wide_tag),
    "ONNX of 3 million graphs": ("onnx", lambda: b"\x3a\0" * 3_000_000),
}


@cache
def _bomb() -> bytes:
    """900 kB of zlib that inflate to 900 MB of zeros. All blocks are the same, so only one is compressed."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    count = 900_000 // len(block)
    size = count * MEGABYTE
    # Adler-32 of n zeros: the low half is 1, the high half n modulo 65521. 03 00 is an empty last block.
    return b"\x78\xda" + block * count + b"\x03\0" + struct.pack(">HH", size % 65521, 1)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _tiff(tags: dict[int, int], strip: bytes) -> bytes:
    tags = dict(sorted((tags | {273: 8 + 2 + 12 * (len(tags) + 2) + 4, 279: len(strip)}).items()))
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + _entries(tags) + bytes(4) + strip


def _entries(tags: dict[int, int]) -> bytes:
    return b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
