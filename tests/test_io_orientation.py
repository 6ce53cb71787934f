"""EXIF orientation: found in every format that has it, and turned as viewers do."""

import struct

import cv2
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import dualpix
from dualpix import InputError
from dualpix.cli import main
from dualpix.io import _exif, load_image, load_stored, probe, read_image, read_map, read_pair
from dualpix.io.captures import read_capture
from dualpix.io.orientation import as_stored, swaps_axes, upright
from image_files import by_opencv, by_tifffile, chunk, exif, jpeg_with, png_with, save, segment

STORED = np.array([[1, 2, 3], [4, 5, 6]], np.uint8)
UPRIGHT = {
    1: [[1, 2, 3], [4, 5, 6]],
    2: [[3, 2, 1], [6, 5, 4]],  # mirrored left to right
    3: [[6, 5, 4], [3, 2, 1]],  # half a turn
    4: [[4, 5, 6], [1, 2, 3]],  # mirrored top to bottom
    5: [[1, 4], [2, 5], [3, 6]],  # transposed
    6: [[4, 1], [5, 2], [6, 3]],  # a quarter clockwise
    7: [[6, 3], [5, 2], [4, 1]],  # transposed along the other diagonal
    8: [[3, 6], [2, 5], [1, 4]],  # a quarter counterclockwise
}
EIGHT = list(UPRIGHT)

# ---- arrays --------------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", EIGHT)
def test_images_are_turned_as_viewers_do(orientation):
    turned = upright(STORED, orientation)
    np.testing.assert_array_equal(turned, np.array(UPRIGHT[orientation], np.uint8), strict=True)
    assert turned.flags.c_contiguous
    colours = upright(np.dstack([STORED, STORED + 10, STORED + 20]), orientation)
    np.testing.assert_array_equal(colours, np.dstack([turned, turned + 10, turned + 20]), strict=True)
    assert colours.flags.c_contiguous
    assert swaps_axes(orientation) == (turned.shape == (3, 2))


@given(
    arrays(
        np.uint16, st.tuples(st.integers(1, 5), st.integers(1, 5)) | st.tuples(*[st.integers(1, 4)] * 2, st.just(3))
    ),
    st.sampled_from(EIGHT),
)
def test_turning_back_gives_the_stored_pixels(image, orientation):
    back = as_stored(upright(image, orientation), orientation)
    np.testing.assert_array_equal(back, image, strict=True)
    assert back.flags.c_contiguous
    np.testing.assert_array_equal(upright(as_stored(image, orientation), orientation), image, strict=True)


# ---- EXIF data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("orientation", EIGHT)
def test_the_tag_is_found_in_both_byte_orders(orientation, order):
    assert _exif.orientation(exif(orientation, order)) == orientation
    assert _exif.orientation(b"Exif\0\0" + exif(orientation, order)) == orientation


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("value", [0, 9, 256, 65535])
def test_other_values_count_as_upright(value, order):
    assert _exif.orientation(exif(value, order)) == 1


@pytest.mark.parametrize("kind", [b"\x02", b"\x04", b"\x05"])
def test_a_tag_of_the_wrong_type_counts_as_upright(kind):
    assert _exif.orientation(exif(6).replace(b"\x12\x01\x03", b"\x12\x01" + kind)) == 1


@given(st.binary(max_size=80) | st.binary(max_size=60).map(lambda tail: b"II*\0\x08\0\0\0" + tail))
@example(b"")
@example(b"MM\0*")
@example(b"II*\0\xff\xff\xff\xff\x01\0")
@example(b"II*\0\x08\0\0\0\x05")
@example(b"II*\0\x08\0\0\0\xff\xff")
def test_damaged_data_never_fails(data):
    assert 1 <= _exif.orientation(data) <= 8


@given(st.data(), st.sampled_from("<>"))
def test_changed_and_cut_data_never_fails(data, order):
    damaged = bytearray(exif(6, order))
    for _ in range(3):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    assert 1 <= _exif.orientation(bytes(damaged[: data.draw(st.integers(0, len(damaged)))])) <= 8


# ---- files ---------------------------------------------------------------------------------------

