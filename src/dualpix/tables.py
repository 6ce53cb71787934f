"""A comparison in figures: tables for people, CSV for spreadsheets, a record for JSON."""

import csv
import math
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from statistics import fmean, median
from typing import Any

from .outcomes import Comparison, Outcome

COLUMNS = {
    "ai1": ("AI(1)", "{:.4f}"),
    "ai2": ("AI(2)", "{:.4f}"),
    "spearman": ("1-|rho|", "{:.4f}"),
    "geometric_mean": ("geo mean", "{:.4f}"),
    "bad_0_5": ("bad 0.5", "{:.2f}"),
    "bad_1": ("bad 1", "{:.2f}"),
    "bad_2": ("bad 2", "{:.2f}"),
    "bad_4": ("bad 4", "{:.2f}"),
    "rmse": ("RMSE", "{:.3f}"),
    "coverage": ("covered", "{:.1%}"),
}
MAIN = ("geometric_mean", "bad_1")  # the scores whose median is shown too


def comparison_lines(comparison: Comparison) -> str:
    """A table for every protocol, and one of what the methods cost."""
    ranked = _ranked(comparison)
    parts = [_title(comparison)]
    for protocol, names in _protocols(comparison).items():
        columns = [column for name in names for column in _columns(comparison, protocol, name)]
        heads = [protocol, *(head for head, _ in columns)]
        parts.append(_table([heads, *([method, *(cell(method) for _, cell in columns)] for method in ranked)]))
    costs = (_cost(comparison, method) for method in ranked)
    parts.append(_table([["cost", "time, s", "median", "peak, MB", "scenes"], *costs]))
    return "\n\n".join(parts)


def _columns(comparison: Comparison, protocol: str, name: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Heads of a score's columns, and the text of a method in them."""
    head, form = COLUMNS[name]
    yield head, lambda method: _text(form, comparison.mean(method, protocol, name))
    if name in MAIN:
        yield "median", lambda method: _text(form, comparison.median(method, protocol, name))


def comparison_csv(comparison: Comparison) -> str:
    """A line for every scene and method, columns ``protocol:score``."""
    columns = [(protocol, name) for protocol, names in _protocols(comparison).items() for name in names]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    heads = (f"{protocol}:{name}" for protocol, name in columns)
    writer.writerow(["dataset", "scene", "method", *heads, "seconds", "megabytes", "error"])
    for each in comparison.outcomes:
        scores = (each.scores.get(protocol, {}).get(name, "") for protocol, name in columns)
        cost = (each.seconds, each.megabytes) if each.error is None else ("", "")
        writer.writerow([comparison.dataset, each.scene, each.method, *scores, *cost, each.error or ""])
    return text.getvalue()


def comparison_record(comparison: Comparison) -> dict[str, Any]:
    """All figures, ready for JSON: of each method over the scenes, and of each scene."""
    scenes: dict[str, dict[str, Any]] = {}
    for each in comparison.outcomes:
        figures = {"scores": each.scores, "seconds": each.seconds, "megabytes": each.megabytes, "error": each.error}
        scenes.setdefault(each.scene, {})[each.method] = figures
    return {
        "dataset": comparison.dataset,
        "measure": {"protocol": comparison.measure[0], "score": comparison.measure[1]},
        "ranking": _ranked(comparison),
        "methods": {method: _method_record(comparison, method) for method in comparison.methods},
        "scenes": scenes,
        "skipped": comparison.skipped,
        "versions": comparison.versions,
    }


def _method_record(comparison: Comparison, method: str) -> dict[str, Any]:
    own = _finished(comparison, method)
    protocols = _protocols(comparison).items()
    return {
        "scenes": len(own),
        "mean": {p: {name: comparison.mean(method, p, name) for name in names} for p, names in protocols},
        "median": {p: {name: comparison.median(method, p, name) for name in names} for p, names in protocols},
        "seconds": {"mean": _of(fmean, own, "seconds"), "median": _of(median, own, "seconds")},
        "megabytes": _of(max, own, "megabytes"),
        "parameters": comparison.methods[method],
    }


def _protocols(comparison: Comparison) -> dict[str, list[str]]:
    """The scores of every protocol."""
    found: dict[str, dict[str, float]] = {}
    for each in comparison.outcomes:
        for protocol, scores in each.scores.items():
            found.setdefault(protocol, {}).update(scores)
    return {protocol: list(scores) for protocol, scores in found.items()}


def _ranked(comparison: Comparison) -> list[str]:
    """Methods, best first; behind those with more maps those with fewer, whose means are of other scenes."""

    def key(method: str) -> tuple[int, float]:
        mean = comparison.mean(method, *comparison.measure)
        return -len(_finished(comparison, method)), math.inf if math.isnan(mean) else mean

    return sorted(comparison.methods, key=key)


def _finished(comparison: Comparison, method: str) -> list[Outcome]:
    return [each for each in comparison.outcomes if each.method == method and each.error is None]


def _of(statistic: Any, outcomes: list[Outcome], name: str) -> float:
    return float(statistic([getattr(each, name) for each in outcomes])) if outcomes else math.nan


def _cost(comparison: Comparison, method: str) -> list[str]:
    own = _finished(comparison, method)
    times = (_text("{:.2f}", _of(statistic, own, "seconds")) for statistic in (fmean, median))
    return [method, *times, _text("{:.0f}", _of(max, own, "megabytes")), str(len(own))]


def _title(comparison: Comparison) -> str:
    scenes = len({each.scene for each in comparison.outcomes})
    skipped = f", {len(comparison.skipped)} skipped" if comparison.skipped else ""
    failed = sum(each.error is not None for each in comparison.outcomes)
    missing = f", {failed} map{'s' * (failed != 1)} missing" if failed else ""
    return f"{comparison.dataset}: {scenes} scene{'s' * (scenes != 1)}{skipped}{missing}; means, lower is better"


def _text(form: str, value: float) -> str:
    return "-" if math.isnan(value) else form.format(value)


def _table(rows: Iterable[list[str]]) -> str:
    """The first column to the left, figures to the right."""
    cells = list(rows)
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in cells
    )
