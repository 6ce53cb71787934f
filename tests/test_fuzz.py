"""The fuzzer finds what it should find: planted defects in readers, and crashes and hangs of its processes."""

import subprocess
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest

from conftest import ROOT
from dualpix import InputError, _core
from dualpix.evaluation.cache import read_outcome

sys.path.append(str(ROOT / "benchmarks"))
resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the fuzzer needs Linux")

from fuzz import crafted, inputs, kernels, mutate, oracle, targets  # noqa: E402

PNG = (targets.CORPUS / "png/grey16.png").read_bytes()


def found(work, limits=None):
    """The name of what the oracle finds."""
    result = oracle.judge(work, limits or oracle.Limits(), (InputError,))
    return None if result is None else result[0]


def fails_with(error):
    def work(told):
        raise error

    return work


class Raw(InputError):
    __str__ = Exception.__str__


def test_a_clean_error_is_fine_and_any_other_is_not():
    assert found(lambda told: None) is None
    assert found(fails_with(InputError("a.png: is damaged: export it again"))) is None
    assert found(fails_with(ZeroDivisionError())) == "ZeroDivisionError at no line of dualpix"
    assert found(fails_with(MemoryError())).startswith("MemoryError")
    assert found(fails_with(InputError("a.png: \x1b[31m red: no"))) is None  # its text has an escape
    assert found(fails_with(Raw("a.png: \x1b[31m red: no"))).startswith("control characters")
    assert found(fails_with(InputError("a.png: its 9x9 pixels do not fit in memory"))).startswith("out of memory")
    assert found(fails_with(InputError(""))) == "error without a sentence"


def test_memory_is_compared_with_the_announced_picture():
    def work(told):
        told.size = announced
        np.ones(200 << 20, np.uint8)

    announced = 0
    assert found(work) == "too much memory"
    assert found(work, oracle.Limits(enforced=False)) is None
    announced = 20 << 20
    assert found(work) is None


def test_time_is_limited(monkeypatch):
    monkeypatch.setattr(oracle, "SECONDS", 0.05)
    assert found(lambda told: sum(range(10**7))) == "too slow"


@pytest.mark.parametrize(
    "values", [np.zeros((3, 5)), np.zeros((4, 4), np.float32), np.full((3, 4), np.inf, np.float32)]
)
def test_a_map_that_is_not_right(values):
    with pytest.raises(oracle.Wrong):
        targets._check(values, (3, 4), ("float32",))
    targets._check(np.full((3, 4), np.nan, np.float32), (3, 4), ("float32",))


def test_the_same_seed_gives_the_same_file():
    files = [PNG, PNG[:50]]
    made = [[mutate.mutated(PNG, files, Random(seed)) for seed in range(300)] for _ in range(2)]
    assert made[0] == made[1]
    assert len(set(made[0])) > 250
    assert inputs.number(5000, 7, tuple(targets.KINDS)) == inputs.number(5000, 7, tuple(targets.KINDS))


def test_checksums_of_a_png_are_mended():
    broken = bytearray(PNG)
    broken[-20] ^= 1
    broken[29:33] = bytes(4)
    mended = bytearray(broken)
    mutate._mend_png(mended)
    assert mended[29:33] == PNG[29:33]
    assert mended[-20] == broken[-20]


def test_the_corpus_is_small_and_has_every_kind():
    sizes = {kind: [path.stat().st_size for path in (targets.CORPUS / kind).iterdir()] for kind in targets.KINDS}
    assert all(sizes.values())
    assert sum(map(sum, sizes.values())) < 300_000
    assert {kind for kind, _ in crafted.CRAFTED.values()} <= set(targets.KINDS)


def test_every_kernel_is_called():
    functions = {name for name, value in vars(_core).items() if type(value).__name__ == "nb_func"}
    assert set(kernels.CALLS) == functions


@pytest.mark.parametrize("name", sorted(kernels.CALLS))
def test_some_calls_of_a_kernel_go_through(monkeypatch, name):
    """Otherwise only the checks of arguments would be tested."""
    monkeypatch.setattr(kernels, "CALLS", {name: kernels.CALLS[name]})
    monkeypatch.setattr(kernels, "SIDES", (1, 5, 9))
    done = 0
    for seed in range(20):
        try:
            kernels.call(Random(f"{name}{seed}"), oracle.Told())
            done += 1
        except (ValueError, TypeError):
            pass
    assert done >= 3


def test_kernel_tests_run_under_sanitizers():
    """KERNELS of the Makefile names every test file that uses the core."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    listed = text.partition("KERNELS := ")[2].partition("KERNEL_TESTS")[0].replace("\\", "").split()
    used = {
        path.stem.removeprefix("test_")
        for path in (ROOT / "tests").glob("test_*.py")
        if "_core." in path.read_text(encoding="utf-8")
    }
    assert used - set(listed) <= {"cli", "fuzz", "tiles"}
    assert all((ROOT / f"tests/test_{name}.py").is_file() for name in listed)


RUN = """
import os, time, zlib
from fuzz import targets, workers
from fuzz.inputs import files_of
def reader(path, told):
    data = open(path, "rb").read()
    chosen = zlib.crc32(data) % 60
    if chosen == 1: os.abort()
    if chosen == 2: time.sleep(60)
    if chosen == 3: raise KeyError(1)
targets.KINDS["hints"] = targets.Kind("a.json", (reader,))
workers.HANG, workers.GROUP = 1.0, 60
run = workers.Run(0, ("hints",), 2)
reports = list(run.reports(240, None))
print(sorted({report.name for report in reports}), run.done)
"""


def test_crashes_and_hangs_are_findings_and_the_run_goes_on():
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={"PYTHONPATH": f"{ROOT / 'benchmarks'}:{Path(_core.__file__).parents[1]}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout == "['KeyError at no line of dualpix', 'crash, SIGABRT', 'hang'] 240\n", done.stderr


@pytest.mark.parametrize("kind", targets.KINDS)
def test_files_of_the_corpus_are_good_before_they_are_mutated(tmp_path, monkeypatch, kind):
    """At least one reader takes each of them."""
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", str(oracle.MOST_PIXELS))
    for path in (targets.CORPUS / kind).iterdir():
        if path.name.startswith("found-"):
            continue
        copy = tmp_path / targets.KINDS[kind].file
        copy.write_bytes(path.read_bytes())
        assert any(taken(reader, copy) for reader in targets.KINDS[kind].readers), path.name
        assert kind != "cache" or read_outcome(copy) is not None


def taken(reader, path):
    try:
        reader(str(path), oracle.Told())
    except InputError:
        return False
    return True
