"""The runner for many machines: chunks of captures or tiles as tasks of Dask distributed.

The scheduler knows what runs where. It gives a chunk to another worker when one dies. A chunk may run twice, which is
harmless: what is finished is found by its key.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import pickle
import re
import socket
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic

from ..errors import DualpixError, InputError, OutputError, ParameterError
from ..io._extra import missing
from ..version import UNINSTALLED, version
from .runner import Answer, Task
from .versions import code_digest

if TYPE_CHECKING:
    from distributed import Client, Future

LOCAL = "local"
PATIENCE = 3.0  # s until a scheduler must accept a connection, and again until it must answer
DEATHS = 2  # how many workers a task may take with it, and is still given to another one
LASTS = 0.5  # s that a chunk should last at least
RATE = 50  # chunks a second that all workers together should end: client and scheduler manage more (docs/cluster.md)
UNKNOWN = math.inf  # s that a capture lasts, before one has ended: the first chunks have one capture
LARGEST = 100  # captures in a chunk
AHEAD = 2  # chunks for every thread of the workers: one that runs and one that waits
FRESH = 2.0  # s that the number of threads is believed
LONGEST = 1 << 20  # bytes of a scheduler's first message
_ADDRESS = re.compile(r"tcp://(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):(\d{1,5})")


def check_scheduler(scheduler: str, **own: object) -> None:
    """Refuse an address that is none, and options that the workers at an address have themselves.

    Raises
    ------
    DualpixError
        It says what an address looks like, or what to install.
    """
    for name, value in own.items():
        if scheduler != LOCAL and value is not None:
            raise ParameterError(
                f"{name}= is for this machine, but the workers of {scheduler} have theirs: leave it out"
            )
    if scheduler != LOCAL and not _ADDRESS.fullmatch(scheduler):
        raise ParameterError(f"scheduler must be local or an address such as tcp://node1:8786, not {scheduler!r}")
    if missing("distributed"):
        raise InputError("scheduler: runs on Dask, which is not installed: pip install 'dualpix[cluster]'")


def count_threads(scheduler: str) -> int:
    """The number of threads of all workers at an address. Their version of dualpix is checked.

    Raises
    ------
    InputError
        If no scheduler answers, or a worker has another version of dualpix.
    """
    with _quiet(), _connected(scheduler) as client:
        _check_versions(client)
        return sum(client.nthreads().values())


@dataclass(frozen=True)
class Cluster:
    """Runs tasks on the workers of a Dask scheduler.

    Attributes
    ----------
    scheduler : str or dask Client
        Its address, "local" for one that lives as long as the tasks run, or a client, which is not closed.
    jobs : int
        The number of worker processes of a local one.
    shared : str or None
        A file that all workers must see, if they write beside it.
    """

    scheduler: str | Client
    jobs: int = 1
    shared: str | None = None

    def run(self, tasks: Iterable[Task[Answer]]) -> Generator[Answer, None, None]:
        """Yield the answer of every task, in the order in which their chunks end."""
        with self.opened() as workers:
            yield from workers.run(tasks)

    @contextmanager
    def opened(self) -> Iterator[Workers]:
        """The workers, for several runs. Their code, and what they see, is checked once."""
        with _quiet(), _client(self.scheduler, self.jobs) as client:
            _check_versions(client)
            self._check_shared(client)
            yield Workers(client)

    def _check_shared(self, client: Client) -> None:
        if self.shared is None:
            return
        for worker, sees in _asked(client, os.path.isfile, self.shared):
            if not sees:
                folder = os.path.dirname(self.shared)
                raise OutputError(
                    f"{folder}: the worker {worker} does not see this folder: choose one that all machines share, or a "
                    "URL such as s3://bucket/maps"
                )


@dataclass(frozen=True)
class Workers:
    """Runs tasks on the workers of a Dask client that is open."""

    client: Client

    def run(self, tasks: Iterable[Task[Answer]]) -> Generator[Answer, None, None]:
        """Yield the answer of every task, in the order in which their chunks end."""
        flow: _Flow[Answer] = _Flow(self.client, iter(tasks))
        try:
            yield from flow.answers()
        finally:
            flow.cancel()


# ---- the flow of chunks --------------------------------------------------------------------------


class _Flow(Generic[Answer]):
    """Keeps every worker busy with chunks, and few more than that in the scheduler."""

    def __init__(self, client: Client, tasks: Iterator[Task[Answer]]) -> None:
        from distributed import as_completed

        self._client, self._tasks = client, tasks
        self._name = client.scheduler.address
        self._chunks: dict[Future[Any], list[Task[Answer]]] = {}
        self._suspects: deque[Task[Answer]] = deque()  # one of them may have ended its workers
        self._suspect: Future[Any] | None = None
        self._ended = as_completed(loop=client.loop)
        self._each = UNKNOWN
        self._threads, self._counted = 0, 0.0
        self._here = version(), code_digest(compiled=False)

    def answers(self) -> Generator[Answer, None, None]:
        """Take tasks and yield answers until there are no more."""
        self._fill()
        while self._chunks:
            future = next(self._ended)
            chunk = self._chunks.pop(future)
            found = self._found(future, chunk)
            future.release()
            self._suspect = None if future is self._suspect else self._suspect
            self._fill()  # before the answers are looked at, so that no worker waits
            yield from found

    def cancel(self) -> None:
        """Take back the chunks that have not begun."""
        if self._chunks:
            self._client.cancel(list(self._chunks), force=True)

    def _fill(self) -> None:
        if self._suspects and self._suspect is None:  # only one at a time, so that no other dies with it
            self._suspect = self._submit([self._suspects.popleft()])
        while len(self._chunks) < AHEAD * (threads := self._count_threads()):
            seconds = max(LASTS, threads / RATE)
            size = min(LARGEST, max(1, round(seconds / max(self._each, 1e-6))))
            chunk = list(islice(self._tasks, size))
            if not chunk:
                return
            self._submit(chunk)

    def _submit(self, chunk: list[Task[Answer]]) -> Future[Any]:
        future = self._client.submit(pickle.loads, pickle.dumps(_Work(chunk, *self._here), 5), pure=False)
        self._chunks[future] = chunk
        self._ended.add(future)
        return future

    def _found(self, future: Future[Any], chunk: list[Task[Answer]]) -> list[Answer]:
        """The answers of a chunk that has ended. If its workers died, its tasks begin again, each alone."""
        from distributed import KilledWorker

        try:
            with self._connection():
                seconds, answers = future.result()  # a worker may end with its answer, which is then made again
        except KilledWorker:
            if future is self._suspect:
                return [chunk[0].failed("it ended one worker after another, perhaps out of memory")]
            self._suspects += chunk
            return []
        except DualpixError:
            raise
        except Exception as error:
            raise InputError(
                f"{self._name}: a worker cannot do the work ({type(error).__name__}: {error}): install dualpix "
                f"{version()} there"
            ) from None
        each = seconds / len(chunk)
        self._each = each if math.isinf(self._each) else self._each + 0.2 * (each - self._each)
        found: list[Answer] = answers
        return found

    def _count_threads(self) -> int:
        """The number of threads of all workers, now and then. Without workers the tasks wait, so it is at least 1."""
        if time.monotonic() - self._counted > FRESH:
            with self._connection():
                self._threads, self._counted = sum(self._client.nthreads().values()), time.monotonic()
        return max(1, self._threads)

    @contextmanager
    def _connection(self) -> Iterator[None]:
        from distributed import CancelledError

        try:
            yield
        except (CancelledError, OSError):
            raise InputError(
                f"{self._name}: the scheduler is gone: start it and this command again, which goes on"
            ) from None


class _Work:
    """A call of `_work` that happens when it is unpickled. So the scheduler, which unpickles functions, has only bytes.

    The machine of the scheduler then needs Dask, but not dualpix.
    """

    def __init__(self, *arguments: object) -> None:
        self._arguments = arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return _work, self._arguments


def _work(chunk: list[Task[Answer]], wanted: str, code: str) -> tuple[float, list[Answer]]:
    """Run a chunk on a worker. Returns how long it took, and the answers."""
    if (version(), code_digest(compiled=False)) != (wanted, code):  # the worker came after the work had begun
        raise _refused("a worker", version(), code_digest(compiled=False), code)
    start = time.perf_counter()
    answers = [task.run() for task in chunk]
    return time.perf_counter() - start, answers


# ---- scheduler and workers -----------------------------------------------------------------------


@contextmanager
def _client(scheduler: str | Client, jobs: int) -> Iterator[Client]:
    if not isinstance(scheduler, str):
        yield scheduler
        return
    if scheduler != LOCAL:
        with _connected(scheduler) as client:
            yield client
        return
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": DEATHS}),
        LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            memory_limit=0,  # captures know what they need
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},  # any free port, though nothing is shown there
            silence_logs=_loudness(),
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False) if _greets(scheduler) else None
    except (OSError, OverflowError, ValueError, asyncio.TimeoutError):
        client = None
    if client is None:
        raise InputError(
            f"{scheduler}: no Dask scheduler answers: start it there with 'dask scheduler --port "
            f"{scheduler.rpartition(':')[2]}', and workers with 'dask worker {scheduler} --nthreads 1 --nworkers auto'"
        )
    with client:
        yield client


def _greets(scheduler: str) -> bool:
    """Whether a scheduler answers soon. A client would wait much longer for something that is none.

    A scheduler sends a short message first, which begins with its length, 8 bytes.
    """
    found = _ADDRESS.fullmatch(scheduler)
    if found is None:
        return False
    with socket.create_connection((found[1].strip("[]"), int(found[2])), PATIENCE) as connection:
        connection.settimeout(PATIENCE)
        return 0 < int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "little") < LONGEST


def _check_versions(client: Client) -> None:
    """Refuse workers that have another version of dualpix, or other code of the same version."""
    for worker, found in _asked(client, metadata.version, "dualpix"):
        if found != version() and not (version() == UNINSTALLED and isinstance(found, metadata.PackageNotFoundError)):
            raise _refused(f"the worker {worker}", "none" if isinstance(found, Exception) else found)
    here = code_digest(compiled=False)
    for worker, found in _asked(client, code_digest, False):
        if found != here:
            raise _refused(
                f"the worker {worker}", version(), "another" if isinstance(found, Exception) else found, here
            )


def _asked(client: Client, function: Callable[..., Any], *arguments: object) -> Iterator[tuple[str, Any]]:
    """What a function returns or raises on every worker. Workers that have just gone are left out."""
    for worker, found in client.run(function, *arguments, on_error="return").items():
        if not isinstance(found, OSError):
            yield worker, found


def _refused(worker: str, found: str, code: str = "", here: str = "") -> InputError:
    there = f"{found} with other code ({code}, here {here})" if code else found
    return InputError(f"{worker} has dualpix {there}, this machine has {version()}: install the same on all of them")


def _loudness() -> int:
    return logging.WARNING if os.environ.get("DUALPIX_DEBUG") == "1" else logging.CRITICAL


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from telling what it does, unless ``DUALPIX_DEBUG=1``."""
    import distributed  # noqa: F401 - sets the levels itself

    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(_loudness())
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)
