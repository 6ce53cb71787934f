"""What the confidence promises."""

import numpy as np
import pytest

import reference
from dualpix.method.confidence import near_texture, smoothness, texture
from dualpix.method.kinds import method_of
from dualpix.params import preset
from dualpix.run import Run
from dualpix.types import Parabolas

AUTO = preset("auto")
RNG = np.random.default_rng(5)


def trust(A, d=None, params=AUTO):
    A = np.asarray(A, np.float32)
    d = np.zeros_like(A) if d is None else np.asarray(d, np.float32)
    return confidence(A, d, np.ones(A.shape, np.uint8), params, 2)


def confidence(A, d, textured, params, threads):
    return method_of(params).confidence(Parabolas(A, np.zeros_like(A), textured), d, Run(threads))


def test_half_sure_is_a_curvature_of_25():
    np.testing.assert_allclose(trust([[0, 25, 75, 475]]), [[0, 0.5, 0.75, 0.95]], rtol=1e-6)


def test_without_depth_edges_it_is_the_curvature_alone():
    A = RNG.uniform(0, 1e4, (40, 50))
    np.testing.assert_allclose(trust(A, np.full_like(A, 1.5)), A / (A + 25), rtol=1e-5)


@pytest.mark.parametrize("window", [1, 2.5, 9.5])
def test_agrees_with_the_oracle(window):
    A, d = RNG.uniform(1, 1e4, (45, 60)), RNG.uniform(-2, 2, (45, 60))
    np.testing.assert_allclose(trust(A, d, AUTO.replace(window=window)), reference.confidence(A, d, window), rtol=1e-4)


def test_near_an_edge_variances_add_up_as_far_as_the_window_reaches():
    """A window of STD 10 has 41 columns: those at most 20 away from the far side of the step."""
    A = np.full((200, 200), 5000)
    d = np.where(np.arange(200) < 100, 0, 1.2) * np.ones_like(A)
    row = trust(A, d)[100]
    at_edge = 1 / (1 / 5000 + 1.2**2 / 12)
    np.testing.assert_allclose(row[80:120], at_edge / (at_edge + 25), rtol=1e-4)
    np.testing.assert_allclose(np.r_[row[:80], row[120:]], 5000 / (5000 + 25), rtol=1e-4)


@pytest.mark.parametrize("change", [{"messages": "paper"}, {"noise_floor": 0.0}])
def test_curvature_without_a_scale_is_compared_with_its_mean(change):
    A, d = RNG.uniform(0, 1e4, (40, 50)), RNG.uniform(-2, 2, (40, 50))
    np.testing.assert_allclose(trust(A, d, AUTO.replace(**change)), A / (A + A.mean()), rtol=1e-5)
    np.testing.assert_allclose(trust(1e3 * A, d, AUTO.replace(**change)), A / (A + A.mean()), rtol=1e-5)


@pytest.mark.parametrize("messages", ["paper", "exact"])
def test_grows_with_the_curvature_and_stays_within_0_and_1(messages):
    found = trust([[0, 1e-6, 1, 30, 1e3, 1e6]], params=AUTO.replace(messages=messages))
    assert (np.diff(found) > 0).all()
    assert found.min() >= 0
    assert found.max() <= 1


@pytest.mark.parametrize("messages", ["paper", "exact"])
def test_nothing_matched_is_nothing_known(messages):
    A, textured = np.full((3, 4), 1e5, np.float32), np.zeros((3, 4), np.uint8)
    textured[1, 2] = 1
    found = confidence(A, np.zeros_like(A), textured, AUTO.replace(messages=messages), 1)
    assert np.argwhere(found).tolist() == [[1, 2]]


# ---- where anything was matched ------------------------------------------------------------------------


def test_texture_reaches_as_far_as_the_window():
    alpha = np.zeros((80, 100), np.float32)
    alpha[30, 40] = 1e-6
    expected = np.zeros((80, 100))
    expected[10:51, 20:61] = 1
    np.testing.assert_array_equal(near_texture(alpha, None, 41), expected)


@pytest.mark.parametrize("shape", [(80, 100), (79, 99)])
def test_texture_of_a_coarser_scale_counts(shape):
    alpha = np.zeros(shape, np.float32)
    alpha[5, 5] = 1
    coarser = np.zeros((40, 50), np.uint8)
    coarser[30:, 40:] = 1
    expected = np.zeros(shape)
    expected[60:, 80:] = 1
    expected[3:8, 3:8] = 1
    np.testing.assert_array_equal(near_texture(alpha, coarser, 5), expected)


def test_nothing_matched_anywhere():
    blank = np.zeros((30, 40), np.float32)
    assert not near_texture(blank, None, 41).any()
    assert not near_texture(blank, np.zeros((15, 20), np.uint8), 41).any()


# ---- the paper's weights of the solver on phones -------------------------------------------------

SIDE = 5  # px, of the window


def windows(values):
    """The 5x5 pixels around each, mirrored at the border."""
    return np.lib.stride_tricks.sliding_window_view(np.pad(values, 2, mode="symmetric"), (5, 5))


def test_texture_is_gradient_along_x_and_contrast():
    view = RNG.uniform(0, 40, (30, 40)).astype(np.float32)
    view[8:20, 10:25] = 17
    padded = np.pad(view, 1, mode="reflect").astype(np.float64)
    across = padded[:, 2:] - padded[:, :-2]
    gradient = (across[:-2] + 2 * across[1:-1] + across[2:]) / 8
    g2, variance = (windows(gradient) ** 2).mean(axis=(2, 3)), windows(view.astype(np.float64)).var(axis=(2, 3))
    np.testing.assert_allclose(texture(view, SIDE), g2 / (g2 + 9) * variance / (variance + 9), rtol=1e-3, atol=1e-5)
    assert texture(view, SIDE)[13, 17] < 1e-5


def test_stripes_along_x_cannot_be_matched():
    stripes = np.ascontiguousarray(np.broadcast_to(128 + 100 * np.sin(np.arange(40)), (40, 40)), np.float32)
    assert texture(stripes, SIDE).min() > 0.9
    assert texture(np.ascontiguousarray(stripes.T), SIDE).max() == 0


def test_rough_maps_are_trusted_less():
    d = RNG.normal(0, 0.03, (30, 40)).astype(np.float32) + 200
    variance = windows(d.astype(np.float64)).var(axis=(2, 3))
    np.testing.assert_allclose(smoothness(d, SIDE), 1 / (1 + variance / 0.03**2), rtol=1e-3)
    assert (smoothness(np.full_like(d, -3.3), SIDE) == 1).all()
