"""The ENCC vertex against a direct, window-by-window evaluation of its formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from conftest import matched, textured_pair
from dualpix.method.grey import detail
from dualpix.params import preset

RNG = np.random.default_rng(4)


def noisy_pair(shape, d, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return [(view + rng.normal(0, noise, shape)).astype(np.float32) for view in textured_pair(shape, d, seed)]


def compare(left, right, disparities, n, omega=1.5, cost="sad"):
    """Curvature and vertex agree where winner and second best are clear; returns the share of pixels compared."""
    params = preset("dslr-a").replace(subpixel="encc", encc_window=n, window=omega, cost=cost)
    alpha, beta = matched(left, right, disparities, params, threads=2)
    assert np.isfinite(alpha).all()
    assert np.isfinite(beta).all()
    views, d = (left.astype(float), right.astype(float)), list(disparities)
    volume = reference.cost_volume(*views, d, omega, cost)
    expected = reference.local_parabolas(volume, d, "encc", None, params.ratio_threshold, views, n)
    gaps = np.diff(np.sort(volume, axis=0), axis=0)[:2].min(axis=0)
    gaps = np.minimum(gaps, np.diff(np.sort(volume[1:-1], axis=0), axis=0)[0]) if len(d) > 3 else gaps
    clear = gaps > 1e-4 * volume.max()
    np.testing.assert_array_equal(alpha[clear] > 0, expected[0][clear] > 0)
    np.testing.assert_allclose(alpha[clear], expected[0][clear], rtol=1e-3, atol=1e-4 * alpha.max())
    clear &= alpha > 0
    found, wanted = (-b[clear] / (2 * a[clear]) for a, b in ((alpha, beta), expected))
    np.testing.assert_allclose(found, wanted, atol=2e-3)
    assert (np.abs(found - wanted) < 1e-4).sum() >= 0.9 * found.size
    return clear.mean()


@pytest.mark.parametrize("n", [3, 7, 9, 15])
@pytest.mark.parametrize("shape", [(40, 61), (97, 100), (20, 130)])
def test_agrees_with_the_formulas(shape, n):
    assert compare(*noisy_pair(shape, 0.7), range(-4, 5), n) > 0.8


@pytest.mark.parametrize("cost", ["sad", "ssd"])
@pytest.mark.parametrize("omega", [4, 7.9, 10.5])
@pytest.mark.parametrize("shape", [(97, 194), (30, 131), (193, 7), (5, 3), (1, 9)])
def test_blocks_share_a_cost(shape, omega, cost):
    """Large windows: the cost is that of a block of pixels, at odd sizes and at ends that cut blocks off, too."""
    shared = compare(*noisy_pair(shape, 0.7), range(-4, 5), 9, omega, cost)
    assert shared > 0.8 or min(shape) < 8


@pytest.mark.parametrize("disparities", [range(-1, 2), range(-9, -2), range(3, 30)])
def test_any_range(disparities):
    assert compare(*noisy_pair((40, 60), -3.3), disparities, 7) > 0.5


@pytest.mark.parametrize("shape", [(1, 40), (40, 1), (1, 1), (3, 5)])
@pytest.mark.parametrize("n", [9, 63])
def test_images_smaller_than_the_window(shape, n):
    left, right = (RNG.uniform(0, 255, shape).astype(np.float32) for _ in range(2))
    compare(left, right, range(-2, 3), n)


@settings(max_examples=15)
@given(st.floats(-2.5, 2.5), st.integers(0, 1000), st.sampled_from([5, 11]))
def test_finds_any_shift(d, seed, n):
    left, right = noisy_pair((60, 90), d, 0.3, seed)
    params = preset("dslr-a").replace(subpixel="encc", encc_window=n, window=2)
    alpha, beta = matched(left, right, range(-5, 6), params, threads=1)
    inside = (slice(10, -10), slice(15, -15))
    found = -beta[inside] / (2 * np.maximum(alpha[inside], 1e-12))
    assert np.median(found[alpha[inside] > 0]) == pytest.approx(d, abs=0.03)


def test_a_window_without_variance_has_no_confidence():
    left, right = noisy_pair((60, 90), 0.5)
    for view in (left, right):
        view[:, 30:70] = 128
    params = preset("dslr-a").replace(subpixel="encc", encc_window=9, window=1)
    alpha, beta = matched(left, right, range(-3, 4), params, threads=1)
    assert not alpha[:, 40:60].any()
    assert not beta[:, 40:60].any()
    assert alpha[:, :25].any()


@pytest.mark.parametrize(
    ("left_size", "right_size", "counts"), [(0.6, 0.6, False), (0.9, 0.9, True), (0.9, 0.6, False), (0.6, 0.9, False)]
)
def test_texture_below_a_mean_square_of_a_half_in_either_view_has_no_say(left_size, right_size, counts):
    noise = RNG.choice([-1, 1], (60, 90))
    left, right = (np.float32(128) + (size * noise).astype(np.float32) for size in (left_size, right_size))
    params = preset("dslr-a").replace(subpixel="encc", encc_window=15, window=2)
    alpha, beta = matched(left, right, range(-3, 4), params, threads=1)
    inside = (slice(8, -8), slice(12, -12))
    assert (alpha[inside] > 0).all() if counts else not alpha[inside].any()
    assert counts or not beta[inside].any()


def test_a_constant_view_matches_no_texture():
    textured, _ = noisy_pair((60, 90), 0.5)
    constant = np.full_like(textured, 128)
    for views in ((constant, textured), (textured, constant)):
        alpha, beta = matched(*views, range(-3, 4), preset("auto"), threads=1)
        assert not alpha.any()
        assert not beta.any()


def test_gain_and_offset_between_the_views_do_not_move_the_vertex():
    left, right = noisy_pair((60, 90), 0.4, 0)
    params = preset("dslr-a").replace(subpixel="encc", encc_window=11, window=4, cost="sad")
    found = []
    for gain, offset in ((1, 0), (1.05, 3)):
        alpha, beta = matched(left, gain * right + np.float32(offset), range(-2, 3), params, threads=1)
        inside = (slice(12, -12), slice(20, -20))
        found.append(np.median((-beta / (2 * np.maximum(alpha, 1e-12)))[inside]))
    assert found[1] == pytest.approx(found[0], abs=0.02)


def test_never_leaves_the_interval_around_the_winner():
    left, right = (RNG.uniform(0, 255, (50, 70)).astype(np.float32) for _ in range(2))
    params = preset("dslr-a").replace(subpixel="encc", encc_window=5, window=1)
    alpha, beta = matched(left, right, range(-3, 4), params, threads=1)
    d = -beta / (2 * np.maximum(alpha, 1e-30))
    assert np.abs(d).max() <= 3.001


def test_same_bytes_for_any_threads():
    left, right = noisy_pair((211, 307), 1.1)
    params = preset("auto")
    runs = [matched(left, right, range(-4, 5), params, threads) for threads in (1, 2, 7)]
    assert len({(a.tobytes(), b.tobytes()) for a, b in runs}) == 1


def test_it_may_correlate_other_planes_than_those_compared():
    """detail=cost: the winner by the detail of the views, its vertex by the views."""
    left, right = (view.astype(np.float32) for view in textured_pair((40, 60), 1.3))
    fine_left, fine_right = detail(left, 2), detail(right, 2)
    params, disparities = preset("auto").replace(window=2.0, encc_window=7, detail="cost"), range(-4, 5)
    alpha, beta = matched(left, right, disparities, params, 2)
    cost = reference.cost_volume(fine_left.astype(float), fine_right.astype(float), np.array(disparities), 2.0)
    views = left.astype(float), right.astype(float)
    tail = params.ratio_threshold, views, 7, params.noise_floor
    A, B = reference.local_parabolas(cost, np.array(disparities), "encc", None, *tail)
    clear = A > 1e-3
    assert clear.mean() > 0.9
    np.testing.assert_allclose((beta / alpha)[clear], (B / A)[clear], atol=2e-3)
    np.testing.assert_allclose(alpha, A, rtol=1e-3, atol=1e-4)
    same = matched(left, right, disparities, params.replace(detail="all"), 2)
    assert np.abs(same[1] / same[0] - beta / alpha)[clear].max() > 0.1
