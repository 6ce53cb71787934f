"""Comparisons: every method on every scene, apart from each other, and what is finished is finished."""

import csv
import json
import math
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from conftest import textured_pair
from dualpix import cli
from dualpix.batches import process, versions
from dualpix.errors import OutputError, ParameterError
from dualpix.evaluation import compare as comparison
from dualpix.evaluation import worker as _worker
from dualpix.evaluation.cache import cache_folder
from dualpix.evaluation.compare import compare
from dualpix.evaluation.datasets import open_dataset, score
from dualpix.evaluation.methods import Function, method
from dualpix.evaluation.outcomes import Outcome, Scene
from dualpix.evaluation.statistics import differences, interval
from dualpix.evaluation.tables import comparison_csv, comparison_lines, comparison_record, number
from dualpix.run import Step

SCENES = ["1", "2", "3"]
OWN = """
import os, signal, subprocess, sys, time
import numpy as np

def log(left, right, name="log"):
    with open(name, "a") as file:
        file.write(f"{left.mean():.6f}\\n")
    return left.astype(float) if left.ndim == 2 else left[..., 0].astype(float)

def again(left, right):
    return np.sin(log(left, right, "again")), right.astype(float) / 255

def says(left, right):
    print("not for the answer")
    return log(left, right)

def picky(left, right):
    if abs(left.mean() - np.load("worst.npy")) < 1e-9:
        raise ValueError("not\\nthis one")
    return log(left, right, "picky")

def crash(left, right):
    os.kill(os.getpid(), signal.SIGSEGV)

def ends(left, right):
    os._exit(0)

def exits(left, right):
    sys.exit(0)

def leaves(left, right):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open("left_behind", "a") as file:
        file.write(f"{child.pid}\\n")
    return log(left, right)

def empty(left, right):
    return np.full(left.shape, np.nan)

def large(left, right):
    return log(left, right) + np.ones(40_000_000).sum()

def waits(left, right):
    print("waiting")
    result = log(left, right, "waits")
    while len(open("waits").read().split()) == 2 and not os.path.exists("go"):
        time.sleep(0.05)
    return result
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder: a small data set in r6ii, and methods in own_methods.py."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "own_methods.py").write_text(OWN)
    for seed, name in enumerate(SCENES):
        place = tmp_path / "r6ii" / "box" / name
        place.mkdir(parents=True)
        left, right = (np.rint(view).astype(np.uint8) for view in textured_pair((48, 64), 1.0, seed))
        for file, image in (("l", left), ("r", right), ("d", 1000 + 10 * right.astype(np.uint16))):
            cv2.imwrite(f"{place}/{file}.png", image)
    yield tmp_path
    sys.modules.pop("own_methods", None)


@pytest.fixture
def dataset(folder):
    return open_dataset("r6ii", folder)


@pytest.fixture
def here(monkeypatch):
    """Methods run in this process, which is faster."""
    monkeypatch.setattr(comparison, "_in_a_process", _worker.run)


def own(*names):
    return [method(f"own_methods:{name}") for name in names]


def calls(folder, name):
    file = folder / name
    return file.read_text().split() if file.exists() else []


def figures(result):
    return [(each.scene, each.method, each.scores) for each in result.outcomes]


# ---- every method on every scene -----------------------------------------------------------------


def test_all_methods_run_on_all_scenes_and_are_scored(dataset, folder):
    steps = []
    both = [*own("log"), "own_methods:again"]  # a method, and the name of one
    result = compare(dataset, both, cache=folder / "c", progress=steps.append)
    names = ["own_methods:log", "own_methods:again"]
    assert [(each.scene, each.method) for each in result.outcomes] == [(s, m) for s in SCENES for m in names]
    texts = [f"{s}: {m}" for s in SCENES for m in names]
    assert steps == [Step(text, i / 6, i + 1, 6) for i, text in enumerate(texts)]
    assert (result.dataset, result.measure, result.skipped) == ("r6ii", ("proper", "geometric_mean"), {})
    assert [scene.name for scene in result.scenes] == SCENES
    assert set(result.methods) == set(names)
    assert {"dualpix", "python", "numpy", "opencv"} <= set(result.versions)
    for each in result.outcomes:
        scene = dataset.load(each.scene)
        plain = each.method == names[0]
        expected = (scene.left if plain else np.sin(scene.left.astype(float))).astype(np.float32)
        np.testing.assert_array_equal(each.disparity, expected)
        assert each.scores == score("r6ii", scene, expected)
        assert (each.confidence is None) == plain
        assert each.error is None
        assert each.seconds > 0
        assert each.megabytes > 10
    assert calls(folder, "log") == calls(folder, "again") == [f"{dataset.load(s).left.mean():.6f}" for s in SCENES]


def test_without_a_method_nothing_is_compared(dataset, folder):
    with pytest.raises(ParameterError, match="methods is empty"):
        compare(dataset, [], cache=folder / "c")
    assert not (folder / "c").exists()


def test_a_method_that_fails_does_not_stop_the_others(folder):
    (folder / "r6ii/box/3").rename(folder / "3")
    dataset = open_dataset("r6ii", folder)
    np.save("worst.npy", dataset.load("1").left.mean())
    result = compare(dataset, own("picky", "crash", "log"), cache=folder / "c")
    errors = [(each.scene, each.method.partition(":")[2], each.error) for each in result.outcomes]
    assert errors == [
        ("1", "picky", "ValueError: not this one"),
        ("1", "crash", "its process ended with SIGSEGV"),
        ("1", "log", None),
        ("2", "picky", None),
        ("2", "crash", "its process ended with SIGSEGV"),
        ("2", "log", None),
    ]
    failed = result.outcomes[0]
    assert (failed.disparity, failed.confidence, failed.scores) == (None, None, {})
    assert math.isnan(failed.seconds)
    assert math.isnan(result.mean("own_methods:crash", "proper", "ai1"))
    assert len(result.values("own_methods:picky", "proper", "ai1")) == 1


@pytest.mark.parametrize("name", ["ends", "exits"])
def test_a_process_that_ends_without_an_answer_is_a_failure(dataset, name):
    job = _worker.Job("r6ii", dataset.load("1"), own(name)[0], 1)
    assert comparison._in_a_process(job).error == "its process ended without a result"


def test_nobody_waits_for_what_a_method_leaves_running(dataset, folder):
    job = _worker.Job("r6ii", dataset.load("1"), own("leaves")[0], 1)
    assert comparison._in_a_process(job).error is None
    (left_behind,) = map(int, calls(folder, "left_behind"))
    os.kill(left_behind, signal.SIGTERM)  # fails if it has ended


def test_importing_a_method_is_not_its_time(dataset, monkeypatch):
    imported = []
    clock = SimpleNamespace(perf_counter=lambda: imported.append("own_methods" in sys.modules) or 0.0)
    monkeypatch.setattr(_worker, "time", clock)
    job = _worker.Job("r6ii", dataset.load("1"), Function("own", "own_methods", "log"), 1)
    assert "own_methods" not in sys.modules
    assert _worker.run(job).error is None
    assert imported == [True, True]


@pytest.mark.parametrize(
    ("code", "says"), [(7, "exit status 7"), (-9, "SIGKILL, perhaps out of memory"), (-40, "signal 40|SIGRT")]
)
def test_how_a_process_ended(dataset, monkeypatch, code, says):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], code, b"", b""))
    job = _worker.Job("r6ii", dataset.load("1"), own("log")[0], 1)
    assert re.match(f"its process ended with {says}", comparison._in_a_process(job).error)


def test_a_scene_that_cannot_be_read_is_skipped(dataset, folder, here):
    (folder / "r6ii/box/2/r.png").unlink()
    cv2.imwrite("r6ii/box/3/d.png", np.ones((48, 48), np.uint16))
    result = compare(dataset, own("log"), cache=folder / "c")
    assert [each.scene for each in result.outcomes] == [scene.name for scene in result.scenes] == ["1"]
    assert list(result.skipped) == ["2", "3"]
    assert result.skipped["2"].startswith(f"{folder}/r6ii/box/2/r.png: no such file")
    assert "d.png: is 48x48 but the views are 64x48: give a depth map of their size" in result.skipped["3"]


def test_a_map_of_nothing_is_a_failure(dataset, folder, here):
    (outcome, *_) = compare(dataset, own("empty"), cache=folder / "c").outcomes
    assert "fewer than 2 valid pixels" in outcome.error


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere reading the scene counts too")
def test_peak_memory_is_that_of_the_method(dataset, folder):
    (folder / "r6ii/box/2").rename(folder / "2")
    (folder / "r6ii/box/3").rename(folder / "3")
    small, large = compare(open_dataset("r6ii", folder), own("log", "large"), cache=folder / "c").outcomes
    assert 250 < large.megabytes - small.megabytes < 400  # 40 million doubles


def test_without_pictures_only_figures_stay(dataset, folder, here):
    whole = compare(dataset, own("again"), cache=folder / "c")
    result = compare(dataset, own("again"), cache=folder / "c", pictures=False)
    assert result.scenes == []
    assert {(each.disparity, each.confidence) for each in result.outcomes} == {(None, None)}
    assert figures(result) == figures(whole)


def test_large_scenes_are_scored_whole_and_kept_small(here, folder):
    rng = np.random.default_rng(0)
    shape = (600, 1000)
    truth = rng.uniform(size=shape).astype(np.float32)
    truth[:, :300] = np.nan
    left = rng.integers(0, 255, (*shape, 3), np.uint8)
    scene = Scene("large", left, left, left, truth, weight=np.ones_like(truth))
    outcome = _worker.run(_worker.Job("r6ii", scene, own("log")[0], 1))
    assert outcome.scores == score("r6ii", scene, left[..., 0].astype(np.float32))
    small = comparison._small(scene)
    assert outcome.disparity.shape == small.truth.shape == small.weight.shape == (384, 640)
    assert small.left.shape == small.guide.shape == (384, 640, 3)
    where = {value: place for place, value in np.ndenumerate(truth)}
    for y, x in ((0, 639), (190, 320), (383, 500)):
        assert outcome.disparity[y, x] == left[where[small.truth[y, x]]][0]


# ---- what is finished ----------------------------------------------------------------------------


def test_what_is_finished_is_not_done_again(dataset, folder, here):
    first = compare(dataset, own("log"), cache=folder / "c")
    second = compare(dataset, own("log", "again"), cache=folder / "c")
    assert len(calls(folder, "log")) == len(calls(folder, "again")) == 3
    kept = [each for each in second.outcomes if each.method == "own_methods:log"]
    for one, other in zip(first.outcomes, kept, strict=True):
        np.testing.assert_array_equal(one.disparity, other.disparity)
        assert replace(one, disparity=None).__dict__ == replace(other, disparity=None).__dict__


@pytest.mark.parametrize(
    ("change", "redone"),
    [("scene", 1), ("truth", 1), ("code", 3), ("damage", 1), ("threads", 3), ("name", 0), ("core", 3)],
)
def test_what_has_changed_is_done_again(dataset, folder, here, monkeypatch, change, redone):
    options = {"cache": folder / "c", "threads": 1}
    compare(dataset, own("log"), **options)
    file = folder / "r6ii/box/2" / ("l.png" if change == "scene" else "d.png")
    if change in ("scene", "truth"):
        image = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
        image[20, 20] += 1
        cv2.imwrite(str(file), image)
    elif change == "code":
        (folder / "own_methods.py").write_text(OWN + "\n")
    elif change == "damage":
        kept = sorted((folder / "c").iterdir())[0]
        kept.write_bytes(kept.read_bytes()[:-30])
    elif change == "threads":
        options["threads"] = 2
    elif change == "name":
        (folder / "r6ii/box/2").rename(folder / "r6ii/box/renamed")
    elif change == "core":
        monkeypatch.setattr(versions, "code_digest", lambda: "another")
    compare(open_dataset("r6ii", folder), own("log"), **options)
    assert len(calls(folder, "log")) == 3 + redone


def test_failures_are_tried_again(dataset, folder, here):
    np.save("worst.npy", dataset.load("2").left.mean())
    compare(dataset, own("picky"), cache=folder / "c")
    np.save("worst.npy", 0)
    result = compare(dataset, own("picky"), cache=folder / "c")
    assert [each.error for each in result.outcomes] == [None] * 3
    assert len(calls(folder, "picky")) == 3


def test_the_cache_is_where_caches_are(folder, monkeypatch):
    if sys.platform == "linux":
        assert cache_folder() == folder / "home" / "dualpix" / "evaluate"
        monkeypatch.setenv("XDG_CACHE_HOME", "relative")
        monkeypatch.setenv("HOME", str(folder))
        assert cache_folder() == folder / ".cache" / "dualpix" / "evaluate"
    assert cache_folder().is_absolute()


def test_a_cache_that_cannot_be_is_told(dataset, folder):
    with pytest.raises(OutputError, match=r"own_methods.py.*cannot be the cache .*: give another folder as cache=$"):
        compare(dataset, own("log"), cache=folder / "own_methods.py" / "c")


def start(*options):
    command = [sys.executable, "-m", "dualpix", "evaluate", "r6ii", "--dataset", "r6ii", "--json", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def until(condition):
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("waited in vain")


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_after_a_kill_it_goes_on_where_it_was(folder):
    """Killed while the second of three scenes runs: the first is kept, the figures are those of an unbroken run."""
    with start("--method", "own_methods:waits", "--cache", "c") as broken:
        until(lambda: len(calls(folder, "waits")) == 2)
        workers = children(broken.pid) if sys.platform == "linux" else []
        broken.kill()
    for worker in workers:  # nobody is left to take its answer
        until(lambda pid=worker: gone(pid))
    assert not (folder / "go").exists()
    (folder / "go").touch()
    with start("--method", "own_methods:waits", "--cache", "c") as resumed:
        out, err = resumed.communicate()
    assert (resumed.returncode, err) == (0, b"")
    again = calls(folder, "waits")
    assert len(again) == 4
    assert again.count(again[0]) == 1
    assert again[1] == again[2]
    with start("--method", "own_methods:waits", "--cache", "d") as unbroken:
        expected, _ = unbroken.communicate()
    assert len(calls(folder, "waits")) == 7

    def scores(text):
        return {name: scene["own_methods:waits"]["scores"] for name, scene in json.loads(text)["scenes"].items()}

    assert list(scores(out)) == SCENES
    assert scores(out) == scores(expected)


def test_the_process_answers_in_pickle_and_nothing_else(dataset, folder):
    job = _worker.Job("r6ii", dataset.load("1"), own("says")[0], 1)
    command = process.python("from dualpix.batches.process import main; main()")
    task = pickle.dumps((_worker.run, job, os.getpid()))
    done = subprocess.run(command, input=task, capture_output=True, check=True)
    assert isinstance(pickle.loads(done.stdout), Outcome)
    assert done.stderr == b"not for the answer\n"


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def evaluate(folder, here, capfd):
    def run(*options, data="r6ii"):
        code = cli.main(["evaluate", data, "--dataset", "r6ii", *options])
        return code, *capfd.readouterr()

    return run


OWN_LOG = ("--method", "own_methods:log")


def test_the_table_ranks_the_methods(evaluate, folder):
    code, out, err = evaluate("--method", "wta", *OWN_LOG, "--method", "own_methods:again", *OWN_LOG)
    assert (code, err) == (0, "")
    assert out.startswith("r6ii: 3 scenes; means, lower is better, except covered\n\nproper ")
    assert max(map(len, out.splitlines())) <= 100
    _, scores, costs, certainty, few = out.split("\n\n")
    assert few == "With 3 scenes no difference can be significant: that takes 7.\n"
    ranked = [line.split()[0] for line in scores.splitlines()[1:]]
    assert ranked[0] == "own_methods:log"
    assert [line.split()[0] for line in costs.splitlines()] == ["cost", *ranked]
    result = compare(open_dataset("r6ii", folder), [method(name) for name in ranked])
    means, medians = ([f(m, "proper", "geometric_mean") for m in ranked] for f in (result.mean, result.median))
    assert means == sorted(means)
    assert [line.split()[4:] for line in scores.splitlines()[1:]] == [
        [f"{mean:.4f}", f"{middle:.4f}", "100.0%"] for mean, middle in zip(means, medians, strict=True)
    ]
    low, high = interval(result.values(ranked[0], "proper", "geometric_mean"))
    assert certainty.splitlines()[1].split()[:3] == [ranked[0], f"{low:.4f}", f"{high:.4f}"]
    (test,) = (each for each in differences(result) if (each.first, each.second) == tuple(ranked[:2]))
    assert certainty.splitlines()[1].split()[3:] == [f"{-test.mean:.4f}", f"{test.p:.3f}"]
    assert len(calls(folder, "log")) == 3  # the cache by default is the same for all


def test_the_default_method_is_that_of_the_data_set(evaluate, monkeypatch):
    tried = []
    monkeypatch.setattr(comparison, "_in_a_process", lambda job: tried.append(job.method.name) or _worker.run(job))
    assert evaluate("--json")[0] == 0
    assert tried == ["auto"] * 3


def test_json_csv_and_report_agree(evaluate, folder):
    outputs = ("--csv", "t.csv", "--report", "r.html")
    code, out, _ = evaluate(*OWN_LOG, "--json", *outputs)
    assert code == 0
    record = json.loads(out)
    assert record["folder"] == "r6ii"
    assert record["outputs"] == {"report": "r.html", "csv": "t.csv"}
    assert record["measure"] == {"protocol": "proper", "score": "geometric_mean"}
    assert record["ranking"] == ["own_methods:log"]
    own_record = record["methods"]["own_methods:log"]
    assert own_record["parameters"]["function"] == "own_methods:log"
    assert own_record["scenes"] == 3
    values = [record["scenes"][scene]["own_methods:log"]["scores"]["proper"]["ai1"] for scene in SCENES]
    assert own_record["mean"]["proper"]["ai1"] == pytest.approx(np.mean(values))
    assert own_record["median"]["proper"]["ai1"] == pytest.approx(np.median(values))
    seconds = [record["scenes"][scene]["own_methods:log"]["seconds"] for scene in SCENES]
    assert own_record["seconds"] == {"mean": pytest.approx(np.mean(seconds)), "median": np.median(seconds)}
    with open("t.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["scene"] for row in rows] == SCENES
    assert [float(row["proper:ai1"]) for row in rows] == values
    page = (folder / "r.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "own_methods:log" in page
    code, _, err = evaluate(*OWN_LOG, *outputs)
    assert code == 2
    assert "--force" in err
    code, out, _ = evaluate(*OWN_LOG, *outputs, "--force")
    assert code == 0
    assert out.endswith("\nwrote r.html, t.csv\n")
    assert evaluate(*OWN_LOG, "--quiet") == (0, "", "")


def test_what_is_missing_is_said_and_makes_the_exit_status_1(evaluate, folder, dataset):
    np.save("worst.npy", dataset.load("3").left.mean())
    (folder / "r6ii/box/1/l.png").unlink()
    code, out, err = evaluate("--method", "own_methods:picky", *OWN_LOG, "--csv", "t.csv")
    lines = [line for line in err.splitlines() if line.startswith(("skipped", "failed"))]
    assert code == 1
    assert len(lines) == 2
    assert lines[0].startswith("skipped: scene 1: r6ii/box/1/l.png: no such file")
    assert lines[1] == "failed: own_methods:picky on scene 3: ValueError: not this one"
    assert out.startswith("r6ii: 2 scenes, 1 skipped, 1 map missing; ")
    scores = out.split("\n\n")[1].splitlines()
    assert scores[1].startswith("own_methods:log")  # has more maps
    assert (folder / "t.csv").read_text().count("ValueError") == 1
    with open("t.csv", newline="") as file:
        left_out = list(csv.DictReader(file))[-1]
    assert (left_out["dataset"], left_out["scene"], left_out["method"], left_out["proper:ai1"]) == ("r6ii", "1", "", "")
    assert left_out["error"].startswith("r6ii/box/1/l.png: no such file")


def test_names_that_are_not_utf8_are_written_all_the_same(evaluate, folder):
    try:
        (folder / "r6ii/box/1").rename(folder / "r6ii/box/1\udcff")
    except OSError:
        pytest.skip("this file system takes no such names")
    code, out, _ = evaluate(*OWN_LOG, "--csv", "t.csv", "--report", "r.html", "--json")
    assert code == 0
    assert "1\udcff" in json.loads(out)["scenes"]
    for file in ("t.csv", "r.html"):
        assert "1\\udcff" in (folder / file).read_text()


@pytest.mark.parametrize("link", [False, True])
def test_files_of_the_data_set_are_not_overwritten(evaluate, folder, link):
    target = folder / "r6ii/box/1/d.png"
    before = target.read_bytes()
    if link:
        (folder / "link.csv").symlink_to(target)
    code, _, err = evaluate(*OWN_LOG, "--csv", "link.csv" if link else str(target), "--force")
    assert code == 2
    assert "this file belongs to the data set and is never replaced: choose another name" in err
    assert target.read_bytes() == before
    assert evaluate(*OWN_LOG, "--csv", "r6ii/new.csv")[0] == 0


def test_a_method_that_covers_little_is_marked_and_ranked_behind(evaluate, folder):
    with (folder / "own_methods.py").open("a") as file:
        file.write("\ndef few(left, right):\n    d = log(left, right)\n    d[:, 30:] = np.nan\n    return d\n")
    code, out, _ = evaluate("--method", "own_methods:few", "--method", "own_methods:again")
    assert code == 0
    scores = out.split("\n\n")[1].splitlines()
    assert scores[1].startswith("own_methods:again  ")
    assert scores[2].startswith("own_methods:few *  ")
    assert float(scores[2].split()[2]) < float(scores[1].split()[1])
    note = "* covers less than 95 % of the truth: scored on what it covers, ranked behind those that cover more"
    assert out.splitlines()[-1] == note
    tables = "--markdown", "table.md", "--latex", "table.tex"
    assert evaluate("--method", "own_methods:few", "--method", "own_methods:again", *tables)[0] == 0
    for name, row, mark in (("table.md", "few \\* |", "\\*: covers"), ("table.tex", "few * &", "*: covers")):
        text = (folder / name).read_text()
        assert row in text.replace("\\_", "_")
        assert mark in text
    assert max(map(len, out.splitlines())) <= 100
    record = json.loads(evaluate("--method", "own_methods:few", "--method", "own_methods:again", "--json")[1])
    assert record["ranking"] == ["own_methods:again", "own_methods:few"]
    assert [record["methods"][name]["partial"] for name in record["ranking"]] == [False, True]


def test_a_method_without_any_map_has_no_figures(evaluate):
    code, out, _ = evaluate("--method", "own_methods:empty")
    assert code == 1
    assert "3 maps missing" in out
    assert out.splitlines()[-1].split() == ["own_methods:empty", "-", "-", "-", "0"]


@pytest.fixture
def rendered(folder, here, capfd):
    """The command on two scenes of simulated, in a folder of another name. The left half of 2 is nearer by 2 px."""
    for seed, name in enumerate(("1", "2")):
        place = folder / "pairs" / name
        place.mkdir(parents=True)
        for file, view in zip("lr", textured_pair((48, 64), 1.0, seed), strict=True):
            cv2.imwrite(f"{place}/{file}.png", np.rint(view).astype(np.uint8))
        np.save(place / "d.npy", np.where(np.arange(64) < 32 * seed, 3, 1)[None].repeat(48, axis=0).astype(np.float32))

    def run(*options):
        code = cli.main(["evaluate", "pairs", "--dataset", "simulated", *options])
        return code, *capfd.readouterr()

    return run


def test_simulated_has_its_scores_in_table_csv_and_json(rendered):
    methods = ("--method", "own_methods:again", *OWN_LOG)
    code, out, err = rendered(*methods)
    assert (code, err) == (0, "")
    title, scores, *_ = out.split("\n\n")
    assert title == "simulated: 2 scenes; means, lower is better, except gain and covered"
    assert max(map(len, out.splitlines())) <= 100
    heads = "proper MAE median bad 0.25 bad 1 smooth edges bump AUSE gain covered"
    assert scores.splitlines()[0].split() == heads.split()
    by_name = {line.split()[0]: line.split() for line in scores.splitlines()[1:]}
    assert by_name["own_methods:log"][8] == "-"  # has no confidence
    record = json.loads(rendered(*methods, "--json", "--csv", "t.csv")[1])
    assert record["measure"] == {"protocol": "proper", "score": "mae"}
    own = {scene: each["own_methods:again"]["scores"]["proper"] for scene, each in record["scenes"].items()}
    assert "edges" not in own["1"]  # the truth has none
    assert float(by_name["own_methods:again"][6]) == pytest.approx(own["2"]["edges"], abs=6e-4)
    assert record["methods"]["own_methods:log"]["mean"]["proper"]["ause"] is None
    assert record["methods"]["own_methods:again"]["mean"]["proper"]["ause"] > 0
    with open("t.csv", newline="") as file:
        rows = {(row["scene"], row["method"]): row for row in csv.DictReader(file)}
    assert rows["1", "own_methods:log"]["proper:ause"] == rows["1", "own_methods:again"]["proper:edges"] == ""
    assert float(rows["2", "own_methods:again"]["proper:mae"]) == own["2"]["mae"]


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("r.png", None, "pairs/1/r.png: no such file"),
        ("d.npy", None, "pairs/1/d.npy: no such file"),
        ("d.npy", np.ones((48, 63), np.float32), "pairs/1/d.npy is 63x48 but pairs/1/l.png is 64x48"),
        ("d.npy", np.full((48, 64), np.nan, np.float32), "pairs/1/d.npy: has no known disparity"),
    ],
)
def test_a_set_without_a_scene_to_use_is_bad_input(rendered, folder, file, content, says):
    """If another scene can be used, the bad one is skipped."""
    target = folder / "pairs/1" / file
    target.unlink()
    if content is not None:
        np.save(target, content)
    code, _, err = rendered(*OWN_LOG)
    assert (code, err.startswith(f"skipped: scene 1: {says}")) == (1, True)
    (folder / "pairs/2/l.png").unlink()
    code, out, err = rendered(*OWN_LOG, "--csv", "t.csv")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: scene 1: {says}")
    assert err.endswith(" (and 1 more scene)\n")
    assert err.count("\n") == 1
    assert not (folder / "t.csv").exists()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--method", "nothing"), "the methods are auto"),
        (("--report", "r.pdf"), "r.pdf: a report is an .html file"),
        (("--csv", "nowhere/t.csv"), "nowhere/t.csv"),
        (("--report", "r.html", "--csv", "r.html"), "two outputs"),
        (("--crop", "3"), "'--crop' does not go with --dataset"),
        (("--protocol", "proper"), "'--protocol' does not go"),
        (("gt.pfm",), "'GT' does not go"),
        (("--threads", "0"), "threads"),
        (("--cache", "own_methods.py"), "cache"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(evaluate, folder, monkeypatch, options, names):
    monkeypatch.setattr(comparison, "_in_a_process", None)
    before = sorted(folder.rglob("*"))
    code, out, err = evaluate(*options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert names in err
    assert err.count("\n") == 1
    after = [path for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts]
    assert [path for path in after if "home" not in path.parts] == before


def test_a_folder_that_does_not_fit_is_explained(evaluate):
    code, _, err = evaluate(data="home")
    assert code == 2
    assert err.startswith("error: home: no such folder: give the one that holds folders with l.png")


@pytest.mark.parametrize("option", [("--method", "auto"), ("--report", "r.html"), ("--cache", "c"), ("--quiet",)])
def test_options_of_data_sets_need_one(folder, capfd, option):
    assert cli.main(["evaluate", "a.tiff", "b.tiff", *option]) == 2
    assert f"'{option[0]}' goes with --dataset" in capfd.readouterr().err
    assert cli.main(["evaluate", "a.tiff"]) == 2
    assert "Missing argument 'GT'" in capfd.readouterr().err


def test_tables_of_stereo_fit_into_100_columns():
    scores = dict.fromkeys(("bad_0_5", "bad_1", "bad_2", "bad_4"), 100.0) | {"rmse": 123.456, "coverage": 1.0}
    outcome = Outcome("s", "stereo-paper+solver", None, None, {"paper-stereo": scores, "proper": scores}, 99.9, 9999.0)
    result = comparison.Comparison("middlebury", ("proper", "bad_1"), [], {outcome.method: {}}, [outcome])
    text = comparison_lines(result)
    assert max(map(len, text.splitlines())) <= 100
    assert text.index("paper-stereo ") < text.index("\n\nproper ") < text.index("\n\ncost ")
    assert comparison_csv(result).splitlines()[1].startswith("middlebury,s,stereo-paper+solver,100.0,")
    assert comparison_record(result)["methods"][outcome.method]["megabytes"] == 9999


@pytest.mark.parametrize(
    ("value", "text"), [(999_999, "999999.00"), (1e6, "1e+06"), (-2.5e30, "-2.5e+30"), (np.inf, "inf"), (np.nan, "-")]
)
def test_very_large_numbers_stay_short(value, text):
    assert number(value, 2) == text
