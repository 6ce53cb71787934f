"""The files of the command line: pairs, files with both views, and folders of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..errors import DualpixError, InputError
from ..io.one_file import kind_of
from .shots import Source
from .sides import right_of, stem_of

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".pgm", ".ppm", ".jp2", ".heic", ".avif")
ALONE = (".cr2", ".cr3", ".dng", ".mpo")  # hold both views


class Found(NamedTuple):
    """The shots, and sentences about what was left out."""

    sources: list[Source]
    notes: list[str]


def find(files: Sequence[str], most: int) -> Found:
    """Find the shots: two views; or any number of files with both views, pairs, and folders of such.

    Parameters
    ----------
    files
        Two pictures are the left and the right view. Among more, the names tell which belong together.
    most
        How many shots may be open.

    Raises
    ------
    InputError
        If a file is missing, or a folder holds no shot.
    """
    for path in files:
        if not os.path.exists(path):
            raise InputError(f"{path}: no such file or folder: check the path")
    if len(files) == 2 and not any(map(os.path.isdir, files)) and all(kind_of(path) == "picture" for path in files):
        return Found([_source(*files)], [])
    sources, notes = [], []
    folders = [path for path in files if os.path.isdir(path)]
    given = [path for path in files if path not in folders]
    pairs, others = _paired(given)
    sources += [*pairs, *(_source(path) for path in others)]  # their run says what they lack
    for folder in folders:
        found, left_out = _in_folder(folder)
        if not found:
            raise InputError(f"{folder}: holds no shot: name views *_left.* and *_right.*, or give the files")
        sources += found
        if left_out:
            shown = ", ".join(map(os.path.basename, left_out[:3])) + (", ..." if len(left_out) > 3 else "")
            notes.append(f"{folder}: {len(left_out)} pictures belong to no pair and were left out ({shown})")
    if len(sources) > most:
        notes.append(f"{len(sources) - most} shots were left out: dualpix app opens at most {most}")
    return Found(sources[:most], [_shown(note) for note in notes])


def name_of(source: Source) -> str:
    """What the film strip calls a shot: the file, with its folder if the name alone says nothing."""
    folder, name = os.path.split(_shown(os.path.abspath(source.paths["left"])))
    return name if len(stem_of(name)) > 5 else f"{os.path.basename(folder)}/{name}"


def _source(left: str, right: str | None = None) -> Source:
    paths = {"left": left} if right is None else {"left": left, "right": right}
    return Source(paths, {role: _shown(path) for role, path in paths.items()})


def _shown(path: str) -> str:
    """The path as text that can be sent: bytes that are not UTF-8 become question marks."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _in_folder(folder: str) -> tuple[list[Source], list[str]]:
    """The shots of a folder and of those in it, and the pictures that belong to none."""
    if os.path.isdir(os.path.join(folder, "left_pd")):
        return [_source(folder)], []
    return _paired(list(_tree(folder)))


def _tree(folder: str) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name.lower().endswith((*PICTURES, *ALONE)):
                yield os.path.join(place, name)


def _paired(files: list[str]) -> tuple[list[Source], list[str]]:
    """The shots among files, in their order, and the pictures that are none."""
    places = {(os.path.dirname(path), stem_of(os.path.basename(path))): path for path in files}
    partners: dict[str, str] = {}
    for path in files:
        folder, name = os.path.split(path)
        for stem in right_of(name):
            if places.get((folder, stem), path) != path:
                partners[path] = places[folder, stem]
    rights = set(partners.values())
    sources, others = [], []
    for path in files:
        if path in partners:
            sources.append(_source(path, partners[path]))
        elif path not in rights:
            (sources.append(_source(path)) if _holds_both(path) else others.append(path))
    return sources, others


def _holds_both(path: str) -> bool:
    if path.lower().endswith(ALONE):
        return True
    try:
        return kind_of(path) != "picture"
    except DualpixError:
        return False
