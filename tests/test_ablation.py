"""The ablation benchmark: its rows fit this version, and its tables say what it measured."""

import re

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
