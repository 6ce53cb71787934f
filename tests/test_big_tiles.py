"""dualpix.tiles: a picture that is read, solved and written by tiles, against the same picture as a whole."""

import json
import os
from contextlib import suppress
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile

import dualpix
from conftest import textured_pair
from dualpix.batches.runner import Here
from dualpix.io.grids import Grid, save, written
from dualpix.io.windows import Pieces, Plain, open_picture
from dualpix.method import kinds
from dualpix.method.brightness import Gains, Part, apply_gains
from dualpix.mosaic import api, job, survey, views, work
from dualpix.mosaic.folder import private_folder
from dualpix.params import preset
from dualpix.types import Planes, halved

SHAPE = 430, 610
# Small windows and a weak penalty make the margin short.
SETTINGS = {"window": 2.0, "encc_window": 5, "penalty": 100.0, "relief": 0.0, "iterations": (4, 4, 4)}
TILE = 160
# Small speckles make the margin short.
STEREO = {"preset": "stereo", "speckles": (24.0, 2.0), "iterations": (4, 4, 4)}


@pytest.fixture(scope="module")
def scene():
    """A pair with a step and a slope, vignetted and noisy."""
    y, x = np.indices(SHAPE)
    depth = np.where((np.abs(y - 200) < 90) & (np.abs(x - 300) < 120), 2.0, np.linspace(-2, -0.5, SHAPE[1]))
    picture = (textured_pair(SHAPE, 0)[0] / 255).astype(np.float32)
    left, right, _ = dualpix.simulate(picture, depth, noise=0.004, vignetting=0.1)
    return [np.rint(65535 * view).astype(np.uint16) for view in (left, right)]


@pytest.fixture(scope="module")
def whole(scene):
    return dualpix.disparity(*scene, **SETTINGS, threads=2)


