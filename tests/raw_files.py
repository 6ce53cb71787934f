"""Camera raw files made by hand: a two-sample DNG as Adobe's converter writes it, and a dual-pixel CR2 as Canon does.

LibRaw opens both. Nothing here uses the product.
"""

import struct
from itertools import pairwise

import numpy as np

BYTE, ASCII, SHORT, LONG, RATIONAL, UNDEFINED = 1, 2, 3, 4, 5, 7
_CODES = {BYTE: "B", SHORT: "H", LONG: "I", UNDEFINED: "B"}
RGGB = bytes([0, 1, 1, 2])
BLACK, WHITE = 512, 16383


def mosaic(image):
    """The samples of an HxWx3 image behind an RGGB colour filter."""
    samples = image[..., 1].copy()
    samples[::2, ::2], samples[1::2, 1::2] = image[::2, ::2, 0], image[1::2, 1::2, 2]
    return samples


def frames_of(left, right, black=(BLACK, BLACK), white=WHITE, first="left"):
    """The frames A+B and A of a dual-pixel raw file, from the mosaics of the views in counts above black."""
    half = left if first == "left" else right
    both = left.astype(np.int64) + right
    return tuple(
        np.minimum(frame + level, white).astype(np.uint16) for frame, level in ((both, black[0]), (half, black[1]))
    )


# ---- TIFF ----------------------------------------------------------------------------------------


class Pixels:
    """The value of a tag: the offset of these bytes, which come last in the file, as cameras do it."""

    def __init__(self, body):
        self.body = body


class Tiff:
    """A little-endian TIFF, written from its last directory to its first, so that every offset is known."""

    def __init__(self, header):
        self.data = bytearray(header)
        self.late = []

    def put(self, block):
        """Append bytes at an even offset and return the offset."""
        self.data += bytes(len(self.data) % 2)
        self.data += block
        return len(self.data) - len(block)

    def directory(self, tags, after=0):
        """Append a directory of {tag: (type, values)} and return its offset."""
        entries, pixels = b"", []
        for tag, (kind, values) in sorted(tags.items()):
            if isinstance(values, Pixels):
                pixels.append((len(entries) + 10, values.body))
                values = 0
            count, body = _packed(kind, values)
            cell = body.ljust(4, b"\0") if len(body) <= 4 else struct.pack("<I", self.put(body))
            entries += struct.pack("<HHI", tag, kind, count) + cell
        start = self.put(struct.pack("<H", len(tags)) + entries + struct.pack("<I", after))
        self.late += [(start + place, body) for place, body in pixels]
        return start

    def finished(self, first):
        struct.pack_into("<I", self.data, 4, first)
        for place, body in self.late:
            struct.pack_into("<I", self.data, place, self.put(body))
        return bytes(self.data)


def _packed(kind, values):
    if kind == ASCII:
        body = values.encode() + b"\0"
        return len(body), body
    if isinstance(values, bytes):
        return len(values), values
    values = values if isinstance(values, tuple | list) else (values,)
    if kind == RATIONAL:
        return len(values), b"".join(struct.pack("<II", round(v * 1000), 1000) for v in values)
    return len(values), struct.pack(f"<{len(values)}{_CODES[kind]}", *values)


def exif_tags(focal=50, number=4, lens="Test 50mm F1.4", distance=1.2):
    return {
        33434: (RATIONAL, 0.01),
        33437: (RATIONAL, number),
        34855: (SHORT, 100),
        37382: (RATIONAL, distance),
        37386: (RATIONAL, focal),
        42036: (ASCII, lens),
    }


# ---- lossless JPEG -------------------------------------------------------------------------------


