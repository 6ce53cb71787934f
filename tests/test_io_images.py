"""Image files and arrays in: values as stored, and one sentence for everything that cannot be used."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from dualpix.errors import InputError, ParameterError
from dualpix.io import _png, as_image, encode_png, load_image, probe, read_image, read_pair
from image_files import by_opencv, by_tifffile, chunk, png, save

RNG = np.random.default_rng(7)
GREY8 = RNG.integers(0, 256, (37, 53), np.uint8)
GREY16 = RNG.integers(0, 2**16, (37, 53), np.uint16)
RGB8 = RNG.integers(0, 256, (37, 53, 3), np.uint8)
RGB16 = RNG.integers(0, 2**16, (37, 53, 3), np.uint16)
GREY_FLOAT = RNG.random((37, 53), np.float32)
RGB_FLOAT = RNG.random((37, 53, 3), np.float32)
SMOOTH = cv2.GaussianBlur(cv2.resize(RGB8, (80, 64)), (0, 0), 3)

not_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything"
)


COLOURS = RNG.integers(0, 256, (256, 3), np.uint8)
PALETTE = bytes([10, 20, 30, 40, 50, 60, 70, 80, 90])
ANIMATION = (
    chunk(b"acTL", struct.pack(">II", 2, 0)),
    chunk(b"fcTL", struct.pack(">IIIIIHHBB", 0, 1, 1, 0, 0, 1, 1, 0, 0)),
)

# ---- values as stored ----------------------------------------------------------------------------

STORED = {
    "png-grey8": ("PNG", by_opencv(".png", GREY8), GREY8),
    "png-grey16": ("PNG", by_opencv(".png", GREY16), GREY16),
    "png-rgb8": ("PNG", by_opencv(".png", RGB8), RGB8),
    "png-rgb16": ("PNG", by_opencv(".png", RGB16), RGB16),
    "png-rgba8": ("PNG", by_opencv(".png", np.dstack([RGB8, GREY8])), RGB8),
    "png-rgba16": ("PNG", by_opencv(".png", np.dstack([RGB16, GREY16])), RGB16),
    "png-grey-alpha": ("PNG", png(2, 1, 8, 4, [b"\x05\xff\x09\x80"]), np.array([[5, 9]], np.uint8)),
    "png-1-bit": ("PNG", png(4, 1, 1, 0, [b"\xa0"]), np.array([[255, 0, 255, 0]], np.uint8)),
    "png-2-bit": ("PNG", png(4, 1, 2, 0, [b"\x1b"]), np.array([[0, 85, 170, 255]], np.uint8)),
    "png-palette": (
        "PNG",
        png(2, 1, 8, 3, [b"\2\1"], chunk(b"PLTE", PALETTE)),
        np.array([[[70, 80, 90], [40, 50, 60]]], np.uint8),
    ),
    "png-palette-alpha": (
        "PNG",
        png(1, 1, 8, 3, [b"\1"], chunk(b"PLTE", PALETTE), chunk(b"tRNS", b"\0\0\0")),
        np.array([[[40, 50, 60]]], np.uint8),
    ),
    "png-gamma": (
        "PNG",
        png(2, 1, 8, 0, [b"\x05\x09"], chunk(b"gAMA", struct.pack(">I", 10**5))),
        np.array([[5, 9]], np.uint8),
    ),
    "png-bad-profile": (
        "PNG",
        png(2, 1, 8, 0, [b"\x05\x09"], chunk(b"iCCP", b"x\0\0" + b"garbage")),
        np.array([[5, 9]], np.uint8),
    ),
    "png-animation": (
        "PNG",
        png(2, 1, 8, 0, [b"\x05\x09"], *ANIMATION),
        np.array([[5, 9]], np.uint8),
    ),
    "tiff-grey8": ("TIFF", by_tifffile(GREY8), GREY8),
    "tiff-grey16-big-endian": ("TIFF", by_tifffile(GREY16, byteorder=">"), GREY16),
    "tiff-grey16-bigtiff": ("TIFF", by_tifffile(GREY16, bigtiff=True), GREY16),
    "tiff-rgb16-deflate": ("TIFF", by_tifffile(RGB16, compression="zlib", predictor=True), RGB16),
    "tiff-rgb8-planes": ("TIFF", by_tifffile(np.moveaxis(RGB8, 2, 0), planarconfig="separate"), RGB8),
    "tiff-rgba8": ("TIFF", by_tifffile(np.dstack([RGB8, GREY8]), extrasamples=["unassalpha"]), RGB8),
    "tiff-grey-alpha": (
        "TIFF",
        by_tifffile(
            np.dstack([GREY8, GREY8 // 2]),
            photometric="minisblack",
            planarconfig="contig",
            extrasamples=["unassalpha"],
        ),
        GREY8,
    ),
    "tiff-tiled": ("TIFF", by_tifffile(GREY8, tile=(16, 16)), GREY8),
    "tiff-white-is-zero": ("TIFF", by_tifffile(GREY16, photometric="miniswhite"), 65535 - GREY16),
    "tiff-1-bit": ("TIFF", by_tifffile(GREY8 > 127), np.where(GREY8 > 127, 255, 0).astype(np.uint8)),
    "tiff-palette": (
        "TIFF",
        by_tifffile(GREY8, photometric="palette", colormap=COLOURS.T.astype(np.uint16) << 8),
        COLOURS[GREY8],
    ),
    "tiff-float32": ("TIFF", by_tifffile(GREY_FLOAT), GREY_FLOAT),
    "tiff-float64": ("TIFF", by_tifffile(GREY_FLOAT.astype(np.float64)), GREY_FLOAT),
    "tiff-rgb-float32": ("TIFF", by_tifffile(RGB_FLOAT), RGB_FLOAT),
    "tiff-lzw-rgb16": ("TIFF", by_opencv(".tif", RGB16, cv2.IMWRITE_TIFF_COMPRESSION, 5), RGB16),
    "tiff-lzw-float32": ("TIFF", by_opencv(".tif", RGB_FLOAT, cv2.IMWRITE_TIFF_COMPRESSION, 5), RGB_FLOAT),
    "pgm": ("PGM/PPM", b"P5\n# by hand\n3 1 # wide\n255\n\x01\x02\xff", np.array([[1, 2, 255]], np.uint8)),
    "pgm16": ("PGM/PPM", b"P5 2 1 1023\n\x01\x02\x03\xff", np.array([[258, 1023]], np.uint16)),
    "ppm": ("PGM/PPM", b"P6\n1\n2\n255\n\1\2\3\4\5\6", np.array([[[1, 2, 3]], [[4, 5, 6]]], np.uint8)),
    "ppm16-opencv": ("PGM/PPM", by_opencv(".ppm", RGB16), RGB16),
    "pgm-ascii": ("PGM/PPM", b"P2 2 2 300\n1 2\n3 300\n", np.array([[1, 2], [3, 300]], np.uint16)),
    "ppm-ascii": ("PGM/PPM", b"P3\n1 1\n255\n7 8 9", np.array([[[7, 8, 9]]], np.uint8)),
}  # fmt: skip


@pytest.mark.parametrize("case", STORED)
def test_values_are_read_as_stored(tmp_path, case, capfd):
    form, data, expected = STORED[case]
    path = save(tmp_path, data)
    image = read_image(path)
    np.testing.assert_array_equal(image, expected, strict=True)
    assert image.flags.c_contiguous
    assert image.dtype.isnative

    info = probe(path)
    height, width = expected.shape[:2]
    assert (info.path, info.format, info.width, info.height) == (path, form, width, height)
    assert (info.channels, info.dtype) == (1 if expected.ndim == 2 else 3, expected.dtype.name)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("options", [(), (cv2.IMWRITE_JPEG_PROGRESSIVE, 1), (cv2.IMWRITE_JPEG_RST_INTERVAL, 2)])
@pytest.mark.parametrize("grey", [False, True])
def test_jpeg_is_close_to_its_source(tmp_path, options, grey):
    source = SMOOTH[..., 0] if grey else SMOOTH
    data = by_opencv(".jpg", source, cv2.IMWRITE_JPEG_QUALITY, 98, *options)
    image = read_image(save(tmp_path, data + b"trailing bytes"))
    assert image.shape == source.shape
    assert np.abs(image.astype(int) - source).mean() < 2
    info = probe(save(tmp_path, data))
    assert (info.format, info.width, info.height, info.channels) == ("JPEG", 80, 64, 1 if grey else 3)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (2, 3, 3), (1, 7, 3), (7, 1, 3)])
@pytest.mark.parametrize("suffix", [".png", ".tif", ".ppm"])
def test_small_images(tmp_path, shape, suffix):
    image = RNG.integers(0, 2**16, shape, np.uint16)
    suffix = ".pgm" if suffix == ".ppm" and len(shape) == 2 else suffix
    np.testing.assert_array_equal(read_image(save(tmp_path, by_opencv(suffix, image))), image, strict=True)


# ---- files that cannot be used -------------------------------------------------------------------

PNG8, JPEG8, TIFF8 = by_opencv(".png", RGB8), by_opencv(".jpg", SMOOTH), by_tifffile(RGB8)
DEFLATED = by_tifffile(RGB8, compression="zlib")

# One TIFF tag changed: the height, and the length of the only strip.
TALL = by_tifffile(GREY8, compression="zlib", rowsperstrip=20).replace(
    struct.pack("<HHII", 257, 4, 1, 37), struct.pack("<HHII", 257, 4, 1, 370)
)
SMALL_STRIP = by_tifffile(GREY8).replace(
    struct.pack("<HHII", 279, 4, 1, GREY8.size), struct.pack("<HHII", 279, 4, 1, 100)
)


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


REFUSED = {
    "empty": (b"", "is empty: copy or export it again"),
    "text": (b"These are no pixels.\n", "none of the formats.*PNG, JPEG, TIFF, PGM/PPM"),
    "gif": (b"GIF89a\1\0\1\0", "none of the formats.*PNG, JPEG, TIFF, PGM/PPM"),
    "bitmap-p4": (b"P4 8 1\n\0", "none of the formats"),
    "png-half": (PNG8[: len(PNG8) // 2], "cut short"),
    "png-without-end": (PNG8[:-12], "cut short"),
    "png-last-byte": (PNG8[:-1], "cut short"),
    "png-signature-only": (PNG8[:8], "damaged PNG"),
    "png-flipped": (flipped(PNG8), "checksum"),
    "png-too-few-rows": (png(2, 2, 8, 0, [b"\1\2"]), "damaged"),
    "png-without-palette": (png(1, 1, 8, 3, [b"\1"]), "damaged"),
    "png-no-width": (png(0, 1, 8, 0, [b""]), "no pixels"),
    "png-endless-row": (png(2**24, 1, 8, 0, [b"\1"]), "promises more pixels than it holds"),
    "jpeg-half": (JPEG8[: len(JPEG8) // 2], "cut short"),
    "jpeg-without-end": (JPEG8[:-2], "cut short"),
    "jpeg-head-only": (JPEG8[:30], "damaged JPEG"),
    "jpeg-12-bit": (JPEG8.replace(b"\xff\xc0\0\x11\x08", b"\xff\xc0\0\x11\x0c"), "12-bit JPEG"),
    "jpeg-cmyk": (JPEG8.replace(b"\0\x40\0\x50\x03", b"\0\x40\0\x50\x04"), "4 colour channels"),
    "tiff-half": (TIFF8[: len(TIFF8) // 2], "cut short"),
    "tiff-last-byte": (TIFF8[:-1], "cut short"),
    "tiff-deflate-last-byte": (DEFLATED[:-1], "cut short"),
    "tiff-deflate-flipped": (flipped(DEFLATED), "damaged TIFF"),
    "tiff-missing-strips": (TALL, "cut short"),
    "tiff-small-strip": (SMALL_STRIP, "cut short"),
    "tiff-head-only": (TIFF8[:12], "damaged TIFF"),
    "tiff-lzw-cut": (by_opencv(".tif", RGB8, cv2.IMWRITE_TIFF_COMPRESSION, 5)[:3000], "cut short"),
    "tiff-two-images": (by_tifffile(np.stack([GREY8, GREY8]), photometric="minisblack"), "holds 2 images"),
    "tiff-extra-channels": (
        by_tifffile(RGB8, photometric="minisblack", planarconfig="contig"),
        "unusual number of channels",
    ),
    "tiff-cmyk": (by_tifffile(np.dstack([RGB8, GREY8]), photometric="separated"), "neither grey, RGB"),
    "tiff-raw": (
        by_tifffile(GREY16, photometric="cfa"),
        r"camera raw file \(page 1: 53x37\): give it alone, or split it first with dualpix split$",
    ),
    "tiff-thumbnail-only": (
        by_tifffile(GREY8, subfiletype=1),
        r"holds only a thumbnail \(page 1: 53x37 thumbnail\): export the full image$",
    ),
    "tiff-int16": (by_tifffile(GREY8.astype(np.int16)), "not int16"),
    "tiff-int32": (by_tifffile(GREY8.astype(np.int32)), "uint8, uint16 or float values in .*, not int32"),
    "tiff-nan": (by_tifffile(np.array([[0.5, np.nan]], np.float32)), "NaN or infinite"),
    "tiff-infinite": (by_tifffile(np.array([[0.5, np.inf]], np.float32)), "NaN or infinite"),
    "tiff-negative": (by_tifffile(np.array([[0.5, -0.1]], np.float32)), r"from -0\.1 to 0\.5"),
    "tiff-above-one": (by_tifffile(np.array([[0.5, 255]], np.float32)), r"from 0\.5 to 255.*\[0, 1\]"),
    "pgm-short": (b"P5 2 2 255\n\1\2\3", "3 bytes of pixels .* promises 4"),
    "pgm-long": (b"P5 2 2 255\n\1\2\3\4\5", "5 bytes of pixels .* promises 4"),
    "pgm16-short": (b"P5 2 2 256\n\1\2\3\4", "4 bytes of pixels .* promises 8"),
    "pgm-header": (b"P5 two 2 255\n", "damaged PGM or PPM header"),
    "pgm-largest-0": (b"P5 1 1 0\n\1", "largest value of 0"),
    "pgm-largest-65536": (b"P5 1 1 65536\n\1", "largest value of 65536"),
    "pgm-ascii-short": (b"P2 2 2 255\n1 2 3", "holds 3 values .* promises 4"),
    "pgm-ascii-word": (b"P2 2 1 255\n1 x", "words that are not numbers"),
    "pgm-ascii-large": (b"P2 2 1 255\n1 256", r"outside 0\.\.255"),
    "pgm-ascii-negative": (b"P2 2 1 255\n1 -1", r"outside 0\.\.255"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_files_get_one_sentence(tmp_path, case, capfd):
    data, expected = REFUSED[case]
    path = save(tmp_path, data, "image.png")
    with pytest.raises(InputError, match=expected) as caught:
        read_image(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert capfd.readouterr().err == ""


def test_decoders_print_nothing(tmp_path):
    damaged = JPEG8[:-200] + bytes(100) + JPEG8[-100:]
    for case, (data, _) in {**REFUSED, "damaged-jpeg": (damaged, "")}.items():
        save(tmp_path, data, case)
    script = """
