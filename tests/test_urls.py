"""Files behind URLs: a batch reads and writes them, whole or not at all, with the bytes of a batch on paths."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

import dualpix
from dualpix.batches import results
from dualpix.batches.remote import PREFIX
from dualpix.batches.runner import Here
from dualpix.errors import InputError, OutputError
from dualpix.io import urls
from test_batch import NAMES, photos, write_views  # noqa: F401 - a fixture

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No pauses between tries, and nothing is known about file systems."""
    monkeypatch.setattr(urls, "PAUSES", (0.0, 0.0))
    urls._file_system.cache_clear()


@pytest.fixture
def memory():
    """The files of memory://, which are forgotten afterwards."""
    files = fsspec.filesystem("memory")
    yield files
    files.store.clear()
    files.pseudo_dirs[:] = [""]


@pytest.fixture
def calm(photos):  # noqa: F811
    """The outputs of a batch on paths."""
    assert all(each.error is None for each in dualpix.batch("photos", "calm", preview=True, runner=Here()))
    return tree(Path("calm"))


def tree(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def stored(files, folder):
    return {path.split(f"{folder}/", 1)[1]: files.cat_file(path) for path in files.find(folder)}


def assert_same(found, calm):
    """The same files with the same bytes. Sidecars differ by names and times."""
    assert found.keys() == calm.keys()
    for name, data in found.items():
        if name.endswith((".tiff", ".png")):
            assert data == calm[name], name
        if name.endswith("_left.json"):
            here, there = json.loads(data), json.loads(calm[name])
            assert (here["key"], here["parameters"]) == (there["key"], there["parameters"])


def run(*args, **options):
    return {each.name: each for each in dualpix.batch(*args, **options)}


# ---- memory:// and file:// -----------------------------------------------------------------------


def test_memory_in_and_out_has_the_same_bytes_and_resumes(calm, memory, photos):  # noqa: F811
    memory.put(str(photos), "/in", recursive=True)
    outcomes = run("memory://in", "memory://out", preview=True)
    assert {name: (each.error, each.kept) for name, each in outcomes.items()} == {
        f"{name}_left": (None, False) for name in NAMES
    }
    found = stored(memory, "/out")
    assert_same(found, calm)
    sidecar = json.loads(found["deep/c_left.json"])
    assert sidecar["inputs"] == {"left": "memory:///in/deep/c_left.png", "right": "memory:///in/deep/c_right.png"}
    assert sidecar["outputs"]["disparity"] == "memory:///out/deep/c_left.tiff"
    lines = [json.loads(line) for line in found["results.jsonl"].splitlines()]
    assert {line["name"]: line["outputs"]["disparity"] for line in lines} == {
        f"{name}_left": f"{name}_left.tiff" for name in NAMES
    }
    memory.pipe_file("/in/b_left.png", memory.cat_file("/in/a_left.png"))
    memory.rm_file("/out/a_left.tiff")
    again = run("memory://in", "memory://out", preview=True)
    assert [name for name, each in again.items() if each.kept] == ["deep/c_left"]


def test_nothing_stays_in_the_temporary_folder(memory, photos, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    memory.put(str(photos), "/in", recursive=True)
    memory.pipe_file("/in/b_left.png", b"no picture")
    errors = {name: each.error for name, each in run("memory://in", "out").items()}
    assert not list(tmp_path.glob(PREFIX + "*"))
    assert errors["b_left"].startswith("memory:///in/b_left.png: is in none of the formats")
    assert errors["a_left"] is None


def test_file_urls_are_paths(calm, photos, tmp_path):  # noqa: F811
    run(photos.as_uri(), (tmp_path / "out").as_uri(), preview=True, jobs=1)
    assert_same(tree(tmp_path / "out"), calm)
    assert urls.plain("file:///a%20b/c") == os.path.join(os.sep, "a b", "c")
    with pytest.raises(InputError, match="begins with file:///"):
        urls.plain("file://a/b")


def test_paths_in_and_urls_out_and_back(calm, memory, photos):  # noqa: F811
    run("photos", "memory://out", preview=True, runner=Here())
    assert_same(stored(memory, "/out"), calm)
    memory.put(str(photos), "/in", recursive=True)
    run("memory://in/**/*_left.png", "out", preview=True)
    assert_same(tree(Path("out")), calm)


def test_rows_of_a_manifest_may_be_urls(memory, photos):  # noqa: F811
    memory.put(str(photos), "/in", recursive=True)
    (photos / "shots.csv").write_text("left,right,name\nmemory://in/a_left.png,a_right.png,x\n")
    memory.pipe_file("/in/shots.csv", b"left,right\ndeep/c_left.png,memory://in/deep/c_right.png\n")
    outcomes = run(["photos/shots.csv", "memory://in/shots.csv"], "memory://out")
    assert {name: each.error for name, each in outcomes.items()} == {"x": None, "c_left": None}


def test_files_beside_the_left_view_count(memory, photos):  # noqa: F811
    memory.put(str(photos / "deep"), "/in", recursive=True)
    row = {"left": "memory://in/c_left.png", "right": "memory://in/c_right.png"}
    first = run(row, "memory://out", preset="stereo")["c_left"]
    memory.pipe_file("/in/calib.txt", b"ndisp=20\n")
    again = run(row, "memory://out", preset="stereo")["c_left"]
    assert not again.kept
    assert again.key != first.key
    assert json.loads(memory.cat_file("/out/c_left.json"))["inputs"]["calib"] == "memory:///in/calib.txt"


def test_captures_of_googles_set_get_their_guide(memory, tmp_path):
    write_views(tmp_path / "l.png", tmp_path / "r.png")
    for name, file in (
        ("left_pd/x/result_leftPd_center.png", "l.png"),
        ("right_pd/x/result_rightPd_center.png", "r.png"),
        ("scaled_images/x/result_scaled_image_center.jpg", "l.png"),
    ):
        memory.pipe_file(f"/in/{name}", (tmp_path / file).read_bytes())
    (outcome,) = dualpix.batch("memory://in", "memory://out")
    sidecar = json.loads(memory.cat_file(f"/out/{outcome.name}.json"))
    assert sidecar["inputs"]["guide"] == "memory:///in/scaled_images/x/result_scaled_image_center.jpg"


# ---- whole or not at all -------------------------------------------------------------------------


def test_what_was_killed_between_two_puts_is_not_finished(memory, photos, monkeypatch):  # noqa: F811
    first = run("photos/a_*.png", "memory://out")["a_left"]
    before = (photos / "a_left.png").read_bytes()
    (photos / "a_left.png").write_bytes((photos / "b_left.png").read_bytes())

    class Killed(BaseException):
        pass

    def put(url, data, real=urls.put):
        real(url, data)
        if url.endswith("a_left.tiff"):
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(urls, "put", put)
        with pytest.raises(Killed):
            run("photos/a_*.png", "memory://out")
    (photos / "a_left.png").write_bytes(before)
    again = run("photos/a_*.png", "memory://out")["a_left"]
    assert (again.key, again.kept) == (first.key, False)


def test_a_second_run_of_the_same_capture_never_removes_its_sidecar(photos, monkeypatch):  # noqa: F811
    """Two workers may do the same capture. If one dies, the outputs of the other stay whole."""
    batch = dualpix.batch("photos/a_*.png", "out", runner=Here())
    (done,) = batch
    monkeypatch.setattr("dualpix.batches.capture.Files.find", late := Late())
    monkeypatch.setattr(os, "remove", lambda path: pytest.fail(f"{path} was removed") if "json" in path else None)
    again = batch._capture(batch._shots[0]).run()
    assert (again.error, again.key, late.calls) == (None, done.key, 2)


class Late:
    """Finds nothing at first, because the other worker has not finished yet."""

    calls = 0

    def __call__(self, key):
        self.calls += 1
        return None if self.calls == 1 else object()


def test_a_store_that_fails_now_and_then_is_asked_again(memory, photos, monkeypatch):  # noqa: F811
    failures = [TimeoutError("slow down")] * 2

    real = type(memory).pipe_file

    def pipe_file(self, path, value, **options):
        if path.endswith(".tiff") and failures:
            raise failures.pop()
        return real(self, path, value, **options)

    monkeypatch.setattr(type(memory), "pipe_file", pipe_file)
    assert [each.error for each in run("photos/a_*.png", "memory://out").values()] == [None]
    failures += [TimeoutError("slow down")] * 3
    (error,) = (each.error for each in run("photos/a_*.png", "memory://out", window=7, force=True).values())
    assert error.startswith("memory:///out/a_left.tiff: cannot be written (TimeoutError: slow down)")


def test_results_are_put_now_and_then(memory, monkeypatch):
    monkeypatch.setattr(results, "PAUSE", 0.0)
    monkeypatch.setattr(results, "SHARE", 0)
    listed = results.Results("memory://out")
    listed.add(dualpix.batches.outcome.Outcome("x", {}, 0.0, error="why"))
    assert json.loads(memory.cat_file("/out/results.jsonl"))["error"] == "why"


# ---- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "out", "kind", "says"),
    [
        ("memory://nowhere", "out", InputError, "^memory:///nowhere: no such file or folder"),
        ("memory://in/*.CR3", "out", InputError, "no file matches this pattern"),
        ("gopher://x/y", "out", InputError, "^gopher://x: is no URL that fsspec can use"),
        ("photos", "http://x/y", OutputError, "^http://x/y: http:// may keep a file in part: write to s3://"),
        ("photos", "memory://full", OutputError, "^memory:///full: holds other files"),
        ({"left": "memory://in/none.png"}, "memory://out", None, "memory:///in/none.png: no such file: check the URL"),
        (
            {"left": "memory://in/large.png"},
            "memory://out",
            None,
            "large.png: has 3000000 bytes or more, over",
        ),
    ],
)
def test_urls_that_cannot_be_used_are_refused(memory, photos, monkeypatch, given, out, kind, says):  # noqa: F811
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "10000")
    memory.pipe_file("/full/notes.txt", b"mine")
    memory.pipe_file("/in/large.png", bytes(3_000_000))
    if kind is None:
        (outcome,) = dualpix.batch(given, out)
        assert says in outcome.error
    else:
        with pytest.raises(kind, match=says):
            dualpix.batch(given, out)
        assert sorted(os.listdir()) == ["photos"]


