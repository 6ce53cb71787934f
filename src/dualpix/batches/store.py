"""What is finished is not done again: the one rule of resuming."""

from collections.abc import Callable
from typing import Protocol, TypeVar

Answer = TypeVar("Answer")


class Store(Protocol[Answer]):
    """Where finished answers are kept."""

    def find(self, key: str) -> Answer | None:
        """Return the answer that was kept with this key. None if there is none, or not all of it."""
        ...

    def keep(self, key: str, answer: Answer) -> None:
        """Keep an answer, whole or not at all."""
        ...


def once(store: Store[Answer], key: str, make: Callable[[], Answer]) -> Answer:
    """The answer that is kept with this key. If there is none, it is made now and kept."""
    found = store.find(key)
    if found is None:
        found = make()
        store.keep(key, found)
    return found
