"""What to do: the shots in folders, behind patterns, in manifests and in single files."""

import glob
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError, OutputError
from ..files import given_path
from ..io import urls
from ..io.captures import find_capture
from ..io.one_file import kind_of
from ..types import StrPath
from .folder import BATCH, is_batch
from .manifest import SUFFIXES, read_manifest, shot_of
from .shot import Shot

PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".pgm", ".ppm", ".jp2", ".heic", ".avif")
ALONE = (".cr2", ".cr3", ".dng", ".mpo")  # hold both views
# The word for the left view in a path, and that for the right view. A word ends where its letters or its case end.
_WORDS = (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R"), ("im0", "im1"))
_GOOGLE = re.compile(r"(.*)/left_pd/([^/]+)/result_leftPd_(\w+)\.png")

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
    OutputError
        If an input is the folder `skip`.
    """
    shots: list[Shot] = []
    places: list[str] = []  # of the shots without a name
    others = 0
    for number, each in enumerate(inputs, 1):
        if isinstance(each, Mapping):
            shots.append(shot_of(each, f"input {number}"))
            continue
        path = urls.plain(given_path(each, f"input {number}"))
        if path.lower().endswith(SUFFIXES) and not os.path.isdir(path):
            shots += read_manifest(path)
            continue
        if skip is not None and _is_same(path, os.fspath(skip)):
            raise OutputError(f"{path}: the output folder is the input folder: choose another")
        place, files, chosen = _files(path, skip)
        if chosen and not files:
            raise InputError(f"{path}: no file matches this pattern: check it, and quote it")
        found, left_out = _paired(files, layout, chosen)
        if not found:
            raise InputError(f"{path}: holds no shot: name views *_left.* and *_right.*, or give a manifest")
        places.append(place)
        shots += found
        others += left_out
    shots = list({shot.where: shot for shot in shots}.values())  # inputs may overlap
    base = urls.common([urls.absolute(place) for place in places])
    return Found([shot if shot.name else replace(shot, name=_name(shot.left, base)) for shot in shots], others)


def _is_same(path: str, folder: str) -> bool:
    if urls.is_url(path) or urls.is_url(folder):
        return path.rstrip("/") == folder.rstrip("/")
    return os.path.isdir(path) and os.path.realpath(path) == os.path.realpath(folder)


def _name(left: str, base: str | None) -> str:
    """The path below the common folder, without suffix. In a manifest, the name of the file."""
    inside = urls.base_name(left) if base is None else urls.relative(urls.absolute(left), base)
    if inside.startswith(os.pardir) or urls.is_url(inside) or os.path.isabs(inside):
        inside = urls.base_name(left)
    return Path(os.path.splitext(inside)[0]).as_posix()


def _files(path: str, skip: StrPath | None) -> tuple[str, list[str], bool]:
    """The folder that names are relative to, the files to look at, and whether the user has chosen each of them."""
    if urls.is_url(path):
        return _files_of_store(path, skip)
    if os.path.isdir(path):
        return path, list(_tree(path, skip)), False
    if os.path.exists(path):
        return os.path.dirname(path), [path], True
    if not glob.has_magic(path):
        raise InputError(f"{path}: no such file or folder: check the path")
    return _fixed(path), sorted(filter(os.path.isfile, glob.glob(path, recursive=True))), True


def _files_of_store(url: str, skip: StrPath | None) -> tuple[str, list[str], bool]:
    """As `_files`, for a folder, a pattern or a file behind a URL. In a folder only names are looked at."""
    if glob.has_magic(url):
        return _fixed(url), urls.matching(url), True
    files = urls.files_below(url)
    if not files:
        if not urls.is_file(url):
            raise InputError(f"{url}: no such file or folder: check the URL")
        return urls.parent(url), [url], True
    done = [folder for each in files if urls.base_name(each) == BATCH and is_batch(folder := urls.parent(each))]
    skipped = tuple(f"{folder}/" for folder in (*done, *([os.fspath(skip)] if skip is not None else [])))
    pictures = [each for each in files if each.lower().endswith((*PICTURES, *ALONE))]
    inside = [each for each in pictures if "/." not in each.removeprefix(url)]
    return url, [each for each in inside if not each.startswith(skipped)], False


def _fixed(pattern: str) -> str:
    """The folder that a pattern begins with."""
    return urls.parent(re.split(r"[*?\[]", pattern, maxsplit=1)[0])


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
    known = set(files)
    exists = urls.is_file if chosen else known.__contains__

    def is_file(path: str) -> bool:
        return path in known or (exists(path) if urls.is_url(path) else os.path.isfile(path))

    partners = {file: partner for file in files if (partner := _partner(file, is_file)) is not None}
    rights = set(partners.values())
    shots, others = [], 0
    for file in files:
        if file in rights:
            continue
        if file in partners:
            shots.append(Shot("", file, partners[file], _guide(file, is_file), where=file))
        elif chosen or layout is not None or _holds_both(file):
            shots.append(Shot("", file, where=file))
        else:
            others += 1
    return shots, others


def _partner(file: str, is_file: Callable[[str], bool]) -> str | None:
    """The file of the right view, if the name of this one says that it is the left view."""
    if file.lower().endswith(ALONE):
        return None
    folder, name, slash = urls.parent(file), urls.base_name(file), "/" if urls.is_url(file) else os.sep
    for left, right in _WORDS:
        word = re.compile(rf"(?<![A-Za-z]){left}(?![a-z]|(?<=[A-Z])[A-Z])")
        # The word stands in the name, in the innermost folder that has one, or in both.
        parts = folder.split(slash)
        inner = next((i for i in reversed(range(len(parts))) if word.search(parts[i])), None)
        other = folder
        if inner is not None:
            other = slash.join([*parts[:inner], word.sub(right, parts[inner]), *parts[inner + 1 :]])
        for place in (folder, other):
            candidate = urls.joined(place, word.sub(right, name))
            if candidate != file and is_file(candidate):
                return candidate
    return None


def _guide(left: str, is_file: Callable[[str], bool]) -> str | None:
    """The picture of a capture of Google's set."""
    if urls.is_url(left):
        named = _GOOGLE.fullmatch(left)
        guide = f"{named[1]}/scaled_images/{named[2]}/result_scaled_image_{named[3]}.jpg" if named else None
        return guide if guide and is_file(guide) else None
    try:
        return str(find_capture(left).guide)
    except InputError:
        return None


def _holds_both(file: str) -> bool:
    if file.lower().endswith(ALONE) or urls.is_url(file):
        return file.lower().endswith(ALONE)
    try:
        return kind_of(file) != "picture"
    except InputError:
        return False
