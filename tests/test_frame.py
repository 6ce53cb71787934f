"""The change of frame: pixels that are not square, the axis, and how a viewer turns the picture."""

import numpy as np
import pytest

from dualpix.io.orientation import upright
from dualpix.method.frame import Frame
from dualpix.types import Planes


def matched(frame, plane):
    """A plane of the input as it is matched."""
    square = frame.square(plane)
    return frame.turned(Planes(square, square, square)).left


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize(("aspect", "shape"), [(2, (14, 9)), (0.5, (7, 18)), (1.5, (10, 9)), (1, (7, 9))])
def test_squares(aspect, shape, dtype):
    image = np.random.default_rng(0).integers(0, 200, (7, 9, 3)).astype(dtype)
    frame = Frame((7, 9), aspect)
    square = frame.square(image)
    assert frame.square_shape == shape
    assert square.shape == (*shape, 3)
    assert square.dtype == dtype
    np.testing.assert_array_equal(frame.square(image[..., 0]), square[..., 0])


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize("aspect", [2, 0.5, 3])
def test_there_and_back_nothing_moves(aspect, axis):
    y, x = np.mgrid[:12, :16].astype(np.float32)
    plane = 3 * x - 2 * y
    frame = Frame(plane.shape, aspect, axis)
    back = frame.back(matched(frame, plane))
    assert back.dtype == np.float32
    assert back.flags.c_contiguous
    np.testing.assert_allclose(back[1:-1, 1:-1], plane[1:-1, 1:-1], atol=1e-4)


@pytest.mark.parametrize(
    ("shape", "aspect", "axis", "d"),
    [((12, 16), 2, "x", 3), ((12, 16), 2, "y", 1.5), ((24, 8), 0.5, "x", 1.5), ((24, 8), 0.5, "y", 3)],
)
def test_disparities_come_in_the_pixels_of_the_input(shape, aspect, axis, d):
    frame = Frame(shape, aspect, axis)
    found = np.full((24, 16) if axis == "x" else (16, 24), 3, np.float32)
    np.testing.assert_array_equal(frame.back_disparity(found), np.full(shape, d, np.float32), strict=True)
    np.testing.assert_array_equal(frame.back(found), np.full(shape, 3, np.float32), strict=True)
    assert frame.stretch == 3 / d
    assert frame.length == found.shape[1]


def test_square_pixels_along_x_stay_as_they_are():
    plane = np.zeros((24, 16), np.float32)
    frame = Frame(plane.shape)
    planes = Planes(plane, plane, plane)
    assert frame.square(plane) is frame.back(plane) is frame.back_disparity(plane) is plane
    assert frame.turned(planes) is planes


# By EXIF orientation: where the stored x axis and the stored y axis point when a viewer shows the picture.
SEEN = {
    1: ("x", "y"),
    2: ("-x", "y"),
    3: ("-x", "-y"),
    4: ("x", "-y"),
    5: ("y", "x"),
    6: ("y", "-x"),
    7: ("-y", "-x"),
    8: ("-y", "x"),
}


@pytest.mark.parametrize("orientation", SEEN)
@pytest.mark.parametrize("axis", ["x", "y"])
def test_axes_as_a_viewer_shows_them(orientation, axis):
    frame = Frame((5, 7), 1, axis, orientation)
    seen = SEEN[orientation]["xy".index(axis)]
    assert (frame.seen_axis, frame.flipped) == (seen[-1], seen[0] == "-")
    plane = np.random.default_rng(0).random((5, 7), np.float32)
    np.testing.assert_array_equal(frame.upright(plane), upright(plane, orientation))
