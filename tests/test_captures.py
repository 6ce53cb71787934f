"""Phone captures: Google's folders, PGM of the Pixel capture app, its pixels that are not square, black levels."""

import cv2
import numpy as np
import pytest

from dualpix import InputError
from dualpix.camera.sensor import PIXEL_APP, black_hint, pixel_aspect
from dualpix.io import probe, read_image
from dualpix.io.captures import enlarge, find_capture, read_capture

# ---- Google's folders ----------------------------------------------------------------------------

FILES = {
    "left": "left_pd/{}/result_leftPd_center.png",
    "right": "right_pd/{}/result_rightPd_center.png",
    "guide": "scaled_images/{}/result_scaled_image_center.jpg",
}


def capture(root, name, shape=(24, 18)):
    rng = np.random.default_rng(0)
    views = {role: rng.integers(0, 256, shape, np.uint8) for role in ("left", "right")}
    guide = np.full((shape[0] // 2, shape[1] // 2, 3), (30, 60, 90), np.uint8)
    for role, image in {**views, "guide": guide}.items():
        path = root / FILES[role].format(name)
        path.parent.mkdir(parents=True)
        assert cv2.imwrite(str(path), image)
    return views


@pytest.mark.parametrize("way", ["root", "name", "left"])
def test_a_capture_is_read_whole(tmp_path, way):
    views = capture(tmp_path, "one")
    if way == "name":
        capture(tmp_path, "other")
    pair = read_capture(
        *{"root": [tmp_path], "name": [str(tmp_path), "one"], "left": [tmp_path / FILES["left"].format("one")]}[way]
    )
    np.testing.assert_array_equal(pair.left, views["left"])
    np.testing.assert_array_equal(pair.right, views["right"])
    assert pair.guide.shape == (24, 18, 3)
    np.testing.assert_allclose(pair.guide, np.broadcast_to((90, 60, 30), (24, 18, 3)), atol=3)  # RGB, through JPEG
    assert pair.source == {role: str(tmp_path / path.format("one")) for role, path in FILES.items()}


def test_other_phones_of_the_rig_keep_to_themselves(tmp_path):
    capture(tmp_path, "one")
    for path in list(tmp_path.rglob("*.*")):
        path.rename(path.with_name(path.name.replace("center", "top")))
    files = find_capture(tmp_path / "left_pd/one/result_leftPd_top.png")
    assert files.right.name == "result_rightPd_top.png"
    assert files.guide.name == "result_scaled_image_top.jpg"


@pytest.mark.parametrize(("role", "said"), [("left", "left view"), ("right", "right view"), ("guide", "guide")])
def test_a_missing_file_is_named(tmp_path, role, said):
    capture(tmp_path, "one")
    path = tmp_path / FILES[role].format("one")
    path.unlink()
    with pytest.raises(InputError) as error:
        find_capture(tmp_path, "one")
    assert str(error.value) == f"{path}: no such file: put the {said} of capture one there"


def test_folders_that_are_no_capture(tmp_path):
    with pytest.raises(
        InputError, match=r"is a folder without left_pd and right_pd, so it is no capture: give a file in it$"
    ):
        read_capture(tmp_path)
    (tmp_path / "left_pd").mkdir()
    with pytest.raises(InputError, match=r"left_pd: holds no capture: give the folder of a data set$"):
        read_capture(tmp_path)
    capture(tmp_path / "two", "a")
    capture(tmp_path / "two", "b")
    with pytest.raises(InputError, match=r"holds 2 captures: name the one to read, such as a$"):
        read_capture(tmp_path / "two")
    with pytest.raises(InputError, match=r"c.result_leftPd_center.png: no such file"):
        read_capture(tmp_path / "two", "c")
    for path in (tmp_path / "photo.png", tmp_path / "a/b/result_leftPd_center.png"):
        with pytest.raises(InputError, match=r"is not a capture: give left_pd/.* or the folder above left_pd$"):
            read_capture(path)


@pytest.mark.parametrize("shape", [(25, 18), (24, 19), (6, 5)])
def test_a_guide_that_does_not_fit(shape):
    with pytest.raises(
        InputError,
        match=rf"^guide.jpg is 9x12, but the views' {shape[1]}x{shape[0]} is not a whole multiple of it: ",
    ):
        enlarge(np.zeros((12, 9, 3), np.uint8), shape, "guide.jpg")


def test_enlarging_moves_nothing():
    ramp = np.broadcast_to(np.arange(40, dtype=np.float32) * 6, (10, 40))
    fine = enlarge(ramp, (20, 80), "guide")
    np.testing.assert_allclose(fine[:, 4:-4], np.broadcast_to((np.arange(80) - 0.5) * 3, (20, 80))[:, 4:-4], atol=1e-3)


def test_the_real_capture(data_dir):
    pair = read_capture(data_dir / "google/test")
    assert pair.left.shape == pair.right.shape == pair.guide.shape[:2] == (2016, 1512)


# ---- PGM of the Pixel capture app ----------------------------------------------------------------


def pgm(path, pixels):
    path.write_bytes(b"P5\n%d %d\n65535\n" % pixels.shape[::-1] + pixels.astype(">u2").tobytes())
    return path


def test_the_apps_pgm_is_big_endian_and_kept_as_stored(tmp_path):
    pixels = np.random.default_rng(0).integers(4096, 65536, PIXEL_APP).astype(np.uint16)
    path = pgm(tmp_path / "left.pgm", pixels)
    np.testing.assert_array_equal(read_image(path), pixels, strict=True)
    assert (probe(path).width, probe(path).height, probe(path).dtype) == (2016, 756, "uint16")


@pytest.mark.parametrize("change", [-2, -1, 1, 2016 * 756 * -1])
def test_a_wrong_byte_count_is_one_sentence(tmp_path, change):
    path = pgm(tmp_path / "left.pgm", np.zeros(PIXEL_APP, np.uint16))
    data = path.read_bytes()
    path.write_bytes(data[:change] if change < 0 else data + b"\0" * change)
    promised = 2 * 2016 * 756
    expected = f"{path}: has {promised + change} bytes of pixels but its header promises {promised}: copy it again"
    with pytest.raises(InputError) as error:
        read_image(path)
    assert str(error.value) == expected


# ---- pixels that are not square ------------------------------------------------------------------


def test_only_the_apps_size_is_refused():
    tall, photo = np.zeros(PIXEL_APP, np.uint16), np.zeros((1512, 2016), np.uint16)
    assert pixel_aspect("auto", {"left": photo, "right": tall[1:], "guide": np.zeros((*PIXEL_APP, 3), np.uint8)}) == 1
    with pytest.raises(InputError, match=r"^r\.pgm has .* twice as tall as wide: set pixel_aspect=2 and black=4096 if"):
        pixel_aspect("auto", {"left": photo, "r.pgm": tall})
    with pytest.raises(InputError, match=r"twice as wide as tall: set pixel_aspect=0\.5 "):
        pixel_aspect("auto", {"left": tall.T})
    assert pixel_aspect(1, {"left": tall}) == 1
    assert pixel_aspect(2.0, {"left": tall}) == 2


# ---- black levels --------------------------------------------------------------------------------


@pytest.mark.parametrize(("darkest", "level"), [(1016, 1024), (1062, 1024), (4100, 4096), (64, 64)])
def test_a_black_level_is_hinted_at(darkest, level):
    view = np.array([[darkest + 5, 60000]], np.uint16)
    assert f"if {level} is the camera's black level" in black_hint(view, view - 5)
    assert f"set black={level}" in black_hint(view - 5, view)


@pytest.mark.parametrize("darkest", [0, 31, 32, 900, 1300, 3000])
def test_other_dark_ends_are_left_alone(darkest):
    view = np.array([[darkest, 60000]], np.uint16)
    assert black_hint(view, view) is None


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_only_16_bits_hold_a_black_level(dtype):
    view = np.full((3, 3), 64, dtype)
    assert black_hint(view, view) is None


def test_the_real_black_level(data_dir):
    for left in sorted((data_dir / "pixel4").glob("*_left.png")):
        right = left.with_name(left.name.replace("left", "right"))
        assert "set black=1024" in black_hint(read_image(left), read_image(right))
