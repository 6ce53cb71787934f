"""Results as a Python user meets them: files, notebooks, warnings, logs, threads and pickles."""

import copy
import io
import json
import logging
import os
import pickle
import re
import subprocess
import sys
import warnings
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dualpix
from conftest import textured_pair
from dualpix import DualpixWarning, InputError, OutputError, ParameterError
from dualpix.errors import DualpixError
from dualpix.io import encode_png, preview, read_image, read_map
from dualpix.method.plan import Plan
from test_plan import run_plan

FAST = {"range": (-4, 4), "window": 2}


@pytest.fixture(scope="module")
def views():
    """uint8 views of 72x90 pixels, with disparity 1.3."""
    return tuple(np.rint(view).astype(np.uint8) for view in textured_pair((72, 90), 1.3))


@pytest.fixture(scope="module")
def result(views):
    return dualpix.disparity(*views, **FAST)


@pytest.fixture
def folder(tmp_path, monkeypatch, views):
    """The current folder, with left.png and right.png."""
    monkeypatch.chdir(tmp_path)
    for name, view in zip(("left.png", "right.png"), views, strict=True):
        Path(name).write_bytes(encode_png(view))
    return tmp_path


# ---- arguments that cannot be used ----------------------------------------------------------------


@pytest.mark.parametrize("given", [True, 1, 3, None, b"d.tiff", 1.5])
@pytest.mark.parametrize("read", [dualpix.read_map, dualpix.read_calibration, dualpix.read_capture, read_image])
def test_what_is_no_path_is_refused_and_closes_nothing(read, given):
    os.fstat(1)
    with pytest.raises(InputError, match=f"^path must be a path, not {type(given).__name__}: give the name of a file$"):
        read(given)
    os.fstat(1)  # 1 is stdout: Python would take the number for an open file, and close it


@pytest.mark.parametrize(
    "use",
    [
        dualpix.read_map,
        dualpix.read_calibration,
        dualpix.read_capture,
        dualpix.read_pair,
        lambda path: dualpix.batch(path, "maps"),
        lambda path: dualpix.batch("shots", path),
        lambda path: dualpix.write_map(path, np.zeros((2, 2), np.float32)),
        lambda path: dualpix.tiles("left.png", "right.png", path),
    ],
)
def test_a_path_with_a_zero_byte_is_refused(use):
    with pytest.raises(DualpixError, match=r"^a\\x00\.tiff: the path holds a zero byte"):
        use("a\0.tiff")


@pytest.mark.parametrize(
    "known", [[(1, 2), (3, 4)], [("a", "b", "c"), (1, 2, 3)], ["123"], "a", [None], 3, None, np.zeros((2, 2))]
)
def test_known_points_are_three_numbers_each(result, known):
    with pytest.raises(
        ParameterError, match=r"^known must be points \(x, y, metres\), such as \[\(320, 200, 1.5\)\], not"
    ):
        result.depth(known=known)


