"""Signals, kills and faults: commands stop, nothing is left behind, and no output is torn."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from conftest import PLAIN_PASS, textured_pair
from dualpix import OutputError, _core, clips, ending
from dualpix.batches.process import ProcessError, Worker
from dualpix.clips.parts import Parts
from dualpix.ending import uninterrupted
from dualpix.evaluation.cache import read_outcome
from dualpix.io import OutputSet, atomic, encode_png, parts
from dualpix.io.locks import locked
from dualpix.io.parts import Part, is_part, name_beside, remove_dead
from dualpix.io.private import PrivateFolder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and locks of POSIX")

TAPS = np.full(5, 0.2, np.float32)


# ---- kernels -------------------------------------------------------------------------------------


@contextmanager
def interrupted_soon():
    """SIGINT comes in a moment, as by Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest may run where it is ignored
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def semi_global(d, threads):
    left, right = (np.random.default_rng(seed).random(d.shape, np.float32) * 255 for seed in (0, 1))
    _core.sgm(left, right, d, first=0, count=256, taps=TAPS, P1=1, P2=8, threads=threads)


def solved(d, threads):
    noise = np.random.default_rng(0).random((1, *d.shape), np.float32)
    _core.bilateral_solver(
        noise[0] * 9, None, noise, d, luma=0.05, chroma=1, xy=4, lam=100, iterations=10**6, threads=threads
    )


def filled(d, threads):
    """A ring needs little time, and a map of one row has as many rings as pixels."""
    row = np.full((2, 3_000_000), np.nan, np.float32)
    row[0, 0] = d[0, 0] = 1
    try:
        _core.fill_holes(row)
    finally:
        d[-1, -1] = row[-1, -1]


def aggregated(d, threads):
    """So many passes over a map of that size take a while."""
    alpha, beta, A, B = (np.ones_like(d) for _ in range(4))
    weights = np.full((d.shape[0], 4, d.shape[1]), 31 << 3, np.uint8)
    found = np.full_like(d, np.nan)
    settings = PLAIN_PASS | {"messages": _core.Messages.exact, "taus": [0.5] * 400, "threads": threads}
    _core.aggregate(alpha, beta, weights, A, B, minimizer=found, **settings)
    d[:] = found


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("kernel", [semi_global, solved, filled, aggregated])
def test_a_signal_stops_a_kernel(kernel, threads):
    """The last pixel has no result, so the kernel did not run to its end. The next call is as if nothing had been."""
    d = np.full((700, 900), np.nan, np.float32)
    with pytest.raises(KeyboardInterrupt), interrupted_soon():
        kernel(d, threads)
    assert np.isnan(d[-1, -1])
    small = np.zeros((9, 40), np.float32)
    _core.sgm(small, small, d[:9, :40].copy(), first=0, count=4, taps=TAPS, P1=1, P2=8, threads=threads)


def test_a_signal_stops_only_the_kernel_of_the_main_thread():
    d, other = np.full((700, 900), np.nan, np.float32), np.full((500, 600), np.nan, np.float32)
    worker = threading.Thread(target=semi_global, args=(other, 1))
    worker.start()
    with pytest.raises(KeyboardInterrupt), interrupted_soon():
        solved(d, 1)
    worker.join()
    assert np.isnan(d[-1, -1])
    assert np.isfinite(other).all()


def test_what_a_handler_raises_ends_the_kernel():
    class Enough(Exception):
        pass

    def enough(number, frame):
        raise Enough

    before = signal.signal(signal.SIGALRM, enough)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(Enough):
            solved(np.empty((700, 900), np.float32), 2)
    finally:
        signal.signal(signal.SIGALRM, before)


# ---- commands ------------------------------------------------------------------------------------

STUBBORN = """
import signal, time
import dualpix.io
from dualpix.cli import run

def work_on(_):
    print("working", flush=True)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            time.sleep(60)
        except KeyboardInterrupt:  # some libraries do not look at signals, or lose the exception
            pass

signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest may run where it is ignored
dualpix.io.encode_preview = work_on
run()
"""


