"""The tables of the paper on the available data: printed figures, the authors' code, our reproduction, our best.

The printed figures are means over whole data sets, so they match ours only if the set is complete. We also ran the
authors' code on a few scenes. Its figures are shown if exactly these scenes are available, at the same size.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..run import Progress, Step
from .compare import compare
from .datasets import Dataset, open_dataset
from .methods import Method
from .outcomes import Comparison
from .paper import AFFINE, MEASURED, Figures, Row, Table, tables, with_networks
from .tables import SCORES, number


@dataclass(frozen=True)
class Line:
    """A row of a table with all its figures in one protocol. Ours are means over the available scenes.

    `missing` tells why there are no figures, by "rebuilt" and "best".
    """

    table: int
    label: str
    protocol: str
    scores: tuple[str, ...]
    printed: Figures
    measured: Figures | None
    rebuilt: Figures | None
    best: Figures | None
    best_method: str | None
    missing: dict[str, str | None]

    @property
    def deviations(self) -> Figures:
        """Relative difference of our reproduction from the authors' code, for the scores that were measured."""
        if not self.rebuilt or not self.measured:
            return ()
        own = self.rebuilt[-len(self.measured) :]
        return tuple(ours / theirs - 1 for ours, theirs in zip(own, self.measured, strict=True))

    @property
    def deviation(self) -> float | None:
        """The last of the deviations."""
        return self.deviations[-1] if self.deviations else None


@dataclass(frozen=True)
class Reproduction:
    """All tables for which there is data.

    Attributes
    ----------
    made : list
        The tables, each with its scenes in words and its lines.
    missing : dict
        Why each missing data set was not found, by name.
    problems : list of str
        A sentence for every scene that was skipped and every method that failed.
    """

    made: list[tuple[Table, str, list[Line]]]
    missing: dict[str, str]
    problems: list[str]