def test_known_points_may_be_an_array(result):
    with pytest.raises(InputError, match="the known point 1,2"):  # the map is flat
        result.depth(known=np.array([[1, 2, 3], [4, 5, 6]]))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda left, right: dualpix.disparity(left, right, calibration=3), "calibration must be a path, not int"),
        (lambda left, right: dualpix.Sequence(calibration=0), "calibration must be a path, not int"),
        (lambda left, right: dualpix.disparity(3, right), "left: is an int: give a path"),
        (lambda left, right: dualpix.batch(3, "maps"), "input 1 must be a path, not int"),
        (lambda left, right: dualpix.batch([{"left": "left.png"}, b"x"], "maps"), "input 2 must be a path, not bytes"),
        (lambda left, right: dualpix.batch("shots", 3), "output must be a path, not int"),
        (lambda left, right: dualpix.batch("shots", "maps", calibration=3), "calibration must be a path, not int"),
        (lambda left, right: dualpix.tiles(left, right, 3), "output must be a path, not int"),
        (lambda left, right: dualpix.tiles(left, right, "d.tiff", confidence=3), "confidence must be a path, not int"),
        (lambda left, right: dualpix.sequence(3), "pairs must be the frames of a clip, such as [(left, right)], not 3"),
        (lambda left, right: dualpix.sequence("a.mp4"), "pairs must be the frames of a clip, such as [(left, right)]"),
        (lambda left, right: dualpix.calibrate([3]), "white must be a list such as [(left, right)], not [3]"),
        (lambda left, right: dualpix.calibrate(planes=("l", "r")), "planes must be a list such as [(left, right)]"),
        (lambda left, right: dualpix.calibrate(planes=3), "planes must be a list such as [(left, right)], not 3"),
        (
            lambda left, right: dualpix.calibrate(scenes=[(left, right)]),
            "scenes must be a list such as [(left, right, depth)]",
        ),
        (lambda left, right: dualpix.preset(None), "unknown preset None: the presets are auto,"),
    ],
)
def test_arguments_of_the_wrong_type(folder, views, call, said):
    with pytest.raises(DualpixError, match="^" + re.escape(said)):
        call(*views)


@pytest.mark.parametrize(
    ("options", "said"), [({"calibration": 3}, "calibration must be a path"), ({"exif": 3}, "exif must be a path")]
)
def test_depth_needs_paths(result, options, said):
    with pytest.raises(InputError, match=f"^{said}, not int"):
        result.depth(**options)


# ---- files ---------------------------------------------------------------------------------------


SETTINGS = ("--range", "-4", "4", "--set", "window=2")


@pytest.mark.parametrize(
    ("name", "options", "arguments"),
    [
        ("d.tiff", {}, ()),
        ("d.npy", {"confidence": "c.pfm", "preview": "p.png"}, ("--confidence", "c.pfm", "--preview", "p.png")),
        ("d.png", {"png": "grey", "near": "black"}, ("--png", "grey", "--near", "black")),
        ("d.jpg", {}, ()),
        ("d.ply", {"photo": "right.png", "fov": 60}, ("--photo", "right.png", "--fov", "60")),
    ],
)
def test_save_writes_what_the_command_writes(folder, call, name, options, arguments):
    assert call("disparity", "left.png", "right.png", "-o", name, *SETTINGS, *arguments)[0] == 0
    expected = {path.name: path.read_bytes() for path in folder.iterdir()}
    written = dualpix.disparity("left.png", "right.png", **FAST).save(name, **options, force=True)
    assert {str(path) for path in written.values()} == expected.keys() - {"left.png", "right.png"}
    for path in written.values():
        if path.suffix == ".json":
            records = [json.loads(text) for text in (expected[path.name], path.read_text())]
            assert records[0].pop("timings").keys() == records[1].pop("timings").keys()
            assert records[0] == records[1]
        else:
            assert path.read_bytes() == expected[path.name]


def test_save_keeps_existing_files(folder, result):
    result.save("d.tiff")
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    with pytest.raises(OutputError, match=r"^d\.tiff: exists already: .* name, or force=True to replace it$"):
        result.save("d.tiff")
    Path("p.png").touch()
    with pytest.raises(OutputError, match=r"^p\.png: exists"):
        result.save(Path("e.tiff"), preview="p.png")
    Path("p.png").unlink()
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("left.tiff", {"preview": "left.png"}, "left.png"),
        ("d.xyz", {}, "suffix"),
        ("d.png", {}, "cannot hold negative numbers"),
        ("d.tiff", {"photo": "left.png"}, "photo= is for"),
        ("d.tiff", {"preview": "p.jpg"}, "a preview is a PNG file"),
        ("d.tiff", {"png": "grey"}, "png= is for .png files"),
        ("nowhere/d.tiff", {}, "nowhere"),
        (3, {}, "path must be a path, not int: give the name of a file"),
        (b"d.tiff", {}, "path must be a path, not bytes"),
        ("a\0.tiff", {}, "a\\x00.tiff: the path holds a zero byte"),
        ("d.tiff", {"confidence": 3}, "confidence must be a path, not int"),
        ("d.tiff", {"preview": True}, "preview must be a path, not bool"),
    ],
)
def test_save_refuses_before_it_writes(folder, name, options, said):
    found = dualpix.disparity("left.png", "right.png", **FAST)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(OutputError, match=re.escape(said)):
        found.save(name, **options, force=True)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_map_needs_a_path():
    with pytest.raises(OutputError, match="path must be a path, not NoneType"):
        dualpix.write_map(None, np.zeros((2, 2), np.float32))


