"""Data of one's own: described by a table or by patterns, scored by what its truth is, refused with a reason."""

import json
import os
import sys

import cv2
import numpy as np
import pytest
import tifffile

from dualpix.errors import InputError, ParameterError
from dualpix.evaluation.datasets import open_dataset, score
from dualpix.evaluation.datasets.generic import _matches
from dualpix.evaluation.metrics import pixel_errors
from dualpix.evaluation.truth import kind_of, read_truth
from dualpix.io import write_map
from test_datasets import r6ii, ramp, save, views

SHAPE = (48, 64)
PATTERNS = {"left": "*/l.png", "right": "*/r.png", "truth": "*/d.png"}
METHOD = (
    "import numpy as np\n\ndef own(left, right):\n    print('hello from', left.shape)\n    return left.astype(float)\n"
)
METHOD += "\ndef fails(left, right):\n    return deeper(left)\n\ndef deeper(left):\n    raise ValueError('no luck')\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three scenes in mine/, with truths in millimetres, and methods in methods20.py of the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "methods20.py").write_text(METHOD)
    for seed, name in enumerate("abc"):
        r6ii(tmp_path / "mine", name, SHAPE)
        save(tmp_path / f"mine/{name}/l.png", views(SHAPE, seed)[0])
    return tmp_path / "mine"


def generic(folder, **description):
    return open_dataset("generic", folder, **description)


def table(folder, text, name="scenes.csv"):
    (folder / name).write_text(text)
    return folder


# ---- descriptions --------------------------------------------------------------------------------


