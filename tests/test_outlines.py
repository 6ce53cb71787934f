"""Outlines of the map that follow the guide."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dualpix
import reference
from dualpix import _core
from dualpix.filters.outlines import (
    EVERY,
    REACH,
    STEP,
    brightness_bytes,
    follow_coarsely,
    follow_outlines,
    reduced_brightness,
)
from dualpix.method import kinds
from dualpix.params import preset_names


def outlined(d, guide, sigma, threads):
    d = d.copy()
    follow_outlines(d, guide, sigma, threads)
    return d


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
    np.testing.assert_array_equal(outlined(d, guide, sigma, 2)[clear], expected[clear])
    assert clear.mean() > 0.8


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 20), st.integers(1, 40), st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_every_value_is_one_of_the_window(h, w, seed, threads):
    d, guide = scene((h, w), seed)
    found = outlined(d, guide, 10, threads)
    np.testing.assert_array_equal(found, outlined(d, guide, 10, 1))
    around = range(-REACH, REACH + 1)
    assert (found == reference.pixels_around(d, around)).any(axis=0).all()


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


def test_a_gap_that_looks_like_what_is_before_it_is_filled():
    """So a median smooths contours that the guide does not show."""
    d = np.full((60, 80), 2, np.float32)
    d[:, 40:42] = -1
    np.testing.assert_array_equal(outlined(d, np.full(d.shape, 60, np.uint8), 10, 1), 2)


@pytest.mark.parametrize("sigma", [1e-30, 1e-3, 0.01, 255])
def test_any_sigma_will_do(sigma):
    d, guide = scene((40, 50), 3)
    assert np.isfinite(outlined(d, guide, sigma, 1)).all()
    np.testing.assert_array_equal(outlined(d, np.where(d > 1, 200, 20).astype(np.uint8), min(sigma, 10), 1) > 1, d > 1)


@pytest.mark.parametrize("jump", [3.0, 20.0])
def test_it_does_not_move_surfaces(jump):
    rng = np.random.default_rng(0)
    guide = np.full((90, 120), 60, np.uint8)
    guide[:, 60:] = 160
    d = (np.where(guide == 160, jump, 0) + rng.normal(0, 0.03, guide.shape)).astype(np.float32)
    moved = outlined(d, guide, 10, 1) - d
    for side in (np.s_[:, 54:60], np.s_[:, 60:66]):
        assert abs(moved[side].mean()) < 0.01


def test_away_from_depth_edges_nothing_changes():
    guide = np.random.default_rng(0).integers(0, 256, (50, 70)).astype(np.uint8)
    d = np.random.default_rng(1).uniform(0, 0.99 * STEP, (50, 70)).astype(np.float32)
    np.testing.assert_array_equal(outlined(d, guide, 10, 2), d)


def coarsely_outlined(d, guide, sigma, threads):
    d = d.copy()
    follow_coarsely(d, reduced_brightness(guide.astype(np.float32), threads), sigma, threads)
    return d


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (3, 40), (40, 4), (71, 95)])
def test_outlines_between_passes_agree_with_the_oracle(shape):
    d, guide = scene(shape, 1)
    expected = reference.outlines_between(d.astype(float), guide.astype(float), 10.0)
    found = coarsely_outlined(d, guide, 10.0, 2)
    np.testing.assert_array_equal(found, coarsely_outlined(d, guide, 10.0, 1))
    # where both halves of the weights are equal but for rounding, either side may win
    assert (found == expected).mean() > 0.95
    if shape == (71, 95):
        assert (expected != d).mean() > 0.1


@pytest.mark.parametrize(("step", "moves"), [(0.4, False), (0.5, True)])
def test_between_passes_a_small_step_is_no_edge(step, moves):
    guide = np.full((60, 90), 60, np.uint8)
    guide[:, 48:] = 160
    d = (np.where(np.arange(90) < 42, 0, step) * np.ones((60, 1))).astype(np.float32)
    assert (coarsely_outlined(d, guide, 10, 1) != d).any() == moves


@pytest.mark.parametrize(("iterations", "calls"), [((3, 3), 0), ((4, 3), 1), ((4, 4), 2)])
def test_scales_of_four_passes_have_them_between_passes(monkeypatch, iterations, calls):
    """What a user told is kept."""
    seen = []
    monkeypatch.setattr(kinds, "follow_coarsely", lambda d, kept, **_: seen.append(kept))
    left = np.random.default_rng(0).uniform(0, 1, (60, 80)).astype(np.float32)
    settings = {"iterations": iterations, "window": 3, "range": (-2, 2)}
    dualpix.disparity(left, np.roll(left, -1, axis=1), **settings)
    assert seen == calls * [None]
    hint = {"kind": "near", "points": [[30, 30]], "radius": 5, "disparity": 1}
    dualpix.disparity(left, np.roll(left, -1, axis=1), hints=[hint], **settings)
    assert len(seen) == 2 * calls
    assert all(kept.any() for kept in seen[calls:])


def test_what_is_kept_does_not_change_between_passes():
    d, guide = scene((71, 95), 1)
    kept = np.zeros(d.shape, bool)
    kept[20:50, 30:60] = True
    with_it, without = d.copy(), coarsely_outlined(d, guide, 10.0, 1)
    follow_coarsely(with_it, reduced_brightness(guide.astype(np.float32), 1), 10.0, 1, kept)
    assert (without != d)[kept].any()
    np.testing.assert_array_equal(with_it, np.where(kept, d, without))


def test_between_passes_a_wide_rim_goes_back_to_its_outline():
    """The thing is bright from column 60 on. The map has it from 54 on."""
    guide = np.full((90, 120), 60, np.uint8)
    guide[:, 60:] = 160
    d = (np.where(np.arange(120) < 54, -1.0, 2.0) * np.ones((90, 1))).astype(np.float32)
    np.testing.assert_array_equal(coarsely_outlined(d, guide, 10, 1), np.where(guide == 160, 2, -1))


def test_tiles_begin_at_pixels_that_count_between_passes():
    assert _core.tile % EVERY == 0


@pytest.mark.parametrize("every", [1, 2, 3, 64])
@pytest.mark.parametrize("shape", [(1, 1), (6, 9), (13, 70)])
def test_changes_are_taken_by_whole_blocks(shape, every):
    rng = np.random.default_rng(2)
    d = rng.random(shape).astype(np.float32)
    before = d[::every, ::every].copy()
    after = np.where(rng.random(before.shape) < 0.5, before, 2).astype(np.float32)
    y, x = np.indices(shape) // every
    expected = np.where((after != before)[y, x], 2, d)
    _core.take_changes(d, before, after, every=every, threads=2)
    np.testing.assert_array_equal(d, expected)


def test_brightness_in_bytes():
    plane = np.array([[-3, 0, 0.4, 0.6, 254.4, np.nan], [255, 255.4, 1e9, 100.5, 7, -np.inf]], np.float32)
    np.testing.assert_array_equal(brightness_bytes(plane, 1), [[0, 0, 0, 1, 254, 0], [255, 255, 255, 101, 7, 0]])


def test_wrong_arguments_are_refused():
    d, guide = np.zeros((4, 5), np.float32), np.zeros((4, 4), np.uint8)
    with pytest.raises(ValueError, match="guide must have the shape of d"):
        _core.follow_outlines(d, guide, np.empty_like(d), sigma=1, step=1, threads=1)
    guide = np.zeros((4, 5), np.uint8)
    for sigma, step, message in ((0, 1, "sigma must be"), (1, -1, "step must be"), (1, np.nan, "step must be")):
        with pytest.raises(ValueError, match=message):
            _core.follow_outlines(d, guide, np.empty_like(d), sigma=sigma, step=step, threads=1)


@pytest.mark.parametrize(
    ("before", "after", "every", "message"),
    [
        ((2, 1), (2, 2), 3, "before must have one pixel for every block of d"),
        ((2, 2), (2, 1), 3, "after must have the shape of before"),
        ((2, 2), (2, 2), 0, "every must be 1 to 64"),
        ((1, 1), (1, 1), 65, "every must be 1 to 64"),
    ],
)
def test_wrong_maps_of_changes_are_refused(before, after, every, message):
    d, before, after = (np.zeros(shape, np.float32) for shape in ((4, 5), before, after))
    with pytest.raises(ValueError, match=message):
        _core.take_changes(d, before, after, every=every, threads=1)


def test_only_auto_has_them():
    assert {name for name in preset_names() if dualpix.preset(name).outlines} == {"auto"}
