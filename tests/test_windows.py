"""Windows, means of areas, shifted tiles and quantiles, against plain NumPy."""

import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dualpix import _core
from dualpix.method.brightness import equalising_gain, low_pass
from dualpix.method.confidence import spread, window_mean
from dualpix.quantiles import median, quantiles
from reference import area_means, gain_of, shifted_tiles, smooth, span

SHAPES = [(1, 1), (1, 7), (3, 1), (2, 2), (37, 41), (65, 300)]  # the last has several tasks and parts of a row
RNG = np.random.default_rng(0)


def plane(shape, scale=100.0):
    return (scale * RNG.standard_normal(shape)).astype(np.float32)


# ---- smooth ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [1, 3, 5, 9])
def test_smooth_weighs_the_window_with_mirrored_borders(shape, n):
    image, taps = plane(shape), RNG.uniform(-1, 1, n)
    expected = np.array(image, np.float64)
    for axis, size in enumerate(shape):  # np.pad mirrors again where the window is larger than the image
        pad = [(0, 0), (0, 0)]
        pad[axis] = (n // 2, n // 2)
        padded = np.pad(expected, pad, mode="symmetric")
        expected = sum(tap * np.take(padded, range(k, k + size), axis) for k, tap in enumerate(taps))
    for threads in (1, 3):
        found = np.full(shape, np.nan, np.float32)
        _core.smooth(image, found, taps, threads)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)


def test_the_oracle_and_opencv_agree_with_smooth():
    image, taps = plane((30, 50)), np.array([1, 4, 6, 4, 1]) / 16
    found = np.empty_like(image)
    _core.smooth(image, found, taps, 1)
    np.testing.assert_allclose(found, smooth(image.astype(float), taps), rtol=1e-6, atol=1e-5)
    for side in (2, 5, 9):
        mean = cv2.blur(image, (side, side), borderType=cv2.BORDER_REFLECT)
        np.testing.assert_allclose(window_mean(image, side, 1), mean, atol=2e-5)


@pytest.mark.parametrize("value", [0.0, 1e30, -7.25])
def test_the_mean_of_a_constant_is_it(value):
    constant = np.full((9, 70), value, np.float32)
    np.testing.assert_array_equal(window_mean(constant, 5, 2), constant)


def test_a_mean_leaves_nothing_of_values_outside_its_window():
    image = np.zeros((40, 60), np.float32)
    image[3, 4] = 1e30
    assert (window_mean(image, 5, 1)[:, 7:] == 0).all()


def test_threads_change_no_byte():
    image, taps = plane((500, 333)), np.full(11, 1 / 11)
    outs = [np.empty_like(image) for _ in range(6)]
    small = [np.empty((96, 128), np.float32) for _ in range(2)]
    for i, threads in enumerate((1, 4)):
        _core.smooth(image, outs[i], taps, threads)
        _core.spread(image, outs[2 + i], 11, threads)
        _core.shrink(image, small[i], threads)
    assert outs[0].tobytes() == outs[1].tobytes()
    assert outs[2].tobytes() == outs[3].tobytes()
    assert small[0].tobytes() == small[1].tobytes()


# ---- spread ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("side", [1, 3, 5, 11, 43])
def test_spread_is_the_largest_less_the_smallest(shape, side):
    d = plane(shape)
    for threads in (1, 3):
        np.testing.assert_array_equal(spread(d, side, threads), span(d, side))


def test_spread_of_an_even_side_is_that_of_opencv():
    d, window = plane((33, 47)), np.ones((4, 4), np.uint8)
    np.testing.assert_array_equal(spread(d, 4, 1), cv2.dilate(d, window) - cv2.erode(d, window))


def test_spread_of_extremes():
    most = np.finfo(np.float32).max
    assert (spread(np.full((5, 9), most), 3, 1) == 0).all()
    assert spread(np.array([[0, most]], np.float32), 3, 1).tolist() == [[most, most]]


