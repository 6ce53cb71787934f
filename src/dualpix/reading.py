"""`dualpix.read_map`: that of `io`, with Python's own warnings. `calls` would import the whole method for it."""

from functools import wraps

from .io import recorded
from .run import warn
from .types import Map, StrPath


@wraps(recorded.read_map)
def read_map(path: StrPath, *, keep_infinite: bool = False) -> Map:
    values = recorded.read_map(path, keep_infinite=keep_infinite)
    for sentence in recorded.assumptions(path):
        warn(sentence)
    return values


read_map.__module__ = __package__  # pickle finds it there
