"""The memory that is asked for beforehand against what is used, and what is refused."""

import subprocess
import sys
from functools import cache

import numpy as np
import pytest

import dualpix
from dualpix.batches import process
from dualpix.cli import main
from dualpix.evaluation.bench._measure import Case, _peak_here
from dualpix.evaluation.bench._pairs import dual_pixel_pair, wide_pair
from dualpix.method import memory
from dualpix.method.frame import Frame
from dualpix.method.kinds import method_of
from dualpix.method.memory import STRETCHED, available, check_memory
from dualpix.method.scales import passes_of


class Run:
    """What another process does; picklable."""

    def __init__(self, preset, changes):
        self.preset, self.changes = preset, changes

    def __call__(self, left, right, threads):
        dualpix.disparity(left, right, self.preset, threads=threads, **self.changes)


def peak_when_warm(case):
    """The peak memory of a case in this process, without code and tables that are loaded on the way."""
    case.warm_up()
    return _peak_here(case)


@pytest.fixture(scope="module")
def other():
    """A process that gives memory back as soon as it is free.

    Every map is memory of its own. By default, glibc keeps maps below 8 MP on a heap, whose gaps differ by run.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MALLOC_MMAP_THRESHOLD_", "1000000")
        worker = process.Worker()
    yield worker
    worker.end()


@cache
def colour_views(stereo):
    """A pair of 2 MP."""
    views = wide_pair(2, 64) if stereo else dual_pixel_pair(2)
    return tuple(np.repeat(view[..., None], 3, axis=2) for view in views)


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("auto", {}),
        ("auto", {"suspicion": 0.1}),
        ("auto", {"filter": "guided"}),
        ("auto", {"filter": "solver"}),
        ("auto", {"filter": "solver", "solver_xy": 2, "solver_luma": 2.0}),
        ("auto", {"pixel_aspect": 2.0}),
        ("auto", {"iterations": (4,)}),
        ("auto", {"iterations": (4,), "range": (-4.0, 4.0)}),
        ("auto", {"cost": "census"}),
        ("dslr-a", {"normalize_iterations": True}),
        ("auto", {"mask_occluded": True}),
        ("dslr-a", {}),
        ("phone", {}),
        ("stereo", {"range": (0.0, 64.0)}),
        ("stereo", {"range": (0.0, 64.0), "candidates": 2}),
        ("stereo-paper", {"range": (0.0, 64.0)}),
    ],
)
def test_the_estimate_is_above_the_peak_but_not_by_far(other, preset, changes):
    views = colour_views(preset.startswith("stereo"))
    found = other.call(peak_when_warm, Case(Run(preset, changes), views, 2))
    used = found.above * 2**20 / 4 / views[0][..., 0].size
    settings = {name: value for name, value in changes.items() if name != "mask_occluded"}
    params = dualpix.preset(preset).replace(**settings)
    scales = len(passes_of(params, views[0].shape[:2]))
    asked = method_of(params).floats_per_pixel(scales, "mask_occluded" in changes)
    if "pixel_aspect" in changes:
        asked = asked * changes["pixel_aspect"] + STRETCHED
    fixed = (2.6e6 + 2**21) / 4 / views[0][..., 0].size  # what does not grow with the pair; a huge page of the pool
    assert 0.5 * asked < used < asked + fixed


def allows(limit, shape, **changes):
    try:
        params = dualpix.preset("auto").replace(**changes)
        scales = len(passes_of(params, shape))
        check_memory("left", Frame(shape), method_of(params).floats_per_pixel(scales, False), limit)
    except dualpix.InputError:
        return False
    return True


def test_one_scale_needs_more_than_several_found_or_asked_for():
    """To find its range, a single scale keeps 15.5 maps instead of 8.5, of 4 bytes a pixel, beside 0.03 GB."""
    small, large = (250, 250), (1000, 2000)
    assert [len(passes_of(dualpix.preset("auto"), shape)) for shape in (small, large)] == [1, 4]
    assert not allows(0.0328, small)
    assert allows(0.0341, small)
    assert allows(0.0328, small, iterations=(4, 4))
    assert allows(0.0328, small, range=(-4, 4))
    assert allows(0.099, large)
    assert not allows(0.12, large, iterations=(4,))
    assert not allows(0.097, large)


def test_what_needs_more_than_allowed_is_refused_before_anything_is_done(tmp_path):
    view = np.zeros((1000, 2000), np.uint8)
    with pytest.raises(
        dualpix.InputError,
        match=r"left is 2000x1000 .* 0.098 GB .*beside the views, .* 0.05 GB that mem_limit= allows: .* mem_limit=$",
    ):
        dualpix.disparity(view, view, mem_limit=0.05)
    dualpix.disparity(view[:100, :100], view[:100, :100], mem_limit=0.05)


@pytest.mark.parametrize("limit", [0, -1, "2", float("nan"), True])
def test_a_limit_must_be_a_number_above_0(limit):
    view = np.zeros((100, 100), np.uint8)
    with pytest.raises(dualpix.ParameterError, match="mem_limit"):
        dualpix.disparity(view, view, mem_limit=limit)


def test_by_default_it_is_what_is_free(monkeypatch):
    view = np.zeros((1000, 2000), np.uint8)
    monkeypatch.setattr(memory, "available", lambda: 0.01)
    with pytest.raises(dualpix.InputError, match=r"0.01 GB that are free: give smaller views"):
        dualpix.disparity(view, view)
    monkeypatch.setattr(memory, "available", lambda: None)  # unknown
    dualpix.disparity(view, view)


def test_free_is_the_least_of_machine_groups_and_process(monkeypatch):
    files = {
        "/proc/meminfo": "MemTotal:  9 kB\nMemAvailable:  3000000 kB\n",
        "/proc/self/cgroup": "0::/a/b\n",
        "/sys/fs/cgroup/a/b/memory.max": "max\n",
        "/sys/fs/cgroup/a/b/memory.current": "7\n",
        "/sys/fs/cgroup/a/memory.max": "2000000000\n",
        "/sys/fs/cgroup/a/memory.current": "1500000000\n",
        "/sys/fs/cgroup/a/memory.stat": "anon 1\nfile 400000000\nfile_mapped 7\nshmem 100000000\n",
    }
    monkeypatch.setattr(memory, "_read", lambda path: files.get(path, ""))
    monkeypatch.setattr(memory, "_process", lambda: None)
    assert available() == pytest.approx(0.8)
    monkeypatch.setattr(memory, "_process", lambda: 0.3)
    assert available() == 0.3
    monkeypatch.setattr(memory, "_process", lambda: None)
    files["/proc/self/cgroup"] = "5:cpu:/\n4:memory,other:/a\n"
    files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "700000000\n"
    files["/sys/fs/cgroup/memory/memory.usage_in_bytes"] = "100000000\n"
    assert available() == pytest.approx(0.6)
    files["/proc/self/cgroup"] = ""
    assert available() == pytest.approx(3.072)
    files.clear()
    assert available() is None


def test_a_limit_of_the_process_counts():
    code = (
        "import resource; from dualpix.method.memory import available; "
        "resource.setrlimit(resource.RLIMIT_AS, (3 * 10**9, -1)); assert 0.5 < available() < 3, available()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_refuses_with_one_sentence(tmp_path, capfd):
    import cv2

    path = tmp_path / "view.png"
    cv2.imwrite(str(path), np.zeros((200, 300), np.uint8))
    out = tmp_path / "out.tiff"
    assert main(["disparity", str(path), str(path), "-o", str(out), "--mem-limit", "0.001"]) == 2
    assert capfd.readouterr().err.startswith(f"error: {path} is 300x200 pixels and needs about 0.034 GB")
    assert not out.exists()
