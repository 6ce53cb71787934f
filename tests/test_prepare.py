"""Planes to be matched: brightness evened out between the views, exposure, edges."""

import numpy as np
import pytest

import dualpix
import reference
from conftest import textured_pair
from dualpix import _core
from dualpix.camera.lens import NO_LENS
from dualpix.method.brightness import UNSURE, Gains, apply_gains, equalising_gain, find_gains
from dualpix.method.frame import Frame
from dualpix.method.prepare import grey_planes
from dualpix.params import preset
from dualpix.types import Pair, Planes

AUTO = preset("auto")


def evened(left, right, share=0.1):
    left, right = (np.array(view, np.float32) for view in (left, right))
    before = left.copy()
    apply_gains(Planes(left, right, left), Gains(equalising_gain(left, right, share, 1)), 1)
    np.testing.assert_array_equal(left, before)
    return right


def prepare(views, params, threads):
    """The planes of two views, with the gains that a survey finds."""
    left, right = (np.asarray(view, np.float32) for view in views)
    pair = Pair(left, right)
    planes = grey_planes(pair, Frame(pair.shape), params.photometry, NO_LENS, threads)
    apply_gains(planes, find_gains(planes, params.photometry, 1), 1)
    return planes


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (40, 61), (128, 100)])
@pytest.mark.parametrize("share", [0.02, 0.1, 1])
def test_agrees_with_the_oracle(shape, share):
    rng = np.random.default_rng(0)
    left, right = rng.uniform(100, 200, shape), rng.uniform(100, 200, shape) * np.linspace(1, 0.6, shape[1])
    np.testing.assert_allclose(evened(left, right, share), reference.gain_of(left, right, share) * right, rtol=2e-3)


def test_a_small_picture_tells_how_bright_the_views_are(monkeypatch):
    left, right = textured_pair((400, 600), 1.0)
    right = right * np.linspace(1, 0.7, 600)
    views = [np.float32(view / 255) for view in (left, right)]
    given = {"range": (-3, 3), "window": 3.0, "axis": "x"}
    gains = [dualpix.disparity(*views, **given).plan.gains]
    monkeypatch.setattr(dualpix.method.survey, "LARGEST", 60_000)
    gains.append(dualpix.disparity(*views, **given).plan.gains)
    assert np.ptp(gains[0].right) > 0.3
    np.testing.assert_allclose(gains[1].right, gains[0].right, atol=0.01)
    assert gains[1].views == gains[0].views


@pytest.mark.parametrize("gain", [0.5, 0.8, 0.985, 1.02, 2])
def test_a_gain_is_followed_but_for_a_hundredth(gain):
    flat = np.full((150, 300), 100, np.float32)
    left_over = np.exp(np.sign(np.log(gain)) * UNSURE)
    np.testing.assert_allclose(evened(flat, gain * flat), left_over * flat, rtol=1e-4)


@pytest.mark.parametrize("gain", [0.9951, 0.998, 1, 1.002, 1.005])
def test_half_a_percent_is_let_be(gain):
    left, _ = textured_pair((150, 300), 0)
    np.testing.assert_array_equal(evened(left, np.float32(gain) * left), np.float32(gain) * left)


def test_no_ratio_beyond_4_is_vignetting():
    flat = np.full((50, 60), 100, np.float32)
    np.testing.assert_allclose(evened(flat, 0.01 * flat), 4 * np.exp(-UNSURE) * 0.01 * flat, rtol=1e-4)
    np.testing.assert_allclose(evened(flat, 30 * flat), np.exp(UNSURE) / 4 * 30 * flat, rtol=1e-4)


def test_the_scale_of_the_intensities_does_not_matter():
    left, right = textured_pair((150, 300), 3.0)
    right *= np.linspace(1, 0.6, 300, dtype=np.float32)
    np.testing.assert_allclose(evened(left / 64, right / 64), evened(left, right) / 64, rtol=1e-5)


def test_opposite_ramps_become_one():
    left, _ = textured_pair((300, 400), 0)
    ramp = np.linspace(1, 0.7, 400, dtype=np.float32)
    ratio = evened(ramp * left, ramp[::-1] * left) / (ramp * left)
    assert np.abs(np.log(ratio)).max() < 0.08
    assert np.median(np.abs(np.log(ratio))) < 0.015


@pytest.mark.parametrize(("left", "right"), [(0, 0), (0, 100), (100, 0)])
def test_blank_views_stay_blank(left, right):
    left, right = (np.full((40, 50), value, np.float32) for value in (left, right))
    changed = evened(left, right)
    assert np.isfinite(changed).all()
    assert np.ptp(changed) == 0
    assert (changed > 0).all() == right.any()


def test_even_views_of_a_scene_are_left_alone():
    """A shift between them is no difference in brightness."""
    left, right = (np.tile(view, (2, 2)) for view in textured_pair((400, 600), 3.0))
    assert np.abs(evened(left, right) / right - 1).max() < 0.01


