"""What a runner is: it runs tasks, here, in other processes or on other machines, and returns their answers."""

from collections.abc import Generator, Iterable
from typing import Protocol, TypeVar

Answer = TypeVar("Answer")
Answer_co = TypeVar("Answer_co", covariant=True)


class Task(Protocol[Answer_co]):
    """Something to do. It is picklable, and its answer does not depend on where it runs.

    `run` does not raise for one bad input: the answer says what is wrong.
    """

    def run(self) -> Answer_co:
        """Do it and return the answer."""
        ...

    def failed(self, why: str) -> Answer_co:
        """Return the answer if the process that ran the task has died."""
        ...

    def gigabytes(self) -> float:
        """Return the memory that `run` needs. 0 means that it is not known."""
        ...


class Runner(Protocol):
    """Runs tasks. A cluster is another runner."""

    def run(self, tasks: Iterable[Task[Answer]]) -> Generator[Answer, None, None]:
        """Yield the answer of every task, once, in any order.

        A task is taken from `tasks` when it can begin, so that a long list need not exist at once. Closing the
        generator ends the work.
        """
        ...


class Here:
    """The runner that does all in this process, one task after the other, in their order."""

    def run(self, tasks: Iterable[Task[Answer]]) -> Generator[Answer, None, None]:
        """Yield the answer of every task."""
        for task in tasks:
            yield task.run()
