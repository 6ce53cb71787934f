"""Both views from one file, and the formats of images that OpenCV and libheif decode."""

import base64
import io
import json

import cv2
import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image

import dualpix
from conftest import textured_pair
from dualpix import InputError, ParameterError
from dualpix.camera.metric import Metric
from dualpix.camera.sensor import PIXEL_APP
from dualpix.io import _heif, one_file, probe, read_image, read_one, read_pair
from dualpix.io.orientation import as_stored, upright
from dualpix.io.photos import load_photo, read_photo
from dualpix.io.shot import Shot, read_shot
from image_files import by_opencv, exif, jpeg_with, save, segment
from test_captures import capture, pgm

LEFT, RIGHT = (np.rint(view).astype(np.uint8) for view in textured_pair((60, 80), 1.3))


def mpo(*images, **options):
    """An MPO by Pillow, as good as lossless."""
    first, *others = (Image.fromarray(image) for image in images)
    file = io.BytesIO()
    first.save(file, "MPO", save_all=True, append_images=others, quality=100, subsampling=0, **options)
    return file.getvalue()


def pages(*images, **options):
    file = io.BytesIO()
    with tifffile.TiffWriter(file) as tiff:
        for image in images:
            tiff.write(image, photometric="rgb" if image.ndim == 3 else "minisblack", metadata=None, **options)
    return file.getvalue()


# ---- one file ------------------------------------------------------------------------------------


def check(pair, left=LEFT, right=RIGHT, tolerance=0):
    for found, expected in ((pair.left, left), (pair.right, right)):
        assert np.abs(found.astype(int) - expected).max() <= tolerance


@pytest.mark.parametrize(("layout", "axis"), [("side-by-side", 1), ("top-bottom", 0)])
def test_halves_of_a_picture(tmp_path, layout, axis):
    path = save(tmp_path, by_opencv(".png", np.concatenate([LEFT, RIGHT], axis)))
    check(read_pair(path, layout=layout))
    check(read_pair(path, layout=layout, first="right"), RIGHT, LEFT)
    assert read_one(path, layout=layout).source == {"left": str(path), "right": str(path)}


def test_halves_are_those_a_viewer_shows(tmp_path):
    both = np.concatenate([LEFT, RIGHT], axis=1)
    data = by_opencv(".jpg", as_stored(both, 6), cv2.IMWRITE_JPEG_QUALITY, 100)
    path = save(tmp_path, jpeg_with(data, segment(0xE1, b"Exif\0\0" + exif(6))))
    pair = read_pair(path, layout="side-by-side")
    check(pair, tolerance=3)
    assert pair.orientation == 1


def test_an_mpo(tmp_path):
    path = save(tmp_path, mpo(LEFT, RIGHT), "a.mpo")
    check(read_pair(path), tolerance=3)
    check(read_pair(path, first="right"), RIGHT, LEFT, tolerance=3)
    check(read_one(save(tmp_path, mpo(LEFT, RIGHT, LEFT[::4, ::4]), "b.mpo")), tolerance=3)  # a preview is no view
    orientation = Image.Exif()
    orientation[274] = 3
    assert read_one(save(tmp_path, mpo(LEFT, RIGHT, exif=orientation), "c.mpo")).orientation == 3


@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_two_pages(tmp_path, compression, dtype):
    views = [view.astype(dtype) * (257 if dtype == np.uint16 else 1) for view in (LEFT, RIGHT)]
    path = save(tmp_path, pages(*views, compression=compression), "a.tif")
    check(read_pair(path), *views)
    assert read_pair(path).left.dtype == dtype


