"""How certain a ranking is, and the tables for papers that show it."""

import re
import shutil
import subprocess
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dualpix.evaluation.outcomes import Comparison, Outcome
from dualpix.evaluation.publish import latex_table, markdown_table
from dualpix.evaluation.statistics import (
    EXACT,
    Difference,
    _holm,
    differences,
    fewest_scenes,
    interval,
    medals,
    permutation_p,
)
from dualpix.evaluation.tables import comparison_lines


def compared(values, coverage=1.0, names="abcdef"):
    """A comparison with these values of the measure, by method and scene; None is a failure."""
    outcomes = []
    for name, own in zip(names, values, strict=False):
        for i, value in enumerate(own):
            scores = (
                {} if value is None else {"proper": {"ai1": value / 2, "geometric_mean": value, "coverage": coverage}}
            )
            error = "no luck" if value is None else None
            outcomes.append(Outcome(f"s{i}", name, None, None, scores, 1.5, 90, error))
    methods = {name: {} for name, _ in zip(names, values, strict=False)}
    return Comparison("a_set", ("proper", "geometric_mean"), [], methods, outcomes)


def test_the_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    inside = [low <= 1 <= high for low, high in (interval(rng.exponential(1, 60)) for _ in range(200))]
    assert 0.88 <= np.mean(inside) <= 0.99
    assert interval([3.0]) is None
    assert interval([2.0, 2.0, 2.0]) == (2, 2)
    assert interval([1.0, 2.0, 4.0]) == interval([1.0, 2.0, 4.0])


@pytest.mark.parametrize("n", [1, 2, 5, EXACT])
def test_the_permutation_test_tries_all_signs(n):
    d = np.random.default_rng(n).normal(0.5, 1, n)
    sums = [abs(np.dot(signs, d)) for signs in product((-1, 1), repeat=n)]
    assert permutation_p(d) == pytest.approx(np.mean(np.array(sums) >= abs(d.sum()) - 1e-9))


def test_random_signs_agree_with_all_signs(monkeypatch):
    d = np.random.default_rng(3).normal(0.4, 1, EXACT)
    exact = permutation_p(d)
    monkeypatch.setattr("dualpix.evaluation.statistics.EXACT", 5)
    assert permutation_p(d) == pytest.approx(exact, abs=0.02)
    assert permutation_p(d) == permutation_p(d)


def test_the_test_errs_as_often_as_it_says():
    rng = np.random.default_rng(7)
    p = [permutation_p(rng.normal(0, 1, 10)) for _ in range(300)]
    assert 0.02 < np.mean(np.array(p) < 0.05) < 0.09


def test_equal_methods_are_equal():
    assert permutation_p([0.0] * 20) == 1
    assert permutation_p([]) == 1


