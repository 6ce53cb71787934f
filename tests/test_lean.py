"""A lean start: OpenCV only where it is used, NumPy without threads of its own, the version without metadata."""

import gc
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest
import tifffile

import dualpix.version
from dualpix import forks
from dualpix.cli.lean import quick_imports
from dualpix.errors import OutputError
from dualpix.forks import no_fork
from dualpix.io import _tiff, _tiff_writer
from dualpix.opencv import opencv, opencv_threads


def printed(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()


def test_opencv_has_the_threads_of_the_innermost_block_though_it_is_imported_later():
    code = """
import sys
from dualpix.opencv import opencv, opencv_threads
with opencv_threads(3):
    with opencv_threads(1):
        print("cv2" in sys.modules, opencv().getNumThreads())
    print(opencv().getNumThreads())
import cv2
before = cv2.getNumThreads()
cv2.setNumThreads(-1)
print(before == cv2.getNumThreads())
"""
    assert printed(code) == ["False", "1", "3", "True"]


def test_blocks_of_opencv_may_end_in_any_order():
    before = cv2.getNumThreads()
    blocks = [opencv_threads(n) for n in (2, 3, 2)]
    for block in blocks:
        block.__enter__()
    blocks[2].__exit__(None, None, None)
    assert (opencv().getNumThreads(), cv2.getNumThreads()) == (3, 3)
    blocks[0].__exit__(None, None, None)
    assert cv2.getNumThreads() == 3
    blocks[1].__exit__(None, None, None)
    assert (opencv().getNumThreads(), cv2.getNumThreads()) == (before, before)


def test_a_fork_that_was_interrupted_takes_no_lock_from_another_thread():
    with ThreadPoolExecutor(1) as pool:
        pool.submit(no_fork.acquire).result()
        forks._release()  # as after a fork whose wait for the lock was interrupted
        assert not no_fork.acquire(blocking=False)
        pool.submit(no_fork.release).result()
    assert no_fork.acquire(blocking=False)
    forks._release()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(no_fork.acquire, blocking=False).result()
        pool.submit(no_fork.release).result()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on Windows")
def test_a_fork_waits_for_an_import_of_ours_in_another_thread(tmp_path):
    (tmp_path / "slow.py").write_text("import time; time.sleep(0.5); done = True")
    code = f"""
import os, signal, threading, time
import dualpix
dualpix.__path__.append({str(tmp_path)!r})
def load():
    from dualpix.slow import done
threading.Thread(target=load).start()
time.sleep(0.1)
if child := os.fork():
    print(os.waitpid(child, 0)[1])
else:
    signal.alarm(5)  # a child that hangs is killed
    load()
    os._exit(0)
"""
    assert printed(code) == ["0"]


@pytest.mark.parametrize("threads", [None, "3"])
def test_quick_imports_leave_everything_as_it_was(monkeypatch, threads):
    name = "OPENBLAS_NUM_THREADS"
    monkeypatch.delenv(name, raising=False)
    if threads:
        monkeypatch.setenv(name, threads)
    assert gc.isenabled()
    frozen = gc.get_freeze_count()
    with quick_imports():
        assert os.environ[name] == (threads or "1")
        assert not gc.isenabled()
    assert (os.environ.get(name), gc.isenabled()) == (threads, True)
    with pytest.raises(RuntimeError), quick_imports():
        raise RuntimeError
    assert (os.environ.get(name), gc.isenabled()) == (threads, True)
    assert gc.get_freeze_count() == frozen  # nothing was imported


def test_nobody_looks_for_garbage_among_modules():
    code = """
import gc
from dualpix.cli import lean
lean.owns_process = True
with lean.quick_imports():
    import numpy
print(gc.isenabled(), gc.get_freeze_count() > 10_000, len(gc.get_objects()) < 10_000)
"""
    assert printed(code) == ["True", "True", "True"]


def test_garbage_of_a_program_that_calls_the_command_is_still_found():
    code = """
import gc
from dualpix.cli import main
main(["presets", "--json"])
print()
print(gc.get_freeze_count())
"""
    assert printed(code)[-1] == "0"


def test_the_command_looks_for_no_garbage_when_it_ends():
    code = """
import atexit, gc, sys
atexit.register(lambda: print(gc.get_freeze_count() > 0))
sys.argv = ["dualpix", "presets"]
from dualpix.cli import run
run()
"""
    assert printed(code)[-1] == "True"


@pytest.mark.parametrize(
    ("names", "expected"), [(["dualpix-1.2.3.dist-info", "dualpix", "dualpix-x"], "1.2.3"), (["dualpix"], None)]
)
def test_the_version_is_that_of_the_folder_beside_the_package(monkeypatch, names, expected):
    from importlib import metadata

    monkeypatch.setattr(os, "listdir", lambda _: names)
    monkeypatch.setattr(metadata, "version", lambda _: "9")
    assert dualpix.version.version.__wrapped__() == (expected or "9")


def test_the_version_of_an_installation_in_place_is_where_python_looks(tmp_path, monkeypatch):
    from importlib import metadata

    (tmp_path / "site" / "dualpix-9.8.dist-info").mkdir(parents=True)
    monkeypatch.setattr(dualpix.version, "__file__", str(tmp_path / "src" / "dualpix" / "version.py"))
    monkeypatch.setattr(sys, "path", [str(tmp_path / "none"), str(tmp_path / "site")])
    monkeypatch.setattr(metadata, "version", lambda _: "not asked")
    assert dualpix.version.version.__wrapped__() == "9.8"


def test_a_folder_that_cannot_be_listed_gives_no_version(monkeypatch):
    from importlib import metadata

    def refuse(_):
        raise PermissionError

    monkeypatch.setattr(os, "listdir", refuse)
    monkeypatch.setattr(metadata, "version", lambda _: "9")
    assert dualpix.version.version.__wrapped__() == "9"
    monkeypatch.setattr(metadata, "version", refuse)
    assert dualpix.version.version.__wrapped__() == "0+unknown"


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int16, np.uint32, np.float16, np.float64, complex])
def test_a_tiff_of_another_type_is_refused(dtype):
    with pytest.raises(OutputError, match=f"is an array of shape .3, 4. and type {np.dtype(dtype)}: give HxW"):
        _tiff_writer.encode(np.zeros((3, 4), dtype))


@pytest.mark.parametrize("shape", [(), (3,), (3, 4, 1), (3, 4, 2), (3, 4, 4), (1, 3, 4, 3)])
def test_a_tiff_of_another_shape_is_refused(shape):
    with pytest.raises(OutputError, match=r"is an array of shape .*: give HxW or HxWx3"):
        _tiff_writer.encode(np.zeros(shape, np.uint8))


def test_a_tiff_of_either_byte_order():
    image = np.arange(12, dtype=">u2").reshape(3, 4)
    np.testing.assert_array_equal(_tiff.decode(bytes(_tiff_writer.encode(image))), image)


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (4, 3, 3)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_other_programs_read_our_tiff(monkeypatch, big, shape, dtype):
    if big:
        monkeypatch.setattr(_tiff_writer, "_LARGEST", 0)
    image = np.random.default_rng(0).uniform(0, 255, shape).astype(dtype)
    profile = bytes(range(100)) + b"odd"
    data = bytes(_tiff_writer.encode(image, 6, profile))
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        assert file.is_bigtiff == big
        page = file.pages[0]
        np.testing.assert_array_equal(page.asarray(), image)
        assert page.tags["Orientation"].value == 6
        assert page.iccprofile == profile
    assert _tiff.header(data).orientation == 6
    np.testing.assert_array_equal(_tiff.decode(data), image)
