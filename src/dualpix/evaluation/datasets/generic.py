"""generic: any folder, described by a table of its scenes or by a pattern for each kind of file."""

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...batches.manifest import SUFFIXES, cell_text, read_rows
from ...errors import InputError, ParameterError
from ...io import read_pair
from ...io.recorded import assumed_kitti
from ...params import unknown_name
from ...types import Map, same_size
from ..metrics import pixel_errors
from ..outcomes import Scene, Scores
from ..truth import in_pixels, kind_of, read_mask, read_truth, unit_range
from .layout import Layout, affine_scores, numbers

TABLES = ("scenes.csv", "scenes.jsonl")  # looked for in a folder that nothing else describes
FILES = ("left", "right", "truth", "mask", "guide")
SHARED = ("mask", "guide")  # one file may be that of all scenes
KEYWORDS = (*FILES, "truth_kind", "scenes")  # of a description
COLUMNS = (*FILES, "truth_kind", "name", "axis", "range")
GAIN = "proper-gain"  # the protocol that allows for one gain per scene

_WILDCARD = r"\*\*/?|\*|\?|\[!?\]?[^]/]*\]"


@dataclass(frozen=True)
class Place:
    """The files of a scene and what is known about them. `table` is the file that lists the scene."""

    left: Path
    right: Path | None
    truth: Path
    truth_kind: str
    mask: Path | None = None
    guide: Path | None = None
    axis: str = "x"
    range: tuple[float, float] | None = None
    table: Path | None = None

    @property
    def files(self) -> list[Path]:
        """All files that the scene is read from, and the table."""
        return [file for file in (*(getattr(self, role) for role in FILES), self.table) if file is not None]


def find(folder: Path) -> dict[str, Place]:
    """The scenes that ``scenes.csv`` or ``scenes.jsonl`` of the folder lists."""
    tables = [folder / name for name in TABLES if (folder / name).is_file()]
    return _listed(folder, tables[0], None) if tables else {}


def describe(folder: Path, *, scenes: str | None = None, truth_kind: str | None = None, **patterns: str | None) -> Any:
    """The scenes of a folder by name, as a user describes them.

    Parameters
    ----------
    folder
        Paths and patterns are relative to it.
    scenes
        A CSV or JSONL file with a line for every scene. Its columns are COLUMNS; left and truth are needed.
    truth_kind
        See `kind_of`. It holds for all scenes whose line names none.
    patterns
        A pattern such as ``*/left.png`` for each of FILES, instead of `scenes`. What the wildcards stand for names the
        scene and tells which files belong together. A mask or guide without wildcards belongs to every scene.

    Raises
    ------
    InputError
        If the description is wrong: an unknown column, files without partners, an uncertain kind of truth.
    """
    given = {role: pattern for role, pattern in patterns.items() if pattern is not None}
    for role in given:
        if role not in FILES:
            raise ParameterError(unknown_name("keyword", role, KEYWORDS))
    if scenes is None and not given:
        table = next((folder / name for name in TABLES if (folder / name).is_file()), None)
        return {} if table is None else _listed(folder, table, truth_kind)
    if scenes is not None:
        if given:
            raise ParameterError(f"{next(iter(given))}= does not go with scenes=, which names all files: leave it out")
        if not scenes.lower().endswith(SUFFIXES):
            raise InputError(f"{scenes}: is no table of scenes: give a .csv or .jsonl file")
        return _listed(folder, Path(scenes), truth_kind)
    for needed in ("left", "truth"):
        if needed not in given:
            raise ParameterError(f"{needed}= is missing: give a pattern for it, or a table as scenes=")
    return _matched(folder, given, truth_kind)


def measure(places: Mapping[str, Place]) -> tuple[str, str]:
    """The protocol and the score that rank the methods. All scenes must have truths that are scored alike."""
    kinds = {in_pixels(place.truth_kind): name for name, place in places.items()}
    if len(kinds) > 1:
        raise InputError(
            f"scene {kinds[True]} has a truth in pixels but scene {kinds[False]} has none, and they are scored "
            "differently: evaluate them apart"
        )
    return ("proper", "mae" if True in kinds else "geometric_mean")


