"""The calibrated bias of the histeq vertex."""

import numpy as np

from dualpix.method.subpixel import HISTEQ_BIAS, calibrate_histeq_bias


def test_the_table_is_what_the_calibration_gives():
    np.testing.assert_allclose(HISTEQ_BIAS, calibrate_histeq_bias(), atol=2e-5)


def test_another_image_gives_the_same_table():
    np.testing.assert_allclose(HISTEQ_BIAS, calibrate_histeq_bias(seed=1), atol=2e-3)


def test_shape_of_the_table():
    bias = np.array(HISTEQ_BIAS)
    np.testing.assert_allclose(bias, -bias[::-1], atol=1e-9)
    np.testing.assert_allclose(bias[[0, 5, 10, 15, 20]], 0, atol=1e-9)
    assert 0.02 < np.abs(bias).max() < 0.04
