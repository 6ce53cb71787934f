import json

import cv2
import numpy as np
import pytest

from conftest import textured_pair
from dualpix import InputError, reproduction
from dualpix.cli import main
from dualpix.outcomes import Comparison, Outcome
from dualpix.reproduction import AFFINE, Row, Table, reproduce, reproduction_lines, tables


def outcome(method, *figures, protocol="paper-dslr", scene="005"):
    return Outcome(scene, method, None, None, {protocol: dict(zip(AFFINE, figures, strict=True))}, 1.0, 1.0)


def lines(rows, outcomes, scenes=("005",), skipped=()):
    done = Comparison("dslr", ("proper", "geometric_mean"), [], {}, outcomes, dict.fromkeys(skipped, "broken"))
    table = Table(1, "a title", "dslr", "paper-dslr", AFFINE, tuple(rows))
    dataset = reproduction.Dataset("dslr", None, dict.fromkeys(scenes))
    return reproduction._lines(table, dataset, done)


AUTO, CCA = reproduction.method("auto"), reproduction.method("dslr-a")
PRINTED, CODE = (0.1, 0.2, 0.3, 0.4), (0.11, 0.22, 0.33, 0.44)


def test_a_row_has_all_its_figures():
    (line,) = lines(
        [Row("CCA", PRINTED, CODE, CCA, AUTO)], [outcome("dslr-a", 1, 2, 3, 0.55), outcome("auto", 5, 6, 7, 8)]
    )
    assert (line.printed, line.measured) == (PRINTED, CODE)
    assert line.rebuilt == (1, 2, 3, 0.55)
    assert (line.best, line.best_method) == ((5, 6, 7, 8), "auto")
    assert line.deviation == pytest.approx(0.25)


def test_figures_of_several_scenes_are_means():
    outcomes = [outcome("dslr-a", 1, 2, 3, 4), outcome("dslr-a", 3, 4, 5, 6, scene="006")]
    (line,) = lines([Row("CCA", PRINTED, CODE, CCA)], outcomes, scenes=("005", "006"))
    assert line.rebuilt == (2, 3, 4, 5)


@pytest.mark.parametrize(("scenes", "skipped"), [(("005", "006"), ()), (("006",), ()), (("005",), ("005",))])
def test_the_authors_figures_are_shown_for_their_scenes_only(scenes, skipped):
    (line,) = lines([Row("CCA", PRINTED, CODE, CCA)], [outcome("dslr-a", 1, 2, 3, 4)], scenes, skipped)
    assert line.measured is None
    assert line.deviation is None


def test_a_skipped_scene_is_as_good_as_not_there():
    (line,) = lines([Row("CCA", PRINTED, CODE, CCA)], [outcome("dslr-a", 1, 2, 3, 4)], ("005", "006"), ("006",))
    assert line.measured == CODE


def test_what_is_not_rebuilt_or_failed_is_said():
    failed = Outcome("005", "dslr-a", None, None, {}, 1.0, 1.0, "it broke")
    rows = [Row("DPE", PRINTED), Row("CCA", PRINTED, 0.5, CCA)]
    result = reproduction.Reproduction([(tables()[0], "1 scene: 005", lines(rows, [failed]))], {"google": "no"}, [])
    text = reproduction_lines(result)
    assert text.count("not rebuilt, or it failed") == 2
    assert "google is not there: no" in text
    assert "0.1000   0.2000   0.3000   0.4000" in text
    assert " " * 27 + "   0.5000" in text  # the last of the scores alone


def test_all_seven_tables_of_the_paper_are_there():
    assert [table.number for table in tables()] == [1, 2, 3, 4, 5, 6, 7]
    for table in tables():
        for row in table.rows:
            assert len(row.printed) in (0, 4)
            assert not isinstance(row.measured, tuple) or len(row.measured) == 4
            if row.printed and table.scores == AFFINE and row.label != "DPE":  # whose mean is not that of its scores
                assert np.prod(row.printed[:3]) ** (1 / 3) == pytest.approx(row.printed[3], rel=0.06)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A tiny scene of dslr, and one table of one preset for it."""
    rows = (Row("CCA", PRINTED, CODE, reproduction._cca("CCA", window=1.0, iterations=(1,)), None),)
    small = Table(1, "DSLR, set A", "dslr", "paper-dslr", AFFINE, rows)
    google = Table(2, "Google's phone set", "google", "paper-google", AFFINE, rows)
    monkeypatch.setattr(reproduction, "tables", lambda: (small, google))
    root = tmp_path / "dslr"
    root.mkdir()
    left, right = textured_pair((240, 260), 2)
    for name, image in (
        ("005_L.jpg", left),
        ("005_R.jpg", right),
        ("005_D.TIF", np.tile(np.arange(260) // 2, (240, 1))),
    ):
        cv2.imwrite(str(root / name), np.clip(image, 0, 255).astype(np.uint8))
    return tmp_path


def test_the_command_makes_what_there_is_data_for(folder, tmp_path, capfd):
    args = ["reproduce", str(folder), "--cache", str(tmp_path / "cache"), "--quiet"]
    assert main(args) == 0
    out = capfd.readouterr().out
    assert "Table 1: DSLR, set A (dslr), 1 scene: 005" in out
    assert "google is not there: " in out
    assert main([*args, "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    (row,) = record["tables"][0]["rows"]
    assert row["measured"] == list(CODE)
    assert row["deviation"] == pytest.approx(row["rebuilt"][-1] / CODE[-1] - 1)
    assert list(record["missing"]) == ["google"]


def test_a_broken_scene_is_told(folder, tmp_path, capfd):
    (folder / "dslr" / "006_L.jpg").write_bytes(b"no picture")
    assert main(["reproduce", str(folder), "--cache", str(tmp_path / "cache"), "--quiet"]) == 1
    out, err = capfd.readouterr()
    assert "skipped: dslr, scene 006: " in err
    assert "1 scene: 005" in out


def test_a_folder_without_data_is_refused(tmp_path, capfd):
    with pytest.raises(InputError, match="holds none of dslr, google, middlebury"):
        reproduce(tmp_path)
    assert main(["reproduce", str(tmp_path)]) == 2
    assert capfd.readouterr().err.startswith(f"error: {tmp_path}: holds none of")
