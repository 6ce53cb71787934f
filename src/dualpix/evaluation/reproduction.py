"""The paper's tables again: what it prints, what its authors' code scores on the scenes at hand, ours, and our best.

The paper's figures are means over whole data sets. They can be compared with ours only if all of a set is there; what
the authors' code scores on a few scenes was measured apart, and is shown if just these scenes are there, of that size.
"""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..params import preset
from .compare import compare
from .datasets import Dataset, open_dataset
from .methods import Method, Preset, method
from .outcomes import Comparison
from .tables import SCORES, number

Figures = tuple[float, ...]
Progress = Callable[[str, int, int], None]

AFFINE = ("ai1", "ai2", "spearman", "geometric_mean")
STEREO = ("bad_0_5", "bad_1", "bad_2", "rmse")

# The scenes that the authors' code was measured on: height and width of what was matched.
MEASURED = {
    "dslr": {"005": (2940, 5180)},
    "google": {"20180302_mmmm_6527_20180303T130940": (1344, 1008)},
    "middlebury": {
        "Adirondack": (496, 718),
        "ArtL": (277, 347),
        "Motorcycle": (497, 741),
        "Piano": (481, 707),
        "Pipes": (485, 735),
        "Playroom": (476, 699),
        "Teddy": (375, 450),
        "Vintage": (480, 722),
    },
}


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes
    ----------
    printed : tuple of float
        The paper's figures, of the table's scores.
    measured : float or tuple or None
        What the authors' code scores on `MEASURED` in the table's protocol: the last of the scores alone, or all.
    rebuilt, best : Method or None
        Our reproduction, and what we would take instead.
    proper : tuple or None
        Like `measured`, in the protocol proper.
    """

    label: str
    printed: Figures
    measured: float | Figures | None = None
    rebuilt: Method | None = None
    best: Method | None = None
    proper: Figures | None = None


@dataclass(frozen=True)
class Table:
    """One of the paper's; `protocol` is that of its own figures."""

    number: int
    title: str
    dataset: str
    protocol: str
    scores: tuple[str, ...]
    rows: tuple[Row, ...]


def _cca(name: str, base: str = "dslr-a", **changes: Any) -> Preset:
    return Preset(name, preset(base).replace(**changes))


def _published(name: str, **changes: Any) -> Preset:
    """The published run of the ablations: histeq, P = 1.25, iterations 3,3,2."""
    settings: dict[str, Any] = {"subpixel": "histeq", "penalty": 1.25} | changes
    return _cca(name, **settings)


def _phone(name: str, **changes: Any) -> Preset:
    """The paper's own run on phones, with the histeq vertex."""
    return _cca(name, "phone-paper", subpixel="histeq", **changes)


def _scales(passes: tuple[int, ...]) -> Preset:
    """The same with fewer scales. The coarsest begins with disparities of -5 to 5, whatever its size."""
    reach = 5.0 * 2 ** (len(passes) - 1)
    return _published(f"{len(passes)} scales", iterations=passes, range=(-reach, reach))


