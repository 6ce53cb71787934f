"""Removal of small steps from a finished map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference
from dualpix import _core
from dualpix.filters.polish import polished


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 3), (3, 1), (1, 40), (33, 4), (70, 31)])
@pytest.mark.parametrize("step", [0.01, 0.2, 30.0])
@pytest.mark.parametrize("level", [0, -300])
def test_agrees_with_the_oracle(shape, step, level):
    d = (np.random.default_rng(1).normal(0, 0.5, shape) + level).astype(np.float32)
    expected = reference.polish(d.astype(float) - level, step) + level
    np.testing.assert_allclose(polished(d.copy(), step, 2), expected, atol=2e-4 if level else 2e-5)


def test_same_bytes_for_any_threads():
    d = np.random.default_rng(2).normal(0, 1, (161, 203)).astype(np.float32)
    assert len({polished(d.copy(), 0.2, threads).tobytes() for threads in (1, 2, 5)}) == 1


def test_the_result_is_clipped_not_what_it_is_made_of():
    d = np.random.default_rng(4).normal(0, 1, (70, 90)).astype(np.float32)
    free = polished(d.copy(), 0.2, 2)
    assert free.min() < -0.5
    assert free.max() > 0.75
    expected = free.clip(np.float32(-0.5), np.float32(0.75))
    np.testing.assert_array_equal(polished(d.copy(), 0.2, 2, (-0.5, 0.75)), expected)


def test_small_steps_go_and_depth_edges_stay():
    x = np.arange(60)
    small, large = (np.tile(np.where(x < 30, 0, step), (20, 1)).astype(np.float32) for step in (0.04, 4))
    assert np.abs(np.diff(polished(small.copy(), 0.2, 1), axis=1)).max() < 0.012
    np.testing.assert_allclose(polished(large.copy(), 0.2, 1), large, atol=0.03)


@settings(max_examples=40)
@given(
    hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.floats(-50, 50, width=32))
)
def test_a_constant_added_to_the_map_is_added_to_the_result(d):
    np.testing.assert_allclose(polished(d + np.float32(8), 0.2, 1), polished(d.copy(), 0.2, 1) + 8, atol=2e-3)


def test_the_kernel_refuses_nonsense():
    d = np.zeros((4, 5), np.float32)
    for out, eps in ((np.zeros((5, 4), np.float32), 1.0), (np.zeros_like(d), 0.0)):
        with pytest.raises(ValueError, match=r"out must|eps must"):
            _core.polish(d, out, eps=eps, low=-1, high=1, threads=1)


def test_a_thin_thing_keeps_its_height():
    d = np.zeros((40, 60), np.float32)
    d[:, 28:32] = 0.8  # four times the step
    assert polished(d, 0.2, 1)[20, 28:32].min() > 0.72  # v / (v + eps) instead leaves 0.63


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (70, 9)])
def test_a_map_can_be_subtracted_from_the_result(shape):
    rng = np.random.default_rng(0)
    d, minus = rng.random((2, *shape), np.float32)
    out, less = np.empty_like(d), np.empty_like(d)
    for each, subtracted in ((out, None), (less, minus)):
        _core.polish(d, each, eps=0.1, low=0.2, high=0.8, threads=2, minus=subtracted)
    np.testing.assert_array_equal(less, out - minus)