def test_patterns_tables_and_the_built_in_set_agree(folder):
    """The same scenes as r6ii: the same truth, and the same scores."""
    built_in = open_dataset("r6ii", folder)
    rows = [
        {**{role: p.replace("*", name) for role, p in PATTERNS.items()}, "truth_kind": "depth-mm"} for name in "abc"
    ]
    (folder / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    table(folder, "left,right,truth\n" + "".join(f"{n}/l.png,{n}/r.png,{n}/d.png\n" for n in "abc"))
    for own in (
        generic(folder, **PATTERNS, truth_kind="depth-mm"),
        generic(folder, scenes=str(folder / "s.jsonl")),
        generic(folder, truth_kind="depth-mm"),
    ):
        assert own.scenes == built_in.scenes == ["a", "b", "c"]
        assert (own.measure, own.title) == (built_in.measure, "mine")
        ours, theirs = own.load("b"), built_in.load("b")
        for role in ("left", "right", "truth"):
            np.testing.assert_array_equal(getattr(ours, role), getattr(theirs, role))
        d = ours.left.astype(np.float32)
        assert score("generic", ours, d) == score("r6ii", theirs, d)


def test_files_belong_together_by_what_the_wildcards_stand_for(folder):
    save(folder / "day1/n/left_07.png", views(SHAPE)[0])
    save(folder / "day2/n/left_08.png", views(SHAPE)[0])
    for day, number in ((1, "07"), (2, "08")):
        save(folder / f"truth/day{day}-{number}.png", ramp(SHAPE, 500, 5000, np.uint16))
        save(folder / f"right/{day}_{number}.png", views(SHAPE)[1])
    save(folder / "mask.png", np.full(SHAPE, 255, np.uint8))
    own = generic(
        folder,
        left="day[0-9]/n/left_??.png",
        right="right/*_*.png",
        truth="truth/day?-*.png",
        mask="mask.png",
        truth_kind="depth-mm",
    )
    assert own.scenes == ["1/07", "2/08"]
    assert own.places["2/08"].right == folder / "right/2_08.png"
    assert own.places["1/07"].mask == own.places["2/08"].mask == folder / "mask.png"
    assert own.load("1/07").truth.shape == SHAPE


@pytest.mark.parametrize(
    ("brackets", "scenes"),
    [
        ("[^b]", ["^", "b"]),
        ("[!^b]", ["[", "\\", "c", "&"]),
        ("[[]", ["["]),
        ("[\\]", ["\\"]),
        ("[\\a-b]", ["\\", "b"]),
        ("[z-ab]", ["b"]),
        ("[&&b]", ["&", "b"]),
        ("[b", ["[b"]),
    ],
)
@pytest.mark.skipif(os.sep == "\\", reason="no file of this system has such a name")
def test_brackets_are_those_of_glob(tmp_path, brackets, scenes):
    for name in ("^", "b", "c", "[", "\\", "&", "[b"):
        (tmp_path / f"{name}-1\n.png").write_bytes(b"")
    found = _matches(tmp_path, "left", f"{brackets}-*.png")
    assert {path.name.removesuffix("-1\n.png") for path in found.values()} == set(scenes)


def test_two_stars_match_folders_at_any_depth(folder):
    r6ii(folder, "deep/er/d", SHAPE)
    deep = {role: pattern.replace("*", "**") for role, pattern in PATTERNS.items()}
    assert generic(folder, **deep, truth_kind="depth-mm").scenes == ["a", "b", "c", "deep/er/d"]


def test_a_table_tells_axis_range_mask_and_guide(folder):
    mask = np.zeros(SHAPE, np.uint8)
    mask[10:30] = 255
    save(folder / "m.png", mask)
    line = "a/l.png,a/r.png,a/d.png,depth-mm,m.png,b/l.png,y,-3 4.5,first"
    own = generic(table(folder, f"left,right,truth,truth_kind,mask,guide,axis,range,name\n{line}\n"))
    scene = own.load("first")
    assert (scene.axis, scene.range, scene.in_pixels) == ("y", (-3.0, 4.5), False)
    assert scene.guide.shape[:2] == SHAPE
    np.testing.assert_array_equal(np.isfinite(scene.truth), mask > 0)
    assert (np.nanmin(scene.truth), np.nanmax(scene.truth)) == (0, 1)


def test_scenes_without_a_name_get_that_of_their_files(folder):
    for lefts, names in (("x/1.png x/2.png", ["1", "2"]), ("x/l.png y/z/l.png", ["x", "y/z"]), ("x/l.png", ["l"])):
        rows = "".join(f"{left},t.npy,disparity\n" for left in lefts.split())
        assert generic(table(folder, f"left,truth,truth_kind\n{rows}")).scenes == names


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("left,right,truth,deph\na/l.png,a/r.png,a/d.png,\n", r"line 1: unknown column 'deph'"),
        ("left,right\na/l.png,a/r.png\n", "line 2: column truth is missing: name the file"),
        ("left,truth,axis,truth_kind\na/l.png,a/d.png,z,inverse\n", "line 2: axis must be x or y, not 'z'"),
        ("left,truth,range,truth_kind\na/l.png,a/d.png,4 -3,inverse\n", "range must be the least and the greatest"),
        ("left,truth,truth_kind\na/l.png,a/d.png,metres\n", "unknown truth kind 'metres'"),
        (
            "left,truth\na/l.png,a/d.png\n",
            r"line 2: .*a/d.png: could be any kind of ground truth: name it by truth_kind= or a column truth_kind",
        ),
        ("left,truth,truth_kind,name\na,t,inverse,n\nb,t,inverse,n\n", "line 3: scene n is there twice"),
        ("left,truth,truth_kind\na/l.png,a/d.png,inverse\nb/l.png,b/d.npy,disparity\n", "scored differently"),
        ("left,truth\n", "lists no scene: add a line"),
        ("left,truth,truth_kind\na\0.png,a/d.png,inverse\n", "line contains NUL|holds a zero byte"),
    ],
)
def test_a_wrong_table_is_refused_with_the_line(folder, rows, says):
    with pytest.raises(InputError, match=says):
        generic(table(folder, rows))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"left": None}, "^left= is missing: give a pattern for it, or a table as scenes=$"),
        ({"truth": "*/no.png"}, r"^truth=\*/no.png: matches no file below .*mine"),
        ({"right": "[ab]/r.png"}, r"^right=.* matches 2 files but left=.* 3, and c has no right"),
        ({"right": "[abd]/r.png"}, r"^right=.* matches 3 files but left=.* 3, and c has no right"),
        ({"truth": "a/d.png"}, r"^truth=a/d.png matches 1 file but left=.* 3, and a has no truth"),
        ({"left": "a/l.png"}, r"^right=.* matches 3 files but left=a/l.png 1, and a has no left"),
        ({"scenes": "s.csv"}, "^left= does not go with scenes=, which"),
        ({"rihgt": "*/r.png"}, "unknown keyword 'rihgt': did you mean right\\?"),
        (
            {"truth_kin": "inverse"},
            "^unknown keyword 'truth_kin': did you mean truth_kind\\? the keywords are left, right, truth, mask, "
            "guide, truth_kind, scenes$",
        ),
        ({"truth_kind": None}, "could be any kind of ground truth"),
        ({"left": "*/?.png"}, r"^right=.* matches 3 files but left=\*/\?.png 9, and a has no left"),
    ],
)
def test_wrong_patterns_are_refused(folder, change, says):
    r6ii(folder, "d", SHAPE)
    for name in ("d/l.png", "d/d.png"):
        (folder / name).unlink()
    if "[abd]" not in change.get("right", ""):
        (folder / "d/r.png").unlink()
    with pytest.raises((InputError, ParameterError), match=says):
        generic(folder, **{**PATTERNS, "truth_kind": "depth-mm", **change})


