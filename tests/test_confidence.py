"""What the confidence promises."""

import cv2
import numpy as np
import pytest

import reference
from dualpix import _core
from dualpix.method.confidence import (
    LENS,
    MIDDLE,
    POWER,
    SIGMA,
    absolute_confidence,
    bias_of,
    expected_error,
    lens_sign,
    mean_curvature,
    near_texture,
    sampled,
    seen_from_finer,
    smoothness,
    texture,
    textured,
)
from dualpix.method.kinds import method_of
from dualpix.params import preset
from dualpix.types import Parabolas, Signs, Texture

AUTO = preset("auto")
RNG = np.random.default_rng(5)


def trust(A, d=None, params=AUTO):
    A = np.asarray(A, np.float32)
    d = np.zeros_like(A) if d is None else np.asarray(d, np.float32)
    return confidence(A, d, np.ones(A.shape, np.uint8), params)


def confidence(A, d, textured, params):
    method, field = method_of(params), belief(A, textured=textured)
    return method.confidence(field, method.sigma(field, d, 1), 1)


def belief(A, alpha=None, coarse=None, textured=None, bias=None):
    """A belief; alpha is the curvature of the matches alone, coarse the disparities of the coarser scale."""
    A = np.asarray(A, np.float32)
    seen = (
        Signs()
        if coarse is None
        else seen_from_finer(Parabolas(A, A, signs=Signs()), np.asarray(coarse, np.float32), 1)
    )
    return Parabolas(
        A,
        np.zeros_like(A),
        np.ones(A.shape, np.uint8) if textured is None else textured,
        limits=(-4.0, 4.0),
        signs=seen._replace(
            texture=mean_curvature(A if alpha is None else np.asarray(alpha, np.float32), 1), bias=bias
        ),
    )


