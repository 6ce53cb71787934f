"""Threads that are kept for the kernels of a call: core/common/crew.cpp through `dualpix.types.reusing`."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from conftest import not_under
from dualpix import _core
from dualpix.types import reusing

PLANE = np.arange(400 * 300, dtype=np.float32).reshape(400, 300) % 251
linux = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted by /proc")


@pytest.mark.skipif(sys.platform != "linux", reason="a symbol of libstdc++")
def test_the_core_needs_no_newer_libstdcxx_than_rhel_9_has():
    """This symbol is new in that of GCC 12."""
    assert b"condition_variable4waitE" not in Path(_core.__file__).read_bytes()


def halved(threads):
    half = np.empty((200, 150), np.float32)
    _core.pyramid_down(PLANE, half, threads)
    return half


def threads_now():
    return set(os.listdir("/proc/self/task"))


class Started:
    """Threads that were started since. One that has ended may be listed a moment longer."""

    def __init__(self):
        self.before = threads_now()

    def count(self, expected):
        for _ in range(200):
            found = len(threads_now() - self.before)
            if found == expected:
                break
            time.sleep(0.005)
        return found


@linux
def test_threads_are_kept_until_the_call_ends():
    started = Started()
    with reusing():
        assert started.count(0) == 0
        halved(3)
        assert started.count(2) == 2
        halved(2)
        with reusing():
            halved(5)
        assert started.count(4) == 4
    assert started.count(0) == 0


@linux
def test_outside_of_a_call_nothing_is_kept():
    started = Started()
    halved(3)
    assert started.count(0) == 0


@linux
def test_one_thread_starts_none():
    started = Started()
    with reusing():
        halved(1)
        assert not threads_now() - started.before


def test_every_kernel_of_a_call_gives_the_same_bytes():
    expected = halved(1)
    with reusing():
        for threads in (2, 7, 1, 3, 7, 2) * 20:
            assert np.array_equal(halved(threads), expected)


def test_calls_at_once_have_threads_of_their_own():
    expected = halved(1)

    def call(threads):
        with reusing():
            return all(np.array_equal(halved(threads), expected) for _ in range(50))

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(call, (2, 3, 4, 2, 3, 4)))


def test_a_call_that_ends_on_another_thread():
    """As a generator may. The thread that began it has ended meanwhile."""
    block, expected = reusing(), halved(1)

    def begin():
        block.__enter__()
        halved(3)

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    block.__exit__(None, None, None)
    with reusing():
        assert np.array_equal(halved(2), expected)


ALARMS = """
import signal
import numpy as np
from dualpix import _core
from dualpix.types import reusing

def matched(left, right, threads):
    d = np.full(left.shape, np.nan, np.float32)
    taps = np.full(5, 0.2, np.float32)
    _core.sgm(left, right, d, first=-8, count=32, taps=taps, P1=1, P2=8, threads=threads)
    return d

left = np.random.default_rng(0).random((500, 900), np.float32) * 255
right = np.roll(left, 2, 1).copy()
small = left[:100, :200].copy(), right[:100, :200].copy()
expected, of_small = matched(left, right, 1), matched(*small, 1)
seen = []

def handler(*_):
    seen.append(alarm())
    signal.setitimer(signal.ITIMER_REAL, 0.05)  # the next alarm, if this one was handled

signal.signal(signal.SIGALRM, handler)
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers on this system")
def test_a_kernel_within_a_kernel_has_threads_of_its_own():
    """The handler of a signal runs within a kernel, and may call another."""
    code = f"""{ALARMS}
def alarm():
    return np.array_equal(matched(*small, 3), of_small)

signal.setitimer(signal.ITIMER_REAL, 0.05)
with reusing():
    while len(seen) < 5:
        assert np.array_equal(matched(left, right, 3), expected)
signal.setitimer(signal.ITIMER_REAL, 0)
print(all(seen))
"""
    assert output_of(code) == "True\n"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers on this system")
def test_a_call_that_ends_within_a_kernel():
    """The handler of a signal closes a generator that is within a call."""
    code = f"""{ALARMS}
def call():
    with reusing():
        yield

def alarm():
    if running:
        running.pop().close()

running = [call() for _ in range(5)]
for each in running:
    next(each)
signal.setitimer(signal.ITIMER_REAL, 0.05)
while running:
    assert np.array_equal(matched(left, right, 3), expected)
signal.setitimer(signal.ITIMER_REAL, 0)
print("done")
"""
    assert output_of(code) == "done\n"


def output_of(code):
    """What a process prints that runs the code. It must end."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


@not_under("ThreadSanitizer itself does not survive threads after a fork", "tsan")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.parametrize("end", ["sys.exit(0)", "os._exit(0)"])
def test_a_process_that_is_forked_within_a_call_has_threads_of_its_own(end):
    """In a process of its own, which would hang if the new process waited for threads that it does not have."""
    code = f"""
import os, sys, warnings
import numpy as np
from dualpix import _core
from dualpix.types import reusing
warnings.simplefilter("ignore")
plane, half = np.random.default_rng(0).random((400, 300), np.float32), np.empty((200, 150), np.float32)
with reusing():
    _core.pyramid_down(plane, half, 3)
    expected = half.copy()
    if (child := os.fork()) == 0:
        half[:] = 0
        _core.pyramid_down(plane, half, 3)
        if not np.array_equal(half, expected):
            os._exit(1)
        {end}
    if (other := os.fork()) == 0:
        {end}
    for process in (child, other):
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    _core.pyramid_down(plane, half, 3)
    assert np.array_equal(half, expected)
print("done")
"""
    assert output_of(code) == "done\n"