def notes(places: Mapping[str, Place]) -> tuple[str, ...]:
    """What is assumed about the truth, said of the first scene for which it is. Unreadable files are told later."""
    for place in places.values():
        with suppress(InputError):
            if in_pixels(place.truth_kind) and assumed_kitti(place.truth):
                return (f"{place.truth} is read as KITTI disparities, 256 per px: if it is something else, convert it",)
    return ()


def read(name: str, place: Place) -> Scene:
    """The views and the truth where the mask is white: a disparity in px, or inverse depth scaled to 0..1."""
    pair = read_pair(place.left, place.right, place.guide)
    length = pair.shape[1] if place.axis == "x" else pair.shape[0]
    truth = read_truth(place.truth, place.truth_kind, length)
    same_size((str(place.left), pair.shape), (str(place.truth), truth.shape))
    if place.mask is not None:
        mask = read_mask(place.mask)
        same_size((str(place.left), pair.shape), (str(place.mask), mask.shape))
        truth[~mask] = np.nan
    exact = in_pixels(place.truth_kind)
    truth = truth if exact else unit_range(truth)
    return Scene(name, pair.left, pair.right, pair.guide, truth, exact, axis=place.axis, range=place.range)


def score(scene: Scene, disparity: Map, confidence: Map | None) -> Scores:
    """Errors in pixels, without any fit and with one gain; or affine-invariant scores if the truth is relative."""
    if not scene.in_pixels:
        return affine_scores("proper")(scene, disparity, confidence)
    return {
        protocol: numbers(pixel_errors(disparity, scene.truth, confidence, crop=0, fit_gain=fit))
        for protocol, fit in (("proper", False), (GAIN, True))
    }


# ---- tables of scenes ----------------------------------------------------------------------------


def _listed(folder: Path, table: Path, truth_kind: str | None) -> dict[str, Place]:
    rows = read_rows(str(table))
    named = _names([cell_text(row.cells.get("left")) for row in rows])
    places: dict[str, Place] = {}
    for (where, header, row), otherwise in zip(rows, named, strict=True):
        cells = {column: cell_text(value) for column, value in row.items()}
        for column in cells:
            if column not in COLUMNS:
                raise InputError(f"{header}: {unknown_name('column', column, COLUMNS)}")
            if "\0" in cells[column]:
                raise InputError(f"{where}: column {column} holds a zero byte: remove it")
        name = cells.get("name") or otherwise
        if name in places:
            raise InputError(f"{where}: scene {name} is there twice: give every scene a name of its own")
        places[name] = _place(folder, {c: value for c, value in cells.items() if value}, where, truth_kind, table)
    if not places:
        raise InputError(f"{table}: lists no scene: add a line for each, with the columns left, right and truth")
    return places


def _place(folder: Path, cells: dict[str, str], where: str, truth_kind: str | None, table: Path) -> Place:
    for needed in ("left", "truth"):
        if needed not in cells:
            raise InputError(f"{where}: column {needed} is missing: name the file")
    files: dict[str, Any] = {role: folder / cells[role] for role in FILES if role in cells}
    axis = cells.get("axis", "x")
    if axis not in ("x", "y"):
        raise InputError(f"{where}: axis must be x or y, not {axis!r}")
    try:
        kind = kind_of(files["truth"], cells.get("truth_kind") or truth_kind)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    right = files.pop("right", None)
    return Place(right=right, truth_kind=kind, axis=axis, range=_range(cells.get("range"), where), table=table, **files)


def _range(text: str | None, where: str) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, re.split(r"[,;\s]+", text))
    except ValueError:
        low = high = np.nan
    if not low < high or not np.isfinite([low, high]).all():
        raise InputError(f"{where}: range must be the least and the greatest disparity in px, as -8 8, not {text!r}")
    return low, high


