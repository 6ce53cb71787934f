"""Outlines of the map that follow the guide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dualpix
import reference
from dualpix import _core
from dualpix.filters.outlines import STEP, brightness_bytes, outlined
from dualpix.params import preset_names


def scene(shape, seed, steps=3):
    """A map with depth edges and noise, and a guide whose edges are near them."""
    rng = np.random.default_rng(seed)
    y, x = np.indices(shape)
    guide = rng.integers(0, 256, shape).astype(np.uint8)
    d = rng.normal(0, 0.02, shape)
    for _ in range(steps):
        cy, cx, r = rng.random(3) * (*shape, max(shape) / 3)
        d[(y - cy) ** 2 + (x - cx) ** 2 < r**2] += rng.normal(0, 3)
        guide[(y - cy) ** 2 + (x - cx) ** 2 < (r - 2) ** 2] = rng.integers(0, 256)
    return d.astype(np.float32), guide


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (3, 40), (40, 3), (33, 17), (70, 31), (9, 64)])
@pytest.mark.parametrize("sigma", [3.0, 10.0, 255.0])
def test_agrees_with_the_oracle(shape, sigma):
    d, guide = scene(shape, 1)
    given = d.astype(float), guide.astype(float), sigma
    expected = reference.outlines(*given)
    # where both halves of the weights are equal but for rounding, either side may win
    less, more = (reference.outlines(*given, half=0.5 + e) for e in (-1e-4, 1e-4))
    clear = less == more
    found = outlined(d, guide, sigma, 2)
    # rounding of the last interval may let another pixel of it win
    np.testing.assert_allclose(found[clear], expected[clear], atol=np.ptp(d) / 256)
    assert clear.mean() > 0.9
    assert (found == expected).mean() > 0.9


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.integers(1, 40), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_every_value_is_one_of_the_window(h, w, seed, threads):
    d, guide = scene((h, w), seed)
    found = outlined(d, guide, 10, threads)
    np.testing.assert_array_equal(found, outlined(d, guide, 10, 1))
    y, x = np.indices(d.shape)
    windows = [
        d[np.clip(y + dy, 0, h - 1), np.clip(x + dx, 0, w - 1)] for dy in reference.STEPS for dx in reference.STEPS
    ]
    assert (found == np.stack([d, *windows])).any(axis=0).all()


def test_the_rim_of_a_near_thing_goes_back_to_its_outline():
    """The thing is bright from column 40 on. The map has it from 38 on."""
    guide = np.full((60, 80), 60, np.uint8)
    guide[:, 40:] = 160
    d = np.where(np.arange(80) < 38, -1.0, 2.0) * np.ones((60, 1))
    np.testing.assert_array_equal(outlined(d.astype(np.float32), guide, 10, 1), np.where(guide == 160, 2, -1))


def test_a_thin_thing_of_its_own_brightness_stays():
    guide = np.full((60, 80), 60, np.uint8)
    guide[:, 40:43] = 160
    d = np.where(guide == 160, 2, -1).astype(np.float32)
    np.testing.assert_array_equal(outlined(d, guide, 10, 1), d)


def test_a_thin_thing_stays_if_it_looks_like_what_is_behind_it():
    d = np.full((60, 80), -1, np.float32)
    d[:, 40:42] = 2
    np.testing.assert_array_equal(outlined(d, np.full(d.shape, 60, np.uint8), 10, 1), d)


def test_away_from_depth_edges_nothing_changes():
    guide = np.random.default_rng(0).integers(0, 256, (50, 70)).astype(np.uint8)
    d = np.random.default_rng(1).uniform(0, 0.99 * STEP, (50, 70)).astype(np.float32)
    np.testing.assert_array_equal(outlined(d, guide, 10, 2), d)


def test_brightness_in_bytes():
    plane = np.array([[-3, 0, 0.4, 0.6, 254.4], [255, 255.4, 1e9, 100.5, 7]], np.float32)
    np.testing.assert_array_equal(brightness_bytes(plane, 1), [[0, 0, 0, 1, 254], [255, 255, 255, 101, 7]])


def test_wrong_arguments_are_refused():
    d, guide = np.zeros((4, 5), np.float32), np.zeros((4, 4), np.uint8)
    with pytest.raises(ValueError, match="guide must have the shape of d"):
        _core.follow_outlines(d, guide, np.empty_like(d), sigma=1, step=1, threads=1)
    with pytest.raises(ValueError, match="sigma must be above 0"):
        _core.follow_outlines(d, np.zeros((4, 5), np.uint8), np.empty_like(d), sigma=0, step=1, threads=1)


def test_only_auto_has_them():
    assert {name for name in preset_names() if dualpix.preset(name).outlines} == {"auto"}
