"""The table of a comparison for a paper (LaTeX), a text (Markdown) or a notebook (HTML). The best figures are bold."""

import html
import math
import re
import unicodedata
from collections.abc import Callable
from statistics import fmean
from typing import NamedTuple

from ..errors import printable
from ..version import version
from .outcomes import Comparison
from .statistics import LEVEL, SIGNIFICANT, differences, interval, too_few
from .tables import SCORES, note_lines, number, partial_note, problem_lines, protocols

# Characters with a meaning of their own.
_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
# Characters beyond ASCII that the standard fonts of LaTeX have, and the one accent that they do not have.
_LATEX |= {c: c for c in "ÆØßæøıŁłŒœ…§©±°µ"}
_OGONEK = "\N{COMBINING OGONEK}"
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~])")
DAGGER = r"$^\dagger$"
EQUAL = "not significantly worse than the best"


class _Cell(NamedTuple):
    """A figure as text. `best`: no other is better. `equal`: the test finds no difference from the best."""

    text: str
    best: bool = False
    equal: bool = False


def latex_table(comparison: Comparison) -> str:
    """The tables of a comparison for a paper.

    Returns
    -------
    str
        A table environment for every protocol, the ranking one first. They need no package. The best figures are bold.
        A dagger marks methods that are not significantly worse than the best. A character that LaTeX cannot print
        without packages is written by its number, such as [U+4E2D].
    """
    return "\n".join(_latex(comparison, protocol) for protocol in _ordered(comparison))


def markdown_table(comparison: Comparison) -> str:
    """The tables of a comparison for a text: those of `latex_table` as Markdown, each with its caption above."""
    return "\n".join(_markdown(comparison, protocol) for protocol in _ordered(comparison))


def html_table(comparison: Comparison) -> str:
    """The tables of a comparison for a notebook: those of `latex_table` as HTML, then what failed or was skipped."""
    problems = "".join(
        f"<li>{html.escape(printable(line))}</li>" for line in (*note_lines(comparison), *problem_lines(comparison))
    )
    tables = "".join(_html(comparison, protocol) for protocol in _ordered(comparison))
    return tables + (f"<ul>{problems}</ul>" if problems else "")


def _html(comparison: Comparison, protocol: str) -> str:
    def escaped(text: str) -> str:
        return html.escape(printable(text))

    def cell(each: _Cell) -> str:
        text = escaped(each.text)
        return f"<td>{f'<b>{text}</b>' if each.best else text}{' †' * each.equal}</td>"

    heads, rows = _cells(comparison, protocol)
    caption = escaped(_caption(comparison, protocol) + _mark(rows, "†: "))
    lines = [f"<tr><th>{escaped(method)}</th>{''.join(map(cell, cells))}</tr>" for method, cells in rows]
    head = "".join(f"<th>{escaped(name)}</th>" for name in ("method", *heads))
    return f"<table><caption>{caption}</caption><tr>{head}</tr>{''.join(lines)}</table>"


def _latex(comparison: Comparison, protocol: str) -> str:
    def cell(each: _Cell) -> str:
        text = _for_latex(each.text) if each.text != "-" else "--"
        return (rf"\textbf{{{text}}}" if each.best else text) + DAGGER * each.equal

    heads, rows = _cells(comparison, protocol)
    # {}: the line break before a row takes a * or a [...] after it as its own.
    lines = ("{}" + " & ".join([_for_latex(method), *map(cell, cells)]) + r" \\" for method, cells in rows)
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{_for_latex(_caption(comparison, protocol))}{_mark(rows, DAGGER + ': ')}}}",
            r"  \medskip\footnotesize\setlength{\tabcolsep}{2.5pt}",  # ten columns fit on a page
            rf"  \begin{{tabular}}{{l{'r' * len(heads)}}}",
            r"    \hline",
            "    " + " & ".join(["method", *map(_for_latex, heads)]) + r" \\",
            r"    \hline",
            *(f"    {line}" for line in lines),
            r"    \hline",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _for_latex(text: str) -> str:
    """The text as LaTeX prints it: nothing in it is a command, and -- or '' are not drawn as one sign."""
    one_line = " ".join(text.split())
    return re.sub(r"([-?!`'])(?=[-`'])", r"\1{}", "".join(map(_typeset, one_line)))


def _typeset(c: str) -> str:
    """A character that LaTeX has without packages, or its number."""
    parts = unicodedata.normalize("NFD", c)  # a letter and its accents
    latin = parts[0].isascii() and parts[0].isprintable() and ord(c) < 0x180 and _OGONEK not in parts
    return _LATEX.get(c) or (c if latin else f"[U+{ord(c):04X}]")


