"""The memory that is asked for beforehand against what is used, and what is refused."""

import numpy as np
import pytest

import dualpix
from dualpix import memory
from dualpix.bench._cases import Case
from dualpix.bench._memory import peak
from dualpix.bench._pairs import dual_pixel_pair, wide_pair
from dualpix.cli import main
from dualpix.memory import available, floats_per_pixel


class Run:
    """What a process of its own does; picklable."""

    def __init__(self, preset, changes):
        self.preset, self.changes = preset, changes

    def __call__(self, left, right, threads):
        dualpix.disparity(left, right, self.preset, threads=threads, **self.changes)


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("auto", {}),
        ("auto", {"filter": "solver"}),
        ("auto", {"mask_occluded": True}),
        ("dslr-a", {}),
        ("phone", {}),
        ("stereo", {"range": (0.0, 64.0)}),
        ("stereo", {"range": (0.0, 64.0), "candidates": 2}),
        ("stereo-paper", {"range": (0.0, 64.0)}),
    ],
)
def test_the_estimate_is_above_the_peak_but_not_by_far(preset, changes):
    views = wide_pair(1.5, 64) if preset.startswith("stereo") else dual_pixel_pair(1.5)
    views = tuple(np.repeat(view[..., None], 3, axis=2) for view in views)
    found = peak(Case(Run(preset, changes), views, 2))
    used = found.above * 2**20 / 4 / views[0][..., 0].size
    settings = {name: value for name, value in changes.items() if name != "mask_occluded"}
    asked = floats_per_pixel(dualpix.preset(preset).replace(**settings), "mask_occluded" in changes)
    assert 0.6 * asked < used < asked + 3  # what does not grow with the pair is a part of so small a one


def test_what_needs_more_than_allowed_is_refused_before_anything_is_done(tmp_path):
    view = np.zeros((1000, 2000), np.uint8)
    with pytest.raises(dualpix.InputError, match=r"left is 2000x1000 pixels.* about 0.064 GB.* 0.05 GB that mem_limit"):
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


def test_free_is_the_lesser_of_machine_and_group(monkeypatch):
    files = {
        "/proc/meminfo": "MemTotal:  9 kB\nMemAvailable:  3000000 kB\n",
        "/sys/fs/cgroup/memory.max": "2000000000\n",
        "/sys/fs/cgroup/memory.current": "1500000000\n",
        "/sys/fs/cgroup/memory.stat": "anon 1\nfile 400000000\nfile_mapped 7\n",
    }
    monkeypatch.setattr(memory, "_read", lambda path: files.get(path, ""))
    assert available() == pytest.approx(0.9)
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert available() == pytest.approx(3.072)
    files.clear()
    assert available() is None


def test_the_command_refuses_with_one_sentence(tmp_path, capfd):
    import cv2

    path = tmp_path / "view.png"
    cv2.imwrite(str(path), np.zeros((200, 300), np.uint8))
    out = tmp_path / "out.tiff"
    assert main(["disparity", str(path), str(path), "-o", str(out), "--mem-limit", "0.001"]) == 2
    assert capfd.readouterr().err.startswith(f"error: {path} is 300x200 pixels, for which about 0.00192 GB")
    assert not out.exists()
