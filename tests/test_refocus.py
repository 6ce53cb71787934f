"""Refocusing: the kernels against the oracle, what blur may do, and the command."""

import json
from importlib import import_module
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

import reference_render as reference
from conftest import ROOT
from dualpix import InputError, ParameterError, _core, cli
from dualpix.io import read_image, write_map
from dualpix.io.pictures import encode_picture, origin
from dualpix.render import refocus
from dualpix.render.openings import SHAPES, openings
from dualpix.render.refocusing import RADIUS, focus_of

SIZES = [(1, 1), (1, 9), (7, 1), (2, 3), (23, 31)]


def blocks(shape, seed, largest):
    """A map of blocks, slopes and single pixels, from -largest to largest."""
    rng = np.random.default_rng(seed)
    y, x = np.indices(shape)
    d = rng.uniform(-0.3, 0.3) * largest * (x / shape[1] + y / shape[0])
    for _ in range(5):
        top, left, height, width = (rng.random(4) * (*shape, *shape)).astype(int)
        d[top : top + height, left : left + width] = rng.uniform(-0.7, 0.7) * largest
    d[rng.random(shape) < 0.01] = largest
    return d.astype(np.float32)


def photo(shape, seed, dtype=np.float32):
    values = np.random.default_rng(seed).random(shape)
    return values.astype(dtype) if dtype == np.float32 else (values * np.iinfo(dtype).max).astype(dtype)


def codes_of(d, gain=RADIUS):
    codes = np.empty(d.shape, np.int16)
    _core.defocus_codes(d, codes, focus=0, gain=gain, threads=2)
    return codes


# ---- kernels -------------------------------------------------------------------------------------