@pytest.fixture
def views(tmp_path):
    """The folder of two small views."""
    folder = tmp_path / "views"
    folder.mkdir()
    for name, view in zip(("l.png", "r.png"), textured_pair((72, 90), 1.0), strict=True):
        (folder / name).write_bytes(encode_png(view.astype(np.uint8)))
    return folder


@contextmanager
def working(views, out, **options):
    """`dualpix disparity` that has written its map to a temporary file, and does not look at signals."""
    command = [sys.executable, "-c", STUBBORN, "disparity", str(views / "l.png"), str(views / "r.png")]
    command += ["-o", str(out / "map.tiff"), "--preview", str(out / "map.png")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, **options) as child:
        try:
            assert child.stdout.readline() == b"working\n", child.stderr.read()
            assert any(map(is_part, os.listdir(out)))
            yield child
        finally:
            child.kill()


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, b"error: interrupted\n"),
        (signal.SIGTERM, 143, b"error: ended by SIGTERM\n"),
        (signal.SIGHUP, 129, b"error: ended by SIGHUP\n"),
    ],
)
def test_a_command_ends_even_if_it_is_stubborn(views, tmp_path, number, code, said):
    out = tmp_path / "out"
    out.mkdir()
    with working(views, out) as child:
        child.send_signal(number)
        answer = child.communicate(timeout=30)
    assert (child.returncode, *answer) == (code, b"", said)
    assert os.listdir(out) == []


LOST = """
import os, signal, time
import dualpix.io
from dualpix.cli import run

class Signal:
    def __del__(self):  # Python drops exceptions here, and in the finalizers of its import
        signal.raise_signal(signal.SIGINT)

def install(number, handler, install=signal.signal):
    before = install(number, handler)
    if number == signal.SIGTERM and os.environ["WHEN"] == "at once":
        Signal()
    return before

def work_on(_):
    if os.environ["WHEN"] == "later":
        Signal()
    time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest may run where it is ignored
signal.signal = install
dualpix.io.encode_preview = work_on
run()
"""


@pytest.mark.parametrize("when", ["at once", "later"])
def test_a_signal_that_python_drops_ends_the_command_all_the_same(views, tmp_path, when):
    command = [sys.executable, "-c", LOST, "disparity", str(views / "l.png"), str(views / "r.png")]
    command += ["-o", str(tmp_path / "map.tiff"), "--preview", str(tmp_path / "map.png")]
    done = subprocess.run(command, capture_output=True, env={**os.environ, "WHEN": when}, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"error: interrupted\n")
    assert os.listdir(tmp_path) == ["views"]


def test_nohup_is_respected(views, tmp_path):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    out = tmp_path / "out"
    out.mkdir()
    with working(views, out, preexec_fn=ignore) as child:
        child.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(1.5)


def test_the_next_run_clears_what_a_killed_one_left(views, tmp_path, call):
    out = tmp_path / "out"
    out.mkdir()
    with working(views, out) as alive, working(views, out) as dead:
        assert sum(map(is_part, os.listdir(out))) == 2
        dead.kill()
        dead.wait()
        assert call("disparity", views / "l.png", views / "r.png", "-o", out / "new.npy")[0] == 0
        left = set(os.listdir(out)) - {"new.npy", "new.json"}
        assert len(left) == 1, "the part of the living writer stays, that of the dead one goes"
        alive.kill()
        alive.wait()
    remove_dead(str(out))
    assert set(os.listdir(out)) == {"new.npy", "new.json"}


def test_an_error_without_a_file_is_not_about_stdout(call, monkeypatch, views):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("dualpix.batches.capture.make", full)
    monkeypatch.setattr("dualpix.cli.disparity.make", full, raising=False)
    code, _, err = call("disparity", views / "l.png", views / "r.png", "-o", views / "map.npy")
    assert code == 1
    assert "stdout" not in err
    assert "No space left on device" in err


# ---- parts ---------------------------------------------------------------------------------------


