"""The warning about exchanged views of a dual-pixel pair."""

import numpy as np
import pytest

import dualpix
from dualpix.method.notes import order_notes


def ramp(top, bottom, shape=(90, 60)):
    return np.broadcast_to(np.linspace(top, bottom, shape[0], dtype=np.float32)[:, None], shape).copy()


def test_a_floor_that_comes_nearer_is_as_usual():
    assert order_notes(ramp(-1, 2)) == []


def test_a_floor_that_goes_away_is_suspect():
    (note,) = order_notes(ramp(2, -1))
    assert "2.02 px farther" in note
    assert "exchange the views" in note


@pytest.mark.parametrize(("top", "bottom"), [(0.05, -0.05), (0, 0), (3, 3)])
def test_a_plane_is_not_suspect(top, bottom):
    assert order_notes(ramp(top, bottom)) == []


def test_a_small_fall_beside_a_large_span_is_not_suspect():
    d = ramp(0.5, 0)
    d[:, 30:] += 5
    assert order_notes(d) == []


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (3, 1)])
def test_tiny_maps(shape):
    assert order_notes(np.zeros(shape, np.float32)) == []


def test_masked_pixels_do_not_count():
    d = ramp(2, -1)
    d[::2] = np.nan
    assert len(order_notes(d)) == 1


def test_the_pair_in_the_wrong_order_is_reported():
    image = np.random.default_rng(0).random((120, 160)).astype(np.float32)
    left, right, _ = dualpix.simulate(image, ramp(-2, 2, image.shape))
    assert not any("exchange" in each for each in dualpix.disparity(left, right).warnings)
    assert any("exchange" in each for each in dualpix.disparity(right, left).warnings)