GREY = np.random.default_rng(3).integers(0, 256, (37, 53), np.uint8)
RGB = np.random.default_rng(4).integers(0, 256, (37, 53, 3), np.uint16) * np.uint16(257)
SMOOTH = cv2.GaussianBlur(GREY, (0, 0), 4)


def tiff(image, orientation, **options):
    return by_tifffile(image, extratags=[(274, 3, 1, orientation, True)], **options)


def lzw(image, orientation, kind=3):
    """A TIFF that OpenCV decodes, and would turn by itself; the tag stands in for one that has its default value."""
    data = by_opencv(".tif", image, cv2.IMWRITE_TIFF_COMPRESSION, 5)
    (start,) = struct.unpack_from("<I", data, 4)
    end = start + 2 + 12 * int.from_bytes(data[start : start + 2], "little")
    entries = [data[i : i + 12] for i in range(start + 2, end, 12)]
    kept = [entry for entry in entries if entry != struct.pack("<HHII", 284, 3, 1, 1)]
    assert len(kept) == len(entries) - 1
    kept.append(struct.pack("<HHII", 274, kind, 1, orientation))
    kept.sort(key=lambda entry: entry[1::-1])
    return data[: start + 2] + b"".join(kept) + data[end:]


def png_turned(image, orientation, order="<"):
    return png_with(by_opencv(".png", image), chunk(b"eXIf", exif(orientation, order)))


def jpeg(*segments):
    return jpeg_with(by_opencv(".jpg", SMOOTH, cv2.IMWRITE_JPEG_QUALITY, 98), *segments)


def app1(orientation, order="<"):
    return segment(0xE1, b"Exif\0\0" + exif(orientation, order))


XMP = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0<x/>")

LOSSLESS = {
    "png-grey": lambda o: (png_turned(GREY, o), GREY),
    "png-rgb-big-endian": lambda o: (png_turned(RGB, o, ">"), RGB),
    "tiff-grey": lambda o: (tiff(GREY, o), GREY),
    "tiff-rgb-big-endian": lambda o: (tiff(RGB, o, byteorder=">"), RGB),
    "tiff-bigtiff": lambda o: (tiff(GREY, o, bigtiff=True), GREY),
    "tiff-lzw": lambda o: (lzw(RGB, o), RGB),
    "tiff-lzw-long": lambda o: (lzw(GREY, o, kind=4), GREY),
}


@pytest.mark.parametrize("orientation", EIGHT)
@pytest.mark.parametrize("case", LOSSLESS)
def test_images_are_read_upright_and_maps_as_stored(tmp_path, case, orientation):
    data, image = LOSSLESS[case](orientation)
    path = save(tmp_path, data)
    info = probe(path)
    assert (info.orientation, info.width, info.height) == (orientation, 53, 37)
    for turned in (read_image(path), load_image(path, "left"), dualpix.io.load_image(str(path), "left")):
        np.testing.assert_array_equal(turned, upright(image, orientation), strict=True)
    stored, found = load_stored(path, "left")
    np.testing.assert_array_equal(stored, image, strict=True)
    assert found == orientation
    if image.ndim == 2:
        np.testing.assert_array_equal(read_map(path), image)


@pytest.mark.parametrize("orientation", EIGHT)
@pytest.mark.parametrize("segments", [lambda o: [app1(o)], lambda o: [XMP, app1(o, ">"), app1(3)]])
def test_jpeg(tmp_path, orientation, segments):
    path = save(tmp_path, jpeg(*segments(orientation)) + b"trailing")
    assert probe(path).orientation == orientation
    stored, found = load_stored(path, "left")
    assert found == orientation
    assert np.abs(stored.astype(int) - SMOOTH).mean() < 2
    np.testing.assert_array_equal(read_image(path), upright(stored, orientation))