def test_only_dead_parts_of_this_machine_are_removed(tmp_path, monkeypatch):
    dead = Path(name_beside(str(tmp_path / "out")))
    dead.write_bytes(b"half")
    folder = Path(name_beside(str(tmp_path / "out")))
    (folder / "c").mkdir(parents=True)
    living = Part(str(tmp_path / "out"))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(parts, "_machine", lambda: "01234567")
        stranger = Path(name_beside(str(tmp_path / "out")))
    stranger.touch()
    os.symlink(stranger, tmp_path / (dead.name[:-9] + "link.part"))
    os.mkfifo(tmp_path / (dead.name[:-9] + "pipe.part"))
    with monkeypatch.context() as share:
        share.setattr(parts, "_is_share", lambda folder: True)
        remove_dead(str(tmp_path))
    assert len(os.listdir(tmp_path)) == 6
    remove_dead(str(tmp_path))
    assert len(os.listdir(tmp_path)) == 4
    assert not dead.exists()
    assert not folder.exists()
    assert os.path.exists(living.path)
    living.close()
    assert not os.path.exists(living.path)


def test_a_part_that_was_taken_for_dead_is_made_again(tmp_path, monkeypatch):
    removed = []

    def lock(file):
        if not removed:
            removed.append(os.listdir(tmp_path)[0])
            (tmp_path / removed[0]).unlink()

    monkeypatch.setattr(parts, "lock", lock)
    part = Part(str(tmp_path / "out"))
    assert os.listdir(tmp_path) == [os.path.basename(part.path)] != removed
    part.close()


def test_a_folder_that_was_taken_for_dead_is_made_again(tmp_path, monkeypatch):
    """Another run removes it before it is opened."""
    removed, mkdir = [], os.mkdir

    def make(path, mode):
        mkdir(path, mode)
        if not removed:
            removed.append(path)
            os.rmdir(path)

    monkeypatch.setattr(os, "mkdir", make)
    part = Part(str(tmp_path / "out"), is_folder=True)
    assert [str(path) for path in tmp_path.iterdir()] == [part.path] != removed
    part.close()


@pytest.mark.parametrize(
    ("line", "share"),
    [
        ("36 35 0:31 / {} rw - nfs4 server:/x rw", True),
        ("36 35 0:31 / {} rw,relatime shared:1 - fuse.sshfs me@host: rw", True),
        ("36 35 8:1 / {} rw - ext4 /dev/sda1 rw", False),
        ("36 35 0:31 / {}/elsewhere rw - nfs4 server:/x rw", False),
    ],
)
def test_network_shares_are_known(tmp_path, monkeypatch, line, share):
    place = tmp_path / "a b\u00e9"
    place.mkdir()
    mounts = "1 0 8:1 / / rw - ext4 /dev/root rw\n" + line.format(str(place).replace(" ", "\\040")) + "\n"
    monkeypatch.setattr(Path, "read_text", lambda self, **_: mounts)
    assert parts._is_share(str(place)) is share


# ---- outputs -------------------------------------------------------------------------------------


def replace_both(folder, content=b"new"):
    paths = [folder / "a", folder / "b"]
    with OutputSet(paths, force=True) as outputs:
        for path in paths:
            outputs.write(path, content)


def test_force_keeps_the_mode(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "a").chmod(0o600)
    modes = []
    with OutputSet([tmp_path / "a"], force=True) as outputs:
        outputs.write(tmp_path / "a", b"secret")
        modes += [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()]
    assert modes == [0o600, 0o600], "the temporary file is as secret"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600
    (tmp_path / "a").chmod(0o464)
    replace_both(tmp_path)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o464


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give files away")
def test_force_keeps_the_owner(tmp_path, monkeypatch):
    (tmp_path / "a").touch()
    os.chown(tmp_path / "a", 12345, 54321)
    replace_both(tmp_path)
    found = (tmp_path / "a").stat()
    assert (found.st_uid, found.st_gid, found.st_size) == (12345, 54321, 3)

    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    replace_both(tmp_path)
    assert (tmp_path / "a").stat().st_uid == os.geteuid()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize(("mode", "kept"), [(0o660, 0o600), (0o664, 0o644), (0o604, 0o604)])
def test_another_group_gets_no_rights(tmp_path, monkeypatch, mode, kept):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    (tmp_path / "a").touch()
    os.chown(tmp_path / "a", -1, 54321)
    (tmp_path / "a").chmod(mode)
    monkeypatch.setattr(os, "chown", refuse)
    replace_both(tmp_path)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == kept


