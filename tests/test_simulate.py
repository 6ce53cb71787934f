"""Image formation: the half-disc, the sign convention, what hides what, and the truth of the left view."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dualpix import InputError, ParameterError
from dualpix.camera.optics import HALF_DISC, half_disc
from dualpix.camera.simulation import _background, simulate

disparities = st.floats(-20, 20)


def moments(kernel):
    """Mass and centroid (x, y) from the centre."""
    at = np.arange(len(kernel)) - len(kernel) // 2
    return kernel.sum(), kernel.sum(0) @ at, kernel.sum(1) @ at


def smooth_noise(shape, sigma=5.0, seed=0):
    """White noise through a Gaussian low pass, stretched to 0..1."""
    fy, fx = np.fft.fftfreq(shape[0])[:, None], np.fft.fftfreq(shape[1])
    low_pass = np.exp(-2 * (np.pi * sigma) ** 2 * (fx**2 + fy**2))
    noise = np.fft.ifft2(np.fft.fft2(np.random.default_rng(seed).random(shape)) * low_pass).real
    return (noise - noise.min()) / np.ptp(noise)


def measured_shift(left, right):
    """The d that minimises |left(x) - right(x - d)|^2, borders left out; Fourier interpolation."""
    frequency = np.fft.fftfreq(left.shape[1])
    spectrum = np.fft.fft(right - right.mean())
    candidates = np.arange(-4, 4, 0.05)
    cost = []
    for d in candidates:
        moved = np.fft.ifft(spectrum * np.exp(-2j * np.pi * frequency * d)).real
        cost.append(np.sum((left - left.mean() - moved)[:, 30:-30] ** 2))
    quadratic = np.polyfit(candidates[around := slice(np.argmin(cost) - 2, np.argmin(cost) + 3)], cost[around], 2)
    return -quadratic[1] / (2 * quadratic[0])


# ---- the kernel ------------------------------------------------------------------------------------------


@given(disparities)
@example(1e-9)
@example(-5e-324)
@example(0.0)
def test_kernel_has_unit_mass_and_exact_centroid(d):
    assert moments(half_disc(d)) == pytest.approx((1, d / 2, 0), abs=1e-12)


@given(disparities)
def test_views_are_mirrored(d):
    kernel = half_disc(d)
    np.testing.assert_array_equal(half_disc(-d), kernel[:, ::-1])
    np.testing.assert_allclose(kernel[::-1], kernel, atol=1e-15)
    assert (kernel >= 0).all()


@pytest.mark.parametrize("d", [3.0, 12.0, 30.0])
def test_kernel_is_a_half_disc(d):
    """Uniform inside, nothing on the other side, and the radius of the formula."""
    kernel, radius = half_disc(d), 3 * np.pi * d / 8
    y, x = np.indices(kernel.shape) - len(kernel) // 2
    distance = np.hypot(x, y)
    assert kernel[x < 0].max() == 0
    assert kernel[distance > radius + 1.5].sum() == 0
    inside = (x > 0) & (distance < radius - 1.5)
    np.testing.assert_allclose(kernel[inside], 2 / (np.pi * radius**2), rtol=0.01)


# ---- the views -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [-3, -0.4, 0.3, 2.5])
def test_left_at_x_matches_right_at_x_minus_d(d):
    image = smooth_noise((60, 160))
    left, right, truth = simulate(image, np.full(image.shape, d))
    assert measured_shift(left, right) == pytest.approx(d, abs=0.03)
    assert measured_shift(left, image) == pytest.approx(d / 2, abs=0.03)
    np.testing.assert_allclose(truth, d, rtol=1e-6)


def test_in_focus_is_the_image_itself():
    image = np.random.default_rng(0).integers(0, 256, (12, 20, 3), np.uint8)
    left, right, truth = simulate(image, np.zeros((12, 20)))
    np.testing.assert_array_equal(left, image)
    np.testing.assert_array_equal(right, image)
    assert not truth.any()


@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (1, 1), (23, 41)])
def test_constant_image_stays_constant(shape):
    disparity = np.random.default_rng(0).uniform(-1, 1, shape) * shape[1] / 8
    for view in simulate(np.full(shape, 200, np.uint8), disparity)[:2]:
        assert (view == 200).all()


def test_swapping_the_sign_swaps_the_views():
    image = smooth_noise((20, 50), sigma=1)
    left, right, _ = simulate(image, np.full(image.shape, 1.7))
    swapped_left, swapped_right, _ = simulate(image, np.full(image.shape, -1.7))
    np.testing.assert_allclose(left, swapped_right, atol=1e-6)
    np.testing.assert_allclose(right, swapped_left, atol=1e-6)


def test_channels_are_rendered_alike():
    image = np.random.default_rng(0).random((15, 30, 3)).astype(np.float32)
    disparity = np.linspace(-2, 3, 30) + np.zeros((15, 1))
    for together, alone in zip(simulate(image, disparity), simulate(image[..., 1], disparity), strict=True):
        np.testing.assert_allclose(together[..., 1] if together.ndim == 3 else together, alone, atol=1e-6)


# ---- in front hides behind -------------------------------------------------------------------------------

SQUARE = np.zeros((60, 90), bool)
SQUARE[20:40, 30:60] = True


@pytest.mark.parametrize(("near", "far"), [(4, 0), (3, -3), (-1, -4), (0.6, 0), (2.3, -0.7)])
def test_square_in_front_moves_whole(near, far):
    """White before black: its light is all there, moved by d/2 each way, and nothing shines through."""
    left, right, truth = simulate(SQUARE.astype(float), np.where(SQUARE, near, far))
    x = np.arange(90)
    for view, shift in ((left, near / 2), (right, -near / 2)):
        assert view.sum() == pytest.approx(SQUARE.sum(), rel=1e-4)
        assert (view.sum(0) @ x) / view.sum() - x[30:60].mean() == pytest.approx(shift, abs=1e-3)
        np.testing.assert_allclose(view[26:34, 36:54], 1, atol=1e-5)
    front = np.flatnonzero(truth[30] == np.float32(near))
    assert front.mean() - x[30:60].mean() == pytest.approx(near / 2, abs=0.5)
    assert set(np.unique(truth)) == {np.float32(near), np.float32(far)}


def test_square_in_focus_keeps_its_outline():
    """A blurred background spreads everywhere but over something sharp in front of it."""
    image = np.where(SQUARE, 0.5, smooth_noise(SQUARE.shape, sigma=1))
    for view in simulate(image, np.where(SQUARE, 0.0, -5.0))[:2]:
        np.testing.assert_allclose(view[SQUARE], 0.5, atol=1e-6)
    for view in simulate(SQUARE.astype(float), np.where(SQUARE, 0.0, -5.0))[:2]:
        np.testing.assert_allclose(view, SQUARE, atol=1e-6)


def test_hole_is_seen_behind_its_frame():
    """A far square in a near frame is covered from all sides and covers nothing."""
    left, right, _ = simulate((~SQUARE).astype(float), np.where(SQUARE, -4.0, 0.0))
    np.testing.assert_allclose(left, ~SQUARE, atol=1e-6)
    np.testing.assert_allclose(right, ~SQUARE, atol=1e-6)


def test_background_goes_on_mirrored_behind_an_edge():
    """Behind the nearest surface the middle one goes on as far as it is seen; behind that, the far one."""
    depth = np.array([[-3, 0, 0, 0, 2, 2, 2, 2, 2]], np.float32)
    assert _background(depth, reach=4).tolist() == [[0, 0, 0, 0, 2, 1, 3, 3, 8]]


def test_slope_does_not_leak():
    """A slanted white surface before black stays white inside."""
    slope = np.linspace(2, 4, 90) + np.zeros((60, 1))
    for view in simulate(SQUARE.astype(float), np.where(SQUARE, slope, -3))[:2]:
        np.testing.assert_allclose(view[26:34, 36:54], 1, atol=1e-3)


# ---- the truth of the left view --------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [-0.1, -0.02, 0.03, 0.1])
def test_truth_of_a_slanted_plane(slope):
    """d = slope X + c at the centre, x = X + d/2 in the left view."""
    width = 80
    disparity = slope * (np.arange(width) - width / 2) + np.zeros((3, 1))
    truth = simulate(np.zeros((3, width)), disparity)[2]
    centre = (np.arange(width) + slope * width / 4) / (1 + slope / 2)
    np.testing.assert_allclose(truth[:, 6:-6], (slope * (centre - width / 2) + np.zeros((3, 1)))[:, 6:-6], atol=1e-5)


def test_truth_beside_an_edge_is_the_background():
    """The square moves from 30..59 to 32..61; 30 and 31 come into view from behind it."""
    disparity = np.where(SQUARE, 4.0, -0.01 * np.arange(90))
    row = simulate(np.zeros(SQUARE.shape), disparity)[2][30]
    assert (row[32:62] == 4).all()
    np.testing.assert_allclose(row[29:32], [-0.29, -0.29, -0.29], atol=0.011)
    np.testing.assert_allclose(row[62:65], [-0.62, -0.63, -0.64], atol=0.011)


# ---- sensor ----------------------------------------------------------------------------------------------


def test_noise_is_seeded_and_independent():
    grey, flat = np.full((80, 100), 0.5), np.zeros((80, 100))
    first, again, other = (simulate(grey, flat, noise=0.02, seed=seed)[:2] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (np.stack(first) != np.stack(other)).mean() > 0.9
    left, right = first[0] - 0.5, first[1] - 0.5
    assert (left.std(), right.std()) == pytest.approx((0.02, 0.02), rel=0.05)
    assert abs(np.corrcoef(left.ravel(), right.ravel())[0, 1]) < 0.05


def test_shot_noise_grows_with_the_light():
    """The variance at a brightness b is noise^2 + shot_noise b."""
    bright = np.where(np.arange(200) < 100, 0.2, 0.6) + np.zeros((150, 1))
    left, right, _ = simulate(bright, np.zeros(bright.shape), noise=0.01, shot_noise=0.001, seed=5)
    for view in (left, right):
        for part, b in ((slice(100), 0.2), (slice(100, None), 0.6)):
            assert view[:, part].var() == pytest.approx(0.01**2 + 0.001 * b, rel=0.05)
            assert view[:, part].mean() == pytest.approx(b, abs=1e-3)


def test_half_disc_is_the_default():
    image = smooth_noise((20, 50), sigma=1)
    disparity = np.where(np.arange(50) < 25, 2.0, -1.0) + np.zeros((20, 1))
    for one, other in zip(simulate(image, disparity), simulate(image, disparity, optics=HALF_DISC), strict=True):
        np.testing.assert_array_equal(one, other)


def test_vignetting_darkens_opposite_sides():
    left, right, _ = simulate(np.full((4, 11), 0.8), np.zeros((4, 11)), vignetting=0.5)
    np.testing.assert_allclose(left[2], 0.8 * np.linspace(1, 0.5, 11), rtol=1e-6)
    np.testing.assert_allclose(right, left[:, ::-1])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_shape_and_dtype_are_kept(dtype, channels):
    top = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    image = (np.random.default_rng(0).random((16, 24, *channels)) * top).astype(dtype)
    left, right, truth = simulate(image, np.full((16, 24), 1.2), noise=0.5)
    for view in (left, right):
        assert (view.shape, view.dtype) == (image.shape, image.dtype)
        assert (view.min(), view.max()) == (0, top)  # clipped, not wrapped around
    assert (truth.shape, truth.dtype) == ((16, 24), np.float32)


IMAGE, FLAT = np.full((20, 30), 0.5), np.zeros((20, 30))


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (InputError, "^image: .* shape", {"image": np.zeros((20, 30, 4))}),
        (InputError, "^image: has no pixels", {"image": np.zeros((0, 30))}),
        (InputError, "^image: .* not int32", {"image": IMAGE.astype(np.int32)}),
        (InputError, "^image: .* scale", {"image": IMAGE * 3}),
        (InputError, "NaN", {"image": IMAGE * np.nan}),
        (
            InputError,
            r"^disparity is \d+x\d+ but image is \d+x\d+: give images of the same size$",
            {"disparity": FLAT.T},
        ),
        (InputError, "disparity has shape .*: give an HxW map", {"disparity": FLAT[..., None]}),
        (InputError, "disparity holds NaN", {"disparity": FLAT * np.nan}),
        (InputError, "disparity holds NaN, inf", {"disparity": FLAT + np.inf}),
        (InputError, "not numbers", {"disparity": FLAT.astype(str)}),
        (InputError, "eighth of the image width 30", {"disparity": FLAT - 3.8}),
        *[(ParameterError, "^noise must be .* 0 to 1, not", {"noise": x}) for x in (-1, np.nan, np.inf, "a", None)],
        *[(ParameterError, "^shot_noise must be .* 0 to 1, not", {"shot_noise": x}) for x in (-1, np.nan, "a", None)],
        *[(ParameterError, "^vignetting must be .* 0 to 1", {"vignetting": x}) for x in (1.1, -1, None, "a", True)],
        *[(ParameterError, "^seed must be a whole number", {"seed": x}) for x in (-1, 1.5, "a", None, True, 2**32)],
    ],
)
def test_input_errors(error, match, arguments):
    with pytest.raises(error, match=match) as caught:
        simulate(**{"image": IMAGE, "disparity": FLAT, **arguments})
    assert not str(caught.value).endswith(".")


def test_numbers_may_be_numpys():
    plain = simulate(IMAGE, FLAT, noise=0.25, vignetting=1, seed=3)
    numpys = simulate(IMAGE, FLAT, noise=np.float32(0.25), vignetting=np.int8(1), seed=np.uint64(3))
    for one, other in zip(plain, numpys, strict=True):
        np.testing.assert_array_equal(one, other)