def test_a_result_of_arrays_takes_its_photo_from_the_caller(folder, result, views):
    with pytest.raises(OutputError, match="give it as photo= too"):
        result.save("d.jpg")
    result.save("d.jpg", photo=views[0])
    result.save("e.jpg", photo="left.png")
    np.testing.assert_array_equal(read_image("d.jpg"), read_image("e.jpg"))
    with pytest.raises(dualpix.InputError, match=r"^photo is 9x8 but f\.ply is 90x72"):
        result.save("f.ply", photo=views[0][:8, :9])
    assert not Path("f.ply").exists()


def test_a_kitti_file_of_a_range_from_0(folder):
    found = dualpix.disparity("left.png", "right.png", range=(0, 4), window=2)
    found.save("d.png")
    np.testing.assert_allclose(read_map("d.png"), found.disparity, atol=1 / 256)


def test_frames_of_a_clip_can_be_saved(folder):
    for number, each in enumerate(dualpix.sequence([("left.png", "right.png")] * 2, motion="none", **FAST)):
        each.save(f"{number}.jpg")
    record = json.loads(Path("1.json").read_text())
    assert (record["preset"], record["inputs"]) == ("auto", {"left": "left.png", "right": "right.png"})


# ---- pictures and notebooks ----------------------------------------------------------------------


def test_the_preview_is_that_of_the_command(result):
    np.testing.assert_array_equal(result.preview(), preview(result.disparity), strict=True)
    np.testing.assert_array_equal(result.preview(-4, 4), preview(result.disparity, -4, 4), strict=True)


def test_repr_is_one_line(result):
    low, high = result.disparity.min(), result.disparity.max()
    median = np.median(result.confidence)
    expected = f"<dualpix.Result: 90x72, {low:.4g} to {high:.4g} px, median confidence {median:.2f}, preset auto>"
    assert repr(result) == str(result) == expected
    own = replace(result, request=replace(result.request, preset=""), disparity=np.full((2, 3), np.nan, np.float32))
    assert "3x2, all NaN px" in repr(own)
    assert repr(own).endswith("own parameters>")


def test_repr_of_depth_is_one_line(result):
    metric = dualpix.Metric(0.5, 4.0)
    d = np.array([[2.0, -2.0], [2.0, 0.0]], np.float32)
    assert repr(metric.depth(d)) == "<dualpix.Depth: 2x2, 1 to inf m from the lens, by calibration>"


def test_a_notebook_shows_picture_range_time_and_escaped_warnings(result):
    told = replace(result, warnings=("<b>/tmp/a&b.png</b>: is odd",))
    page = told._repr_html_()
    assert "&lt;b&gt;/tmp/a&amp;b.png&lt;/b&gt;: is odd" in page
    assert "<b>/tmp" not in page
    for words in ("90x72", "median confidence", "preset auto", "searched -4 to 4 px", " s<"):
        assert words in page
    assert "<ul>" not in result._repr_html_()
    shown = Image.open(io.BytesIO(b64decode(re.search(r"base64,([^\"]+)", page)[1])))
    np.testing.assert_array_equal(np.asarray(shown), result.preview())


def test_the_picture_of_a_notebook_is_small(result):
    large = replace(result, disparity=np.tile(result.disparity, (20, 30)))
    page = large._repr_html_()
    width, height = Image.open(io.BytesIO(b64decode(re.search(r"base64,([^\"]+)", page)[1]))).size
    assert width <= 480
    assert height <= 480 + 60
    assert len(page) < 400_000


