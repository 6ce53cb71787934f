"""What several test files share: where real captures are, running a command, a browser, and small textured pairs."""

import importlib
import importlib.util
import os
import signal
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from app_browser import CHROMIUM, OPTIONS
from dualpix import cli
from dualpix.method.match import local_parabolas
from dualpix.method.search import Span
from dualpix.types import Planes

ROOT = Path(__file__).resolve().parent.parent
SANITIZERS = ("asan", "ubsan", "tsan")
SANITIZER = os.environ.get("LD_PRELOAD", "")  # libasan.so, libubsan.so or libtsan.so under make sanitize


settings.register_profile("dualpix", deadline=None)  # a busy machine may be slow
settings.load_profile("dualpix")


def not_under(reason, *sanitizers):
    """Skip a test under these sanitizers, by default under all."""
    return pytest.mark.skipif(any(f"lib{name}.so" in SANITIZER for name in sanitizers or SANITIZERS), reason=reason)


# What _core.aggregate needs beside its maps and messages, for one plain pass.
PLAIN_PASS = {
    "penalty": 1,
    "taus": (),
    "scale": 1,
    "jump_penalty": 0,
    "farthest": 0,
    "threads": 1,
}


def pytest_configure():
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # commands that are tested inherit it, and nohup ignores it


@pytest.fixture(scope="session")
def data_dir():
    """Real captures with ground truth, from DUALPIX_DATA or beside the project."""
    folder = Path(os.environ.get("DUALPIX_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real captures at {folder}: set DUALPIX_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def ablation():
    """benchmarks/ablation.py, which knows how each data set is read and scored."""
    spec = importlib.util.spec_from_file_location("ablation", ROOT / "benchmarks" / "ablation.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def benchmark_script(monkeypatch):
    """Import a script of benchmarks/ by name. It and what it imports from there are forgotten afterwards."""
    folder, before = ROOT / "benchmarks", set(sys.modules)
    monkeypatch.syspath_prepend(folder)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if (folder / f"{name}.py").is_file():
            del sys.modules[name]


@pytest.fixture
def call(capfd):
    """Run a command in this process: exit code, stdout and stderr."""

    def run(*args):
        code = cli.main([str(arg) for arg in args])
        return code, *capfd.readouterr()

    return run


@pytest.fixture(scope="session")
def bucket():
    """A bucket of a store that speaks S3, and its files."""
    pytest.importorskip("s3fs", reason="s3fs is not installed: pip install '.[test-s3]'")
    import fsspec

    server_of = pytest.importorskip(
        "moto.server", reason="moto is not installed: pip install '.[test-s3]'"
    ).ThreadedMotoServer
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = server_of(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}"),
            ("AWS_ACCESS_KEY_ID", "x"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
        ):
            patch.setenv(name, value)
        files = fsspec.filesystem("s3", use_listings_cache=False)
        files.mkdir("shots")
        yield files
    server.stop()


@pytest.fixture
def pair():
    """A smooth random texture and the same shifted by 1.3 px: left(x) = right(x - 1.3), on a 0..255 scale."""
    return textured_pair((72, 90), 1.3)


def textured_pair(shape, d, seed=0):
    """float32 views of one random texture with disparity d, band-limited so that the shift is exact."""
    rng = np.random.default_rng(seed)
    spectrum = np.fft.fft2(rng.standard_normal(shape))
    fy, fx = np.meshgrid(*(np.fft.fftfreq(n) for n in shape), indexing="ij")
    spectrum *= np.exp(-((fx**2 + fy**2) / 0.15**2))
    left = np.fft.ifft2(spectrum).real
    right = np.fft.ifft2(spectrum * np.exp(2j * np.pi * fx * d)).real
    low, span = left.min(), np.ptp(left)
    return tuple(((view - low) / span * 200 + 25).astype(np.float32, order="C") for view in (left, right))


def matched(left, right, disparities, params, threads=1, ranges=None):
    """A and B of the local term of two grey planes, at these disparities or at those of each tile."""
    found = local_parabolas(Planes(left, right, left), Span(disparities, ranges), params.matching, threads)
    return found.A, found.B


@pytest.fixture(scope="module")
def browser():
    """Chromium; the test is skipped without it."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH: install the system's package chromium")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()
