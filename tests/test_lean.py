"""A lean start: OpenCV only where it is used, NumPy without threads of its own, the version without metadata."""

import gc
import io
import os
import subprocess
import sys

import numpy as np
import pytest
import tifffile

import dualpix.version
from dualpix.cli.lean import quick_imports
from dualpix.io import _tiff, _tiff_writer


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


@pytest.mark.parametrize("threads", [None, "3"])
def test_quick_imports_leave_everything_as_it_was(monkeypatch, threads):
    name = "OPENBLAS_NUM_THREADS"
    monkeypatch.delenv(name, raising=False)
    if threads:
        monkeypatch.setenv(name, threads)
    assert gc.isenabled()
    with quick_imports():
        assert os.environ[name] == (threads or "1")
        assert not gc.isenabled()
    assert (os.environ.get(name), gc.isenabled()) == (threads, True)
    with pytest.raises(RuntimeError), quick_imports():
        raise RuntimeError
    assert (os.environ.get(name), gc.isenabled()) == (threads, True)


@pytest.mark.parametrize(
    ("names", "expected"), [(["dualpix-1.2.3.dist-info", "dualpix", "dualpix-x"], "1.2.3"), (["dualpix"], None)]
)
def test_the_version_is_that_of_the_folder_beside_the_package(monkeypatch, names, expected):
    from importlib import metadata

    monkeypatch.setattr(os, "listdir", lambda _: names)
    monkeypatch.setattr(metadata, "version", lambda _: "9")
    assert dualpix.version.version.__wrapped__() == (expected or "9")


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
