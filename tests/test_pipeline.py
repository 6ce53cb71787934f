"""The whole method against the oracle, and what a caller may rely on."""

import os
from functools import cache

import cv2
import numpy as np
import pytest

import dualpix
import reference
from conftest import not_under, textured_pair
from dualpix.filters.post import post_filter
from dualpix.method.confidence import smoothness, texture
from dualpix.method.scales import deepened, passes_of
from dualpix.method.subpixel import HISTEQ_BIAS

SMALL = {"window": 2.0, "range": (-8, 8), "encc_window": 5}


def as_uint8(pair):
    return [np.round(view).astype(np.uint8) for view in pair]


def oracle(left, right, params, guide=None):
    settings = params.to_dict() | {"bias": HISTEQ_BIAS}
    left, right = left.astype(float), right.astype(float)
    pyramid = reference.prepare(left, right, left if guide is None else guide, settings)
    return reference.disparity(pyramid, settings)


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
        {"messages": "exact", "penalty": 500, "robust_tau": 0.1, "fattening": 0.2},
        {"messages": "exact", "penalty": 500, "robust_tau": 0.1, "first_penalty": 0.1},
        {"relief": 0.01},
        {"polish": 0.3},
        {"outlines": 10},
        {"guide_gamma": 0.5},
        {"exposure": 100},
        {"vignetting": 0.1},
    ],
)
def test_options_agree_with_the_oracle(pair, change):
    left, right = as_uint8(pair)
    if "vignetting" in change:
        right = np.round(right * np.linspace(0.9, 0.6, right.shape[1])).astype(np.uint8)
    params = dualpix.preset("dslr-a").replace(**SMALL).replace(**change)
    expected, _ = oracle(left, right, params)
    np.testing.assert_allclose(dualpix.disparity(left, right, params).disparity, expected, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize(("first", "suspicion"), [("auto", "auto"), (0.3, 1000), (0.3, 0.1)])
@pytest.mark.parametrize("shape", [(64, 96), (61, 83)])
def test_auto_agrees_with_the_oracle(shape, first, suspicion):
    left, right = as_uint8(textured_pair(shape, 1.3))
    changes = {"iterations": (4, 4), "first_penalty": first, "suspicion": suspicion, "outlines": 0}
    params = dualpix.preset("auto").replace(**SMALL, **changes)
    result = dualpix.disparity(left, right, params)
    expected, A = oracle(left, right, params)
    np.testing.assert_allclose(result.disparity, expected, rtol=1e-4, atol=2e-4)
    # The penalty of a step has the factor (1 + x^2)^-2 with x = (d_p - d_q) / tau. Relatively it changes by up to 2 dx.
    dx = 2 * np.abs(result.disparity - expected).max() / params.robust_tau
    np.testing.assert_allclose(result.belief.A, A, rtol=3e-3 + 2 * dx)
    np.testing.assert_allclose(result.confidence, 1 / (1 + (result.sigma / 0.25) ** 2), rtol=1e-5)


def test_auto_with_outlines_agrees_with_the_oracle():
    """Rounding can make a median another pixel of the window."""
    left, right = as_uint8(textured_pair((61, 83), 1.3))
    params = dualpix.preset("auto").replace(**SMALL, iterations=(4, 4))
    error = np.abs(dualpix.disparity(left, right, params).disparity - oracle(left, right, params)[0])
    assert np.quantile(error, 0.995) < 5e-4
    assert error.max() < 0.01


@pytest.mark.parametrize("d", [-2.4, -0.5, 0.0, 0.3, 3.0])
def test_finds_a_known_shift(d):
    left, right = textured_pair((120, 160), d)
    result = dualpix.disparity(left / 255, right / 255, "dslr-a", window=3)
    inside = (slice(20, -20), slice(40, -40))
    assert np.median(result.disparity[inside]) == pytest.approx(d, abs=0.03)
    assert result.disparity.dtype == result.confidence.dtype == np.float32
    assert set(result.timings) == {
        "read",
        "develop",
        "survey",
        "prepare",
        "matching",
        "aggregation",
        "confidence",
        "finish",
    }


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
    np.testing.assert_allclose(along_y.disparity, along_x.disparity.T, atol=1e-4)  # low-passes round differently
    np.testing.assert_allclose(along_y.confidence, along_x.confidence.T, atol=1e-4)


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
    result = dualpix.disparity(*as_uint8(pair), messages="paper", range=(-8, 8), window=2, **settings)
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
    normalized = {"messages": "paper", "normalize_iterations": True}
    for overrides in ({}, {"penalty": 1e6}, {"invalid_threshold": 0}, normalized):
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
    steps = []
    dualpix.disparity(*as_uint8(pair), "dslr-a", progress=steps.append, **SMALL)
    scales = [(stage, scale, 3) for scale in (1, 2, 3) for stage in ("matching", "aggregation")]
    before = [(stage, 0, 0) for stage in ("read", "develop", "survey", "prepare")]
    after = [("confidence", 0, 0), *[("finish", 0, 0)] * 3]
    assert [(step.name, step.number, step.total) for step in steps] == [*before, *scales, *after]
    assert {step.unit for step in steps} == {"scale"}


@pytest.mark.parametrize("options", [{}, {"range": (-8, 8)}, {"mask_occluded": True}])
def test_progress_never_goes_back(options):
    """Not even while the coarsest scale is solved again to find the range, here of 14 px."""
    steps = []
    dualpix.disparity(*as_uint8(textured_pair((160, 240), 14.0)), progress=steps.append, **options)
    shares = [step.share for step in steps]
    assert shares == sorted(shares)
    assert shares[-1] == 1


# ---- the preset that needs no tuning ------------------------------------------------------------------

SHAPE = 400, 600  # two scales
SQUARE = np.zeros(SHAPE, bool)
SQUARE[120:280, 200:400] = True


def grown(mask, margin):
    """The mask with `margin` pixels around it; less as many if the margin is negative."""
    square = np.ones((2 * abs(margin) + 1,) * 2, np.uint8)
    return (cv2.dilate if margin > 0 else cv2.erode)(mask.astype(np.uint8), square) > 0


PLANE = ~grown(SQUARE, 30)
PLANE[:, :30] = PLANE[:, -30:] = False
INSIDE = grown(SQUARE, -30)


def shot(image, d, noise=0.5, **options):
    """left, right in 0..1 with noise, and the true disparity, which may differ a little from d."""
    left, right, truth = dualpix.simulate(image.astype(np.float32), np.broadcast_to(d, SHAPE), **options)
    rng = np.random.default_rng(0)
    views = (np.clip(view + rng.normal(0, noise / 255, SHAPE), 0, 1).astype(np.float32) for view in (left, right))
    return *views, truth


TEXTURE = textured_pair(SHAPE, 0)[0] / 255
DEPTH = np.where(SQUARE, 2, np.linspace(-2.5, -1, SHAPE[1]))


@cache
def scene():
    """A slanted plane behind a nearer square."""
    return shot(TEXTURE, DEPTH)


@cache
def auto():
    return dualpix.disparity(*scene()[:2])


def error(result, truth):
    return np.abs(result.disparity - truth)


def test_auto_is_the_default():
    found = auto().params
    settled = {name: getattr(found, name) for name in ("iterations", "first_penalty", "suspicion", "polish")}
    assert found == dualpix.preset("auto").replace(**settled)
    assert len(auto().params.iterations) > 1
    assert np.median(error(auto(), scene()[2])) < 0.03
    assert np.mean(error(auto(), scene()[2])) < 0.06


def test_it_is_unsure_near_depth_edges():
    edge = grown(SQUARE, 5) & ~grown(SQUARE, -5)
    assert np.median(auto().confidence[edge]) < 0.5 * np.median(auto().confidence[PLANE])
    assert np.median(auto().confidence[PLANE]) > 0.5


@pytest.mark.parametrize("gain", [0.25, 0.6])
def test_exposure_does_not_matter(gain):
    left, right, _ = scene()
    dark = dualpix.disparity(gain * left, gain * right)
    sure = auto().confidence > 0.5
    assert error(dark, auto().disparity)[sure].max() < 0.02
    np.testing.assert_allclose(dark.confidence, auto().confidence, atol=0.02)


def test_a_quarter_of_the_intensity_at_16_bit_does_not_matter():
    sixteen = [np.round(view * 65535).astype(np.uint16) for view in scene()[:2]]
    whole = dualpix.disparity(*sixteen)
    quarter = dualpix.disparity(*(np.round(view * 0.25).astype(np.uint16) for view in sixteen))
    sure = whole.sigma < 0.2
    assert sure.mean() > 0.4
    assert error(quarter, whole.disparity)[sure].max() < 0.02


def test_bit_depth_does_not_matter():
    """But for the rounding to 8 bit, which is noise."""
    sixteen, eight = (
        dualpix.disparity(*(np.round(view * np.iinfo(kind).max).astype(kind) for view in scene()[:2]))
        for kind in (np.uint16, np.uint8)
    )
    sure = sixteen.confidence > 0.5
    assert (error(eight, sixteen.disparity)[sure] < 0.02).mean() > 0.99


def test_swapped_views_change_the_sign_of_auto():
    """Away from the square's edges, which the views see in different places."""
    left, right, _ = scene()
    off = error(dualpix.disparity(right, left), -auto().disparity)
    for region in (PLANE, INSIDE):
        assert np.median(off[region]) < 0.03
        assert np.quantile(off[region], 0.9) < 0.08


@pytest.mark.parametrize("gain", [0.8, 1.1])
def test_a_gain_between_the_views_does_not_matter(gain):
    left, right, _ = scene()
    result = dualpix.disparity(left, np.clip(gain * right, 0, 1))
    assert np.quantile(error(result, auto().disparity), 0.9) < 0.05
    assert np.median(result.confidence) > 0.85 * np.median(auto().confidence)


def test_vignetting_does_not_matter():
    """The left view loses 30 % of the light towards the right, the right one towards the left."""
    left, right, truth = shot(TEXTURE, DEPTH, vignetting=0.3)
    result = dualpix.disparity(left, right)
    assert np.quantile(error(result, auto().disparity), 0.9) < 0.05
    assert np.mean(error(result, truth)) < 1.1 * np.mean(error(auto(), truth))
    assert np.median(result.confidence) > 0.75 * np.median(auto().confidence)


@pytest.mark.parametrize("margin", [30, 200])
def test_confidence_does_not_depend_on_the_size_of_the_image(margin, monkeypatch):
    """The scene goes on all around; with the larger margin there is one scale more.

    In the larger picture the scene is nearer to the middle, where the lens errs less, so the lens is left out.
    """
    monkeypatch.setattr("dualpix.method.confidence.LENS", 0.0)
    alone = dualpix.disparity(*scene()[:2])
    larger = dualpix.disparity(*(np.pad(view, margin, mode="wrap") for view in scene()[:2]))
    assert len(larger.params.iterations) == (2 if margin == 30 else 3)
    same = larger.confidence[margin:-margin, margin:-margin]
    for region in (PLANE, INSIDE):
        assert np.median(same[region]) == pytest.approx(np.median(alone.confidence[region]), rel=0.15)


@pytest.mark.parametrize("d", [-9.0, -2.0, 0.0, 6.5, 14.0])
def test_the_range_is_found(d):
    left, right = textured_pair((160, 240), d)
    found = dualpix.disparity(left / 255, right / 255).disparity
    assert np.median(found[20:-20, 40:-40]) == pytest.approx(d, abs=0.05)


@pytest.mark.parametrize("limits", [(-4, 4), (-24, 24)])
def test_the_found_range_is_as_good_as_one_given_by_hand(limits):
    left, right, truth = scene()
    given = dualpix.disparity(left, right, range=limits)
    assert np.mean(error(auto(), truth)) <= 1.05 * np.mean(error(given, truth))


@pytest.mark.parametrize(("limits", "missed"), [((-4, 0.5), INSIDE), ((0, 4), PLANE)])
def test_what_the_range_misses_has_no_confidence(limits, missed):
    left, right, _ = scene()
    result = dualpix.disparity(left, right, range=limits)
    assert not result.confidence[missed].any()
    other = PLANE if missed is INSIDE else INSIDE
    assert np.median(result.confidence[other]) > 0.5


# ---- pictures with little to match ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subpixel", "value"),
    [
        *(("encc", value) for value in (0, 0.5, 1)),
        ("histeq", 0),
        ("histeq", 0.5),
        ("histeq", 1),
    ],
)
def test_nothing_matches_a_blank_view(subpixel, value):
    view, blank = scene()[0], np.full(SHAPE, value, np.float32)
    for views in ((view, blank), (blank, view)):
        result = dualpix.disparity(*views, subpixel=subpixel)
        assert np.isfinite(result.disparity).all()
        assert not result.confidence.any()


