"""The kernels that decode files, against plain Python and against OpenCV: the same bytes, and never more than fits."""

import struct
import zlib

import cv2
import numpy as np
import pytest

from dualpix import InputError, _core
from dualpix.io import read_image
from image_files import by_tifffile, chunk, save
from reference_files import pack_lzw, unfilter, unpack_bits

PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
KINDS = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8)]
KINDS += [(4, 8), (4, 16), (6, 8), (6, 16)]


def array(data):
    return np.frombuffer(data, np.uint8)


@pytest.mark.parametrize("pixel", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (7, 1), (6, 11)])
def test_filters_of_png(pixel, size):
    rng = np.random.default_rng(pixel)
    height, stride = size[0], size[1] * pixel
    data = rng.integers(0, 256, (height, stride + 1), np.uint8)
    data[:, 0] = rng.integers(0, 5, height)
    rows = np.empty((height, stride), np.uint8)
    assert _core.unfilter(data.ravel(), rows, pixel)
    np.testing.assert_array_equal(rows, unfilter(data.tobytes(), height, stride, pixel))
    data[-1, 0] = 5
    assert not _core.unfilter(data.ravel(), rows, pixel)


def test_arguments_of_the_filters_are_checked():
    for data, rows, pixel in ((np.zeros(7, np.uint8), (2, 3), 1), (np.zeros(8, np.uint8), (2, 3), 2)):
        with pytest.raises(ValueError, match=r"data must have one byte more|pixel must be"):
            _core.unfilter(data, np.empty(rows, np.uint8), pixel)


def random_png(rng, width, height, depth, colour, interlaced):
    """A PNG of random filtered rows: any bytes are a picture."""
    bits = depth * SAMPLES[colour]
    sizes = [(-(-(height - y) // dy), -(-(width - x) // dx)) for y, x, dy, dx in PASSES if height > y and width > x]
    stored = b""
    for rows, columns in sizes if interlaced else [(height, width)]:
        data = rng.integers(0, 256, (rows, 1 + -(-columns * bits // 8)), np.uint8)
        data[:, 0] = rng.integers(0, 5, rows)
        stored += data.tobytes()
    packed = zlib.compress(stored, 1)
    palette = chunk(b"PLTE", rng.integers(0, 256, 3 * 2**depth, np.uint8).tobytes()) if colour == 3 else b""
    half = len(packed) // 2
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))
    parts = [head, palette, chunk(b"IDAT", packed[:half]), chunk(b"IDAT", packed[half:]), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("interlaced", [0, 1])
@pytest.mark.parametrize(("colour", "depth"), KINDS)
def test_png_of_every_kind_is_as_opencv_reads_it(tmp_path, colour, depth, interlaced):
    rng = np.random.default_rng(depth + 16 * colour)
    for width, height in ((1, 1), (3, 2), (1, 9), (9, 1), (5, 5), (17, 13), (40, 33)):
        data = random_png(rng, width, height, depth, colour, interlaced)
        found = read_image(save(tmp_path, data))
        expected = cv2.imdecode(array(data), cv2.IMREAD_UNCHANGED)
        if expected.ndim == 3:
            expected = expected[..., 0] if colour in (0, 4) else expected[..., 2::-1]
        np.testing.assert_array_equal(found, expected, strict=True)


def test_what_follows_the_pixels_of_a_png_is_not_looked_at(tmp_path):
    data = random_png(np.random.default_rng(0), 5, 4, 8, 0, 0)
    start = data.index(b"IDAT") - 4
    rows = bytes(4 * 6) + b"more"
    longer = data[:start] + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    assert read_image(save(tmp_path, longer)).shape == (4, 5)
    shorter = data[:start] + chunk(b"IDAT", zlib.compress(rows[:20])) + chunk(b"IEND", b"")
    with pytest.raises(InputError, match="damaged PNG"):
        read_image(save(tmp_path, shorter))


@pytest.mark.parametrize("size", [0, 1, 2, 300, 5000, 30_000])
def test_lzw(size):
    rng = np.random.default_rng(size)
    for data in (rng.integers(0, 256, size, np.uint8), rng.integers(0, 2, size, np.uint8), np.zeros(size, np.uint8)):
        out = np.empty(size, np.uint8)
        assert _core.unpack_lzw(array(pack_lzw(data.tobytes())), out) == size
        np.testing.assert_array_equal(out, data)


def test_pack_bits():
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 3, 50, 400):
        data = rng.integers(0, 256, size, np.uint8)
        expected = unpack_bits(data.tobytes())
        out = np.zeros(len(expected) + 9, np.uint8)
        assert _core.unpack_bits(data, out) == len(expected)
        assert out.tobytes() == expected + bytes(9)


@pytest.mark.parametrize("unpack", [_core.unpack_lzw, _core.unpack_bits])
def test_nothing_is_written_beyond_the_room(unpack):
    rng = np.random.default_rng(2)
    for size in (1, 5, 100, 3000):
        whole = np.full(600, 7, np.uint8)
        for room in (0, 1, 5, 500):
            assert unpack(rng.integers(0, 256, size, np.uint8), whole[:room]) <= room
            assert (whole[room:] == 7).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_sums_of_differences(dtype):
    values = np.random.default_rng(3).integers(0, np.iinfo(dtype).max, (5, 9, 3), dtype)
    found = values.copy()
    _core.add_up(found)
    np.testing.assert_array_equal(found, np.cumsum(values, axis=1, dtype=dtype), strict=True)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (b"", 0),
        (b"  \n", 0),
        (b"1 2\t3\n\r\v\f4", 4),
        (b"255", 1),
        (b"256", -2),
        (b"-1", -2),
        (b"1 x", -1),
        (b"9" * 99, -2),
    ],
)
def test_numbers_of_ascii_files(text, count):
    out = np.zeros(3, np.uint16)
    assert _core.parse_numbers(array(text), out, 255) == count
    if count > 0:
        assert out.tolist() == [*map(int, text.split()), 0, 0][:3]


TIFFS = {
    "lzw": {"compression": "lzw"},
    "lzw and differences": {"compression": "lzw", "predictor": 2},
    "deflate in tiles": {"compression": "zlib", "tile": (16, 32), "predictor": 2},
    "packbits": {"compression": "packbits", "rowsperstrip": 3},
    "plain tiles": {"tile": (16, 16)},
    "big-endian differences": {"compression": "zlib", "predictor": 2, "byteorder": ">"},
}


@pytest.mark.parametrize("case", TIFFS)
@pytest.mark.parametrize("shape", [(1, 1), (19, 35), (33, 50, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_compressions_of_tiff(tmp_path, case, shape, dtype):
    pixels = (np.random.default_rng(4).random(shape) * (1 if dtype == np.float32 else 255)).astype(dtype)
    options = dict(TIFFS[case])
    if dtype == np.float32 and "predictor" in options:
        options["predictor"] = 3
    np.testing.assert_array_equal(read_image(save(tmp_path, by_tifffile(pixels, **options))), pixels, strict=True)
