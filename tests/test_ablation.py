"""The ablation and tuning benchmarks: their rows fit this version, and their tables say what they measured."""

import re
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

import dualpix


@pytest.fixture
def data(tmp_path):
    """One r6ii scene: a textured plane, nearer on its right half."""
    folder = tmp_path / "data" / "r6ii" / "box" / "001"
    folder.mkdir(parents=True)
    height, width = 96, 160
    texture = cv2.GaussianBlur(
        np.random.default_rng(0).uniform(0, 255, (height, width + 2)).astype(np.float32), (3, 3), 0
    )
    left, right = texture[:, :width], texture[:, :width].copy()
    right[:, width // 2 :] = texture[:, width // 2 + 2 :]
    depth = np.full((height, width), 2000, np.uint16)
    depth[:, width // 2 :] = 1000
    for name, image in (("l", left.astype(np.uint8)), ("r", right.astype(np.uint8)), ("d", depth)):
        cv2.imwrite(str(folder / f"{name}.png"), image)
    return tmp_path / "data"


def test_every_row_changes_parameters_of_this_version(ablation):
    for changes in ablation.AUTO:
        dualpix.preset("auto").replace(**changes)
    for _, changes, _ in ablation.PAPER:
        dualpix.preset("dslr-a").replace(**changes)


def test_prints_and_writes_the_same_table(ablation, data, tmp_path, capsys, monkeypatch):
    border = dualpix.preset("auto").border
    monkeypatch.setattr(ablation, "AUTO", [{"subpixel": "parabola"}, {"border": border}, {"range": (-8.0, 8.0)}])
    out = tmp_path / "table.md"
    assert ablation.main([str(data), "--table", "auto", "--markdown", str(out)]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("skipped") == 2  # dslr and pixel4
    rows = [line.strip("| ").split(" | ") for line in out.read_text().splitlines() if line.startswith("|")]
    assert [row[0] for row in rows] == ["changed", "---", "auto", "subpixel=parabola", "range=-8,8"]
    for row in rows[2:]:
        assert re.search(rf"^{re.escape(row[0])} +{row[1]}\b", printed.out, re.M)
    auto, parabola = float(rows[2][1]), float(rows[3][1])
    assert 0 < auto < 0.2
    assert float(rows[3][2]) == pytest.approx(100 * (parabola / auto - 1), abs=0.5)
    assert dualpix.__version__ in out.read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "no scene found"),
        (["--table", "paper", "--set", "r6ii"], "dslr alone"),
        (["--markdown", "{tmp}"], "is a folder"),
    ],
)
def test_says_in_one_sentence_what_is_wrong(ablation, tmp_path, capsys, options, words):
    assert ablation.main([str(tmp_path), *(option.format(tmp=tmp_path) for option in options)]) == 2
    captured = capsys.readouterr()
    (sentence,) = captured.err.splitlines()
    assert sentence.startswith("error: ")
    assert words in sentence
    assert captured.out == ""


# ---- benchmarks/tune.py --------------------------------------------------------------------------


@pytest.fixture
def tune(benchmark_script):
    return benchmark_script("tune")


def set_of(tune, name, scenes):
    dataset = SimpleNamespace(name=name, measure=("proper", "geometric_mean"))
    return tune.Set(name, dataset, [str(index) for index in range(scenes)])


def test_every_part_of_auto_can_be_switched_off(tune):
    candidates = tune.with_auto(tune.BEFORE)
    assert len(candidates) == len(tune.BEFORE) + 1


def test_sets_count_the_same_in_every_mean(tune):
    sets = [set_of(tune, "simulated", 6), set_of(tune, "dslr", 1)]
    ratios = {"simulated": np.full(6, 0.1), "dslr": np.array([-0.3])}
    assert tune.change(sets, ratios, range(3)) == pytest.approx(-0.1)
    assert [sets[1].fold(0) == k for k in range(3)].count(True) == 1
    assert tune.change(sets, ratios, [k for k in range(3) if k != sets[1].fold(0)]) == pytest.approx(0.1)
    assert np.isnan(tune.change(sets[1:], ratios, [sets[1].fold(0) - 1]))


def test_a_value_is_never_shown_on_a_fold_that_it_was_chosen_on(tune):
    """Each value gains only on one fold and loses on the others, so no choice holds in the test."""
    sets = [set_of(tune, "simulated", 3)]
    ratios = {tune.AUTO: {"simulated": np.zeros(3)}}
    for k in range(3):
        ratios[f"v{k}"] = {"simulated": np.where(np.arange(3) == k, -0.5, 0.1)}
    rows = tune.choice_table(sets, ratios, {"v": ["v0", "v1", "v2"]}).rows[1:]
    for k, (_, fold, chosen, others, test) in enumerate(rows[:3]):
        assert fold == str(k + 1)
        assert chosen != f"v{k}"
        assert float(others) < 0 < float(test)
    assert float(rows[3][4]) > 0


def test_a_value_that_is_best_everywhere_is_chosen_everywhere(tune):
    sets = [set_of(tune, "pixel4", 6)]
    ratios = {tune.AUTO: {"pixel4": np.zeros(6)}, "a": {"pixel4": np.full(6, np.log(0.9))}}
    rows = tune.choice_table(sets, ratios, {"a": ["a"]}).rows[1:]
    assert [row[2].strip("()") for row in rows] == ["a"] * 4
    assert [row[4] for row in rows] == ["-10.0"] * 4


def test_a_second_run_takes_the_scores_from_the_cache(tune, data, tmp_path, capsys, monkeypatch):
    arguments = [str(data), "--set", "polish=0,0.2", "--set", "window=5,10", "--cache", str(tmp_path / "cache")]
    assert tune.main(arguments) == 0
    first = capsys.readouterr().out
    assert re.search(r"^polish=0 +[+-]\d", first, re.M)
    assert re.search(r"^window +mean", first, re.M)
    monkeypatch.setattr(tune, "score", None)
    assert tune.main(arguments) == 0
    assert capsys.readouterr().out == first


def test_a_grid_has_all_combinations(tune):
    (changes,) = tune.groups_of(["polish=0,0.2", "window=5,10"], grid=True).values()
    assert [(each["polish"], each["window"]) for each in changes] == [(0, 5), (0, 10), (0.2, 5), (0.2, 10)]


def test_shows_what_the_parts_of_auto_are_worth(tune, data, tmp_path, capsys):
    assert tune.main([str(data), "--gains", "--cache", str(tmp_path / "cache")]) == 0
    assert re.search(r"^all of these +0\.\d{4}$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "polish"], "NAME=V1,V2"),
        (["--set", "polish=a"], "parameter polish"),
        (["--gains", "--scenes-step", "0"], "1 or more"),
    ],
)
def test_tuning_says_in_one_sentence_what_is_wrong(tune, data, tmp_path, capsys, options, words):
    assert tune.main([str(data), "--cache", str(tmp_path / "cache"), *options]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("error: ")
    assert words in sentence
