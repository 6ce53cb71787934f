"""How commands of the documentation run in the tests: as printed, but for REPLACED, some with stand-ins."""

import importlib.util
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import trimesh
from distributed import LocalCluster

import docs_project
from app_client import answered, started
from docs_pages import ROOT
from dualpix.cli.bench import SECTIONS
from dualpix.cli.main import group

PATIENCE = 60  # s until a server answers


class Replaced(NamedTuple):
    pattern: str
    by: str
    why: str


PARTS = "".join(f" --only {part}" for part in SECTIONS if part != "memory")

# What the tests change in commands and in blocks of Python, before they run. All else stays as it is printed.
REPLACED = [
    Replaced(r"--count [56]0", "--count 1 --size 96x72", "a scene takes a second"),
    Replaced(r"--repeat 5", f"--repeat 1 --size 0.02{PARTS}", "takes minutes; test_bench.py has the memory"),
    Replaced(r"--seconds 300", "--inputs 20", "twenty files are enough to see it run"),
    Replaced(r"\b(DIR|DATA)\b", "data", "a folder of the reader"),
    Replaced(r"^pip install", "pip --python {python} install", "an environment of its own"),
    Replaced(r"\[cluster,s3\]", "[cluster{s3}]", "s3 brings 80 packages; it is here if the extra test-s3 is"),
    Replaced(r"dualpix-0\.1\.0-\S+\.whl", "{wheel}", "that of this Python"),
    Replaced(r"/shared/", "{here}/", "a folder that all machines see"),
    Replaced(r"s3://shots", "{store}", "moto's store, or the disk if moto is not installed"),
    Replaced(r"http://store:9000", "{endpoint}", "moto's server"),
    Replaced(r"--port 8000", "--port 0", "8000 may be taken"),
    Replaced(r"dask scheduler --scheduler-file", "dask scheduler {second} --scheduler-file", "8786 may be taken"),
    Replaced(r"\$\(hostname\):8786", "127.0.0.1:{second_port}", "8786 may be taken"),
    Replaced(r"^dask scheduler( --port 8786)?$", "dask scheduler {first}", "8786 may be taken"),
    Replaced(r"(node1|10\.0\.0\.5):8786", "127.0.0.1:{first_port}", "this machine is all there is"),
    Replaced(r"--scheduler local", "--scheduler local --jobs 1", "one process is enough to see it run"),
    Replaced(r"--nworkers (auto|8|32)", "--nworkers 1 --no-nanny", "the same"),
    Replaced(r"--array=1-30", "--array=1-1", "the same"),
    Replaced(r"\b(cores|processes)=32", r"\1=1", "the same"),
    Replaced(r"jobs=30", "jobs=1", "the same"),
    Replaced(r"n_workers=100", "n_workers=1", "the same"),
    Replaced(r"^python benchmarks", f"{sys.executable} {ROOT}/benchmarks", "another folder"),
    Replaced(r"--speed", "--speed --size 64 48", "a small clip"),
    Replaced(r"--size 1280 720", "", "the same"),
    Replaced(r"video\.py$", "video.py --size 64 48 --frames 4 --scenes 1", "the same"),
    Replaced(r"--frames (14|24)", "--frames 3", "the same"),
    Replaced(r"simulated/018", "simulated/000", "the only scene, see above"),
    Replaced(r"-o docs/maps-018.jpg --before old/018.npy", "-o strip.jpg --before simulated/000/d.npy", "no older map"),
    Replaced(r"window=7,14", "window=7,9", "a window of 14 does not fit into a small scene"),
    Replaced(r"--pairs 500 --loop 60", "--pairs 4 --loop 1", "takes minutes"),
    Replaced(r"--pairs 900 --kills 50 --every 2", "--pairs 60 --kills 3 --every 0.05", "the same"),
    Replaced(r"--pairs 500 --kills 2", "--pairs 30 --kills 1", "the same"),
    Replaced(r"--captures 240", "--captures 4 --seconds 0.05", "the same"),
    Replaced(r"cluster\.py rates", "cluster.py rates --captures 200", "the same"),
    Replaced(r"faults\.py$", "faults.py --kills 0 --writers 20", "takes minutes; test_endings.py has the kills"),
    Replaced(r"PYTHONPATH=benchmarks \.venv/bin/python", f"PYTHONPATH=benchmarks {sys.executable}", "runs these tests"),
]


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Shell:
    """Runs the commands of a page in the current folder, some of them in the background."""

    def __init__(self, call, store, environments):
        self.call, self.environments, self.background = call, environments, {}
        ports = {"first": free_port(), "second": free_port()}
        self.names = {f"{name}_port": port for name, port in ports.items()}
        self.names |= {name: f"--host 127.0.0.1 --port {port} --no-dashboard" for name, port in ports.items()}
        endpoint = os.environ.get("AWS_ENDPOINT_URL", "http://store:9000")
        self.names |= {"here": Path.cwd(), "store": store, "endpoint": endpoint}
        self.names |= {"python": environments.python, "wheel": next(Path.cwd().glob("*.whl")).name}
        self.names |= {"s3": ",s3" if importlib.util.find_spec("s3fs") else ""}

    def ended(self):
        """What should still run in the background, but does not."""
        return [shlex.join(words) for words, process in self.background.items() if process.poll() is not None]

    def stop(self):
        for process in reversed(self.background.values()):
            process.kill()
            process.wait()

    def fitted(self, text):
        for each in REPLACED:
            text = re.sub(each.pattern, each.by.format(**self.names), text)
        return text

    def run(self, words, where):
        """Run a command; it must succeed."""
        line = self.fitted(shlex.join(words))
        words = [word for word in shlex.split(line) if word != "&"]
        if words[:2] == ["dualpix", "app"]:
            run_app(words, where)
        elif words[0] == "dualpix":
            self.dualpix(words, where)
        elif words[0] == "dask":
            self.dask(words)
        elif words[0].startswith(docs_project.OWN):
            self.environments.run(line, where)
        else:
            done = subprocess.run(line, shell=True, cwd=cwd_of(words), capture_output=True, text=True)
            assert done.returncode == 0, f"{where}: {line}\n{done.stdout}{done.stderr}"

    def dualpix(self, words, where):
        if f"tcp://127.0.0.1:{self.names['first_port']}" in words:  # a page may leave out how it is started
            self.run(["dask", "scheduler"], where)
            self.run(shlex.split("dask worker tcp://node1:8786 --nthreads 1 --nworkers auto"), where)
        again = ["--force"] if "-o" in words and "--force" in options_of(words[1]) else []
        code, _, err = self.call(*words[1:], *again)
        assert code == 0, f"{where}: {shlex.join(words)}\n{err}"

    def dask(self, words):
        """Start a scheduler or a worker. What runs already is not started again."""
        if tuple(words) not in self.background:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            self.background[tuple(words)] = subprocess.Popen(words, **quiet)
        if words[1] == "scheduler":
            await_port(int(words[words.index("--port") + 1]))