@pytest.fixture(autouse=True)
def few_pixels(monkeypatch):
    """Two scales are solved by tiles, in this process."""
    monkeypatch.setattr(survey, "WHOLE", SHAPE[0] * SHAPE[1] // 12)
    monkeypatch.setattr(views, "STRIPE", 64 * SHAPE[1])
    monkeypatch.setattr(api, "Processes", lambda jobs, limit: Here())


@pytest.fixture
def files(scene, tmp_path):
    """The pair as tiled TIFF files."""
    paths = [tmp_path / "left.tif", tmp_path / "right.tif"]
    for path, view in zip(paths, scene, strict=True):
        tifffile.imwrite(path, view, tile=(64, 96), compression="zlib", photometric="minisblack")
    return paths


def error_of(d, whole):
    sure = whole.confidence > 0.5
    assert sure.mean() > 0.4
    return np.abs(d - whole.disparity)[sure]


# ---- the map -------------------------------------------------------------------------------------


def test_tiles_are_the_whole_picture(files, whole, tmp_path):
    out, sure = tmp_path / "map.tif", tmp_path / "sure.tif"
    record = dualpix.tiles(*files, out, tile=TILE, confidence=sure, **SETTINGS)
    d, confidence = tifffile.imread(out), tifffile.imread(sure)
    assert d.dtype == np.float32
    assert d.shape == SHAPE
    assert error_of(d, whole).max() < 0.02
    assert np.quantile(np.abs(confidence - whole.confidence), 0.99) < 0.02
    assert record["searched"] == whole.searched
    assert record["tiles"]["count"] == 3 * 4
    assert record["plan"]["curvatures"] == pytest.approx(whole.plan.curvatures, rel=0.05)
    np.testing.assert_allclose([record["disparity"]["min"], record["disparity"]["max"]], [d.min(), d.max()])
    with tifffile.TiffFile(out) as tiff:
        assert tiff.is_bigtiff
        assert tiff.pages[0].is_tiled
    kept = json.loads((tmp_path / "map.json").read_text())
    assert set(whole.record("auto", 1, None, {}, {"disparity": "map.tif"})) < set(kept)
    assert kept["sign"].startswith("d = x_left - x_right")
    assert sorted(os.listdir(tmp_path)) == ["left.tif", "map.json", "map.tif", "right.tif", "sure.tif"]


@pytest.mark.parametrize(("outlines", "most", "usual"), [(0, 0.025, 0.002), (10, 0.05, 0.003)])
def test_automatic_passes_are_those_of_the_whole_picture(outlines, most, usual, scene, files, tmp_path, monkeypatch):
    """With outlines, rounding can make a median another pixel of the window."""
    monkeypatch.setattr(survey, "WHOLE", SHAPE[0] * SHAPE[1] // 3)
    given = {**SETTINGS, "iterations": "auto", "outlines": outlines}
    whole = dualpix.disparity(*scene, **given, threads=2)
    record = dualpix.tiles(*files, tmp_path / "map.tif", tile=TILE, **given)
    assert tuple(record["plan"]["passes"]) == whole.plan.passes == (4, 3)
    error = error_of(tifffile.imread(tmp_path / "map.tif"), whole)
    assert error.max() < most
    assert np.quantile(error, 0.999) < usual


def test_views_that_differ_along_y(scene, tmp_path):
    turned = [np.ascontiguousarray(view.T) for view in scene]
    along_y = dualpix.disparity(*turned, **SETTINGS, axis="y", threads=2)
    record = dualpix.tiles(*turned, tmp_path / "map.tif", tile=TILE, axis="y", **SETTINGS)
    assert record["axis"] == "y"
    assert error_of(tifffile.imread(tmp_path / "map.tif"), along_y).max() < 0.02


def test_colour_views_and_a_given_range(scene, tmp_path):
    tints = np.array([1.0, 0.8, 0.5])
    coloured = [(view[..., None] * tints / 257).astype(np.uint8) for view in scene]
    given = {**SETTINGS, "range": (-4.0, 4.0), "iterations": (3, 3, 2, 2)}
    whole = dualpix.disparity(*coloured, **given, threads=2)
    record = dualpix.tiles(*coloured, tmp_path / "map.tif", tile=300, **given)
    assert record["searched"] == whole.searched == (-4, 4)
    assert error_of(tifffile.imread(tmp_path / "map.tif"), whole).max() < 0.02


@pytest.fixture
def town(benchmark_script):
    """A stereo pair of an odd size: houses on hills, some of them blank, with disparities from 4 to 40 px."""
    return benchmark_script("tiles").town((431, 613), 4, 40, 100)


def test_a_stereo_pair(town, tmp_path):
    whole = dualpix.disparity(*town, **STEREO, threads=2)
    out, sure = tmp_path / "map.tif", tmp_path / "sure.tif"
    record = dualpix.tiles(*town, out, tile=TILE, confidence=sure, **STEREO)
    d, confidence = tifffile.imread(out), tifffile.imread(sure)
    assert error_of(d, whole).max() < 0.001
    assert np.mean(np.abs(d - whole.disparity) > 0.02) < 0.001
    assert np.abs(confidence - whole.confidence).max() < 0.01
    assert record["searched"] == whole.searched
    assert record["tiles"] == {"side": TILE, "margin": 182, "count": 12, "megabytes": record["tiles"]["megabytes"]}
    assert record["warnings"] == ()
    assert not record["expected_error"]


def test_a_stereo_pair_needs_its_margins(town, tmp_path, monkeypatch):
    whole = dualpix.disparity(*town, **STEREO, threads=2)
    bad, declared = [], kinds.Stereo.margins
    for changes in ({"matching": 8, "aggregation": 8}, {"matching": 8, "aggregation": 8, "shift": 0}):
        monkeypatch.setattr(kinds.Stereo, "margins", lambda *args, new=changes: declared(*args)._replace(**new))
        dualpix.tiles(*town, tmp_path / "map.tif", tile=TILE, force=True, **STEREO)
        bad.append(np.mean(error_of(tifffile.imread(tmp_path / "map.tif"), whole) > 0.02))
    assert bad[0] > 0
    assert bad[1] > 5 * bad[0]


def test_the_range_of_a_stereo_pair_is_that_of_its_calib(town, tmp_path):
    paths = [tmp_path / "im0.tif", tmp_path / "im1.tif"]
    for path, view in zip(paths, town, strict=True):
        tifffile.imwrite(path, view)
    (tmp_path / "calib.txt").write_text("ndisp=30\n")
    whole = dualpix.disparity(*paths, **STEREO, threads=2)
    record = dualpix.tiles(*paths, tmp_path / "map.tif", tile=TILE, **STEREO)
    assert record["searched"] == whole.searched == (0, 30)
    assert record["parameters"]["range"] == [0, 30]
    assert record["plan"]["calib"] == str(tmp_path / "calib.txt")
    assert error_of(tifffile.imread(tmp_path / "map.tif"), whole).max() < 0.001
    (note,) = record["warnings"]  # in px of the picture, not of the reduced one
    assert "upper end of the range, 30 px" in note
    (tmp_path / "calib.txt").write_text("ndisp=613\n")
    with pytest.raises(dualpix.InputError, match="ndisp must be a number from 1 to 612"):
        dualpix.tiles(*paths, tmp_path / "other.tif", tile=TILE, **STEREO)


def test_exchanged_stereo_views_are_noticed(town, tmp_path):
    record = dualpix.tiles(*town[::-1], tmp_path / "map.tif", tile=TILE, range=(0.0, 45.0), **STEREO)
    assert "match better with the views exchanged" in record["warnings"][0]


@pytest.mark.parametrize("preset", ["dslr-a", "dslr-b"])
def test_published_messages(scene, tmp_path, preset):
    given = {"preset": preset, "window": 2.0, "encc_window": 5, "range": (-4.0, 4.0)}
    whole = dualpix.disparity(*scene, **given, threads=2)
    dualpix.tiles(*scene, tmp_path / "map.tif", tile=TILE, confidence=tmp_path / "sure.tif", **given)
    assert error_of(tifffile.imread(tmp_path / "map.tif"), whole).max() < 0.02
    assert np.quantile(np.abs(tifffile.imread(tmp_path / "sure.tif") - whole.confidence), 0.99) < 0.02


def test_zarr_in_and_out(scene, files, tmp_path):
    zarr = pytest.importorskip("zarr")
    for name, view in zip(("left", "right"), scene, strict=True):
        zarr.open_array(str(tmp_path / f"{name}.zarr"), mode="w", shape=SHAPE, chunks=(100, 100), dtype="uint16")[:] = (
            view
        )
    dualpix.tiles(tmp_path / "left.zarr", tmp_path / "right.zarr", tmp_path / "map.zarr", tile=TILE, **SETTINGS)
    dualpix.tiles(*files, tmp_path / "map.tif", tile=TILE, **SETTINGS)
    written_map = zarr.open_array(str(tmp_path / "map.zarr"), mode="r")[:]
    np.testing.assert_array_equal(written_map, tifffile.imread(tmp_path / "map.tif"))
    with pytest.raises(dualpix.OutputError, match="exists already"):
        dualpix.tiles(*files, tmp_path / "map.zarr", tile=TILE, **SETTINGS)


def test_dask_workers_and_processes_give_the_same_bytes(files, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.undo()
    monkeypatch.setattr(survey, "WHOLE", SHAPE[0] * SHAPE[1] // 12)
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        dualpix.tiles(*files, tmp_path / "dask.tif", tile=TILE, scheduler=client, **SETTINGS)
        assert client.status == "running"  # it is the caller's
    record = dualpix.tiles(*files, tmp_path / "map.tif", tile=TILE, threads=2, **SETTINGS)
    assert (tmp_path / "dask.tif").read_bytes() == (tmp_path / "map.tif").read_bytes()
    assert 20 < record["tiles"]["megabytes"] < 1000


# ---- going on after a kill -----------------------------------------------------------------------


class Killed(BaseException):
    pass


def test_finished_tiles_are_not_done_again(files, tmp_path, monkeypatch):
    dualpix.tiles(*files, tmp_path / "at-once.tif", tile=TILE, **SETTINGS)
    done, solved = [], work.Scale.solved

    def counted(self, tile, run):
        if len(done) == 7:
            raise Killed
        done.append((self.is_finest, tile.rows.start, tile.columns.start))
        return solved(self, tile, run)

    monkeypatch.setattr(work.Scale, "solved", counted)
    with pytest.raises(Killed):
        dualpix.tiles(*files, tmp_path / "map.tif", tile=TILE, **SETTINGS)
    assert not (tmp_path / "map.tif").exists()
    kept = tmp_path / ".map.tif.dualpix-tiles"
    assert kept.is_dir()
    before, done[:] = set(done), []
    monkeypatch.setattr(job.Job, "_views", no_longer(job.Job._views, "gains.json"))
    with pytest.raises(Killed):
        dualpix.tiles(*files, tmp_path / "map.tif", tile=TILE, **SETTINGS)
    monkeypatch.setattr(work.Scale, "solved", solved)
    dualpix.tiles(*files, tmp_path / "map.tif", tile=TILE, **SETTINGS)
    assert not before & set(done)
    assert not kept.exists()
    assert (tmp_path / "map.tif").read_bytes() == (tmp_path / "at-once.tif").read_bytes()


def no_longer(method, file):
    """The method, which must find that file."""

    def checked(self, *args):
        assert Path(self.folder, file).exists()
        return method(self, *args)

    return checked


def test_another_job_does_not_use_these_tiles(files, tmp_path, monkeypatch):
    kept = tmp_path / ".map.tif.dualpix-tiles"
    kept.mkdir()
    (kept / "key").write_text("another")
    (kept / "tile-0-0.npy").write_bytes(b"nonsense")
    dualpix.tiles(*files, tmp_path / "map.tif", tile=TILE, **SETTINGS)
    assert not kept.exists()


def test_a_second_job_stays_out(tmp_path):
    out = str(tmp_path / "map.tif")
    with private_folder(out, "first") as folder:
        Path(folder, "tile-0-0.npy").write_bytes(b"work")
        with (
            pytest.raises(dualpix.OutputError, match="another dualpix tiles is writing here"),
            private_folder(out, "second"),
        ):
            pass
        assert Path(folder, "tile-0-0.npy").exists()
    assert not Path(folder).exists()


# ---- bad input -----------------------------------------------------------------------------------


def refused(call, folder, *args):
    before = sorted(os.listdir(folder))
    code, out, err = call("tiles", *args)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert err.startswith("error: ")
    assert sorted(os.listdir(folder)) == before
    return err


def test_bad_requests_are_refused_in_a_sentence(call, files, tmp_path, monkeypatch):
    left, right = files
    out = tmp_path / "map.tif"
    small = tmp_path / "small.tif"
    tifffile.imwrite(small, np.zeros((300, 610), np.uint8))
    assert "small.tif is 610x300 but" in refused(call, tmp_path, left, small, "-o", out)
    assert "no such file" in refused(call, tmp_path, left, tmp_path / "none.tif", "-o", out)
    assert "px, the margin that these parameters can need" in refused(
        call, tmp_path, left, right, "-o", out, "--tile", 100
    )
    assert "choose one of .tif" in refused(call, tmp_path, left, right, "-o", tmp_path / "map.pfm")
    assert "is an input" in refused(call, tmp_path, left, right, "-o", left)
    assert "messages jumps spreads" in refused(call, tmp_path, left, right, "-o", out, "--preset", "stereo-paper")
    for name in ("auto", "stereo"):
        filtered = refused(call, tmp_path, left, right, "-o", out, "--preset", name, "--set", "filter=guided")
        assert "filter guided needs the whole picture" in filtered
    wide = refused(call, tmp_path, left, right, "-o", out, "--set", "range=0,700", "--set", "iterations=4,4,4")
    assert "range 0 to 700 is wider than the image, 610 pixels" in wide
    assert "needs 3 scales" in refused(call, tmp_path, left, right, "-o", out, "--set", "iterations=4,4")
    nobody, enough = "tcp://127.0.0.1:9", ("--set", "iterations=4,4,4")
    monkeypatch.setattr("dualpix.batches.cluster.PATIENCE", 0.5)
    assert "dask scheduler" in refused(call, tmp_path, left, right, "-o", out, "--scheduler", nobody, *enough)
    out.write_bytes(b"mine")
    assert "exists already" in refused(call, tmp_path, left, right, "-o", out)


def test_a_large_file_that_must_be_read_whole_is_refused(call, scene, tmp_path, monkeypatch):
    for name, view in zip(("left", "right"), scene, strict=True):
        cv2.imwrite(str(tmp_path / f"{name}.png"), view)
    args = tmp_path / "left.png", tmp_path / "right.png", "-o", tmp_path / "map.tif"
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "1000")
    assert "save it as tiled or uncompressed TIFF" in refused(call, tmp_path, *args)


def test_views_cut_short_are_refused(call, scene, tmp_path):
    for name, view in zip(("left", "right"), scene, strict=True):
        np.save(tmp_path / f"{name}.npy", view)
    with (tmp_path / "right.npy").open("r+b") as file:
        file.truncate(100_000)
    args = tmp_path / "left.npy", tmp_path / "right.npy", "-o", tmp_path / "map.tif"
    assert "right.npy: is cut short" in refused(call, tmp_path, *args)


# ---- the parts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["uint8", "uint16", ">u2", "float32"])
@pytest.mark.parametrize("channels", [(), (3,)])
@pytest.mark.parametrize("options", [{}, {"rowsperstrip": 7, "compression": "zlib"}, {"tile": (32, 48)}, None])
def test_windows_of_files_are_those_of_the_picture(tmp_path, dtype, channels, options):
    rng = np.random.default_rng(0)
    picture = rng.random((75, 93, *channels))
    picture = picture.astype("float32") if dtype == "float32" else (picture * 255).astype(dtype)
    path = tmp_path / "picture"
    if options is None:
        with path.open("wb") as file:
            np.save(file, picture)
    else:
        tifffile.imwrite(path, picture, photometric="rgb" if channels else "minisblack", metadata=None, **options)
    opened = open_picture(path, "left", "unused")
    assert isinstance(opened, Plain if not options else Pieces)
    assert opened.shape == picture.shape
    for rows, columns in ((slice(0, 75), slice(0, 93)), (slice(13, 70), slice(31, 93)), (slice(74, 75), slice(5, 6))):
        np.testing.assert_array_equal(opened.window(rows, columns), picture[rows, columns])


@pytest.mark.parametrize("shape", [(64, 50), (131, 77), (3, 5)])
def test_planes_halved_by_stripes_are_the_halved_planes(shape, tmp_path, monkeypatch):
    monkeypatch.setattr(views, "STRIPE", 10 * shape[1])
    rng = np.random.default_rng(0)
    for name in ("left", "right"):
        np.save(tmp_path / f"{name}.npy", (255 * rng.random(shape)).astype(np.uint8))
    opened = [open_picture(tmp_path / f"{name}.npy", name, "unused") for name in ("left", "right")]
    pictures = views.Pictures(*opened, preset("auto").photometry)
    found = views.all_of(views.halve(pictures, str(tmp_path), 1, 1), 1)
    planes = views.all_of(pictures, 1)
    for one, other in zip(found, planes, strict=True):
        np.testing.assert_array_equal(one, halved(other, 1))
    assert views.exposure_of(pictures, 1).guide == 230 / dualpix.method.brightness.brightness(planes.guide, 1)
    assert isinstance(found, Planes)


def test_parts_of_the_gains_are_those_of_the_whole_grid():
    grid = np.random.default_rng(0).random((7, 5)).astype(np.float32)
    whole = cv2.resize(grid, (83, 60), interpolation=cv2.INTER_LINEAR)
    for rows, columns in ((slice(0, 30), slice(40, 83)), (slice(11, 60), slice(0, 7))):
        ones = np.ones((3, *whole[rows, columns].shape), np.float32)
        apply_gains(Planes(*ones), Gains(grid), 2, Part((60, 83), rows.start, columns.start))
        np.testing.assert_allclose(ones[1], whole[rows, columns], atol=1e-6)


@pytest.mark.parametrize("step", [2, 4, 64])
def test_a_coarser_scale_has_the_gains_of_its_pixels(step):
    grid = np.random.default_rng(0).random((7, 5)).astype(np.float32)
    whole = cv2.resize(grid, (83, 60), interpolation=cv2.INTER_LINEAR)[::step, ::step]
    ones = np.ones((3, *whole.shape), np.float32)
    apply_gains(Planes(*ones), Gains(grid), 2, Part((60, 83), step=step))
    np.testing.assert_allclose(ones[1], whole, atol=1e-6)


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    save(tmp_path / "a.npy", values)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), values)
    np.testing.assert_array_equal(Grid.of_npy(tmp_path / "a.npy").window(slice(1, 3), slice(2, 3)), values[1:3, 2:3])
    with pytest.raises(KeyError), written(tmp_path / "b.npy", (3, 4)):
        raise KeyError
    assert os.listdir(tmp_path) == ["a.npy"]


# ---- nothing of the user's is lost ---------------------------------------------------------------


def failed(output, error, *finished):
    """The private folder of a job that finished some files and then failed."""
    with suppress(dualpix.DualpixError), private_folder(str(output), "key") as folder:
        for name in finished:
            Path(folder, name).write_text("{}")
        raise error
    return Path(folder)


def test_a_late_error_keeps_the_finished_tiles(tmp_path):
    assert (failed(tmp_path / "a.tif", dualpix.OutputError("full"), "plan.json") / "plan.json").is_file()
    assert not failed(tmp_path / "b.tif", dualpix.InputError("damaged")).exists()


@pytest.mark.parametrize("link", [True, False])
def test_the_private_folder_is_never_somebody_elses(tmp_path, link):
    theirs = tmp_path / ("theirs" if link else ".map.tif.dualpix-tiles")
    theirs.mkdir()
    (theirs / "thesis.txt").write_text("years")
    if link:
        os.symlink(theirs, tmp_path / ".map.tif.dualpix-tiles")
    with pytest.raises(dualpix.OutputError, match="move it away"), private_folder(str(tmp_path / "map.tif"), "key"):
        pass
    assert (theirs / "thesis.txt").read_text() == "years"


def test_a_zarr_output_never_takes_inputs_or_other_files_with_it(scene, tmp_path):
    store = tmp_path / "data.zarr"
    store.mkdir()
    for name, view in zip(("left", "right"), scene, strict=True):
        np.save(store / f"{name}.npy", view)
    given = store / "left.npy", store / "right.npy"
    with pytest.raises(dualpix.OutputError, match="other files"):
        dualpix.tiles(*given, store, tile=TILE, force=True, **SETTINGS)
    (store / "zarr.json").write_text("{}")
    with pytest.raises(dualpix.OutputError, match="holds inputs"):
        dualpix.tiles(*given, store, tile=TILE, force=True, **SETTINGS)
    assert all(path.is_file() for path in given)


def test_a_zarr_array_must_be_a_picture(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.open_array(str(tmp_path / "line.zarr"), mode="w", shape=(7,), chunks=(7,), dtype="float32")
    with pytest.raises(dualpix.InputError, match="not a picture"):
        open_picture(tmp_path / "line.zarr", "left", str(tmp_path / "keep.npy"))