def test_two_pages_that_opencv_decodes(tmp_path):
    colour = [np.dstack([view, view // 2, 255 - view]) for view in (LEFT, RIGHT)]
    file = io.BytesIO()
    Image.fromarray(colour[0]).save(
        file, "TIFF", save_all=True, append_images=[Image.fromarray(colour[1])], compression="tiff_lzw"
    )
    check(read_pair(save(tmp_path, file.getvalue(), "a.tif")), *colour)


def test_a_capture_folder(tmp_path, call):
    views = capture(tmp_path / "data", "one", (60, 80))
    check(read_pair(tmp_path / "data"), views["left"], views["right"])
    code, out, _ = call("disparity", tmp_path / "data", "-o", tmp_path / "out.tiff", "--json")
    assert code == 0
    assert json.loads(out)["inputs"]["guide"].endswith("result_scaled_image_center.jpg")
    assert call("split", tmp_path / "data", "-o", tmp_path / "views")[0] == 0
    assert tifffile.imread(tmp_path / "views/picture.tiff").shape == (60, 80, 3)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "views/left.tiff"), views["left"].astype(int) * 257)


def test_the_pixel_capture_app(tmp_path):
    texture = np.random.default_rng(0).integers(4096, 60000, PIXEL_APP).astype(np.uint16)
    left = pgm(tmp_path / "20200101_120000_000_left.pgm", texture)
    with pytest.raises(InputError, match="is one picture: give the other view too"):
        read_one(left)
    right = pgm(tmp_path / "20200101_120000_000_right.pgm", np.roll(texture, 1, axis=1))
    pair = read_one(left)
    assert pair.pixel_aspect == 2
    assert pair.source == {"left": str(left), "right": str(right)}
    assert one_file.files_of(left) == pair.source
    small = dualpix.disparity(left, preset="auto", range=(-1, 1), iterations=(1,), axis="x")
    assert small.disparity.shape == PIXEL_APP
    assert small.plan.frame.aspect == 2


def test_the_map_of_one_file_is_that_of_two(tmp_path, call):
    cv2.imwrite(str(tmp_path / "l.png"), LEFT)
    cv2.imwrite(str(tmp_path / "r.png"), RIGHT)
    both = save(tmp_path, by_opencv(".png", np.hstack([LEFT, RIGHT])), "both.png")
    two = ("disparity", tmp_path / "l.png", tmp_path / "r.png", "-o", tmp_path / "two.npy", "--quiet")
    one = ("disparity", both, "--layout", "side-by-side", "-o", tmp_path / "one.npy", "--quiet")
    assert call(*two)[0] == call(*one)[0] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "one.npy"), np.load(tmp_path / "two.npy"))


BAD = {
    "plain": (
        by_opencv(".png", LEFT),
        {},
        r"is one picture: give the other view too or, if it holds both, layout=side-by-side or layout=top-bottom$",
    ),
    "odd": (by_opencv(".png", LEFT[:, :79]), {"layout": "side-by-side"}, r"its width, 79, is odd and cannot be halved"),
    "no image": (b"nothing of the kind", {}, r"is in none of the formats read here"),
    "empty": (b"", {}, r"is empty: copy or export it again"),
    "mpo cut short": (mpo(LEFT, RIGHT)[:-50], {}, r"is cut short: copy or export it again"),
    "three pages": (pages(LEFT, LEFT, LEFT), {}, r"holds 3 images"),
    "pages of two sizes": (pages(LEFT, LEFT[1:]), {}, r"holds 2 images"),
    "pages cut short": (pages(LEFT, RIGHT)[:-9], {}, r"is (cut short|a damaged TIFF)"),
    "an mpo with a layout": (mpo(LEFT, RIGHT), {"layout": "top-bottom"}, r"is an MPO, .*: leave out layout=$"),
}


@pytest.mark.parametrize("case", BAD)
def test_files_without_two_views(tmp_path, case):
    data, options, said = BAD[case]
    path = save(tmp_path, data, "file.dat")
    with pytest.raises(InputError, match=f"^{path}: {said}"):
        read_pair(path, **options)