def cwd_of(words):
    return ROOT if words[0].startswith("PYTHONPATH") else None


def options_of(name):
    return {flag for each in group.get_command(None, name).params for flag in (*each.opts, *each.secondary_opts)}


def await_port(port):
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < end, f"nothing listens on port {port}"
            time.sleep(0.05)


def run_app(words, where):
    """Run dualpix app until its page answers and its browser was opened, then end it as a system does."""
    opened = Path("opened")
    opened.unlink(missing_ok=True)
    with started(Path.cwd(), *words[2:]) as (process, address):
        assert b"<title>" in answered(address), where
        end = time.monotonic() + PATIENCE
        while "--no-open" not in words and not (opened.exists() and opened.read_text() == f"{address}\n"):
            assert time.monotonic() < end, f"{where}: no browser was opened"
            time.sleep(0.02)
        process.terminate()
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (128 + signal.SIGTERM, "error: ended by SIGTERM\n"), where
    assert opened.exists() == ("--no-open" not in words), where


# ---- stand-ins -----------------------------------------------------------------------------------

PROGRAMS = {
    "browser": """#!/bin/sh
echo "$1" > opened.part && mv opened.part opened
""",
    "sbatch": f"""#!{sys.executable}
import argparse, pathlib, subprocess
parser = argparse.ArgumentParser()
for option in ("--array", "--cpus-per-task", "--wrap"):
    parser.add_argument(option)
parser.add_argument("script", nargs="?", type=pathlib.Path)
asked = parser.parse_args()
command = asked.wrap or asked.script.read_text()
subprocess.run(["bash", "-n", "-c", command], check=True)
quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
job = subprocess.Popen(["bash", "-c", command], start_new_session=True, **quiet)
with open(pathlib.Path(__file__).with_name("jobs"), "a") as jobs:
    print(job.pid, file=jobs)
print("Submitted batch job", job.pid)
""",
    "scancel": """#!/bin/sh
kill -KILL -- "-$1"
""",
}


def install(folder):
    """Put stand-ins for programs into a folder: a browser that notes what it opens, SLURM that runs jobs at once."""
    folder.mkdir()
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


def end_jobs(folder):
    """End what the stand-in of sbatch has started, if it still runs."""
    jobs = folder / "jobs"
    for job in jobs.read_text().split() if jobs.exists() else ():
        with suppress(ProcessLookupError):
            os.killpg(int(job), signal.SIGKILL)


class KubeCluster:
    """As much of dask-kubernetes as the page uses. A pod is a process here, started as the operator does it."""

    def __init__(self, *, name, image, n_workers, resources, worker_command, env):
        self.scheduler = LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=None)
        self.scheduler_address = self.scheduler.scheduler_address
        own = os.environ | env | {"DASK_SCHEDULER_ADDRESS": self.scheduler_address}
        pods = [[*worker_command, "--name", f"{name}-{number}"] for number in range(n_workers)]
        self.pods = [subprocess.Popen(pod, env=own, stderr=subprocess.DEVNULL) for pod in pods]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pod in self.pods:
            pod.terminate()
            pod.wait()
        self.scheduler.close()


def draw_geometries(clouds):
    """Instead of a window."""
    assert all(len(cloud.vertices) > 100 for cloud in clouds)


MODULES = {
    "dask_kubernetes.operator": SimpleNamespace(KubeCluster=KubeCluster),
    "open3d": SimpleNamespace(
        io=SimpleNamespace(read_point_cloud=trimesh.load),
        visualization=SimpleNamespace(draw_geometries=draw_geometries),
    ),
}


# ---- what is only checked ------------------------------------------------------------------------


@cache
def dry_run(line):
    """make knows the target, and all that it needs. Returns what it says if not."""
    quiet = {"cwd": ROOT, "capture_output": True, "text": True, "env": os.environ | {"MAKEFLAGS": ""}}
    done = subprocess.run(["make", "--dry-run", *shlex.split(line)[1:]], **quiet)
    return done.stderr if done.returncode else "".join(re.findall(".*: Nothing to be done.*", done.stdout))