def tables() -> tuple[Table, ...]:
    """Tables 1 to 7 of the paper."""
    auto, guided = method("auto"), method("auto+guided")
    phone, solved = method("phone"), method("phone+solver")
    return (
        Table(
            1,
            "DSLR, set A",
            "dslr",
            "paper-dslr",
            AFFINE,
            (
                Row("SDoF", (0.087, 0.129, 0.291, 0.144), rebuilt=method("sdof")),
                Row("DPdisp", (0.047, 0.074, 0.082, 0.065), rebuilt=method("dpdisp")),
                Row("DPE", (0.061, 0.098, 0.103, 0.110)),
                Row("CCA", (0.041, 0.068, 0.061, 0.053), (0.0274, 0.0532, 0.0747, 0.0477), _cca("CCA"), auto),
                Row("CCA + filter", (0.036, 0.061, 0.049, 0.048), 0.0446, _cca("CCA+guided", filter="guided"), guided),
            ),
        ),
        Table(
            2,
            "Google's phone set",
            "google",
            "paper-google",
            AFFINE,
            (
                Row("SDoF", (0.027, 0.037, 0.236, 0.063), rebuilt=method("sdof")),
                Row("CCA", (0.026, 0.036, 0.225, 0.059), (0.0217, 0.0302, 0.1186, 0.0427), _phone("CCA"), phone),
                Row(
                    "CCA + filter", (0.025, 0.035, 0.217, 0.057), 0.0398, _phone("CCA+solver", filter="solver"), solved
                ),
                Row("CCA with ENCC", (), 0.0453, method("phone-paper"), phone),
                Row("CCA with ENCC + filter", (), 0.0381, method("phone-paper+solver"), solved),
            ),
        ),
        Table(
            3,
            "Middlebury, quarter size",
            "middlebury",
            "paper-stereo",
            STEREO,
            (
                Row("SGM", (26.1, 17.2, 12.2, 9.9), None, method("sgm"), proper=(27.9, 17.5, 12.2, 11.9)),
                Row(
                    "CCA",
                    (26.2, 18.3, 13.2, 5.2),
                    (22.0, 14.7, 10.1, 4.19),
                    method("stereo-paper"),
                    method("stereo"),
                    proper=(25.9, 17.4, 12.0, 4.56),
                ),
                Row("SGM + filter", (23.5, 15.2, 10.5, 4.04)),
                Row(
                    "CCA + filter",
                    (24.6, 16.7, 11.6, 4.04),
                    None,
                    method("stereo-paper+solver"),
                    method("stereo+solver"),
                    proper=(24.8, 16.5, 11.3, 3.62),
                ),
            ),
        ),
        Table(
            4,
            "number of iterations",
            "dslr",
            "paper-dslr",
            AFFINE,
            tuple(
                Row(f"{n} iterations", printed, code, _published(f"iterations {n},{n},{n}", iterations=(n, n, n)), auto)
                for n, printed, code in (
                    (1, (0.055, 0.083, 0.092, 0.075), 0.0560),
                    (2, (0.051, 0.078, 0.082, 0.068), 0.0550),
                    (3, (0.041, 0.068, 0.061, 0.055), 0.0545),
                )
            ),
        ),
        Table(
            5,
            "number of scales",
            "dslr",
            "paper-dslr",
            AFFINE,
            tuple(
                Row(f"{len(passes)} scale{'s' * (len(passes) > 1)}", printed, code, _scales(passes), auto)
                for passes, printed, code in (
                    ((2,), (0.052, 0.078, 0.084, 0.069), 0.0523),
                    ((3, 2), (0.051, 0.076, 0.078, 0.067), 0.0526),
                    ((3, 3, 2), (0.041, 0.068, 0.061, 0.055), 0.0545),
                )
            ),
        ),
        Table(
            6,
            "cost",
            "dslr",
            "paper-dslr",
            AFFINE,
            (
                Row("SAD", (0.041, 0.068, 0.061, 0.053), 0.0477, _cca("cost sad"), auto),
                Row("SSD", (0.044, 0.072, 0.069, 0.060), None, _cca("cost ssd", cost="ssd"), auto),
                Row("NCC", (0.046, 0.078, 0.081, 0.066), None, _cca("cost ncc", cost="ncc"), auto),
            ),
        ),
        Table(
            7,
            "sub-pixel vertex",
            "dslr",
            "paper-dslr",
            AFFINE,
            (
                Row(
                    "parabola",
                    (0.041, 0.071, 0.064, 0.057),
                    (0.0337, 0.0601, 0.0964, 0.0580),
                    _published("parabola", subpixel="parabola"),
                    auto,
                ),
                Row(
                    "histeq", (0.041, 0.070, 0.063, 0.056), (0.0312, 0.0580, 0.0896, 0.0545), _published("histeq"), auto
                ),
                Row(
                    "ENCC",
                    (0.041, 0.068, 0.061, 0.053),
                    (0.0298, 0.0552, 0.0807, 0.0510),
                    _published("encc", subpixel="encc"),
                    auto,
                ),
            ),
        ),
    )


@dataclass(frozen=True)
class Line:
    """A row with its figures: mean scores over the scenes at hand, in one protocol.

    `missing` says why there are none, by "rebuilt" and "best".
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
        """How far the scores rebuilt are from what the authors' code scores, as far as that was measured; relative."""
        if not self.rebuilt or not self.measured:
            return ()
        own = self.rebuilt[-len(self.measured) :]
        return tuple(ours / theirs - 1 for ours, theirs in zip(own, self.measured, strict=True))

    @property
    def deviation(self) -> float | None:
        """The last of them."""
        return self.deviations[-1] if self.deviations else None