NOT_TURNED = {
    "jpeg": jpeg(),
    "jpeg-xmp-only": jpeg(XMP),
    "jpeg-cut-exif": jpeg(segment(0xE1, b"Exif\0\0II*\0")),
    "jpeg-empty-exif": jpeg(segment(0xE1, b"Exif\0\0")),
    "jpeg-exif-after-the-pixels": jpeg() + app1(6),
    "png-bad-checksum": png_with(by_opencv(".png", SMOOTH), chunk(b"eXIf", exif(6))[:-1] + b"\0"),
    "png-damaged-exif": png_with(by_opencv(".png", SMOOTH), chunk(b"eXIf", b"garbage")),
    "tiff-value-9": tiff(SMOOTH, 9),
    "tiff-value-0": tiff(SMOOTH, 0),
    "tiff-text": by_tifffile(SMOOTH, extratags=[(274, 2, 2, "6", True)]),
    "tiff-two-values": by_tifffile(SMOOTH, extratags=[(274, 3, 2, (6, 6), True)]),
}


@pytest.mark.parametrize("case", NOT_TURNED)
def test_absent_or_damaged_exif_counts_as_upright(tmp_path, case):
    path = save(tmp_path, NOT_TURNED[case])
    assert probe(path).orientation == 1
    assert np.abs(read_image(path).astype(int) - SMOOTH).mean() < 2


def test_arrays_are_upright():
    image, orientation = load_stored(GREY, "left")
    np.testing.assert_array_equal(image, GREY, strict=True)
    assert orientation == 1


# ---- pairs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", EIGHT)
def test_a_pair_is_as_stored_and_its_guide_follows(tmp_path, orientation):
    left = save(tmp_path, png_turned(GREY, orientation), "left.png")
    right = save(tmp_path, tiff(GREY[::-1], orientation), "right.tif")
    pair = read_pair(left, right)
    np.testing.assert_array_equal(pair.left, GREY)
    np.testing.assert_array_equal(pair.right, GREY[::-1])
    assert (pair.orientation, pair.guide) == (orientation, None)
    shown = upright(RGB, orientation)
    for own in (1, 4, 6):  # however the guide is stored, what it shows is what counts
        guide = save(tmp_path, png_turned(as_stored(shown, own), own), "guide.png")
        found = read_pair(left, right, guide).guide
        np.testing.assert_array_equal(found, RGB, strict=True)
        assert found.flags.c_contiguous
    np.testing.assert_array_equal(read_pair(left, right, shown).guide, RGB)


def test_arrays_make_an_upright_pair():
    assert read_pair(GREY, GREY).orientation == 1


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        (6, 1, "left.png is to be turned (EXIF orientation 6) but right.png is not (1): give two views of one shot"),
        (1, 3, "right.png is to be turned (EXIF orientation 3) but left.png is not (1): give two views of one shot"),
        (
            6,
            8,
            "left.png is to be turned (EXIF orientation 6) but right.png differently (8): give two views of one shot",
        ),
    ],
)
def test_views_must_agree(tmp_path, monkeypatch, left, right, said):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, png_turned(GREY, left), "left.png")
    save(tmp_path, png_turned(GREY, right), "right.png")
    with pytest.raises(InputError) as error:
        read_pair("left.png", "right.png")
    assert str(error.value) == said


def test_a_guide_that_is_not_turned_with_the_views(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, png_turned(GREY, 6), "left.png")
    with pytest.raises(InputError, match=r"^guide is 53x37 but left\.png is 37x53: give an image of the same shape"):
        read_pair("left.png", "left.png", GREY)


def test_the_guide_of_a_capture_follows_its_views(tmp_path):
    small = cv2.resize(GREY, (20, 10))
    for name, data in {
        "left_pd/a/result_leftPd_center.png": png_turned(GREY[:20, :40], 6),
        "right_pd/a/result_rightPd_center.png": png_turned(GREY[:20, :40], 6),
        "scaled_images/a/result_scaled_image_center.jpg": by_opencv(".png", upright(small, 6)),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True)
        save(tmp_path, data, name)
    pair = read_capture(tmp_path)
    assert pair.orientation == 6
    np.testing.assert_array_equal(pair.guide, cv2.resize(small, (40, 20), interpolation=cv2.INTER_LINEAR))


def test_info_tells_the_orientation(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, png_turned(GREY, 6), "a.png")
    save(tmp_path, png_turned(GREY, 3), "b.png")
    assert main(["info", "a.png", "b.png"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.png: PNG 53x37 grey uint8, 37x53 upright (EXIF orientation 6)",
        "b.png: PNG 53x37 grey uint8, 53x37 upright (EXIF orientation 3)",
    ]
