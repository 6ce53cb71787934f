"""dualpix batch: its rate against a shell loop, and what is left after many kills.

    python benchmarks/batch.py rate DATA --pairs 500 --loop 100
    python benchmarks/batch.py kill DATA --pairs 900 --kills 50 --every 2

DATA is a folder with pairs, such as r6ii. More pairs are made from them by cropping and by noise, so that no two are
the same. `rate` prints captures per second of the batch and of a shell loop over `dualpix disparity`. `kill` ends a
random process of the batch with SIGKILL again and again. It starts the batch again if its main process was hit. Then it
compares the outputs with those of an undisturbed run. Linux only: it finds the processes in /proc.
"""

import argparse
import json
import os
import random
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from dualpix.batches.inputs import find_shots
from dualpix.io import read_pair

CROP = 32  # px, the most that is cut off
NOISE = 1.0  # STD, on a scale of 0 to 255
COMMAND = (sys.executable, "-m", "dualpix")
# What differs between two runs of the same capture.
OF_THE_RUN = ("timings", "threads", "outputs")


def make_pairs(data: Path, folder: Path, count: int) -> None:
    """Write `count` pairs, NNNN_left.png and NNNN_right.png, made from those in `data`."""
    shots = find_shots([data]).shots
    folder.mkdir()
    for number in range(count):
        rng = np.random.default_rng(number)
        shot = shots[number % len(shots)]
        pair = read_pair(shot.left, shot.right)
        top, left = rng.integers(0, CROP + 1, 2)
        for side, view in (("left", pair.left), ("right", pair.right)):
            height, width = view.shape[0] - CROP, view.shape[1] - CROP
            cut = view[top : top + height, left : left + width].astype(np.float32)
            noisy = np.clip(np.rint(cut + rng.normal(0, NOISE, cut.shape)), 0, 255).astype(np.uint8)
            bgr = noisy if noisy.ndim == 2 else cv2.cvtColor(noisy, cv2.COLOR_RGB2BGR)
            cv2.imwrite(str(folder / f"{number:04d}_{side}.png"), bgr, [cv2.IMWRITE_PNG_COMPRESSION, 1])


def batch_command(pairs: Path, out: Path) -> list[str]:
    return [*COMMAND, "batch", str(pairs), "-o", str(out), "--quiet"]


# ---- rate ----------------------------------------------------------------------------------------


class Cost(NamedTuple):
    """What a capture costs: seconds on the clock, and of processors. Other programs lengthen the former above all."""

    seconds: float
    processors: float