def test_a_built_in_set_is_not_described(folder):
    with pytest.raises(ParameterError, match="left describes a data set of your own"):
        open_dataset("r6ii", folder, left="*/l.png")


# ---- kinds of truth ------------------------------------------------------------------------------


def stored(path, values):
    """A file with these values as they are."""
    if path.suffix == ".tif":
        tifffile.imwrite(path, values)
    else:
        save(path, values)
    return path


NEAR_FAR = np.array([[0, 500], [1000, 4000]])


@pytest.mark.parametrize(
    ("name", "values", "kind", "wanted"),
    [
        ("t.png", NEAR_FAR.astype(np.uint16), "depth-mm", [[np.nan, 2], [1, 0.25]]),
        ("t.tif", (NEAR_FAR / 1000).astype(np.float32), "depth-m", [[np.nan, 2], [1, 0.25]]),
        ("t.npy", np.array([[np.inf, 0.5], [0, 65535]], np.float32), "inverse", [[np.nan, 0.5], [0, 65535]]),
        ("t.png", np.array([[0, 7], [8, 65535]], np.uint16), "depth-mm", None),
        ("t.png", np.array([[0, 256], [640, 512]], np.uint16), "disparity", [[np.nan, 1], [2.5, 2]]),
        ("t.png", np.array([[0, 256], [640, 512]], np.uint16), "inverse", [[0, 256], [640, 512]]),
        ("t.npy", np.array([[-1.5, 2], [np.nan, 0]]), "disparity", [[-1.5, 2], [np.nan, 0]]),
    ],
)
def test_a_truth_is_read_as_its_kind(tmp_path, name, values, kind, wanted):
    file = stored(tmp_path / name, values)
    if wanted is None:  # 65535 is unknown, so nothing is farther than 8 mm
        with pytest.raises(InputError, match="is nowhere farther than 8 mm"):
            read_truth(file, kind, 64)
        return
    np.testing.assert_allclose(read_truth(file, kind, 64), np.array(wanted, np.float32), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "values", "kind", "says"),
    [
        (
            "t.png",
            NEAR_FAR.astype(np.uint16),
            "depth-m",
            r"whole numbers \(uint16\), but depth-m is metres: name depth-mm",
        ),
        ("t.npy", NEAR_FAR.astype(np.float32), "depth-m", "holds whole numbers only: name the kind depth-mm"),
        ("t.npy", NEAR_FAR + 0.5, "depth-m", None),
        ("t.npy", NEAR_FAR * 5 + 0.5, "depth-m", "has a median of 3750.5 m: name the kind depth-mm"),
        ("t.npy", NEAR_FAR / 1000, "depth-mm", "is nowhere farther than 4 mm: name the kind depth-m"),
        ("t.npy", NEAR_FAR - 600.0, "depth-mm", "holds a negative depth, -600: name the kind disparity or inverse"),
        ("t.npy", NEAR_FAR * 1.0, "disparity", "holds a disparity of 4000 px, but the views have only 64 px"),
        ("t.png", NEAR_FAR.astype(np.uint8), "disparity", "holds 8-bit grey levels, which have no unit"),
    ],
)
def test_a_kind_that_contradicts_the_values_is_refused(tmp_path, name, values, kind, says):
    file = stored(tmp_path / name, values)
    if says is None:
        assert np.isfinite(read_truth(file, kind, 64)).all()
        return
    with pytest.raises(InputError, match=says):
        read_truth(file, kind, 64)


def test_what_is_certain_needs_no_name(tmp_path):
    for name in ("disp0.pfm", "disp0GT.pfm"):
        assert kind_of(tmp_path / name, None) == "disparity"
    for name in ("depth.pfm", "t.png", "t.npy"):
        with pytest.raises(InputError, match="could be any kind"):
            kind_of(tmp_path / name, None)