# ---- the expected error ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(44, 60), (45, 61), (1, 1), (1, 30), (30, 2)])
def test_the_expected_error_agrees_with_the_oracle(shape):
    half = [(n + 1) // 2 for n in shape]
    A, alpha, d = RNG.uniform(1, 1e4, shape), RNG.uniform(0, 2, shape), RNG.uniform(-2, 2, shape)
    quarter = [(n + 3) // 4 for n in shape]
    coarse, bias = RNG.uniform(-1, 1, half), RNG.uniform(0, 1, quarter).astype(np.float32)
    found = expected_error(belief(A, alpha, coarse, bias=bias), d.astype(np.float32), 2)
    expected = reference.expected_error(alpha, d, coarse, bias, SIGMA, LENS, POWER, MIDDLE)
    assert found.shape == shape
    np.testing.assert_allclose(found, reference.upsample(reference.upsample(expected, half), shape), rtol=1e-3)


def test_without_a_coarser_scale_its_own_disparities_count_twice():
    A, d = np.full((40, 50), 100.0), RNG.uniform(-1, 1, (40, 50)).astype(np.float32)
    near = reference.span(d[::4, ::4], 5) + 0.02
    expected = np.exp(SIGMA["constant"]) * near ** (SIGMA["near"] + SIGMA["far"])
    expected *= (100 + 1e-5) ** SIGMA["texture"] * 0.01 ** (SIGMA["scales"] + SIGMA["bias"])
    y, x = np.indices(d.shape)[:, ::4, ::4]
    rho = np.hypot(y - 19.5, x - 24.5) / np.hypot(19.5, 24.5)
    lens = LENS * np.ptp(np.percentile(d, [2, 98])) ** POWER * np.hypot(rho**2, MIDDLE)
    found = expected_error(belief(A), d, 1)[::4, ::4]
    np.testing.assert_allclose(found, np.hypot(expected, lens), rtol=1e-3)


def test_a_lens_errs_most_at_the_corners():
    d = np.tile(np.linspace(-3, 3, 120, dtype=np.float32), (80, 1))
    sign = lens_sign(belief(np.ones_like(d)), d)
    assert sign.shape == (20, 30)
    assert sign[0, 0] == pytest.approx(np.ptp(np.percentile(d, [2, 98])) ** POWER)
    assert sign[10, 15] < 1e-3 * sign[0, 0]


def test_a_lens_errs_in_the_middle_too():
    """With matches that are sure, what is left in the middle is a share of the error at the corners."""
    d = np.tile(np.linspace(-300, 300, 121, dtype=np.float32), (81, 1))
    sigma = expected_error(belief(np.full(d.shape, 1e30), coarse=d[::2, ::2] / 2), d, 1)
    lens = LENS * np.ptp(np.percentile(d, [2, 98])) ** POWER
    assert sigma[40, 60] == pytest.approx(lens * MIDDLE, rel=0.03)
    assert sigma[0, 0] == pytest.approx(lens * np.hypot(1, MIDDLE), rel=0.03)


def test_a_tile_of_the_finer_scale_knows_the_middle_of_the_picture():
    coarse = belief(np.ones((40, 60))).cropped(slice(8, 40), slice(20, 60))
    seen = seen_from_finer(coarse, np.zeros(coarse.A.shape, np.float32), 1)
    assert seen.place == pytest.approx((2 * (19.5 - 8), 2 * (29.5 - 20), 2 * np.hypot(19.5, 29.5)))


@pytest.mark.parametrize("shape", [(44, 60), (45, 61), (1, 1), (1, 30)])
def test_the_bias_agrees_with_the_oracle(shape):
    a, d, v = RNG.uniform(0, 9, shape), RNG.uniform(-2, 2, shape), RNG.uniform(-9, 9, shape)
    v[RNG.random(shape) < 0.3] = -np.inf
    a, d, v = a.astype(np.float32), d.astype(np.float32), v.astype(np.float16)
    found = bias_of(Parabolas(a, a, matched=v), d, 1)
    np.testing.assert_allclose(found, reference.bias(v, a, d), rtol=1e-3, atol=1e-5)


def test_matches_that_agree_with_each_other_but_not_with_the_belief_are_a_bias():
    shape = (60, 60)
    a, d = np.ones(shape, np.float32), np.zeros(shape, np.float32)
    noise = RNG.choice(np.array([-0.5, 0.5], np.float16), shape)
    aside = bias_of(Parabolas(a, a, matched=np.full(shape, 0.5, np.float16)), d, 1)
    assert (aside == 0.5).all()
    assert np.median(bias_of(Parabolas(a, a, matched=noise), d, 1)) < 0.2


def test_without_a_match_there_is_no_bias():
    a, d = np.ones((20, 20), np.float32), np.zeros((20, 20), np.float32)
    assert (bias_of(Parabolas(a, a, matched=np.full(d.shape, -np.inf, np.float16)), d, 1) == 0).all()


def test_a_part_of_a_belief_keeps_its_expected_error():
    A, d = np.full((80, 90), 50.0), RNG.uniform(-1, 1, (80, 90)).astype(np.float32)
    whole = belief(A, RNG.uniform(0, 2, A.shape), RNG.uniform(-1, 1, (40, 45)), bias=np.full((20, 23), 0.1, np.float32))
    part = (slice(0, 60), slice(12, 80))
    found, expected = expected_error(whole.cropped(*part), d[part], 1), expected_error(whole, d, 1)[part]
    np.testing.assert_array_equal(found[:32, 24:-24], expected[:32, 24:-24])


def test_half_sure_is_an_error_of_a_quarter_pixel():
    sigma = np.array([[0, 0.25, 0.5, 1e9]], np.float32)
    np.testing.assert_allclose(absolute_confidence(sigma, np.ones((1, 4), np.uint8), 1), [[1, 0.5, 0.2, 0]], atol=1e-6)


def test_near_a_depth_edge_it_is_less_sure():
    A = np.full((200, 200), 5000)
    d = np.where(np.arange(200) < 100, 0, 1.2) * np.ones_like(A)
    row = expected_error(belief(A, np.ones_like(A)), d.astype(np.float32), 1)[100]
    assert row[95:105].min() > 2 * row[20:60].max()


def test_blank_regions_are_less_sure_than_texture():
    alpha = np.where(np.arange(200) < 100, 1.0, 1e-4) * np.ones((80, 1))
    sigma = expected_error(belief(np.full((80, 200), 300.0), alpha), np.zeros((80, 200), np.float32), 1)
    assert sigma[:, 140:].min() > 2 * sigma[:, :60].max()


def test_without_any_texture_it_may_be_anything_of_the_range():
    textured = np.zeros((20, 30), np.uint8)
    textured[5, 7] = 1
    sigma = expected_error(belief(np.full((20, 30), 9.0), textured=textured), np.zeros((20, 30), np.float32), 1)
    assert (sigma[textured == 0] == np.float32(8 / np.sqrt(12))).all()
    assert sigma[5, 7] < 1


# ---- the confidence --------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"messages": "paper"}, {"noise_floor": 0.0}])
def test_curvature_without_a_scale_is_compared_with_its_mean(change):
    A, d = RNG.uniform(0, 1e4, (40, 50)), RNG.uniform(-2, 2, (40, 50))
    np.testing.assert_allclose(trust(A, d, AUTO.replace(**change)), A / (A + A.mean()), rtol=1e-5)
    np.testing.assert_allclose(trust(1e3 * A, d, AUTO.replace(**change)), A / (A + A.mean()), rtol=1e-5)


@pytest.mark.parametrize("messages", ["paper", "exact"])
def test_grows_with_the_curvature_and_stays_within_0_and_1(messages):
    found = [
        trust(np.full((6, 6), A), params=AUTO.replace(messages=messages))[3, 3] for A in (0, 1e-6, 1, 30, 1e3, 1e6)
    ]
    assert (np.diff(found) > 0).all() if messages == "exact" else (np.diff(found) >= 0).all()
    assert min(found) >= 0
    assert max(found) <= 1


@pytest.mark.parametrize("messages", ["paper", "exact"])
def test_nothing_matched_is_nothing_known(messages):
    A, textured = np.full((3, 4), 1e5, np.float32), np.zeros((3, 4), np.uint8)
    textured[1, 2] = 1
    found = confidence(A, np.zeros_like(A), textured, AUTO.replace(messages=messages))
    assert np.argwhere(found).tolist() == [[1, 2]]


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (33, 70), (64, 17)])
@pytest.mark.parametrize("step", [1, 3, 4])
def test_a_sample_is_every_so_many_th_pixel(shape, step):
    values = RNG.normal(size=shape).astype(np.float32)
    for threads in (1, 3):
        np.testing.assert_array_equal(sampled(values, step, threads), values[::step, ::step])