def lossless_jpeg(components, bits=14):
    """Lossless JPEG (ITU T.81, process 14) of an HxWxC array of samples, each predicted from the one on its left."""
    height, width, count = components.shape
    samples = components.astype(np.int64)
    predicted = np.empty_like(samples)
    predicted[:, 1:] = samples[:, :-1]
    predicted[1:, 0], predicted[0, 0] = samples[:-1, 0], 1 << (bits - 1)
    difference = (samples - predicted).ravel()
    size = np.zeros(difference.size, np.int64)
    size[difference != 0] = np.floor(np.log2(np.abs(difference[difference != 0]))).astype(np.int64) + 1
    # Every size 0 to 15 has a Huffman code of five bits, which is the size itself.
    low = np.where(difference < 0, difference + (1 << size) - 1, difference)
    code, length = (size << size) | low, size + 5
    column = np.arange(length.max())
    bit = (code[:, None] >> (length[:, None] - 1 - column).clip(0)) & 1
    stream = bit[column < length[:, None]].astype(np.uint8)
    packed = np.packbits(np.pad(stream, (0, -stream.size % 8), constant_values=1)).tobytes()
    table = bytes([0, 0, 0, 0, 16, *[0] * 11, *range(16)])
    frame = struct.pack(">BHHB", bits, height, width, count) + b"".join(
        bytes([i, 0x11, 0]) for i in range(1, count + 1)
    )
    scan = bytes([count]) + b"".join(bytes([i, 0]) for i in range(1, count + 1)) + bytes([1, 0, 0])
    head = b"".join(
        bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body
        for marker, body in ((0xC4, b"\0" + table), (0xC3, frame), (0xDA, scan))
    )
    return b"\xff\xd8" + head + packed.replace(b"\xff", b"\xff\0") + b"\xff\xd9"


# ---- DNG -----------------------------------------------------------------------------------------


def dng(
    *frames, black=BLACK, repeat=(1, 1), white=WHITE, preview=None, compressed=False, margin=0, orientation=1, **more
):
    """A DNG with one sample a pixel for every frame. `black` is a number, or all numbers of the tag BlackLevel.

    `preview` is an RGB image, which then comes first, and the mosaic is in a SubIFD. `margin` pixels all around are
    outside of the active area. `more` are tags of the raw image by name: linear=table.
    """
    tiff = Tiff(b"II*\0\0\0\0\0")
    count, (height, width) = len(frames), frames[0].shape
    stack = np.stack(frames, axis=2)
    body = lossless_jpeg(stack) if compressed else stack.astype("<u2").tobytes()
    levels = black if isinstance(black, tuple) else (black,) * (count * repeat[0] * repeat[1])
    raw = {
        254: (LONG, 0),
        256: (LONG, width),
        257: (LONG, height),
        258: (SHORT, (16,) * count),
        259: (SHORT, 7 if compressed else 1),
        262: (SHORT, 32803),
        277: (SHORT, count),
        284: (SHORT, 1),
        33421: (SHORT, (2, 2)),
        33422: (BYTE, RGGB),
        50710: (BYTE, bytes([0, 1, 2])),
        50711: (SHORT, 1),
        50713: (SHORT, repeat),
        50714: (RATIONAL, levels),
        50717: (LONG, (white,) * count),
        50829: (LONG, (margin, margin, height - margin, width - margin)),
    }
    place = (LONG, Pixels(body))
    # Tiles when compressed, as Adobe writes them: one tile here.
    raw |= {322: (LONG, width), 323: (LONG, height), 324: place, 325: (LONG, len(body))} if compressed else {}
    raw |= {} if compressed else {273: place, 278: (LONG, height), 279: (LONG, len(body))}
    raw |= more.get("tags", {})
    camera = {
        271: (ASCII, "Canon"),
        272: (ASCII, "Canon EOS R5"),
        274: (SHORT, orientation),
        34665: (LONG, tiff.directory(exif_tags())),
        50706: (BYTE, (1, 4, 0, 0)),
        50708: (ASCII, "Canon EOS R5"),
        50728: (RATIONAL, (0.5, 1, 0.7)),
    }
    if preview is None:
        return tiff.finished(tiff.directory(raw | camera))
    rows, columns = preview.shape[:2]
    small = {
        254: (LONG, 1),
        256: (LONG, columns),
        257: (LONG, rows),
        258: (SHORT, (8, 8, 8)),
        259: (SHORT, 1),
        262: (SHORT, 2),
        273: (LONG, Pixels(preview.tobytes())),
        277: (SHORT, 3),
        278: (LONG, rows),
        279: (LONG, preview.size),
        330: (LONG, tiff.directory(raw)),
    }
    return tiff.finished(tiff.directory(small | camera))


