"""The matching kernel against the cost volume of the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference
from conftest import textured_pair
from dualpix import _core
from dualpix.arrays import as_row
from dualpix.matching import COST, border_divisor, box_taps, gaussian_taps, local_parabolas
from dualpix.params import preset
from dualpix.subpixel import HISTEQ_BIAS

PARAMS = preset("dslr-a").replace(subpixel="histeq")
RNG = np.random.default_rng(1)
IMAGES = {
    "noise 7x9": RNG.uniform(0, 255, (2, 7, 9)),
    "noise 97x193": RNG.uniform(0, 255, (2, 97, 193)),
    "texture 40x61": np.stack(textured_pair((40, 61), 0.7)),
    "one row": RNG.uniform(0, 255, (2, 1, 50)),
    "one column": RNG.uniform(0, 255, (2, 50, 1)),
    "one pixel": RNG.uniform(0, 255, (2, 1, 1)),
    "constant": np.full((2, 12, 13), 128.0),
    "black against white": np.stack([np.zeros((9, 20)), np.full((9, 20), 255.0)]),
    "tiny contrast": 100 + 1e-2 * RNG.uniform(0, 1, (2, 20, 30)),
    "almost black": RNG.uniform(0, 0.25, (2, 12, 25)),
}


def float_errors(left, right, disparities, params, volume):
    """How far costs may be off in float32: in proportion to themselves, or to what they are the difference of."""
    if params.cost in ("sad", "ssd"):
        return 2e-6 * volume
    if params.cost == "bt":  # its half-way values are rounded
        return 2e-6 * volume + 4e-8 * max(left.max(), right.max())
    taps, zero_mean = reference.gaussian_window(params.window), params.cost == "zncc"
    left_mean, right_mean = (left.mean(), right.mean()) if zero_mean else (0, 0)

    def energy_and_norm(image):
        energy, mean = reference.smooth(image**2, taps), reference.smooth(image, taps)
        return energy, np.sqrt(np.maximum(energy - zero_mean * mean**2, 0.1**2))

    L2, L = energy_and_norm(left - left_mean)
    errors = 2e-7 * volume
    for error, d in zip(errors, disparities, strict=True):
        R2, R = energy_and_norm(reference.shifted(right, d) - right_mean)
        E2 = reference.smooth((left - reference.shifted(right, d)) ** 2, taps)
        error += 2e-6 * (L2 + R2 if zero_mean else E2) / (L * R)
    return errors


def compare(left, right, disparities, params):
    """Kernel and oracle agree wherever rounding cannot change which costs are the best; returns that share.

    Costs that tie exactly count: both must then prefer the same disparity.
    """
    left, right = (np.ascontiguousarray(view, dtype=np.float32) for view in (left, right))
    alpha, beta = local_parabolas(left, right, disparities, params, threads=2)
    left, right, disparities = left.astype(float), right.astype(float), list(disparities)
    volume = reference.cost_volume(left, right, disparities, params.window, params.cost)
    expected_alpha, expected_beta = reference.local_parabolas(
        volume, disparities, params.subpixel, HISTEQ_BIAS, params.ratio_threshold
    )
    assert np.isfinite(alpha).all()
    assert np.isfinite(beta).all()
    errors = float_errors(left, right, disparities, params, volume)
    contents = reference.cost_volume(left, right, disparities, params.window, "ssd")
    order = np.argsort(volume, axis=0, kind="stable")
    best, error, content = (np.take_along_axis(values, order, axis=0) for values in (volume, errors, contents))
    clear = np.ones(left.shape, bool)
    for k in range(3):
        rest = slice(k + 1, None)
        # Ties hold in float32 if they are of nothing, or of the same windows, such as those outside the image.
        tied = (best[rest] == best[k]) & ((best[rest] == 0) | (content[rest] == content[k]))
        clear &= (tied | (best[k] + error[k] < (best - error)[rest])).all(axis=0)
    clear |= np.ptp(volume, axis=0) == 0
    # Rounding may choose any of the costs that tie; otherwise only the errors of the costs used count.
    winner = 1 + np.argmin(volume[1:-1], axis=0)
    used = np.take_along_axis(errors, np.stack([*order[:3], winner - 1, winner, winner + 1]), axis=0)
    rounding = np.where((np.diff(best, axis=0) == 0).any(axis=0), errors.max(axis=0), used.max(axis=0))
    # alpha = S a, S the square of s = (q - 1) / (Tq - 1) with q the ratio of two costs
    floored = np.maximum(best[0], 1e-4)
    q = best[1] / floored
    s = np.clip((q - 1) / (params.ratio_threshold - 1), 0.01, 1)
    s_error = 2 * q * rounding / floored / (params.ratio_threshold - 1)
    allowed = (1e-4 + 2 * s_error / s) * expected_alpha + rounding
    assert (np.abs(alpha - expected_alpha) <= allowed)[clear].all()
    # d = -beta / (2 alpha); an error of the costs moves the vertex by its share of the curvature.
    curved = clear & (expected_alpha > 0) & (alpha > 0)
    d = -beta[curved] / (2 * alpha[curved])
    expected = -expected_beta[curved] / (2 * expected_alpha[curved])
    allowed = 1e-4 * np.maximum(np.abs(expected), 1) + rounding[curved] / expected_alpha[curved]
    assert (np.abs(d - expected) <= allowed).all()
    return clear.mean()


@pytest.mark.parametrize("subpixel", ["parabola", "histeq"])
@pytest.mark.parametrize("cost", COST)
@pytest.mark.parametrize("name", IMAGES)
def test_agrees_with_the_oracle(name, cost, subpixel):
    params = PARAMS.replace(cost=cost, subpixel=subpixel, window=5 if cost == "bt" else 1.7)
    # Correlations divide small differences: there rounding leaves fewer pixels whose winner is clear.
    least = 0.9 if cost == "sad" else 0.5 if name == "tiny contrast" else 0.75
    assert compare(*IMAGES[name], range(-4, 5), params) > least


@pytest.mark.parametrize("step", [1e-3, 1e-2, 3.0])
def test_ambiguity_is_measured_against_a_floor_of_the_best_cost(step):
    """q = C(d1) / max(C(d0), 1e-4): an almost perfect match does not make its tiny rivals harmless."""
    period = 6
    left = np.tile(50 + (np.arange(60) % period == 0) * step, (30, 1)).astype(np.float32)
    right = left.copy()
    right[:, 24::period] -= np.float32(step * 1e-2)
    assert compare(left, right, range(-8, 9), PARAMS.replace(window=1.5)) > 0.3


@pytest.mark.parametrize("disparities", [range(3), range(-3, 0), range(-30, -20), range(40, 60), range(-2, 12)])
@pytest.mark.parametrize("window", [0.5, 3, 8])
@pytest.mark.parametrize("cost", COST)
def test_any_range_and_window(cost, disparities, window):
    assert compare(*IMAGES["texture 40x61"], disparities, PARAMS.replace(cost=cost, window=window)) > 0.5


@pytest.mark.parametrize("cost", COST)
@settings(max_examples=15, deadline=None)
@given(st.data(), hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), st.integers(-6, 3), st.integers(3, 9))
def test_any_images(cost, data, shape, first, count):
    values = st.one_of(st.integers(0, 255).map(float), st.floats(0, 255, width=32))
    left, right = (data.draw(hnp.arrays(np.float32, shape, elements=values)) for _ in range(2))
    compare(left, right, range(first, first + count), PARAMS.replace(cost=cost, window=3 if cost == "bt" else 1.2))


@pytest.mark.parametrize("cost", COST)
def test_a_constant_pair_has_no_curvature(cost):
    left = np.full((40, 50), 77.0, np.float32)
    alpha, beta = local_parabolas(left, left, range(-3, 4), PARAMS.replace(cost=cost), threads=1)
    # Inside; at the sides the samples beyond the image differ.
    inside = (slice(None), slice(22, -22))
    assert not alpha[inside].any()
    assert not beta[inside].any()


@pytest.mark.parametrize("cost", COST)
def test_sign_left_x_matches_right_x_minus_d(cost):
    left = np.zeros((30, 60), np.float32)
    left[:, 30] = 255
    right = np.roll(left, -3, axis=1)  # the line at 30 on the left is at 27 on the right
    alpha, beta = local_parabolas(left, right, range(-6, 7), PARAMS.replace(cost=cost, window=2), threads=1)
    assert -beta[15, 30] / (2 * alpha[15, 30]) == pytest.approx(3)


@pytest.mark.parametrize("cost", COST)
@pytest.mark.parametrize(("shift", "subpixel", "tolerance"), [(-2, "parabola", 0.15), (1.3, "encc", 0.05)])
def test_a_known_shift_is_found_everywhere_inside(cost, shift, subpixel, tolerance):
    params = PARAMS.replace(cost=cost, subpixel=subpixel, window=15 if cost == "bt" else 4)
    alpha, beta = local_parabolas(*textured_pair((72, 90), shift), range(-6, 7), params, threads=1)
    inside = (slice(12, -12), slice(20, -20))
    assert np.abs(-beta / (2 * alpha) - shift)[inside].max() < tolerance


@pytest.mark.parametrize(
    ("cost", "gain", "offset", "blind"),
    [
        ("ncc", 0.6, 0, True),
        ("ncc", 1, 30, False),
        ("zncc", 0.6, 0, True),
        ("zncc", 1.2, 30, True),
        ("sad", 0.6, 0, False),
        ("bt", 1, 30, False),
    ],
)
def test_what_a_cost_is_blind_to(cost, gain, offset, blind):
    """A gain of one view does not change ncc; gain and offset do not change zncc, but for samples beyond the image."""
    left, right = textured_pair((60, 80), 0.7)
    params = PARAMS.replace(cost=cost, window=2)
    changed = (gain * right + offset).astype(np.float32)
    alpha, other = (local_parabolas(left, view, range(-4, 5), params, threads=1)[0] for view in (right, changed))
    same = np.isclose(other, alpha, rtol=1e-2, atol=1e-4)[:, 10:-10]
    assert same.all() if blind else same.mean() < 0.5


def best_cost(left, right, params):
    """C(d0), from what it does to the curvature: alpha is in proportion to 1 / (C(d0) + noise_floor)."""
    one, two = (
        local_parabolas(left, right, range(-3, 4), params.replace(noise_floor=floor), threads=1)[0] for floor in (1, 2)
    )
    return (2 * two - one) / (one - two)


@pytest.mark.parametrize(("cost", "blind"), [("bt", True), ("sad", False)])
def test_sampling_half_a_pixel_apart(cost, blind):
    """Pixels of one view half-way between those of the other lie in their intervals: bt costs nothing."""
    left = textured_pair((40, 60), 0)[0]
    right = np.concatenate([(left[:, 1:] + left[:, :-1]) / 2, left[:, -1:]], axis=1)
    costs = best_cost(left, right, PARAMS.replace(cost=cost, window=3))[:, 6:-6]
    assert costs.max() < 1e-4 if blind else np.median(costs) > 2


@pytest.mark.parametrize("cost", COST)
def test_same_bytes_for_any_threads(cost):
    left, right = (view.astype(np.float32) for view in RNG.uniform(0, 255, (2, 211, 307)))
    params = preset("dslr-a").replace(cost=cost)
    first, *others = (local_parabolas(left, right, range(-5, 6), params, threads=threads) for threads in (1, 2, 7))
    for other in others:
        assert [a.tobytes() for a in first] == [a.tobytes() for a in other]


@pytest.mark.parametrize("omega", [0.5, 1, 2.3, 8])
def test_taps(omega):
    taps, full = gaussian_taps(omega), reference.gaussian_window(omega)
    np.testing.assert_allclose(np.concatenate([taps[:0:-1], taps]), full, rtol=1e-6)


@pytest.mark.parametrize(("side", "taps"), [(0.5, 1), (1.9, 1), (2, 3), (5, 5), (6, 7), (6.5, 7)])
def test_box_taps(side, taps):
    np.testing.assert_allclose(box_taps(side), [1 / taps] * (taps // 2 + 1), rtol=1e-6)
    assert len(reference.box_window(side)) == taps


@pytest.mark.parametrize(("width", "disparities"), [(100, range(-5, 6)), (10, range(-20, 21)), (1, range(3))])
def test_border(width, disparities):
    params = preset("dslr-a")
    expected = reference.border_divisor(width, params.window, list(disparities), params.border)
    divisor = border_divisor(width, disparities, params)
    np.testing.assert_allclose(divisor, expected, rtol=1e-6)
    assert divisor[0] == divisor[-1] == params.border
    assert (border_divisor(width, disparities, params.replace(border=1)) == 1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"right": np.zeros((4, 6), np.float32)}, "same shape"),
        ({"count": 2}, "three disparities"),
        ({"bias": as_row([0.0])}, "21"),
        ({"taps": as_row([])}, "taps"),
        ({"subpixel": 3}, "encc"),
        ({"cost": 5}, "sad.*zncc"),
        ({"cost": -1}, "sad.*zncc"),
    ],
)
def test_the_kernel_refuses_what_it_cannot_read(change, message):
    maps = {name: np.zeros((4, 5), np.float32) for name in ("left", "right", "alpha", "beta")}
    rest = {"first": -1, "count": 3, "taps": gaussian_taps(1), "subpixel": 1, "bias": as_row(HISTEQ_BIAS), "cost": 0}
    numbers = {"encc_window": 15, "ratio_threshold": 2.2, "noise_floor": 0, "threads": 1}
    with pytest.raises(ValueError, match=message):
        _core.match(**(maps | rest | numbers | change))
