"""Optics: every pair of kernels has mass 1 and the disparity as the distance of its centroids, whatever the model."""

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualpix import InputError, ParameterError
from dualpix.camera.layers import Field
from dualpix.camera.optics import HALF_DISC, LEFT, RIGHT, Measured, Pupil, half_disc, parse_optics, read_measured
from dualpix.camera.simulation import simulate


def moments(kernel):
    """Mass and centroid (x, y) from the centre."""
    at = np.arange(len(kernel)) - len(kernel) // 2
    return kernel.sum(), kernel.sum(0) @ at, kernel.sum(1) @ at


def spot_image(x, y, side=25):
    """A lopsided spot around (x, y) from the centre."""
    v, u = np.indices((side, side)) - side // 2
    return np.maximum(1 - np.hypot(u - x, v - y) / 6, 0) * (1.2 + np.tanh(x * u / 4))


NEAR = spot_image(3, 1), spot_image(-2, 1)  # about 5 px apart, in front of the focus
BEHIND = NEAR[::-1]
GRID = np.stack([spot_image(3, y) for y in range(-2, 4)]), np.stack([spot_image(-2.5, y) for y in range(-2, 4)])
MODELS = {
    "half-disc": HALF_DISC,
    "sharp": Pupil(),
    "soft": Pupil(split=0.8, overlap=0.3),
    "cat-eye": Pupil(split=0.3, overlap=0.1, cat_eye=0.6),
    "extreme": Pupil(split=1.5, overlap=0.4, cat_eye=0.8),
    "measured": Measured(*NEAR),
    "measured behind": Measured(*BEHIND),
    "measured grid": Measured(*GRID, grid=(2, 3)),
}
every_model = pytest.mark.parametrize("optics", MODELS.values(), ids=MODELS.keys())


@cache
def corners(optics):
    spots = optics.spots(40, 60)
    return [spots[0][0], spots[0][-1], spots[-1][-1]]


# ---- every model -----------------------------------------------------------------------------------------


@every_model
@settings(max_examples=15)
@given(d=st.floats(-12, 12))
def test_mass_and_distance_of_centroids_are_exact(optics, d):
    for spot in corners(optics):
        left, right = spot.kernel(d, LEFT), spot.kernel(d, RIGHT)
        assert moments(left) == pytest.approx((1, d / 2, 0), abs=1e-10)
        assert moments(right) == pytest.approx((1, -d / 2, 0), abs=1e-10)
        assert min(left.min(), right.min()) > -1e-15


@every_model
@pytest.mark.parametrize("d", [0.3, 2.0, 9.5])
def test_behind_the_focus_spots_are_reflected(optics, d):
    for spot in corners(optics):
        for view in (LEFT, RIGHT):
            np.testing.assert_allclose(spot.kernel(-d, view), spot.kernel(d, view)[::-1, ::-1], atol=1e-14)