def test_new_files_have_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        replace_both(tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("links", [True, False])
def test_the_second_of_two_writers_fails_and_leaves_nothing(tmp_path, monkeypatch, links):
    """The other writer comes after our last check."""

    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    paths = [tmp_path / "ours", tmp_path / "both"]

    def write():
        with OutputSet(paths) as outputs:
            for path in paths:
                outputs.write(path, b"ours")

    sync = OutputSet._sync

    def other_writer(self):
        sync(self)
        paths[1].write_bytes(b"theirs")

    monkeypatch.setattr(OutputSet, "_sync", other_writer)
    with pytest.raises(OutputError, match="both: exists already"):
        write()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"both": b"theirs"}
    paths[1].unlink()
    monkeypatch.setattr(OutputSet, "_sync", sync)
    write()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"ours": b"ours", "both": b"ours"}


def test_a_folder_takes_the_place_of_a_folder_or_leaves_it(tmp_path, monkeypatch):
    target = tmp_path / "map.zarr"
    for content in ("old", "new"):
        with OutputSet([target], force=True, folders=[target]) as outputs:
            (Path(outputs.temporary(target)) / content).touch()
    assert os.listdir(target) == ["new"]

    def fail(folder):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(atomic, "sync_folder", fail)
    with (
        pytest.raises(OutputError, match="Input/output error"),
        OutputSet([target], force=True, folders=[target]) as outputs,
    ):
        (Path(outputs.temporary(target)) / "newer").touch()
    assert (os.listdir(tmp_path), os.listdir(target)) == (["map.zarr"], ["new"])


REPLACING = """
import os, sys
from dualpix.io import OutputSet

target, place = sys.argv[1], os.replace

def killed(*names):
    if sys.argv[2] == "after":
        place(*names)
    os.kill(os.getpid(), 9)

os.replace = killed
with OutputSet([target], force=True, folders=[target]) as outputs:
    open(os.path.join(outputs.temporary(target), "new"), "w").close()
"""


@pytest.mark.parametrize(("when", "left"), [("before", "old"), ("after", "new")])
def test_a_kill_while_a_folder_is_replaced_loses_nothing(tmp_path, when, left):
    target = tmp_path / "map.zarr"
    target.mkdir()
    (target / "old").touch()
    assert subprocess.run([sys.executable, "-c", REPLACING, target, when], timeout=60).returncode == -signal.SIGKILL
    assert target.exists() == (when == "after")
    with pytest.raises(OutputError, match="exists already"):
        OutputSet([target], folders=[target])
    assert os.listdir(target) == [left]
    remove_dead(str(tmp_path))
    assert os.listdir(tmp_path) == ["map.zarr"]


def test_an_old_folder_of_a_living_writer_stays(tmp_path, monkeypatch):
    target = tmp_path / "map.zarr"
    target.mkdir()
    (target / "old").touch()
    seen = []
    replace = os.replace

    def look(*names):
        parts.put_back(str(target))
        seen.append(target.exists())
        replace(*names)

    monkeypatch.setattr(os, "replace", look)
    with OutputSet([target], force=True, folders=[target]) as outputs:
        (Path(outputs.temporary(target)) / "new").touch()
    assert seen == [False]
    assert (os.listdir(tmp_path), os.listdir(target)) == (["map.zarr"], ["new"])