import sys
from pathlib import Path
from dualpix import InputError
from dualpix.io import read_image
for path in Path(sys.argv[1]).iterdir():
    try:
        read_image(path)
    except InputError:
        pass
print("done", file=sys.stderr)
"""
    command = [sys.executable, "-c", script, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stderr == "done\n"


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.png: no such file: check the path$"):
        read_image(tmp_path / "none.png")


def test_folder(tmp_path):
    with pytest.raises(InputError, match=r"is a folder: give a file in it$"):
        read_image(tmp_path)


@not_root
def test_unreadable_file(tmp_path):
    path = save(tmp_path, PNG8)
    path.chmod(0)
    with pytest.raises(InputError, match=r"image\.dat: cannot be read \(Permission denied\): check"):
        read_image(path)


def test_other_failures_of_the_system_are_told(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read \(.*\): check the path"):
        read_image(tmp_path / ("x" * 5000))


# ---- the size limit ------------------------------------------------------------------------------


def tiff_header(width, height):
    """A grey 8-bit TIFF by hand whose one strip holds nothing like its size."""
    tags = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (279, 8)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4)


HUGE = {
    "png": png(100_000, 100_000, 8, 2, [b"\0"]),
    "jpeg": JPEG8.replace(b"\x08\0\x40\0\x50\x03", b"\x08\xff\xff\xff\xff\x03"),
    "tiff": tiff_header(100_000, 100_000),
    "pgm": b"P5 100000 100000 255\n\1",
    "pgm-ascii": b"P2 100000 100000 255\n1",
}


@pytest.mark.parametrize("case", HUGE)
def test_huge_headers_are_refused_before_allocation(tmp_path, case):
    path = save(tmp_path, HUGE[case])
    info = probe(path)
    pixels = info.width * info.height
    assert pixels >= 3.6e9
    with pytest.raises(InputError, match=f"{pixels} pixels.*{2**28}.*DUALPIX_MAX_PIXELS={pixels}"):
        read_image(path)


def test_the_limit_can_be_moved(tmp_path, monkeypatch):
    path = save(tmp_path, PNG8)
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", str(37 * 53))
    assert read_image(path).shape == (37, 53, 3)
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", str(37 * 53 - 1))
    with pytest.raises(InputError, match="1961 pixels, over the limit of 1960"):
        read_image(path)


def test_without_a_limit_it_is_still_one_sentence(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", str(10**12))
    with pytest.raises(InputError, match="promises more pixels than it holds"):
        read_image(save(tmp_path, HUGE["png"]))
    assert capfd.readouterr().err == ""


def test_too_little_memory(tmp_path, monkeypatch):
    def decode(data):
        raise MemoryError

    monkeypatch.setattr(_png, "decode", decode)
    with pytest.raises(InputError, match=r"image\.dat: its 53x37 pixels do not fit in memory"):
        read_image(save(tmp_path, PNG8))


@pytest.mark.parametrize("value", ["", "0", "-5", "1e9", "many"])
def test_a_limit_that_is_no_number(tmp_path, monkeypatch, value):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", value)
    with pytest.raises(ParameterError, match="DUALPIX_MAX_PIXELS must be a whole number"):
        read_image(save(tmp_path, PNG8))


# ---- damage of every kind ------------------------------------------------------------------------


@pytest.mark.parametrize("data", [PNG8, JPEG8, TIFF8, DEFLATED, b"P3 2 1 9\n1 2 3 4 5 6"])
def test_random_damage_is_an_input_error_or_an_image(tmp_path, data):
    rng = np.random.default_rng(1)
    for _ in range(60):
        bad = bytearray(data)
        for _ in range(rng.integers(1, 4)):
            bad[rng.integers(0, min(len(bad), 400))] = rng.integers(0, 256)
        try:
            image = read_image(save(tmp_path, bytes(bad[: rng.integers(1, 2 * len(bad))])))
        except InputError:
            continue
        assert image.ndim in (2, 3)


# ---- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (GREY8, np.uint8),
        (RGB16, np.uint16),
        (RGB8[:, ::-1], np.uint8),
        (np.asfortranarray(GREY16), np.uint16),
        (GREY16.astype(">u2"), np.uint16),
        (GREY_FLOAT, np.float32),
        (GREY_FLOAT.astype(np.float16), np.float32),
        (RGB_FLOAT.astype(">f8"), np.float32),
        ([[0.0, 1.0]], np.float32),
    ],
)
def test_arrays_keep_their_values(array, dtype):
    image = as_image(array, "left")
    np.testing.assert_array_equal(image, np.asarray(array))
    assert image.dtype == dtype
    assert image.dtype.isnative
    assert image.flags.c_contiguous


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (None, "HxW or HxWx3"),
        (np.zeros(5, np.uint8), "HxW or HxWx3"),
        (np.zeros((5, 5, 4), np.uint8), r"shape \(5, 5, 4\)"),
        (np.zeros((5, 5, 1), np.uint8), r"shape \(5, 5, 1\)"),
        (np.zeros((0, 5), np.uint8), "no pixels"),
        (np.zeros((5, 0, 3)), "no pixels"),
        (np.zeros((5, 5), np.int32), "not int32"),
        (np.zeros((5, 5), np.uint32), "not uint32"),
        (np.zeros((5, 5), bool), "not bool"),
        (np.zeros((5, 5), complex), "not complex128"),
        (np.zeros((5, 5), object), "not object"),
        (np.full((5, 5), np.nan), "NaN or infinite"),
        (np.array([[0, -np.inf]]), "NaN or infinite"),
        (np.array([[0, np.inf]]), "NaN or infinite"),
        (np.array([[0, 1.01]]), "from 0 to 1.01"),
        (np.array([[1e300, 0]]), r"1e\+300"),
        (np.array([[-1e-9, 0]]), "from -1e-09"),
        ([[1, 2], [3]], "rows of different lengths"),
    ],
)
def test_bad_arrays_name_the_argument(array, expected):
    with pytest.raises(InputError, match=f"^guide: .*{expected}"):
        as_image(array, "guide")


def test_load_image_takes_paths_and_arrays(tmp_path):
    path = save(tmp_path, PNG8)
    for image in (path, str(path), RGB8):
        np.testing.assert_array_equal(load_image(image, "left"), RGB8, strict=True)


@pytest.mark.parametrize("image", [GREY8, RGB8, GREY16, RGB16, RGB8[::2, ::-1]])
def test_encode_png_keeps_integers(tmp_path, image):
    np.testing.assert_array_equal(read_image(save(tmp_path, encode_png(image))), image, strict=True)


def test_encode_png_gives_floats_16_bits(tmp_path):
    image = read_image(save(tmp_path, encode_png(RGB_FLOAT)))
    assert image.dtype == np.uint16
    np.testing.assert_allclose(image / 65535, RGB_FLOAT, rtol=0, atol=0.51 / 65535)
    ends = read_image(save(tmp_path, encode_png([[0.0, 1.0]])))
    np.testing.assert_array_equal(ends, [[0, 65535]])


def test_encode_png_refuses_other_arrays():
    with pytest.raises(InputError, match=r"^image: .*not int64"):
        encode_png(GREY8.astype(np.int64))


# ---- pairs ---------------------------------------------------------------------------------------


def test_a_pair_knows_its_source(tmp_path):
    left, right = save(tmp_path, PNG8, "l.png"), save(tmp_path, by_tifffile(RGB8 ^ 1), "r.tif")
    pair = read_pair(left, str(right))
    np.testing.assert_array_equal(pair.left, RGB8)
    np.testing.assert_array_equal(pair.right, RGB8 ^ 1)
    assert pair.guide is None
    assert pair.source == {"left": str(left), "right": str(right)}


def test_a_pair_of_arrays_with_a_guide_of_another_kind(tmp_path):
    guide = save(tmp_path, by_opencv(".png", GREY16), "g.png")
    pair = read_pair(RGB8, RGB8, guide)
    np.testing.assert_array_equal(pair.guide, GREY16)
    assert pair.source == {"guide": str(guide)}


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        (RGB8[:, 1:], "52x37"),
        (GREY8[1:], "53x36"),
    ],
)
def test_views_that_differ_in_size_are_both_named(tmp_path, right, expected):
    left_path, right_path = save(tmp_path, PNG8, "l.png"), save(tmp_path, by_opencv(".png", right), "r.png")
    with pytest.raises(InputError, match=f"r.png is {expected} but .*l.png is 53x37: give images of the same size$"):
        read_pair(left_path, right_path)
    with pytest.raises(InputError, match=f"^right is {expected} but left is 53x37: "):
        read_pair(RGB8, right)


@pytest.mark.parametrize("right", [GREY8, RGB16, RGB8 / np.float32(255)])
def test_views_may_differ_in_channels_and_type(right):
    pair = read_pair(RGB8, right)
    assert (pair.left.dtype, pair.right.dtype) == (np.uint8, right.dtype)
    assert pair.right.shape == right.shape


def test_empty_paths_name_the_argument():
    with pytest.raises(InputError, match=r"^right is an empty path: "):
        read_pair(RGB8, "")
    with pytest.raises(InputError, match=r"^path is empty: "):
        read_image("")


def test_a_guide_of_another_size():
    with pytest.raises(InputError, match=r"^guide is 53x36 but left is 53x37: "):
        read_pair(RGB8, RGB8, GREY8[1:])


def test_the_package_reads_no_heavy_module_before_it_must():
    script = "import dualpix.io, sys; print([m for m in ('cv2', 'tifffile') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_relative_paths(tmp_path, monkeypatch):
    save(tmp_path, PNG8, "l.png")
    monkeypatch.chdir(tmp_path)
    assert probe("l.png").path == Path("l.png")
    with pytest.raises(InputError, match=r"^x\.png: no such file: check the path$"):
        probe("x.png")