# ---- shrink ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "small"),
    [
        ((1, 1), (1, 1)),
        ((7, 1), (3, 1)),
        ((5, 9), (5, 9)),
        ((37, 41), (10, 13)),
        ((64, 96), (16, 24)),
        ((99, 70), (98, 1)),
    ],
)
def test_shrink_averages_the_area_of_every_pixel(shape, small):
    image = plane(shape)
    for threads in (1, 3):
        found = np.empty(small, np.float32)
        _core.shrink(image, found, threads)
        np.testing.assert_allclose(found, area_means(image, small), rtol=1e-6, atol=1e-5)
    by_opencv = cv2.resize(image, small[::-1], interpolation=cv2.INTER_AREA).reshape(small)
    np.testing.assert_allclose(found, by_opencv, atol=1e-4)


def test_shrink_keeps_a_constant_and_refuses_to_enlarge():
    small = np.empty((11, 13), np.float32)
    _core.shrink(np.full((50, 70), 255, np.float32), small, 2)
    np.testing.assert_allclose(small, 255, rtol=1e-7)
    with pytest.raises(ValueError, match="not be larger"):
        _core.shrink(small, np.empty((12, 13), np.float32), 1)


def test_gains_of_a_large_view_are_those_of_its_small_picture():
    y, x = np.indices((300, 400))
    left, right = (np.float32(128) + plane((300, 400), 5) + np.float32(0.2 * k * x + 0.1 * y) for k in (1, -1))
    small = [area_means(view, (96, 128)) for view in (left, right)]
    expected = gain_of(*small, 0.1)
    np.testing.assert_allclose(equalising_gain(left, right, 0.1, 1), expected, rtol=1e-6)
    assert low_pass(left, 0.1, 1).shape == (96, 128)
    assert low_pass(left[:, :1].copy(), 0.1, 1).shape == (128, 1)


# ---- shifted tiles ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "side", "reach"), [((1, 1), 1, 0), ((8, 8), 8, 3), ((27, 41), 8, 9), ((33, 20), 5, 40)]
)
def test_tile_shifts_try_every_shift_within_the_view(shape, side, reach):
    left, right = 100 + plane(shape, 20), 100 + plane(shape, 20)
    for threads in (1, 3):
        rest = np.full((3, shape[0] // side * (shape[1] // side)), np.nan)
        _core.tile_shifts(left, right, rest, side=side, reach=reach, alike=1e-3, threads=threads)
        np.testing.assert_allclose(rest, shifted_tiles(left, right, side, reach, 1e-3), rtol=1e-6, atol=1e-6)


# ---- quantiles -------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(n=st.integers(1, 30_000), seed=st.integers(0, 99), kind=st.sampled_from(["noise", "few", "sorted", "periodic"]))
def test_quantiles_are_those_of_numpy(n, seed, kind):
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 10, n).astype(np.float32)
    if kind == "few":
        values = np.round(values / 10)
    elif kind == "sorted":
        values = np.sort(values)
    elif kind == "periodic":  # every sample that is looked at first is the same
        values[:: max(n // 4096, 1)] = 50
    shares = [0.0, 0.02, 0.5, 0.77, 0.99, 1.0]
    np.testing.assert_allclose(
        quantiles(values, shares), np.quantile(values.astype(float), shares), rtol=1e-6, atol=1e-6
    )


def test_nan_does_not_count():
    values = plane((40, 60))
    values[3:9, ::2] = np.nan
    assert quantiles(values, [0.02, 0.98]) == pytest.approx(np.nanquantile(values.astype(float), [0.02, 0.98]))
    assert median(values[::2, ::3]) == pytest.approx(float(np.nanmedian(values[::2, ::3])))
    assert math.isnan(median(np.full((2, 3), np.nan, np.float32)))
    assert median(np.array([np.inf, np.inf, 1], np.float32)) == math.inf
    assert median(np.array([1, 2, np.inf], np.float32)) == 2
