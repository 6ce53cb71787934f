"""The runner for one machine: several processes at a time, within a limit of memory."""

import time
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Lock
from types import TracebackType
from typing import Generic

from ..ending import at_end
from .process import GRACE, ProcessError, Worker
from .runner import Answer, Task

TRIES = 3  # how often a task may end its process before it counts as failed


@dataclass(frozen=True)
class Processes:
    """Runs tasks in processes that live on from task to task.

    If a process dies, its task begins again in a new one.

    Attributes
    ----------
    jobs : int
        The number of processes.
    mem_limit : float or None
        Memory for all of them together, GB. A task begins when what it needs is left. A task that needs more than all
        runs alone.
    shared : tuple of int
        File descriptors that stay open in the processes.
    """

    jobs: int
    mem_limit: float | None = None
    shared: tuple[int, ...] = ()

    def run(self, tasks: Iterable[Task[Answer]]) -> Generator[Answer, None, None]:
        """Yield the answer of every task, in the order in which they end."""
        waiting = _Waiting(tasks)
        running: dict[Future[Answer], float] = {}  # the memory of each, GB

        # The crew stops first: then no thread waits for an answer any more.
        with ThreadPoolExecutor(self.jobs) as threads, _Crew(self.shared) as crew, at_end(crew.stop):

            def fill() -> None:
                while (task := waiting.first) and self._fits(waiting.gigabytes, running):
                    running[threads.submit(crew.do, task)] = waiting.gigabytes
                    waiting.advance()

            fill()
            while running:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    del running[future]
                fill()  # before the answers are looked at, so that no process waits
                for future in done:
                    yield future.result()

    def _fits(self, gigabytes: float, running: dict[Future[Answer], float]) -> bool:
        if not running:
            return True
        enough = self.mem_limit is None or sum(running.values()) + gigabytes <= self.mem_limit
        return enough and len(running) < self.jobs


class _Waiting(Generic[Answer]):
    """The tasks that have not begun: the first of them, and the memory it needs."""

    def __init__(self, tasks: Iterable[Task[Answer]]) -> None:
        self._tasks = iter(tasks)
        self.advance()

    def advance(self) -> None:
        self.first = next(self._tasks, None)
        self.gigabytes = self.first.gigabytes() if self.first else 0.0


class _Crew:
    """The processes. Several threads use it, each with a process of its own."""

    def __init__(self, shared: tuple[int, ...]) -> None:
        self._shared = shared
        self._lock = Lock()  # of all below
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._end: float | None = None  # when the last process is killed, on the clock; None before `stop`

    def do(self, task: Task[Answer]) -> Answer:
        """Run a task in a process."""
        why = "it was interrupted"
        for _ in range(TRIES):
            try:
                worker = self._take()
            except ProcessError as error:
                why = str(error)
                continue
            if worker is None:
                break
            try:
                answer = worker.call(_run, task)
            except ProcessError as error:
                why = str(error)
                worker.end()
                with self._lock:
                    self._busy.discard(worker)
            else:
                with self._lock:
                    self._busy.discard(worker)
                    self._idle.append(worker)
                return answer
        return task.failed(why)

    def _take(self) -> Worker | None:
        """A process for a task; None when the crew has ended."""
        with self._lock:
            if self._end is not None:
                return None
            worker = self._idle.pop() if self._idle else Worker(self._shared)
            self._busy.add(worker)
            return worker

    def stop(self) -> None:
        """End all processes. No new one begins."""
        with self._lock:
            self._end = self._end or time.monotonic() + GRACE  # for all of them together
            workers = self._workers()
        for worker in workers:
            worker.ask_to_end()
        for worker in workers:
            worker.stop(max(0, self._end - time.monotonic()))

    def _workers(self) -> list[Worker]:
        return [*self._idle, *self._busy]

    def __enter__(self) -> "_Crew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            workers = self._workers()
        for worker in workers:
            worker.end()


def _run(task: Task[Answer]) -> Answer:
    return task.run()
