"""The whole method against the oracle, and what a caller may rely on."""

import numpy as np
import pytest

import dualpix
import reference
from conftest import textured_pair
from dualpix.pipeline import passes
from dualpix.subpixel import HISTEQ_BIAS

SMALL = {"window": 2.0, "range": (-8, 8), "encc_window": 5}


def as_uint8(pair):
    return [np.round(view).astype(np.uint8) for view in pair]


def oracle(left, right, params, guide=None):
    settings = params.to_dict() | {"bias": HISTEQ_BIAS}
    left, right = left.astype(float), right.astype(float)
    return reference.disparity(left, right, left if guide is None else guide, settings)


@pytest.mark.parametrize("preset", ["dslr-a", "dslr-b"])
@pytest.mark.parametrize("shape", [(64, 96), (61, 83)])
def test_agrees_with_the_oracle(preset, shape):
    left, right = as_uint8(textured_pair(shape, 1.3))
    params = dualpix.preset(preset).replace(**SMALL)
    result = dualpix.disparity(left, right, params)
    expected, A = oracle(left, right, params)
    np.testing.assert_allclose(result.disparity, expected, rtol=1e-4, atol=2e-4)
    np.testing.assert_allclose(result.confidence, A / (A + A.mean()), rtol=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        {"paths": 4},
        {"normalize_iterations": True},
        {"subpixel": "parabola"},
        {"subpixel": "histeq"},
        {"noise_floor": 0.2, "invalid_threshold": 1e-4},
        {"messages": "exact", "penalty": 500, "robust_tau": 0.1},
    ],
)
def test_options_agree_with_the_oracle(pair, change):
    left, right = as_uint8(pair)
    params = dualpix.preset("dslr-a").replace(**SMALL, **change)
    expected, _ = oracle(left, right, params)
    np.testing.assert_allclose(dualpix.disparity(left, right, params).disparity, expected, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("d", [-2.4, -0.5, 0.0, 0.3, 3.0])
def test_finds_a_known_shift(d):
    left, right = textured_pair((120, 160), d)
    result = dualpix.disparity(left / 255, right / 255, "dslr-a", window=3)
    inside = (slice(20, -20), slice(40, -40))
    assert np.median(result.disparity[inside]) == pytest.approx(d, abs=0.03)
    assert result.disparity.dtype == result.confidence.dtype == np.float32
    assert set(result.timings) == {"read", "pyramid", "matching", "aggregation", "confidence"}


def test_colour_is_luma_for_the_cost_and_the_mean_for_edges():
    rng = np.random.default_rng(0)
    left, right = (rng.integers(0, 256, (50, 60, 3), dtype=np.uint8) for _ in range(2))
    params = dualpix.preset("dslr-a").replace(**SMALL)
    luma = np.array([0.299, 0.587, 0.114])
    expected, _ = oracle(left @ luma, right @ luma, params, left.mean(axis=2))
    np.testing.assert_allclose(dualpix.disparity(left, right, params).disparity, expected, atol=2e-3)


def test_eight_sixteen_bit_and_float_are_the_same_picture(pair):
    left, right = as_uint8(pair)
    maps = [
        dualpix.disparity(convert(left), convert(right), **SMALL).disparity
        for convert in (lambda v: v, lambda v: v.astype(np.uint16) * 257, lambda v: v / 255)
    ]
    np.testing.assert_allclose(maps[1], maps[0], atol=1e-3)
    np.testing.assert_allclose(maps[2], maps[0], atol=1e-3)


def test_swapped_views_change_the_sign(pair):
    left, right = as_uint8(pair)
    inside = (slice(20, -20), slice(30, -30))
    there, back = dualpix.disparity(left, right, **SMALL), dualpix.disparity(right, left, **SMALL)
    assert np.median(back.disparity[inside]) == pytest.approx(-np.median(there.disparity[inside]), abs=0.02)


def test_axis_y_is_the_transposed_problem(pair):
    left, right = as_uint8(pair)
    along_x = dualpix.disparity(left, right, **SMALL)
    along_y = dualpix.disparity(left.T, right.T, axis="y", **SMALL)
    assert along_y.disparity.shape == left.T.shape
    np.testing.assert_array_equal(along_y.disparity, along_x.disparity.T)
    np.testing.assert_array_equal(along_y.confidence, along_x.confidence.T)


def test_same_bytes_for_any_threads_and_every_run():
    left, right = as_uint8(textured_pair((150, 300), 0.8))
    runs = [dualpix.disparity(left, right, threads=threads) for threads in (1, 1, 2, 3)]
    assert len({(r.disparity.tobytes(), r.confidence.tobytes()) for r in runs}) == 1


@pytest.mark.parametrize("value", [0, 128, 255])
def test_a_constant_image_gives_a_finite_map_without_confidence(value):
    flat = np.full((90, 120), value, np.uint8)
    result = dualpix.disparity(flat, flat)
    assert np.isfinite(result.disparity).all()
    assert not result.confidence.any()


@pytest.mark.parametrize("limits", [(1, 5), (-3, 3), (0, 12), (-12, -2)])
@pytest.mark.parametrize("iterations", [(3,), (3, 3, 2)])
def test_the_map_stays_within_the_range(limits, iterations):
    views = as_uint8(textured_pair((100, 120), 2.0))
    d = dualpix.disparity(*views, range=limits, iterations=iterations).disparity
    assert limits[0] <= d.min()
    assert d.max() <= limits[1]


def test_both_ends_of_the_range_are_searched():
    left, right = as_uint8(textured_pair((100, 120), 3.0))
    for views, d in (((left, right), 3), ((right, left), -3)):
        found = dualpix.disparity(*views, range=(-3, 3), iterations=(3,)).disparity
        assert np.median(found) == pytest.approx(d, abs=0.1)


@pytest.mark.parametrize("penalty", [1.25, 1e6])
def test_many_normalised_iterations_stay_finite(pair, penalty):
    settings = {"normalize_iterations": True, "iterations": (20, 20, 64), "penalty": penalty, "prior_weight": 10}
    result = dualpix.disparity(*as_uint8(pair), range=(-8, 8), window=2, **settings)
    assert np.isfinite(result.disparity).all()
    assert np.isfinite(result.confidence).all()
    assert np.ptp(result.disparity) > 0


@pytest.mark.parametrize("kind", ["noise", "saturated", "unrelated"])
def test_hard_images_stay_finite(kind):
    rng = np.random.default_rng(3)
    left, right = (rng.integers(0, 256, (80, 100), dtype=np.uint8) for _ in range(2))
    if kind == "saturated":
        left, right = (np.where(view > 100, 255, 0).astype(np.uint8) for view in (left, right))
    if kind == "unrelated":
        right = np.zeros_like(right)
    for overrides in ({}, {"penalty": 1e6}, {"invalid_threshold": 0}, {"normalize_iterations": True}):
        result = dualpix.disparity(left, right, **overrides)
        assert np.isfinite(result.disparity).all()
        assert (result.confidence >= 0).all()
        assert (result.confidence <= 1).all()


def test_the_guide_stops_smoothing_where_it_has_edges(pair):
    left, right = as_uint8(pair)
    guide = np.random.default_rng(0).integers(0, 256, (*left.shape, 3), dtype=np.uint8)
    guide[:, :40] = 100
    params = dualpix.preset("dslr-a").replace(**SMALL)
    expected, _ = oracle(left, right, params, guide.mean(axis=2))
    np.testing.assert_allclose(dualpix.disparity(left, right, params, guide).disparity, expected, rtol=1e-4, atol=2e-4)


def test_progress_names_every_stage_and_scale(pair):
    calls = []
    dualpix.disparity(*as_uint8(pair), "dslr-a", progress=lambda *call: calls.append(call), **SMALL)
    scales = [(stage, scale, 3) for scale in (1, 2, 3) for stage in ("matching", "aggregation")]
    assert calls == [("read", 0, 0), ("pyramid", 0, 3), *scales, ("confidence", 0, 3)]


# ---- the preset that needs no tuning ------------------------------------------------------------------


def scene(shape=(200, 300), noise=0.5, seed=0):
    """A slanted plane behind a nearer square, with noise; left, right in 0..1 and the true disparity."""
    rng = np.random.default_rng(seed)
    texture, _ = textured_pair(shape, 0, seed)
    truth = np.tile(np.linspace(-2.5, -1, shape[1]), (shape[0], 1)).astype(np.float32)
    truth[60:140, 100:200] = 2
    left, right, truth = dualpix.simulate(texture / 255, truth)
    return *(
        np.clip(view + rng.normal(0, noise / 255, shape), 0, 1).astype(np.float32) for view in (left, right)
    ), truth


def test_auto_is_the_default():
    left, right, truth = scene()
    result = dualpix.disparity(left, right)
    assert result.params == dualpix.preset("auto").replace(iterations=result.params.iterations)
    assert np.median(np.abs(result.disparity - truth)) < 0.1


@pytest.mark.parametrize("gain", [0.25, 0.6])
def test_exposure_does_not_matter(gain):
    left, right, _ = scene()
    bright, dark = dualpix.disparity(left, right), dualpix.disparity(gain * left, gain * right)
    sure = bright.confidence > np.quantile(bright.confidence, 0.2)
    assert np.abs(bright.disparity - dark.disparity)[sure].max() < 0.02
    np.testing.assert_allclose(dark.confidence, bright.confidence, atol=0.02)


def test_bit_depth_does_not_matter():
    left, right, _ = scene()
    eight = [np.round(view * 255).astype(np.uint8) for view in (left, right)]
    sixteen = [view.astype(np.uint16) * 257 for view in eight]
    a, b = dualpix.disparity(*eight), dualpix.disparity(*sixteen)
    assert np.abs(a.disparity - b.disparity).max() < 0.02


def test_swapped_views_change_the_sign_of_auto():
    left, right, truth = scene()
    there, back = dualpix.disparity(left, right), dualpix.disparity(right, left)
    flat = truth < -0.9  # away from the square's edges, which the views see in different places
    flat[40:160, 80:220] = False
    flat[:, :20] = flat[:, -20:] = False
    assert np.median(np.abs(there.disparity + back.disparity)[flat]) < 0.1


@pytest.mark.parametrize("d", [-9.0, -2.0, 0.0, 6.5, 14.0])
def test_the_range_is_found(d):
    left, right = textured_pair((160, 240), d)
    found = dualpix.disparity(left / 255, right / 255).disparity
    assert np.median(found[20:-20, 40:-40]) == pytest.approx(d, abs=0.05)


def test_the_found_range_is_as_good_as_one_given_by_hand():
    left, right, truth = scene()
    found, given = dualpix.disparity(left, right), dualpix.disparity(left, right, range=(-4, 4))
    errors = [np.mean(np.abs(result.disparity - truth)) for result in (found, given)]
    assert errors[0] <= 1.05 * errors[1]


@pytest.mark.parametrize(("shape", "scales"), [((512, 768), 3), ((1512, 2016), 4), ((2940, 5180), 5), ((40, 60), 1)])
def test_scales_follow_the_size(shape, scales):
    assert passes(dualpix.preset("auto"), shape) == passes(dualpix.preset("auto"), shape[::-1]) == (4,) * scales


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"left": np.zeros((50, 61), np.uint8)},
            dualpix.InputError,
            "right is 60x50 pixels but left is 61x50",
        ),
        ({"guide": np.zeros((50, 61), np.uint8)}, dualpix.InputError, "guide is 61x50"),
        ({"window": 12.5}, dualpix.InputError, "left is 60x50 pixels, smaller than the matching window of 51x51"),
        ({"window": 20}, dualpix.InputError, "smaller than the matching window of 81x81"),
        (
            {"range": (-80, 2)},
            dualpix.ParameterError,
            "range -80 to 2 is wider than the image, 60 pixels along x",
        ),
        ({"axis": "z"}, dualpix.ParameterError, "axis must be x or y"),
        ({"threads": 0}, dualpix.ParameterError, "threads must be a whole number from 1 to 1024, not 0"),
        ({"preset": "dslr"}, dualpix.ParameterError, "did you mean dslr-"),
        ({"windw": 3}, dualpix.ParameterError, "did you mean window"),
    ],
)
def test_bad_arguments(arguments, error, message):
    views = {"left": np.zeros((50, 60), np.uint8), "right": np.zeros((50, 60), np.uint8)}
    with pytest.raises(error, match=message):
        dualpix.disparity(**(views | arguments))


def test_threads_from_the_environment(monkeypatch, pair):
    monkeypatch.setenv("DUALPIX_THREADS", "many")
    with pytest.raises(dualpix.ParameterError, match="DUALPIX_THREADS"):
        dualpix.disparity(*as_uint8(pair), **SMALL)


def test_dslr_scores_reproduce_the_published_method(data_dir):
    """Geometric means of the published runs, within 2 %: .0545 (histeq, P = 1.25) and .0580 (parabola)."""
    views = data_dir / "dslr" / "005_L.jpg", data_dir / "dslr" / "005_R.jpg"
    truth = dualpix.read_map(data_dir / "dslr" / "005_D.TIF")
    for subpixel, published in (("histeq", 0.0545), ("parabola", 0.0580)):
        result = dualpix.disparity(*views, "dslr-a", penalty=1.25, subpixel=subpixel)
        score = dualpix.metrics.affine_invariant(result.disparity, truth / 255, protocol="paper-dslr")
        assert score.geometric_mean == pytest.approx(published, rel=0.02)
