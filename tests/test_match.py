"""The matching kernel against the cost volume of the oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference
from conftest import matched, textured_pair
from dualpix import _core
from dualpix.method.grey import detail
from dualpix.method.match import border_divisor, seen_by
from dualpix.method.subpixel import HISTEQ_BIAS
from dualpix.method.window import box_taps, gaussian_taps
from dualpix.params import preset
from dualpix.types import Planes, as_row

PARAMS = preset("dslr-a").replace(subpixel="histeq")
COSTS = [cost.name for cost in _core.Cost]
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
    """Bounds of the errors of the costs in float32: the roundings of a window, counted, times what is summed in it."""
    taps = reference.window(params.window, params.cost)
    rounding = (len(taps) + 12) * 2.0**-24
    if params.cost in ("sad", "ssd", "census"):
        return rounding * volume
    if params.cost == "bt":  # its half-way values are rounded
        return rounding * volume + 2.0**-23 * max(left.max(), right.max())
    zero_mean = params.cost == "zncc"
    means = (left.mean(), right.mean()) if zero_mean else (0, 0)  # subtracted first, from samples outside too
    bounds = (
        correlation_error(left - means[0], reference.shifted(right, d) - means[1], taps, zero_mean, rounding, cost)
        for d, cost in zip(disparities, volume, strict=True)
    )
    return np.stack(list(bounds))


def correlation_error(L, R, taps, zero_mean, rounding, cost):
    """The same of 1 - <L, R> / (|L| |R|), from the energies of L, L - R and L + R that float32 rounds."""

    def energy(image):
        return reference.smooth(image**2, taps)

    def norm(image):
        return np.sqrt(np.maximum(energy(image) - zero_mean * reference.smooth(image, taps) ** 2, 0))

    if zero_mean:
        rounding = 2 * rounding  # of the energy and of the mean subtracted from it
    norm_L, norm_R = norm(L), norm(R)
    L2_error, E2_error = rounding * energy(L), rounding * energy(L - R)
    difference_error = rounding * np.sqrt(energy(L - R) * energy(L + R))  # of |L|^2 - |R|^2, by Cauchy-Schwarz
    R2_error = L2_error + difference_error
    L_error, R_error = (
        np.minimum(e / np.maximum(n, 1e-30), np.sqrt(e)) for e, n in ((L2_error, norm_L), (R2_error, norm_R))
    )
    norms = np.maximum(norm_L, 0.1) * np.maximum(norm_R, 0.1)
    # only what reaches over the floor counts
    norms_error = sum(
        np.clip(n + e - 0.1, 0, e) / np.maximum(n, 0.1) for n, e in ((norm_L, L_error), (norm_R, R_error))
    )
    # |L| |R| - <L, R> = (|L - R|^2 - (|L| - |R|)^2) / 2; below the floor, <L, R> by the energies
    step_error = (difference_error + np.abs(norm_L - norm_R) * (L_error + R_error)) / np.maximum(norm_L + norm_R, 1e-30)
    above = E2_error / 2 + np.abs(norm_L - norm_R) * step_error + step_error**2 / 2
    below = L2_error + difference_error / 2 + E2_error / 2
    floored = np.minimum(norm_L - L_error, norm_R - R_error) < 0.1
    return (
        np.where(floored, below / norms + np.abs(1 - cost) * norms_error, above / norms + cost * norms_error)
        + rounding * cost
    )


def compare(left, right, disparities, params):
    """Every pixel is one that the oracle could give, had its costs the errors of float32; returns the share decided.

    That is the share of pixels that have but one winner and whose curvature and vertex are known to 1 %.
    """
    left, right = (np.ascontiguousarray(view, dtype=np.float32) for view in (left, right))
    alpha, beta = (m.astype(float) for m in matched(left, right, disparities, params, threads=2))
    assert np.isfinite(alpha).all()
    assert np.isfinite(beta).all()
    left, right, disparities = left.astype(float), right.astype(float), list(disparities)
    C = reference.cost_volume(left, right, disparities, params.window, params.cost)
    error = float_errors(left, right, disparities, params, C)
    number, tiny = np.arange(len(C))[:, None, None], 2.0**-21  # of a few operations on the costs
    may_win = C - error <= (C + error)[1:-1].min(axis=0)
    explained, winners, sharp = (np.zeros(left.shape, kind) for kind in (bool, int, bool))
    for i in range(1, len(C) - 1):
        others = number != i
        least = np.min(C + error, axis=0, where=others, initial=np.inf)
        may_be_second = others & (C - error <= least)
        second = np.min(C, axis=0, where=others, initial=np.inf)
        second_error = np.max(error, axis=0, where=may_be_second, initial=0)

        rises = np.maximum(C[[i - 1, i + 1]] - C[i], 0)
        rise_errors = error[[i - 1, i + 1]] + error[i]
        a, a_error = rises.mean(axis=0), rise_errors.mean(axis=0)
        if params.noise_floor:
            whole = C[i] + params.noise_floor
            a, a_error = a / whole, a_error / whole + a / whole * error[i] / whole
        # no vertex moves faster than the rises over the larger of them, nor further than from end to end
        x = reference.vertex(*rises, params.subpixel, HISTEQ_BIAS)
        firm = rises.max(axis=0) - rise_errors.sum(axis=0)
        x_error = np.divide(rise_errors.sum(axis=0), firm, out=np.full_like(firm, 1.1), where=firm > 0).clip(0, 1.1)
        d, d_error = disparities[i] + x, x_error + tiny * (1 + abs(disparities[i]))
        on_vertex = np.abs(beta + 2 * alpha * d) <= 2 * alpha * d_error + 1e-37

        # q = C(d1) / max(C(d0), 1e-4), S = clip((q - 1) / (Tq - 1), 0.01, 1)^2; or S = 1 if d1 is next to d0
        best = np.maximum(C[i], 1e-4)
        q, q_error = second / best, (second_error + second / best * error[i]) / best + tiny * second / best
        low, high = (np.clip((q + s * q_error - 1) / (params.ratio_threshold - 1), 0.01, 1) ** 2 for s in (-1, 1))
        beside = np.abs(number - i) <= 1
        alone, rival = (may_be_second & beside).any(axis=0), (may_be_second & ~beside).any(axis=0)
        a_low, a_high = (1 - tiny) * a - a_error, (1 + tiny) * a + a_error
        within = alone & (alpha >= a_low) & (alpha <= a_high)
        within |= rival & (alpha >= low * a_low) & (alpha <= high * a_high)
        explained |= may_win[i] & on_vertex & within
        winners += may_win[i]
        known = (a_error < 0.01 * a) & (d_error < 0.01) & ((high - low < 0.01 * high) | ~rival) & (alone != rival)
        sharp |= may_win[i] & known
    assert explained.all(), np.argwhere(~explained)[:5]
    return (sharp & (winners == 1)).mean()


# Hardly a pixel of these has one winner: costs tie, or what is left of them is rounding.
UNDECIDED = ("one column", "one pixel", "constant", "black against white", "tiny contrast")


def decided_at_least(name, cost):
    """Whole bits tie more often than intensities; below their noise there are none."""
    if name in UNDECIDED or (name, cost) == ("almost black", "census"):
        return 0
    return 0.8 if cost == "census" else 0.95


@pytest.mark.parametrize(("subpixel", "noise_floor"), [("parabola", 0), ("histeq", 0.2)])
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", IMAGES)
def test_agrees_with_the_oracle(name, cost, subpixel, noise_floor):
    window = 5 if cost in reference.BOXED else 1.7
    params = PARAMS.replace(cost=cost, subpixel=subpixel, noise_floor=noise_floor, window=window)
    decided = compare(*IMAGES[name], range(-4, 5), params)
    assert decided >= decided_at_least(name, cost)


@pytest.mark.parametrize("cost", COSTS)
def test_of_equal_costs_the_lowest_disparity_wins(cost):
    """A pattern that repeats every 4 px, which a window at d sees exactly as at d + 4."""
    left = np.tile(RNG.integers(1, 255, (24, 4)), 15).astype(np.float32)
    params = PARAMS.replace(cost=cost, subpixel="parabola", window=3 if cost in reference.BOXED else 1)
    alpha, beta = matched(left, left, range(-6, 7), params, threads=1)
    inside = (slice(None), slice(12, -12))
    np.testing.assert_allclose((-beta / (2 * alpha))[inside], -4, atol=0.5)


@pytest.mark.parametrize("value", [0, 16, 128, 255])
def test_flat_windows_correlate_with_nothing(value):
    """A flat patch, darker in the other view, costs 1 at every disparity, whatever of it float32 rounds."""
    left = RNG.uniform(20, 200, (60, 80)).astype(np.float32)
    left[10:50, 10:70] = value
    right = np.float32(0.93) * left
    alpha, _ = matched(left, right, range(-4, 5), PARAMS.replace(cost="zncc", window=2), threads=1)
    assert alpha[14:46, 14:66].max() < 0.1 * np.median(alpha[:5])


@pytest.mark.parametrize("step", [1e-3, 1e-2, 3.0])
def test_ambiguity_is_measured_against_a_floor_of_the_best_cost(step):
    """q = C(d1) / max(C(d0), 1e-4): an almost perfect match does not make its tiny rivals harmless."""
    period = 6
    left = np.tile(50 + (np.arange(60) % period == 0) * step, (30, 1)).astype(np.float32)
    right = left.copy()
    right[:, 24::period] -= np.float32(step * 1e-2)
    assert compare(left, right, range(-8, 9), PARAMS.replace(window=1.5)) > 0.1


@pytest.mark.parametrize("disparities", [range(3), range(-3, 0), range(-30, -20), range(40, 60), range(-2, 12)])
@pytest.mark.parametrize("window", [0.5, 3, 8])
@pytest.mark.parametrize("cost", COSTS)
def test_any_range_and_window(cost, disparities, window):
    decided = compare(*IMAGES["texture 40x61"], disparities, PARAMS.replace(cost=cost, window=window))
    assert decided > (0.1 if cost == "census" else 0.15)  # the whole bits of single pixels tie


@pytest.mark.parametrize("cost", COSTS)
@settings(max_examples=15)
@given(st.data(), hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), st.integers(-6, 3), st.integers(3, 9))
def test_any_images(cost, data, shape, first, count):
    values = st.one_of(st.integers(0, 255).map(float), st.floats(0, 255, width=32))
    left, right = (data.draw(hnp.arrays(np.float32, shape, elements=values)) for _ in range(2))
    compare(
        left,
        right,
        range(first, first + count),
        PARAMS.replace(cost=cost, window=3 if cost in reference.BOXED else 1.2),
    )


@pytest.mark.parametrize("cost", COSTS)
def test_a_constant_pair_has_no_curvature(cost):
    left = np.full((40, 50), 77.0, np.float32)
    alpha, beta = matched(left, left, range(-3, 4), PARAMS.replace(cost=cost), threads=1)
    # Inside; at the sides the samples beyond the image differ.
    inside = (slice(None), slice(22, -22))
    assert not alpha[inside].any()
    assert not beta[inside].any()


@pytest.mark.parametrize("cost", COSTS)
def test_sign_left_x_matches_right_x_minus_d(cost):
    left = np.zeros((30, 60), np.float32)
    left[:, 30] = 255
    right = np.roll(left, -3, axis=1)  # the line at 30 on the left is at 27 on the right
    alpha, beta = matched(left, right, range(-6, 7), PARAMS.replace(cost=cost, window=2), threads=1)
    assert -beta[15, 30] / (2 * alpha[15, 30]) == pytest.approx(3)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize(("shift", "subpixel", "tolerance"), [(-2, "parabola", 0.15), (1.3, "encc", 0.05)])
def test_a_known_shift_is_found_everywhere_inside(cost, shift, subpixel, tolerance):
    params = PARAMS.replace(cost=cost, subpixel=subpixel, window=15 if cost == "bt" else 4)
    alpha, beta = matched(*textured_pair((72, 90), shift), range(-6, 7), params, threads=1)
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
        ("census", 1, 30, True),
        ("census", -1, 255, False),
    ],
)
def test_what_a_cost_is_blind_to(cost, gain, offset, blind):
    """A gain of one view does not change ncc; gain and offset do not change zncc, but for samples beyond the image.

    census sees what is darker: nothing of an offset, all of a negative.
    """
    left, right = textured_pair((60, 80), 0.7)
    params = PARAMS.replace(cost=cost, window=2)
    changed = (gain * right + offset).astype(np.float32)
    alpha, other = (matched(left, view, range(-4, 5), params, threads=1)[0] for view in (right, changed))
    same = np.isclose(other, alpha, rtol=1e-2, atol=1e-4)[:, 10:-10]
    assert same.all() if blind else same.mean() < 0.5


def best_cost(left, right, params):
    """C(d0), from what it does to the curvature: alpha is in proportion to 1 / (C(d0) + noise_floor)."""
    one, two = (matched(left, right, range(-3, 4), params.replace(noise_floor=floor), threads=1)[0] for floor in (1, 2))
    return (2 * two - one) / (one - two)


@pytest.mark.parametrize(("cost", "blind"), [("bt", True), ("sad", False)])
def test_sampling_half_a_pixel_apart(cost, blind):
    """Pixels of one view half-way between those of the other lie in their intervals: bt costs nothing."""
    left = textured_pair((40, 60), 0)[0]
    right = np.concatenate([(left[:, 1:] + left[:, :-1]) / 2, left[:, -1:]], axis=1)
    costs = best_cost(left, right, PARAMS.replace(cost=cost, window=3))[:, 6:-6]
    assert costs.max() < 1e-4 if blind else np.median(costs) > 2


@pytest.mark.parametrize("cost", COSTS)
def test_same_bytes_for_any_threads(cost):
    left, right = (view.astype(np.float32) for view in RNG.uniform(0, 255, (2, 211, 307)))
    params = preset("dslr-a").replace(cost=cost)
    first, *others = (matched(left, right, range(-5, 6), params, threads=threads) for threads in (1, 2, 7))
    for other in others:
        assert [a.tobytes() for a in first] == [a.tobytes() for a in other]


@pytest.mark.parametrize(
    ("setting", "compares_detail", "correlates_detail"),
    [("none", False, False), ("cost", True, False), ("all", True, True)],
)
def test_detail_says_which_planes_are_compared_and_which_correlated(setting, compares_detail, correlates_detail):
    planes = Planes(*RNG.uniform(0, 255, (3, 20, 30)).astype(np.float32))
    plain, fine = planes[:2], [detail(view, 1) for view in planes[:2]]
    compared, correlated = seen_by(planes, PARAMS.replace(detail=setting).matching, 2)
    np.testing.assert_array_equal(compared, fine if compares_detail else plain)
    np.testing.assert_array_equal(correlated, fine if correlates_detail else plain)


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
    divisor = border_divisor(width, disparities, params.matching)
    np.testing.assert_allclose(divisor, expected, rtol=1e-6)
    assert divisor[0] == divisor[-1] == params.border
    assert (border_divisor(width, disparities, params.replace(border=1).matching) == 1).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"right": np.zeros((4, 6), np.float32)}, "same shape"),
        ({"encc_right": np.zeros((4, 6), np.float32)}, "encc_right must have the shape"),
        ({"count": 2}, "three disparities"),
        ({"bias": as_row([0.0])}, "21"),
        ({"taps": as_row([])}, "taps"),
        ({"side": 3}, "side must be 1 or 2"),
        ({"side": 2, "cost": _core.Cost.zncc}, "blocks need the cost sad or ssd"),
    ],
)
def test_the_kernel_refuses_what_it_cannot_read(change, message):
    maps = {
        name: np.zeros((4, 5), np.float32) for name in ("left", "right", "encc_left", "encc_right", "alpha", "beta")
    }
    rest = {"first": -1, "count": 3, "side": 1, "taps": gaussian_taps(1), "bias": as_row(HISTEQ_BIAS)}
    kinds = {"subpixel": _core.Subpixel.histeq, "cost": _core.Cost.sad}
    numbers = {"encc_window": 15, "ratio_threshold": 2.2, "noise_floor": 0, "threads": 1}
    with pytest.raises(ValueError, match=message):
        _core.match(**(maps | rest | kinds | numbers | change))


# ---- one range a tile -----------------------------------------------------------------------------


@pytest.mark.parametrize("subpixel", ["parabola", "histeq", "encc"])
def test_a_tile_is_matched_as_if_its_range_was_that_of_all(subpixel):
    left, right = (plane.astype(np.float32) for plane in RNG.uniform(0, 255, (2, 130, 210)))
    params = preset("dslr-a").replace(window=2.0, encc_window=5).replace(subpixel=subpixel)
    whole, side = range(-6, 9), _core.tile
    ranges = np.array([[(-6, 15), (-4, 3), (0, 9)], [(2, 5), (-6, 4), (5, 4)]], np.int32)
    alpha, beta = matched(left, right, whole, params, 2, ranges=ranges)
    for i, j in np.ndindex(2, 3):
        first, count = map(int, ranges[i, j])
        tile = np.s_[i * side : (i + 1) * side, j * side : (j + 1) * side]
        expected = matched(left, right, range(first, first + count), params, 1)
        np.testing.assert_array_equal(alpha[tile], expected[0][tile])
        np.testing.assert_array_equal(beta[tile], expected[1][tile])


@pytest.mark.parametrize(
    "ranges",
    [[[(0, 2)]], [[(-2, 3)]], [[(1, 3)]], [[(0, 4)]], [[(2**31 - 1, 3)]], [[(-1, 3), (-1, 3)]], [[(-1, 3, 3)]]],
)
def test_kernel_refuses_ranges(ranges):
    plane = np.zeros((4, 5), np.float32)
    with pytest.raises(ValueError, match="ranges must"):
        matched(plane, plane, range(-1, 3), PARAMS, 1, ranges=np.array(ranges, np.int32))


def test_histeq_survives_infinite_rises():
    """Images are checked before, but no kernel may crash."""
    left, right = np.full((6, 12), 5, np.float32), np.full((6, 12), 5, np.float32)
    right[:, ::4] = np.inf
    with np.errstate(invalid="ignore"):
        matched(left, right, range(-2, 3), PARAMS.replace(window=0.5), 1)