# ---- warnings and logs ---------------------------------------------------------------------------


def test_warnings_point_at_the_caller(views):
    with pytest.warns(DualpixWarning, match="same picture") as caught:
        found = dualpix.disparity(views[0], views[0], **FAST)
    assert [str(each.message) for each in caught] == list(found.warnings)
    assert {each.filename for each in caught} == {__file__}


def sequence_of(pairs):
    clip = dualpix.Sequence(motion="none", **FAST)
    return [clip.add(*pair) for pair in pairs]


@pytest.mark.parametrize(
    "solve",
    [
        sequence_of,
        lambda pairs: list(dualpix.sequence(pairs, motion="none", **FAST)),
        lambda pairs: list(dualpix.sequence(pairs, motion="none", two_sided=True, **FAST)),
    ],
    ids=["add", "sequence", "two-sided"],
)
def test_clips_warn_as_pairs_do(views, solve):
    with pytest.warns(DualpixWarning, match="same picture") as caught:
        found = solve([(views[0], views[0])] * 2)
    assert len(caught) == sum(len(each.warnings) for each in found) > 0
    assert {each.filename for each in caught} == {__file__}


def test_a_loop_shows_each_sentence_once(views):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            found = dualpix.disparity(views[0], views[0], **FAST)
    assert sorted(str(each.message) for each in caught) == sorted(found.warnings)


def test_warnings_can_be_errors(views):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DualpixWarning)
        with pytest.raises(DualpixWarning, match="views"):
            dualpix.disparity(views[0], views[0], **FAST)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
def test_control_characters_of_names_are_escaped(folder):
    Path("left.png").rename("\x1b[2J.png")
    with pytest.warns(DualpixWarning) as caught:
        found = dualpix.disparity("\x1b[2J.png", "\x1b[2J.png", **FAST)
    for text in (*(str(each.message) for each in caught), found._repr_html_()):
        assert "\x1b" not in text
    assert any("\\x1b[2J.png" in str(each.message) for each in caught)