def test_another_batch_in_a_store_is_refused(memory, photos):  # noqa: F811
    run("photos/a_*.png", "memory://out")
    with pytest.raises(OutputError, match="holds a batch with other options"):
        dualpix.batch("photos", "memory://out")
    memory.pipe_file("/out/b_left.png", (photos / "b_left.png").read_bytes())
    memory.pipe_file("/out/b_right.png", (photos / "b_right.png").read_bytes())
    with pytest.raises(InputError, match="holds no shot"):  # outputs of a batch are no inputs
        dualpix.batch("memory://out", "elsewhere")


@pytest.mark.parametrize(("url", "way"), [("s3://b/x", r"pip install 'dualpix\[s3\]'"), ("gs://b/x", "install gcsfs")])
def test_a_missing_package_is_named(monkeypatch, url, way):
    def fails(url):
        raise ImportError("Please install gcsfs")

    monkeypatch.setattr("fsspec.core.url_to_fs", fails)
    with pytest.raises(InputError, match=f"^{url[:2]}://b: {url[:2]}:// needs another package: .*{way}"):
        dualpix.batch(url, "out")


def test_paths_need_no_fsspec(photos, monkeypatch):  # noqa: F811
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setattr(urls, "missing", lambda package: True)
    with pytest.raises(InputError, match=r"^s3://b: URLs need fsspec: pip install 'dualpix\[cluster\]'"):
        dualpix.batch("s3://b/x", "out")
    assert len(run("photos", photos.as_uri() + "/out", runner=Here())) == 3


