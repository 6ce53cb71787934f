import json
import shutil
from dataclasses import replace

import cv2
import numpy as np
import pytest

from conftest import textured_pair
from dualpix import InputError
from dualpix.cli import main
from dualpix.evaluation import paper, reproduction
from dualpix.evaluation.datasets import LAYOUTS, open_dataset
from dualpix.evaluation.methods import method
from dualpix.evaluation.outcomes import Comparison, Outcome
from dualpix.evaluation.paper import AFFINE, MEASURED, Row, Table, tables
from dualpix.evaluation.reproduction import reproduce, reproduction_lines
from dualpix.evaluation.worker import failure
from onnx_files import picking


def outcome(method, *figures, protocol="paper-dslr", scene="005"):
    return Outcome(scene, method, None, None, {protocol: dict(zip(AFFINE, figures, strict=True))}, 1.0, 1.0)


SIZE = MEASURED["dslr"]["005"]


def lines(rows, outcomes, scenes=("005",), size=SIZE):
    sizes = dict.fromkeys(scenes, size)
    done = Comparison("dslr", ("proper", "geometric_mean"), [], {}, outcomes, {"007": "broken"}, sizes=sizes)
    return reproduction._lines(Table(1, "a title", "dslr", "paper-dslr", AFFINE, tuple(rows)), done)


AUTO, CCA = method("auto"), method("dslr-a")
PRINTED, CODE = (0.1, 0.2, 0.3, 0.4), (0.11, 0.22, 0.33, 0.44)


def test_a_row_has_all_its_figures():
    (line,) = lines(
        [Row("CCA", PRINTED, CODE, CCA, AUTO)], [outcome("dslr-a", 1, 2, 3, 0.55), outcome("auto", 5, 6, 7, 8)]
    )
    assert (line.printed, line.measured) == (PRINTED, CODE)
    assert line.rebuilt == (1, 2, 3, 0.55)
    assert (line.best, line.best_method) == ((5, 6, 7, 8), "auto")
    assert line.deviations == pytest.approx([1 / 0.11 - 1, 2 / 0.22 - 1, 3 / 0.33 - 1, 0.25])
    assert line.deviation == pytest.approx(0.25)
    assert line.missing == {"rebuilt": None, "best": None}


def test_deviations_stand_under_their_scores():
    rows = [Row("CCA", PRINTED, CODE, CCA), Row("one", PRINTED, 0.5, CCA)]
    every, last = lines(rows, [outcome("dslr-a", 0.22, 0.22, 0.33, 0.55)])
    assert last.deviations == pytest.approx([0.1])
    text = reproduction_lines(reproduction.Reproduction([(tables()[0], "1 scene: 005", [every, last])], {}, []))
    shown = [line for line in text.splitlines() if "change from the authors' code" in line]
    assert [line[-36:] for line in shown] == [" +100.0%    +0.0%    +0.0%   +25.0%".rjust(36), "+10.0%".rjust(36)]
    figures = next(line for line in text.splitlines() if line.strip().startswith("rebuilt"))
    assert len(figures) == len(shown[0]) == len(shown[1])


def test_figures_of_the_protocol_proper_have_their_own_line():
    scores = {name: dict(zip(AFFINE, PRINTED, strict=True)) for name in ("paper-dslr", "proper")}
    done = Outcome("005", "dslr-a", None, None, scores, 1.0, 1.0)
    paper, proper = lines([Row("CCA", PRINTED, CODE, CCA, proper=PRINTED)], [done])
    assert (paper.protocol, paper.printed, paper.measured) == ("paper-dslr", PRINTED, CODE)
    assert (proper.protocol, proper.printed, proper.measured) == ("proper", (), PRINTED)
    assert proper.deviations == (0, 0, 0, 0)


def test_figures_of_several_scenes_are_means():
    outcomes = [outcome("dslr-a", 1, 2, 3, 4), outcome("dslr-a", 3, 4, 5, 6, scene="006")]
    (line,) = lines([Row("CCA", PRINTED, CODE, CCA)], outcomes, scenes=("005", "006"))
    assert line.rebuilt == (2, 3, 4, 5)


@pytest.mark.parametrize(
    ("scenes", "size"), [(("005", "006"), SIZE), (("006",), SIZE), ((), SIZE), (("005",), (1470, 2590))]
)
def test_the_authors_figures_are_shown_for_their_scenes_in_their_size_only(scenes, size):
    (line,) = lines([Row("CCA", PRINTED, CODE, CCA)], [outcome("dslr-a", 1, 2, 3, 4)], scenes, size)
    assert line.measured is None
    assert line.deviations == ()
    assert line.deviation is None


def test_the_sizes_are_those_of_the_data(data_dir):
    for name, sizes in MEASURED.items():
        dataset = open_dataset(name, data_dir)
        for scene in list(sizes)[:2]:
            assert dataset.load(scene).left.shape[:2] == sizes[scene]


def broken(scene="005", method="dslr-a"):
    return Outcome(scene, method, None, None, {}, 1.0, 1.0, "it broke")


def test_no_mean_is_shown_of_a_part_of_the_scenes():
    outcomes = [outcome("dslr-a", 1, 2, 3, 4), broken("006"), broken("005", "auto"), broken("006", "auto")]
    (line,) = lines([Row("CCA", PRINTED, CODE, CCA, AUTO)], outcomes, ("005", "006"))
    assert (line.rebuilt, line.best) == (None, None)
    assert line.missing == {"rebuilt": "failed on 1 of 2 scenes", "best": "failed on 2 of 2 scenes"}


