"""The demo, for real."""

import json
import sys
from dataclasses import replace

import cv2
import numpy as np
import pytest

import dualpix
from dualpix.evaluation import demo
from dualpix.evaluation.report._pictures import RAMPS
from dualpix.io import read_map
from dualpix.run import Step


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "out"
    return folder, demo.run(folder)


def test_writes_what_it_says(result):
    folder, record = result
    assert sorted(str(path) for path in folder.iterdir()) == sorted(record["files"])
    assert {path.name for path in folder.iterdir()} == set(demo.FILES)
    assert json.loads((folder / "disparity.json").read_text())["scores"] == pytest.approx(record["scores"])


def test_the_error_is_small_where_there_is_texture(result):
    _, record = result
    assert record["scores"]["median_error_textured_px"] <= 0.15
    assert 30 < record["scores"]["textured_percent"] < 90


def test_the_scores_are_those_of_the_written_maps(result):
    folder, record = result
    error = np.abs(dualpix.read_map(folder / "disparity.tiff") - dualpix.read_map(folder / "truth.tiff"))
    assert np.median(error) == pytest.approx(record["scores"]["median_error_px"])
    assert np.sqrt(np.mean(error**2)) == pytest.approx(record["scores"]["rmse_px"], rel=1e-4)


def test_the_page_names_only_files_beside_it(result):
    folder, _ = result
    page = (folder / "index.html").read_text()
    for name in demo.PICTURES:
        assert name in page
        assert (folder / name).is_file()
    assert "http" not in page


def test_errors_and_confidence_have_the_colours_of_reports(result):
    folder, _ = result
    confidence, found, truth = (read_map(folder / f"{name}.tiff") for name in ("confidence", "disparity", "truth"))
    for name, values, marks in (("confidence", 2 * confidence - 1, "sure"), ("error", found - truth, "signed")):
        picture = cv2.imread(str(folder / f"{name}.png"))[: values.shape[0], : values.shape[1], ::-1]
        wanted = [np.interp(values, np.linspace(-1, 1, 5), channel) for channel in zip(*RAMPS[marks], strict=True)]
        np.testing.assert_allclose(picture, np.stack(wanted, axis=-1), atol=2)


def test_progress_begins_with_the_simulation(tmp_path, monkeypatch):
    class Stop(Exception):
        pass

    def stop(*_, progress, **__):
        progress(Step("matching"))
        raise Stop

    monkeypatch.setattr(demo.api, "disparity", stop)
    steps = []
    with pytest.raises(Stop):
        demo.run(tmp_path / "out", progress=steps.append)
    assert steps == [Step("simulation"), Step("matching")]
    assert not (tmp_path / "out").exists()


def test_nothing_is_replaced_unasked(result):
    folder, _ = result
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(dualpix.OutputError, match="exists already"):
        demo.run(folder)
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_the_command_names_the_option_for_another_folder(result, call):
    folder, _ = result
    code, _, err = call("demo", "-o", folder)
    assert (code, err) == (
        2,
        f"error: {folder}: a demo exists already here: give another folder with -o DIR, or --force\n",
    )


def test_the_truth_is_signed_and_fills_the_range():
    _, truth = demo.photograph()
    assert truth.min() == pytest.approx(-demo.LARGEST)
    assert truth.max() == pytest.approx(demo.LARGEST)


def test_a_plain_installation_draws_a_scene_and_says_so(tmp_path, monkeypatch, call):
    small = replace(demo.evening(), width=180, height=120)
    monkeypatch.setattr(demo, "evening", lambda: small)
    monkeypatch.setitem(sys.modules, "skimage.data", None)  # as if scikit-image were not installed
    code, out, _ = call("demo", "-o", tmp_path / "out")
    assert code == 0
    assert out.startswith(f"scene: {demo.DRAWN}\n")
    assert "dualpix draws by itself" in (tmp_path / "out/index.html").read_text()
    record = json.loads((tmp_path / "out/disparity.json").read_text())
    assert record["simulation"] == {"scene": demo.DRAWN}
    assert record["scores"]["median_error_px"] < 0.15
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(demo.FILES)