def test_arguments_that_do_not_fit(tmp_path, call):
    with pytest.raises(InputError, match=r"^right is missing: give both views, or the path of one file with both$"):
        read_pair(LEFT)
    with pytest.raises(ParameterError, match=r"^layout= and first= say how one file holds both views"):
        read_pair(LEFT, RIGHT, layout="side-by-side")
    path = save(tmp_path, by_opencv(".png", LEFT), "a.png")
    with pytest.raises(ParameterError, match=r"^layout must be side-by-side or top-bottom, not 'both'$"):
        read_pair(path, layout="both")
    code, _, err = call("split", path, "-o", tmp_path / "views", "--linear", "--layout", "top-bottom")
    assert (code, err) == (
        2,
        f"error: {path}: is not a raw file, so its linear light is not known: leave out --linear\n",
    )
    assert not (tmp_path / "views").exists()
    for output in (path, tmp_path / "left_pd"):
        assert call("disparity", path, "--layout", "top-bottom", "-o", output)[0] == 2


def test_an_output_never_replaces_the_other_view(tmp_path, call):
    left, right = (pgm(tmp_path / f"a_{side}.pgm", LEFT.astype(np.uint16) * 256) for side in ("left", "right"))
    before = right.read_bytes()
    link = tmp_path / "out.tiff"
    link.symlink_to(right)
    code, _, err = call("disparity", left, "-o", link, "--force")
    assert code == 2
    assert "is an input and would be overwritten" in err
    assert right.read_bytes() == before


# ---- photos --------------------------------------------------------------------------------------


def test_the_photo_of_one_file_is_that_of_its_map(tmp_path):
    plain = save(tmp_path, by_opencv(".png", LEFT), "plain.png")
    both = save(tmp_path, by_opencv(".png", np.concatenate([LEFT, RIGHT], 1)), "both.png")
    two = save(tmp_path, pages(LEFT, RIGHT), "two.tif")
    for path, options, expected in (
        (plain, {}, LEFT),
        (both, {}, np.concatenate([LEFT, RIGHT], 1)),
        (both, {"layout": "side-by-side"}, LEFT),
        (both, {"layout": "side-by-side", "first": "right"}, RIGHT),
        (two, {}, LEFT),
        (two, {"first": "right"}, RIGHT),
    ):
        np.testing.assert_array_equal(read_photo(path, **options), expected)
    views = capture(tmp_path / "data", "one", (60, 80))
    assert read_photo(tmp_path / "data").shape == (*views["left"].shape, 3)
    np.testing.assert_array_equal(load_photo(LEFT, "photo"), LEFT)
    for wrong in ("", tmp_path / "missing.png", tmp_path):
        with pytest.raises(InputError):
            load_photo(wrong, "photo")


def test_a_turned_mpo_is_upright_as_photo(tmp_path):
    path = save(tmp_path, mpo(LEFT, RIGHT, exif=turned(6)), "turned.mpo")
    assert np.abs(read_photo(path).astype(int) - upright(LEFT, 6)).max() <= 3


@pytest.mark.parametrize("first", ["left", "right"])
def test_a_cloud_of_halves_shows_the_left_one(tmp_path, call, first):
    path = save(tmp_path, by_opencv(".png", np.concatenate([LEFT, RIGHT], 1)), "both.png")
    out = tmp_path / f"{first}.exr"
    line = ("disparity", path, "--layout", "side-by-side", "--first", first, "--range", "-4", "4", "-o", out)
    assert call(*line)[0] == 0
    OpenEXR = pytest.importorskip("OpenEXR")
    light = OpenEXR.File(str(out), separate_channels=True).channels()["R"].pixels
    display = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    np.testing.assert_allclose(255 * display, LEFT if first == "left" else RIGHT, atol=0.01)


def test_a_guide_of_another_size_is_the_photo_too(tmp_path, call):
    views = [save(tmp_path, by_opencv(".png", view), f"{name}.png") for name, view in (("l", LEFT), ("r", RIGHT))]
    guide = save(tmp_path, by_opencv(".png", cv2.resize(LEFT, None, fx=2, fy=2)), "guide.png")
    out = tmp_path / "out.ply"
    assert call("disparity", *views, "--guide", guide, "--range", "-4", "4", "-o", out)[0] == 0
    code, _, err = call("disparity", *views, "--photo", guide, "--range", "-4", "4", "-o", tmp_path / "no.ply")
    assert code == 2
    assert "guide.png" in err
    assert not (tmp_path / "no.ply").exists()


