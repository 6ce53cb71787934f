"""The ranking of the methods, and the list of scenes and maps that are missing."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from ...render.pages import Html, element, joined, scroll_box
from .. import tables
from ..outcomes import OF_COVERED, Comparison, count
from ..statistics import LEVEL, SIGNIFICANT, Difference, Interval, interval, medals, too_few
from ..tables import SCORES, Score, partial_note, protocols, scenes_text

NOTHING = "\N{EN DASH}"

# What a score means, for those whose name does not say it.
MEANINGS = {
    "smooth": "smooth: mean error away from depth edges",
    "edges": "edges: mean error within 10 px of them",
    "bump": "bump: mean second derivative of the error away from edges",
    "ause": "AUSE: how far the confidence is from the order of the errors, 0 is perfect",
    "gain": "gain: factor that was fitted to the truth",
}

SIGNIFICANCE = """Mean difference of {name}: the method of the row less that of the column, over the scenes that both
finished. It is bold if it is significant: p below {level:g} in a paired permutation test (random signs of the
differences per scene, two-sided, corrected for the number of pairs by Holm). A medal goes to a method that is
significantly better than every comparable one behind it."""

Figures = dict[str, float]


class _Column(NamedTuple):
    """A column of the table.

    Attributes
    ----------
    group, label : str
        Heads: the protocol, and the figure with its unit.
    digits : int
        Number of decimals.
    best : callable or None
        Chooses the best figure, `min` or `max`; None if none is best.
    rivals : list of str
        The methods among which the best is chosen.
    figures : dict
        By method.
    medians : dict or None
        By method, if they are shown below the figures.
    intervals : dict or None
        Intervals of the figures by method, if they are shown below them.
    """

    group: str
    label: str
    digits: int
    best: Callable[[Iterable[float]], float] | None
    rivals: list[str]
    figures: Figures
    medians: Figures | None = None
    intervals: dict[str, Interval | None] | None = None


def summary(comparison: Comparison) -> str:
    """What was compared, in one sentence."""
    protocol, score = comparison.measure
    methods, scenes = count(len(comparison.methods), "method"), count(len(comparison.scenes), "scene")
    order = f"ranked by {score_name(score)} (protocol {protocol}), the lower the better"
    return f"{methods} on {scenes}, {order}; averaged over the scenes."


def ranking(comparison: Comparison, ranked: list[str], tests: Sequence[Difference]) -> Html:
    """The table of all methods, best first."""
    counts = {method: len(comparison.finished(method)) for method in ranked}
    complete = [method for method in ranked if counts[method] == max(counts.values())]
    columns = list(_columns(comparison, ranked))
    given = medals(comparison, tests)
    rows = (
        element(
            "tr",
            element("td", _medal(place, given.get(method)), data_value=place),
            element("th", method, _mark(comparison, method), scope="row", data_value=method),
            *(_cell(column, method) for column in columns),
        )
        for place, method in enumerate(ranked, 1)
    )
    note = "Large figures are means over the scenes (memory: the maximum), small ones medians. The best are bold."
    if any(any((column.intervals or {}).values()) for column in columns):
        note += f" In brackets: the {100 * LEVEL:g} % interval of the mean (bootstrap over the scenes)."
    if len(complete) < len(ranked):
        note += " Methods that failed on some scenes come last, because their figures are over fewer scenes."
    if any(map(comparison.partial, ranked)):
        note += f" A method so marked {partial_note(comparison)}."
    table = element("table", _head(columns), element("tbody", *rows), class_="ranking sortable")
    shown = {score for scores in protocols(comparison).values() for score in scores}
    meanings = "; ".join(text for score, text in MEANINGS.items() if score in shown)
    notes = (element("p", text, class_="quiet") for text in (note, f"{meanings}.") if text != ".")
    return joined(scroll_box(table, "methods, ranked"), *notes)


def significance(comparison: Comparison, ranked: list[str], tests: Sequence[Difference]) -> Html:
    """A table of all pairs of methods: how sure it is that one is better. Empty for one method."""
    if not tests:
        return Html()
    found = {(each.first, each.second): each for each in tests}
    measure = comparison.measure[1]

    def cell(method: str, other: str) -> Html:
        each = found.get((method, other))
        if each is None or math.isnan(each.mean):
            return element("td", NOTHING if each else "")
        p = element("small", f"p {probability(each.p)}")
        text = score_number(measure, each.mean)
        return element("td", element("b", text) if each.p < SIGNIFICANT else text, p)

    heads = (element("th", name, scope="col") for name in ("better less worse", *ranked[1:]))
    rows = (
        element("tr", element("th", name, scope="row"), *(cell(name, other) for other in ranked[1:]))
        for name in ranked[:-1]
    )
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), class_="tests")
    explained = SIGNIFICANCE.format(name=score_name(measure), level=SIGNIFICANT)
    return element(
        "section",
        element("h2", "Which differences are significant"),
        element("p", f"{explained} {too_few(len(ranked), tests)}".rstrip()),
        scroll_box(table, "differences of methods"),
    )


def probability(p: float) -> str:
    """A p-value as text."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def failures(comparison: Comparison) -> Html:
    """Scenes that were skipped and methods that failed, each with its reason. Equal reasons stand once."""
    skipped = (joined(element("b", scene), f" was left out: {why}") for scene, why in comparison.skipped.items())
    failed = (
        joined(element("b", each.method), " failed on ", element("b", scenes_text(each.scenes, "")), f": {each.error}")
        for each in tables.failures(comparison)
    )
    items = [element("li", text) for text in (*skipped, *failed)]
    if not items:
        return Html()
    return element("section", element("h2", "What is missing"), element("ul", *items), class_="missing")


