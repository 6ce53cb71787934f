"""The filters against slow direct versions, and what they do with holes, weights and mistakes."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference_filters as reference
from dualpix import InputError, ParameterError
from dualpix.filters import bilateral_solver, fill_holes, guided_filter, remove_speckles, weighted_median
from dualpix.filters.common import YUV
from dualpix.filters.post import post_filter
from dualpix.params import preset

SHAPES = [(1, 1), (1, 23), (19, 1), (2, 2), (13, 22)]
GUIDED = [guided_filter, bilateral_solver, weighted_median]


def scene(shape, colour=True, seed=0):
    """A noisy map of two planes with a step, holes, its confidence, and a guide with the same step."""
    rng = np.random.default_rng(seed)
    x = np.arange(shape[1]) + 0.3 * np.arange(shape[0])[:, None]
    near = x > 0.6 * shape[1]
    d = (np.where(near, 3, -1) + 0.02 * x + rng.normal(0, 0.2, shape)).astype(np.float32)
    d[rng.uniform(size=shape) < 0.15] = np.nan
    confidence = rng.uniform(0, 1, shape).astype(np.float32)
    confidence[rng.uniform(size=shape) < 0.1] = 0
    guide = np.where(near, 0.7, 0.3)[..., None] + rng.uniform(-0.15, 0.15, (*shape, 3 if colour else 1))
    guide = guide.astype(np.float32)
    return d, guide if colour else guide[..., 0], confidence


def oracle(d, guide, confidence):
    """The same as the reference takes them."""
    weight = np.where(np.isfinite(d), 1 if confidence is None else confidence, 0).astype(float)
    return np.where(np.isfinite(d), d, 0).astype(float), np.atleast_3d(guide).astype(float), weight


# ---- against the direct versions ---------------------------------------------------------------------------


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_guided_filter(shape, weighted, colour):
    d, guide, confidence = scene(shape, colour)
    confidence = confidence if weighted else None
    expected = reference.guided_filter(*oracle(d, guide, confidence), 3, 0.01)
    found = guided_filter(d, guide, window=7, eps=0.01, confidence=confidence)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(3, 1100), (1100, 3)])
def test_guided_filter_over_tiles(shape):
    """Larger than a tile, and a window larger than the map."""
    d, guide, confidence = scene(shape)
    found = guided_filter(d, guide, window=9, eps=1e-4, confidence=confidence)
    expected = reference.guided_filter(*oracle(d, guide, confidence), 4, 1e-4)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_guided_filter_forgets_what_has_left_the_window():
    """Huge values and full weights beside small ones: sums that slide must not keep a rest of them."""
    d, guide, confidence = scene((40, 60))
    d[:, :20] *= 1e6
    confidence[:, 30:] *= np.float32(1e-4)
    found = guided_filter(d, guide, window=5, eps=1e-3, confidence=confidence)
    expected = reference.guided_filter(*oracle(d, guide, confidence), 2, 1e-3)
    np.testing.assert_allclose(found[:, 30:], expected[:, 30:], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_bilateral_solver(shape, weighted, colour):
    d, guide, confidence = scene(shape, colour)
    confidence = confidence if weighted else None
    values, colours, weight = oracle(d, guide, confidence)
    colours = 255 * (colours @ np.transpose(YUV) if colour else colours)
    sizes = (40, 30, 30, 4, 4) if colour else (40, 4, 4)
    expected = reference.bilateral_solver(values, colours, weight, sizes, 3.0)
    found = bilateral_solver(d, guide, luma=40, chroma=30, xy=4, lam=3, confidence=confidence, iterations=1000)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_weighted_median(shape, colour):
    d, guide, confidence = scene(shape, colour)
    expected = reference.weighted_median(*oracle(d, guide, confidence), 2, 0.1)
    np.testing.assert_array_equal(
        weighted_median(d, guide, radius=2, sigma=0.1, confidence=confidence), expected.astype(np.float32)
    )


def test_weighted_median_with_equal_weights_is_the_lower_median():
    d = np.random.default_rng(1).integers(0, 5, (9, 12)).astype(np.float32)
    expected = reference.weighted_median(d, np.zeros((9, 12, 1)), np.ones((9, 12)), 3, 1)
    np.testing.assert_array_equal(weighted_median(d, np.zeros((9, 12)), radius=3, sigma=1), expected)


values = st.sampled_from([0.0, 0.5, 1.0, 1.5, 7.0, -3.0, np.nan, np.inf, -1e30])
maps = hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=values)


@settings(max_examples=60)
@given(maps, st.integers(0, 12), st.sampled_from([0.0, 0.5, 0.6, 4.0]))
def test_remove_speckles(d, size, step):
    np.testing.assert_array_equal(remove_speckles(d, size=size, step=step), reference.remove_speckles(d, size, step))


@settings(max_examples=60)
@given(maps)
def test_fill_holes(d):
    if (np.abs(d) < 1e9).any():
        np.testing.assert_array_equal(fill_holes(d), reference.fill_holes(d))
    else:
        with pytest.raises(InputError, match="no valid pixel to fill"):
            fill_holes(d)


# ---- what holds for all --------------------------------------------------------------------------------------


@pytest.mark.parametrize("smooth", GUIDED)
def test_any_number_of_threads(smooth):
    d, guide, confidence = scene((70, 1201))
    one, three = (smooth(d, guide, confidence=confidence, threads=threads) for threads in (1, 3))
    assert one.tobytes() == three.tobytes()


@pytest.mark.parametrize("smooth", GUIDED)
def test_a_constant_stays(smooth):
    d, guide, confidence = scene((30, 41))
    d[:] = 1234.5
    np.testing.assert_allclose(smooth(d, guide, confidence=np.maximum(confidence, 0.1)), 1234.5, rtol=1e-6)


@pytest.mark.parametrize("smooth", GUIDED)
def test_no_confidence_is_missing(smooth):
    """Nor is what cannot be a disparity: infinite, or a number that marks holes."""
    d, guide, confidence = scene((21, 34))
    spoilt = np.where(confidence == 0, np.float32(1e9), d)
    spoilt[np.isnan(d)] = np.resize(np.float32([np.inf, -np.inf, 3e38, -1e20]), np.isnan(d).sum())
    expected = smooth(np.where(confidence == 0, np.nan, d), guide, confidence=confidence)
    np.testing.assert_array_equal(smooth(spoilt, guide, confidence=confidence), expected)


@pytest.mark.parametrize("smooth", GUIDED)
def test_no_data_at_all(smooth):
    assert np.isnan(smooth(np.full((5, 6), np.nan), np.zeros((5, 6, 3), np.uint8))).all()


@pytest.mark.parametrize("smooth", GUIDED)
def test_guides_of_any_depth(smooth):
    d, guide, _ = scene((15, 16))
    bytes_ = np.rint(guide * 255).astype(np.uint8)
    of_bytes, of_words, of_floats = (smooth(d, g) for g in (bytes_, bytes_ * np.uint16(257), bytes_ / 255))
    np.testing.assert_allclose(of_words, of_bytes, atol=1e-5)
    np.testing.assert_allclose(of_floats, of_bytes, atol=1e-5)


def test_the_input_is_left_alone():
    d, guide, confidence = scene((15, 16))
    copies = d.copy(), guide.copy(), confidence.copy()
    for smooth in GUIDED:
        smooth(d, guide, confidence=confidence)
    remove_speckles(d, size=50, step=0.1)
    fill_holes(d)
    for array, copy in zip((d, guide, confidence), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


# ---- what each is for ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("smooth", [guided_filter, bilateral_solver, weighted_median])
def test_less_noise_and_the_step_kept(smooth):
    rng = np.random.default_rng(2)
    near = np.arange(96) >= 48
    truth = np.where(near, 2.0, -2.0) * np.ones((64, 1))
    guide = np.where(near, 0.9, 0.1) * np.ones((64, 1))
    settings = {guided_filter: {"window": 15, "eps": 0.001}}.get(smooth, {})
    found = smooth(truth + rng.normal(0, 0.5, truth.shape), guide, **settings)
    assert np.abs(found - truth).mean() < 0.1
    assert found[:, 47].max() < -1
    assert found[:, 48].min() > 1


def test_the_solver_fills_along_colours():
    """A hole across a step of the guide takes from either side what belongs there."""
    guide = np.where(np.arange(40) < 20, 0.1, 0.9) * np.ones((40, 1))
    d = np.where(np.arange(40) < 20, 1.0, 5.0) * np.ones((40, 1))
    holed = d.copy()
    holed[10:30, 10:30] = np.nan
    np.testing.assert_allclose(bilateral_solver(holed, guide, iterations=200), d, atol=1e-3)


def test_the_solver_leaves_what_nothing_leads_to():
    """One colour has no data, and is too far from the other to hear of it."""
    guide = np.where(np.arange(40) < 20, 0.1, 0.9) * np.ones((40, 1))
    d = np.where(np.arange(40) < 20, 1.0, np.nan) * np.ones((40, 1))
    found = bilateral_solver(d, guide)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(d))


def test_a_large_hole_is_filled_from_all_sides():
    y, x = np.mgrid[:60, :80]
    d = (0.1 * x).astype(np.float32)
    d[np.hypot(y - 30, x - 40) < 25] = np.nan
    filled = fill_holes(d)
    assert np.abs(filled - 0.1 * x).max() < 2.5
    assert 0 <= filled.min() <= filled.max() <= d[0, -1]


@pytest.mark.parametrize("radius", [0, 2])
@pytest.mark.parametrize("name", ["none", "guided", "solver"])
def test_after_the_filter_comes_its_median(name, radius):
    d, guide, confidence = scene((30, 40))
    d = fill_holes(d)
    settings = {"filter": name, "median_radius": radius, "median_sigma": 0.2, "guided_window": 5}
    params = dataclasses.replace(preset("stereo"), **settings)
    trust = np.maximum(confidence, np.float32(1e-3))
    colours = {"luma": params.solver_luma, "chroma": params.solver_chroma, "xy": params.solver_xy}
    expected = {
        "none": lambda: d,
        "guided": lambda: guided_filter(d, guide, window=5, eps=params.guided_eps, confidence=trust),
        "solver": lambda: bilateral_solver(d, guide, lam=params.solver_lambda, confidence=trust, **colours),
    }[name]()
    if radius:
        expected = weighted_median(expected, guide, radius=radius, sigma=0.2, confidence=trust)
    found = post_filter(d, confidence, guide, params, 2)
    np.testing.assert_array_equal(found, expected)
    assert np.isfinite(found).all()


# ---- mistakes ------------------------------------------------------------------------------------------------

D, GUIDE = np.zeros((4, 5)), np.zeros((4, 5, 3))


@pytest.mark.parametrize("smooth", GUIDED)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((D[0], GUIDE, None), "d is 1-D"),
        ((D[:0], GUIDE, None), "d has no pixels"),
        ((D > 0, GUIDE, None), "d is 2-D bool"),
        ((D, GUIDE[:3], None), "^guide is 5x3 but d is 5x4: give images of the same size$"),
        ((D, GUIDE - 1, None), "guide"),
        ((D, GUIDE * np.nan, None), "guide"),
        ((D, GUIDE, D[1:]), "^confidence is 5x3 but d is 5x4: give images of the same size$"),
        ((D, GUIDE, D - 1), "confidence holds NaN or values outside"),
        ((D, GUIDE, D + 2), "confidence holds NaN or values outside"),
        ((D, GUIDE, D * np.nan), "confidence holds NaN or values outside"),
    ],
)
def test_bad_arrays(smooth, arguments, message):
    d, guide, confidence = arguments
    with pytest.raises(InputError, match=message):
        smooth(d, guide, confidence=confidence)


@pytest.mark.parametrize(
    ("smooth", "parameter", "value"),
    [
        (guided_filter, "window", 4),
        (guided_filter, "window", 1),
        (guided_filter, "eps", 0),
        (guided_filter, "threads", 0),
        (bilateral_solver, "luma", 0),
        (bilateral_solver, "chroma", -1),
        (bilateral_solver, "xy", 0),
        (bilateral_solver, "xy", 8.5),
        (bilateral_solver, "lam", -1),
        (bilateral_solver, "lam", np.nan),
        (bilateral_solver, "iterations", -1),
        (weighted_median, "radius", 0),
        (weighted_median, "sigma", 0),
    ],
)
def test_bad_parameters(smooth, parameter, value):
    with pytest.raises(ParameterError, match=parameter):
        smooth(D, GUIDE, **{parameter: value})


@pytest.mark.parametrize(("size", "step"), [(-1, 1), (1.5, 1), (1, -1), (1, np.nan)])
def test_bad_speckles(size, step):
    with pytest.raises(ParameterError):
        remove_speckles(D, size=size, step=step)


def test_guided_wide_windows_make_nothing_up():
    """Running sums leave rounding behind; whether there is data is counted."""
    d = np.full((40, 2500), np.nan, np.float32)
    d[:, :300] = np.random.default_rng(1).uniform(1, 2, (40, 300))
    out = guided_filter(
        d,
        np.random.default_rng(0).random(d.shape),
        window=801,
        confidence=np.random.default_rng(0).random(d.shape),
        threads=2,
    )
    assert np.isnan(out[:, 300 + 800 :]).all()
    assert np.isfinite(out[:, :300]).all()


def test_guided_windows_wider_than_the_map_are_cut():
    d, guide = np.random.default_rng(0).random((9, 7)), np.random.default_rng(0).random((9, 7))
    wide = guided_filter(d, guide, window=4095)
    np.testing.assert_array_equal(wide, guided_filter(d, guide, window=17))