# ---- guides --------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.5, 2])
def test_a_guide_of_another_size_is_resampled(tmp_path, scale):
    ramp = np.broadcast_to(np.arange(80, dtype=np.float32) * 3, (60, 80))
    guide = cv2.resize(ramp, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    pair = read_pair(LEFT, RIGHT, guide / 255)
    np.testing.assert_allclose(pair.guide[:, 4:-4] * 255, ramp[:, 4:-4], atol=1)
    turned = [
        save(tmp_path, jpeg_with(by_opencv(".jpg", as_stored(view, 6)), segment(0xE1, b"Exif\0\0" + exif(6))), name)
        for name, view in (("l.jpg", LEFT), ("r.jpg", RIGHT))
    ]
    assert read_pair(*turned, guide / 255).guide.shape == (80, 60)


# ---- formats of images ---------------------------------------------------------------------------

y, x = np.mgrid[0:37, 0:53]
PHOTO = np.dstack([x * 4, y * 6, np.full_like(x, 90)]).astype(np.uint8)


def turned(orientation):
    """EXIF data with this orientation. Pillow takes it out when it writes an AVIF."""
    data = Image.Exif()
    data[274] = orientation
    return data


def by_pillow(kind, image=PHOTO, **options):
    file = io.BytesIO()
    Image.fromarray(image).save(file, kind, **options)
    return file.getvalue()


def jp2(image, suffix=".jp2"):
    return by_opencv(suffix, image, cv2.IMWRITE_JPEG2000_COMPRESSION_X1000, 1000)


FILES = {
    "lossless.webp": (by_pillow("WEBP", lossless=True), 0, 1),
    "lossy.webp": (by_pillow("WEBP", quality=98), 8, 1),
    "turned.webp": (by_pillow("WEBP", upright(PHOTO, 8), lossless=True, exif=turned(6)), 0, 6),
    "photo.bmp": (by_pillow("BMP"), 0, 1),
    "photo.jp2": (by_pillow("JPEG2000", irreversible=False), 0, 1),
    "opencv.jp2": (jp2(PHOTO), 0, 1),
    "photo.avif": (by_pillow("AVIF", quality=100, subsampling="4:4:4"), 4, 1),
    "turned.avif": (by_pillow("AVIF", upright(PHOTO, 8), quality=100, subsampling="4:4:4", exif=turned(6)), 4, 6),
}


@pytest.mark.parametrize("name", FILES)
def test_a_photo_in_many_formats(tmp_path, name):
    data, tolerance, orientation = FILES[name]
    path = save(tmp_path, data, name)
    found = read_image(path)
    assert found.shape == PHOTO.shape
    assert np.abs(found.astype(int) - PHOTO).max() <= tolerance
    info = probe(path)
    assert (info.width, info.height) == ((53, 37) if orientation == 1 else (37, 53))
    assert (info.channels, info.dtype, info.orientation) == (3, "uint8", orientation)


def test_grey_and_16_bits(tmp_path):
    grey = PHOTO[..., 0]
    for name, data in {"a.jp2": jp2(grey), "b.jp2": jp2(grey.astype(np.uint16) * 257)}.items():
        found = read_image(save(tmp_path, data, name))
        assert (found.ndim, found.dtype) == (2, np.uint8 if name == "a.jp2" else np.uint16)
        np.testing.assert_array_equal(found // (1 if name == "a.jp2" else 257), grey)
    for palette in (by_pillow("BMP", grey), by_opencv(".bmp", grey)):
        np.testing.assert_array_equal(read_image(save(tmp_path, palette)), np.dstack([grey] * 3))


@pytest.mark.parametrize("name", [*FILES, "photo.heic"])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_files_cut_short(tmp_path, name, part):
    data = HEIC if name == "photo.heic" else FILES[name][0]
    path = save(tmp_path, data[: int(len(data) * part)], name)
    with pytest.raises(InputError, match=r"is (a )?(damaged|cut short)"):
        read_image(path)


def test_sizes_are_checked_before_pixels_are_decoded(tmp_path, monkeypatch):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "100")
    for name, (data, *_) in {**FILES, "photo.heic": (HEIC,)}.items():
        with pytest.raises(InputError, match="pixels, over the limit of 100"):
            read_image(save(tmp_path, data, name))


def test_kinds_that_are_refused(tmp_path):
    animated = io.BytesIO()
    Image.fromarray(PHOTO).save(animated, "WEBP", save_all=True, append_images=[Image.fromarray(PHOTO // 2)])
    false_depth = FILES["photo.avif"][0].replace(b"\x03\x08\x08\x08", b"\x03\x0a\x0a\x0a")
    for data, said in {animated.getvalue(): "is an animated WebP", false_depth: "is damaged"}.items():
        with pytest.raises(InputError, match=said):
            read_image(save(tmp_path, data))


# ---- AVIF of more bits, turned and mirrored ------------------------------------------------------


@pytest.mark.parametrize("bits", [10, 12])
@pytest.mark.parametrize("stated", [True, False])
def test_avif_of_more_bits(tmp_path, bits, stated):
    """Written by imagecodecs, without loss. `stated` is whether the property pixi says how many bits there are."""
    full = 2**bits - 1
    codes = np.random.default_rng(bits).integers(0, full + 1, PHOTO.shape, np.uint16)
    codes[0, 0], codes[0, 1] = 0, full
    data = imagecodecs.avif_encode(codes, level=100, bitspersample=bits, pixelformat="444")
    np.testing.assert_array_equal(imagecodecs.avif_decode(data), codes)
    assert data.count(b"pixi") == 1
    path = save(tmp_path, data if stated else data.replace(b"pixi", b"free"), "photo.avif")
    info, found = probe(path), read_image(path)
    assert (info.width, info.height, info.dtype, found.dtype) == (53, 37, "uint16", np.uint16)
    assert (found[0, 0].tolist(), found[0, 1].tolist()) == ([0] * 3, [65535] * 3)
    np.testing.assert_array_equal(np.rint(found / 65535 * full), codes)


def test_a_grey_avif_of_10_bits(tmp_path):
    codes = np.arange(37 * 53, dtype=np.uint16).reshape(37, 53) % 1024
    data = imagecodecs.avif_encode(codes, level=100, bitspersample=10, pixelformat="400")
    found = read_image(save(tmp_path, data, "grey.avif"))
    np.testing.assert_array_equal(np.rint(found / 65535 * 1023), np.dstack([codes] * 3))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_avif_in_every_orientation(tmp_path, orientation):
    """Pillow writes the EXIF orientation as the properties irot and imir."""
    stored = as_stored(PHOTO, orientation)
    data = by_pillow("AVIF", stored, quality=100, subsampling="4:4:4", exif=turned(orientation))
    assert (b"irot" in data, b"imir" in data) == (orientation in (3, 5, 6, 7, 8), orientation in (2, 4, 5, 7))
    path = save(tmp_path, data, "photo.avif")
    assert np.abs(read_image(path).astype(int) - PHOTO).max() <= 4
    info = probe(path)
    assert (info.width, info.height, info.orientation) == (*stored.shape[1::-1], orientation)


def test_the_map_of_a_mirrored_avif_pair_is_mirrored(tmp_path):
    """As that of a JPEG pair is: the views are matched as stored, so larger is nearer."""
    maps = []
    for orientation in (1, 2):
        files = [
            save(
                tmp_path,
                by_pillow("AVIF", np.dstack([view] * 3), quality=100, exif=turned(orientation)),
                f"{name}.avif",
            )
            for name, view in (("l", LEFT), ("r", RIGHT))
        ]
        maps.append(dualpix.disparity(*files, axis="x", range=(-4, 4)).disparity)
    assert np.ptp(maps[0]) > 0
    np.testing.assert_array_equal(maps[1], maps[0][:, ::-1])


@pytest.mark.parametrize(("axis", "orientation"), [(0, 4), (1, 2)])
def test_a_mirrored_heic(tmp_path, axis, orientation):
    """libheif turns it upright, and so the header must say the same."""
    pytest.importorskip("pi_heif")
    path = save(tmp_path, HEIC.replace(b"irot\x03", b"imir" + bytes([axis])), "photo.heic")
    info = probe(path)
    assert (info.width, info.height, info.orientation) == (24, 16, orientation)
    assert np.abs(read_image(path).astype(int) - upright(HEIC_STORED, orientation)).max() <= 8


def test_a_heic_that_is_mirrored_before_it_is_turned(tmp_path):
    """The properties count in the order of the file: libheif does it so."""
    pi_heif = pytest.importorskip("pi_heif")
    # pixi, the fifth property, becomes imir and is moved behind clap, the fourth.
    data = HEIC.replace(b"pixi\0\0\0\0\x03\x08\x08\x08", b"imir\x01" + bytes(7))
    data = data.replace(b"\x81\x02\x03\x05\x84\x86", b"\x81\x02\x03\x84\x85\x86")
    for turn in range(4):
        changed = data.replace(b"irot\x03", b"irot" + bytes([turn]))
        path = save(tmp_path, changed, f"{turn}.heic")
        shown = np.array(pi_heif.open_heif(changed))
        np.testing.assert_array_equal(read_image(path), shown)
        wanted = np.rot90(HEIC_STORED[:, ::-1], turn)
        assert np.abs(shown.astype(int) - wanted).max() <= 8
        assert np.abs(upright(HEIC_STORED, probe(path).orientation) - wanted).max() == 0


# 24x16 pixels, red grows along x and green along y, stored to be turned by 90 degrees; written by libheif.
HEIC = base64.b64decode(
    "AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAcltZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA"
    "ADRpbG9jAAAAAERAAAIAAQAAAAAB7QABAAAAAAAAASUAAgAAAAADEgABAAAAAAAAACQAAAA4aWluZgAAAAAAAgAAABVpbmZlAgAA"
    "AAABAABodmMxAAAAABVpbmZlAgAAAQACAABFeGlmAAAAAA5waXRtAAAAAAABAAABCGlwcnAAAADnaXBjbwAAAHdodmNDAQQIAAAA"
    "njgAAAAAHvAA/P/4+AAADwNgAAEAF0ABDAH//wQIAAADAJ44AAADAAAeugJAYQABACpCAQEECAAAAwCeOAAAAwAAHpAEECCy3VXT"
    "XNwENBgQAAADAZAAAAMAEIBiAAEACEQBwXMYMBiQAAAAE2NvbHJuY2x4AAEADQAGgAAAABRpc3BlAAAAAAAAAEAAAABAAAAAKGNs"
    "YXAAAAAYAAAAAQAAABAAAAAB////2AAAAAL////QAAAAAgAAABBwaXhpAAAAAAMICAgAAAAJaXJvdAMAAAAZaXBtYQAAAAAAAAAB"
    "AAEGgQIDBYSGAAAAGmlyZWYAAAAAAAAADmNkc2MAAgABAAEAAAFRbWRhdAAAASEoAa8Gsh/sgfCRrDDDYWTSHkSaGCgwCNP8E/O9"
    "FItFyo6jIddIXfWhyUFsXQ3MtBkhF6+0NZvUzXNrc0qgPrJubdtTQH5FGxo9XvX7+sbQxe1YTJvqnrEGGSofkHEQMD4XJ39NQdcl"
    "uun/ZSxMF4GFLW+N+QqGHnwKMeenptWUm/CQz9a1SfqofSYfzZtlizjzH374cgB/nM5HGCMTL1WVmu3XwodUeDb9MXEnhZgoUAYe"
    "PVpeRBSteL2Q3Z22ZrXea4BFRo4ZoDzOF/Be/0v9aH/0vbrPP/yU3CPJuZic+p9/wPg4hTdfC4H1GTKGWb/05VKgLZKWCbs+eqQE"
    "9cpDS7c8u9D+FkDaYjA3oU/GdW7OO3Xz5j9LPp1/iYkUjG/gAAAABkV4aWYAAE1NACoAAAAIAAEBEgADAAAAAQAGAAAAAAAA"
)


y, x = np.mgrid[0:16, 0:24]
HEIC_STORED = np.dstack([x * 10, y * 15, np.full_like(x, 90)])


def test_heic(tmp_path):
    pytest.importorskip("pi_heif")
    path = save(tmp_path, HEIC, "photo.heic")
    info = probe(path)
    assert (info.width, info.height, info.orientation) == (24, 16, 6)
    assert np.abs(read_image(path).astype(int) - upright(HEIC_STORED, 6)).max() <= 8


def test_damaged_metadata_of_a_heic_does_no_harm(tmp_path):
    """libheif's Python module crashed on this one."""
    pytest.importorskip("pi_heif")
    data = bytearray(HEIC)
    data[65], data[178] = 20, 217
    assert read_image(save(tmp_path, bytes(data), "photo.heic")).shape == (24, 16, 3)


def test_heic_needs_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(_heif, "missing", lambda package: package == "pi_heif")
    with pytest.raises(InputError, match=r"is a HEIC image, which needs libheif: pip install 'dualpix\[heic\]'$"):
        read_image(save(tmp_path, HEIC, "photo.heic"))


# ---- info ----------------------------------------------------------------------------------------


def test_info_describes_what_can_be_read(tmp_path, call):
    orientation = Image.Exif()
    orientation[271], orientation[272] = "Google", "Pixel 4"
    orientation.get_ifd(34665).update(
        {33437: 1.73, 37386: 4.38, 41486: 7142.86, 41488: 4, 37382: 0.8, 40962: 4032, 40963: 3024}
    )
    files = [
        save(tmp_path, by_pillow("JPEG", exif=orientation), "a.jpg"),
        save(tmp_path, mpo(LEFT, RIGHT), "b.mpo"),
        save(tmp_path, pages(LEFT, RIGHT), "c.tif"),
        save(tmp_path, by_pillow("WEBP", exif=orientation), "d.webp"),
    ]
    lens = tmp_path / "lens.json"
    lens.write_text(dualpix.Calibration(80, 60, camera="R6 II, 50 mm").to_json())
    code, out, err = call("info", *files, lens)
    assert (code, err) == (0, "")
    lines = [line.partition(": ")[2] for line in out.splitlines()]
    assert lines[0] == "JPEG 53x37 RGB uint8, Google Pixel 4, 4.38 mm, F1.73, focus at 0.8 m"
    assert lines[1] == "JPEG 80x60 grey uint8, both views"
    assert lines[2] == "TIFF 80x60 grey uint8, both views"
    assert "Google Pixel 4" in lines[3]
    assert lines[4] == "calibration for 80x60, R6 II, 50 mm, along x: nothing"
    records = json.loads(call("info", "--json", files[0], lens)[1])["files"]
    assert records[0]["shot"]["pixel_pitch"] == pytest.approx(1.4e-4, rel=1e-3)
    assert records[0]["shot"]["sensor_width"] == pytest.approx(0.5645, rel=1e-3)
    assert records[1]["format"] == "calibration"
    lens.write_text(dualpix.Calibration(80, 60, metric=Metric(0.8, 2.0, 0.05)).to_json())
    assert call("info", lens)[1].endswith("along x: metres, focus at 1.3 m\n")


def test_info_of_a_json_that_is_no_calibration(tmp_path, call):
    path = save(tmp_path, b"{}", "a.json")
    code, _, err = call("info", path)
    assert code == 2
    assert "is not a calibration" in err


def test_damaged_tags_count_as_absent(tmp_path):
    block = by_pillow("JPEG", exif=turned(6))
    start = block.index(b"Exif\0\0") + 6
    rng = np.random.default_rng(0)
    for _ in range(200):
        data = bytearray(block)
        for place in rng.integers(start, start + 40, 3):
            data[place] = rng.integers(256)
        assert isinstance(read_shot(save(tmp_path, bytes(data))), Shot)
