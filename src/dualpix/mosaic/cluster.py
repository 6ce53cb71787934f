"""Tiles as tasks of Dask distributed (extra `cluster`)."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any

from ..batches.runner import Answer, Task
from ..errors import InputError
from ..io._extra import missing

PATIENCE = 10  # s that a scheduler has to answer
RETRIES = 3  # of a task whose worker has died


@dataclass(frozen=True)
class Cluster:
    """Runs tasks on the workers of a Dask client."""

    client: Any

    def run(self, tasks: Iterable[Task[Answer]]) -> Generator[Answer, None, None]:
        """Yield the answer of every task, in the order in which they end."""
        from distributed import as_completed

        waiting = {self.client.submit(_run, task, pure=False, retries=RETRIES): task for task in tasks}
        try:
            for future in as_completed(list(waiting), loop=self.client.loop):
                task = waiting.pop(future)
                yield future.result() if future.status == "finished" else task.failed(str(future.exception()))
        finally:
            self.client.cancel(list(waiting))


def connected(scheduler: Any, jobs: int) -> tuple[Cluster, bool]:
    """The cluster of a Dask client or of the address of a scheduler, and whether its client is to be closed.

    The address "local" starts `jobs` workers here.

    Raises
    ------
    InputError
        If Dask is missing, or nothing answers at the address.
    """
    if missing("distributed"):
        raise InputError("scheduler: Dask needs a package: pip install 'dualpix[cluster]'")
    from distributed import Client

    if not isinstance(scheduler, str):
        return Cluster(scheduler), False
    if scheduler == "local":
        return Cluster(
            Client(n_workers=jobs, threads_per_worker=1, dashboard_address="127.0.0.1:0", set_as_default=False)
        ), True
    try:
        return Cluster(Client(scheduler, timeout=PATIENCE, set_as_default=False)), True
    except (OSError, ValueError, TypeError):
        raise InputError(
            f"scheduler {scheduler}: nothing answers there: start it with dask scheduler, and workers with dask worker "
            f"{scheduler} --nthreads 1"
        ) from None


def _run(task: Task[Answer]) -> Answer:
    return task.run()