def test_a_signal_waits_until_all_outputs_are_in_place(tmp_path, monkeypatch):
    put = atomic._Change.put

    def put_and_signal(self, part, force):
        put(self, part, force)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(atomic._Change, "put", put_and_signal)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            replace_both(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a": b"new", "b": b"new"}


def test_a_child_does_not_remove_the_files_of_its_parent(tmp_path):
    part = Part(str(tmp_path / "out"))
    with uninterrupted(), ending.at_end((tmp_path / "ended").touch):
        child = os.fork()
        if child == 0:
            ending.remove_leftovers()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert [str(path) for path in tmp_path.iterdir()] == [part.path]
    part.close()


ENDING = """
import os, sys, threading
from dualpix import ending

def late():
    with ending.uninterrupted():
        print("begun", flush=True)

ending.remove_leftovers(ending=sys.argv[1] == "ending")
thread = threading.Thread(target=late, daemon=True)
thread.start()
thread.join(1)
os._exit(0)
"""


@pytest.mark.parametrize(("how", "said"), [("ending", b""), ("going on", b"begun\n")])
def test_nothing_is_put_in_place_when_leftovers_are_removed(how, said):
    done = subprocess.run([sys.executable, "-c", ENDING, how], stdout=subprocess.PIPE, timeout=60, check=True)
    assert done.stdout == said


LATE = """
import os, sys, threading
from dualpix import ending
from dualpix.io.parts import Part

ending.remove_leftovers(ending=True)
thread = threading.Thread(target=Part, args=(sys.argv[1],), daemon=True)
thread.start()
thread.join(1)
os._exit(0)
"""


def test_no_part_appears_when_leftovers_are_removed(tmp_path):
    subprocess.run([sys.executable, "-c", LATE, tmp_path / "out"], timeout=60, check=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("make", [Part, lambda place: PrivateFolder(Path(place).parent)])
def test_what_is_made_when_a_signal_comes_is_remembered(tmp_path, monkeypatch, make):
    """The signal comes at the moment when the file or folder appears."""

    def signalled(made):
        def act(path, *args, **kwargs):
            result = made(path, *args, **kwargs)
            if str(tmp_path) in str(path):
                os.kill(os.getpid(), signal.SIGINT)
            return result

        return act

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(os, "open", signalled(os.open))
            patch.setattr(os, "mkdir", signalled(os.mkdir))
            with pytest.raises(KeyboardInterrupt):
                make(str(tmp_path / "out"))
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(os.listdir(tmp_path)) == 1
    ending.remove_leftovers()
    assert os.listdir(tmp_path) == []


def test_what_is_for_the_end_is_done_there_or_before_the_process_ends(capsys):
    with ending.at_end(lambda: print("first")), ending.at_end(lambda: 1 / 0 if undone else print("last")):
        undone = True
        ending.remove_leftovers()
        assert capsys.readouterr().out == "first\n", "one that fails does not stop the others"
        undone = False
        ending.remove_leftovers()
        assert capsys.readouterr().out == "last\nfirst\n"
    assert capsys.readouterr().out == "last\nfirst\n"
    ending.remove_leftovers()
    assert capsys.readouterr().out == ""


def test_folders_are_removed_after_what_writes_in_them_has_ended(tmp_path):
    folder = tmp_path / "private"
    folder.mkdir()
    ending.remember(str(folder))
    there = []
    with ending.at_end(lambda: there.append(folder.exists())):  # as a process does that writes until it is ended
        ending.remove_leftovers()
    assert (there, folder.exists()) == ([True, False], False)


def test_what_a_signal_cuts_short_is_done_again_at_the_end():
    calls = []

    def act():
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ending.at_end(act):
        pass
    ending.remove_leftovers()
    assert len(calls) == 2
    ending._last.clear()


def _half_written(folder):
    with OutputSet([f"{folder}/out"]) as outputs:
        outputs.write(f"{folder}/out", b"half")
        Path(folder, "ready").touch()
        time.sleep(60)


def test_a_worker_that_is_ended_leaves_nothing(tmp_path):
    worker, failures = Worker(), []

    def work():
        try:
            worker.call(_half_written, str(tmp_path))
        except ProcessError as error:
            failures.append(str(error))

    task = threading.Thread(target=work)
    task.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.02)
    assert any(map(is_part, os.listdir(tmp_path)))
    worker.end()
    task.join()
    assert failures == ["its process ended with SIGTERM"]
    assert os.listdir(tmp_path) == ["ready"]


@dataclass(frozen=True)
class Half:
    """A task that has written half of its output. It may be deaf to SIGTERM, as it is while it waits for a disk."""

    folder: str
    deaf: bool

    def run(self):
        if self.deaf:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _half_written(self.folder)

    def failed(self, why):
        return why

    def gigabytes(self):
        return 0.0


RUNNER = """
import sys, time
from dualpix.batches import processes
from dualpix.batches.folder import opened
from dualpix.cli.signals import exit_code, stop_on_signals
from test_endings import Half

def wait(*_, **__):
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:  # the exception is lost, or the machine is too busy to look at it in time
            pass

folder, deaf, stubborn = sys.argv[1], sys.argv[2] == "True", sys.argv[3] == "True"
if stubborn:
    processes.wait = wait
stop_on_signals()
try:
    with opened(folder, {}) as lock:
        list(processes.Processes(1, None, lock).run([Half(folder, deaf)]))
except KeyboardInterrupt:
    sys.exit(exit_code())
"""


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize("deaf", [False, True])
def test_a_run_that_is_stopped_clears_the_parts_of_its_workers(tmp_path, deaf, stubborn):
    """However it ends, its workers have ended before, and their parts are gone."""
    command = [sys.executable, "-c", RUNNER, str(tmp_path), str(deaf), str(stubborn)]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)}) as run:
        while not (tmp_path / "ready").exists():
            assert run.poll() is None
            time.sleep(0.02)
        assert any(map(is_part, os.listdir(tmp_path)))
        run.terminate()
        assert run.wait(60) == 143
        with locked(str(tmp_path), "worker"):  # which its workers had, too
            assert sorted(os.listdir(tmp_path)) == ["batch.json", "ready"]


