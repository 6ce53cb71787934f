"""Processes that judge inputs. A crash or a hang ends one of them: it is a finding, and another goes on behind it."""

from __future__ import annotations

import json
import mmap
import os
import resource
import select
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .inputs import number, run
from .oracle import MEGABYTE, Limits

GROUP = 20_000  # inputs of one process
HANG, SLOW_HANG = 20.0, 200.0  # s on the clock, and under a sanitizer; SECONDS of the oracle is CPU time
ADDRESSES = 2048 * MEGABYTE  # that a process may use beyond those it begins with
_STATE = struct.Struct("qdq")  # the present input, when it began, how many are done


class Report(NamedTuple):
    """A finding, and the input that it is about."""

    index: int
    kind: str
    name: str
    details: str


class Worker:
    """One forked process that judges the inputs first, first + step, ... up to `end`."""

    def __init__(self, seed: int, kinds: tuple[str, ...], first: int, step: int, end: int, enforced: bool) -> None:
        self._state = mmap.mmap(-1, _STATE.size)
        self._state[:] = _STATE.pack(first, time.monotonic(), 0)
        self.pipe, writing = os.pipe()
        self._rest, self._patience = b"", HANG if enforced else SLOW_HANG
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid:
            os.close(writing)
            return
        code = 1
        try:
            os.close(self.pipe)
            self._work(writing, seed, kinds, range(first, end, step), enforced)
            code = 0
        finally:
            os._exit(code)

    def _work(self, writing: int, seed: int, kinds: tuple[str, ...], indices: range, enforced: bool) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if enforced:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES, used + ADDRESSES))
        limits, counts = Limits(enforced), Counter[str]()
        with tempfile.TemporaryDirectory(prefix="dualpix-fuzz-", dir=_memory_folder()) as folder:
            for done, index in enumerate(indices):
                given = number(index, seed, kinds)
                self._state[:] = _STATE.pack(index, time.monotonic(), done)
                counts[given.kind] += 1
                if (found := run(given, folder, limits)) is not None:
                    _send(writing, {"index": index, "kind": given.kind, "name": found[0], "details": found[1]})
        _send(writing, {"counts": counts})

    @property
    def index(self) -> int:
        return int(_STATE.unpack(self._state[:])[0])

    @property
    def done(self) -> int:
        return int(_STATE.unpack(self._state[:])[2])

    @property
    def hangs(self) -> bool:
        return time.monotonic() - float(_STATE.unpack(self._state[:])[1]) > self._patience

    def messages(self) -> Iterator[dict[str, object]]:
        """What has come; an empty message at the end."""
        data = os.read(self.pipe, 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        yield from map(json.loads, lines)
        if not data:
            yield {}

    def ended(self) -> int:
        os.close(self.pipe)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Run:
    """A run over inputs 0, 1, ... until the time or the number of inputs is reached."""

    def __init__(self, seed: int, kinds: tuple[str, ...], processes: int, enforced: bool = True) -> None:
        self.seed, self.kinds, self.processes, self.enforced = seed, kinds, processes, enforced
        self.counts: Counter[str] = Counter()
        self._next = 0
        self._workers: dict[int, tuple[Worker, int]] = {}  # by pipe: the worker and the end of its group

    @property
    def done(self) -> int:
        return sum(self.counts.values())

    def reports(self, inputs: int | None, seconds: float | None) -> Iterator[Report]:
        stop = None if seconds is None else time.monotonic() + seconds
        try:
            while True:
                over = stop is not None and time.monotonic() > stop
                while len(self._workers) < self.processes and not over and (inputs is None or self._next < inputs):
                    end = self._next + GROUP if inputs is None else min(self._next + GROUP, inputs)
                    self._start(self._next, end)
                    self._next = end
                if not self._workers or over:
                    return
                yield from self._look()
        finally:
            for worker, _ in self._workers.values():
                os.kill(worker.pid, signal.SIGKILL)
                worker.ended()
                self._count_unfinished(worker)
            self._workers.clear()

    def _start(self, first: int, end: int) -> None:
        worker = Worker(self.seed, self.kinds, first, 1, end, self.enforced)
        self._workers[worker.pipe] = worker, end

    def _look(self) -> Iterator[Report]:
        ready, _, _ = select.select(list(self._workers), [], [], 0.5)
        for pipe in ready:
            worker, end = self._workers[pipe]
            for message in worker.messages():
                if "counts" in message:
                    self.counts.update(message["counts"])  # type: ignore[arg-type]
                elif message:
                    yield Report(**message)  # type: ignore[arg-type]
                else:
                    yield from self._ended(worker, end)
        for worker, _ in list(self._workers.values()):
            if worker.hangs:
                os.kill(worker.pid, signal.SIGKILL)

    def _ended(self, worker: Worker, end: int) -> Iterator[Report]:
        del self._workers[worker.pipe]
        hung, code = worker.hangs, worker.ended()
        if code == 0:
            return
        self._count_unfinished(worker)
        kind = number(worker.index, self.seed, self.kinds).kind
        self.counts[kind] += 1
        how = "hang" if hung else f"crash, {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        yield Report(worker.index, kind, how, "")
        if worker.index + 1 < end:
            self._start(worker.index + 1, end)

    def _count_unfinished(self, worker: Worker) -> None:
        """Count the inputs of a process that did not end by itself, except the last one."""
        first = worker.index - worker.done
        for index in range(first, worker.index):
            self.counts[number(index, self.seed, self.kinds).kind] += 1


def _send(writing: int, message: dict[str, object]) -> None:
    os.write(writing, json.dumps(message).encode() + b"\n")


def _memory_folder() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
