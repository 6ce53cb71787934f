"""What white sheets and planes tell of a camera, how it is undone, and the file in between."""

import json
import math
import re
from collections import Counter

import numpy as np
import pytest

import dualpix
from dualpix.camera.calibrate import calibrate, summary
from dualpix.camera.lens import NO_LENS, Calibration, Field, centres, evaluate
from dualpix.camera.lens_file import read_calibration
from dualpix.camera.planes import MEANS, fit_plane, lens_field
from dualpix.errors import InputError, ParameterError
from dualpix.io import encode_png, images

SHAPE = (90, 131)
GAIN = (1.2, -0.6, 0.1, 0.15, -0.2, 0.05)
GAIN = tuple(np.array(GAIN) / (GAIN @ MEANS))
OFFSET = (0.0, 0.1, -0.08, 0.03, 0.05, 0.02)
OFFSET = (-float(OFFSET @ MEANS), *OFFSET[1:])


def plane(d, shape=SHAPE, offset=OFFSET, noise=0.02, seed=0):
    """The map of a plane at disparity d behind a lens with GAIN and offset, and full confidence."""
    observed = evaluate(GAIN, shape) * d + evaluate(offset, shape)
    observed += np.random.default_rng(seed).normal(0, noise, shape).astype(np.float32)
    return observed, np.ones(shape, np.float32)


def sheet(shape=SHAPE, slope=0.4, peak=40000, seed=0):
    """A noisy white sheet, 16 bit, darker towards one side."""
    light = peak * (1 - 0.3 * centres(shape[0])[:, None] ** 2) * (1 - slope * (1 + centres(shape[1])) / 2)
    return (light + np.random.default_rng(seed).normal(0, 100, shape)).astype(np.uint16)


def pictured(d, shape=(96, 144)):
    """Views of a band-limited texture with the disparity map d: left(x) = right(x - d)."""
    rng = np.random.default_rng(3)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    waves = rng.normal(0, 0.35, (60, 2)), rng.uniform(0, 2 * math.pi, 60)

    def texture(x):
        value = sum(np.cos(u * x + v * y + phase) for (u, v), phase in zip(*waves, strict=True))
        return np.clip(0.5 + value / 40, 0, 1)

    return texture(x - d), texture(x)


# ---- the field of the disparity --------------------------------------------------------------------------


def test_a_polynomial_is_evaluated_at_the_middles_of_pixels():
    y, x = np.meshgrid(centres(3), centres(4), indexing="ij")
    expected = 1 + 2 * x**2 + 3 * y**2 + 4 * x**4 + 5 * x**2 * y**2 + 6 * y**4
    np.testing.assert_allclose(evaluate((1, 2, 3, 4, 5, 6), (3, 4)), expected, rtol=1e-6)
    np.testing.assert_allclose(centres(4), [-0.75, -0.25, 0.25, 0.75])


def test_two_planes_give_gain_and_offset():
    field = lens_field([plane(1.5), plane(-1.0, seed=1)], ["a", "b"])
    np.testing.assert_allclose(evaluate(field.gain, SHAPE), evaluate(GAIN, SHAPE), rtol=0.01)
    np.testing.assert_allclose(evaluate(field.offset, SHAPE), evaluate(OFFSET, SHAPE), atol=0.01)
    assert field.gain @ MEANS == pytest.approx(1)
    assert field.offset @ MEANS == pytest.approx(0, abs=1e-9)


def test_more_planes_average_their_noise():
    distances = (2.0, 1.0, 0.0, -1.0, -2.0)
    field = lens_field([plane(d, noise=0.05, seed=i) for i, d in enumerate(distances)], "abcde")
    np.testing.assert_allclose(evaluate(field.gain, SHAPE), evaluate(GAIN, SHAPE), rtol=0.01)
    np.testing.assert_allclose(evaluate(field.offset, SHAPE), evaluate(OFFSET, SHAPE), atol=0.015)


@pytest.mark.parametrize("d", [1.5, -0.6])
def test_one_plane_gives_the_gain_only(d):
    field = lens_field([plane(d, offset=(0.0,) * 6)], ["a"])
    np.testing.assert_allclose(evaluate(field.gain, SHAPE), evaluate(GAIN, SHAPE), rtol=0.02)
    assert field.offset == (0,) * 6


