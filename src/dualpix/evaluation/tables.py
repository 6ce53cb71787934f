"""A comparison as text tables, as CSV, and as a record for JSON."""

import csv
import math
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from statistics import fmean, median
from typing import Any, Literal, NamedTuple

from .outcomes import COVERED, OF_COVERED, Comparison, Outcome
from .statistics import LEVEL, Difference, differences, interval, too_few

Better = Literal["lower", "higher", "neither"]
REVERSED = "the sign of the map is reversed, so turn it (a network: set gain=-1 in its recipe)"


class Score(NamedTuple):
    """How a score is shown: its short name, its name with unit, the number of decimals, and which values are better."""

    head: str
    label: str
    digits: int
    better: Better = "lower"


SCORES = {
    "ai1": Score("AI(1)", "AI(1)", 4),
    "ai2": Score("AI(2)", "AI(2)", 4),
    "spearman": Score("1-|rho|", "1-|rho|", 4),
    "geometric_mean": Score("geo mean", "geometric mean", 4),
    "mae": Score("MAE", "mean error, px", 3),
    "bad_0_25": Score("bad 0.25", "bad 0.25 px, %", 2),
    "bad_0_5": Score("bad 0.5", "bad 0.5 px, %", 2),
    "bad_1": Score("bad 1", "bad 1 px, %", 2),
    "bad_2": Score("bad 2", "bad 2 px, %", 2),
    "bad_4": Score("bad 4", "bad 4 px, %", 2),
    "rmse": Score("RMSE", "RMSE, px", 3),
    "smooth": Score("smooth", "smooth, px", 3),
    "edges": Score("edges", "edges, px", 3),
    "bump": Score("bump", "bump, px/100", 2),
    "ause": Score("AUSE", "AUSE", 3),
    "gain": Score("gain", "gain", 3, "neither"),
    "coverage": Score("covered", "coverage, %", 1, "higher"),
}


def comparison_lines(comparison: Comparison, *, problems: bool = True) -> str:
    """One table for every protocol, one for time and memory, and one that says how certain the ranking is.

    Parameters
    ----------
    comparison
        See `compare`.
    problems
        Add at the end what to know about the data set, which scenes were skipped, and which methods failed.
    """
    ranked = comparison.ranked()
    names = {method: method + " *" * comparison.partial(method) for method in ranked}
    parts = [_title(comparison)]
    for protocol, scores in protocols(comparison).items():
        columns = [column for score in scores for column in _columns(comparison, protocol, score)]
        heads = [protocol, *(head for head, _ in columns)]
        parts.append(
            text_table([heads, *([names[method], *(cell(method) for _, cell in columns)] for method in ranked)])
        )
    costs = (_cost(comparison, method) for method in ranked)
    parts.append(text_table([["cost", "time, s", "median", "peak, MB", "scenes"], *costs]))
    parts += _certainty(comparison, ranked)
    if any(map(comparison.partial, ranked)):
        parts.append(f"* {partial_note(comparison)}")
    if problems and (lines := [*note_lines(comparison), *problem_lines(comparison)]):
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _certainty(comparison: Comparison, ranked: list[str]) -> list[str]:
    """Intervals of the measure, and how each method differs from the next, if there are scenes enough."""
    protocol, name = comparison.measure
    all_tests = differences(comparison)
    few = [sentence] if (sentence := too_few(len(ranked), all_tests)) else []
    found = {method: interval(comparison.values(method, protocol, name)) for method in ranked}
    if not any(found.values()):
        return few
    head, _, digits, _ = SCORES[name]
    tests = {(each.first, each.second): each for each in all_tests}
    rows = [[f"{100 * LEVEL:g} % interval", f"{head}, from", "to", "less than the next by", "p"]]
    for method, other in zip(ranked, [*ranked[1:], ""], strict=True):
        ends = [number(end, digits) for end in found[method] or (math.nan, math.nan)]
        test = tests.get((method, other))
        rows.append([method, *ends, *([number(-test.mean, digits), _probability(test)] if test else ["", ""])])
    return [text_table(rows if len(ranked) > 1 else [row[:3] for row in rows]), *few]