@pytest.mark.parametrize("preset", ["auto", "dslr-a"])
def test_a_blank_view_says_nothing_about_the_axis(preset):
    """A blank view made as bright as the other one, place by place, would look like a blurred copy of it."""
    ramp = np.tile(np.linspace(0.2, 0.8, 90, dtype=np.float32)[:, None], 120)
    ramp += np.random.default_rng(0).uniform(0, 0.02, ramp.shape).astype(np.float32)
    result = dualpix.disparity(ramp, np.full_like(ramp, 0.5), preset, **SMALL)
    assert result.axis == "x"
    assert result.evidence.axis is None
    assert max(result.evidence.x, result.evidence.y) < 0.08


@pytest.mark.parametrize(
    ("shape", "noise", "seed"),
    [
        *((SHAPE, 64, seed) for seed in range(3)),
        ((300, 400), 8, 1),
        ((300, 400), 8, 0),
    ],
)
def test_noise_is_not_believed(shape, noise, seed):
    rng = np.random.default_rng(seed)
    left, right = (np.clip(0.5 + rng.normal(0, noise / 255, shape), 0, 1).astype(np.float32) for _ in range(2))
    result = dualpix.disparity(left, right)
    assert result.confidence.max() < 0.02
    assert np.abs(result.disparity).max() <= 40