def reproduce(
    folder: str | os.PathLike[str],
    *,
    networks: Mapping[str, Method] | None = None,
    threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Make the tables of the paper again.

    Parameters
    ----------
    folder
        Holds the data sets dslr, google and middlebury, or some of them, under these names.
    networks
        Methods for the rows of networks, such as ``{"DPE": method("onnx:dddnet.onnx")}``.
    threads, cache, progress
        As for `compare`.

    Raises
    ------
    InputError
        If no data set is found.
    ParameterError
        If there is no row of that name for a network.
    """
    wanted = with_networks(tables(), networks or {})
    found, missing = _open_all(dict.fromkeys(table.dataset for table in wanted), Path(folder))
    methods = {name: _methods(table for table in wanted if table.dataset == name) for name in found}
    total = sum(len(methods[name]) * len(dataset.scenes) for name, dataset in found.items())
    result = Reproduction([], missing, [])
    before = 0
    for name, dataset in found.items():
        part = _part(progress, before, total)
        done = compare(dataset, methods[name], threads=threads, cache=cache, progress=part, pictures=False)
        before += len(methods[name]) * len(dataset.scenes)
        result.made.extend((table, _scenes(done), _lines(table, done)) for table in wanted if table.dataset == name)
        result.problems.extend(_problems(name, done))
    result.made.sort(key=lambda each: each[0].number)
    return result


def _open_all(names: Iterable[str], folder: Path) -> tuple[dict[str, Dataset], dict[str, str]]:
    """The data sets that were found, and the reasons for those that were not."""
    found: dict[str, Dataset] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            found[name] = open_dataset(name, folder / name)
        except InputError as error:
            missing[name] = str(error)
    if not found:
        for name, why in missing.items():
            if (folder / name).is_dir():
                raise InputError(why)
        raise InputError(f"{folder}: holds none of {', '.join(missing)}: give the folder that holds them by name")
    return found, missing


def _methods(wanted: Iterable[Table]) -> list[Method]:
    """The methods of all rows, each once."""
    rows = (row for table in wanted for row in table.rows)
    return list({each.name: each for row in rows for each in (row.rebuilt, row.best) if each}.values())


def _part(progress: Progress | None, before: int, total: int) -> Progress | None:
    """The progress of one comparison of several, which begins after `before` of all steps."""
    if progress is None:
        return None

    def report(step: Step) -> None:
        number = before + step.number
        progress(replace(step, share=(number - 1) / total, number=number, total=total))

    return report


def _problems(name: str, done: Comparison) -> Iterator[str]:
    for scene, why in done.skipped.items():
        yield f"skipped: {name}, scene {scene}: {why}"
    for each in done.outcomes:
        if each.error is not None:
            yield f"failed: {each.method} on {name}, scene {each.scene}: {each.error}"


def _scenes(done: Comparison) -> str:
    return f"{len(done.sizes)} scene{'s' * (len(done.sizes) != 1)}: {', '.join(done.sizes)}"


def _lines(table: Table, done: Comparison) -> list[Line]:
    protocols = [table.protocol, *(["proper"] if any(row.proper for row in table.rows) else [])]
    return [_line(table, row, protocol, done) for protocol in protocols for row in table.rows]


def _line(table: Table, row: Row, protocol: str, done: Comparison) -> Line:
    def figures(chosen: Method) -> Figures:
        return tuple(done.mean(chosen.name, protocol, score) for score in table.scores)

    failed = {chosen.name: why for chosen in (row.rebuilt, row.best) if chosen and (why := _why_failed(chosen, done))}
    own = protocol == table.protocol
    measured = (row.measured if own else row.proper) if done.sizes == MEASURED[table.dataset] else None
    return Line(
        table.number,
        row.label,
        protocol,
        table.scores,
        row.printed if own else (),
        (measured,) if isinstance(measured, float) else measured,
        figures(row.rebuilt) if row.rebuilt and row.rebuilt.name not in failed else None,
        figures(row.best) if row.best and row.best.name not in failed else None,
        row.best.name if row.best else None,
        {
            "rebuilt": failed.get(row.rebuilt.name) if row.rebuilt else _why_not(row),
            "best": failed.get(row.best.name) if row.best else None,
        },
    )


def _why_not(row: Row) -> str:
    """Why a row without a method has none."""
    return f"not run: give --method {row.label}=onnx:FILE.onnx" if row.learned else "not rebuilt"


def _why_failed(chosen: Method, done: Comparison) -> str | None:
    """Why a method has no mean: it must have a map of every scene."""
    if not done.sizes:
        return "no scene to score"
    failed = len(done.sizes) - len(done.finished(chosen.name))
    return f"failed on {failed} of {len(done.sizes)} scene{'s' * (len(done.sizes) != 1)}" if failed else None


def reproduction_lines(result: Reproduction) -> str:
    """The tables as text."""
    parts = []
    for table, scenes, lines in result.made:
        heads = "".join(f"{SCORES[score].head:>9s}" for score in table.scores)
        parts.append(f"Table {table.number}: {table.title} ({table.dataset}), {scenes}\n{' ' * 40}{heads}")
        for line in lines:
            parts.append(f"  {line.label} ({line.protocol})")
            parts += [f"    {name:36s}{text}" for name, text in _sources(line)]
        parts.append("")
    parts += [f"{name} is missing: {why}" for name, why in result.missing.items()]
    return "\n".join(parts).rstrip("\n")


def reproduction_record(folder: str, result: Reproduction) -> dict[str, Any]:
    """The tables, ready for JSON."""
    return {
        "folder": folder,
        "tables": [
            {"table": table.number, "title": table.title, "dataset": table.dataset, "scenes": scenes}
            | {"rows": [_record(line) for line in lines]}
            for table, scenes, lines in result.made
        ],
        "missing": result.missing,
        "problems": result.problems,
    }


def _record(line: Line) -> dict[str, Any]:
    return asdict(line) | {"deviations": line.deviations, "deviation": line.deviation}


def _sources(line: Line) -> list[tuple[str, str]]:
    """Where figures come from, and their text."""
    digits = 4 if line.scores == AFFINE else 2

    def text(figures: Figures | None) -> str:
        return _row([number(each, digits) for each in figures or ()], line)

    sources = [("printed, over the paper's whole set", text(line.printed))] if line.printed else []
    if line.measured:
        sources.append(("authors' code, these scenes", text(line.measured)))
    sources.append(("rebuilt", line.missing["rebuilt"] or text(line.rebuilt)))
    if line.deviations:
        sources.append(("  change from the authors' code", _row([f"{each:+.1%}" for each in line.deviations], line)))
    if line.best_method:
        sources.append((f"best: {line.best_method}", line.missing["best"] or text(line.best)))
    return sources


def _row(cells: list[str], line: Line) -> str:
    """The cells, aligned with the last columns of the table."""
    return " " * 9 * (len(line.scores) - len(cells)) + "".join(f"{cell:>9s}" for cell in cells)
