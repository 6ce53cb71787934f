"""First pass, suspicion and polish are weak if the matches have little noise."""

from dataclasses import replace

import numpy as np
import pytest

import dualpix
import reference
from conftest import textured_pair
from dualpix.method.aggregate import aggregate, edge_weights
from dualpix.method.noise import first_share, noise_of, polish_for, suspicion_for
from dualpix.types import Parabolas

NOISY = {"first_penalty": 1.0, "suspicion": 1000.0, "polish": 0.2}


def matches(noise, shape=(40, 50), seed=3):
    """Matches with normal noise; a fifth of the pixels is not matched."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.5, 2, shape).astype(np.float32)
    B = (-2 * A * rng.normal(1, noise, shape)).astype(np.float32)
    A[rng.random(shape) < 0.2] = 0
    return Parabolas(A, B)


@pytest.mark.parametrize("F", [1, 4])
@pytest.mark.parametrize("noise", [0, 0.004, 0.01, 0.02, 0.04, 0.5])
def test_values_agree_with_the_oracle(noise, F):
    found = matches(noise)
    expected = reference.first_share(found.A.astype(float), found.B.astype(float), F)
    assert first_share(F * noise_of(found)) == pytest.approx(expected, rel=1e-3)
    expected = reference.suspicion_for(found.A.astype(float), found.B.astype(float), F)
    assert suspicion_for(F * noise_of(found)) == pytest.approx(expected, rel=0.01)
    expected = reference.polish_for(found.A.astype(float), found.B.astype(float), F)
    assert polish_for(F * noise_of(found)) == pytest.approx(expected, rel=1e-3)


def test_large_pictures_are_measured_in_some_of_their_rows():
    assert noise_of(matches(0.1, (700, 900))) == pytest.approx(0.1 * np.sqrt(2) * 0.6745, rel=0.02)


def test_pixels_that_are_not_matched_are_not_noise():
    found = matches(0)
    assert noise_of(found) < 1e-6
    found.A[:] = 0
    assert np.isnan(noise_of(found))
    assert first_share(np.nan) == 1
    assert suspicion_for(np.nan) == 1000
    assert polish_for(np.nan) == 0.2


def noisy_pair(noise):
    """Views of a plane at 1.3 px, with normal noise."""
    rng = np.random.default_rng(1)
    views = textured_pair((240, 320), 1.3)
    return [np.clip(view + rng.normal(0, noise, view.shape), 0, 255).astype(np.float32) / 255 for view in views]


def settled(views, **changes):
    return dualpix.disparity(*views, axis="x", threads=1, **changes)


@pytest.mark.parametrize("limits", ["auto", (-3, 3)])
def test_a_clean_pair_is_smoothed_less_than_a_noisy_one(limits):
    clean, noisy = (settled(noisy_pair(noise), range=limits).params for noise in (0, 40))
    assert clean.first_penalty < 0.1
    assert clean.suspicion < 0.2
    assert 0.1 <= clean.polish < 0.15
    assert {name: getattr(noisy, name) for name in NOISY} == NOISY


def belief(v, **changes):
    """What these matches lead to, all of the same curvature, in a picture without edges."""
    settings = replace(dualpix.preset("auto").aggregation, penalty=3000.0, **changes)
    weights = edge_weights(np.zeros(v.shape, np.float32), settings, threads=1)
    evidence = Parabolas(np.ones(v.shape, np.float32), -2 * v.astype(np.float32), matched=v)
    return aggregate(evidence, weights, settings, 3, threads=1).vertex


def bar():
    """A bar of 3 pixels at 0.5 px before a plane at 0 px, matched everywhere."""
    v = np.zeros((40, 60), np.float16)
    v[:, 28:31] = 0.5
    return v


def test_a_weak_first_pass_keeps_more_of_thin_things():
    def height(first):
        return belief(bar(), first_penalty=first)[20, 29]

    assert height(1.0) < 0.75 * 0.5
    assert height(0.01) > 0.82 * 0.5
    assert height("auto") == height(1.0)  # nobody has measured the noise


def test_without_suspicion_a_thin_thing_keeps_more_of_its_height():
    def height(suspicion):
        return belief(bar(), first_penalty=1.0, suspicion=suspicion)[20, 29]

    assert height(0.0) > height(1000.0) + 0.05
    assert height("auto") == height(1000.0)  # nobody has measured the noise


def test_a_match_beside_something_near_is_suspected_whatever_the_limit():
    """A large thing at 3 px. In every second row, three columns beside it are matched as near as it is, by mistake."""
    v = np.zeros((40, 80), np.float16)
    v[:, 40:] = 3
    v[::2, 37:40] = 3

    def fattened(**changes):
        return belief(v, first_penalty=0.01, **changes)[10:30, 37:40].mean()

    assert fattened(fattening=0.0) > 1
    assert fattened(suspicion=1000.0) < 0.3
    assert fattened(suspicion=0.0) < 0.3


@pytest.mark.parametrize(
    ("changes", "settles"),
    [
        ({"iterations": (2, 2)}, {"first_penalty", "suspicion", "polish"}),
        ({"robust_tau": 0.0}, {"polish"}),
        ({"fattening": 0.0}, {"first_penalty", "polish"}),
        ({"first_penalty": 0.3}, {"suspicion", "polish"}),
        ({"suspicion": 0.3}, {"first_penalty", "polish"}),
        ({"polish": 0.15}, {"first_penalty", "suspicion"}),
    ],
)
def test_only_auto_is_settled(changes, settles):
    params = settled(noisy_pair(0), **changes).params
    for name in ("first_penalty", "suspicion", "polish"):
        if name in settles:
            assert getattr(params, name) != "auto"
        else:
            assert getattr(params, name) == changes.get(name, "auto")


def test_without_a_measurement_a_picture_counts_as_noisy():
    """The number of scales is given."""
    views, changes = noisy_pair(0), {"iterations": (2, 2), "range": (-3, 3)}
    found, expected = settled(views, **changes), settled(views, **changes, **NOISY)
    assert found.params == expected.params
    np.testing.assert_array_equal(found.disparity, expected.disparity)


def test_a_blank_pair_has_no_noise_to_measure():
    blank = np.full((240, 320), 0.5, np.float32)
    with pytest.warns(dualpix.DualpixWarning, match="blank"):
        params = settled((blank, blank)).params
    assert {name: getattr(params, name) for name in NOISY} == NOISY
