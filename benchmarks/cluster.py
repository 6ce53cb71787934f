"""dualpix batch --scheduler: the same bytes as here, also if workers are killed, and what the engine costs.

    python benchmarks/cluster.py same DATA --pairs 500 --kills 2
    python benchmarks/cluster.py overhead --captures 120
    python benchmarks/cluster.py rates --captures 100000

DATA is a folder with pairs, such as r6ii; more are made from them as for benchmarks/batch.py. `same` makes their maps
without Dask, with --scheduler local, and on a scheduler and two workers that are processes of their own, and compares
all files. A worker is killed with SIGKILL while it runs, several times. `overhead` compares the runners with captures
that sleep for --seconds. `rates` measures what limits a large cluster. Linux only: it finds the processes in /proc.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from batch import batch_command, children, differences, make_pairs

import dualpix
from dualpix.batches import cluster as engine
from dualpix.batches.cluster import Cluster
from dualpix.batches.process import peak_megabytes
from dualpix.batches.processes import Processes
from dualpix.batches.runner import Runner

DASK = (sys.executable, "-m", "dask")
WORKERS = 2
PATIENCE = 60.0  # s until a scheduler has its workers


# ---- a cluster of processes ----------------------------------------------------------------------


class Started(NamedTuple):
    """A scheduler, and the processes that start workers, watch them and start them again."""

    address: str
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def started(folder: Path, workers: int = WORKERS, env: dict[str, str] | None = None) -> Iterator[Started]:
    """A scheduler with workers on this machine, at a free port, while the block runs."""
    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    scheduler = subprocess.Popen(
        [*DASK, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", *common], **quiet
    )
    running = [scheduler]
    try:
        one = [*DASK, "worker", *common, "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
        running += [subprocess.Popen(one, env={**os.environ, **(env or {})}, **quiet) for _ in range(workers)]
        yield Started(address_in(file), running[1:])
    finally:
        for each in reversed(running):  # workers end with the process that watches them
            each.kill()
            each.wait()


def address_in(file: Path) -> str:
    """The address in a file that a scheduler writes when it is ready."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise TimeoutError("the scheduler does not start")


