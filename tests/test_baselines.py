"""The baselines: semi-global matching against its oracle, OpenCV's against OpenCV, and what they do with mistakes."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference_sgm
from conftest import textured_pair
from dualpix import InputError, ParameterError, _core
from dualpix.baselines import _sgm, opencv_sgbm, sgm
from dualpix.method.grey import detail
from dualpix.method.window import box_taps

RNG = np.random.default_rng(4)


def noise(*shape):
    return RNG.integers(0, 256, (2, *shape))


# Whole intensities: the costs are then sure to be rounded to the same sixteenths, and the rest is whole numbers.
VIEWS = {
    "noise 7x9": (noise(7, 9), range(-2, 4)),
    "more than a tile": (noise(35, 101), range(3)),
    "a group of disparities": (noise(4, 30), range(-8, 8)),
    "one more": (noise(4, 30), range(-8, 9)),
    "three groups": (noise(3, 50), range(40)),
    "one row": (noise(1, 40), range(-3, 6)),
    "one column": (noise(40, 1), range(-1, 2)),
    "one pixel": (noise(1, 1), range(-1, 2)),
    "one disparity": (noise(5, 6), range(2, 3)),
    "two disparities": (noise(5, 6), range(2)),
    "beyond the image": (noise(6, 8), range(-12, 13)),
    "constant": (np.full((2, 6, 9), 128), range(-2, 4)),
    "black against white": (np.stack([np.zeros((6, 20), int), np.full((6, 20), 255)]), range(-2, 4)),
    "checkerboard": (np.stack([255 * (np.indices((6, 20)).sum(axis=0) % 2)] * 2), range(-2, 4)),
}


def kernel(left, right, disparities, P1=3.25, P2=8.25, window=5, threads=2):
    left, right = (np.ascontiguousarray(view, np.float32) for view in (left, right))
    d = np.full_like(left, np.nan)
    span = {"first": disparities.start, "count": len(disparities)}
    _core.sgm(left, right, d, **span, taps=box_taps(window), P1=P1, P2=P2, threads=threads)
    return d


def compare(views, disparities, *options):
    expected = reference_sgm.sgm(*views.astype(float), disparities, *options)
    np.testing.assert_allclose(kernel(*views, disparities, *options), expected, rtol=0, atol=1e-5)


# ---- against the oracle ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VIEWS)
def test_kernel(name):
    compare(*VIEWS[name], 3.0, 8.0, 5)


@pytest.mark.parametrize(("P1", "P2"), [(0, 0), (0.7, 0.7), (0, 127), (2.03, 20), (127, 127)])
@pytest.mark.parametrize("window", [1, 3, 7])
def test_penalties_and_windows(P1, P2, window):
    compare(*VIEWS["noise 7x9"], P1, P2, window)
    compare(*VIEWS["black against white"], P1, P2, window)


@settings(max_examples=30)
@given(
    views=hnp.arrays(
        np.uint8, hnp.array_shapes(min_dims=3, max_dims=3, max_side=12).map(lambda shape: (2, *shape[1:]))
    ),
    first=st.integers(-5, 5),
    count=st.integers(1, 20),
    P1=st.integers(0, 160),
    step=st.integers(0, 480),
)
def test_any_views(views, first, count, P1, step):
    compare(views, range(first, first + count), P1 / 16, (P1 + step) / 16, 3)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
def test_values_that_are_no_intensities(value):
    left, right = noise(9, 40).astype(np.float32)
    left[4, 20] = right[2, 11] = value
    d = kernel(left, right, range(8))
    assert ((d >= 0) & (d <= 7)).all()


@pytest.mark.parametrize("shape", [(1, 300), (5, 33), (70, 210)])
def test_threads_do_not_matter(shape):
    left, right = RNG.uniform(0, 255, (2, *shape))
    one = kernel(left, right, range(-3, 17), threads=1)
    for threads in (2, 3, 8):
        assert kernel(left, right, range(-3, 17), threads=threads).tobytes() == one.tobytes()


@pytest.mark.parametrize(
    "changes",
    [{"disparities": range(0)}, {"P1": 9.0}, {"P1": -1.0}, {"P2": 128.0}, {"P2": np.nan}, {"right": noise(2, 3)[0]}],
)
def test_kernel_refuses(changes):
    left, right = noise(4, 5)
    with pytest.raises(ValueError, match=r"must|at least"):
        kernel(**{"left": left, "right": right, "disparities": range(3)} | changes)


# ---- as called ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [sgm, opencv_sgbm])
@pytest.mark.parametrize(("shift", "limits"), [(7, (0, 20)), (-4, (-10, 5.5)), (7.3, (0, 20)), (-4.3, (-10, 5.5))])
def test_finds_a_shift(method, shift, limits):
    left, right = (view / 255 for view in textured_pair((60, 160), shift))
    d = method(left, right, limits)
    assert d.shape == left.shape
    assert d.dtype == np.float32
    assert np.abs(d[:, 40:-40] - shift).max() < (0.1 if isinstance(shift, int) else 0.4)


@pytest.mark.parametrize("shift", [7.3, 7.8, -4.3])
def test_sgm_refines(shift):
    """The sums draw to whole disparities, but not all the way."""
    left, right = (view / 255 for view in textured_pair((60, 160), shift))
    d, whole = sgm(left, right, (-20, 20))[:, 40:-40], round(shift)
    assert 0.2 < np.median((d - whole) / (shift - whole)) < 1.2


def test_sgm_compares_detail():
    views = noise(20, 40).astype(np.uint8)
    planes = [view.astype(np.float32) for view in views]
    np.testing.assert_array_equal(sgm(*views, (0, 8), detail=False), kernel(*planes, range(9)))
    np.testing.assert_array_equal(sgm(*views, (0, 8)), kernel(*(detail(plane, 1) for plane in planes), range(9)))


def test_sgm_rounds_its_range_outwards():
    views = noise(10, 40).astype(np.uint8)
    np.testing.assert_array_equal(sgm(*views, (-2.5, 3.1)), sgm(*views, (-3, 4)))


@pytest.mark.parametrize("method", [sgm, opencv_sgbm])
def test_paths_colours_and_depths(method, tmp_path):
    grey = noise(30, 80).astype(np.uint8)
    expected = method(*grey, (0, 20))
    paths = [tmp_path / "left.png", str(tmp_path / "right.png")]
    for path, view in zip(paths, grey, strict=True):
        cv2.imwrite(str(path), view)
    np.testing.assert_array_equal(method(*paths, (0, 20)), expected)
    np.testing.assert_allclose(method(*(grey.astype(np.uint16) * 257), (0, 20)), expected, atol=1e-5)
    np.testing.assert_allclose(method(*(grey / 255), (0, 20)), expected, atol=1e-5)
    np.testing.assert_allclose(method(*np.stack([grey] * 3, axis=-1), (0, 20)), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("mode", "number"),
    [
        ("3way", cv2.STEREO_SGBM_MODE_SGBM_3WAY),
        ("5way", cv2.STEREO_SGBM_MODE_SGBM),
        ("hh4", cv2.STEREO_SGBM_MODE_HH4),
        ("hh", cv2.STEREO_SGBM_MODE_HH),
    ],
)
def test_opencv_is_opencv(mode, number):
    left, right = (np.rint(view).astype(np.uint8) for view in textured_pair((40, 120), 3.4))
    raw = cv2.StereoSGBM.create(-5, 32, 7, 8 * 49, 32 * 49, mode=number).compute(left, right)
    d = opencv_sgbm(left, right, (-5, 11), mode=mode, block=7)
    invalid = raw == 16 * (-5 - 1)
    assert invalid.any()
    np.testing.assert_array_equal(d[~invalid], raw[~invalid] / 16)
    assert np.isnan(d[invalid]).all()


# ---- mistakes ----------------------------------------------------------------------------------------------

GREY = np.zeros((20, 60), np.uint8)


@pytest.mark.parametrize("method", [sgm, opencv_sgbm])
@pytest.mark.parametrize(
    ("left", "limits", "error", "message"),
    [
        (GREY[:, 1:], (0, 8), InputError, "right is 60x20 but left is 59x20: give images of the same size"),
        ("missing.png", (0, 8), InputError, "missing.png"),
        (GREY > 9, (0, 8), InputError, "left: must hold uint8"),
        (GREY, (0, 60), ParameterError, "range 0 to 60 is wider than the views, 60 pixels"),
        (GREY, (-31, 30), ParameterError, "range -31 to 30 is wider than the views, 60 pixels"),
        (GREY, (8, 0), ParameterError, "range must be min and max"),
        (GREY, (0, np.nan), ParameterError, "range must be min and max"),
        (GREY, 8, ParameterError, "range must be min and max"),
    ],
)
def test_views_and_ranges_refused(method, left, limits, error, message):
    with pytest.raises(error) as caught:
        method(left, GREY, limits)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (sgm, {"P1": 9, "P2": 8}, "P1 must not be above P2, but they are 9 and 8"),
        (sgm, {"P1": -1}, "P1 must be a number from 0 to 127"),
        (sgm, {"P2": 128}, "P2 must be a number from 0 to 127"),
        (sgm, {"window": 4}, "window must be an odd whole number"),
        (sgm, {"detail": 1}, "detail must be true or false"),
        (sgm, {"threads": 0}, "threads must be a whole number"),
        (opencv_sgbm, {"mode": "sgbm"}, "mode must be 3way or 5way or hh4 or hh, not 'sgbm'"),
        (opencv_sgbm, {"block": 4}, "block must be an odd whole number"),
        (opencv_sgbm, {"range": (0, 48)}, "searches 0 to 63 px in views 60 px wide"),
    ],
)
def test_options_refused(method, options, message):
    with pytest.raises(ParameterError) as caught:
        method(GREY, GREY, **{"range": (0, 8)} | options)
    assert message in str(caught.value)


@pytest.mark.parametrize("limits", [(0, 2045), (-2048, -2040)])
def test_opencv_refuses_what_16_bits_cannot_hold(limits):
    wide = np.zeros((4, 5000), np.uint8)
    with pytest.raises(ParameterError, match="and at most 2047 px"):
        opencv_sgbm(wide, wide, limits)


@pytest.mark.parametrize("mode", ["3way", "5way", "hh4", "hh"])
@pytest.mark.parametrize("block", [1, 5, 11])
@pytest.mark.parametrize("limits", [(0, 15), (-16, -1), (-8, 7)])
def test_opencv_takes_the_narrowest_views_that_are_let_through(mode, block, limits):
    narrow = noise(3, 16 + block // 2 + 1).astype(np.uint8)
    assert opencv_sgbm(*narrow, limits, mode=mode, block=block).shape == narrow[0].shape
    with pytest.raises(ParameterError, match=r"too wide for OpenCV|wider than the views"):
        opencv_sgbm(*narrow[:, :, 1:], limits, mode=mode, block=block)


def test_sgm_without_memory(monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr(_sgm._core, "sgm", fails)
    with pytest.raises(InputError, match="more than there is: give smaller views or a smaller range"):
        sgm(GREY, GREY, (0, 8))