def test_far_from_a_textured_disc_nothing_is_known():
    """Further than the window of the coarser scale reaches, which is about 40 px."""
    y, x = np.indices(SHAPE)
    beyond = np.hypot(y - 200, x - 300) - 60
    left, right, truth = shot(np.where(beyond < 0, TEXTURE, 0.5), np.where(beyond < 0, 1.5, -1), noise=0.3)
    result = dualpix.disparity(left, right)
    assert np.median(error(result, truth)[beyond < -10]) < 0.05
    assert np.median(result.confidence[beyond < -20]) > 0.2
    assert (result.confidence[(beyond > 25) & (beyond < 38)] > 0).all()
    assert not result.confidence[beyond > 90].any()


def test_a_lamp_in_the_dark():
    """Its patch is less than a hundredth of the picture."""
    image = np.zeros(SHAPE)
    image[100:124, 200:224] = TEXTURE[100:124, 200:224]
    left, right, _ = shot(image, 1.5, noise=0)
    result = dualpix.disparity(left[:300, :400], right[:300, :400])
    assert np.isfinite(result.disparity).all()
    assert np.abs(result.disparity[104:120, 204:220] - 1.5).max() < 0.25
    assert not result.confidence[200:].any()


def test_clipped_highlights_spoil_nothing_around_them():
    lit = np.zeros(SHAPE, bool)
    lit[20:100, 40:160] = True
    left, right, truth = shot(np.where(lit, 1, TEXTURE), DEPTH)
    assert (left[lit] == 1).mean() > 0.3
    rest = ~grown(lit, 30)
    result = dualpix.disparity(left, right)
    assert np.isfinite(result.disparity).all()
    assert np.mean(error(result, truth)[rest]) < 1.05 * np.mean(error(auto(), truth)[rest])


