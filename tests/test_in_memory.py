"""Pictures in memory: what is harmless is taken, the rest is refused with a sentence that says what was given."""

import io
import re

import numpy as np
import pytest
from PIL import Image

import dualpix
from dualpix import InputError
from dualpix.io import load_image, load_stored

RNG = np.random.default_rng(3)
GREY = RNG.integers(0, 256, (12, 17), np.uint8)
RGB = RNG.integers(0, 256, (12, 17, 3), np.uint8)
GREY16 = RNG.integers(0, 65536, (12, 17), np.uint16)


class HasArray:
    """An array of another library that gives NumPy its values."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class HasDLPack:
    """An array of another library that speaks DLPack only, in the memory of a device."""

    def __init__(self, array, kind=1, can_copy=True):
        self.array, self.kind, self.can_copy = array, kind, can_copy
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, *, dl_device=None, **others):
        if self.kind != 1 and not (self.can_copy and dl_device == (1, 0)):
            raise BufferError("the memory of the device cannot be exported")
        return self.array.__dlpack__()


class Refuses:
    """As arrays of CuPy: implicit conversion is an error."""

    shape, dtype = (4, 5), "float32"

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed")


def png(image):
    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()


def turned_jpeg():
    """A grey JPEG that a viewer turns by 90 degrees."""
    exif = Image.Exif()
    exif[0x0112] = 6
    file = io.BytesIO()
    Image.fromarray(GREY).save(file, "JPEG", exif=exif)
    return file.getvalue()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(GREY[..., None], GREY, id="HxWx1"),
        pytest.param(np.dstack([RGB, GREY]), RGB, id="HxWx4"),
        pytest.param(GREY.astype(np.int32), GREY, id="int32"),
        pytest.param(GREY.astype(np.uint64), GREY, id="uint64"),
        pytest.param((GREY // 2).astype(np.int8), GREY // 2, id="int8"),
        pytest.param(GREY16.astype(np.int64), GREY16, id="16 bits in int64"),
        pytest.param(GREY16.astype(">u2"), GREY16, id="big-endian"),
        pytest.param(GREY.astype(">u2"), GREY.astype(np.uint16), id="dark big-endian"),
        pytest.param(GREY.astype(">i4"), GREY, id="big-endian int32"),
        pytest.param(GREY.tolist(), GREY, id="lists"),
        pytest.param(np.ma.masked_array(GREY), GREY, id="masked array without a mask"),
        pytest.param(memoryview(GREY), GREY, id="memoryview of an array"),
        pytest.param(HasArray(RGB), RGB, id="__array__"),
        pytest.param(HasDLPack(GREY), GREY, id="DLPack"),
        pytest.param(png(RGB), RGB, id="bytes"),
        pytest.param(bytearray(png(GREY16)), GREY16, id="bytearray"),
        pytest.param(memoryview(png(GREY)), GREY, id="memoryview of bytes"),
        pytest.param(Image.fromarray(RGB), RGB, id="Pillow RGB"),
        pytest.param(Image.fromarray(GREY16), GREY16, id="Pillow 16 bits"),
        pytest.param(Image.fromarray(np.dstack([RGB, GREY])), RGB, id="Pillow RGBA"),
        pytest.param(Image.fromarray(GREY).convert("LA"), GREY, id="Pillow grey with alpha"),
        pytest.param(Image.fromarray(GREY).convert("I"), GREY, id="Pillow int32"),
        pytest.param(Image.fromarray(GREY > 99), np.where(GREY > 99, np.uint8(255), np.uint8(0)), id="Pillow 1 bit"),
    ],
)
def test_harmless_pictures_are_taken(given, expected):
    np.testing.assert_array_equal(load_image(given, "left"), expected, strict=True)


def test_file_objects_are_read_from_where_they_are(tmp_path):
    path = tmp_path / "x.png"
    path.write_bytes(b"junk" + png(RGB))
    with open(path, "rb") as file:
        file.seek(4)
        np.testing.assert_array_equal(load_image(file, "left"), RGB)
        with pytest.raises(InputError, match=r"^left: the file object has no bytes left: seek\(0\) first$"):
            load_image(file, "left")


def test_palettes_of_pillow_become_colours():
    palette = Image.fromarray(RGB).quantize(16)
    np.testing.assert_array_equal(load_image(palette, "left"), np.asarray(palette.convert("RGB")), strict=True)


@pytest.mark.parametrize("given", [turned_jpeg(), Image.open(io.BytesIO(turned_jpeg()))], ids=["bytes", "Pillow"])
def test_encoded_pictures_are_turned_as_files_are(tmp_path, given):
    (tmp_path / "x.jpg").write_bytes(turned_jpeg())
    expected, orientation = load_stored(tmp_path / "x.jpg", "left")
    pixels, found = load_stored(given, "left")
    assert found == orientation == 6
    np.testing.assert_array_equal(pixels, expected)


@pytest.mark.skipif(tuple(map(int, np.__version__.split(".")[:2])) < (2, 1), reason="this NumPy cannot ask for a copy")
def test_arrays_on_a_device_are_copied_if_they_can_be():
    np.testing.assert_array_equal(load_image(HasDLPack(GREY, kind=2), "left"), GREY)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "is None: give a path, an array, or the bytes of an image file"),
        (3, "is an int: give a path"),
        ({"a": 1}, "is a dict: give a path"),
        (HasDLPack(GREY, 2, can_copy=False), r"HasDLPack of shape (12, 17) and type uint8 in the memory of a GPU"),
        (HasDLPack(GREY, 2, can_copy=False), "copy it to the CPU first, such as by .cpu() or .get()"),
        (Refuses(), "Refuses of shape (4, 5) and type float32, which NumPy cannot read (TypeError: Implicit"),
        (GREY[..., None, None], "shape (12, 17, 1, 1) and type uint8: give HxW, HxWx1, HxWx3 or HxWx4"),
        (np.moveaxis(RGB, -1, 0), "its channels first: move them to the end, such as by np.moveaxis(image, 0, -1)"),
        (RGB[None], "a batch of one: give the image in it, such as image[0]"),
        (np.dstack([GREY, GREY]), "shape (12, 17, 2) and type uint8: give"),
        (GREY.astype(int) - 1 - GREY.max(), "int64 values from -"),
        (GREY16.astype(int) * 2, "give 0 to 255, 0 to 65535, or float in [0, 1]"),
        (np.ma.masked_array(GREY, GREY > 9), "is a masked array, and a view has no holes"),
        (GREY > 9, "must hold uint8, uint16 or float values in [0, 1], not bool"),
        (GREY + 0j, "not complex128"),
        (np.zeros((0, 5), int), "no pixels"),
        ([[1, 2], [3]], "rows of different lengths"),
        (b"", "holds 0 bytes: give the bytes of an image file"),
        (b"not an image", "is in none of the formats read here"),
        (png(RGB)[:-40], "left: "),
        (io.StringIO("text"), "gives str: open it in binary mode ('rb')"),
    ],
)
def test_what_cannot_be_used_is_named(given, said):
    with pytest.raises(InputError, match=f"^left: .*{re.escape(said.removeprefix('left: '))}") as caught:
        load_image(given, "left")
    assert "\n" not in str(caught.value)


def test_a_closed_file_is_refused():
    file = io.BytesIO(png(GREY))
    file.close()
    with pytest.raises(InputError, match=r"^left: the file object cannot be read \(.*closed.*\): open it again$"):
        load_image(file, "left")


def test_a_damaged_picture_of_pillow_is_refused():
    with pytest.raises(InputError, match=r"^left: is damaged"):
        load_image(Image.open(io.BytesIO(png(RNG.integers(0, 256, (200, 200), np.uint8))[:-3000])), "left")


def test_a_picture_of_pillow_has_the_limit_of_files(monkeypatch):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "100")
    with pytest.raises(InputError, match=r"^left: .*17x12"):
        load_image(Image.fromarray(RGB), "left")


def test_integers_of_unclear_depth_are_refused():
    """Each view alone is clear; together they may be one dark pair of 16 bits."""
    dark, bright = np.full((9, 9), 200), np.full((9, 9), 300)
    pillow = [Image.fromarray(view.astype(np.int32)) for view in (dark, bright)]
    assert pillow[0].mode == "I"
    big_endian = [view.astype(">i8") for view in (dark, bright)]
    for views in ((dark, bright), (bright.tolist(), dark.tolist()), (HasArray(dark), bright), pillow, big_endian):
        with pytest.raises(InputError, match=r"^(left|right): .*8 or 16 bits: give uint8 or uint16 arrays$"):
            dualpix.read_pair(*views)
    assert dualpix.read_pair(dark, dark).left.dtype == np.uint8
    assert dualpix.read_pair(dark.astype(np.uint16), bright).right.dtype == np.uint16
    assert dualpix.read_pair(dark.astype(">u2"), bright.astype(">u2")).left.dtype == np.uint16
    assert dualpix.read_pair(png(GREY), png(GREY16)).left.dtype == np.uint8  # files say what they are


def test_every_kind_gives_the_same_map(pair):
    left, right = (view.astype(np.uint8) for view in pair)
    expected = dualpix.disparity(left, right, range=(-3, 3)).disparity
    for kind in (lambda x: x.astype(np.int32), Image.fromarray, png, lambda x: io.BytesIO(png(x)), HasDLPack):
        found = dualpix.disparity(kind(left), kind(right), range=(-3, 3), guide=kind(left))
        np.testing.assert_array_equal(found.disparity, expected)


def test_one_picture_in_memory_is_not_two_views():
    with pytest.raises(InputError, match=r"^right is missing: give both views, or the path of one file with both$"):
        dualpix.disparity(png(GREY))
