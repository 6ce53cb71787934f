"""Batches on Dask: the same bytes as without it, whatever happens to workers, and refusals that say what to do."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import dualpix
from dualpix.batches import cluster
from dualpix.batches.cluster import Cluster
from dualpix.batches.runner import Here
from dualpix.errors import InputError, OutputError, ParameterError
from dualpix.version import version
from test_batch import NAMES, photos  # noqa: F401 - a fixture
from test_runner import Job, begun
from test_urls import assert_same, calm, run, stored, tree  # noqa: F401 - fixtures

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
HERE = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])}  # of the workers


@pytest.fixture(scope="module")
def bench():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
        patch.delitem(sys.modules, "cluster", raising=False)
        import cluster as module

        yield module
        for name in ("cluster", "batch"):
            sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def dask(bench, tmp_path_factory):
    """A scheduler and two workers in processes of their own."""
    with bench.started(tmp_path_factory.mktemp("dask"), env=HERE) as found:
        bench.await_workers(found.address, 2)
        yield found


@contextmanager
def one_more(bench, address, env, folder):
    """Another worker of a scheduler while the block runs."""
    command = [*bench.DASK, "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    worker = subprocess.Popen(command, env={**os.environ, **env}, cwd=folder, **quiet)
    try:
        yield
    finally:
        worker.kill()
        worker.wait()


@dataclass(frozen=True)
class Where:
    """Tells which process runs it."""

    def run(self):
        time.sleep(0.01)
        return os.getpid()

    def failed(self, why):
        return why


# ---- same bytes ----------------------------------------------------------------------------------


def test_a_local_cluster_makes_the_same_files(calm, photos, call):  # noqa: F811
    code, out, err = call("batch", "photos", "-o", "out", "--preview", "--scheduler", "local", "--jobs", 2)
    assert (code, err) == (0, "")
    assert "3 captures: 3 done, 0 finished before, 0 failed\n" in out
    assert "2 processes of 1 thread" in out
    assert_same(tree(Path("out")), calm)


def test_a_cluster_makes_the_same_files_and_resumes(calm, dask, photos):  # noqa: F811
    outcomes = run("photos", "out", preview=True, scheduler=dask.address)
    assert {name: each.error for name, each in outcomes.items()} == {f"{name}_left": None for name in NAMES}
    assert_same(tree(Path("out")), calm)
    Path("out/deep/c_left.tiff").unlink()
    again = run("photos", "out", preview=True, scheduler=dask.address)
    assert [name for name, each in again.items() if not each.kept] == ["deep/c_left"]


def test_a_cluster_needs_no_disk_but_the_store(bench, calm, bucket, photos, tmp_path):  # noqa: F811
    """Workers find the S3 store by their environment, so these start after it."""
    for path in photos.rglob("*.png"):
        bucket.pipe_file(f"shots/dask/{path.relative_to(photos).as_posix()}", path.read_bytes())
    shutil.rmtree(photos)
    (tmp_path / "dask").mkdir()
    with bench.started(tmp_path / "dask", env=HERE) as own:
        bench.await_workers(own.address, 2)
        run("s3://shots/dask", "s3://shots/dask-maps", preview=True, scheduler=own.address)
    assert_same(stored(bucket, "shots/dask-maps"), calm)


def test_one_bad_capture_does_not_stop_the_others(dask, photos):  # noqa: F811
    (photos / "b_left.png").write_bytes(b"no picture")
    errors = {name: each.error for name, each in run("photos", "out", scheduler=dask.address).items()}
    assert [name for name, error in errors.items() if error] == ["b_left"]
    assert "b_left.png: is in none of the formats" in errors["b_left"]


# ---- chunks and deaths ---------------------------------------------------------------------------


def test_all_workers_get_chunks_and_every_task_is_answered_once(dask):
    answers = list(Cluster(dask.address).run(Where() for _ in range(300)))
    assert len(answers) == 300
    assert len(set(answers)) == 2


def test_tasks_are_taken_when_they_can_begin(dask, tmp_path):
    taken = []

    def tasks():
        for number in range(50):
            taken.append(number)
            yield Job(tmp_path, str(number), lasts=0.2)

    answers = Cluster(dask.address).run(tasks())
    next(answers)
    answers.close()
    assert len(taken) < 15
    assert begun(tmp_path, "49") == 0


def test_a_task_whose_worker_dies_begins_again(dask, tmp_path):
    jobs = [Job(tmp_path, str(number), lasts=0.05, deaths=2 * (number == 3)) for number in range(8)]
    answers = {name: answer for name, answer, *_ in Cluster(dask.address).run(jobs)}
    assert sorted(answers) == sorted(map(str, range(8)))
    assert all(isinstance(pid, int) for pid in answers.values())
    assert begun(tmp_path, "3") == 3


def test_a_task_that_ends_every_worker_fails_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "UNKNOWN", 0.1)  # a chunk of all
    monkeypatch.setattr(cluster, "DEATHS", 0)
    jobs = [Job(tmp_path, name, lasts=0.01, deaths=99 * (name == "bad")) for name in ("a", "bad", "b", "c")]
    answers = {name: answer for name, answer, *_ in Cluster("local", 1).run(jobs)}
    assert answers.pop("bad") == "it ended one worker after another, perhaps out of memory"
    assert [type(pid) for pid in answers.values()] == [int] * 3


def test_workers_may_come_after_the_batch(bench, photos, tmp_path):  # noqa: F811
    with bench.started(tmp_path, workers=0) as found:
        command = [
            sys.executable,
            "-m",
            "dualpix",
            "batch",
            "photos/a_*.png",
            "-o",
            "out",
            "--scheduler",
            found.address,
        ]
        batch = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert batch.stderr.readline().startswith(f"{found.address}: has no workers yet: start some with 'dask worker ")
        with one_more(bench, found.address, HERE, tmp_path):
            out, err = batch.communicate(timeout=60)
    assert (batch.returncode, err) == (0, "")
    assert "1 done" in out
    assert "workers that came later" in out


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        (
            {"scheduler": "node1:8786"},
            ParameterError,
            "^scheduler must be local or an address such as tcp://node1:8786",
        ),
        ({"scheduler": "tcp://node1"}, ParameterError, "^scheduler must be local"),
        ({"scheduler": "tcp://node1:8786", "jobs": 2}, ParameterError, "^jobs= is for this machine, .*leave it out"),
        ({"scheduler": "tcp://node1:8786", "mem_limit": 2}, ParameterError, "^mem_limit= is for this machine"),
        ({"scheduler": "local", "output": "memory://out"}, InputError, "^memory:// is the memory of this process"),
    ],
)
def test_options_that_do_not_go_together_are_refused(photos, options, kind, says):  # noqa: F811
    with pytest.raises(kind, match=says):
        dualpix.batch("photos", **{"output": "out", **options})
    assert os.listdir() == ["photos"]


@pytest.mark.parametrize("listens", [False, True])
def test_a_scheduler_that_does_not_answer_tells_how_to_start_one(photos, call, monkeypatch, listens):  # noqa: F811
    assert cluster.PATIENCE < 4  # it is waited for twice
    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        if listens:
            other.listen()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        code, out, err = call("batch", "photos", "-o", "out", "--scheduler", address)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {address}: no Dask scheduler answers: start it there with 'dask scheduler ")
    assert err.count("\n") == 1
    assert os.listdir() == ["photos"]


def test_without_dask_the_extra_is_named(photos, monkeypatch):  # noqa: F811
    monkeypatch.setattr(cluster, "missing", lambda package: True)
    with pytest.raises(InputError, match=r"pip install 'dualpix\[cluster\]'"):
        dualpix.batch("photos", "out", scheduler="local")


def test_workers_that_do_not_see_the_folder_are_named(dask, photos, monkeypatch):  # noqa: F811
    runner = Cluster(dask.address, shared=str(photos / "batch.json"))
    with pytest.raises(OutputError, match=r"photos: the worker tcp://.* does not see this folder: .*s3://bucket"):
        list(runner.run([Where()]))


def test_a_worker_with_another_version_is_refused(bench, dask, photos, tmp_path):  # noqa: F811
    info = tmp_path / "dualpix-9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dualpix\nVersion: 9.9\n")
    path = os.pathsep.join([str(tmp_path), HERE["PYTHONPATH"]])
    with one_more(bench, dask.address, {"PYTHONPATH": path}, tmp_path):
        bench.await_workers(dask.address, 3)
        with pytest.raises(InputError, match=f"^the worker tcp://.* has dualpix 9.9, this machine has {version()}: "):
            dualpix.batch("photos", "out", scheduler=dask.address)
        assert not Path("out").exists()


def test_a_worker_that_comes_later_with_other_code_is_refused(dask, monkeypatch):
    monkeypatch.setattr(cluster, "_check_versions", lambda client: None)
    monkeypatch.setattr(cluster, "code_digest", lambda compiled: "0123")
    with pytest.raises(InputError, match=r"^a worker has dualpix .* with other code \(\w+, here 0123\), this machine"):
        list(Cluster(dask.address).run([Where()]))


# ---- benchmarks/cluster.py -----------------------------------------------------------------------


def test_the_benchmark_sees_the_cost_of_an_engine(bench, tmp_path):
    found = bench.pace(Here(), 3, 0.01)
    assert 0.01 <= found.first < found.whole


def test_the_benchmark_sees_the_cost_of_checks(bench, tmp_path):
    assert bench.cost_of_check(tmp_path, 10).seconds > 0
