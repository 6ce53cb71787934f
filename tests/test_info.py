"""``dualpix info`` on the files that dualpix writes."""

import json

import cv2
import numpy as np
import pytest

import dualpix
from dualpix.io import sidecar, write_map

KNOWN = ("--known", "10,30=0.6", "--known", "60,30=8", "--quiet")
BY = f"by dualpix {dualpix.__version__}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder: the map of a slope that ends beyond infinity, and a photo."""
    monkeypatch.chdir(tmp_path)
    d = np.linspace(2, -2, 80, dtype=np.float32)[None].repeat(60, axis=0)
    d[0, 0] = np.nan
    write_map("map.npy", d)
    cv2.imwrite("photo.png", np.full((60, 80, 3), (10, 20, 30), np.uint8))
    return tmp_path


def counted(values):
    finite = values[np.isfinite(values)]
    return {
        "min": pytest.approx(float(finite.min()), rel=2e-3),
        "max": pytest.approx(float(finite.max()), rel=0.1),
        "nan": int(np.isnan(values).sum()),
        "inf": int(np.isinf(values).sum()),
    }


@pytest.mark.parametrize(("name", "options"), [("z.tiff", ()), ("z.png", ()), ("z.jpg", ("--photo", "photo.png"))])
def test_depth_has_a_unit_and_tells_infinity_from_nan(call, folder, name, options):
    assert call("depth", "map.npy", "-o", "exact.npy", *KNOWN)[0] == 0
    assert call("depth", "map.npy", "-o", name, *KNOWN, *options)[0] == 0
    code, out, _ = call("info", name)
    assert code == 0
    assert " m (1 NaN, " in out
    record = json.loads(call("info", name, "--json")[1])["files"][0]
    assert record["unit"] == "m"
    assert record["values"] == counted(np.load("exact.npy"))


def test_grey_levels_become_metres(call, folder):
    assert call("depth", "map.npy", "-o", "z.png", "--png", "grey8", *KNOWN)[0] == 0
    record = json.loads(call("info", "z.png", "--json")[1])["files"][0]
    assert record["values"]["min"] == pytest.approx(json.loads((folder / "z.json").read_text())["depth"]["min"])


def test_a_photo_with_depth_but_without_sidecar(call, folder):
    write_map("a.jpg", np.ones((60, 80)), photo=np.zeros((60, 80), np.uint8))
    assert call("info", "a.jpg")[1] == "a.jpg: JPEG 80x60 grey uint8, with depth inside\n"


def test_infinity_is_not_nan(call, folder):
    write_map("a.npy", [[1, np.inf, np.nan]])
    write_map("b.npy", [[np.inf]])
    write_map("c.npy", [[np.inf, np.nan]])
    assert [line.partition("float32, ")[2] for line in call("info", "a.npy", "b.npy", "c.npy")[1].splitlines()] == [
        "1 to 1 (1 NaN, 1 inf)",
        "all inf",
        "no finite values (1 NaN, 1 inf)",
    ]


def test_points_and_meshes(call, folder):
    for name in ("z.ply", "y.glb"):
        assert call("depth", "map.npy", "-o", name, "--relative", "--photo", "photo.png", "--quiet")[0] == 0
    code, out, _ = call("info", "z.ply", "y.glb")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == f"z.ply: PLY 4799 points, with colours, in relative units; {BY}, see z.json"
    assert lines[1] == f"y.glb: GLB 4799 points, {2 * 59 * 79 - 2} triangles, with colours; {BY}, see y.json"


@pytest.mark.parametrize(
    "data",
    [b"ply\n", b"ply\nelement vertex x\nend_header\n", b"glTF\x02\0\0\0", b"glTF\x02\0\0\0aaaa\x02\0\0\0JSON{}"],
)
def test_damaged_models(call, folder, data):
    (folder / "a.bin").write_bytes(data)
    code, _, err = call("info", "a.bin")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("error: a.bin: is a damaged")


def test_sidecars(call, folder):
    assert call("depth", "map.npy", "-o", "z.tiff", *KNOWN)[0] == 0
    cv2.imwrite("both.png", np.random.default_rng(0).integers(0, 255, (20, 60), np.uint8))
    assert call("split", "both.png", "--layout", "side-by-side", "-o", "views")[0] == 0
    code, out, _ = call("info", "z.json", "views/split.json")
    assert code == 0
    assert out.splitlines() == [
        f"z.json: sidecar of z.tiff, 80x60, depth in metres, {BY}",
        f"views/split.json: the views of both.png, 30x20, {BY}",
    ]


def test_a_zarr_folder(call, folder):
    zarr = pytest.importorskip("zarr")
    for name, shape, dtype in (("plain.zarr", (60, 80, 3), "uint8"), ("map.zarr", (60, 80), "float32")):
        zarr.open_array(name, mode="w", shape=shape, chunks=shape, dtype=dtype)[:] = 7
    record = {"dualpix": "1", "map": "map.zarr", "unit": "pixels of the input"}
    (folder / "map.json").write_text(json.dumps(record | {"disparity": {"min": -1, "max": 2, "nan": 3}}))
    code, out, _ = call("info", "plain.zarr", "map.zarr", "map.zarr/")
    assert code == 0
    assert out.splitlines() == [
        "plain.zarr: Zarr 80x60 RGB uint8",
        "map.zarr: Zarr 80x60 grey float32, -1 to 2 px (3 NaN); by dualpix 1, see map.json",
        "map.zarr/: Zarr 80x60 grey float32, -1 to 2 px (3 NaN); by dualpix 1, see map.json",
    ]
    assert sidecar.map_name("folder/map.zarr/") == "map.zarr"  # as it is written


def test_the_records_of_videos_and_batches(call, folder):
    (folder / "v.json").write_text(
        '{"dualpix": "1", "clip": "v.mkv", "frames": 5, "width": 80, "height": 60, "calibration": null}'
    )
    (folder / "batch.json").write_text('{"dualpix": "1", "batch": {"inputs": [], "options": {}}}')
    code, out, _ = call("info", "v.json", "batch.json")
    assert code == 0
    assert out.splitlines() == [
        "v.json: sidecar of the video v.mkv, 5 frames of 80x60, by dualpix 1",
        "batch.json: record of a batch, by dualpix 1; results.jsonl lists its shots",
    ]


@pytest.mark.parametrize(
    ("key", "what"),
    [("map", "the sidecar of a map"), ("clip", "the sidecar of a video"), ("batch", "the record of a batch")],
)
def test_other_json_files_are_no_calibrations(folder, key, what):
    (folder / "a.json").write_text(json.dumps({"dualpix": "1", key: "x", "calibration": None}))
    with pytest.raises(dualpix.InputError, match=f"calibration a.json: is {what}, not a calibration"):
        dualpix.read_calibration("a.json")