def _probability(test: Difference) -> str:
    """The p-value as text; a dash if no scene has both maps."""
    return "-" if not test.scenes else "<0.001" if test.p < 0.001 else f"{test.p:.3f}"


def partial_note(comparison: Comparison) -> str:
    """What the mark of a method that covers little means."""
    which = f"covers less than {100 * COVERED:g} % of the truth: "
    if comparison.measure[1] in OF_COVERED:
        return which + "scored on what it covers, ranked behind those that cover more"
    return which + "missing pixels count as bad, but not in the RMSE"


class Failure(NamedTuple):
    """A method that failed in the same way on some scenes. `traceback` is that of the first; it may be empty."""

    method: str
    scenes: list[str]
    error: str
    traceback: str


def failures(comparison: Comparison) -> list[Failure]:
    """All failures, each reason of a method once."""
    found: dict[tuple[str, str], Failure] = {}
    for each in comparison.outcomes:
        if each.error is not None:
            empty = Failure(each.method, [], each.error, each.traceback)
            found.setdefault((each.method, each.error), empty).scenes.append(each.scene)
    return list(found.values())


def note_lines(comparison: Comparison) -> list[str]:
    """What the user should know about the truth: how it was read, and whether near and far seem exchanged."""
    lines = [f"note: {note}" for note in comparison.notes]
    for protocol in (protocol for protocol, names in protocols(comparison).items() if "gain" in names):
        gains = {method: comparison.mean(method, protocol, "gain") for method in comparison.ranked()}
        known = [method for method, gain in gains.items() if not math.isnan(gain)]
        if exchanged := [method for method in known if gains[method] < 0]:
            all_of_several = exchanged == known and len(known) > 1
            why = "is the truth a depth, or are the views exchanged?" if all_of_several else REVERSED
            which = f"{', '.join(exchanged)}: the mean gain is negative"
            lines.append(f"note: {which}, so near and far are exchanged: {why}")
    return lines


def problem_lines(comparison: Comparison, *, traceback: bool = False) -> list[str]:
    """A line for every scene that was skipped, and for every reason why a method failed, with its traceback."""
    lines = [f"skipped: scene {scene}: {why}" for scene, why in comparison.skipped.items()]
    for each in failures(comparison):
        where = f"\n{each.traceback.rstrip()}" if traceback and each.traceback else ""
        lines.append(f"failed: {each.method} on {scenes_text(each.scenes)}: {each.error}{where}")
    return lines


def scenes_text(names: list[str], noun: str = "scene", most: int = 5) -> str:
    """The names of scenes, or their number and the first few."""
    if len(names) == 1:
        return f"{noun} {names[0]}".strip()
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{len(names)} scenes ({', '.join(names[:most])}{more})"


def number(value: float, digits: int) -> str:
    """The value with that many decimals. Very large values get an exponent, NaN is a dash."""
    return "-" if math.isnan(value) else f"{value:.3g}" if abs(value) >= 1e6 else f"{value:.{digits}f}"