def _names(lefts: list[str]) -> list[str]:
    """Names of scenes from their left views: the path below their common folder, without what all share at the end."""
    paths = [Path(os.path.splitext(os.path.abspath(left))[0]) for left in lefts]
    if len(paths) < 2:
        return [path.name or "scene" for path in paths]
    same_end = len({path.name for path in paths}) == 1
    paths = [path.parent for path in paths] if same_end else paths
    common = os.path.commonpath(path.parent for path in paths)
    return [path.relative_to(common).as_posix() for path in paths]


# ---- patterns ------------------------------------------------------------------------------------


def _matched(folder: Path, patterns: dict[str, str], truth_kind: str | None) -> dict[str, Place]:
    """The scenes that match, paired by what the wildcards of their patterns stand for."""
    found = {role: _matches(folder, role, pattern) for role, pattern in patterns.items()}
    names = found["left"]
    for role, files in found.items():
        if files.keys() == names.keys() or (None in files and role in SHARED):
            continue
        alone = sorted((files.keys() ^ names.keys()) - {None}, key=str)[0]
        missing = role if alone in names else "left"
        count = f"{len(files)} file{'s' * (len(files) != 1)}"
        raise InputError(
            f"{role}={patterns[role]} matches {count} but left={patterns['left']} {len(names)}, and"
            f" {alone} has no {missing}: add the file or narrow the pattern"
        )
    places = {}
    for name in sorted(names, key=str):
        own: dict[str, Any] = {role: files[name if name in files else None] for role, files in found.items()}
        kind = kind_of(own["truth"], truth_kind)
        places[name or own["left"].stem] = Place(right=own.pop("right", None), truth_kind=kind, **own)
    return places


def _matches(folder: Path, role: str, pattern: str) -> dict[str | None, Path]:
    """The files by what the wildcards stand for; by None if there are no wildcards."""
    if not glob.has_magic(pattern):
        return {None: folder / pattern}
    files = glob.glob(os.path.join(glob.escape(str(folder)), pattern), recursive=True)
    base = "" if os.path.isabs(pattern) else f"{folder}{os.sep}"
    expression = re.compile(_expression(pattern), re.DOTALL)
    found: dict[str | None, Path] = {}
    for file in sorted(filter(os.path.isfile, files)):
        inside = file.removeprefix(base).replace(os.sep, "/")
        if (match := expression.fullmatch(inside)) is None:
            continue
        name = "/".join(part.strip("/") for part in match.groups() if part.strip("/"))
        if name in found:
            raise InputError(f"{role}={pattern}: {found[name]} and {file} would be one scene: use fewer wildcards")
        found[name] = Path(file)
    if not found:
        raise InputError(f"{role}={pattern}: matches no file below {folder}: correct the pattern, and quote it")
    return found


def _expression(pattern: str) -> str:
    """The pattern as a regular expression with a group for every run of wildcards."""

    def wildcard(found: re.Match[str]) -> str:
        meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        brackets = fnmatch.translate(found[0])[len("(?s:") : -len(r")\Z")]  # as glob reads them
        return meaning.get(found[0]) or f"(?!/){brackets}"

    parts = re.split(f"((?:{_WILDCARD})+)", pattern.replace(os.sep, "/"))  # every second one is a run of wildcards
    return "".join(f"({re.sub(_WILDCARD, wildcard, p)})" if i % 2 else re.escape(p) for i, p in enumerate(parts))


LAYOUT = Layout(
    f"{' or '.join(TABLES)}, which names the files of every scene, such as a/left.png, or patterns "
    "by left=, right= and truth=",
    find,
    read,
    score,
)


def files_of(places: Iterable[Place]) -> frozenset[Path]:
    """All files of the scenes, resolved."""
    return frozenset(file.resolve() for place in places for file in place.files)