@dataclass(frozen=True)
class Reproduction:
    """All tables for which there is data.

    Attributes
    ----------
    made : list
        Table, the scenes in words, its lines.
    missing : dict
        By data set, why it is not there.
    problems : list of str
        Scenes that were skipped and methods that failed, a sentence each.
    """

    made: list[tuple[Table, str, list[Line]]]
    missing: dict[str, str]
    problems: list[str]


def reproduce(
    folder: str | os.PathLike[str],
    *,
    threads: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Make the paper's tables again.

    Parameters
    ----------
    folder
        Holds the data sets dslr, google and middlebury by name, or some of them.
    threads, cache, progress
        As for `dualpix.comparison.compare`.

    Raises
    ------
    InputError
        If no data set is there.
    """
    wanted, missing = tables(), dict[str, str]()
    found: dict[str, Dataset] = {}
    for name in dict.fromkeys(table.dataset for table in wanted):
        try:
            found[name] = open_dataset(name, Path(folder) / name)
        except InputError as error:
            missing[name] = str(error)
    if not found:
        for name, why in missing.items():
            if os.path.isdir(Path(folder) / name):
                raise InputError(why)
        raise InputError(f"{folder}: holds none of {', '.join(missing)}: give the folder that holds them by name")
    made: list[tuple[Table, str, list[Line]]] = []
    problems: list[str] = []
    for name, dataset in found.items():
        of_it = [table for table in wanted if table.dataset == name]
        methods = {m.name: m for table in of_it for row in table.rows for m in (row.rebuilt, row.best) if m}
        done = compare(dataset, methods.values(), threads=threads, cache=cache, progress=progress, pictures=False)
        made += [(table, _scenes(done), _lines(table, done)) for table in of_it]
        problems += [f"skipped: {name}, scene {scene}: {why}" for scene, why in done.skipped.items()]
        failed = (outcome for outcome in done.outcomes if outcome.error is not None)
        problems += [f"failed: {each.method} on {name}, scene {each.scene}: {each.error}" for each in failed]
    return Reproduction(sorted(made, key=lambda each: each[0].number), missing, problems)


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
            "rebuilt": failed.get(row.rebuilt.name) if row.rebuilt else "not rebuilt",
            "best": failed.get(row.best.name) if row.best else None,
        },
    )


def _why_failed(chosen: Method, done: Comparison) -> str | None:
    """A mean is shown of all scenes or not at all."""
    if not done.sizes:
        return "no scene to score"
    failed = len(done.sizes) - len(done.finished(chosen.name))
    return f"failed on {failed} of {len(done.sizes)} scene{'s' * (len(done.sizes) != 1)}" if failed else None


def reproduction_lines(result: Reproduction) -> str:
    """The tables for people."""
    parts = []
    for table, scenes, lines in result.made:
        heads = "".join(f"{SCORES[score].head:>9s}" for score in table.scores)
        parts.append(f"Table {table.number}: {table.title} ({table.dataset}), {scenes}\n{' ' * 40}{heads}")
        for line in lines:
            parts.append(f"  {line.label} ({line.protocol})")
            parts += [f"    {name:36s}{text}" for name, text in _sources(line)]
        parts.append("")
    parts += [f"{name} is not there: {why}" for name, why in result.missing.items()]
    return "\n".join(parts).rstrip("\n")


def reproduction_record(folder: str, result: Reproduction) -> dict[str, Any]:
    """The same for JSON."""
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
    digits = 4 if line.scores == AFFINE else 2

    def text(figures: Figures | None) -> str:
        return _row([number(each, digits) for each in figures or ()], line)

    sources = [("printed, over the paper's whole set", text(line.printed))] if line.printed else []
    if line.measured:
        sources.append(("authors' code, these scenes", text(line.measured)))
    sources.append(("rebuilt", line.missing["rebuilt"] or text(line.rebuilt)))
    if line.deviations:
        sources.append(("  off the authors' code by", _row([f"{each:+.1%}" for each in line.deviations], line)))
    if line.best_method:
        sources.append((f"best: {line.best_method}", line.missing["best"] or text(line.best)))
    return sources


def _row(cells: list[str], line: Line) -> str:
    """Under the last of the scores."""
    return " " * 9 * (len(line.scores) - len(cells)) + "".join(f"{cell:>9s}" for cell in cells)