def _columns(comparison: Comparison, protocol: str, name: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """The columns of a score: for each its head, and the function that returns the text of a method."""
    head, _, digits, _ = SCORES[name]
    if name == "coverage":
        yield head, lambda method: f"{comparison.mean(method, protocol, name):.{digits}%}".replace("nan%", "-")
        return
    yield head, lambda method: number(comparison.mean(method, protocol, name), digits)
    if name == comparison.measure[1]:
        yield "median", lambda method: number(comparison.median(method, protocol, name), digits)


def comparison_csv(comparison: Comparison) -> str:
    """One row for every scene and method, and one for every scene that was skipped. Columns: ``protocol:score``."""
    columns = [(protocol, name) for protocol, names in protocols(comparison).items() for name in names]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = (f"{protocol}:{name}" for protocol, name in columns)
    writer.writerow(["dataset", "scene", "method", *heads, "seconds", "megabytes", "error"])
    for each in comparison.outcomes:
        scores = (each.scores.get(protocol, {}).get(name, "") for protocol, name in columns)
        cost = (each.seconds, each.megabytes) if each.error is None else ("", "")
        writer.writerow(
            [*map(cell, (comparison.dataset, each.scene, each.method)), *scores, *cost, cell(each.error or "")]
        )
    for scene, why in comparison.skipped.items():
        writer.writerow([cell(comparison.dataset), cell(scene), "", *("" for _ in columns), "", "", cell(why)])
    return text.getvalue()


def cell(text: str) -> str:
    """A text for a cell of CSV. A spreadsheet takes a text that begins with ``=`` as a formula: it gets a quote."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """All figures, ready for JSON: by method, over all scenes; and by scene and method."""
    scenes: dict[str, dict[str, Any]] = {}
    for each in comparison.outcomes:
        figures = {"scores": each.scores, "seconds": each.seconds, "megabytes": each.megabytes, "error": each.error}
        scenes.setdefault(each.scene, {})[each.method] = figures
    return {
        "dataset": comparison.dataset,
        "measure": {"protocol": comparison.measure[0], "score": comparison.measure[1]},
        "ranking": comparison.ranked(),
        "methods": {method: _method_record(comparison, method) for method in comparison.methods},
        "tests": [each._asdict() for each in differences(comparison)],
        "log": None if comparison.log is None else str(comparison.log),
        "scenes": scenes,
        "skipped": comparison.skipped,
        "versions": comparison.versions,
    }


def _method_record(comparison: Comparison, method: str) -> dict[str, Any]:
    own = comparison.finished(method)
    found = protocols(comparison).items()
    return {
        "scenes": len(own),
        "partial": comparison.partial(method),
        "interval": interval(comparison.values(method, *comparison.measure)),
        "mean": {p: {name: comparison.mean(method, p, name) for name in names} for p, names in found},
        "median": {p: {name: comparison.median(method, p, name) for name in names} for p, names in found},
        "seconds": {"mean": _of(fmean, own, "seconds"), "median": _of(median, own, "seconds")},
        "megabytes": _of(max, own, "megabytes"),
        "parameters": comparison.methods[method],
    }


def protocols(comparison: Comparison) -> dict[str, list[str]]:
    """The names of the scores by protocol, in the order of SCORES."""
    place = {name: i for i, name in enumerate(SCORES)}
    found: dict[str, dict[str, float]] = {}
    for each in comparison.outcomes:
        for protocol, scores in each.scores.items():
            found.setdefault(protocol, {}).update(scores)
    return {protocol: sorted(own, key=lambda name: place.get(name, len(place))) for protocol, own in found.items()}


def _of(statistic: Any, outcomes: list[Outcome], name: str) -> float:
    return float(statistic([getattr(each, name) for each in outcomes])) if outcomes else math.nan


def _cost(comparison: Comparison, method: str) -> list[str]:
    own = comparison.finished(method)
    times = (number(_of(statistic, own, "seconds"), 2) for statistic in (fmean, median))
    return [method, *times, number(_of(max, own, "megabytes"), 0), str(len(own))]


def _title(comparison: Comparison) -> str:
    scenes = len({each.scene for each in comparison.outcomes})
    skipped = f", {len(comparison.skipped)} skipped" if comparison.skipped else ""
    failed = sum(each.error is not None for each in comparison.outcomes)
    missing = f", {failed} map{'s' * (failed != 1)} missing" if failed else ""
    count = f"{scenes} scene{'s' * (scenes != 1)}{skipped}{missing}"
    shown = {name for names in protocols(comparison).values() for name in names} | {"coverage"}
    exceptions = " and ".join(score.head for name, score in SCORES.items() if name in shown and score.better != "lower")
    return f"{comparison.dataset}: {count}; means, lower is better, except {exceptions}"


def text_table(rows: Iterable[list[str]]) -> str:
    """A table as text: the first column is aligned left, the others right."""
    cells = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in cells
    )
