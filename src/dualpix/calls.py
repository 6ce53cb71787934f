"""`dualpix.disparity`, `dualpix.Sequence` and `dualpix.sequence`: those of `method`, with Python's own warnings.

Each sentence of `Result.warnings` is issued as a `DualpixWarning` that points at the caller's line. Commands, batches,
the app and evaluations call `method` itself, since they show the sentences in their own way. The logger ``dualpix`` has
them at the level INFO, so that a log of many pairs is complete. It says nothing at WARNING, so that nothing is shown
twice.
"""

from collections.abc import Iterable, Iterator
from functools import wraps
from typing import Any

from .method import api
from .method import sequence as clips
from .method.result import Result
from .run import warn
from .types import Input, Pair


@wraps(api.disparity)
def disparity(*args: Any, **kwargs: Any) -> Result:
    return told(api.disparity(*args, **kwargs))


@wraps(clips.sequence)
def sequence(*args: Any, **kwargs: Any) -> Iterator[Result]:
    return map(told, clips.sequence(*args, **kwargs))


class Sequence(clips.Sequence):
    __doc__ = clips.Sequence.__doc__

    def add(self, left: Input | Pair, right: Input | None = None, guide: Input | None = None) -> Result:
        return told(super().add(left, right, guide))

    def both_sides(self, pairs: Iterable[Pair]) -> Iterator[Result]:
        return map(told, super().both_sides(pairs))


for _public in (disparity, sequence, Sequence):
    _public.__module__ = __package__  # pickle finds them there, and users know them by that name


def told(result: Result) -> Result:
    """The result, after its warnings were issued."""
    for sentence in result.warnings:
        warn(sentence)
    return result
