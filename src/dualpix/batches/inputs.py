"""What to do: the shots in folders, behind patterns, in manifests and in single files."""

import glob
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..io.captures import find_capture
from ..io.pairs import kind_of
from ..types import StrPath
from .folder import is_batch
from .manifest import SUFFIXES, read_manifest, shot_of
from .shot import Shot

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".pgm", ".ppm", ".jp2", ".heic", ".avif")
ALONE = (".cr2", ".cr3", ".dng", ".mpo")  # hold both views
# The word for the left view in a path, and that for the right view. A word ends where its letters or its case end.
_WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R"), ("im0", "im1"))

Row = Mapping[str, Any]


class Found(NamedTuple):
    """The shots, and how many pictures in folders belong to none."""

    shots: list[Shot]
    others: int


def find_shots(inputs: Sequence[StrPath | Row], layout: str | None = None, skip: StrPath | None = None) -> Found:
    """Find the shots in folders, behind patterns, in manifests and in single files.

    Parameters
    ----------
    inputs
        Folders, patterns such as ``photos/**/*.CR3``, manifests, files, or rows of a manifest as dicts.
    layout
        How one picture holds both views. With it every picture in a folder is a shot.
    skip
        A folder that is not searched: that of the outputs.

    Raises
    ------
    InputError
        If an input does not exist or holds no shot, or a manifest is wrong.
    """
    shots: list[Shot] = []
    places: list[str] = []  # of the shots without a name
    others = 0
    for number, each in enumerate(inputs, 1):
        if isinstance(each, Mapping):
            shots.append(shot_of(each, f"input {number}"))
            continue
        path = os.fspath(each)
        if path.lower().endswith(SUFFIXES) and not os.path.isdir(path):
            shots += read_manifest(path)
            continue
        place, files, chosen = _files(path, skip)
        found, left_out = _paired(files, layout, chosen)
        if not found:
            raise InputError(f"{path}: holds no shot: name views *_left.* and *_right.*, or give a manifest")
        places.append(place)
        shots += found
        others += left_out
    shots = list({shot.where: shot for shot in shots}.values())  # inputs may overlap
    base = os.path.commonpath([os.path.abspath(place) for place in places]) if places else None
    return Found([shot if shot.name else replace(shot, name=_name(shot.left, base)) for shot in shots], others)


def _name(left: str, base: str | None) -> str:
    """The path below the common folder, without suffix. In a manifest, the name of the file."""
    inside = os.path.basename(left) if base is None else os.path.relpath(os.path.abspath(left), base)
    if inside.startswith(os.pardir):
        inside = os.path.basename(left)
    return Path(os.path.splitext(inside)[0]).as_posix()


def _files(path: str, skip: StrPath | None) -> tuple[str, list[str], bool]:
    """The folder that names are relative to, the files to look at, and whether the user has chosen each of them."""
    if os.path.isdir(path):
        return path, list(_tree(path, skip)), False
    if os.path.exists(path):
        return os.path.dirname(path), [path], True
    if not glob.has_magic(path):
        raise InputError(f"{path}: no such file or folder: check the path")
    fixed = re.split(r"[*?\[]", path, maxsplit=1)[0]
    return os.path.dirname(fixed), sorted(filter(os.path.isfile, glob.glob(path, recursive=True))), True


def _tree(folder: str, skip: StrPath | None) -> Iterator[str]:
    """The pictures of a folder and of those in it. Outputs of batches and hidden folders are left out."""
    seen = {os.path.realpath(skip)} if skip is not None else set()
    for place, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen or is_batch(place):
            folders.clear()
            continue
        seen.add(real)  # a link may lead back to it
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith(".") and name.lower().endswith((*PICTURES, *ALONE)):
                yield os.path.join(place, name)


def _paired(files: Collection[str], layout: str | None, chosen: bool) -> tuple[list[Shot], int]:
    """The shots among files, and the number of files that belong to none.

    Files that the user has chosen are shots even if they do not look like one. Running them says why they are not.
    """
    partners = {file: partner for file in files if (partner := _partner(file)) is not None}
    rights = set(partners.values())
    shots, others = [], 0
    for file in files:
        if file in rights:
            continue
        if file in partners:
            shots.append(Shot("", file, partners[file], _guide(file), where=file))
        elif chosen or layout is not None or _holds_both(file):
            shots.append(Shot("", file, where=file))
        else:
            others += 1
    return shots, others


def _partner(file: str) -> str | None:
    """The file of the right view, if the name of this one says that it is the left view."""
    if file.lower().endswith(ALONE):
        return None
    folder, name = os.path.split(file)
    for left, right in _WORDS:
        word = re.compile(rf"(?<![A-Za-z]){left}(?![a-z]|(?<=[A-Z])[A-Z])")
        # The word stands in the name, in the innermost folder that has one, or in both.
        parts = folder.split(os.sep)
        inner = next((i for i in reversed(range(len(parts))) if word.search(parts[i])), None)
        other = folder
        if inner is not None:
            other = os.sep.join([*parts[:inner], word.sub(right, parts[inner]), *parts[inner + 1 :]])
        for place in (folder, other):
            candidate = os.path.join(place, word.sub(right, name))
            if candidate != file and os.path.isfile(candidate):
                return candidate
    return None


def _guide(left: str) -> str | None:
    """The picture of a capture of Google's set."""
    try:
        return str(find_capture(left).guide)
    except InputError:
        return None


def _holds_both(file: str) -> bool:
    if file.lower().endswith(ALONE):
        return True
    try:
        return kind_of(file) != "picture"
    except InputError:
        return False
