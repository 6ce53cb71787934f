"""Threads that are kept for the kernels of a call: core/common/crew.cpp through `dualpix.types.reusing`."""

import os
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


def halved(threads):
    half = np.empty((200, 150), np.float32)
    _core.pyramid_down(PLANE, half, threads)
    return half


def running():
    """Threads of this process. One that has ended may be listed a moment longer."""
    least = len(os.listdir("/proc/self/task"))
    for _ in range(10):
        time.sleep(0.005)
        least = min(least, len(os.listdir("/proc/self/task")))
    return least


@linux
def test_threads_are_kept_until_the_call_ends():
    before = running()
    with reusing():
        assert running() == before
        halved(3)
        assert running() == before + 2
        halved(2)
        with reusing():
            halved(5)
        assert running() == before + 4
    assert running() == before


@linux
def test_outside_of_a_call_nothing_is_kept():
    before = running()
    halved(3)
    assert running() == before


@linux
def test_one_thread_starts_none():
    before = running()
    with reusing():
        halved(1)
        assert running() == before


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


@linux
def test_a_call_that_ends_on_another_thread():
    """As a generator may: the threads end with the thread that began."""
    before, block = running(), reusing()

    def begin():
        block.__enter__()
        halved(3)

    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    block.__exit__(None, None, None)
    assert running() == before
    with reusing():
        halved(2)
    assert running() == before


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
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert run.stdout == "done\n", run.stderr