def cost(command: list[str], captures: int, text: str = "") -> Cost:
    """The cost per capture of a command that makes that many."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, input=text, text=True, check=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(seconds / captures, used / captures)


def costs(pairs: Path, folder: Path, loop: int) -> tuple[Cost, Cost]:
    """The cost of the batch over all pairs, and that of a shell loop over the first `loop` of them."""
    lefts = sorted(pairs.glob("*_left.png"))
    (folder / "looped").mkdir()
    calls = []
    for left in lefts[:loop]:
        right = left.with_name(left.name.replace("_left", "_right"))
        out = folder / "looped" / f"{left.stem}.tiff"
        calls.append(shlex.join([*COMMAND, "disparity", str(left), str(right), "-o", str(out), "--quiet"]))
    looped = cost(["sh", "-e"], len(calls), "\n".join(calls))
    return cost(batch_command(pairs, folder / "batched"), len(lefts)), looped


# ---- kills ---------------------------------------------------------------------------------------


class Kills(NamedTuple):
    """What was killed, and what is wrong in the end, as sentences. Nothing should be."""

    main: int
    workers: int
    starts: int
    wrong: list[str]


def kill_test(pairs: Path, folder: Path, kills: int, every: float, seed: int = 0) -> Kills:
    """Run a batch while random processes of it are killed. Compare it with an undisturbed run.

    Between two kills at least one capture ends, and up to `every` seconds pass.
    """
    calm, out = folder / "calm", folder / "killed"
    subprocess.run(batch_command(pairs, calm), check=True)
    chance = random.Random(seed)
    seen: dict[Path, tuple[int, int]] = {}  # sidecars of finished captures: their inode and time
    main = workers = 0
    starts, ended = 1, 0
    running = subprocess.Popen(batch_command(pairs, out), stderr=subprocess.DEVNULL)
    while main + workers < kills and running.poll() is None:
        ended = len(seen)
        while len(note_finished(out, seen)) == ended and running.poll() is None:
            time.sleep(0.02)
        time.sleep(every * chance.random())
        if running.poll() is not None:
            break  # every capture is done
        victim = chance.choice([running.pid, *children(running.pid)])
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            main, workers = main + (victim == running.pid), workers + (victim != running.pid)
        if victim == running.pid:
            running.wait()
            note_finished(out, seen)
            running, starts = subprocess.Popen(batch_command(pairs, out), stderr=subprocess.DEVNULL), starts + 1
    while running.wait() != 0 and starts < kills + 5:
        running, starts = subprocess.Popen(batch_command(pairs, out), stderr=subprocess.DEVNULL), starts + 1
    wrong = [f"{path.name} was done again" for path, known in seen.items() if identity(path) != known]
    if main + workers < kills:
        wrong.append(f"the batch ended after {main + workers} of {kills} kills: take more pairs, or a shorter --every")
    return Kills(main, workers, starts, wrong + differences(calm, out))


def note_finished(out: Path, seen: dict[Path, tuple[int, int]]) -> dict[Path, tuple[int, int]]:
    """Add the sidecars that are there now. A sidecar is the last file of a capture."""
    for path in out.rglob("*_left.json"):
        if path not in seen:
            with suppress(FileNotFoundError):
                seen[path] = identity(path)
    return seen


def identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def children(pid: int) -> list[int]:
    """The processes that a process has started, in any of its threads."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            found += map(int, file.read_text().split())
    return found


def differences(calm: Path, out: Path) -> list[str]:
    """How the outputs of two runs differ, as sentences."""
    files, others = ({path.relative_to(top) for path in top.rglob("*") if path.is_file()} for top in (calm, out))
    wrong = [f"{path} is missing" for path in files - others] + [f"{path} is stray" for path in others - files]
    for path in sorted(files & others):
        if path.suffix == ".tiff" and (calm / path).read_bytes() != (out / path).read_bytes():
            wrong.append(f"{path} has other bytes")
        if path.name.endswith("_left.json") and without_run(calm / path) != without_run(out / path):
            wrong.append(f"{path} tells something else")
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    names = [path.with_suffix("").as_posix() for path in files if path.suffix == ".tiff"]
    if sorted(line["name"] for line in lines) != sorted(names):
        wrong.append("results.jsonl does not list every capture once")
    return wrong + [f"{line['name']} failed: {line['error']}" for line in lines if line["status"] != "done"]


def without_run(path: Path) -> dict[str, object]:
    return {name: value for name, value in json.loads(path.read_text()).items() if name not in OF_THE_RUN}


# ---- the script ----------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("rate", "kill"))
    parser.add_argument("data", type=Path)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--loop", type=int, help="pairs of the shell loop; by default all")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--every", type=float, default=2.0, help="most seconds between two kills")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_pairs(args.data, folder / "pairs", args.pairs)
        if args.what == "rate":
            print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before it begins")
            batch, loop = costs(folder / "pairs", folder, args.loop or args.pairs)
            for name, each in (("batch", batch), ("shell loop", loop)):
                print(f"{name:10s} {1 / each.seconds:.2f} captures/s, {each.processors:.2f} s of processors a capture")
            print(f"the batch has {loop.seconds / batch.seconds:.2f} times the rate of the shell loop")
            return
        done = kill_test(folder / "pairs", folder, args.kills, args.every)
        print(f"killed {done.main} times the main process, {done.workers} times a worker; {done.starts} starts")
        print("\n".join(done.wrong) or f"{args.pairs} captures: all once, same bytes, none done again, no stray files")
        sys.exit(bool(done.wrong))


if __name__ == "__main__":
    main()
