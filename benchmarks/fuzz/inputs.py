"""The inputs of a run: number i of a seed is always the same file for the same reader, or the same call of a kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from dualpix.errors import DualpixError

from . import kernels
from .crafted import CRAFTED
from .mutate import mutated
from .oracle import Limits, Told, judge
from .targets import KINDS, Reader, seeds

KERNELS = "kernels"
Finding = tuple[str, str]  # a short name, by which findings are counted, and the details


class Input(NamedTuple):
    """What one judgement is about. A call of a kernel has no file."""

    kind: str
    reader: Reader | None
    data: bytes
    seed: str


def number(index: int, seed: int, kinds: tuple[str, ...]) -> Input:
    """Input `index` of a run. First come the crafted files and the corpus as it is, each for all of its readers."""
    name = f"{seed}-{index}"
    if index < len(unchanged(kinds)):
        kind, reader, make = unchanged(kinds)[index]
        return Input(kind, reader, make(), name)
    random = Random(name)
    kind = random.choices(kinds, weights(kinds))[0] if len(kinds) > 1 else kinds[0]
    if kind == KERNELS:
        return Input(kind, None, b"", name)
    files = files_of(kind)
    data = mutated(random.choice(files), files, random)
    return Input(kind, random.choice(KINDS[kind].readers), data, name)


@cache
def unchanged(kinds: tuple[str, ...]) -> list[tuple[str, Reader, Callable[[], bytes]]]:
    """Files that are not mutated, and their readers."""
    crafted = [(kind, cache(make)) for kind, make in CRAFTED.values()]
    corpus = [(kind, partial(bytes, data)) for kind in KINDS for data in files_of(kind)]
    return [
        (kind, reader, make)
        for kind, make in (*crafted, *corpus)
        if kind in kinds
        for reader in dict.fromkeys(KINDS[kind].readers)
    ]


@cache
def files_of(kind: str) -> list[bytes]:
    return seeds(kind)


@cache
def weights(kinds: tuple[str, ...]) -> list[int]:
    return [KINDS[kind].weight if kind != KERNELS else 6 for kind in kinds]


def run(given: Input, folder: str, limits: Limits) -> Finding | None:
    """Judge an input. Files are written into `folder`."""
    if given.reader is None:
        work: Callable[[Told], None] = partial(kernels.call, Random(given.seed))
        return judge(work, limits, (ValueError, TypeError))
    path = os.path.join(folder, KINDS[given.kind].file)
    Path(path).write_bytes(given.data)
    return judge(partial(given.reader, path), limits, (DualpixError,))