def test_a_sidecar_tells_and_may_not_be_contradicted(tmp_path):
    write_map(tmp_path / "m.png", np.array([[0.5, 2.0]]), unit="m")
    (tmp_path / "m.json").write_text(json.dumps({"dualpix": "0", "map": "m.png", "unit": "metres", "png": "mm"}))
    assert kind_of(tmp_path / "m.png", None) == "depth-m"
    assert kind_of(tmp_path / "m.png", "depth-mm") == "depth-mm"
    np.testing.assert_allclose(read_truth(tmp_path / "m.png", "depth-m", 64), [[2, 0.5]])
    with pytest.raises(InputError, match="is no disparity, its sidecar says metres: name the kind depth-m"):
        kind_of(tmp_path / "m.png", "disparity")


def test_disparities_are_scored_without_a_fit_and_with_a_gain(folder):
    truth = ramp(SHAPE, -4, 4, np.float32)
    for name in "abc":
        save(folder / name / "d.npy", truth)
    own = generic(folder, **PATTERNS | {"truth": "*/d.npy"}, truth_kind="disparity")
    assert own.measure == ("proper", "mae")
    scores = score("generic", own.load("a"), 2 * truth)
    assert scores["proper"]["mae"] == pytest.approx(np.abs(truth).mean(), rel=1e-5)
    assert "gain" not in scores["proper"]
    assert scores["proper-gain"]["mae"] == pytest.approx(0, abs=1e-5)
    assert scores["proper-gain"]["gain"] == pytest.approx(0.5)
    assert pixel_errors(2 * truth, truth, crop=0, fit_gain=False).gain is None


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def evaluate(folder, call):
    options = [text for role, pattern in PATTERNS.items() for text in (f"--{role}", pattern)]

    def run(*more, describe=True):
        return call("evaluate", "mine", "--dataset", "generic", *(options * describe), *more)

    return run


OWN = ("--truth-kind", "depth-mm", "--method", "methods20:own")


def test_prints_go_to_a_log_that_is_named(evaluate, folder):
    code, out, err = evaluate(*OWN, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert (record["dataset"], record["folder"]) == ("mine", "mine")
    with open(record["log"], encoding="utf-8") as file:
        text = file.read()
    assert text.count("hello from (48, 64)") == 3
    assert "==== methods20:own on scene b\n" in text
    code, out, _ = evaluate(*OWN)
    assert code == 0
    assert "what methods printed" not in out  # all three are kept
    code, out, _ = evaluate(*OWN, "--cache", "new")
    assert "\n\nwhat methods printed is in new/logs/" in out


def test_a_failure_is_told_once_and_traced_on_request(evaluate):
    failing = ("--truth-kind", "depth-mm", "--method", "methods20:fails", "--method", "methods20:own")
    code, _, err = evaluate(*failing)
    assert code == 1
    assert err == "failed: methods20:fails on 3 scenes (a, b, c): ValueError: no luck\n"
    code, _, err = evaluate(*failing, "--traceback")
    assert code == 1
    assert err.count("Traceback (most recent call last)") == 1
    assert "in deeper" in err
    assert err.rstrip().endswith("ValueError: no luck")


def test_tables_without_any_figure_are_not_written(evaluate, folder):
    tables = ("--latex", "t.tex", "--markdown", "t.md")
    options = ("--truth-kind", "depth-mm", "--method", "methods20:fails", *tables, "--csv", "t.csv")
    code, out, _ = evaluate(*options)
    assert code == 1
    assert out.splitlines()[-1] == "wrote t.csv"
    assert [(folder.parent / name).exists() for name in ("t.tex", "t.md", "t.csv")] == [False, False, True]
    code, out, _ = evaluate(*options, "--force", "--json")
    assert (code, json.loads(out)["outputs"]) == (1, {"csv": "t.csv"})


def test_tables_and_report_are_written_and_inputs_are_not(evaluate, folder):
    outputs = ("--latex", "t.tex", "--markdown", "t.md", "--report", "mine/r.html", "--csv", "t.csv")
    for force in ((), ("--force",)):  # the report lies in the folder, but is no file of the set
        code, out, err = evaluate(*OWN, *outputs, *force)
        assert (code, err) == (0, "")
        assert out.endswith("\nwrote mine/r.html, t.csv, t.tex, t.md\n")
    assert "protocol proper" in (folder.parent / "t.tex").read_text()
    assert "Comparison on mine" in (folder / "r.html").read_text()
    before = (folder / "a/d.png").read_bytes()
    code, _, err = evaluate(*OWN, "--csv", "mine/a/d.png", "--force")
    assert code == 2
    assert "belongs to the data set and is never replaced" in err
    assert (folder / "a/d.png").read_bytes() == before


def test_a_scene_that_differs_in_size_is_skipped(evaluate, folder):
    save(folder / "b/d.png", ramp((48, 60), 500, 5000, np.uint16))
    code, out, err = evaluate(*OWN)
    assert code == 1
    assert err == "skipped: scene b: mine/b/d.png is 60x48 but mine/b/l.png is 64x48: give images of the same size\n"
    assert out.startswith("mine: 2 scenes, 1 skipped;")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (OWN[2:], "could be any kind of ground truth: name it by --truth-kind"),
        (("--truth-kind", "depth-m"), "depth-m is metres: name depth-mm if it is (and 2 more scenes)"),
        (("--truth-kind", "disparity", "--mask", "nothing/*.png"), "--mask nothing/*.png: matches no file below mine"),
        ((*OWN, "--scenes", "s.csv"), "--left does not go with --scenes"),
        ((*OWN, "--crop", "3"), "does not go with --dataset"),
    ],
)
def test_bad_descriptions_end_with_2_and_write_nothing(evaluate, folder, options, says):
    code, out, err = evaluate(*options, "--report", "r.html", "--latex", "t.tex")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert says in err
    assert len(err.strip().splitlines()) == 1
    assert not (folder.parent / "r.html").exists()
    assert not (folder.parent / "t.tex").exists()