# ---- exposure and edges --------------------------------------------------------------------------------


def test_the_brightest_hundredth_is_brought_to_the_exposure():
    left, right = (view / 255 for view in textured_pair((150, 200), 0.5))
    planes = prepare([0.3 * left, 0.3 * right], AUTO, threads=1)
    for plane in (planes.left, planes.guide):
        assert np.quantile(plane, 0.99) == pytest.approx(AUTO.exposure, rel=1e-4)
    np.testing.assert_allclose(planes.left, planes.left.max() * left / left.max(), rtol=1e-4)


@pytest.mark.parametrize("brightness", [0.3, 0.03])
def test_a_hot_pixel_does_not_change_the_exposure(brightness):
    left, right = (np.float32(brightness / 255) * view for view in textured_pair((300, 400), 0.5))
    hot = left.copy()
    hot[7, 9] = 1
    before, after = (prepare([view, right], AUTO, threads=1) for view in (left, hot))
    other = np.ones(left.shape, bool)
    other[7, 9] = False
    for name in ("left", "right", "guide"):
        np.testing.assert_allclose(getattr(after, name)[other], getattr(before, name)[other], rtol=0.02)


def test_a_lamp_in_the_dark_is_not_blown_up():
    """Less than a hundredth of the pixels is lit: they come to be at most 64 times the exposure."""
    dark = np.zeros((300, 400), np.float32)
    dark[100:110, 100:110] = 0.5
    planes = prepare([dark, dark], AUTO, threads=1)
    assert planes.left.max() == pytest.approx(64 * AUTO.exposure, rel=1e-4)


@pytest.mark.parametrize("gamma", [0.5, 0.7, 2])
def test_gamma_bends_the_guide_alone(gamma):
    left, right = (view / 255 for view in textured_pair((40, 50), 0.5))
    params = preset("dslr-a").replace(guide_gamma=gamma)
    planes = prepare([left, right], params, threads=1)
    np.testing.assert_allclose(planes.guide, 255 * left**gamma, rtol=1e-5)
    np.testing.assert_allclose(planes.left, 255 * left, rtol=1e-5)
    np.testing.assert_allclose(planes.right, 255 * right, rtol=1e-5)


@pytest.mark.parametrize("smoothing", ["guided", "solver"])
def test_filters_do_not_see_the_exposure(smoothing):
    left, right = (np.rint(100 * view).astype(np.uint16) for view in textured_pair((120, 160), 1.3))
    one = dualpix.disparity(left, right, filter=smoothing, window=3).disparity
    two = dualpix.disparity(2 * left, 2 * right, filter=smoothing, window=3).disparity
    np.testing.assert_allclose(two, one, atol=0.01)


@pytest.mark.parametrize(("black", "most"), [(0.0, np.inf), (20.0, np.inf), (0.0, 150.0), (20.0, 150.0)])
@pytest.mark.parametrize("gamma", [0.1, 0.45, 0.7, 1.0, 2.2, 10.0])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (300, 301)])
def test_tone(black, most, gamma, shape):
    pixels = np.random.default_rng(0).uniform(0, 255, (*shape, 1)).astype(np.float32)
    pixels.flat[:1] = 0
    expected = 200 * (np.clip(0.5 * pixels[..., 0].astype(np.float64) - black, 0, most) / 200) ** gamma
    plane = toned(pixels, 0.5, black=black, most=most, gamma=gamma, full=200.0)
    np.testing.assert_allclose(plane, expected, rtol=2e-5, atol=1e-30)


def toned(pixels, scale, most=np.inf, **tone):
    """The plane of pixels with one channel."""
    plane = np.empty(pixels.shape[:2], np.float32)
    _core.to_plane(pixels, plane, np.ones(1, np.float32), scale, 2, most=most, **tone)
    return plane


def test_tone_of_extremes():
    """Nothing below 0 comes in; were it to, it would be black."""
    pixels = np.array([-1, 0, 1e-30, 1, 1e30], np.float32)[None, :, None]
    np.testing.assert_allclose(toned(pixels, 1, gamma=0.5), [[0, 0, 1e-15, 1, 1e15]], rtol=1e-5)
    np.testing.assert_array_equal(toned(pixels[:, :2], 1, black=0.5), [[0, 0]])


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (400, 333)])
def test_planes_are_scaled_and_their_largest_value_is_found(shape):
    plane = np.random.default_rng(3).uniform(0, 255, shape).astype(np.float32)
    for threads in (1, 3):
        scaled = plane.copy()
        _core.scale(scaled, 1.25, threads)
        np.testing.assert_array_equal(scaled, plane * np.float32(1.25))
        assert _core.largest(plane, threads) == plane.max()


def test_the_largest_value_is_no_nan():
    plane = np.full((3, 50), np.nan, np.float32)
    plane[1, 7] = -2
    assert _core.largest(plane, 2) == -2