# ---- S3 ------------------------------------------------------------------------------------------


def test_s3_in_and_out_has_the_same_bytes_and_resumes(calm, bucket, photos):  # noqa: F811
    for path in photos.rglob("*.png"):
        bucket.pipe_file(f"shots/in/{path.relative_to(photos).as_posix()}", path.read_bytes())
    outcomes = run("s3://shots/in", "s3://shots/maps", preview=True, jobs=2)
    assert {name: each.error for name, each in outcomes.items()} == {f"{name}_left": None for name in NAMES}
    assert_same(stored(bucket, "shots/maps"), calm)
    bucket.rm_file("shots/maps/deep/c_left.json")
    again = run("s3://shots/in", "s3://shots/maps", preview=True, runner=Here())
    assert [name for name, each in again.items() if not each.kept] == ["deep/c_left"]
    np.testing.assert_array_equal(list(stored(bucket, "shots/maps")), sorted(calm))


def test_a_bucket_that_is_not_there_is_named(bucket, photos):  # noqa: F811
    with pytest.raises(OutputError, match=r"^s3://none/maps/batch.json: cannot be written"):
        run("photos", "s3://none/maps", runner=Here())
    with pytest.raises(InputError, match=r"^s3://shots/none: no such file or folder"):
        dualpix.batch("s3://shots/none", "out")


@pytest.mark.parametrize("url", ["memory://", "memory:///"])
def test_a_url_without_a_path_is_refused(url):
    with pytest.raises(InputError, match="add its path"):
        urls.check_writable(url)
