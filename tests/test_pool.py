"""Memory that is used again: core/common/pool.cpp through `dualpix.types.empty`."""

import gc
import os
import sys
from contextlib import nullcontext
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import not_under
from dualpix import _core
from dualpix.types import LARGE, empty, empty_like, reusing

MB = 1 << 20


def place(array):
    return array.__array_interface__["data"][0]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40 * LARGE)), max_size=60))
@settings(max_examples=60)
def test_arrays_do_not_share_memory(steps):
    held = []
    for number, (take, count) in enumerate(steps):
        if take or not held:
            array = _core.allocate(count)
            assert array.shape == (count,)
            array[:: max(1, count // 50)] = number % 251
            held.append((array, number % 251))
        else:
            array, mark = held.pop(count % len(held))
            assert (array[:: max(1, len(array) // 50)] == mark).all()
        if count % 17 == 0:
            _core.rest()
        if count % 23 == 0:
            _core.release_free_memory()
    ranges = sorted((place(array), place(array) + array.size) for array, _ in held)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ranges))
    for array, mark in held:
        assert (array[:: max(1, array.size // 50)] == mark).all()


def test_shape_and_type():
    for shape, dtype in (((2, 3), "f4"), ((1024, 1025), "f4"), ((7, 513, 511), "u2"), ((0, 5), "u1")):
        array = empty(shape, dtype)
        assert array.shape == shape
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert empty_like(array).shape == shape


@not_under("every array is an allocation of its own")
@pytest.mark.skipif(sys.platform == "win32", reason="no pool on Windows")
def test_freed_memory_is_used_again():
    _core.release_free_memory()
    first = _core.allocate(64 * MB)
    begin, end = place(first), place(first) + 64 * MB
    del first
    parts = [_core.allocate(size * MB) for size in (48, 8, 8)]
    assert all(begin <= place(part) < end for part in parts)


@not_under("every array is an allocation of its own")
@pytest.mark.skipif(sys.platform == "win32", reason="no pool on Windows")
def test_memory_comes_in_whole_huge_pages():
    _core.release_free_memory()
    large = _core.allocate(3 * MB)
    small = [_core.allocate(MB // 2) for _ in range(2)]  # in the rest of the second huge page
    assert sorted(map(place, small)) == [place(large) + 3 * MB, place(large) + 3 * MB + MB // 2]


@not_under("every array is an allocation of its own")
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_freed_memory_never_raises_the_peak():
    _core.release_free_memory()
    gc.collect()
    before = resident()
    for size in (20, 30, 40, 50, 60, 70, 80):  # no freed piece fits the next
        array = _core.allocate(size * MB)
        array[:] = 1
        assert resident() - before < (size + 4) * MB
        del array
    _core.release_free_memory()
    assert resident() - before < 4 * MB


def lazily_free():
    """Bytes that the system may take whenever it needs them."""
    with open("/proc/self/smaps_rollup") as file:
        return sum(1024 * int(line.split()[1]) for line in file if line.startswith("LazyFree"))


@not_under("every array is an allocation of its own")
@pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="needs /proc")
@pytest.mark.parametrize("inside", [False, True])
def test_the_system_may_have_freed_memory_after_a_call(inside):
    _core.release_free_memory()
    with reusing() if inside else nullcontext():
        array = _core.allocate(64 * MB)
        array[:] = 1
        del array
        assert (lazily_free() > 50 * MB) != inside
    assert lazily_free() > 50 * MB
    _core.release_free_memory()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_can_allocate():
    array = _core.allocate(8 * MB)
    array[:] = 7
    child = os.fork()
    if child == 0:
        try:
            other = _core.allocate(8 * MB)
            other[:] = 1
            os._exit(0 if (array == 7).all() else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (array == 7).all()


def test_too_large():
    with pytest.raises(MemoryError, match="no memory for an array of 17592186044416 bytes"):
        _core.allocate(1 << 44)
    for count in (0, (1 << 44) + 1):
        with pytest.raises(ValueError, match="count must be"):
            _core.allocate(count)