def test_describing_options_go_with_generic_only(call, folder):
    for dataset in ((), ("--dataset", "r6ii")):
        code, _, err = call("evaluate", "mine", *dataset, "--left", "*/l.png")
        assert code == 2
        assert "describes a folder of your own: give --dataset generic too" in err
    code, _, err = call("evaluate", "mine", "--dataset", "r6ii", "--mask", "m.png")
    assert code == 2
    assert "does not go with --dataset r6ii" in err


def test_a_16_bit_png_is_not_taken_for_kitti_in_silence(call, tmp_path):
    depth = ramp(SHAPE, 500, 5000, np.uint16)
    cv2.imwrite(str(tmp_path / "t.png"), depth)
    np.save(tmp_path / "e.npy", (1000 / depth).astype(np.float32))
    files = (str(tmp_path / "e.npy"), str(tmp_path / "t.png"))
    code, out, err = call("evaluate", *files)
    assert code == 0
    assert err.startswith(f"note: {files[1]} is read as KITTI disparities, 256 per px: ")
    code, out, err = call("evaluate", *files, "--truth-kind", "depth-mm", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["geometric_mean"] == pytest.approx(0, abs=1e-4)
    assert "rmse" not in json.loads(out)
    assert call("evaluate", *files, "--truth-kind", "disparity")[2] == ""


@pytest.mark.parametrize(("png", "full"), [("grey", 65535), ("grey8", 255)])
def test_grey_maps_with_a_sidecar_are_scored_by_their_values(call, tmp_path, png, full):
    codes = ramp(SHAPE, 0, full, np.uint8 if full == 255 else np.uint16)
    record = {"dualpix": "0", "map": "t.png", "png": png, "grey": {"black": -2, "white": 6}}
    (tmp_path / "t.json").write_text(json.dumps(record))
    cv2.imwrite(str(tmp_path / "t.png"), codes)
    np.save(tmp_path / "e.npy", (-2 + 8 * (codes / full)).astype(np.float32))
    for files in (("e.npy", "t.png"), ("t.png", "e.npy")):
        code, out, err = call("evaluate", *(str(tmp_path / name) for name in files), "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["rmse"] == pytest.approx(0, abs=1e-4)


def test_kitti_is_noted_where_the_truth_is_called_a_disparity(evaluate, folder):
    disparity = (256 * ramp(SHAPE, 1, 5, np.float32)).astype(np.uint16)
    for name in "abc":
        cv2.imwrite(str(folder / name / "depth.png"), disparity)
    (folder / "a/depth.png").write_bytes(b"")  # skipped: the note is about the next
    code, _, err = evaluate("--truth", "*/depth.png", "--truth-kind", "disparity", "--method", "methods20:own")
    notes = [line for line in err.splitlines() if line.startswith("note: ")]
    assert code == 1
    assert notes == [
        "note: mine/b/depth.png is read as KITTI disparities, 256 per px: if it is something else, convert it"
    ]
    inverse = generic(folder, **PATTERNS | {"truth": "*/depth.png"}, truth_kind="inverse")
    assert inverse.notes == ()
    assert repr(inverse) == f"<Dataset generic: 3 scenes in {folder}>"