def test_what_is_not_rebuilt_or_failed_is_said():
    rows = [Row("DPE", PRINTED), Row("CCA", PRINTED, 0.5, CCA)]
    result = reproduction.Reproduction([(tables()[0], "1 scene: 005", lines(rows, [broken()]))], {"google": "no"}, [])
    text = reproduction_lines(result)
    said = [line.split(None, 1)[1] for line in text.splitlines() if line.strip().startswith("rebuilt")]
    assert said == ["not rebuilt", "failed on 1 of 1 scene"]
    assert "best" not in text
    assert "google is missing: no" in text
    assert "0.1000   0.2000   0.3000   0.4000" in text
    assert " " * 27 + "   0.5000" in text  # the last of the scores alone


def test_all_seven_tables_of_the_paper_are_there():
    assert [table.number for table in tables()] == [1, 2, 3, 4, 5, 6, 7]
    for table in tables():
        for row in table.rows:
            assert len(row.printed) in (0, 4)
            for figures in (row.measured, row.proper):
                assert not isinstance(figures, tuple) or len(figures) == 4
            if row.printed and table.scores == AFFINE and row.label != "DPE":  # whose mean is not that of its scores
                assert np.prod(row.printed[:3]) ** (1 / 3) == pytest.approx(row.printed[3], rel=0.06)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A tiny scene of dslr, and one table of one preset for it."""
    rows = (Row("CCA", PRINTED, CODE, paper.cca("CCA", window=1.0, iterations=(1,)), None),)
    small = Table(1, "DSLR, set A", "dslr", "paper-dslr", AFFINE, rows)
    google = Table(2, "Google's phone set", "google", "paper-google", AFFINE, rows)
    monkeypatch.setattr(reproduction, "tables", lambda: (small, google))
    monkeypatch.setitem(MEASURED, "dslr", {"005": (240, 260)})
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
    assert "google is missing: " in out
    assert main([*args, "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    (row,) = record["tables"][0]["rows"]
    assert row["measured"] == list(CODE)
    assert row["deviations"] == pytest.approx([a / b - 1 for a, b in zip(row["rebuilt"], CODE, strict=True)])
    assert row["deviation"] == row["deviations"][-1]
    assert list(record["missing"]) == ["google"]


def test_a_network_fills_its_row(folder, tmp_path, monkeypatch, capfd):
    """DPE is named and runs, SFBD is not and says so."""
    rows = (Row("DPE", PRINTED, learned=True), Row("SFBD", (), learned=True))
    monkeypatch.setattr(reproduction, "tables", lambda: (Table(1, "a title", "dslr", "paper-dslr", AFFINE, rows),))
    network = picking(tmp_path / "dpe.onnx", [1, 6, None, None], 0)
    args = ["reproduce", str(folder), "--cache", str(tmp_path / "cache"), "--quiet", "--method", f"DPE=onnx:{network}"]
    assert main(args) == 0
    out = capfd.readouterr().out
    assert "not run: give --method SFBD=onnx:FILE.onnx" in out
    assert "--method DPE" not in out
    assert main([*args, "--json"]) == 0
    named, other = json.loads(capfd.readouterr().out)["tables"][0]["rows"]
    assert len(named["rebuilt"]) == 4
    assert (other["rebuilt"], named["missing"]["rebuilt"]) == (None, None)


def test_a_broken_scene_is_told(folder, tmp_path, capfd):
    (folder / "dslr" / "006_L.jpg").write_bytes(b"no picture")
    assert main(["reproduce", str(folder), "--cache", str(tmp_path / "cache"), "--quiet"]) == 1
    out, err = capfd.readouterr()
    assert "skipped: dslr, scene 006: " in err
    assert "1 scene: 005" in out


def test_progress_counts_the_steps_of_all_data_sets(folder, tmp_path, monkeypatch):
    """Two data sets of two scenes and one scene; the share never goes back."""
    for letter, suffix in (("L", "jpg"), ("R", "jpg"), ("D", "TIF")):
        shutil.copy(folder / f"dslr/005_{letter}.{suffix}", folder / f"dslr/006_{letter}.{suffix}")
    shutil.copytree(folder / "dslr", folder / "other")
    for file in (folder / "other").glob("006*"):
        file.unlink()
    small, _ = reproduction.tables()
    monkeypatch.setattr(reproduction, "tables", lambda: (small, replace(small, number=2, dataset="other")))
    monkeypatch.setitem(LAYOUTS, "other", LAYOUTS["dslr"])
    monkeypatch.setitem(MEASURED, "other", {})
    monkeypatch.setattr("dualpix.evaluation.compare._in_a_process", lambda job: failure(job, "not run"))
    steps = []
    reproduce(folder, cache=tmp_path / "cache", progress=steps.append)
    assert [str(step) for step in steps] == [
        "005: CCA, step 1 of 3", "006: CCA, step 2 of 3", "005: CCA, step 3 of 3"
    ]  # fmt: skip
    assert [step.share for step in steps] == pytest.approx([0, 1 / 3, 2 / 3])


def test_sets_are_found_by_name_only(folder):
    with pytest.raises(InputError, match="holds none of dslr, google: give the folder that holds them by name"):
        reproduce(folder / "dslr")


def test_a_set_that_is_there_but_cannot_be_used_is_told(folder):
    for file in (folder / "dslr").iterdir():
        file.unlink()
    with pytest.raises(InputError, match="dslr: holds no scene of dslr: looked for "):
        reproduce(folder)


def test_a_folder_without_data_is_refused(tmp_path, capfd):
    with pytest.raises(InputError, match="holds none of dslr, google, middlebury"):
        reproduce(tmp_path)
    assert main(["reproduce", str(tmp_path)]) == 2
    assert capfd.readouterr().err.startswith(f"error: {tmp_path}: holds none of")
