"""Window and penalty follow the relief of the scene."""

import numpy as np
import pytest

import reference
from dualpix.method.relief import STEEPEST, fitted, relief_of
from dualpix.params import preset
from dualpix.types import Parabolas

AUTO = preset("auto")


def slope(s, shape=(40, 50)):
    """A belief whose disparity rises by s px from pixel to pixel."""
    d = np.broadcast_to(s * np.arange(shape[1], dtype=np.float32), shape)
    return Parabolas(np.ones(shape, np.float32), -2 * d)


@pytest.mark.parametrize("s", [0, 0.001, -0.02])
@pytest.mark.parametrize("shape", [(1, 2), (40, 50), (900, 1000)])
def test_the_relief_is_the_median_step(s, shape):
    assert relief_of(slope(s, shape)) == pytest.approx(abs(s), rel=1e-2, abs=1e-7)


def test_a_single_column_has_no_relief():
    assert relief_of(slope(1, (5, 1))) == 0


@pytest.mark.parametrize("s", [1e-4, 0.0025, 0.005, 0.5])
def test_window_and_penalty_follow_the_relief(s):
    f = reference.relief_factor(slope(s).disparity(), AUTO.relief)
    found = fitted(AUTO, slope(s))
    assert found.window == pytest.approx(f * AUTO.window, rel=1e-3)
    assert found.penalty == pytest.approx(f * AUTO.penalty, rel=1e-3)
    assert found.replace(window=AUTO.window, penalty=AUTO.penalty) == AUTO


def test_steep_and_flat_have_bounds():
    assert fitted(AUTO, slope(9)).window == pytest.approx(STEEPEST * AUTO.window)
    assert fitted(AUTO, slope(0)) == AUTO


def test_without_relief_or_coarser_scale_nothing_changes():
    assert fitted(AUTO, None) == AUTO
    fixed = AUTO.replace(relief=0)
    assert fitted(fixed, slope(9)) == fixed


def test_parameters_stay_within_their_bounds():
    extreme = AUTO.replace(window=0.5, penalty=1e6)
    assert fitted(extreme, slope(9)).window == 0.5
    assert fitted(extreme, slope(0)) == extreme
