"""What is left after kills, on a full disk, and with two writers. All figures by one command:

    python benchmarks/faults.py [--kills 100] [--writers 200] [--only evaluate]

It kills `disparity`, `evaluate` and `batch` at random moments, in turn by SIGKILL, SIGTERM and SIGINT. Half of the
moments are soon after the first temporary file has appeared. Then it lets every call that changes a file fail, one
after the other: the disk is full, or permission is denied. For every kind of fault it prints:

    tries   how often
    strays  files that must not be there; after SIGKILL, when the same command has run once more
    torn    outputs that are not whole, or outputs of which only some are new
    codes   wrong exit codes (a signal gives 128 and its number, a fault 2), and messages that are not one line
    worst   the longest time from the signal to the end, s

The exit status is 1 if a figure is not as it must be: all 0, and at most 1 s. A command that takes longer is described:
what each of its threads does, and the load of the machine. Linux only: it looks into /proc.
"""

import argparse
import errno
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dualpix import cli
from dualpix.ending import remove_leftovers
from dualpix.io.parts import is_part

COMMAND = (sys.executable, "-m", "dualpix")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SECONDS = 1.0  # from a signal to the end, at most
SCENES = 3


@dataclass
class Tally:
    """The figures of one kind of fault."""

    name: str
    tries: int = 0
    strays: int = 0
    torn: int = 0
    codes: int = 0
    worst: float = 0.0
    notes: list[str] = field(default_factory=list)

    def is_good(self) -> bool:
        return not (self.strays or self.torn or self.codes) and self.worst <= SECONDS and self.tries > 0

    def __str__(self) -> str:
        worst = f"{self.worst:6.2f}" if self.worst else "     -"
        return f"{self.name:34} {self.tries:5} {self.strays:6} {self.torn:5} {self.codes:5} {worst}"


# ---- commands, and what they must leave ----------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A command that writes into the folder `out`."""

    name: str
    arguments: str

    def command(self, out: Path) -> list[str]:
        return [each.replace("OUT", str(out)) for each in self.arguments.split()]


def cases(data: Path) -> list[Case]:
    first = data / "000"
    return [
        Case(
            "disparity",
            f"disparity {first}/l.png {first}/r.png -o OUT/map.tiff --preview OUT/map.png --confidence OUT/sure.tiff "
            "--quiet --force",
        ),
        Case(
            "evaluate",
            f"evaluate {data} --dataset simulated --csv OUT/scores.csv --report OUT/page.html --cache OUT/cache "
            "--quiet --force",
        ),
        Case("batch", f"batch {data} -o OUT/maps --preview --jobs 2 --quiet"),
    ]


def files(folder: Path) -> dict[str, Path]:
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if not path.is_dir()}


def is_whole(path: Path, good: Path) -> bool:
    """Whether an output is what an undisturbed run writes, except for its timings."""
    if path.suffix == ".json":
        with suppress(ValueError):
            return json.loads(path.read_bytes()).keys() == json.loads(good.read_bytes()).keys()
        return False
    if path.suffix == ".npz":
        with suppress(Exception), np.load(path) as found, np.load(good) as known:
            return np.array_equal(found["disparity"], known["disparity"], equal_nan=True)
        return False
    if path.suffix in (".csv", ".jsonl", ".html"):
        ours, known = path.read_bytes().splitlines(), good.read_bytes().splitlines()
        return path.suffix == ".jsonl" or (len(ours), ours[-1][:7]) == (len(known), known[-1][:7])
    return path.read_bytes() == good.read_bytes()


def examine(out: Path, good: Path, tally: Tally) -> None:
    """Count files that must not be there, and outputs that are not whole."""
    found, known = files(out), files(good)
    for name, path in found.items():
        if name not in known:
            tally.strays += 1
            tally.notes.append(f"stray {name}")
        elif not is_whole(path, known[name]):
            tally.torn += 1
            tally.notes.append(f"torn {name}")


# ---- kills ---------------------------------------------------------------------------------------