# ---- CR2 -----------------------------------------------------------------------------------------


def cr2(*frames, black=BLACK, white=WHITE, slices=None, margin=(0, 0), orientation=1, exif=None):
    """A Canon raw file: a small preview, and one directory with lossless JPEG for every frame, which come last.

    `margin` are the masked columns on the left and rows on top, which the frames include. `slices` are the count of
    equal slices, their width and the width of the last one, in samples. `exif` are more tags of the EXIF directory.
    """
    tiff = Tiff(b"II*\0\0\0\0\0CR\2\0\0\0\0\0")
    height, width = frames[0].shape
    after = 0
    for frame in reversed(frames):
        body = lossless_jpeg(_sliced(frame, slices).reshape(height, width // 2, 2))
        tags = {
            259: (SHORT, 6),
            273: (LONG, Pixels(body)),
            279: (LONG, len(body)),
            50752: (SHORT, slices or (0, 0, width)),
        }
        after = tiff.directory(tags, after)
    raw = after
    preview = bytes(8 * 6 * 3)
    colour = np.zeros(1592, np.uint16)  # ColorData of a 5D Mark IV
    colour[0] = 12
    colour[0x3F : 0x3F + 4] = 2000, 1024, 1024, 1500
    colour[0x30A : 0x30A + 4] = black
    colour[0x30E : 0x30E + 2] = white - 1000, white
    sensor = [34, width, height, 1, 1, margin[0], margin[1], width - 1, height - 1, *[0] * 8]
    focus = [0] * 40
    focus[0], focus[20], focus[21] = 80, 120, 110  # FocusDistanceUpper and -Lower, cm
    notes = {
        0x0093: (SHORT, focus),
        0x0095: (ASCII, "EF50mm f/1.4 USM"),
        0x00E0: (SHORT, sensor),
        0x4001: (SHORT, colour.tolist()),
    }
    start = tiff.directory(notes)
    size = len(tiff.data) - start
    directory = tiff.directory(exif_tags() | (exif or {}) | {0x927C: (UNDEFINED, b"\0" * 8)})
    where = tiff.data.index(struct.pack("<HHI", 0x927C, UNDEFINED, 8), directory)
    struct.pack_into("<HHII", tiff.data, where, 0x927C, UNDEFINED, size, start)
    first = tiff.directory(
        {
            256: (SHORT, 8),
            257: (SHORT, 6),
            258: (SHORT, (8, 8, 8)),
            259: (SHORT, 1),
            262: (SHORT, 2),
            271: (ASCII, "Canon"),
            272: (ASCII, "Canon EOS 5D Mark IV"),
            273: (LONG, Pixels(preview)),
            274: (SHORT, orientation),
            277: (SHORT, 3),
            278: (SHORT, 6),
            279: (LONG, len(preview)),
            34665: (LONG, directory),
        },
        raw,
    )
    struct.pack_into("<I", tiff.data, 12, raw)
    return tiff.finished(first)


def _sliced(frame, slices):
    """The samples in the order in which Canon stores them: slice after slice, each row by row."""
    if slices is None:
        return frame
    count, width, last = slices
    edges = [*range(0, count * width + 1, width), count * width + last]
    return np.concatenate([frame[:, a:b].ravel() for a, b in pairwise(edges)]).reshape(frame.shape)