@pytest.mark.parametrize("unknown", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_no_evidence(unknown):
    assert permutation_p([unknown, 1, 1]) == permutation_p([1, 1]) == 0.5
    assert permutation_p([unknown] * 20) == 1
    random = np.random.default_rng(1).normal(1, 1, 20).tolist()
    assert permutation_p([*random, unknown]) == permutation_p(random) < 0.05


def test_holms_correction():
    assert _holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert _holm([0.6, 0.9]) == [1, 1]
    assert _holm([]) == []


@pytest.mark.parametrize("methods", [2, 3, 5])
def test_the_fewest_scenes_are_those_where_the_clearest_difference_counts(methods):
    n = fewest_scenes(methods)
    for scenes, significant in ((n, True), (n - 1, False)):
        values = [[k + 1.0 + 0.001 * i for i in range(scenes)] for k in range(methods)]
        assert (min(each.p for each in differences(compared(values))) < 0.05) == significant


def test_differences_are_paired_over_the_scenes_of_both():
    a, b = [1.0, 2.0, 3.0, None], [1.5, 2.5, 4.0, 9.0]
    (found,) = differences(compared([a, b]))
    assert found == Difference("b", "a", pytest.approx(2 / 3), pytest.approx(0.25), 3)  # a failed, so b is first
    (found,) = differences(compared([[*a[:3], 5.0], [*b[:3], np.nan]]))
    assert (found.mean, found.p, found.scenes) == (pytest.approx(-2 / 3), pytest.approx(0.25), 3)


def test_medals_need_a_significant_difference_to_all_behind():
    rng = np.random.default_rng(1)
    base = rng.uniform(1, 2, 12)
    clear = compared([base, base + 0.5, base + 1, base + 1.5])
    assert medals(clear, differences(clear)) == {"a": "gold", "b": "silver", "c": "bronze"}
    noise = rng.normal(0, 0.3, 12)
    tied = compared([base, base + noise - noise.mean() + 0.01, base + 3])
    given = medals(tied, differences(tied))
    assert given == {"b": "silver"}  # both are better than c, but not than each other
    alone = compared([base])
    assert medals(alone, differences(alone)) == {}


# ---- tables --------------------------------------------------------------------------------------


@pytest.fixture
def sample():
    base = np.linspace(0.1, 0.2, 12)
    wobble = 0.01 * (-1.0) ** np.arange(12)
    return compared([base + 0.1, base, base + wobble + 0.0005], names=["my_mod:f|1", "best", "close"])


def test_markdown_has_the_protocol_bold_and_marks(sample):
    caption, _, head, rule, *rows = markdown_table(sample).splitlines()
    assert caption.startswith(r"a\_set, 12 scenes, protocol proper, dualpix ")
    assert "†: not significantly worse than the best" in caption
    assert head == r"| method | AI(1) | geo mean | 95 % interval | covered | time, s |".replace("| 1", r"\| 1")
    assert rule == "| --- | ---: | ---: | ---: | ---: | ---: |"
    best, close, worst = rows
    assert best.startswith("| best | **0.0750** | **0.1500** | 0.13")
    assert close.split(" | ")[2] == "0.1505 †"
    assert worst.startswith(r"| my\_mod:f\|1 | 0.1250 | 0.2500 |")
    assert "†" not in worst


def test_latex_has_the_same_figures_and_escapes(sample):
    text = latex_table(sample)
    assert r"\caption{a\_set, 12 scenes, protocol proper, dualpix " in text
    lines = [line.strip() for line in text.splitlines() if line.endswith(r"\\")]
    assert lines[0] == r"method & AI(1) & geo mean & 95 \% interval & covered & time, s \\"
    assert lines[1].startswith(r"{}best & \textbf{0.0750} & \textbf{0.1500} & ")
    assert lines[2].split(" & ")[2] == r"0.1505$^\dagger$"
    assert lines[3].startswith(r"{}my\_mod:f\textbar{}1 & 0.1250 & ")
    assert len({line.count("&") for line in lines}) == 1
    assert text.count("{") == text.count("}")
    assert re.findall(r"\\begin\{(\w+)\}", text) == re.findall(r"\\end\{(\w+)\}", text)[::-1]


def test_nothing_of_a_name_is_a_command():
    names = [r"\input{x}", "a & b % $ # _ ~ ^", "x\n\n| y | `z` <b>"]
    made = compared([[1.0, 2.0]] * 3, names=names)
    text = latex_table(made)
    assert r"\input" not in text
    assert r"a \& b \% \$ \# \_ \textasciitilde{} \textasciicircum{}" in text
    markdown = markdown_table(made)
    assert r"x \| y \| \`z\` \<b\>" in markdown
    assert len(markdown.splitlines()) == 7


def test_a_name_is_no_option_of_the_line_before():
    text = latex_table(compared([[1.0, 2.0]] * 3, names=["*", "[1pt]", "a"]))
    rows = [line.strip() for line in text.splitlines() if line.endswith(r"\\")][1:]
    assert sorted(row.split(" & ")[0] for row in rows) == ["{}*", "{}[1pt]", "{}a"]


HOSTILE = [
    *("_ & % # $", r"\ { } ~ ^", "* and [", "[1pt]", r"\input{x}", "%", "a--b ---", "?` !` '' ``", "<a|b>", "^^5c^^41"),
    *(
        "Müller, Łódź, Šířky, œuvre",
        "Ąę",
        "Ω = 2",
        "深度",
        "🙂",
        "right\N{RIGHT-TO-LEFT OVERRIDE}left",
        "bell\a",
        "]]\\\\",
    ),
]


def test_characters_that_latex_lacks_are_named_by_number():
    text = latex_table(compared([[1.0]] * 4, names=["Šířky", "深", "ą\a", "a--b?`''"]))
    assert "{}Šířky & " in text
    assert "{}[U+6DF1] & " in text
    assert "{}[U+0105][U+0007] & " in text
    assert "{}a-{}-b?{}`{}'{}' & " in text


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_prints_any_name(tmp_path):
    """Each name in a table, and as the name of the data set in its caption; the file needs no package."""
    values = np.random.default_rng(0).uniform(0.1, 0.2, (len(HOSTILE), 8))
    made = replace(compared(values, names=HOSTILE), dataset=" ".join(HOSTILE))
    body = latex_table(made)
    (tmp_path / "t.tex").write_text(
        f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\\end{{document}}\n", "utf-8"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "t.log").read_text("utf-8", "replace")
    assert "Missing character" not in log
    assert "Overfull" not in log.partition("\n[1]")[0]  # it fits on the page
    assert (tmp_path / "t.pdf").stat().st_size > 10_000


def test_a_method_that_covers_little_is_never_bold():
    rows = compared([[0.1, 0.2], [0.3, 0.4]])
    poor = [
        each
        if each.method == "b"
        else Outcome(*list(vars(each).values())[:4], {"proper": {**each.scores["proper"], "coverage": 0.5}}, 1, 1)
        for each in rows.outcomes
    ]
    text = markdown_table(Comparison("s", rows.measure, [], rows.methods, poor))
    line = {row.split(" | ")[0]: row for row in text.splitlines()[4:]}
    assert "**" not in line["| a \\*"]
    assert "**0.3500**" in line["| b"]


@pytest.mark.parametrize("scenes", [1, 5, 6])
def test_too_few_scenes_are_said_and_nothing_is_called_equal(scenes):
    base = np.linspace(0.1, 0.2, scenes)
    made = compared([base, base + 0.0005 * (-1.0) ** np.arange(scenes) + 0.0001])
    count = "1 scene" if scenes == 1 else f"{scenes} scenes"
    sentence = f"With {count} no difference can be significant: that takes 6."
    for text in (comparison_lines(made), latex_table(made), markdown_table(made)):
        assert (sentence in text) == (scenes < 6)
        assert ("dagger" in text or "†" in text) == (scenes == 6 and text != comparison_lines(made))
    alone = compared([base])
    assert "no difference" not in comparison_lines(alone) + latex_table(alone)


def test_lines_say_what_failed_and_was_skipped():
    made = compared([[0.1, 0.2], [0.3, None]])
    made.skipped["s9"] = "l.png: no such file"
    tables, problems = comparison_lines(made).rsplit("\n\n", 1)
    assert problems.splitlines() == ["skipped: scene s9: l.png: no such file", "failed: b on scene s1: no luck"]
    assert comparison_lines(made, problems=False) == tables


def test_a_method_without_maps_has_no_p():
    lines = comparison_lines(compared([[0.1, 0.2], [None, None]])).splitlines()
    head = next(i for i, line in enumerate(lines) if line.endswith("less than the next by  p"))
    assert lines[head + 1].split()[-2:] == ["-", "-"]
    assert "no difference" not in "".join(lines)


@pytest.mark.parametrize(
    ("gains", "note"),
    [
        ((0.9, 1.1), None),
        ((-0.9, -1.1), "a, b: {}: is the truth a depth, or are the views exchanged?"),
        ((0.9, -1), "b: {}: the sign of the map is reversed, so turn it (a network: set gain=-1 in its recipe)"),
        ((-1,), "a: {}: the sign of the map is reversed, so turn it (a network: set gain=-1 in its recipe)"),
    ],
)
def test_near_and_far_exchanged_are_noted(gains, note):
    made = compared([[0.1, 0.2], [0.3, 0.4]][: len(gains)])
    for each in made.outcomes:
        each.scores["proper-gain"] = {"gain": gains["ab".index(each.method)]}
    last = comparison_lines(made).splitlines()[-1]
    told = "the mean gain is negative, so near and far are exchanged"
    assert last == f"note: {note.format(told)}" if note else not last.startswith("note")


def test_a_notebook_shows_the_tables_escaped():
    made = compared([[0.1, 0.2], [0.3, None]], names=["<b>one", "two\x1b"])
    page = made._repr_html_()
    assert "<th>&lt;b&gt;one</th>" in page
    assert "<b>one" not in page
    assert "\x1b" not in page
    assert "<td><b>0.1500</b></td>" in page
    assert "<ul><li>failed: two\\x1b on scene s1: no luck</li></ul>" in page
    assert "<ul>" not in compared([[0.1, 0.2]])._repr_html_()


def test_a_comparison_in_one_line():
    made = compared([[0.3, 0.4], [0.1, 0.2]])
    made.skipped["s9"] = "no such file"
    assert repr(made) == "<Comparison a_set: 2 scenes, 1 skipped; best first by proper geometric_mean: b, a>"