def await_workers(address: str, count: int) -> None:
    """Wait until a scheduler has workers."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=PATIENCE)


# ---- same bytes ----------------------------------------------------------------------------------


def run_and_kill(command: list[str], victims: list[int], out: Path, kills: int) -> int:
    """Run a command while a worker is killed so many times. Between two kills captures end. Returns the kills.

    `victims` are the processes that watch the workers; without any they are those of the command.
    """
    chance, done = random.Random(0), 0
    said = out.with_suffix(".txt")
    with said.open("wb") as file:
        running = subprocess.Popen(command, stderr=file)
    while done < kills and running.poll() is None:
        before = len(list(out.rglob("*_left.json")))
        while len(list(out.rglob("*_left.json"))) < before + 2 and running.poll() is None:
            time.sleep(0.02)
        found = [child for pid in victims or [running.pid] for child in children(pid) if is_worker(child)]
        if found and running.poll() is None:
            with suppress(ProcessLookupError):  # it has just ended
                os.kill(chance.choice(found), signal.SIGKILL)
                done += 1
    if running.wait() != 0:
        raise RuntimeError(f"{command} ended with {running.returncode}: {said.read_text()}")
    if done < kills:
        raise RuntimeError(f"{command} ended after {done} of {kills} kills: give it more pairs")
    return done


def is_worker(pid: int) -> bool:
    """Whether a process was started by multiprocessing to work, and is none of its helpers."""
    with suppress(OSError):
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        return b"spawn_main" in line and b"resource_tracker" not in line
    return False


def same_test(pairs: Path, folder: Path, kills: int) -> dict[str, list[str]]:
    """How the files differ from those of a run without Dask, by the kind of cluster. There should be nothing."""
    subprocess.run(batch_command(pairs, folder / "calm"), check=True)
    wrong = {}
    local = [*batch_command(pairs, folder / "local"), "--scheduler", "local", "--jobs", str(WORKERS)]
    done = run_and_kill(local, [], folder / "local", kills)
    wrong[f"--scheduler local, {done} workers killed"] = differences(folder / "calm", folder / "local")
    with started(folder) as cluster:
        await_workers(cluster.address, WORKERS)
        command = [*batch_command(pairs, folder / "tcp"), "--scheduler", cluster.address]
        done = run_and_kill(command, [each.pid for each in cluster.workers], folder / "tcp", kills)
        wrong[f"dask scheduler and {WORKERS} dask worker, {done} workers killed"] = differences(
            folder / "calm", folder / "tcp"
        )
    return wrong


# ---- what the engine costs -----------------------------------------------------------------------


@dataclass(frozen=True)
class Sleep:
    """A capture that takes a known time."""

    seconds: float

    def run(self) -> float:
        time.sleep(self.seconds)
        return self.seconds

    def failed(self, why: str) -> float:
        raise RuntimeError(why)

    def gigabytes(self) -> float:
        return 0.0


class Pace(NamedTuple):
    """How long a runner takes until the first answer, and in all, s."""

    first: float
    whole: float


def pace(runner: Runner, captures: int, seconds: float) -> Pace:
    """Run captures that sleep."""
    start, first = time.perf_counter(), 0.0
    for _ in runner.run(Sleep(seconds) for _ in range(captures)):
        first = first or time.perf_counter() - start
    return Pace(first, time.perf_counter() - start)


class Check(NamedTuple):
    """What it costs the client to check a batch: seconds and megabytes a capture."""

    seconds: float
    megabytes: float


def cost_of_check(folder: Path, captures: int) -> Check:
    """Check a manifest of captures. Their files need not exist for that."""
    rows = (
        f"memory://bucket/{number:07d}_left.png,memory://bucket/{number:07d}_right.png" for number in range(captures)
    )
    manifest = folder / "shots.csv"
    manifest.write_text("\n".join(("left,right", *rows)))
    before, start = peak_megabytes(), time.perf_counter()
    dualpix.batch(manifest, folder / "maps")
    return Check((time.perf_counter() - start) / captures, (peak_megabytes() - before) / captures)


# ---- the script ----------------------------------------------------------------------------------


def show_overhead(captures: int, seconds: float) -> None:
    ideal = seconds * -(-captures // WORKERS)
    print(f"{captures} captures of {seconds:g} s in {WORKERS} processes, ideally {ideal:.1f} s, load {load():.1f}")
    here = pace(Processes(WORKERS), captures, seconds)
    dask = pace(Cluster("local", WORKERS), captures, seconds)
    for name, each in (("processes", here), ("Dask", dask)):
        print(f"{name:9s} {each.whole:7.2f} s, {each.first - seconds:5.2f} s until the first capture begins")
    lasting = (dask.whole - dask.first) / (here.whole - here.first) - 1
    print(f"the engine costs {100 * (dask.whole / here.whole - 1):.1f} % in all, {100 * lasting:.1f} % once it runs")


def show_rates(captures: int) -> None:
    print(f"load {load():.1f}")
    with tempfile.TemporaryDirectory() as place:
        check = cost_of_check(Path(place), captures)
    print(f"check of {captures} captures: {check.seconds * captures:.1f} s, {check.megabytes * captures:.0f} MB")
    whole = pace(Cluster("local", WORKERS), captures, 0.0)
    print(f"captures that take no time, in chunks of up to {engine.LARGEST}: {rate(captures, whole):.0f}/s")
    engine.LARGEST, engine.AHEAD, few = 1, 100, captures // 20
    found = rate(few, pace(Cluster("local", WORKERS), few, 0.0))
    print(f"chunks of one such capture, {engine.AHEAD * WORKERS} at a time: {found:.0f}/s")


def rate(captures: int, found: Pace) -> float:
    return captures / (found.whole - found.first)


def load() -> float:
    return os.getloadavg()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("same", "overhead", "rates"))
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--captures", type=int, help="by default 120 of overhead, 100000 of rates")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a capture of overhead sleeps")
    args = parser.parse_args()
    if args.what == "overhead":
        show_overhead(args.captures or 120, args.seconds)
    elif args.what == "rates":
        show_rates(args.captures or 100_000)
    else:
        if args.data is None:
            parser.error("same needs DATA, a folder with pairs")
        with tempfile.TemporaryDirectory() as place:
            make_pairs(args.data, Path(place) / "pairs", args.pairs)
            wrong = same_test(Path(place) / "pairs", Path(place), args.kills)
        for kind, found in wrong.items():
            print(f"{kind}:", "\n".join(found) or f"{args.pairs} captures, all done, same bytes, no stray files")
        sys.exit(any(wrong.values()))


if __name__ == "__main__":
    import cluster  # so that other processes find `Sleep` by its name

    cluster.main()
