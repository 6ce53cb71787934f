"""Sparsification curves: the error of a map when its least confident pixels are dropped.

The curve of a good confidence falls: its least confident pixels are the ones that are wrong. The oracle drops the
largest errors first, so no curve can lie below its own.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...render.pages import Html, element, scroll_box
from ...types import Map
from ..metrics import ause
from ..outcomes import Comparison
from ._looks import Look
from ._ranking import number

DROPPED = tuple(range(0, 95, 5))  # percent
TABULATED = (0, 10, 25, 50)
COLOURS = 8  # in report.css; further curves use them again, dashed
TEXT = """Mean absolute error of each method after dropping its least confident pixels: mean over the scenes, computed
from the pixels shown below. The curve falls if the confidence is low where the map is wrong. The dotted curve is the
oracle's, which drops the largest errors first. AUSE is the area between the two, divided by the mean error; 0 is
perfect."""

WIDTH, HEIGHT = 400, 250  # of the chart
LEFT, RIGHT, TOP, BOTTOM = 50, 388, 26, 206  # of its axes


class Curves(NamedTuple):
    """What is left of the error of a method at each of the percentages DROPPED; means over the scenes."""

    own: list[float]
    oracle: list[float]
    area: float  # between the two, divided by the mean error


def sparsification(comparison: Comparison, looks: Sequence[Look], ranked: list[str]) -> Html:
    """Chart and table of the methods that have a confidence; empty if none has."""
    found = {method: _mean_curves(comparison, looks, method) for method in ranked}
    curves = {method: curve for method, curve in found.items() if curve is not None}
    if not curves:
        return Html()
    unit, digits = ("px", 3) if looks[0].scene.in_pixels else ("the truth's unit", 4)
    return element(
        "section",
        element("h2", "How good the confidences are"),
        element("p", TEXT),
        element("div", _chart(curves, f"mean absolute error, {unit}"), _table(curves, digits), class_="curves"),
    )


def curve(error: Map, confidence: Map, weight: Map) -> list[float] | None:
    """Weighted mean of the error after dropping each of the percentages DROPPED; None if no pixel has an error.

    Pixels of equal confidence are dropped together or not at all. A confidence that is NaN counts as 0.
    """
    counted = np.isfinite(error) & (weight > 0)
    if not counted.any():
        return None
    e, c, w = error[counted], np.nan_to_num(confidence[counted]), weight[counted].astype(np.float64)
    order = np.argsort(c)
    e, c, w = e[order], c[order], w[order]
    # Sums from each pixel to the last. The first pixel that is kept is the first of its confidence.
    left_error, left_weight = (np.cumsum(each[::-1])[::-1] for each in (w * e, w))
    first = np.searchsorted(c, c[np.multiply(DROPPED, c.size) // 100])
    kept: list[float] = (left_error[first] / left_weight[first]).tolist()
    return kept


def _curves(look: Look, method: str) -> Curves | None:
    """The curves of a method on a scene; None if it has no confidence, or no error that counts."""
    maps = look.maps.get(method)
    if maps is None or maps.confidence is None:
        return None
    error = np.abs(maps.error)
    own, oracle = (curve(error, order, look.weight) for order in (maps.confidence, -error))
    if own is None or oracle is None:
        return None
    counted = np.isfinite(error) & (look.weight > 0)
    return Curves(own, oracle, ause(error[counted], maps.confidence[counted], look.weight[counted]))


def _mean_curves(comparison: Comparison, looks: Sequence[Look], method: str) -> Curves | None:
    curves = [each for look in looks if (each := _curves(look, method)) is not None]
    if not curves:
        return None
    own, oracle = (np.mean(each, axis=0).tolist() for each in list(zip(*curves, strict=True))[:2])
    scored = comparison.mean(method, comparison.measure[0], "ause")
    return Curves(own, oracle, float(np.mean([each.area for each in curves])) if math.isnan(scored) else scored)


def _chart(curves: dict[str, Curves], label: str) -> Html:
    step, steps = _axis(max(max(each.own) for each in curves.values()))
    digits = max(0, -math.floor(math.log10(step)))

    def x(percent: float) -> float:
        return LEFT + (RIGHT - LEFT) * percent / DROPPED[-1]

    def y(error: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * error / (step * steps)

    def text(words: str, at_x: float, at_y: float, anchor: str) -> Html:
        return element("text", words, x=f"{at_x:.0f}", y=f"{at_y:.0f}", text_anchor=anchor)

    levels = [step * i for i in range(steps + 1)]
    grid = (element("path", d=f"M{LEFT} {y(level):.1f}H{RIGHT}", class_="grid") for level in levels)
    heights = (text(number(level, digits), LEFT - 6, y(level) + 4, "end") for level in levels)
    shares = (text(f"{percent}", x(percent), BOTTOM + 18, "middle") for percent in range(0, DROPPED[-1] + 1, 15))

    def line(errors: list[float], title: str, style: str) -> Html:
        points = " ".join(f"{x(p):.1f},{y(e):.1f}" for p, e in zip(DROPPED, errors, strict=True))
        return element("polyline", element("title", title), points=points, class_=style)

    numbered = list(enumerate(curves.items()))
    oracles = (line(each.oracle, f"{method}, oracle", f"{_style(i)} oracle") for i, (method, each) in numbered)
    lines = (line(each.own, method, _style(i)) for i, (method, each) in numbered)
    return element(
        "svg",
        *(*grid, *heights, *shares, *oracles, *lines),
        text(label, 0, 12, "start"),
        text("least confident pixels dropped, %", (LEFT + RIGHT) / 2, HEIGHT - 6, "middle"),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label="Curves of the error over the share of pixels dropped; their figures are in the table.",
    )


def _table(curves: dict[str, Curves], digits: int) -> Html:
    heads = (element("th", f"{percent} %", scope="col") for percent in TABULATED)
    rows = (
        element(
            "tr",
            element("th", element("span", class_=f"swatch {_style(i)}"), method, scope="row"),
            *(element("td", number(each.own[DROPPED.index(percent)], digits)) for percent in TABULATED),
            element("td", number(each.area, 3)),
        )
        for i, (method, each) in enumerate(curves.items())
    )
    area = element("th", "AUSE", scope="col")
    head = element("thead", element("tr", element("th", "dropped", scope="col"), *heads, area))
    return scroll_box(element("table", head, element("tbody", *rows)), "figures of the curves")


def _style(i: int) -> str:
    return f"curve{i % COLOURS}" + (" dashed" if i >= COLOURS else "")


def _axis(highest: float) -> tuple[float, int]:
    """The step between the marks of an axis, a round number, and the number of steps: at most 5."""
    power = 10.0 ** math.floor(math.log10(highest)) if highest > 0 else 1.0
    step = next(power * factor for factor in (0.2, 0.5, 1, 2) if power * factor * 5 >= highest)
    return step, max(1, math.ceil(highest / step))
