"""Who is best: the table of all methods, and what is missing from it."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from statistics import fmean
from typing import NamedTuple

from ..outcomes import Comparison, Outcome
from ..pages import Html, element, joined, scroll_box

NOTHING = "\N{EN DASH}"
SCORES = {
    "geometric_mean": ("geometric mean", 4),
    "ai1": ("AI(1)", 4),
    "ai2": ("AI(2)", 4),
    "spearman": ("1-|rho|", 4),
    "bad_0_5": ("bad 0.5 px, %", 2),
    "bad_1": ("bad 1 px, %", 2),
    "bad_2": ("bad 2 px, %", 2),
    "bad_4": ("bad 4 px, %", 2),
    "rmse": ("RMSE, px", 3),
}

Figures = dict[str, float]


class _Column(NamedTuple):
    """A figure of every method, its median where both are shown, and which is best: min, max or none."""

    group: str
    label: str
    digits: int
    best: Callable[[Iterable[float]], float] | None
    figures: Figures
    medians: Figures | None = None


def rank(comparison: Comparison) -> list[str]:
    """Methods, best first; behind those with more maps those with fewer, whose means are of other scenes."""

    def key(method: str) -> tuple[int, float]:
        mean = comparison.mean(method, *comparison.measure)
        return -len(_finished(comparison, method)), math.inf if math.isnan(mean) else mean

    return sorted(comparison.methods, key=key)


def summary(comparison: Comparison) -> str:
    """What was compared, in a sentence or two."""
    protocol, score = comparison.measure
    methods, scenes = _count(len(comparison.methods), "method"), _count(len(comparison.scenes), "scene")
    label = SCORES.get(score, (score, 0))[0].removesuffix(", %").removesuffix(", px")
    return f"{methods} on {scenes}, ranked by {label} (protocol {protocol}), averaged over the scenes; lower is better."


def ranking(comparison: Comparison, ranked: list[str]) -> Html:
    """The table."""
    columns = list(_columns(comparison, ranked))
    counts = {method: len(_finished(comparison, method)) for method in ranked}
    complete = [method for method in ranked if counts[method] == max(counts.values())]
    rows = (
        element(
            "tr",
            element("td", str(place), data_value=place),
            element("th", method, scope="row", data_value=method),
            *(_cell(column, method, complete) for column in columns),
        )
        for place, method in enumerate(ranked, 1)
    )
    note = "Large figures are means over the scenes (memory: the largest), small ones medians; the best are bold."
    if len(complete) < len(ranked):
        note += " Methods that have no map of some scenes stand last, as their figures are of other scenes."
    table = element("table", _head(columns), element("tbody", *rows), class_="ranking")
    return joined(scroll_box(table, "methods, ranked"), element("p", note, class_="quiet"))


def failures(comparison: Comparison) -> Html:
    """Scenes that were left out and methods that failed, each with its reason."""
    skipped = (joined(element("b", scene), f" was left out: {why}") for scene, why in comparison.skipped.items())
    failed = (
        joined(element("b", each.method), " failed on ", element("b", each.scene), f": {each.error}")
        for each in comparison.outcomes
        if each.error is not None
    )
    items = [element("li", text) for text in (*skipped, *failed)]
    if not items:
        return Html()
    return element("section", element("h2", "What is missing"), element("ul", *items), class_="missing")


def score_text(score: str, value: float) -> str:
    """The value with as many digits as mean something."""
    return number(value, SCORES.get(score, ("", 4))[1])


def number(value: float, digits: int) -> str:
    """With that many decimals, or a dash for NaN."""
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _finished(comparison: Comparison, method: str) -> list[Outcome]:
    return [each for each in comparison.outcomes if each.method == method and each.disparity is not None]


def _columns(comparison: Comparison, ranked: list[str]) -> Iterator[_Column]:
    """Scores, those of the ranking's protocol first and its measure before all; then what they cost."""
    every = (scores for each in comparison.outcomes for scores in each.scores.items())
    found = dict.fromkeys((protocol, score) for protocol, scores in every for score in scores if score != "coverage")
    measure = comparison.measure
    for protocol, score in sorted(found, key=lambda column: (column[0] != measure[0], column[0], column != measure)):
        label, digits = SCORES.get(score, (score, 4))
        means, medians = (
            {method: statistic(method, protocol, score) for method in ranked}
            for statistic in (comparison.mean, comparison.median)
        )
        if (protocol, score) == measure:
            yield _Column(protocol, label, digits, min, means)
            yield _Column(protocol, "its median", digits, min, medians)
        else:
            yield _Column(protocol, label, digits, min, means, medians)
    maps = {method: _finished(comparison, method) for method in ranked}
    coverage = {method: 100 * comparison.mean(method, measure[0], "coverage") for method in ranked}
    seconds = {method: fmean(each.seconds for each in own) if own else math.nan for method, own in maps.items()}
    megabytes = {method: max((each.megabytes for each in own), default=math.nan) for method, own in maps.items()}
    yield _Column("", "coverage, %", 1, max, coverage)
    yield _Column("", "time, s", 2, min, seconds)
    yield _Column("", "peak memory, MB", 0, min, megabytes)
    yield _Column("", "scenes", 0, None, {method: len(own) for method, own in maps.items()})


def _head(columns: list[_Column]) -> Html:
    """Protocols, and under them their scores as buttons to sort by."""
    spans = Counter(column.group for column in columns)
    over = (element("th", group, colspan=span, scope="colgroup") for group, span in spans.items())
    labels = ["#", "method", *(column.label for column in columns)]
    under = (
        element("th", element("button", label, type="button"), scope="col", aria_sort="ascending" if not i else None)
        for i, label in enumerate(labels)
    )
    return element("thead", element("tr", element("td", colspan=2), *over), element("tr", *under))


def _cell(column: _Column, method: str, complete: list[str]) -> Html:
    """The figure and under it the median, bold if no complete method has a better one."""

    def figure(figures: Figures) -> Html:
        text = number(figures[method], column.digits)
        rivals = [figures[each] for each in complete if math.isfinite(figures[each])]
        best = column.best and method in complete and rivals and text == number(column.best(rivals), column.digits)
        return element("b", text) if best else joined(text)

    value = column.figures[method]
    small = element("small", figure(column.medians)) if column.medians else ""
    return element("td", figure(column.figures), small, data_value=value if math.isfinite(value) else None)
