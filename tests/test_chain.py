"""From the camera's file to the picture people want, command after command."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

import dualpix
from dualpix import cli
from dualpix.camera.ranging import BASELINE, thin_lens
from dualpix.io import read_image, read_map
from dualpix.io.photos import read_photo
from raw_files import LONG, RATIONAL, SHORT, cr2, frames_of, mosaic

rawpy = pytest.importorskip("rawpy")
trimesh = pytest.importorskip("trimesh")

SHAPE = (128, 160)
NEAR, FAR = 1.5, -1.5  # px
PITCH = 0.005  # mm
INCH = 25.4  # mm
LAMP = (slice(8, 20), slice(10, 22))  # too bright for the sensor
DISC, WALL = (slice(50, 78), slice(66, 94)), (slice(100, 120), slice(10, 50))  # inner parts of the two


def raw_file():
    """A dual-pixel CR2 of a disc before a wall, with a lamp in a corner."""
    coarse = np.random.default_rng(0).random((SHAPE[0] // 4, SHAPE[1] // 4, 3))
    photo = cv2.resize(coarse, SHAPE[::-1], interpolation=cv2.INTER_CUBIC).clip(0, 1)
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    near = (y - SHAPE[0] / 2) ** 2 + (x - SHAPE[1] / 2) ** 2 < (SHAPE[0] / 4) ** 2
    left, right, _ = dualpix.simulate(photo, np.where(near, NEAR, FAR))
    views = [mosaic(np.rint(view * (0.6, 1, 0.7) * 7000).astype(np.int64)) for view in (left, right)]
    for view in views:
        view[LAMP] = 15000
    pitch = {40962: (LONG, SHAPE[1]), 41486: (RATIONAL, INCH / PITCH), 41488: (SHORT, 2)}
    return cr2(*frames_of(*views), exif=pitch)


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    """Runs a command that must succeed, in a folder with shot.cr2."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shot.cr2").write_bytes(raw_file())

    def run(line):
        code = cli.main(line.split())
        out, err = capfd.readouterr()
        assert (code, err) == (0, ""), line
        return out

    return run


def contrast(image, part):
    return image[part].astype(float).std()


def check_focus(photo, new):
    """The disc is as it was, the wall is blurred."""
    assert new.shape == photo.shape
    assert new.dtype == photo.dtype == np.uint16
    inner = (slice(58, 70), slice(74, 86))
    assert np.abs(new[inner].astype(int) - photo[inner]).mean() < 0.02 * 65535
    assert contrast(new, WALL) < 0.6 * contrast(photo, WALL)


def check_cloud(path, z, photo):
    """A point for every finite depth, in its place and colour."""
    cloud = trimesh.load(path)
    known = np.isfinite(z)
    assert len(cloud.vertices) == known.sum()
    np.testing.assert_allclose(-cloud.vertices[:, 2], z[known], rtol=1e-5)
    np.testing.assert_allclose(cloud.colors[:, :3], photo[known] / 257, atol=1)


def test_split_disparity_depth_refocus_cloud(call):
    call("split shot.cr2 -o views --first left")
    call("disparity views/left.tiff views/right.tiff --guide views/picture.tiff -o d.tiff")
    call("depth d.tiff -o z.tiff --known 80,64=0.5 --known 30,110=2")
    z, photo = read_map("z.tiff", keep_infinite=True), read_image("views/picture.tiff")
    assert np.median(z[DISC]) == pytest.approx(0.5, rel=0.05)
    assert np.median(z[WALL]) == pytest.approx(2, rel=0.1)

    call("refocus views/picture.tiff z.tiff -o new.png --focus-depth 0.5 --aperture 3")
    check_focus(photo, read_image("new.png"))

    call("depth d.tiff -o cloud.ply --known 80,64=0.5 --known 30,110=2 --photo views/picture.tiff")
    check_cloud("cloud.ply", z, photo)


def test_the_raw_file_itself_in_every_command(call):
    d_of = "disparity shot.cr2 --first left --confidence sure.tiff --force -o"
    call(f"{d_of} d.tiff")
    d, sure, photo = read_map("d.tiff"), read_map("sure.tiff"), read_photo("shot.cr2")
    assert photo.shape == (*d.shape, 3)
    assert not sure[LAMP].any()
    assert sure[DISC].min() > 0

    call("depth d.tiff -o z.tiff --confidence sure.tiff --uncertainty error.tiff --exif shot.cr2")
    z, error = (read_map(path, keep_infinite=True) for path in ("z.tiff", "error.tiff"))
    record = json.loads(Path("z.json").read_text())
    q, v = thin_lens(1.15, 0.05)  # the focus distance in Canon's notes
    assert record["metric"]["a"] == pytest.approx(BASELINE * 0.05 / 4 * v / (PITCH / 1000 * SHAPE[1] / d.shape[1]))
    assert record["metric"]["approximate"]
    np.testing.assert_allclose(z[DISC], 1 / (q + d[DISC] / record["metric"]["a"]) + v, rtol=1e-5)
    assert np.isnan(z[LAMP]).all()  # nothing is known of clipped pixels
    assert np.isnan(error[LAMP]).all()
    assert np.isfinite(error[DISC]).all()

    call("refocus shot.cr2 d.tiff -o new.png --focus 80,64 --aperture 3")
    check_focus(photo, read_image("new.png"))

    call("depth d.tiff -o cloud.ply --confidence sure.tiff --exif shot.cr2 --photo shot.cr2")
    check_cloud("cloud.ply", z - v, photo)  # the origin is the lens
    call(f"{d_of} relative.ply")  # the photo is the picture of the raw file
    np.testing.assert_allclose(trimesh.load("relative.ply").colors[:, :3], photo.reshape(-1, 3) / 257, atol=1)