def test_codes_agree_with_the_oracle():
    r = np.linspace(-300, 300, 20001, dtype=np.float32)[None]
    assert np.abs(codes_of(r, gain=1) - reference.code_of(r.astype(float))).max() <= 1  # rounding may differ at ties
    assert np.mean(codes_of(r, gain=1) != reference.code_of(r.astype(float))) < 1e-3
    exact = reference.radius_of(np.arange(334)) * np.where(np.arange(334) % 2, 1, -1)
    assert (np.abs(codes_of(exact[None].astype(np.float32), gain=1)) == np.arange(334)).all()


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("largest", [1, 6, 40])
def test_background_agrees_with_the_oracle(shape, largest):
    for seed in range(5):
        codes = codes_of(blocks(shape, seed, largest))
        behind = np.empty_like(codes)
        _core.find_background(codes, behind, threads=2)
        np.testing.assert_array_equal(behind, reference.background(codes.astype(int)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("largest", [0.4, 3, 9])
def test_refocus_agrees_with_the_oracle(shape, size, largest):
    d, image = blocks(size, 7, largest), photo((*size, 3), 8)
    expected = reference.refocus(image.astype(float), codes_of(d).astype(int), openings(shape, *size))
    found = refocus(image, d, focus=0.0, aperture=1, shape=shape, linear=True, threads=2)
    np.testing.assert_allclose(found, expected, atol=3e-6)


@pytest.mark.parametrize(("dtype", "step"), [(np.uint8, 1), (np.uint16, 3), (np.float32, 2e-5)])
def test_display_values_are_blurred_as_light(dtype, step):
    d, image = blocks((19, 24), 3, 4), photo((19, 24), 4, dtype)
    top = 1.0 if dtype == np.float32 else np.iinfo(dtype).max
    light = reference.to_linear(image / top)[..., None]
    expected = reference.to_srgb(reference.refocus(light, codes_of(d).astype(int), openings("disc", 19, 24)))[..., 0]
    found = refocus(image, d, focus=0.0, aperture=1)
    assert (found.dtype, found.shape) == (image.dtype, image.shape)
    assert np.abs(found.astype(float) - top * expected).max() <= step


def test_tiles_leave_no_seams():
    """Around the corner of four tiles, the picture is that of a crop."""
    d, image = blocks((300, 290), 5, 6), photo((300, 290, 3), 6)
    around = slice(200, None)
    whole = refocus(image, d, focus=0.0, aperture=1)[around, around]
    crop = refocus(image[around, around], d[around, around], focus=0.0, aperture=1)
    inner = slice(45, None)  # far enough from the border of the crop
    np.testing.assert_allclose(whole[inner, inner], crop[inner, inner], atol=2e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_same_bytes_for_any_threads(shape):
    d, image = blocks((530, 300), 1, 12), photo((530, 300, 3), 2, np.uint8)
    results = [refocus(image, d, focus=1.0, aperture=1, shape=shape, threads=n).tobytes() for n in (1, 2, 5)]
    assert len(set(results)) == 1


def test_the_kernel_refuses_nonsense():
    d, image, chords = np.zeros((4, 5), np.float32), np.zeros((4, 5, 3), np.float32), openings("disc", 4, 5)
    options = {"focus": 0.0, "gain": 1.0, "linear": True, "threads": 1}

    def refused(says, *args, **changes):
        with pytest.raises(ValueError, match=says):
            _core.refocus(*args, **(options | changes))

    refused("photo must", np.zeros((5, 4, 3), np.float32), d, chords, np.zeros((5, 4, 3), np.float32))
    refused("out must", image, d, chords, np.zeros((4, 6, 3), np.float32))
    refused("channels", np.zeros((4, 5, 2), np.float32), d, chords, np.zeros((4, 5, 2), np.float32))
    refused("chords must lie", image, d, 3 * chords, np.zeros_like(image))
    refused("open", image, d, 0 * chords, np.zeros_like(image))
    refused("finite", image, d, chords, np.zeros_like(image), focus=np.nan)
    refused("threads", image, d, chords, np.zeros_like(image), threads=0)
    with pytest.raises(ValueError, match="codes must"):
        _core.find_background(np.full((2, 2), 400, np.int16), np.zeros((2, 2), np.int16), threads=1)


# ---- what blur does ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_is_in_focus_keeps_its_values(dtype):
    values = np.arange(65536, dtype=dtype).reshape(256, 256)
    np.testing.assert_array_equal(refocus(values, np.full((256, 256), 1.5), focus=1.5, aperture=7), values)


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([0.2, 3.0, 30.0]), st.sampled_from(SHAPES), st.integers(0, 255))
def test_one_colour_stays_one_colour(seed, largest, shape, level):
    image = np.full((20, 31, 3), level, np.uint8)
    np.testing.assert_array_equal(
        refocus(image, blocks((20, 31), seed, largest), focus=0.0, aperture=1, shape=shape), image
    )


@pytest.mark.parametrize("d", [-8, 8])
def test_a_highlight_becomes_a_disc_of_the_stated_diameter(d):
    image = np.zeros((81, 81), np.float32)
    image[40, 40] = 1
    out = refocus(image, np.full(image.shape, d), focus=0.0, aperture=2, linear=True)
    radius = 2 * RADIUS * abs(d)
    y, x = np.indices(image.shape) - 40
    inside, outside = np.hypot(x, y) < radius - 1.5, np.hypot(x, y) > radius + 1.5
    assert out.sum() == pytest.approx(1, abs=1e-3)
    np.testing.assert_allclose(out[inside], 1 / (np.pi * radius**2), rtol=0.02)
    assert np.abs(out[outside]).max() < 1e-7


def test_far_things_never_blur_over_near_ones():
    image = np.zeros((60, 80), np.uint8)
    image[:, 40:] = 200  # a dark near object, sharp, in front of a bright wall
    d = np.where(np.arange(80) < 40, 5, -5) * np.ones((60, 1))
    out = refocus(image, d, focus=5.0, aperture=1)
    np.testing.assert_array_equal(out, image)  # no halo on either side


def test_near_things_blur_over_far_ones_without_a_hard_edge():
    image = np.zeros((60, 80), np.float32)
    image[:, 40:] = 1
    d = np.where(np.arange(80) < 40, 5, -3) * np.ones((60, 1))
    row = refocus(image, d, focus=-3.0, aperture=1, linear=True)[30]
    radius = 8 * RADIUS
    assert row[: int(40 - radius - 1)].max() < 1e-6
    assert row[int(40 + radius + 2) :].min() > 1 - 1e-6
    assert np.diff(row).min() > -1e-6
    assert np.diff(row).max() < 2.2 / (np.pi * radius)  # the slope of a half-plane blurred by a disc is 2 / (pi r)


@pytest.mark.parametrize("number", range(4))
def test_the_true_render_at_36_db(monkeypatch, number):
    """Random scenes with true hidden surfaces, rendered by the simulator. Sharp pictures have 29 dB at most."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    benchmark = import_module("refocus")
    light, u, truth = benchmark.scene(number, 0.05, disc=12, size=(200, 150))
    photo, truth = benchmark.to_srgb(light), benchmark.to_srgb(np.clip(truth, 0, 1))
    assert benchmark.psnr(refocus(photo, u, focus=0.0, aperture=1), truth) > 36
    assert benchmark.psnr(photo, truth) < 29


# ---- the function --------------------------------------------------------------------------------


def test_holes_of_the_map_are_filled():
    d, image = blocks((30, 40), 2, 3), photo((30, 40, 3), 2, np.uint8)
    d[:, :20] = 1
    holes = d.copy()
    holes[5:9, 4:9], holes[20, 7] = np.nan, np.inf
    np.testing.assert_array_equal(*(refocus(image, each, focus=(5, 5), aperture=2) for each in (d, holes)))


def test_focus_is_the_median_around_a_point_or_a_disparity():
    d = np.zeros((40, 50), np.float32)
    d[20:29, 30:39] = 2
    d[24, 34] = 50
    assert focus_of(d, (34, 24)) == 2
    assert focus_of(d, (0, 0)) == 0
    assert focus_of(d, np.float32(1.5)) == 1.5


@pytest.mark.parametrize("focus", [(50, 3), (-1, 3), (3, 40), (np.nan, 3), (1, 2, 3), "here", None, np.inf])
def test_focus_that_is_nowhere(focus):
    with pytest.raises(InputError, match="focus"):
        refocus(np.zeros((40, 50)), np.zeros((40, 50)), focus=focus, aperture=1)


@pytest.mark.parametrize(
    ("error", "says", "changes"),
    [
        (ParameterError, "aperture", {"aperture": 0}),
        (ParameterError, "aperture", {"aperture": float("nan")}),
        (ParameterError, "shape.*disc or hexagon or cat-eye", {"shape": "star"}),
        (InputError, "photo", {"photo": np.zeros((40, 50, 2))}),
        (InputError, r"disparity is 49x40 but photo is 50x40", {"disparity": np.zeros((40, 49))}),
        (InputError, "no valid pixel", {"disparity": np.full((40, 50), np.nan)}),
        (InputError, "discs of up to .* give at most", {"disparity": np.full((40, 50), 300.0)}),
        (InputError, "the map reaches from 1e.07 to 1e.07, .* out of range", {"disparity": np.full((40, 50), 1e7)}),
    ],
)
def test_wrong_arguments(error, says, changes):
    arguments = {"photo": np.zeros((40, 50)), "disparity": np.zeros((40, 50)), "focus": 0.0, "aperture": 1} | changes
    with pytest.raises(error, match=says):
        refocus(**arguments)


def test_the_aperture_that_an_error_suggests_is_possible():
    d = np.linspace(-3, 7, 60, dtype=np.float32).reshape(6, 10)
    with pytest.raises(InputError) as error:
        refocus(np.zeros((6, 10)), d, focus=0.0, aperture=900)
    refocus(np.zeros((6, 10)), d, focus=0.0, aperture=float(str(error.value).split()[-1]))


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a photo and its maps in px and in metres."""
    monkeypatch.chdir(tmp_path)
    cv2.imwrite("photo.png", photo((40, 50, 3), 1, np.uint8))
    d = blocks((40, 50), 1, 3)
    write_map("d.tiff", d)
    z = 0.05 + 1 / (0.8 + d / 10)
    write_map("z.tiff", z)
    metric = {"inverse_focus": 0.8, "a": 10.0, "lens_to_sensor": 0.05}
    Path("z.json").write_text(json.dumps({"dualpix": "0", "map": "z.tiff", "unit": "metres", "metric": metric}))
    return tmp_path


def test_the_command_writes_what_the_function_returns(folder, capfd):
    arguments = ["refocus", "photo.png", "d.tiff", "-o", "out.png", "--focus", "10,20", "--aperture", "2"]
    assert cli.main([*arguments, "--shape", "hexagon"]) == 0
    assert capfd.readouterr().out.startswith("out.png: 50x40, focus at disparity ")
    expected = refocus("photo.png", "d.tiff", focus=(10, 20), aperture=2, shape="hexagon")
    np.testing.assert_array_equal(read_image("out.png"), expected)
    assert cli.main([*arguments, "--json", "--force", "--linear"]) == 0
    record = json.loads(capfd.readouterr().out)
    assert record["focus"]["point"] == [10, 20]
    assert record["outputs"] == ["out.png"]
    expected = refocus("photo.png", "d.tiff", focus=(10, 20), aperture=2, linear=True)
    np.testing.assert_array_equal(read_image("out.png"), expected)


@pytest.mark.parametrize(("name", "most"), [("out.tif", 0), ("out.jpg", 20), ("out.JPEG", 20)])
def test_other_formats(folder, name, most):
    smooth = cv2.GaussianBlur(photo((40, 50, 3), 1, np.uint8), (0, 0), 4)
    cv2.imwrite("photo.png", smooth)
    cli.main(["refocus", "photo.png", "d.tiff", "-o", name, "--focus", "10,20", "--aperture", "2"])
    expected = refocus("photo.png", "d.tiff", focus=(10, 20), aperture=2)
    assert np.abs(read_image(name).astype(int) - expected).max() <= most


def test_a_fade_moves_the_focus_from_that_of_the_photo(folder, capfd):
    assert (
        cli.main(
            ["refocus", "photo.png", "d.tiff", "-o", "f.png", *["--focus", "10,20", "--aperture", "2", "--fade", "10"]]
        )
        == 0
    )
    assert capfd.readouterr().out.startswith("f-01.png to f-10.png: ")
    assert sorted(path.name for path in folder.glob("f*")) == [f"f-{i:02}.png" for i in range(1, 11)]
    np.testing.assert_array_equal(read_image("f-01.png"), refocus("photo.png", "d.tiff", focus=0.0, aperture=2))
    last = refocus("photo.png", "d.tiff", focus=(10, 20), aperture=2)
    np.testing.assert_array_equal(read_image("f-10.png"), last)


def test_a_map_in_metres_blurs_like_its_disparities(folder):
    assert cli.main(["refocus", "photo.png", "z.tiff", "-o", "out.tif", "--focus", "10,20", "--aperture", "2"]) == 0
    same = refocus("photo.png", "d.tiff", focus=(10, 20), aperture=2)
    assert np.abs(read_image("out.tif").astype(int) - same).max() <= 2  # a code may be rounded the other way
    assert cli.main(["refocus", "photo.png", "z.tiff", "-o", "at.tif", "--focus-depth", "1.3", "--aperture", "2"]) == 0
    same = refocus("photo.png", "d.tiff", focus=0.0, aperture=2)  # 1 / (1.3 - 0.05) = 0.8
    assert np.abs(read_image("at.tif").astype(int) - same).max() <= 2


def test_python_reads_the_unit_of_a_map(folder):
    of_px, of_metres = (refocus("photo.png", path, focus=1.0, aperture=2) for path in ("d.tiff", "z.tiff"))
    assert np.abs(of_px.astype(int) - of_metres).max() <= 1


FOCUS, APERTURE = ("--focus", "10,20"), ("--aperture", "2")
METRES = ("photo.png", "z.tiff", "-o", "out.png", *APERTURE)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("photo.png", "d.tiff", "-o", "out.gif", *FOCUS, *APERTURE), "out.gif: the suffix"),
        (("photo.png", "d.tiff", "-o", "out.png", "--focus", "50,20", *APERTURE), "focus 50,20 is outside"),
        (("photo.png", "d.tiff", "-o", "out.png", "--focus", "there", *APERTURE), "X,Y"),
        (("photo.png", "d.tiff", "-o", "out.png", *APERTURE), "--focus X,Y, --focus-depth Z or --focus-disparity D"),
        (("photo.png", "d.tiff", "-o", "out.png", *FOCUS, "--focus-depth", "2", *APERTURE), "--focus X,Y, "),
        (("photo.png", "d.tiff", "-o", "out.png", "--focus-depth", "2", *APERTURE), "d.tiff: holds no metres"),
        ((*METRES, "--focus-depth", "0"), "a focus 0 m away is not in front of the lens"),
        ((*METRES, "--focus-depth", "nan"), "a focus nan m away is not"),
        (("photo.png", "d.tiff", "-o", "out.png", *FOCUS, "--aperture", "0"), "aperture"),
        (("photo.png", "d.tiff", "-o", "out.png", *FOCUS, "--aperture", "-2"), "aperture"),
        (("photo.png", "d.tiff", "-o", "out.png", *FOCUS, "--aperture", "999"), "aperture 999 makes discs"),
        (("photo.png", "d.tiff", "-o", "out.png", *FOCUS, *APERTURE, "--shape", "star"), "shape"),
        (("photo.png", "d.tiff", "-o", "out.png", *FOCUS, *APERTURE, "--fade", "1"), "fade"),
        (("photo.png", "d.tiff", "-o", "photo.png", *FOCUS, *APERTURE, "--force"), "photo.png: is an input"),
        (("photo.png", "d.tiff", "-o", "old.png", *FOCUS, *APERTURE), "old.png: exists already"),
        (("photo.png", "d.tiff", "-o", "old.png", *FOCUS, *APERTURE, "--fade", "2"), "old-2.png: exists already"),
        (("photo.png", "small.npy", "-o", "out.png", *FOCUS, *APERTURE), "small.npy is 5x4 but photo.png is 50x40"),
        (("photo.png", "missing.tiff", "-o", "out.png", *FOCUS, *APERTURE), "missing.tiff"),
        (("photo.png", "z.json", "-o", "out.png", *FOCUS, *APERTURE), "z.json"),
        (("missing.png", "d.tiff", "-o", "out.png", *FOCUS, *APERTURE), "missing.png"),
        (("photo.png", "empty.npy", "-o", "out.png", *FOCUS, *APERTURE), "empty.npy: has no valid pixel"),
        (("photo.png", "rel.npy", "-o", "out.png", *FOCUS, *APERTURE), "rel.npy: holds relative inverse depth"),
        (("photo.png", "odd.npy", "-o", "out.png", *FOCUS, *APERTURE), "odd.npy: its sidecar"),
        (("photo.png", "one.npy", "-o", "out.png", *FOCUS, *APERTURE), "one.npy: is 1 everywhere, so it blurs nothing"),
        (("d.tiff", "photo.png", "-o", "out.png", *FOCUS, *APERTURE), "d.tiff: is a map, but PHOTO comes first"),
        (("small.npy", "d.tiff", "-o", "out.png", *FOCUS, *APERTURE), "small.npy: is a map, but PHOTO comes first"),
    ],
)
def test_bad_input(folder, capfd, args, says):
    for name in ("old.png", "old-2.png"):
        (folder / name).write_bytes(b"old")
    write_map("small.npy", np.zeros((4, 5)))
    write_map("empty.npy", np.full((40, 50), np.nan))
    write_map("odd.npy", np.ones((40, 50)))
    Path("odd.json").write_text(json.dumps({"dualpix": "0", "map": "odd.npy", "unit": "metres", "metric": {"a": "x"}}))
    write_map("one.npy", np.ones((40, 50)))
    write_map("rel.npy", np.ones((40, 50)))
    Path("rel.json").write_text(json.dumps({"dualpix": "0", "map": "rel.npy", "unit": "relative inverse depth"}))
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert cli.main(["refocus", *args]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert says in err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(("top", "aperture", "says"), [(1, "2", "no mask and no confidence"), (3, "0.01", "hardly")])
def test_maps_in_doubt(folder, capfd, top, aperture, says):
    write_map("doubt.npy", np.linspace(0, top, 2000).reshape(40, 50))
    assert cli.main(["refocus", "photo.png", "doubt.npy", "-o", "out.png", *FOCUS, "--aperture", aperture]) == 0
    err = capfd.readouterr().err
    assert err.startswith("warning: ")
    assert says in err


def described(kind):
    """A photo with a profile, a camera, and an orientation of 6."""
    exif = Image.Exif()
    exif[271], exif[274] = "Canon", 6
    exif.get_ifd(34665)[37386] = 50.0
    picture = Image.fromarray(photo((50, 40, 3), 1, np.uint8))
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    picture.save(f"described.{kind}", exif=exif, icc_profile=profile)
    return f"described.{kind}", profile


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif"])
@pytest.mark.parametrize("kind", ["jpg", "png", "webp", "tif", "avif"])
def test_profile_and_exif_are_kept(folder, kind, suffix):
    name, profile = described(kind)
    size = read_image(name).shape[:2]
    write_map("map.npy", np.linspace(-3, 3, 2000).reshape(size))
    assert cli.main(["refocus", name, "map.npy", "-o", "out" + suffix, *FOCUS, *APERTURE]) == 0
    with Image.open("out" + suffix) as found:
        assert found.info["icc_profile"] == profile
        if kind in ("jpg", "png", "webp") and suffix != ".tif":
            assert found.getexif()[271] == "Canon"
            assert found.getexif().get(274, 1) == 1
            assert found.getexif().get_ifd(34665)[37386] == 50
    assert read_image("out" + suffix).shape[:2] == size


def test_a_profile_of_other_channels_is_left_out(folder):
    name, _ = described("png")
    assert origin(name, 1).profile == b""
    assert origin(name, 3).profile


def test_damaged_metadata_is_left_out(folder):
    with open(described("jpg")[0], "rb") as file:
        data = file.read()
    rng = np.random.default_rng(0)
    for _ in range(200):
        bad = bytearray(data)
        for place in rng.integers(2, 300, 4):
            bad[place] = rng.integers(256)
        Path("bad.jpg").write_bytes(bad)
        kept = origin("bad.jpg", 3)
        encode_picture("a.jpg", np.zeros((4, 5, 3), np.uint8), kept)