def test_read_map_knows_the_sidecar_of_a_png(folder, views):
    found = dualpix.disparity(*views, **FAST)
    for kind, levels in (("grey", 65535), ("grey8", 255)):
        found.save("d.png", png=kind, force=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = dualpix.read_map("d.png")
        np.testing.assert_allclose(again, found.disparity, atol=0.5001 * np.ptp(found.disparity) / levels + 1e-6)


def test_read_map_says_that_a_png_without_a_sidecar_is_taken_for_kitti(folder):
    dualpix.write_map("k.png", np.full((4, 5), 2.5))
    with pytest.warns(DualpixWarning, match=r"k\.png is a 16-bit PNG .* KITTI .*: if it is something else, ") as caught:
        d = dualpix.read_map("k.png")
    assert (d == 2.5).all()
    assert [each.filename for each in caught] == [__file__]


def test_commands_say_that_a_png_is_taken_for_kitti(folder, call):
    d = np.linspace(1, 3, 20 * 30).reshape(20, 30)
    dualpix.write_map("k.png", d)
    Path("photo.png").write_bytes(encode_png(np.full((20, 30, 3), 99, np.uint8)))
    for args in (
        ("mask", "k.png", "-o", "m.npy", "--from", "2", "--to", "inf"),
        ("refocus", "photo.png", "k.png", "-o", "r.png", "--focus", "5,5", "--aperture", "1"),
        ("depth", "k.png", "-o", "z.tiff", "--relative"),
        ("simulate", "photo.png", "k.png", "-o", "pair"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code, _, err = call(*args)
        assert code == 0
        assert err.count("\n") == 1
        assert err.startswith("warning: k.png is a 16-bit PNG without a sidecar, and is read as KITTI disparities")
    with pytest.warns(DualpixWarning, match=r"k\.png") as caught:
        dualpix.render.refocus("photo.png", "k.png", focus=1.0, aperture=1)
    assert [each.filename for each in caught] == [__file__]


def test_commands_and_batches_show_warnings_themselves(folder, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        code, _, err = call("disparity", "left.png", "left.png", "-o", "d.tiff", *SETTINGS)
        outcomes = list(dualpix.batch({"left": "left.png", "right": "left.png"}, "maps", jobs=1, **FAST))
    assert (code, err.count("same picture")) == (0, 1)
    assert any("same picture" in each for each in outcomes[0].warnings)
    assert not [each for each in caught if issubclass(each.category, DualpixWarning)]


def test_the_installed_command_says_it_once(folder):
    command = [sys.executable, "-W", "always", "-m", "dualpix", "disparity", "left.png", "left.png", "-o", "d.tiff"]
    source = str(Path(dualpix.__file__).parents[1])
    done = subprocess.run(
        [*command, *SETTINGS], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": source}
    )
    assert (done.returncode, done.stderr.count("same picture")) == (0, 1), done.stderr


def test_the_logger_tells_stages_and_warnings(views, caplog):
    with caplog.at_level(logging.DEBUG, "dualpix"):
        found = dualpix.disparity(views[0], views[0], **FAST)
    levels = {level: [each.getMessage() for each in caplog.records if each.levelno == level] for level in (10, 20, 30)}
    assert levels[logging.INFO] == [f"warning: {each}" for each in found.warnings]
    assert levels[logging.WARNING] == []
    assert {each.name for each in caplog.records} == {"dualpix"}
    assert {line.partition(",")[0].partition(":")[0] for line in levels[logging.DEBUG]} == set(found.timings)


def test_the_logger_is_silent_by_default():
    code = "import logging, dualpix.run; logging.getLogger('dualpix').error('x')"
    source = str(Path(dualpix.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert (done.returncode, done.stderr) == (0, "")


# ---- threads and pickles -------------------------------------------------------------------------


def test_threads_may_share_parameters_and_a_plan(views):
    params = dualpix.preset("auto").replace(**FAST)
    pairs = [textured_pair((72, 90), 0.5 * number, number) for number in range(4)]
    pairs = [dualpix.read_pair(*(view / 255 for view in pair)) for pair in pairs] * 3
    plan = dualpix.disparity(*views, params).plan

    def maps(pair):
        alone = dualpix.disparity(pair.left, pair.right, params, threads=1)
        return alone.disparity.tobytes(), run_plan(pair, plan, dualpix.run.Run(1)).disparity.tobytes()

    expected = [maps(pair) for pair in pairs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(maps, pairs)) == expected
    assert plan.to_dict() == dualpix.disparity(*views, params).plan.to_dict()


def every(kind):
    return [kind, *(each for below in kind.__subclasses__() for each in every(below))]


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy], ids=["pickle", "copy"])
def test_results_can_be_pickled_and_copied(folder, result, copied):
    again = copied(result)
    assert (repr(again), again.params, again.timings) == (repr(result), result.params, result.timings)
    assert again.plan.to_dict() == result.plan.to_dict()
    for name in ("disparity", "confidence", "sigma"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name))
    np.testing.assert_array_equal(again.belief.A, result.belief.A)
    result.save("a.tiff")
    again.save("b.tiff")
    assert Path("a.tiff").read_bytes() == Path("b.tiff").read_bytes()
    assert isinstance(copied(result.plan), Plan)
    assert copied(dualpix.preset("phone")) == dualpix.preset("phone")


def test_errors_warnings_and_functions_can_be_pickled():
    for kind in (*every(DualpixError), DualpixWarning):
        again = pickle.loads(pickle.dumps(kind("a sentence")))
        assert (type(again), str(again)) == (kind, "a sentence")
    for each in (dualpix.disparity, dualpix.sequence, dualpix.Sequence, dualpix.batch):
        assert pickle.loads(pickle.dumps(each)) is each
