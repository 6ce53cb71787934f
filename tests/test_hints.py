"""What a user tells about regions: strokes in, evidence out, against the oracle."""

import json

import cv2
import numpy as np
import pytest

import dualpix
import reference
from conftest import textured_pair
from dualpix.io.hints import Hint, as_hints, painted, to_json
from dualpix.method.hints import Told, in_frame
from dualpix.method.subpixel import HISTEQ_BIAS
from dualpix.types import Parabolas

SMALL = {"window": 2.0, "range": (-8, 8), "encc_window": 5}
NEAR = {"kind": "near", "disparity": 4.0, "points": [[30, 20], [40, 30]], "radius": 8}
UNKNOWN = {"kind": "unknown", "points": [[60, 40]], "radius": 9.5}


def as_uint8(pair):
    return [np.round(view).astype(np.uint8) for view in pair]


# ---- strokes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("points", [[[20, 15]], [[5, 5], [40, 30]], [[2, 30], [30, 2], [45, 33]], [[-9, 12], [70, 20]]])
@pytest.mark.parametrize("radius", [0, 1, 4.5, 12])
def test_a_stroke_is_what_lies_within_its_radius(points, radius):
    """OpenCV draws a line within 1.5 px of its place."""
    told = painted(as_hints([{"kind": "near", "disparity": 1, "points": points, "radius": radius}]), (37, 53))
    certain = reference.stroke(points, radius - 1.5, told.shape)
    possible = reference.stroke(points, radius + 1.5, told.shape)
    assert (told[certain] == 1).all()
    assert np.isnan(told[~possible]).all()


def test_later_strokes_cover_earlier_ones():
    first, second = (Hint("near", ((10, 10),), 5, d) for d in (1.0, 2.0))
    told = painted([first, second, Hint("unknown", ((10, 10),), 2)], (20, 20))
    assert np.isneginf(told[10, 10])
    assert told[10, 14] == 2
    assert not (told == 1).any()


def test_a_file_of_hints_is_read_as_written(tmp_path):
    hints = as_hints([NEAR, UNKNOWN])
    (tmp_path / "hints.json").write_text(to_json(hints))
    assert as_hints(tmp_path / "hints.json") == hints
    assert json.loads(to_json(hints)) == [NEAR, UNKNOWN]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({**NEAR, "kind": "far"}, "kind of a hint must be near or unknown"),
        ({**NEAR, "disparity": None}, "disparity of a hint must be a number"),
        ({**NEAR, "disparity": float("nan")}, "disparity of a hint must be a number"),
        ({**UNKNOWN, "disparity": 1}, "kind unknown has no disparity"),
        ({**NEAR, "points": []}, "points of a hint must be a list"),
        ({**NEAR, "points": [[1, 2, 3]]}, r"pairs \[x, y\]"),
        ({**NEAR, "points": [[1, "2"]]}, "y of a hint must be a number"),
        ({**NEAR, "radius": -1}, "radius of a hint must be a number"),
        ({**NEAR, "colour": 1}, "unknown entry of a hint 'colour'"),
        ("near", "a hint must be an object"),
        ({**NEAR, "points": [[500, 500]]}, "hint 1 lies outside the picture of 90x72"),
    ],
)
def test_wrong_hints_are_refused(pair, wrong, words):
    with pytest.raises(dualpix.DualpixError, match=words):
        dualpix.disparity(*as_uint8(pair), hints=[wrong])


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" * 100_000, '[{"kind": "near"}]'])
def test_a_wrong_file_of_hints_is_one_sentence(call, tmp_path, text):
    file = tmp_path / "hints.json"
    file.write_text(text)
    for name, view in zip("lr", as_uint8(textured_pair((40, 50), 1)), strict=True):
        (tmp_path / f"{name}.png").write_bytes(dualpix.io.encode_png(view))
    code, out, err = call(
        "disparity", tmp_path / "l.png", tmp_path / "r.png", "-o", tmp_path / "o.tiff", "--hints", file
    )
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: hints {file}: ")
    assert not (tmp_path / "o.tiff").exists()


# ---- evidence --------------------------------------------------------------------------------------