# ---- scales, arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "scales"),
    [((512, 768), 3), ((1512, 2016), 4), ((2940, 5180), 5), ((283, 283), 2), ((282, 282), 1), ((40, 60), 1)],
)
def test_scales_follow_the_size(shape, scales):
    auto, stereo = dualpix.preset("auto"), dualpix.preset("stereo")
    last = 3 if scales > 1 else 4
    assert passes_of(auto, shape) == passes_of(auto, shape[::-1]) == (*(4,) * (scales - 1), last)
    assert passes_of(stereo, shape) == (4,) * scales
    assert passes_of(auto.replace(robust_tau=0.0), shape) == (4,) * scales
    assert passes_of(auto.replace(iterations=(3, 2)), shape) == (3, 2)


@pytest.mark.parametrize(("found", "more"), [((-3, 3), 0), ((-5, 5), 0), ((-6, 2), 1), ((-2, 9), 1)])
def test_a_wide_range_asks_for_one_more_scale(found, more):
    assert deepened((4, 4), found) == (4,) * (2 + more)
    assert deepened((4,) * 8, found) == (4,) * 8


@pytest.mark.parametrize(("d", "scales"), [(2.0, 2), (-9.0, 3)])
def test_scales_follow_the_range(d, scales):
    left, right = as_uint8(textured_pair((290, 300), d))
    result = dualpix.disparity(left, right)
    assert len(result.plan.passes) == scales
    assert np.median(result.disparity) == pytest.approx(d, abs=0.1)
    assert len(dualpix.disparity(left, right, iterations=(4, 4)).plan.passes) == 2
    assert len(dualpix.disparity(left, right, range=(-12, 12)).plan.passes) == 2