@pytest.mark.parametrize("where", ["scattered", "block"])
def test_outliers_do_no_harm(where):
    rng = np.random.default_rng(5)
    d, confidence = plane(1.5, offset=(0.0,) * 6)
    if where == "scattered":
        wild = rng.random(SHAPE) < 0.2
        d[wild] = rng.uniform(-1, 8, wild.sum())
    else:
        d[50:, :60] += 3  # more than a fifth of the map, all to one side
    field = lens_field([(d, confidence)], ["a"])
    np.testing.assert_allclose(evaluate(field.gain, SHAPE), evaluate(GAIN, SHAPE), rtol=0.03)


def test_what_is_unsure_or_missing_does_not_count():
    d, confidence = plane(1.5)
    expected = fit_plane(d, confidence, "a")
    confidence[20:60, 30:40], d[20:60, 30:40] = 0, 100
    d[70:75] = np.nan
    np.testing.assert_allclose(evaluate(fit_plane(d, confidence, "a"), SHAPE), evaluate(expected, SHAPE), atol=0.01)


def test_the_borders_of_a_plane_do_not_count():
    d, confidence = plane(1.5)
    expected = fit_plane(d, confidence, "a")
    d[:4], d[-4:], d[:, :6], d[:, -6:] = 50, -50, 50, -50
    np.testing.assert_array_equal(fit_plane(d, confidence, "a"), expected)


def test_a_tilted_plane_gives_the_same_gain():
    d, confidence = plane(1.5, offset=(0.0,) * 6)
    tilt = 0.2 * centres(SHAPE[1]) - 0.1 * centres(SHAPE[0])[:, None]
    tilted = d + evaluate(GAIN, SHAPE) * tilt.astype(np.float32)
    field = lens_field([(tilted, confidence)], ["a"])
    np.testing.assert_allclose(evaluate(field.gain, SHAPE), evaluate(GAIN, SHAPE), rtol=0.02)


def test_correction_undoes_gain_and_offset_and_keeps_nan():
    truth = np.random.default_rng(0).uniform(-3, 3, SHAPE).astype(np.float32)
    truth[3, 4] = np.nan
    observed = truth * evaluate(GAIN, SHAPE) + evaluate(OFFSET, SHAPE)
    corrected = Calibration(131, 90, field=Field(GAIN, OFFSET)).corrected(observed)
    assert corrected.dtype == np.float32
    np.testing.assert_allclose(corrected, truth, atol=2e-6)


def test_without_a_field_the_map_stays():
    d, _ = plane(1)
    np.testing.assert_array_equal(Calibration(131, 90).corrected(d), d)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_pictures_of_planes_flatten_another_plane(axis):
    bent = np.broadcast_to(1.1 - 0.45 * centres(144) ** 2, (96, 144)).astype(np.float32)

    def views(d):
        return [np.ascontiguousarray(view.T) if axis == "y" else view for view in pictured(bent * d)]

    made = calibrate(planes=[views(1.8)], axis=axis)
    other = dualpix.disparity(*views(-1.2), axis=axis).disparity
    inner = (slice(8, -8), slice(8, -8))
    assert made.corrected(other)[inner].std() < 0.4 * other[inner].std()
    assert made.planes[0].corrected < 0.4 * made.planes[0].observed
    assert made.planes[0].disparity == pytest.approx(1.8 * bent.mean(), rel=0.03)


def test_planes_of_a_real_lens_flatten_each_other(data_dir):
    def shot(distance):
        return [data_dir / f"r6ii/flat/001/{distance}/f4/{view}.png" for view in "lr"]

    if not shot("0600")[0].exists():
        pytest.skip(f"no r6ii/flat under {data_dir}")
    inner = (slice(26, -26), slice(38, -38))
    for one, other in (("0600", "1500"), ("1500", "0600")):
        d = dualpix.disparity(*shot(other)).disparity
        flat = calibrate(planes=[shot(one)]).corrected(d)
        assert flat[inner].std() < 0.6 * d[inner].std()
        assert flat[inner].std() / abs(flat[inner].mean()) < 0.6 * d[inner].std() / abs(d[inner].mean())


# ---- white sheets ----------------------------------------------------------------------------------------