@every_model
@pytest.mark.parametrize("d", [0.0, 0.01, 1.0, -7.3])
def test_kernels_stay_within_reach(optics, d):
    for spot in corners(optics):
        kernel = spot.kernel(d, LEFT)
        at = np.abs(np.arange(len(kernel)) - len(kernel) // 2)
        outside = at >= spot.reach(d) + 1
        assert kernel[outside].sum() + kernel[:, outside].sum() == pytest.approx(0, abs=1e-12)


@every_model
def test_kernels_grow_in_proportion(optics):
    """Twice the disparity is the same spot at twice the size; pixels blur both a little."""

    def width(kernel):
        at = np.arange(len(kernel)) - len(kernel) // 2
        profile = kernel.sum(0)
        return np.sqrt(profile @ (at - profile @ at) ** 2)

    spot = optics.spots(1, 1)[0][0]
    assert width(spot.kernel(16, LEFT)) / width(spot.kernel(8, LEFT)) == pytest.approx(2, rel=0.05)


@every_model
def test_record_goes_to_json(optics):
    assert json.loads(json.dumps(optics.record()))["kind"] in ("half-disc", "pupil", "measured")


# ---- over the picture ------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("d", [3.2, -2.7])
@pytest.mark.parametrize("place", [(31, 24), (40, 61), (22, 77)])
def test_point_is_moved_by_half_the_disparity_anywhere(optics, d, place):
    """Between the spots of the grid, too."""
    field = Field(optics, (64, 96), abs(d))
    margin = field.margin
    layer = np.zeros((64 + 2 * margin, 96 + 2 * margin, 1), np.float32)
    layer[margin + place[0], margin + place[1]] = 1
    everywhere = slice(0, layer.shape[0]), slice(0, layer.shape[1])
    for view in (LEFT, RIGHT):
        blurred = field.spread(layer, everywhere, d, view)[..., 0]
        assert blurred.sum() == pytest.approx(1, abs=1e-5)
        assert blurred.sum(0) @ np.arange(layer.shape[1]) - margin - place[1] == pytest.approx(view * d / 2, abs=1e-3)


@every_model
def test_constant_image_stays_constant(optics):
    disparity = np.random.default_rng(0).uniform(-1.5, 1.5, (30, 40))
    for view in simulate(np.full((30, 40), 200, np.uint8), disparity, optics=optics)[:2]:
        assert (view == 200).all()


@every_model
@pytest.mark.parametrize(("near", "far"), [(3, 0), (0, -4), (2, -2)])
def test_front_hides_back(optics, near, far):
    """Away from its outline, a grey square shows nothing of the noise behind it.

    Where the kernels change over the picture, coverage is not exactly 1. In a picture this small, they change fast.
    """
    square = np.zeros((70, 100), bool)
    square[15:55, 25:75] = True
    image = np.where(square, 0.5, np.random.default_rng(0).random(square.shape))
    disparity = np.where(square, near, far)
    field = [spot for row in optics.spots(*square.shape) for spot in row]
    inner = int(max(spot.reach(near) for spot in field)) + 2
    for view in simulate(image, disparity, optics=optics)[:2]:
        core = view[15 + inner : 55 - inner, 25 + inner : 75 - inner]
        np.testing.assert_allclose(core, 0.5, atol=1e-4 if len(field) == 1 else 0.01)


# ---- the pupil -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0.5, 3, 8, 20])
def test_sharp_pupil_is_the_half_disc(d):
    pupil, disc = Pupil().spots(1, 1)[0][0].kernel(d, LEFT), half_disc(d)
    assert np.abs(pupil - np.pad(disc, (len(pupil) - len(disc)) // 2)).sum() < 0.01


def test_pupil_is_mirrored_over_the_picture():
    """The left view at x is the right view at -x in a mirror."""
    spots = Pupil(split=0.4, overlap=0.2, cat_eye=0.7).spots(40, 60)
    for row in spots:
        for spot, other in zip(row, row[::-1], strict=True):
            np.testing.assert_allclose(spot.kernel(5, LEFT), other.kernel(5, RIGHT)[:, ::-1], atol=1e-14)
    for spot, other in zip(spots[0], spots[-1], strict=True):
        np.testing.assert_allclose(spot.kernel(5, LEFT), other.kernel(5, LEFT)[::-1], atol=1e-14)


def wrong_side(pupil):
    """Share of the light of the left view that comes through the right half."""
    samples = pupil.samples(0, 0, 1)
    return samples.left[:, : samples.left.shape[1] // 2].sum()


def test_soft_split_and_overlap_leak():
    sharp, soft, softer = (wrong_side(Pupil(split=s)) for s in (0, 0.4, 1.2))
    assert sharp == pytest.approx(0, abs=1e-12)
    assert 0.02 < soft < softer < 0.5
    assert wrong_side(Pupil(overlap=0.25)) == pytest.approx(0.25 / 1.25, rel=1e-6)


def test_cat_eye_clips_towards_the_corners():
    def area(pupil, x, y):
        return int((pupil.samples(x, y, 1).left > 0).sum())

    pupil = Pupil(split=2, cat_eye=0.5)
    assert area(pupil, 0, 0) == area(Pupil(split=2), 0, 0)
    assert area(pupil, 0, 0) > area(pupil, 0.4, 0.3) > area(pupil, 0.8, 0.6)
    lit = np.flatnonzero(pupil.samples(1, 0, 1).left.any(0))  # at the right, the right side of the pupil is clipped
    assert lit[0] == 0
    assert lit[-1] == pytest.approx(64 * 0.75, abs=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [("split", -0.1), ("split", np.nan), ("overlap", 1), ("overlap", "a"), ("cat_eye", 1.1), ("cat_eye", None)],
)
def test_pupil_refuses_numbers_out_of_bounds(name, value):
    with pytest.raises(ParameterError, match=f"^{name} must be a number from 0"):
        Pupil(**{name: value})


# ---- measured kernels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", [NEAR, BEHIND])
def test_measured_kernels_come_back_at_their_own_disparity(pair):
    distance = moments(pair[0])[1] / pair[0].sum() - moments(pair[1])[1] / pair[1].sum()
    spot = Measured(*pair).spots(1, 1)[0][0]
    for kernel, view in zip(pair, (LEFT, RIGHT), strict=True):
        found = spot.kernel(distance, view)
        overlap = np.fft.irfft2(
            np.fft.rfft2(found, (64, 64)) * np.conj(np.fft.rfft2(kernel, (64, 64))), (64, 64)
        ).max() / np.sqrt((found**2).sum() * (kernel**2).sum())
        assert overlap > 0.99


def test_several_kernels_are_averaged_or_a_grid():
    assert len(Measured(*GRID).spots(9, 9)) == 1
    rows = Measured(*GRID, grid=(2, 3)).spots(9, 9)
    assert [len(row) for row in rows] == [3, 3]
    stored = [kernels.reshape(2, 3, 25, 25) for kernels in GRID]
    for one, other in zip(rows[1], Measured(*stored).spots(9, 9)[1], strict=True):
        np.testing.assert_array_equal(one.kernel(2, LEFT), other.kernel(2, LEFT))


def test_noise_around_the_spot_does_not_widen_it():
    noisy = [kernel + 1e-6 for kernel in NEAR]
    assert Measured(*noisy).spots(1, 1)[0][0].reach(1) < 1.001 * Measured(*NEAR).spots(1, 1)[0][0].reach(1)


@pytest.mark.parametrize(
    ("match", "left", "right", "grid"),
    [
        (r"^left: is an array of shape \(25,\)", NEAR[0][0], NEAR[1], None),
        ("^right: is an array .* type <U", NEAR[0], NEAR[1].astype(str), None),
        ("^left: is an array .* complex", NEAR[0] * 1j, NEAR[1], None),
        ("^left: has shape .* 1 to 513", np.ones((600, 2)), NEAR[1], None),
        ("^left: has shape .* 1 to 513", np.ones((0, 5, 5)), NEAR[1], None),
        ("^right: has a kernel with negative", NEAR[0], NEAR[1] - 0.1, None),
        ("^right: has a kernel with negative", NEAR[0], NEAR[1] * np.nan, None),
        ("without light", NEAR[0] * 0, NEAR[1], None),
        ("^right: .* have shapes", NEAR[0], GRID[1], None),
        ("^left: holds 6 kernels, .* 2x4", *GRID, (2, 4)),
        ("^left: holds 1 kernels", *NEAR, (1, 1)),
        ("centroids .* apart", NEAR[0], NEAR[0], None),
    ],
)
def test_measured_refuses_what_is_no_pair_of_kernels(match, left, right, grid):
    with pytest.raises(InputError, match=match):
        Measured(left, right, grid)


# ---- from text -------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, kernels in zip(("left", "right"), GRID, strict=True):
        np.save(f"{name}.npy", kernels)
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "text.npy").write_text("none")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "left.npy").read_bytes()[:500])
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "folder.npy").mkdir()
    return tmp_path


def test_optics_from_text(files):
    assert parse_optics("half-disc") is HALF_DISC
    assert parse_optics("pupil") == Pupil()
    assert parse_optics("pupil:split=0.5,cat-eye=0.25") == Pupil(split=0.5, cat_eye=0.25)
    assert parse_optics("measured:left.npy,right.npy").record()["files"] == ["left.npy", "right.npy"]
    assert parse_optics("measured:left.npy,right.npy,2x3").record()["grid"] == [2, 3]


@pytest.mark.parametrize(
    "text", ["", "lens", "half-disc:1", "pupil:blur=1", "pupil:split", "pupil:split=x", "pupil:split=9", "measured",
             "measured:left.npy", "measured:,right.npy"],
)  # fmt: skip
def test_text_that_is_no_optics(text):
    with pytest.raises(ParameterError):
        parse_optics(text)


@pytest.mark.parametrize("name", ["missing.npy", "text.npy", "cut.npy", "empty.npy", "folder.npy", "objects.npy"])
def test_bad_files_are_named(files, name):
    with pytest.raises(InputError, match=f"^{name}: .*: "):
        read_measured(name, "right.npy")
    with pytest.raises(InputError, match=f"^{name}: .*: "):
        read_measured("left.npy", name)
