"""Views that an EXIF tag turns: matched as stored, the map as a viewer shows it."""

import json

import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix.camera.lens import Calibration, Field
from dualpix.cli import main
from dualpix.io.orientation import as_stored, upright
from image_files import oriented_jpeg

SMALL = {"window": 2.0, "encc_window": 5, "range": (-6, 6)}


def shot():
    """A picture in which the top left quarter is nearer."""
    depth = np.full((160, 240), -1.5)
    depth[:80, :120] = 2
    left, right, _ = dualpix.simulate((textured_pair((160, 240), 0)[0] / 255).astype(np.float32), depth)
    return [np.rint(255 * view).astype(np.uint8) for view in (left, right)]


@pytest.fixture
def files(tmp_path):
    def write(orientation):
        paths = [tmp_path / f"{side}{orientation}.jpg" for side in ("left", "right")]
        for path, view in zip(paths, shot(), strict=True):
            path.write_bytes(oriented_jpeg(view, orientation))
        return paths

    return write


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_map_is_turned_as_the_picture_is(files, orientation):
    """Larger is nearer, whichever way the camera was held; the stored pixels are matched."""
    plain, turned = dualpix.disparity(*files(1), **SMALL), dualpix.disparity(*files(orientation), **SMALL)
    np.testing.assert_array_equal(turned.disparity, upright(plain.disparity, orientation))
    np.testing.assert_array_equal(turned.confidence, upright(plain.confidence, orientation))
    assert turned.axis == ("y" if orientation > 4 else "x")
    assert turned.evidence.axis == turned.axis
    assert all("exchange the views" in each for each in turned.warnings)  # by the slope of the scene


@pytest.mark.parametrize("orientation", [3, 6])
def test_the_axis_asked_for_is_the_one_seen(files, orientation):
    axis = "y" if orientation == 6 else "x"
    found = dualpix.disparity(*files(orientation), axis=axis, **SMALL)
    np.testing.assert_array_equal(found.disparity, dualpix.disparity(*files(orientation), **SMALL).disparity)
    other = dualpix.disparity(*files(orientation), axis="x" if axis == "y" else "y", **SMALL)
    assert any(f"differ along {axis}" in note for note in other.warnings)


@pytest.mark.parametrize(
    ("orientation", "sign"),
    [
        (1, "d = x_left - x_right"),
        (3, "d = x_right - x_left"),
        (6, "d = y_left - y_right"),
        (8, "d = y_right - y_left"),
    ],
)
def test_the_sidecar_tells_orientation_and_sign(files, tmp_path, orientation, sign):
    """The sentence is checked against the picture: seen pixels of the left view are found in the right one."""
    left, right = files(orientation)
    out = tmp_path / "out.npy"
    assert main(["disparity", str(left), str(right), "-o", str(out), "--set", "window=2", "--quiet"]) == 0
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["orientation"] == orientation
    assert record["sign"].startswith(sign)
    near = np.load(out) > 1
    d = 2 if "left - " in sign else -2
    seen = [upright(view, orientation).astype(float) for view in shot()]
    shifted = np.roll(seen[1], d, axis=1 if record["axis"] == "x" else 0)
    wrong = np.roll(seen[1], -d, axis=1 if record["axis"] == "x" else 0)
    assert np.abs(seen[0] - shifted)[near].mean() < 0.7 * np.abs(seen[0] - wrong)[near].mean()


def test_an_upright_guide_is_brought_into_the_frame_of_the_views(files):
    left, right = files(6)
    guide = upright(shot()[0], 6)
    found = dualpix.disparity(left, right, guide=guide, **SMALL)
    stored = as_stored(guide, 6)
    expected = dualpix.disparity(*files(1), guide=stored, **SMALL)
    np.testing.assert_array_equal(found.disparity, upright(expected.disparity, 6))


def test_the_axis_of_a_calibration_is_that_of_the_stored_views(files):
    """Whoever asks for the axis that is seen is told which one the calibration means."""
    lens = Calibration(240, 160, "x", field=Field((1.0, 0, 0, 0, 0, 0), (0.0,) * 6))
    found = dualpix.disparity(*files(6), calibration=lens, axis="y", **SMALL)
    np.testing.assert_array_equal(found.disparity, dualpix.disparity(*files(6), **SMALL).disparity)
    with pytest.raises(dualpix.InputError, match="differ along x, not y, as the camera stores them: calibrate along y"):
        dualpix.disparity(*files(6), calibration=lens, axis="x", **SMALL)


def test_views_turned_differently_are_no_pair(files):
    with pytest.raises(dualpix.InputError, match="orientation 6"):
        dualpix.disparity(files(6)[0], files(1)[1])