# ---- where anything was matched ------------------------------------------------------------------------


def test_texture_reaches_as_far_as_the_window():
    alpha = np.zeros((80, 100), np.float32)
    alpha[30, 40] = 1e-6
    expected = np.zeros((80, 100))
    expected[10:51, 20:61] = 1
    np.testing.assert_array_equal(near_texture(alpha, None, 41, 2), expected)


@pytest.mark.parametrize("shape", [(80, 100), (79, 99)])
def test_texture_of_a_coarser_scale_counts(shape):
    alpha = np.zeros(shape, np.float32)
    alpha[5, 5] = 1
    coarser = np.zeros((40, 50), np.uint8)
    coarser[30:, 40:] = 1
    expected = np.zeros(shape)
    expected[60:, 80:] = 1
    expected[3:8, 3:8] = 1
    np.testing.assert_array_equal(near_texture(alpha, coarser, 5, 2), expected)


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (257, 1), (131, 67), (300, 129)])
@pytest.mark.parametrize("side", [1, 3, 17, 64, 401])
def test_texture_of_random_points(shape, side):
    rng = np.random.default_rng(side)
    alpha = np.where(rng.random(shape) < 0.003, 1, rng.choice([0, -1, np.nan], shape)).astype(np.float32)
    coarser = (rng.random([(n + 1) // 2 for n in shape]) < 0.003).astype(np.uint8)
    height, width = shape
    expected = cv2.dilate((alpha > 0).view(np.uint8), np.ones((side, side), np.uint8))
    expected |= coarser.repeat(2, axis=0).repeat(2, axis=1)[:height, :width]
    for threads in (1, 3):
        np.testing.assert_array_equal(near_texture(alpha, coarser, side, threads), expected)
        vertices = np.where(alpha > 0, 0, -np.inf).astype(np.float16)
        evidence = Parabolas(alpha, alpha, matched=vertices, texture=Texture(coarser, side))
        np.testing.assert_array_equal(textured(evidence, threads), expected)


def test_nothing_matched_anywhere():
    blank = np.zeros((30, 40), np.float32)
    assert not near_texture(blank, None, 41, 1).any()
    assert not near_texture(blank, np.zeros((15, 20), np.uint8), 41, 1).any()


# ---- the paper's weights of the solver on phones -------------------------------------------------

SIDE = 5  # px, of the window


def windows(values):
    """The 5x5 pixels around each, mirrored at the border."""
    return np.lib.stride_tricks.sliding_window_view(np.pad(values, 2, mode="symmetric"), (5, 5))


def test_texture_is_gradient_along_x_and_contrast():
    view = RNG.uniform(0, 40, (30, 40)).astype(np.float32)
    view[8:20, 10:25] = 17
    padded = np.pad(view, 1, mode="reflect").astype(np.float64)
    across = padded[:, 2:] - padded[:, :-2]
    gradient = (across[:-2] + 2 * across[1:-1] + across[2:]) / 8
    g2, variance = (windows(gradient) ** 2).mean(axis=(2, 3)), windows(view.astype(np.float64)).var(axis=(2, 3))
    np.testing.assert_allclose(texture(view, SIDE, 1), g2 / (g2 + 9) * variance / (variance + 9), rtol=1e-3, atol=1e-5)
    assert texture(view, SIDE, 1)[13, 17] < 1e-5


def test_stripes_along_x_cannot_be_matched():
    stripes = np.ascontiguousarray(np.broadcast_to(128 + 100 * np.sin(np.arange(40)), (40, 40)), np.float32)
    assert texture(stripes, SIDE, 1).min() > 0.9
    assert texture(np.ascontiguousarray(stripes.T), SIDE, 1).max() == 0


def test_rough_maps_are_trusted_less():
    d = RNG.normal(0, 0.03, (30, 40)).astype(np.float32) + 200
    variance = windows(d.astype(np.float64)).var(axis=(2, 3))
    np.testing.assert_allclose(smoothness(d, SIDE, 1), 1 / (1 + variance / 0.03**2), rtol=1e-3)
    assert (smoothness(np.full_like(d, -3.3), SIDE, 1) == 1).all()


SHAPES = [(1, 1), (1, 7), (3, 1), (37, 41), (300, 501)]  # the last has more than one part


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threads", [1, 3])
def test_kernels_agree_with_numpy(shape, threads):
    sigma = RNG.exponential(1, shape).astype(np.float32)
    textured = RNG.integers(0, 2, shape, np.uint8)
    np.testing.assert_allclose(
        absolute_confidence(sigma, textured, threads), textured / (1 + (sigma / np.float32(0.25)) ** 2), rtol=1e-6
    )
    filled = sigma.copy()
    _core.fill_untextured(filled, textured, 7.5, threads)
    np.testing.assert_array_equal(filled, np.where(textured == 1, sigma, np.float32(7.5)))
    assert _core.mean(sigma, threads) == pytest.approx(sigma.mean(dtype=np.float64), rel=1e-12)
    assert _core.mean(sigma, threads) == _core.mean(sigma, 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("with_sigma", [True, False])
def test_limit_agrees_with_numpy(shape, with_sigma):
    d, confidence = (RNG.normal(0, 3, shape).astype(np.float32) for _ in range(2))
    d.flat[::5] = np.resize(np.array([np.inf, -np.inf, -2, 4.5, 4.75, -2.5], np.float32), d.flat[::5].size)
    sigma = np.ones(shape, np.float32) if with_sigma else None
    outside = (d < -2.5) | (d > 4.5)
    expected = np.clip(d, -2, 4), np.where(outside, np.float32(0), confidence)
    _core.limit(d, confidence, sigma, low=-2, high=4, beyond=0.5, threads=2)
    np.testing.assert_array_equal((d, confidence), expected)
    if sigma is not None:
        np.testing.assert_array_equal(sigma, np.where(outside, 6, 1))


@pytest.mark.parametrize("at", [0, 4095, 4096, 70_000, 150_299])
def test_one_pixel_that_needs_a_change_is_found(at):
    """Parts in which nothing changes are not written."""
    shape = (300, 501)
    textured, d = np.ones(shape, np.uint8), np.zeros(shape, np.float32)
    textured.flat[at], d.flat[at] = 0, 9
    sigma, confidence = np.ones(shape, np.float32), np.ones(shape, np.float32)
    _core.fill_untextured(sigma, textured, 7.5, 2)
    assert np.flatnonzero(sigma != 1).tolist() == [at]
    assert sigma.flat[at] == 7.5
    _core.limit(d, confidence, sigma, low=-2, high=4, beyond=0.5, threads=2)
    for each, value, rest in ((d, 4, 0), (confidence, 0, 1), (sigma, 6, 1)):
        assert np.flatnonzero(each != rest).tolist() == [at]
        assert each.flat[at] == value