def killed(case: Case, out: Path, number: int, after: float, when_writing: bool) -> tuple[int, float, str]:
    """Run a command and send it a signal. Returns the exit code, the seconds to the end, and what it said."""
    process = subprocess.Popen(
        [*COMMAND, *case.command(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    while process.poll() is None and not has_begun(process.pid):
        time.sleep(0.001)
    start = time.monotonic()
    while process.poll() is None:
        writes = when_writing and any(is_part(path.name) for path in out.rglob(".*"))
        if writes:
            time.sleep(random.uniform(0, 0.02))
        if writes or time.monotonic() - start > (60 if when_writing else after):
            break
        time.sleep(0.001)
    start = time.monotonic()
    with suppress(ProcessLookupError):
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as a terminal does
        else:
            process.send_signal(number)
    try:
        code = process.wait(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        print(f"  {case.name} goes on: {activity(process.pid)}", file=sys.stderr, flush=True)
        code = process.wait(timeout=60)
    seconds = time.monotonic() - start
    assert process.stderr is not None
    with process.stderr:
        os.set_blocking(process.stderr.fileno(), False)  # processes that live a little longer may have it open
        return code, seconds, (process.stderr.read() or b"").decode()


def activity(process: int) -> str:
    """The load of the machine, and what the threads of a process do: their states, and where the system has them."""
    threads = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):
            state = (thread / "stat").read_text().rpartition(")")[2].split()[0]
            threads.append(f"{state} {(thread / 'wchan').read_text()}")
    return f"load {os.getloadavg()[0]:.1f}, threads {', '.join(threads)}"


def has_begun(process: int) -> bool:
    """Whether the command handles SIGTERM. Before that Python is starting, whose answers to signals are its own."""
    with suppress(OSError):
        caught = re.findall(r"SigCgt:\s*(\w+)", Path(f"/proc/{process}/status").read_text())
        return bool(int(caught[0], 16) >> (signal.SIGTERM - 1) & 1)
    return True


def kills(case: Case, count: int, place: Path) -> list[Tally]:
    """Kill a command `count` times. One figure for each signal."""
    good = place / f"{case.name}-good"
    good.mkdir()
    start = time.monotonic()
    subprocess.run([*COMMAND, *case.command(good)], check=True)
    whole = time.monotonic() - start
    tallies = {number: Tally(f"{case.name}, {signal.Signals(number).name}") for number in SIGNALS}
    for each in range(count):
        number, out = SIGNALS[each % len(SIGNALS)], place / f"{case.name}-{each}"
        tally = tallies[number]
        out.mkdir()
        code, seconds, said = killed(case, out, number, random.uniform(0, whole), each // len(SIGNALS) % 2 == 0)
        tally.tries += 1
        tally.worst = max(tally.worst, seconds)
        expected = {0, -number if number == signal.SIGKILL else 128 + number}
        if code not in expected or (code > 0 and (said.count("\n") != 1 or not said.startswith("error: "))):
            tally.codes += 1
            tally.notes.append(f"code {code}: {said}")
        if number == signal.SIGKILL:
            again = subprocess.run([*COMMAND, *case.command(out)], check=False, capture_output=True, text=True)
            if again.returncode:
                tally.codes += 1
                tally.notes.append(f"again {again.returncode}: {again.stderr}")
            tally.torn += len(files(good).keys() - files(out).keys())
        examine(out, good, tally)
        shutil.rmtree(out, ignore_errors=True)
    return list(tallies.values())


# ---- calls that fail -----------------------------------------------------------------------------

CHANGES = {"os.link", "os.rename", "os.mkdir", "os.remove", "os.chmod", "os.chown", "os.rmdir"}
_failing: Callable[[str], None] | None = None


def _watch(event: str, details: tuple[object, ...]) -> None:
    if _failing is None or (event != "open" and event not in CHANGES):
        return
    if event == "open" and not (isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)):
        return
    if isinstance(details[0], str | bytes | os.PathLike):
        _failing(os.fsdecode(details[0]))


@contextmanager
def faults(folder: Path, first: int, last: float, code: int) -> Iterator[list[str]]:
    """Let calls number `first` to `last` fail that change something in a folder. Yields the calls."""
    global _failing
    calls: list[str] = []
    sync = os.fsync

    def fail(path: str) -> None:
        if str(folder) in path:
            calls.append(path)
            if first <= len(calls) <= last:
                raise OSError(code, os.strerror(code), path)

    def failing_sync(file: int) -> None:
        fail(f"{folder} fsync")
        sync(file)

    _failing, os.fsync = fail, failing_sync
    try:
        yield calls
    finally:
        _failing, os.fsync = None, sync


def content(folder: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in files(folder).items()}


def run_here(case: Case, out: Path) -> tuple[int, str]:
    """Run a command in this process. What the end of the process would remove is removed."""
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        code = cli.main(case.command(out))
    remove_leftovers()
    return code, said.getvalue()


def judge(tally: Tally, code: int, said: str, before: dict[str, bytes], out: Path, good: Path) -> None:
    """After a failure everything must be as before, with one line about it; after success all must be whole."""
    after = content(out)
    tally.tries += 1
    if code not in (0, 2) or (code and (said.count("\n") != 1 or "internal" in said)):
        tally.codes += 1
        tally.notes.append(f"code {code}: {said}")
    tally.strays += sum(name not in files(good) for name in after)
    if code == 0:
        known = files(good)
        tally.torn += sum(name in known and not is_whole(path, known[name]) for name, path in files(out).items())
    elif after != before:
        tally.torn += 1
        tally.notes.append(f"changed: {sorted(after)} instead of {sorted(before)}: {said}")


def every_call_fails(case: Case, place: Path, code: int, existing: bool) -> Tally:
    """Run a command again and again. Each time the next call that changes something fails."""
    words = f"{'replacing' if existing else 'new'}, {errno.errorcode[code]} at call n"
    tally, good = Tally(f"{case.name}, {words}"), place / f"{case.name}-good-{words}"
    good.mkdir()
    run_here(case, good)
    number, calls = 0, ["?"]
    while number < len(calls):
        number += 1
        out = place / f"{case.name}-{number}"
        if existing:
            shutil.copytree(good, out)
            (out / "map.tiff").write_bytes(b"old")
        else:
            out.mkdir()
        before = content(out)
        with faults(out, number, number, code) as calls:
            got, said = run_here(case, out)
        judge(tally, got, said, before, out, good)
        shutil.rmtree(out)
    return tally


def nothing_is_writable(case: Case, place: Path, inside: str, code: int, name: str) -> Tally:
    """Every call that changes something in a folder fails."""
    tally, good, out = Tally(name), place / f"good {name}", place / f"out {name}"
    for folder in (good, out):
        folder.mkdir()
    run_here(case, good)
    (out / inside).mkdir(exist_ok=True)
    before = content(out)
    with faults(out / inside, 1, float("inf"), code):
        got, said = run_here(case, out)
    judge(tally, got, said, before, out, good)
    if got != 2:
        tally.codes += 1
        tally.notes.append(f"code {got} instead of 2: {said}")
    return tally


def short_files(case: Case, place: Path) -> Tally:
    """No file may be longer than n bytes, as on a disk that becomes full in the middle of it."""
    tally, good = Tally(f"{case.name}, full after n bytes"), place / f"{case.name}-good-bytes"
    good.mkdir()
    run_here(case, good)
    longest = max(path.stat().st_size for path in files(good).values())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (0, 1, 100, 4096, longest // 2, longest - 1):
        out = place / f"{case.name}-{most}"
        out.mkdir()
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            got, said = run_here(case, out)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        judge(tally, got, said, {}, out, good)
    return tally


# ---- two writers, and a strange clock ------------------------------------------------------------

WRITER = """
import sys
from dualpix.errors import OutputError
from dualpix.io import OutputSet
for line in sys.stdin:
    paths = [f"{line.strip()}.{name}" for name in (("a", "b") if int(line) % 2 else (sys.argv[1], "b"))]
    try:
        with OutputSet(paths) as outputs:
            for path in paths:
                outputs.write(path, sys.argv[1].encode() * 1000)
        print("won", flush=True)
    except OutputError as error:
        print("exists" if "exists already" in str(error) else error, flush=True)
"""


def two_writers(rounds: int, place: Path) -> Tally:
    """Two processes write outputs of the same names at the same time, all or some of them the same."""
    tally, out = Tally("two writers"), place / "writers"
    out.mkdir()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": out}
    writers = {name: subprocess.Popen([sys.executable, "-c", WRITER, name], **pipes) for name in ("x", "y")}
    for number in range(rounds):
        for writer in writers.values():
            writer.stdin.write(f"{number}\n")
            writer.stdin.flush()
        answers = {name: writer.stdout.readline().strip() for name, writer in writers.items()}
        tally.tries += 1
        if sorted(answers.values()) != ["exists", "won"]:
            tally.codes += 1
            tally.notes.append(str(answers))
        winner = next((name for name, answer in answers.items() if answer == "won"), "")
        found = content(out)
        tally.strays += len(found) != 2
        tally.torn += any(value != winner.encode() * 1000 for value in found.values())
        for name in found:
            (out / name).unlink()
    for writer in writers.values():
        writer.communicate()
    return tally


def clock_goes_back(case: Case, place: Path) -> Tally:
    """Every look at the clock tells an earlier time."""
    tally, good, out, clock = Tally(f"{case.name}, clock going back"), place / "clock-good", place / "clock", time.time
    good.mkdir()
    out.mkdir()
    run_here(case, good)
    now = [clock()]

    def back() -> float:
        now[0] -= 3600
        return now[0]

    time.time = back
    try:
        for _ in range(2):
            got, said = run_here(case, out)
            judge(tally, got, said, {}, out, good)
            tally.codes += got != 0
    finally:
        time.time = clock
    return tally


# ---- all of it -----------------------------------------------------------------------------------


def make_scenes(folder: Path, count: int, size: str) -> Path:
    """Render scenes, and return their folder."""
    arguments = ["scenes", "-o", str(folder), "--count", str(count), "--size", size, "--quiet"]
    subprocess.run([*COMMAND, *arguments], check=True)
    return folder


def run_all(
    count: int,
    rounds: int,
    place: Path,
    codes: tuple[int, ...] = (errno.ENOSPC, errno.EACCES),
    only: str | None = None,
) -> Iterator[Tally]:
    """Yield all figures, kind by kind; or those of the kills of one command."""
    small = make_scenes(place / "small", 1, "96x72")
    if count:
        for case in cases(make_scenes(place / "scenes", SCENES, "640x448")):
            if only in (None, case.name):
                yield from kills(case, count, place)
    if only:
        return
    disparity, evaluate, batch = cases(small)
    for code in codes:
        for existing in (False, True):
            yield every_call_fails(disparity, place, code, existing)
    yield short_files(disparity, place)
    yield nothing_is_writable(disparity, place, "", errno.EACCES, "disparity, folder not writable")
    yield nothing_is_writable(evaluate, place, "cache", errno.EROFS, "evaluate, read-only cache")
    yield two_writers(rounds, place)
    yield clock_goes_back(batch, place)


def main() -> int:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="kills of each command (default 100)")
    parser.add_argument("--writers", type=int, default=200, help="rounds of two writers (default 200)")
    parser.add_argument("--only", choices=["disparity", "evaluate", "batch"], help="only the kills of this command")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments (default 0)")
    args = parser.parse_args()
    random.seed(args.seed)
    good, count = True, 0
    print(f"{'':34} {'tries':>5} {'strays':>6} {'torn':>5} {'codes':>5} {'worst':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for tally in run_all(args.kills, args.writers, Path(folder), only=args.only):
            print(tally, flush=True)
            for note in tally.notes[:5]:
                print(f"  {note.strip()}", file=sys.stderr)
            good, count = good and tally.is_good(), count + 1
    return 0 if good and count else 1


sys.addaudithook(_watch)

if __name__ == "__main__":
    sys.exit(main())
