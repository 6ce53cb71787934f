"""Blank parts that are filled from their contours: method/blank.py and core/filters/blank.cpp."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dualpix
from dualpix import _core
from dualpix.method.blank import Contours, Planes, change_of
from reference_blank import blank_parts

BLANK, R = 0.002, 0.3  # curvature, px


def parts_of(blank, d, least, reach):
    part, steps, beside = np.empty(d.shape, np.int32), np.empty(d.shape, np.uint8), np.empty_like(d)
    count = _core.blank_parts(blank, d, part, steps, beside, least=least, reach=reach)
    return count, part, steps, beside


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 6), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_parts_are_those_of_the_oracle(h, w, least, reach, seed):
    rng = np.random.default_rng(seed)
    blank, d = (rng.random((h, w)) < 0.4).astype(np.uint8), rng.normal(size=(h, w)).astype(np.float32)
    count, part, steps, beside = parts_of(blank, d, least, reach)
    expected, expected_steps, ways = blank_parts(blank, d, least, reach)
    assert count == expected
    np.testing.assert_array_equal(steps, expected_steps)
    for pixel in np.ndindex(d.shape):
        if pixel in ways:
            assert (part[pixel], float(beside[pixel])) in ways[pixel]
        else:
            assert part[pixel] == 0
            assert beside[pixel] == d[pixel]


@pytest.mark.parametrize("value", [0, 1])
def test_a_map_that_is_all_blank_or_not_at_all(value):
    d = np.ones((5, 7), np.float32)
    count, part, steps, _ = parts_of(np.full(d.shape, value, np.uint8), d, 3, 2)
    assert count == value
    assert (part == value).all()
    assert not steps.any()


def test_wrong_shapes_are_refused():
    d = np.zeros((4, 5), np.float32)
    with pytest.raises(ValueError, match="blank must have the shape of d"):
        parts_of(np.zeros((4, 4), np.uint8), d, 1, 1)
    with pytest.raises(ValueError, match="reach must be 0 to 255"):
        parts_of(np.zeros((4, 5), np.uint8), d, 1, 256)


# ---- the fill: maps of 120 x 160 samples with texture around a blank square --------------------------------

SQUARE = np.s_[30:90, 50:110]
Y, X = np.indices((120, 160)).astype(np.float32)


def filled(d, texture, threads=1):
    change = change_of(d.astype(np.float32), texture.astype(np.float32), BLANK, R, threads)
    return d if change is None else d + change


def blank_square():
    texture = np.ones(Y.shape)
    texture[SQUARE] = 0
    return texture


def test_a_wall_goes_on_behind_something_near():
    """The wall is at -2 px. Something near beside the blank part has given it its own disparity."""
    d = np.full(Y.shape, -2.0)
    d[:, :50] = 5
    d[30:90, 50:110] = np.linspace(5, -2, 60)
    new = filled(d, blank_square())
    # windows near the contour still see it, so a margin stays as it was
    np.testing.assert_allclose(new[35:85, 55:105], -2, atol=0.1)
    np.testing.assert_array_equal(new[:, :45], d[:, :45])


def test_a_blank_part_that_fell_behind_its_contours_comes_back():
    d = np.full(Y.shape, -2.0)
    d[26:94, 46:114] = -3
    new = filled(d, blank_square())
    np.testing.assert_allclose(new[:, 50:110], -2, atol=0.15)  # corners are rounded
    np.testing.assert_allclose(new[30:90], -2, atol=0.15)


def test_something_near_and_blank_stays_near():
    """Its contours are its own, and what is seen beyond them is not."""
    d = np.full(Y.shape, -2.0)
    d[28:92, 48:112] = 3
    np.testing.assert_allclose(filled(d, blank_square())[SQUARE], 3, atol=0.05)


@pytest.mark.parametrize(("share", "is_filled"), [(0.6, False), (0.8, True)])
def test_a_part_is_filled_if_its_surface_goes_on_beyond_most_of_its_contours(share, is_filled):
    """It lies at 3 px with a dent. Beyond so much of its contours the map is at 3 px, too, and beyond the rest far."""
    angle = np.arctan2(Y - 59.5, X - 79.5)
    d = np.where(angle < (2 * share - 1) * np.pi, 3.0, -2.0)
    d[28:92, 48:112] = 3
    d[50:70, 70:90] = 1
    new = filled(d, blank_square())
    assert np.allclose(new[50:70, 70:90], 3, atol=0.2) == is_filled
    assert np.array_equal(new, d) != is_filled


def test_a_slanted_surface_keeps_its_slope():
    d = 0.02 * X - 0.01 * Y
    np.testing.assert_allclose(filled(d, blank_square()), d, atol=0.12)


def test_one_thing_before_a_blank_wall_tells_nothing_about_the_wall():
    d, texture = np.full(Y.shape, -2.0), np.zeros(Y.shape)
    d[50:70, 70:90], texture[50:70, 70:90] = 3, 1
    np.testing.assert_array_equal(filled(d, texture), d)


def test_contours_that_do_not_agree_change_nothing():
    d = np.random.default_rng(3).uniform(-9, 9, Y.shape)
    np.testing.assert_array_equal(filled(d, blank_square()), d)


def test_nothing_changes_without_a_blank_part():
    d = 0.02 * X
    assert change_of(d.astype(np.float32), np.ones_like(d), BLANK, R, 1) is None
    assert change_of(d.astype(np.float32), np.zeros_like(d), BLANK, R, 1) is None


def test_threads_do_not_change_a_byte():
    d = np.where(X < 50, 5, -2) + 0.01 * Y
    assert np.array_equal(filled(d, blank_square(), 1), filled(d, blank_square(), 3))


def test_planes_prefer_what_is_farther():
    """Three tenths of the contours of the first part are near. The second part has one sample only."""
    rng = np.random.default_rng(5)
    y, x = rng.uniform(0, 99, (2, 401))
    d = 0.5 + 0.004 * y
    d[:120] += 4
    part = np.ones(401, np.int32)
    part[-1] = 2
    planes = Planes(Contours(part, y, x, d, d), 3, R)
    found = planes.at(part, y, x)
    np.testing.assert_allclose(found[120:], d[120:], atol=0.2)


# ---- in the method ------------------------------------------------------------------------------------------


def scene(h=480, w=640):
    """A textured wall at -1.5 px with a black field, and a textured bar at 2.5 px that covers one side of the field."""
    rng = np.random.default_rng(11)

    def texture():
        noise = rng.uniform(40, 220, (h // 4 + 4, (w + 32) // 4 + 4)).repeat(4, 0).repeat(4, 1)
        return noise[:h, : w + 32]

    wall, bar = texture(), texture()
    wall[100:380, 216:520] = 6
    views = []
    for sign in (0.5, -0.5):
        places = np.arange(w) + 16.0

        def seen(plane, d, places=places, sign=sign):
            return np.array([np.interp(places - sign * d, np.arange(w + 32), row) for row in plane])

        view = seen(wall, -1.5)
        left = round(200 + sign * 2.5)
        view[:, left - 80 : left + 40] = seen(bar, 2.5)[:, left - 80 : left + 40]
        views.append((view + rng.normal(0, 0.5, view.shape)).clip(0, 255).round().astype(np.uint8))
    return views


def test_a_black_field_beside_something_near_is_not_near():
    left, right = scene()
    off = dualpix.disparity(left, right, blank=0).disparity
    on = dualpix.disparity(left, right).disparity
    field = np.s_[140:340, 280:480]
    wall, bar = np.median(on[400:, 300:]), np.median(on[400:, 130:230])
    assert bar - wall > 2
    assert np.abs(on[field] - wall).max() < 0.4
    assert np.abs(on[field] - wall).mean() < np.abs(off[field] - wall).mean()
    np.testing.assert_allclose(on[400:, 20:-20], off[400:, 20:-20], atol=0.005)  # the polish reaches farther


def test_the_published_presets_fill_nothing():
    for name in ("dslr-a", "phone", "stereo"):
        assert dualpix.preset(name).smoothing.blank == 0
