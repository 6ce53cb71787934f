"""Manifests: a CSV or JSONL file with one shot a line."""

import csv
import io
import re
import reprlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..errors import InputError, ParameterError
from ..files import parse_json
from ..io import urls
from ..io.pairs import LAYOUTS, SIDES
from ..params import parse_setting, preset
from ..params.model import expectations
from ..params.rules import did_you_mean
from .shot import Shot

SUFFIXES = (".csv", ".jsonl", ".ndjson")
FILES = ("left", "right", "guide", "calibration")
CHOICES = {"layout": LAYOUTS, "first": SIDES, "axis": ("x", "y")}
COLUMNS = (*FILES, "name", "preset", *CHOICES)


class Row(NamedTuple):
    """A line of a table.

    Attributes
    ----------
    where, header : str
        What errors call the line, and the line that names its columns. In JSONL both are one.
    cells : dict
        Its cells by column.
    """

    where: str
    header: str
    cells: dict[str, Any]


def read_manifest(path: str) -> list[Shot]:
    """The shots of a manifest. Paths in it are relative to its folder.

    Raises
    ------
    InputError
        If it cannot be read, or a line is wrong. The message names the line.
    """
    return [shot_of(row.cells, row.where, urls.parent(path), row.header) for row in read_rows(path)]


def read_rows(path: str) -> list[Row]:
    """The lines of a CSV or JSONL file.

    Raises
    ------
    InputError
        If it cannot be read or is not what its suffix says.
    """
    try:
        text = io.TextIOWrapper(io.BytesIO(urls.read(path)), encoding="utf-8-sig").read()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): give a .csv or .jsonl file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text: give a .csv or .jsonl file in UTF-8") from None
    is_csv = path.lower().endswith(".csv")
    rows = _csv_rows(path, text) if is_csv else _json_rows(path, text)
    return [Row(f"{path}, line {line}", f"{path}, line {1 if is_csv else line}", cells) for line, cells in rows]


def shot_of(row: Mapping[str, Any], where: str, folder: str = "", header: str = "") -> Shot:
    """The shot that a row describes: its files, its name, and options.

    Raises
    ------
    InputError
        If a column is missing or unknown, or has a wrong value. The message begins with `where`, or with `header` if
        that is given and a column has a wrong name.
    """
    values = {column: cell_text(value) for column, value in row.items()}
    values = {column: value for column, value in values.items() if value}
    if "left" not in values:
        raise InputError(f"{where}: column left is missing: give the left view, or the file with both views")
    for column in values:
        if column not in _known_columns():
            columns = f"the columns are {', '.join(COLUMNS)} and the parameters"
            hint = did_you_mean(column, _known_columns())
            raise InputError(f"{header or where}: unknown column {reprlib.repr(column)}: {hint}{columns}")
    files = {role: urls.joined(folder, values[role]) for role in FILES if role in values}
    options = {column: value for column, value in values.items() if column not in (*FILES, "name")}
    _check_options(options, where)
    return Shot(name=_checked_name(values.get("name", ""), where), options=options, where=where, **files)


@cache
def _known_columns() -> tuple[str, ...]:
    return (*COLUMNS, *expectations())


def _checked_name(name: str, where: str) -> str:
    path = PurePosixPath(name)
    if name and (path.is_absolute() or ".." in path.parts or not path.name or "\\" in name):
        raise InputError(f"{where}: name {name!r} must be a path below the output folder, such as day1/shot3")
    return path.as_posix() if name else ""


def _check_options(options: dict[str, str], where: str) -> None:
    for column, value in options.items():
        try:
            if column == "preset":
                preset(value)
            elif column not in CHOICES:
                parse_setting(f"{column}={value}")
            elif value not in CHOICES[column]:
                raise ParameterError(f"{column} must be {' or '.join(CHOICES[column])}, not {value!r}")
        except ParameterError as error:
            raise InputError(f"{where}: {error}") from None


def cell_text(value: Any) -> str:
    """A cell as text. Lists are joined by commas, as --set takes them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(cell_text, value))
    return str(value).strip()


def _csv_rows(path: str, text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows with the numbers of their lines, after a header."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        columns = [column.strip() for column in next(reader, [])]
        if len(columns) == 1 and (found := re.search("[;\t]", columns[0])):
            other = {";": "semicolons", "\t": "tabs"}[found[0]]
            raise InputError(f"{path}, line 1: the cells are separated by {other}: separate them by commas")
        if "left" not in columns:
            raise InputError(f"{path}, line 1: column left is missing: begin with a line such as left,right")
        if len(columns) != len(set(columns)):
            raise InputError(f"{path}, line 1: a column is named twice: give every column its own name")
        for row in reader:
            line = reader.line_num
            if not row:
                continue
            if len(row) < len(columns):
                raise InputError(f"{path}, line {line}: column {columns[len(row)]} is missing: add a cell")
            if len(row) > len(columns):
                raise InputError(
                    f"{path}, line {line}: has {len(row)} cells, but line 1 names {len(columns)} columns: quote commas"
                )
            yield line, dict(zip(columns, row, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: is not CSV ({error}): correct it") from None


def _json_rows(path: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects with the numbers of their lines."""
    for line, content in enumerate(text.split("\n"), 1):
        if not content.strip():
            continue
        try:
            row = parse_json(content)
        except ValueError as error:
            raise InputError(f"{path}, line {line}: is not JSON ({error}): write one object a line") from None
        if not isinstance(row, dict):
            raise InputError(f'{path}, line {line}: is no JSON object: write one such as {{"left": "a.CR3"}}')
        yield line, row