def test_white_gains_are_those_of_the_sheets():
    shape = (270, 393)
    left, right = sheet(shape, slope=0.5), sheet(shape, slope=-0.5, peak=30000)
    made = calibrate(white=[(left + 1024, right + 1024)], black=1024)
    gains = made.white_gains()
    brightest = made.white_gains()[1].max() / right[100:170].max(axis=0)[-8:].mean()
    for gain, light in zip(gains, (left, right), strict=True):
        assert gain.dtype == np.float32
        np.testing.assert_allclose(gain, light * brightest, rtol=0.04)
    for gain, bent in zip(gains, made.white_gains(0.5), strict=True):
        np.testing.assert_allclose(bent, gain**0.5, rtol=0.01)


def test_gains_never_reach_zero():
    steep = np.tile(np.rint(np.linspace(65000, 1, 131)), (90, 1)).astype(np.uint16)
    left, _ = calibrate(white=[(steep, steep)]).white_gains()
    assert left.min() > 0


def test_colour_has_one_gain():
    colour = np.dstack([sheet(), sheet() // 2, sheet() // 4])
    made, grey = (calibrate(white=[(each, each)]) for each in (colour, sheet()))
    np.testing.assert_allclose(made.white.left, grey.white.left, atol=1e-3)


def test_black_is_a_parameter():
    made = calibrate(white=[(sheet(), sheet())], black=512)
    assert made.black(0) == made.black(512) == 512
    with pytest.raises(ParameterError, match="black is 64, but calibration was made with 512"):
        made.black(64)
    assert Calibration(131, 90).black(64) == NO_LENS.black(64) == 64
    views = ((65535 * view).astype(np.uint16) for view in pictured(1.3, SHAPE))
    assert dualpix.disparity(*views, calibration=made).params.black == 512


def test_specks_on_the_sheet_do_not_matter():
    clean, speckled = sheet(), sheet()
    speckled[np.random.default_rng(2).random(SHAPE) < 0.05] = 50
    one, other = (calibrate(white=[(each, sheet(seed=1))]).white for each in (clean, speckled))
    np.testing.assert_allclose(other.left, one.left, rtol=0.02)


def test_several_sheets_are_averaged():
    pairs = [(sheet(seed=i), sheet(seed=i + 10)) for i in range(3)]
    white = calibrate(white=pairs).white
    np.testing.assert_allclose(white.left, np.mean([calibrate(white=[p]).white.left for p in pairs], axis=0), atol=2e-6)


def test_planes_are_matched_in_even_views():
    left, right = pictured(1.3)
    shade = np.linspace(1, 0.3, 144, dtype=np.float32)
    sheets = [(np.tile(s, (96, 1)) * 50000).astype(np.uint16) for s in (shade, shade[::-1])]
    made = calibrate(white=[sheets], planes=[(left * shade, right * shade[::-1])])
    assert made.planes[0].disparity == pytest.approx(1.3, abs=0.03)
    assert made.planes[0].observed < 0.1


def test_planes_are_checked_as_pairs_are(monkeypatch):
    """Before any is matched: their size, and the memory that they need."""
    monkeypatch.setattr("dualpix.camera.calibrate.disparity", None)
    with pytest.raises(InputError, match="is 36x35 pixels, smaller than the matching window of 43x43"):
        calibrate(planes=[pictured(1.3, (35, 36))])
    monkeypatch.setattr("dualpix.method.memory.available", lambda: 0.01)
    with pytest.raises(InputError, match="GB of memory"):
        calibrate(planes=[pictured(1.3)])


def test_parameters_are_checked_before_pictures_are_read():
    with pytest.raises(ParameterError, match="parameter window"):
        calibrate(planes=[("missing.png", "missing.png")], window="large")


def test_progress_counts_all_planes():
    steps = []
    calibrate(planes=[pictured(1.3), pictured(-1.1)], progress=steps.append)
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    starts = [step.share for step in steps if step.name == "develop"]
    assert starts == [0, 0.5]


def test_every_picture_is_read_once(tmp_path, monkeypatch):
    shape = (96, 144)
    views = {"white": (sheet(shape), sheet(shape)[:, ::-1]), "near": pictured(1.3), "far": pictured(-1.1)}
    pairs = {}
    for name, pair in views.items():
        pairs[name] = [tmp_path / f"{name}_{side}.png" for side in ("left", "right")]
        for path, view in zip(pairs[name], pair, strict=True):
            path.write_bytes(encode_png(view))
    reads, read = Counter(), images.read

    def counted(path, *rest):
        reads[path] += 1
        return read(path, *rest)

    monkeypatch.setattr(images, "read", counted)
    calibrate([pairs["white"]], [pairs["near"], pairs["far"]])
    assert reads == {path: 1 for pair in pairs.values() for path in pair}


# ---- the file --------------------------------------------------------------------------------------------


def whole():
    made = calibrate(white=[(sheet(), sheet(slope=-0.4))], black=512, axis="y", camera="Ca\u00f1on \u201cX\u201d")
    return Calibration(131, 90, "y", made.camera, made.white, Field(GAIN, OFFSET))


def test_round_trip(tmp_path):
    made, file = whole(), tmp_path / "lens.json"
    file.write_text(made.to_json(), encoding="utf-8")
    read = read_calibration(str(file))
    assert (read.width, read.height, read.axis, read.camera) == (131, 90, "y", made.camera)
    assert read.field == made.field
    assert read.white.black == made.white.black
    np.testing.assert_array_equal(read.white.left, made.white.left)
    np.testing.assert_array_equal(read.white.right, made.white.right)
    assert read.to_json() == made.to_json()
    assert str(file) in read.source


def test_rows_of_the_maps_take_one_line_each():
    text = whole().to_json()
    assert len(text.splitlines()) < 100
    assert max(map(len, text.splitlines())) < 400


@pytest.mark.parametrize("without", ["white", "field"])
def test_half_a_calibration_is_one(tmp_path, without):
    made = calibrate(planes=[pictured(1.3)]) if without == "white" else calibrate(white=[(sheet(), sheet())])
    file = tmp_path / "lens.json"
    file.write_text(made.to_json())
    read = read_calibration(file)
    assert getattr(read, without) is None
    assert read.planes == made.planes


def test_summary():
    made = calibrate(white=[(sheet(), sheet())], planes=[pictured(1.3, SHAPE)])
    of_white, of_plane = (
        r"white sheets down to 5\d% of their brightest, black level 0",
        r"plane at 1\.3\d* px, STD 0\.0\d+ px, 0\.0\d+ px corrected",
    )
    assert re.fullmatch(f"131x90; {of_white}; {of_plane}", summary(made))


DAMAGE = {
    "version": lambda r: r.update(calibration=2),
    "none": lambda r: r.pop("calibration"),
    "width": lambda r: r.update(width="131"),
    "height": lambda r: r.update(height=0),
    "axis": lambda r: r.update(axis="z"),
    "camera": lambda r: r.update(camera=5),
    "gain is missing": lambda r: r.pop("gain"),
    "gain is null": lambda r: r.update(gain=None),
    "a term is missing": lambda r: r["gain"].pop("x^4"),
    "gain is a list": lambda r: r.update(gain=[1, 2]),
    "gain is text": lambda r: r["gain"].update({"1": "1"}),
    "gain is NaN": lambda r: r["gain"].update({"1": math.nan}),
    "gain is too large": lambda r: r["gain"].update({"1": 10**400}),
    "gain is negative": lambda r: r["gain"].update({"1": -1.0}),
    "offset": lambda r: r["offset"].update({"y^4": None}),
    "white is a number": lambda r: r.update(white=3),
    "a map is missing": lambda r: r["white"].pop("left"),
    "black": lambda r: r["white"].update(black=-1),
    "map with zeros": lambda r: r["white"]["right"][0].__setitem__(0, 0),
    "map with a short row": lambda r: r["white"]["right"][0].pop(),
    "map of one row": lambda r: r["white"].update(left=r["white"]["left"][:1]),
    "map is empty": lambda r: r["white"].update(left=[]),
    "map has infinity": lambda r: r["white"]["left"][1].__setitem__(1, math.inf),
    "planes": lambda r: r.update(planes=[{"disparity": 1}]),
    "planes is a number": lambda r: r.update(planes=1),
    "a plane is a number": lambda r: r.update(planes=[0]),
    "a scene is a number": lambda r: r.update(scenes=[9]),
    "metric is a number": lambda r: r.update(metric=3),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_damaged_file_is_refused(tmp_path, damage):
    record = json.loads(whole().to_json())
    damage(record)
    file = tmp_path / "lens.json"
    file.write_text(json.dumps(record))
    with pytest.raises(InputError, match=r"^calibration .*lens\.json: .*: (calibrate again|give a file)"):
        read_calibration(file)


@pytest.mark.parametrize("content", [b"", b"[1]", b"\x89PNG\r\n\x1a\n\xff", b"{" * 10, b"[" * 100_000, b"null"])
def test_something_else_is_refused(tmp_path, content):
    file = tmp_path / "lens.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match="is not a calibration: give a file that dualpix calibrate wrote"):
        read_calibration(file)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_calibration(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_calibration(tmp_path)


# ---- what does not fit -----------------------------------------------------------------------------------


def test_other_pictures_are_refused():
    made = whole()
    made.check((90, 131, 3), "left.png", "y")
    made.check((90, 131), "left.png")
    with pytest.raises(InputError, match=r"made for 131x90 pixels but left.png is 90x131: calibrate"):
        made.check((131, 90), "left.png")
    with pytest.raises(InputError, match="differ along y, not x"):
        made.check((90, 131), "left.png", "x")
    small = np.zeros((45, 65), np.float32)
    with pytest.raises(InputError, match="the map is 65x45"):
        made.corrected(small)


def test_another_camera_is_refused():
    made = whole()
    made.check_camera(made.camera)
    made.check_camera(None)
    Calibration(131, 90).check_camera("Other")
    with pytest.raises(InputError, match="not 'Other': give the calibration of that camera"):
        made.check_camera("Other")


def test_too_little_is_refused():
    with pytest.raises(ParameterError, match="nothing to calibrate from"):
        calibrate()
    with pytest.raises(ParameterError, match="black is the black level of the white sheets: give a pair of them too"):
        calibrate(planes=[pictured(1.3)], black=64)
    with pytest.raises(ParameterError, match="axis must be x or y"):
        calibrate(white=[(sheet(), sheet())], axis="z")


@pytest.mark.parametrize("black", [-1, 65535, math.nan])
def test_impossible_black_levels_are_refused(black):
    with pytest.raises(ParameterError, match="black must be from 0 to below 65535"):
        calibrate(white=[(sheet(), sheet())], black=black)


def test_pictures_of_different_sizes_are_refused():
    with pytest.raises(
        InputError, match="a left view is 144x96 but a left view is 131x90: give images of the same size"
    ):
        calibrate(white=[(sheet(), sheet())], planes=[pictured(1.3)])
    with pytest.raises(InputError, match="same size"):
        calibrate(white=[(sheet(), sheet((90, 90)))])


def test_bad_sheets_are_refused():
    dark, bright, flat = sheet(), sheet(), np.minimum(sheet(), 30000)
    dark[10, 10] = 0
    bright[:20, :20] = 65535
    with pytest.raises(
        InputError, match="white sheet right: a white sheet must be above the black level, 0, everywhere, but 1 of"
    ):
        calibrate(white=[(sheet(), dark)])
    with pytest.raises(InputError, match="above the black level, 40000"):
        calibrate(white=[(sheet(), sheet())], black=40000)
    for clipped, level in ((bright, 65535), (flat, 30000)):
        with pytest.raises(InputError, match=f"white sheet left: .*clipped at {level}: expose it shorter"):
            calibrate(white=[(clipped, sheet())])
    with pytest.raises(InputError, match="at least 32 pixels a side, not 131x20"):
        calibrate(white=[(sheet((20, 131)), sheet((20, 131)))])


def test_sheets_without_noise_are_no_clipped_ones():
    even = np.full(SHAPE, 200, np.uint8)
    domed = np.rint(200 - 60 * (centres(90)[:, None] ** 2 + centres(131) ** 2)).astype(np.uint8)
    for each in (even, domed):
        assert calibrate(white=[(each, each)]).white.left.max() == 1


def test_bad_planes_are_refused():
    with pytest.raises(InputError, match=r"^near: the plane is in focus, its disparity is 0\.1"):
        lens_field([plane(0.1)], ["near"])
    with pytest.raises(InputError, match=r"^near and far: the disparities of the planes differ by 0\.0"):
        lens_field([plane(1.0), plane(1.05)], ["near", "far"])
    with pytest.raises(InputError, match=r"^a: is not a plane"):
        lens_field([plane(1.0, noise=1.0)], ["a"])
    d, confidence = plane(1.0)
    with pytest.raises(InputError, match=r"^a: the gain would fall to"):
        lens_field([(d * (1 - 0.99 * centres(131) ** 2).astype(np.float32), confidence)], ["a"])
    confidence[:30, :45] = 0
    with pytest.raises(InputError, match=r"^a: the plane shows too little texture"):
        lens_field([(d, confidence)], ["a"])
    with pytest.raises(InputError, match="too little texture"):
        calibrate(planes=[(np.full((96, 144), 0.5), np.full((96, 144), 0.5))])