def test_print_on_a_flat_surface_leaves_less_relief():
    """Edges of the guide keep the errors of their two sides apart, unless the coarser scale sees a flat surface."""
    rng = np.random.default_rng(0)
    left, _ = textured_pair((256, 256), 0.0)
    left = 60 + 0.2 * left
    for y, x in rng.integers(20, 220, (60, 2)):
        left[y : y + 16, x : x + 12] += 12
    right = np.concatenate([np.roll(left[:160], -2, axis=1), np.roll(left[160:], 2, axis=1)])
    views = as_uint8(np.clip(view + rng.normal(0, 1, view.shape), 0, 255) for view in (left, right))

    def relief(**changes):
        d = dualpix.disparity(*views, iterations=(4, 4), polish=0, **changes).disparity
        return np.std(d[20:110, 20:-20])

    assert relief() < 0.7 * relief(flat=0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"left": np.zeros((50, 61), np.uint8)},
            dualpix.InputError,
            "right is 60x50 but left is 61x50",
        ),
        ({"guide": np.zeros((50, 71), np.uint8)}, dualpix.InputError, "guide is 71x50"),
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


@pytest.mark.parametrize("axis", ["x", "y"])
def test_the_solver_of_phones_weighs_by_texture_and_smoothness(pair, axis):
    left, right = (np.ascontiguousarray(view if axis == "x" else view.T) / 255 for view in pair)
    params = dualpix.preset("phone-paper").replace(vignetting=0.0, window=2.0, encc_window=5)
    plain = dualpix.disparity(left, right, params, axis=axis)
    found = dualpix.disparity(left, right, params.replace(filter="solver"), axis=axis)
    matchable = texture(pair[0], 5, 1)
    weight = plain.confidence * smoothness(plain.disparity, 5, 1) * (matchable if axis == "x" else matchable.T)
    expected = post_filter(plain.disparity, weight, left, params.replace(filter="solver").smoothing, 1)
    np.testing.assert_allclose(found.disparity, expected, atol=1e-4)
    np.testing.assert_array_equal(found.confidence, plain.confidence)
    by_curvature = dualpix.disparity(
        left, right, params.replace(filter="solver", solver_confidence="curvature"), axis=axis
    )
    assert np.abs(by_curvature.disparity - found.disparity).max() > 1e-3


@not_under("ThreadSanitizer itself does not survive threads after a fork", "tsan")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_works_in_a_child_after_a_fork(pair):
    left, right = as_uint8(pair)
    expected = dualpix.disparity(left, right, threads=2, **SMALL).disparity.tobytes()
    child = os.fork()
    if child == 0:
        try:
            same = dualpix.disparity(left, right, threads=2, **SMALL).disparity.tobytes() == expected
            os._exit(0 if same else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


# ---- the expected error ---------------------------------------------------------------------------


@pytest.mark.parametrize("aspect", [0.5, 2.0])
def test_confidence_and_expected_error_are_of_the_same_pixels(aspect):
    """Both are in pixels of the input, whatever the shape of its pixels."""
    left, right = as_uint8(textured_pair((100, 140), 1.0))
    result = dualpix.disparity(left, right, pixel_aspect=aspect, axis="x", **SMALL)
    known = result.confidence > 0
    off = np.abs(result.confidence - 1 / (1 + (result.sigma / 0.25) ** 2))[known]
    assert off.mean() < 0.005  # resampling moves a few pixels more


def test_a_pixel_outside_the_range_may_be_anywhere():
    left, right = as_uint8(textured_pair((100, 140), 5.0))
    result = dualpix.disparity(left, right, window=2, range=(-2, 2))
    outside = result.confidence == 0
    assert outside.mean() > 0.3
    assert result.sigma[outside].min() > 1


@pytest.mark.parametrize("tiny", [{"polish": 1e-30}, {"fattening": 1e-50}])
def test_tiny_parameters_are_no_error(pair, tiny):
    result = dualpix.disparity(*as_uint8(pair), **SMALL, **tiny)
    assert np.isfinite(result.disparity).all()


def test_a_lens_changes_the_expected_error_as_it_changes_the_map():
    left, right = as_uint8(textured_pair((100, 140), 2.0))
    lens = dualpix.calibrate(planes=[(left, right)], **SMALL)
    plain, corrected = (dualpix.disparity(left, right, calibration=each, **SMALL) for each in (None, lens))
    np.testing.assert_allclose(corrected.sigma / plain.sigma, corrected.disparity / plain.disparity, rtol=1e-4)