class Slow:
    """A pipe whose reader is late: the process has ended long before."""

    def __init__(self, process):
        self.process, self.pipe = process, process.stdout
        self.close, self.readline = self.pipe.close, self.pipe.readline

    def read(self, size):
        self.process.wait()
        time.sleep(0.2)
        return self.pipe.read(size)


def test_a_pipe_is_not_closed_while_it_is_read():
    worker, failures = Worker(), []
    worker._process.stdout = Slow(worker._process)

    def work():
        with pytest.raises(ProcessError) as caught:
            worker.call(time.sleep, 60)
        failures.append(str(caught.value))

    task = threading.Thread(target=work)
    task.start()
    time.sleep(0.1)
    worker.end()
    task.join()
    assert len(failures) == 1


def test_an_empty_folder_of_a_running_clip_stays(tmp_path):
    folder = tmp_path / "out.parts"
    folder.mkdir()
    with locked(str(folder), "dualpix video"), pytest.raises(OutputError, match="another dualpix video"):
        Parts(str(folder), "key").check(force=False)
    assert folder.exists()
    Parts(str(folder), "key").check(force=False)
    assert not folder.exists()


@pytest.mark.parametrize("opened_before", [True, False])
def test_a_clip_makes_its_folder_again_if_another_run_removed_it(tmp_path, monkeypatch, opened_before):
    folder = str(tmp_path / "out.parts")
    removed = []

    @contextmanager
    def late(path, command, patience=0):
        if not removed and not opened_before:
            removed.append(os.rmdir(path))
        with locked(path, command, patience) as held:
            if not removed:
                removed.append(os.rmdir(path))
            yield held

    monkeypatch.setattr(clips.parts, "locked", late)
    with Parts(folder, "key").opened():
        assert sorted(os.listdir(folder)) == ["frames", "job.json"]
    assert len(removed) == 1


def test_a_missing_outcome_is_no_error(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DUALPIX_DEBUG", "1")
    assert read_outcome(tmp_path / "missing.npz") is None
    assert capsys.readouterr().err == ""
    (tmp_path / "damaged.npz").write_bytes(b"?")
    assert read_outcome(tmp_path / "damaged.npz") is None
    assert "Traceback" in capsys.readouterr().err


# ---- faults: test_docs.py runs the others of benchmarks/faults.py, as docs/endings.md shows it ---


def test_kills_leave_nothing_behind(tmp_path, benchmark_script, monkeypatch):
    faults = benchmark_script("faults")
    monkeypatch.setattr(faults, "SECONDS", 60)  # the machine may be busy
    data = tmp_path / "scenes"
    faults.make_scenes(data, 1, "96x72")
    for tally in faults.kills(faults.cases(data)[0], 3, tmp_path):
        assert tally.is_good(), (str(tally), tally.notes)
