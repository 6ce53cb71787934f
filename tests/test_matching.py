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
from dualpix.matching import border_divisor, gaussian_taps, local_parabolas
from dualpix.params import preset
from dualpix.subpixel import HISTEQ_BIAS

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
}


def compare(left, right, disparities, params):
    """Kernel and oracle agree wherever rounding cannot change the order of the three best costs; returns that share.

    Costs that tie exactly count: both must then prefer the same disparity.
    """
    left, right = (np.ascontiguousarray(view, dtype=np.float32) for view in (left, right))
    alpha, beta = local_parabolas(left, right, disparities, params, threads=2)
    volume = reference.cost_volume(left.astype(float), right.astype(float), list(disparities), params.window)
    expected_alpha, expected_beta = reference.local_parabolas(
        volume, list(disparities), params.subpixel, HISTEQ_BIAS, params.ratio_threshold
    )
    assert np.isfinite(alpha).all()
    assert np.isfinite(beta).all()
    best = np.sort(volume, axis=0)[:3]
    rounding = 1e-5 * best[2]
    gaps = np.diff(best, axis=0)
    clear = ((gaps > rounding) | (gaps == 0)).all(axis=0)
    assert (np.abs(alpha - expected_alpha) <= 1e-4 * expected_alpha + rounding)[clear].all()
    # d = -beta / (2 alpha); an error of the costs moves the vertex by its share of the curvature.
    curved = clear & (expected_alpha > 0) & (alpha > 0)
    d = -beta[curved] / (2 * alpha[curved])
    expected = -expected_beta[curved] / (2 * expected_alpha[curved])
    allowed = 1e-4 * np.maximum(np.abs(expected), 1) + rounding[curved] / expected_alpha[curved]
    assert (np.abs(d - expected) <= allowed).all()
    return clear.mean()


@pytest.mark.parametrize("subpixel", ["parabola", "histeq"])
@pytest.mark.parametrize("name", IMAGES)
def test_agrees_with_the_oracle(name, subpixel):
    params = preset("dslr-a").replace(subpixel=subpixel, window=1.7)
    assert compare(*IMAGES[name], range(-4, 5), params) > 0.9


@pytest.mark.parametrize("step", [1e-3, 1e-2, 3.0])
def test_ambiguity_is_measured_against_a_floor_of_the_best_cost(step):
    """q = C(d1) / max(C(d0), 1e-4): an almost perfect match does not make its tiny rivals harmless."""
    period = 6
    left = np.tile(50 + (np.arange(60) % period == 0) * step, (30, 1)).astype(np.float32)
    right = left.copy()
    right[:, 24::period] -= np.float32(step * 1e-2)
    assert compare(left, right, range(-8, 9), preset("dslr-a").replace(window=1.5)) > 0.3


@pytest.mark.parametrize("disparities", [range(3), range(-3, 0), range(-30, -20), range(5, 60), range(-2, 12)])
@pytest.mark.parametrize("window", [0.5, 3, 8])
def test_any_range_and_window(disparities, window):
    assert compare(*IMAGES["texture 40x61"], disparities, preset("dslr-a").replace(window=window)) > 0.5


@settings(max_examples=40, deadline=None)
@given(st.data(), hnp.array_shapes(min_dims=2, max_dims=2, max_side=20), st.integers(-6, 3), st.integers(3, 9))
def test_any_images(data, shape, first, count):
    values = st.one_of(st.integers(0, 255).map(float), st.floats(0, 255, width=32))
    left, right = (data.draw(hnp.arrays(np.float32, shape, elements=values)) for _ in range(2))
    compare(left, right, range(first, first + count), preset("dslr-a").replace(window=1.2))


def test_a_constant_pair_has_no_curvature():
    left = np.full((40, 50), 77.0, np.float32)
    alpha, beta = local_parabolas(left, left, range(-3, 4), preset("dslr-a"), threads=1)
    # Inside; at the sides the samples beyond the image differ.
    inside = (slice(None), slice(22, -22))
    assert not alpha[inside].any()
    assert not beta[inside].any()


def test_sign_left_x_matches_right_x_minus_d():
    left = np.zeros((30, 60), np.float32)
    left[:, 30] = 255
    right = np.roll(left, -3, axis=1)  # the line at 30 on the left is at 27 on the right
    alpha, beta = local_parabolas(left, right, range(-6, 7), preset("dslr-a").replace(window=2), threads=1)
    assert -beta[15, 30] / (2 * alpha[15, 30]) == pytest.approx(3)


def test_same_bytes_for_any_threads():
    left, right = (view.astype(np.float32) for view in RNG.uniform(0, 255, (2, 211, 307)))
    first, *others = (
        local_parabolas(left, right, range(-5, 6), preset("dslr-a"), threads=threads) for threads in (1, 2, 7)
    )
    for other in others:
        assert [a.tobytes() for a in first] == [a.tobytes() for a in other]


@pytest.mark.parametrize("omega", [0.5, 1, 2.3, 8])
def test_taps(omega):
    taps, full = gaussian_taps(omega), reference.gaussian_window(omega)
    np.testing.assert_allclose(np.concatenate([taps[:0:-1], taps]), full, rtol=1e-6)


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
    ],
)
def test_the_kernel_refuses_what_it_cannot_read(change, message):
    maps = {name: np.zeros((4, 5), np.float32) for name in ("left", "right", "alpha", "beta")}
    rest = {"first": -1, "count": 3, "taps": gaussian_taps(1), "histeq": True, "bias": as_row(HISTEQ_BIAS)}
    with pytest.raises(ValueError, match=message):
        _core.match(**(maps | rest | change), ratio_threshold=2.2, threads=1)
