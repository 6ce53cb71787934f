"""Batches: many captures, each done once, whatever happens to the others or to the processes."""

import csv
import json
import os
import re
import shutil
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix.batches import folder as _folder
from dualpix.batches import inputs, memory
from dualpix.batches.runner import Here
from dualpix.batches.store import once
from dualpix.cli.batch import _summary, duration
from dualpix.errors import InputError, OutputError, ParameterError
from dualpix.io import locks as _locks
from dualpix.io.parts import name_beside

NAMES = ["a", "b", "deep/c"]


def write_views(left, right, seed=0, shape=(48, 64)):
    for path, view in zip((left, right), textured_pair(shape, 1.0, seed), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), np.rint(view).astype(np.uint8))


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Three pairs in the folder photos, and the current folder above it."""
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(NAMES):
        write_views(tmp_path / f"photos/{name}_left.png", tmp_path / f"photos/{name}_right.png", seed)
    return tmp_path / "photos"


def run(*args, **options):
    """The outcomes of a batch that runs in this process, by name."""
    return {outcome.name: outcome for outcome in dualpix.batch(*args, runner=Here(), **options)}


def lines(out):
    return [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]


def files(out):
    """Every file with what tells whether it was written again."""
    found = {path: path.stat() for path in out.rglob("*") if path.is_file()}
    return {path: (stat.st_ino, stat.st_mtime_ns) for path, stat in found.items()}


# ---- what a batch writes -------------------------------------------------------------------------


def test_every_capture_gets_the_map_that_disparity_makes(photos, tmp_path):
    (photos / "notes.png").write_bytes((photos / "a_left.png").read_bytes())
    batch = dualpix.batch("photos", "out", confidence=True, preview=True, jobs=2)
    assert (len(batch), batch.others) == (3, 1)
    outcomes = {each.name: each for each in batch}
    assert sorted(outcomes) == [f"{name}_left" for name in NAMES]
    for name in NAMES:
        outcome = outcomes[f"{name}_left"]
        assert (outcome.error, outcome.kept) == (None, False)
        expected = dualpix.disparity(photos / f"{name}_left.png", photos / f"{name}_right.png")
        np.testing.assert_array_equal(dualpix.read_map(outcome.outputs["disparity"]), expected.disparity)
        np.testing.assert_array_equal(dualpix.read_map(outcome.outputs["confidence"]), expected.confidence)
        sidecar = json.loads(Path(outcome.outputs["sidecar"]).read_text())
        assert (sidecar["key"], sidecar["preset"]) == (outcome.key, "auto")
    ends = (".tiff", ".json", ".confidence.tiff", ".preview.png")
    written = {f"{name}_left{end}" for name in NAMES for end in ends} | {"batch.json", "results.jsonl"}
    assert {path.relative_to("out").as_posix() for path in files(Path("out"))} == written
    found = {line["name"]: line for line in lines(tmp_path / "out")}
    assert found["deep/c_left"]["outputs"]["disparity"] == "deep/c_left.tiff"
    assert {line["status"] for line in found.values()} == {"done"}


def test_one_bad_capture_does_not_stop_the_others_and_is_tried_again(photos, tmp_path):
    good = (photos / "b_left.png").read_bytes()
    (photos / "b_left.png").write_bytes(good[:100])
    outcomes = run("photos", "out")
    assert [name for name, each in outcomes.items() if each.error] == ["b_left"]
    assert "b_left.png" in outcomes["b_left"].error
    assert {line["name"]: line["status"] for line in lines(tmp_path / "out")} == {
        "a_left": "done",
        "b_left": "failed",
        "deep/c_left": "done",
    }
    assert not list(tmp_path.glob("out/b_left*"))
    (photos / "b_left.png").write_bytes(good)
    again = run("photos", "out")
    assert {name: each.kept for name, each in again.items()} == {"a_left": True, "b_left": False, "deep/c_left": True}
    assert sorted(line["status"] for line in lines(tmp_path / "out")) == ["done"] * 3


def test_inputs_that_overlap_are_done_once(photos):
    outcomes = list(dualpix.batch(["photos", "photos/*.png"], "out", runner=Here()))
    assert len({each.name for each in outcomes}) == len(outcomes) == len(NAMES)


def test_an_error_that_nobody_expects_stays_with_its_capture(photos, monkeypatch):
    monkeypatch.setattr("dualpix.method.result.map_record", lambda *_: 1 / 0)
    assert {each.error for each in run("photos", "out").values()} == {"ZeroDivisionError: division by zero"}


# ---- resuming ------------------------------------------------------------------------------------


def test_what_is_finished_is_not_touched(photos, tmp_path):
    run("photos", "out")
    before = files(tmp_path / "out")
    os.utime(photos / "a_left.png")  # the content counts, not the date
    again = run("photos", "out")
    assert all(each.kept for each in again.values())
    assert all(Path(each.outputs["disparity"]).is_file() and each.seconds > 0 for each in again.values())
    assert files(tmp_path / "out") == before


def test_other_content_is_done_again_alone(photos, tmp_path):
    first = run("photos", "out")
    write_views(photos / "b_left.png", photos / "b_right.png", seed=9)
    again = run("photos", "out")
    assert [name for name, each in again.items() if not each.kept] == ["b_left"]
    assert again["b_left"].key != first["b_left"].key
    assert sorted(line["name"] for line in lines(tmp_path / "out")) == sorted(first)
    expected = dualpix.disparity(photos / "b_left.png", photos / "b_right.png").disparity
    np.testing.assert_array_equal(dualpix.read_map("out/b_left.tiff"), expected)


@pytest.mark.parametrize("lose", [os.unlink, lambda path: os.truncate(path, 0)], ids=["missing", "empty"])
@pytest.mark.parametrize("lost", ["a_left.tiff", "a_left.json"])
def test_a_capture_that_is_not_whole_is_done_again(photos, tmp_path, lost, lose):
    run("photos", "out")
    lose(tmp_path / "out" / lost)
    assert [name for name, each in run("photos", "out").items() if not each.kept] == ["a_left"]
    assert (tmp_path / "out" / lost).stat().st_size > 0


def test_another_version_is_done_again(photos, monkeypatch):
    run("photos", "out")
    monkeypatch.setattr("dualpix.batches.capture.version", lambda: "9.9")
    assert not any(each.kept for each in run("photos", "out").values())


def test_a_line_cut_short_and_parts_of_files_are_cleared(photos, tmp_path):
    run("photos", "out")
    whole = (tmp_path / "out/results.jsonl").read_bytes()
    (tmp_path / "out/results.jsonl").write_bytes(whole[:-20])
    Path(name_beside(str(tmp_path / "out/deep/map"))).write_bytes(b"half")
    assert all(each.kept for each in run("photos", "out").values())
    assert sorted(line["name"] for line in lines(tmp_path / "out")) == [f"{name}_left" for name in NAMES]
    assert not [path for path in files(tmp_path / "out") if path.suffix == ".part"]


def test_killed_between_two_renames_is_not_finished(photos, tmp_path, monkeypatch):
    """The old sidecar must not vouch for a new map."""
    first = run("photos/a_*.png", "out")
    write_views(photos / "a_left.png", photos / "a_right.png", seed=9)

    class Killed(BaseException):
        pass

    def rename(source, target, real=os.replace):
        real(source, target)
        if target.endswith("a_left.tiff"):
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", rename)
        with pytest.raises(Killed):
            run("photos/a_*.png", "out")
    write_views(photos / "a_left.png", photos / "a_right.png", seed=0)  # the first content again
    again = run("photos/a_*.png", "out")["a_left"]
    assert (again.key, again.kept) == (first["a_left"].key, False)


def test_the_key_covers_what_the_map_depends_on(photos):
    def key(**options):
        batch = dualpix.batch("photos/a_*.png", "out", **options)
        return batch._capture(batch._shots[0]).key()

    options = [
        {},
        {"window": 7},
        {"axis": "x"},
        {"mask_occluded": True},
        {"format": "pfm"},
        {"format": "png", "png": "grey"},
        {"format": "png", "png": "grey", "near": "black"},
        {"preview": True},
    ]
    keys = [key(**each) for each in options]
    assert len(set(keys)) == len(keys)
    assert key(threads=1) == key(threads=2, mem_limit=1.0) == keys[0]
    (photos / "calib.txt").write_text("ndisp=20\n")
    assert key() != keys[0]


def test_once_makes_and_keeps_only_what_is_missing():
    class Kept(dict):
        find, keep = dict.get, dict.__setitem__

    store, made = Kept(), []
    assert [once(store, "k", lambda: made.append(1) or "answer") for _ in range(2)] == ["answer"] * 2
    assert made == [1]


# ---- the output folder ---------------------------------------------------------------------------


def test_the_folder_of_another_batch_is_refused(photos, tmp_path):
    run("photos", "out")
    with pytest.raises(OutputError, match=r"^out: holds a batch with other options \(window\): .*force=True"):
        dualpix.batch("photos", "out", window=7)
    with pytest.raises(OutputError, match=r"options \(inputs, preset, format, preview\): "):
        dualpix.batch("photos/deep", "out", "phone", format="pfm", preview=True)
    with pytest.raises(OutputError, match=r"options \(cost, window, penalty, range, more\): "):
        dualpix.batch("photos", "out", cost="zncc", window=7, penalty=9.0, range=(-1, 1), polish=0.1)
    with pytest.raises(OutputError, match=r"options \(inputs\)"):
        dualpix.batch("photos/deep", "out")
    assert not any(each.kept for each in run("photos", "out", window=7, force=True).values())
    with pytest.raises(OutputError, match="a batch with other options"):
        dualpix.batch("photos", "out")


def test_the_folder_of_the_inputs_is_refused(photos, tmp_path):
    (tmp_path / "link").symlink_to("photos")
    before = sorted(photos.rglob("*"))
    for given in ("photos", "photos/", "link"):
        with pytest.raises(OutputError, match=rf"^{given}: the output folder is the input folder: choose another$"):
            dualpix.batch(["photos/deep", given], "photos", force=True)
    assert sorted(photos.rglob("*")) == before


def test_a_folder_with_other_files_is_refused(photos, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("precious")
    with pytest.raises(OutputError, match=r"^out: holds other files: choose an empty folder, or force=True"):
        dualpix.batch("photos", "out")
    assert os.listdir("out") == ["mine.txt"]
    run("photos", "out", force=True)
    assert (tmp_path / "out/mine.txt").read_text() == "precious"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such lock")
def test_two_batches_do_not_write_in_one_folder(photos, monkeypatch):
    monkeypatch.setattr(_folder, "PATIENCE", 0.1)
    first = iter(dualpix.batch("photos", "out", runner=Here()))
    next(first)
    with pytest.raises(OutputError, match=r"^out: another dualpix batch is writing here: wait"):
        run("photos", "out")
    first.close()
    assert len(run("photos", "out")) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such lock")
def test_a_second_batch_says_that_it_waits(photos, call, monkeypatch, caplog):
    monkeypatch.setattr(_folder, "PATIENCE", 0.1)
    monkeypatch.setattr(_locks, "SILENCE", 0.02)
    first = iter(dualpix.batch("photos", "out", runner=Here()))
    next(first)
    waits = "out: another dualpix batch is writing here: waiting up to 0.1 s until it ends"
    code, _, err = call("batch", "photos", "-o", "out")
    assert (code, err.splitlines()[0], err.count(waits)) == (2, waits, 1)
    assert waits not in call("batch", "photos", "-o", "out", "--quiet")[2]
    caplog.clear()
    with pytest.raises(OutputError):
        run("photos", "out")
    assert caplog.messages == [waits]
    first.close()


@pytest.mark.parametrize(
    ("out", "says"),
    [("none/out", "the folder .*none does not exist"), ("photos/a_left.png", "is not a folder")],
)
def test_a_folder_that_cannot_be_used_is_refused(photos, out, says):
    with pytest.raises(OutputError, match=says):
        dualpix.batch("photos", out)


def test_outputs_are_never_inputs(photos):
    for side in ("left", "right"):
        shutil.move(photos / f"a_{side}.png", photos / f"a_{side}.tiff")
    before = (photos / "a_left.tiff").read_bytes()
    with pytest.raises(OutputError, match=r"a_left.tiff: is an input and would be overwritten"):
        dualpix.batch("photos/*.tiff", "photos", force=True)
    assert (photos / "a_left.tiff").read_bytes() == before


def test_maps_inside_the_input_folder_are_not_inputs(photos):
    run("photos", "photos/maps", format="png", png="grey")
    batch = dualpix.batch("photos", "photos/maps", format="png", png="grey")
    assert (len(batch), batch.others) == (3, 0)
    assert len(dualpix.batch("photos", "elsewhere")) == 3


def test_two_shots_with_one_output_are_refused(photos):
    shutil.copy(photos / "a_left.png", photos / "a_left.bmp")
    shutil.copy(photos / "a_right.png", photos / "a_right.bmp")
    with pytest.raises(OutputError, match=r"a_left.png: would write .*a_left.tiff, as photos/a_left.bmp does: .*name"):
        dualpix.batch("photos", "out")
    with pytest.raises(OutputError, match="as the batch itself does"):
        dualpix.batch({"left": photos / "a_left.png", "right": "photos/a_right.png", "name": "batch"}, "out")
    assert not os.path.exists("out")


# ---- what to do ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("l.png", "r.png"),
        ("005_L.jpg", "005_R.jpg"),
        ("im0.png", "im1.png"),
        ("LEFT-3.png", "RIGHT-3.png"),
        ("left/7.png", "right/7.png"),
        ("left_pd/x/result_leftPd_center.png", "right_pd/x/result_rightPd_center.png"),
        ("left_over/leftovers_left.png", "left_over/leftovers_right.png"),
        ("left-handed/left/7.png", "left-handed/right/7.png"),
    ],
)
def test_pairs_are_found_by_their_names(tmp_path, left, right):
    write_views(tmp_path / left, tmp_path / right)
    found = inputs.find_shots([tmp_path])
    (shot,) = found.shots
    assert (shot.left, shot.right) == (str(tmp_path / left), str(tmp_path / right))
    assert shot.name == os.path.splitext(left)[0]


@pytest.mark.parametrize("name", ["cloud.png", "Large.png", "imL0.png", "leftover.png"])
def test_a_letter_inside_a_word_is_no_view(tmp_path, name):
    for each in (name, name.replace("l", "r", 1), name.replace("L", "R"), name.replace("left", "right")):
        cv2.imwrite(str(tmp_path / each), np.zeros((4, 4), np.uint8))
    with pytest.raises(InputError, match=r"holds no shot: name views \*_left"):
        inputs.find_shots([tmp_path])


def test_several_inputs_keep_their_folders_in_the_names(photos):
    write_views(photos.parent / "more/a_left.png", photos.parent / "more/a_right.png")
    found = inputs.find_shots(["photos/deep", "more", "photos/a_left.png"])
    assert [shot.name for shot in found.shots] == ["photos/deep/c_left", "more/a_left", "photos/a_left"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_folder_that_links_to_itself_is_searched_once(photos):
    (photos / "deep/loop").symlink_to(photos)
    assert len(inputs.find_shots(["photos"]).shots) == 3


@pytest.mark.parametrize(
    ("count", "lines"),
    [
        (1, ["1 has warnings: see results.jsonl", "1 other picture in the folders is no shot: left out"]),
        (2, ["2 have warnings: see results.jsonl", "2 other pictures in the folders are no shots: left out"]),
    ],
)
def test_the_summary_counts_in_words(count, lines):
    times = {"seconds": 1, "per_second": 1, "jobs": 1, "threads": 1}
    record = {"output": "out", "captures": 2, "done": 2, "kept": 0, "failed": [], **times}
    assert _summary({**record, "warned": count, "left_out": count}).splitlines()[2:] == lines


def test_patterns_take_what_they_match(photos):
    assert [shot.name for shot in inputs.find_shots(["photos/**/*_left.png"]).shots] == [
        "a_left",
        "b_left",
        "deep/c_left",
    ]
    assert [(shot.left, shot.right) for shot in inputs.find_shots(["photos/a_*"]).shots] == [
        ("photos/a_left.png", "photos/a_right.png")
    ]
    (photos / "empty").mkdir()
    (photos / "empty[1]").mkdir()
    for path, says in (
        ("photos/*.CR3", "no file matches this pattern"),
        ("photos/empty", "holds no shot"),
        ("photos/empty[1]", "holds no shot"),
    ):
        with pytest.raises(InputError, match=f"^{re.escape(path)}: {says}"):
            inputs.find_shots([path])
    with pytest.raises(InputError, match=r"^nowhere: no such file or folder: check the path"):
        inputs.find_shots(["nowhere"])


def test_with_a_layout_every_picture_is_a_shot(tmp_path):
    views = np.hstack([np.rint(view).astype(np.uint8) for view in textured_pair((48, 64), 1.0)])
    for name in ("x", "y"):
        cv2.imwrite(str(tmp_path / f"{name}.png"), views)
    outcomes = run(tmp_path, tmp_path / "out", layout="side-by-side")
    assert {name: each.error for name, each in outcomes.items()} == {"x": None, "y": None}
    assert dualpix.read_map(tmp_path / "out/x.tiff").shape == (48, 64)


def write_csv(path, *rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def test_rows_of_a_manifest_have_options_of_their_own(photos, tmp_path):
    write_csv(
        photos / "shots.csv",
        ["left", "right", "guide", "name", "preset", "range", "axis"],
        ["a_left.png", "a_right.png", "", "first", "", "", ""],
        ["b_left.png", "b_right.png", "a_left.png", "", "dslr-a", "-2,3", "x"],
    )
    rows = [
        {"left": "a_left.png", "right": "a_right.png", "name": "first"},
        {"left": "b_left.png", "right": "b_right.png", "guide": "a_left.png"}
        | {"preset": "dslr-a", "range": [-2, 3], "axis": "x"},
    ]
    (photos / "shots.jsonl").write_text("\n\n".join(map(json.dumps, rows)))
    run("photos/shots.csv", "out")
    run("photos/shots.jsonl", "out2")
    for out in ("out", "out2"):
        sidecar = json.loads((tmp_path / out / "b_left.json").read_text())
        assert (sidecar["preset"], sidecar["parameters"]["range"], sidecar["axis"]) == ("dslr-a", [-2, 3], "x")
        assert sidecar["inputs"]["guide"] == str(photos / "a_left.png")
        assert json.loads((tmp_path / out / "first.json").read_text())["preset"] == "auto"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("m.csv", "right\nb.png\n", "m.csv, line 1: column left is missing: "),
        ("m.csv", "", "m.csv, line 1: column left is missing: "),
        ("m.csv", "left;right\na;b\n", "m.csv, line 1: the cells are separated by semicolons: "),
        ("m.csv", "left\tright\na\tb\n", "m.csv, line 1: the cells are separated by tabs: "),
        ("m.csv", "left,right\na,b\n\nc\n", "m.csv, line 4: column right is missing: "),
        ("m.csv", "left,right\na,b\n,b\n", "m.csv, line 3: column left is missing: "),
        ("m.csv", "left,right\na,b,c\n", "m.csv, line 2: has 3 cells, but line 1 names 2 columns: "),
        ("m.csv", "left,left\na,b\n", "m.csv, line 1: a column is named twice: "),
        ("m.csv", 'left\n"a\n', "m.csv, line 2: is not CSV "),
        ("m.csv", "left,colour\na,red\n", "m.csv, line 1: unknown column 'colour': the columns are left, right, "),
        (
            "m.csv",
            "left,windwo\na,5\n",
            "m.csv, line 1: unknown column 'windwo': did you mean window? the columns ",
        ),
        ("m.csv", "left,window\na,many\n", "m.csv, line 2: parameter window must be "),
        (
            "m.csv",
            "left,range\na,-4 4\n",
            "m.csv, line 2: parameter range must be auto or min and max, min < max, each a number from -100000 to "
            "100000, not '-4 4': write -4,4",
        ),
        ("m.csv", "left,preset\na,best\n", "m.csv, line 2: unknown preset 'best'"),
        ("m.csv", "left,axis\na,z\n", "m.csv, line 2: axis must be x or y, not 'z'"),
        ("m.csv", "left,name\na,.\n", "m.csv, line 2: name '.' must be a path below the output folder"),
        ("m.csv", "left,name\na,../b\n", "m.csv, line 2: name '../b' must be a path below the output folder"),
        ("m.jsonl", '{"left": "a"}\n{"right": "b"}\n', "m.jsonl, line 2: column left is missing: "),
        ("m.jsonl", '{"left": "a"}\n{"left": "b", "colour": 1}\n', "m.jsonl, line 2: unknown column 'colour': "),
        ("m.jsonl", '{"left": "a"}\n{"left": \n', "m.jsonl, line 2: is not JSON "),
        ("m.jsonl", '["a"]\n', "m.jsonl, line 1: is no JSON object: "),
        ("m.csv", "left\n", "m.csv: holds no capture"),
    ],
)
def test_a_wrong_manifest_names_the_line(tmp_path, monkeypatch, name, text, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=f"^{re.escape(says)}"):
        dualpix.batch(name, "out")
    assert os.listdir() == [name]


@pytest.mark.parametrize(("data", "says"), [(None, "cannot be read"), (b"\xff\xfe", "is not text")])
def test_a_manifest_that_is_no_text_is_refused(tmp_path, data, says):
    if data:
        (tmp_path / "m.csv").write_bytes(data)
    with pytest.raises(InputError, match=says):
        inputs.find_shots([tmp_path / "m.csv"])


@pytest.mark.parametrize(
    ("options", "kind", "says"),
    [
        ({"jobs": 0}, ParameterError, "jobs must be"),
        ({"mem_limit": -1}, ParameterError, "mem_limit must be"),
        ({"format": "gif"}, ParameterError, "format must be"),
        ({"format": "png"}, OutputError, "cannot hold negative numbers"),
        ({"format": "tiff", "png": "grey"}, OutputError, "png= is for .png files"),
        ({"calibration": "none.json"}, InputError, "none.json"),
    ],
)
def test_options_are_checked_before_any_work(photos, options, kind, says):
    with pytest.raises(kind, match=says):
        dualpix.batch("photos", "out", **options)
    assert not os.path.exists("out")


# ---- memory and processes ------------------------------------------------------------------------


def test_memory_is_known_from_the_header(tmp_path):
    for name, shape in (("small", (100, 200)), ("large", (1000, 2000))):
        cv2.imwrite(str(tmp_path / f"{name}.png"), np.zeros(shape, np.uint8))
    params = dualpix.preset("auto")

    def needed(name, layout=None):
        return memory.expected_gigabytes(str(tmp_path / name), layout, params, False)

    one, whole = needed("small.png"), needed("large.png")
    assert memory.PROCESS < one < whole
    assert (needed("large.png", "side-by-side") - one) == pytest.approx((whole - one) * 0.98 / 1.98, rel=0.05)
    assert needed("none.png") == 0


def test_jobs_follow_from_cores_captures_and_memory(photos):
    def jobs(**options):
        batch = dualpix.batch("photos", "out", **options)
        return batch.jobs, batch.threads

    assert jobs(threads=2) == (2, 1)
    assert jobs(threads=8) == (3, 2)
    assert jobs(threads=8, jobs=1) == (1, 8)
    assert jobs(threads=2, jobs=5) == (5, 1)
    assert jobs(threads=8, mem_limit=0.2) == (2, 4)


def test_a_capture_that_needs_more_than_all_memory_fails_alone(photos):
    write_views(photos / "d_left.png", photos / "d_right.png", shape=(600, 800))
    outcomes = run("photos", "out", mem_limit=0.04)
    assert [name for name, each in outcomes.items() if each.error] == ["d_left"]
    assert "more than the 0.04 GB that mem_limit= allows" in outcomes["d_left"].error


# ---- the command ---------------------------------------------------------------------------------


def test_the_command_tells_what_it_did(photos, call):
    (photos / "b_left.png").write_bytes(b"no picture")
    code, out, err = call("batch", "photos", "-o", "out", "--jobs", 1)
    assert code == 1
    assert out.startswith("out: 3 captures: 2 done, 0 finished before, 1 failed\n")
    assert re.fullmatch(r"failed: b_left: .*b_left.png: is in none of the formats read here .*\n", err)
    code, out, err = call("batch", "photos", "-o", "out", "--jobs", 1, "--json")
    record = json.loads(out)
    assert (code, record["done"], record["kept"], list(record["failed"])) == (1, 0, 2, ["b_left"])
    shutil.copy(photos / "a_left.png", photos / "b_left.png")
    assert call("batch", "photos", "-o", "out", "--jobs", 1, "--quiet") == (0, "", "")


def test_bad_input_ends_with_2_and_writes_nothing(photos, call):
    for args in (["nowhere"], ["photos", "--preset", "best"], ["photos", "--camera", "X"], ["photos", "--jobs", 0]):
        code, out, err = call("batch", *args, "-o", "out")
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("error: ")
    assert os.listdir() == ["photos"]


@pytest.mark.parametrize(("seconds", "text"), [(3.4, "3 s"), (130, "2 min"), (12600, "3.5 h")])
def test_durations_in_words(seconds, text):
    assert duration(seconds) == text


# ---- benchmarks/batch.py -------------------------------------------------------------------------


@pytest.fixture
def bench(benchmark_script):
    return benchmark_script("batch")


@pytest.fixture
def pairs(bench, photos, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "CROP", 4)
    bench.make_pairs(photos, tmp_path / "pairs", 6)
    return tmp_path / "pairs"


def test_batch_and_shell_loop_make_the_same_maps(bench, pairs, tmp_path):
    batch, loop = bench.costs(pairs, tmp_path, loop=2)
    assert min(*batch, *loop) > 0
    for path in (tmp_path / "looped").glob("*.tiff"):
        assert path.read_bytes() == (tmp_path / "batched" / path.name).read_bytes()


def test_the_kill_test_sees_what_is_wrong(bench, photos, tmp_path):
    run("photos", "calm")
    shutil.copytree("calm", "out")
    assert bench.differences(Path("calm"), Path("out")) == []
    (tmp_path / "out/stray.part").touch()
    (tmp_path / "out/deep/c_left.json").unlink()
    (tmp_path / "out/a_left.tiff").write_bytes(b"")
    assert bench.differences(Path("calm"), Path("out"))[:3] == [
        "deep/c_left.json is missing",
        "stray.part is stray",
        "a_left.tiff has other bytes",
    ]