def test_the_evidence_with_hints_agrees_with_the_oracle():
    rng = np.random.default_rng(0)
    alpha, beta = rng.uniform(0, 2, (9, 13)) ** 3, rng.uniform(-5, 5, (9, 13))
    told = np.where(rng.uniform(size=alpha.shape) < 0.3, rng.uniform(-3, 3, alpha.shape), np.nan)
    told[2:4, 3:9] = -np.inf
    hints, given = Told(told.astype(np.float32)), [alpha.astype(np.float32), beta.astype(np.float32)]
    found = hints.forgotten(Parabolas(*map(np.copy, given)), 2)
    np.testing.assert_allclose((found.A, found.B), reference.forgotten(alpha, beta, told), rtol=1e-5, atol=1e-5)
    found = hints.added(Parabolas(*map(np.copy, given)))
    np.testing.assert_allclose((found.A, found.B), reference.hinted(alpha, beta, told), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("preset", ["dslr-a", "auto"])
def test_the_method_with_hints_agrees_with_the_oracle(preset):
    left, right = as_uint8(textured_pair((61, 83), 1.3))
    params = dualpix.preset(preset).replace(**SMALL, iterations=(2, 4, 4))
    hints = as_hints([NEAR, UNKNOWN])
    result = dualpix.disparity(left, right, params, hints=hints)
    settings = params.to_dict() | {"bias": HISTEQ_BIAS}
    pyramid = reference.prepare(left.astype(float), right.astype(float), left, settings)
    expected, _ = reference.disparity(pyramid, settings, painted(hints, left.shape).astype(float))
    error = np.abs(result.disparity - expected)
    assert np.quantile(error, 0.999) < 5e-4
    assert error.max() < 5e-3  # robust messages are sensitive at the edge of a hint


@pytest.mark.parametrize("preset", ["auto", "dslr-a", "phone", "stereo"])
def test_near_moves_the_region_and_little_else(preset):
    left, right = as_uint8(textured_pair((120, 160), 1.3))
    before = dualpix.disparity(left, right, preset, range=(-8, 8))
    after = dualpix.disparity(left, right, preset, range=(-8, 8), hints=[{**NEAR, "points": [[80, 60]], "radius": 15}])
    inside = reference.stroke([[80, 60]], 12, left.shape)
    far = ~reference.stroke([[80, 60]], 60, left.shape)
    assert np.median(before.disparity[inside]) == pytest.approx(1.3, abs=0.2)
    assert np.median(after.disparity[inside]) == pytest.approx(4, abs=0.3)
    assert np.median(np.abs(after.disparity - before.disparity)[far]) < 0.02
    assert after.confidence[inside].min() > 0


def test_near_overrules_the_coarser_scales():
    """In a blurred picture the coarser scales are surer than the match."""
    small = textured_pair((30, 40), 1.3 / 8)
    left, right = (
        np.clip(cv2.resize(view, None, fx=8, fy=8, interpolation=cv2.INTER_CUBIC) / 255, 0, 1) for view in small
    )
    hints = [{"kind": "near", "disparity": 4.0, "points": [[160, 120]], "radius": 20}]
    result = dualpix.disparity(left, right, range=(-8, 8), iterations=(4, 4, 4, 4), hints=hints)
    inside = reference.stroke([[160, 120]], 17, left.shape)
    assert np.median(np.abs(result.disparity[inside] - 4)) < 0.06


def two_depths():
    """A square of disparity 5 before a ground of disparity 1, and where the square is."""
    (ground, _), (square, _) = (textured_pair((120, 160), 0, seed) for seed in (0, 1))
    left, right = ground.copy(), np.roll(ground, -1, 1)
    left[45:75, 65:95] = square[45:75, 65:95]
    right[45:75, 60:90] = square[45:75, 65:95]
    return *as_uint8((left, right)), (slice(55, 65), slice(75, 85))


def test_unknown_removes_the_evidence_of_its_region():
    left, right, inside = two_depths()
    before = dualpix.disparity(left, right, range=(-8, 8))
    after = dualpix.disparity(
        left, right, range=(-8, 8), hints=[{"kind": "unknown", "points": [[80, 60]], "radius": 32}]
    )
    assert np.median(before.disparity[inside]) == pytest.approx(5, abs=0.3)
    assert np.median(after.disparity[inside]) == pytest.approx(1, abs=0.5)  # from its surroundings
    assert before.confidence[inside].min() > 0
    assert after.confidence[inside].max() == 0


def test_no_hints_change_nothing(pair):
    left, right = as_uint8(pair)
    plain, empty = dualpix.disparity(left, right), dualpix.disparity(left, right, hints=[])
    assert plain.disparity.tobytes() == empty.disparity.tobytes()


# ---- frames ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", range(1, 9))
def test_hints_are_in_the_picture_as_a_viewer_shows_it(tmp_path, orientation):
    """The map of a turned picture is turned, and so are the hints."""
    from PIL import Image

    exif = Image.Exif()
    exif[274] = orientation
    for name, view in zip("lr", as_uint8(textured_pair((64, 96), 1.3)), strict=True):
        Image.fromarray(view).save(tmp_path / f"{name}.png", exif=exif)
    hint = {"kind": "near", "disparity": 4.0, "points": [[20, 40]], "radius": 8}
    result = dualpix.disparity(tmp_path / "l.png", tmp_path / "r.png", axis=None, range=(-8, 8), hints=[hint])
    assert result.disparity[40, 20] == pytest.approx(4, abs=0.4)
    assert np.median(result.disparity) == pytest.approx(1.3, abs=0.2)


def test_hints_work_along_y_and_with_the_left_right_check():
    left, right = (np.ascontiguousarray(view.T) for view in as_uint8(textured_pair((120, 160), 1.3)))
    hint = {"kind": "near", "disparity": 4.0, "points": [[60, 80]], "radius": 15}
    result = dualpix.disparity(left, right, axis="y", range=(-8, 8), mask_occluded=True, hints=[hint])
    assert np.nanmedian(result.disparity[70:91, 50:71]) == pytest.approx(4, abs=0.3)
    assert np.isnan(result.disparity[72:89, 52:69]).mean() < 0.2  # the hint counts for the right view, too


def test_hints_are_disparities_of_the_corrected_map():
    lens = dualpix.Calibration(160, 120, field=dualpix.camera.lens.Field((1.2, 0, 0, 0, 0, 0), (0.5, 0, 0, 0, 0, 0)))
    left, right = as_uint8(textured_pair((120, 160), 1.3))
    hint = {"kind": "near", "disparity": 4.0, "points": [[80, 60]], "radius": 15}
    result = dualpix.disparity(left, right, axis="x", calibration=lens, range=(-8, 8), hints=[hint])
    assert np.median(result.disparity[50:71, 70:91]) == pytest.approx(4, abs=0.3)


def test_hints_follow_pixels_that_are_not_square():
    from dualpix.method.frame import Frame

    told = in_frame(as_hints([NEAR]), Frame((72, 90), aspect=2.0, axis="y"), dualpix.camera.lens.NO_LENS)
    assert told.map.shape == (90, 144)
    assert told.map[35, 50] == 8  # rows are doubled, and so are disparities along y