def score_name(score: str) -> str:
    """The name of a score without its unit."""
    return _shown(score).label.partition(",")[0]


def score_number(score: str, value: float) -> str:
    """The value of a score with the decimals that suit it."""
    return number(value, _shown(score).digits)


def score_text(score: str, value: float) -> str:
    """The name of a score, its value with the decimals that suit it, and its unit."""
    name, _, unit = _shown(score).label.partition(", ")
    return f"{name} {score_number(score, value)} {unit}".rstrip()


def number(value: float, digits: int) -> str:
    """A number as in the tables of the command, with an en dash for NaN."""
    return NOTHING if math.isnan(value) else tables.number(value, digits)


def _shown(score: str) -> Score:
    return SCORES.get(score, Score(score, score, 4))


def _medal(place: int, medal: str | None) -> Html:
    if medal is None:
        return joined(str(place))
    return element("span", str(place), class_=f"medal {medal}", title=f"{medal}: better than all behind, significantly")


def _mark(comparison: Comparison, method: str) -> Html:
    if not comparison.partial(method):
        return Html()
    return element("small", f"{'' if comparison.measure[1] in OF_COVERED else 'RMSE '}scored on what it covers")


def _columns(comparison: Comparison, ranked: list[str]) -> Iterator[_Column]:
    """The columns: scores, with the measure and its protocol first; then coverage, time, memory and scenes."""
    every = ((protocol, score) for protocol, scores in protocols(comparison).items() for score in scores)
    found = [each for each in every if each[1] != "coverage"]
    measure = comparison.measure
    equals = comparison.rivals()
    for protocol, score in sorted(found, key=lambda column: (column[0] != measure[0], column[0], column != measure)):
        _, label, digits, better = _shown(score)
        best = {"lower": min, "higher": max, "neither": None}[better]
        rivals = comparison.rivals(score)
        means, medians = (
            {method: statistic(method, protocol, score) for method in ranked}
            for statistic in (comparison.mean, comparison.median)
        )
        if (protocol, score) == measure:
            intervals = {method: interval(comparison.values(method, protocol, score)) for method in ranked}
            yield _Column(protocol, label, digits, best, rivals, means, intervals=intervals)
            yield _Column(protocol, "its median", digits, best, rivals, medians)
        else:
            yield _Column(protocol, label, digits, best, rivals, means, medians)
    maps = {method: comparison.finished(method) for method in ranked}
    coverage = {method: 100 * comparison.mean(method, measure[0], "coverage") for method in ranked}
    seconds = {method: fmean(each.seconds for each in own) if own else math.nan for method, own in maps.items()}
    megabytes = {method: max((each.megabytes for each in own), default=math.nan) for method, own in maps.items()}
    yield _Column("", SCORES["coverage"].label, SCORES["coverage"].digits, max, equals, coverage)
    yield _Column("", "time, s", 2, min, equals, seconds)
    yield _Column("", "peak memory, MB", 0, min, equals, megabytes)
    yield _Column("", "scenes", 0, None, [], {method: len(own) for method, own in maps.items()})


def _head(columns: list[_Column]) -> Html:
    """The head of the table: protocols, and below them their scores, which are buttons that sort the rows."""
    spans = Counter(column.group for column in columns)
    over = (element("th", group, colspan=span, scope="colgroup") for group, span in spans.items())
    labels = ["#", "method", *(column.label for column in columns)]
    under = (
        element("th", element("button", label, type="button"), scope="col", aria_sort="ascending" if not i else None)
        for i, label in enumerate(labels)
    )
    return element("thead", element("tr", element("td", colspan=2), *over), element("tr", *under))


def _cell(column: _Column, method: str) -> Html:
    """The figure of a method and its median below it. The best figure of the rivals is bold."""

    def figure(figures: Figures) -> Html:
        text = number(figures[method], column.digits)
        others = [figures[each] for each in column.rivals if math.isfinite(figures[each])]
        best = method in column.rivals and column.best and others and text == number(column.best(others), column.digits)
        return element("b", text) if best else joined(text)

    value = column.figures[method]
    small = element("small", figure(column.medians)) if column.medians else ""
    if column.intervals and (ends := column.intervals[method]) is not None:
        small = element("small", "[{}, {}]".format(*(number(end, column.digits) for end in ends)))
    return element("td", figure(column.figures), small, data_value=value if math.isfinite(value) else None)