def _markdown(comparison: Comparison, protocol: str) -> str:
    def escaped(text: str) -> str:
        return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))

    def cell(each: _Cell) -> str:
        return (f"**{each.text}**" if each.best else each.text) + " †" * each.equal

    heads, rows = _cells(comparison, protocol)
    table = [["method", *map(escaped, heads)], ["---", *("---:" for _ in heads)]]
    table += [[escaped(method), *map(cell, cells)] for method, cells in rows]
    caption = escaped(_caption(comparison, protocol)) + _mark(rows, "†: ")
    return "\n".join([caption, "", *(f"| {' | '.join(row)} |" for row in table), ""])


def _cells(comparison: Comparison, protocol: str) -> tuple[list[str], list[tuple[str, list[_Cell]]]]:
    """The heads of the columns, and for every method, best first, its cells."""
    ranked = comparison.ranked()
    columns: list[tuple[str, dict[str, _Cell]]] = []
    for name in protocols(comparison)[protocol]:
        means = {method: comparison.mean(method, protocol, name) for method in ranked}
        columns.append((SCORES[name].head, _column(comparison, name, means, protocol)))
        if (protocol, name) == comparison.measure:
            ends = {method: interval(comparison.values(method, protocol, name)) for method in ranked}
            if any(ends.values()):
                columns.append((f"{100 * LEVEL:g} % interval", _ends(ends, SCORES[name].digits)))
    seconds = {m: fmean(each.seconds for each in own) if (own := comparison.finished(m)) else math.nan for m in ranked}
    columns.append(("time, s", {method: _Cell(number(value, 2)) for method, value in seconds.items()}))
    names = {method: method + " *" * comparison.partial(method) for method in ranked}
    return [head for head, _ in columns], [(names[m], [cells[m] for _, cells in columns]) for m in ranked]


def _column(comparison: Comparison, name: str, means: dict[str, float], protocol: str) -> dict[str, _Cell]:
    """The means of a score. The best of the rivals is bold; those that do not differ from it are marked."""
    score, rivals = SCORES[name], comparison.rivals(name)
    choose: dict[str, Callable[..., float]] = {"lower": min, "higher": max}
    texts = {method: number(100 * mean if name == "coverage" else mean, score.digits) for method, mean in means.items()}
    known = [means[method] for method in rivals if math.isfinite(means[method])]
    if score.better == "neither" or not known:
        return {method: _Cell(text) for method, text in texts.items()}
    best = next(method for method in rivals if means[method] == choose[score.better](known))
    equal: set[str] = set()
    if (protocol, name) == comparison.measure:
        tests = differences(comparison)
        unclear = [each for each in tests if each.p >= SIGNIFICANT and each.scenes and not too_few(len(means), tests)]
        equal = {other for each in unclear for other in (each.first, each.second) if best in (each.first, each.second)}
    return {
        method: _Cell(text, method in rivals and text == texts[best], method in equal - {best} and method in rivals)
        for method, text in texts.items()
    }


def _ends(intervals: dict[str, tuple[float, float] | None], digits: int) -> dict[str, _Cell]:
    return {
        method: _Cell("-" if ends is None else f"{number(ends[0], digits)} to {number(ends[1], digits)}")
        for method, ends in intervals.items()
    }


def _caption(comparison: Comparison, protocol: str) -> str:
    scenes = len(comparison.sizes) or len({each.scene for each in comparison.outcomes})
    exceptions = {name for name in protocols(comparison)[protocol] if SCORES[name].better != "lower"}
    heads = " and ".join(SCORES[name].head for name in SCORES if name in exceptions)
    left_out = f", {len(comparison.skipped)} skipped" if comparison.skipped else ""
    what = f"{comparison.dataset}, {scenes} scene{'s' * (scenes != 1)}{left_out}, protocol {protocol}"
    intervals = " Intervals: bootstrap over the scenes." if protocol == comparison.measure[0] and scenes > 1 else ""
    few = too_few(len(comparison.methods), differences(comparison)) if protocol == comparison.measure[0] else ""
    better = f"lower is better{f', except {heads}' * bool(heads)}; the best are bold"
    starred = f" *: {partial_note(comparison)}." if any(map(comparison.partial, comparison.methods)) else ""
    return f"{what}, dualpix {version()}. Means over the scenes; {better}.{starred}{intervals} {few}".rstrip()


def _mark(rows: list[tuple[str, list[_Cell]]], mark: str) -> str:
    """What the mark of equal methods means, if one has it."""
    test = f"{EQUAL} (paired permutation test with Holm's correction, p of {SIGNIFICANT:g} or more)."
    return f" {mark}{test}" if any(each.equal for _, cells in rows for each in cells) else ""


def _ordered(comparison: Comparison) -> list[str]:
    return sorted(protocols(comparison), key=lambda protocol: protocol != comparison.measure[0])
