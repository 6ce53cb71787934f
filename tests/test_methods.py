"""Methods by name: what they run, what they are given, and what is said of those that are not there."""

import json
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix import _core, baselines
from dualpix.baselines import _wta, wta
from dualpix.errors import InputError, ParameterError
from dualpix.evaluation.methods import SEARCHED, Function, Preset, method, methods_of
from dualpix.evaluation.outcomes import Scene
from dualpix.params import preset_names

OWN = """
import numpy as np

seen = {}

def plain(left, right):
    seen.update(left=left, right=right)
    return np.arange(left[..., 0].size if left.ndim == 3 else left.size).reshape(left.shape[:2])

def curious(left, right, *, range, guide, threads, strength=0.5, options=()):
    seen.update(range=range, guide=guide, threads=threads)
    return plain(left, right), np.ones(left.shape[:2])

def turned(left, right):
    return np.zeros((2, 3))

def sure(left, right, most=1.5):
    confidence = np.full(left.shape, 0.5)
    confidence[0, :2] = np.nan, most
    return left, confidence

def denies(left, right):
    return sure(left, right, -0.25)

def unsure(left, right):
    return sure(left, right, 1)

def nothing(left, right):
    return None

number = 3
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The module `own_methods` in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "own_methods.py").write_text(OWN)
    yield tmp_path / "own_methods.py"
    sys.modules.pop("own_methods", None)


@pytest.fixture
def scene():
    left, right = (view / 255 for view in textured_pair((60, 80), 1.3))
    return Scene("s", left, right, None, np.ones((60, 80), np.float32))


def turned(scene):
    return replace(scene, left=scene.left.T.copy(), right=scene.right.T.copy(), axis="y")


@pytest.mark.parametrize("name", [*preset_names(), "auto+solver", "dslr-a+guided"])
def test_presets(name):
    found = method(name)
    base, _, smoothing = name.partition("+")
    assert found == Preset(name, dualpix.preset(base).replace(**({"filter": smoothing} if smoothing else {})))
    assert found.parameters == found.params.to_dict()


def test_a_preset_gets_all_that_the_scene_knows(scene):
    given = replace(turned(scene), guide=np.fliplr(scene.left.T).copy(), range=(-3.0, 3.0))
    d, confidence = method("auto").run(given, 1)
    expected = dualpix.disparity(given.left, given.right, guide=given.guide, axis="y", range=(-3, 3))
    np.testing.assert_array_equal(d, expected.disparity)
    np.testing.assert_array_equal(confidence, expected.confidence)
    assert abs(np.median(d) - 1.3) < 0.1


@pytest.mark.parametrize("name", ["sgm", "opencv-sgbm"])
def test_baselines_search_what_is_usual_or_what_the_scene_says(scene, name):
    function = getattr(baselines, name.replace("-", "_"))
    d, confidence = method(name).run(scene, 1)
    np.testing.assert_array_equal(d, function(scene.left, scene.right, SEARCHED))
    assert confidence is None
    d, _ = method(name).run(replace(scene, range=(0.0, 5.0)), 1)
    np.testing.assert_array_equal(d, function(scene.left, scene.right, (0, 5)))


@pytest.mark.parametrize("name", ["wta", "sgm", "opencv-sgbm"])
def test_functions_match_along_y_too(scene, name):
    d, _ = method(name).run(scene, 1)
    along_y, _ = method(name).run(turned(scene), 1)
    np.testing.assert_array_equal(along_y, d.T)


def test_every_function_of_the_baselines_is_a_method():
    functions = [name for name in baselines.__all__ if name.islower()]
    assert {"sgm", "opencv_sgbm"} <= set(functions)
    for name in functions:
        found = method(name.replace("_", "-"))
        assert found.function() is getattr(baselines, name)
        assert json.loads(json.dumps(found.parameters)) == found.parameters


def test_the_winner_takes_it_all():
    """Every half of a picture has its own disparity, and keeps it to the width of the window."""
    near, far = textured_pair((60, 120), 1.3), textured_pair((60, 120), -2.2, seed=1)
    left, right = (np.hstack([a, b]) / 255 for a, b in zip(near, far, strict=True))
    d = wta(left, right, (-4, 4))
    np.testing.assert_allclose(np.median(d[:, 25:95]), 1.3, atol=0.15)
    np.testing.assert_allclose(np.median(d[:, 145:215]), -2.2, atol=0.15)
    assert d[:, 25:95].min() > 0.5
    assert d[:, 145:215].max() < -1.5
    assert np.abs(wta(left, right, (-1, 1))).max() <= 1
    np.testing.assert_array_equal(wta(left, right, (-4, 4), threads=2), d)


def test_the_winner_compares_what_its_record_says(pair, monkeypatch):
    """It used to subtract the bilateral filter, though the default preset and its record say detail = none."""
    left, right = (view / 255 for view in pair)
    calls = []
    real = _core.subtract_bilateral
    monkeypatch.setattr(_core, "subtract_bilateral", lambda *args: calls.append(real(*args)))
    plain = wta(left, right, (-4, 4))
    assert method("wta").parameters["settings"]["detail"] == dualpix.preset("auto").detail == "none"
    assert calls == []
    monkeypatch.setattr(_wta, "PARAMS", _wta.PARAMS.replace(detail="all"))
    assert _wta.settings(_wta.PARAMS)["detail"] == "all"
    assert not np.array_equal(wta(left, right, (-4, 4)), plain, equal_nan=True)
    assert len(calls) == 2


@pytest.mark.parametrize("range", [(3, 1), (1, 1), (0,), "ab"])
def test_the_winner_needs_a_range(pair, range):
    with pytest.raises(ParameterError, match="range"):
        wta(*(view / 255 for view in pair), range)


@pytest.mark.parametrize("shape", [(1, 1), (3, 50), (50, 3)])
def test_the_winner_of_a_small_or_blank_picture(shape):
    blank = np.full(shape, 0.5, np.float32)
    d = wta(blank, blank, (-2, 2))
    assert d.shape == shape


def test_the_winner_knows_nothing_where_there_is_no_texture():
    """Views are black outside, so the window must not reach their left and right ends."""
    blank = np.full((5, 120), 0.5, np.float32)
    assert np.isnan(wta(blank, blank, (-2, 2))[:, 30:-30]).all()


def test_own_functions_get_the_views_and_what_they_name(own, scene):
    guide = np.stack([scene.left] * 3, axis=2)
    d, confidence = method("own_methods:plain").run(scene, 2)
    assert (d.dtype, d[1, 0], confidence) == (np.float32, 80, None)
    d, confidence = method("own_methods:curious").run(replace(scene, guide=guide, range=(1.0, 2.0)), 2)
    seen = sys.modules["own_methods"].seen
    assert (seen["range"], seen["threads"]) == ((1.0, 2.0), 2)
    assert seen["guide"] is guide
    assert (confidence.dtype, confidence.shape) == (np.float32, (60, 80))
    method("own_methods:curious").run(scene, 1)
    assert (seen["range"], seen["guide"]) == (SEARCHED, None)


def test_own_functions_see_a_shift_along_x(own, scene):
    d, _ = method("own_methods:plain").run(turned(scene), 1)
    np.testing.assert_array_equal(sys.modules["own_methods"].seen["left"], scene.left)
    assert d.shape == (80, 60)
    assert d[0, 1] == 80  # the second row of what the function saw


def test_parameters_of_own_functions_change_with_their_file(own):
    before = method("own_methods:curious").parameters
    assert before["defaults"] == {"strength": 0.5}
    assert json.loads(json.dumps(before)) == before
    own.write_text(OWN + "\n# changed\n")
    assert method("own_methods:curious").parameters != before


def test_arguments_do_not_hide_the_digest(own):
    own.write_text("def f(left, right, source='x', function='y'):\n    return left\n")
    found = method("own_methods:f").parameters
    assert found["function"] == "own_methods:f"
    assert found["defaults"] == {"source": "x", "function": "y"}
    assert len(found["source"]) == 16


def digest_of(name):
    return method(name).parameters["source"]


def test_the_digest_is_of_the_whole_package_or_of_all_files_beside_a_module(own, monkeypatch):
    package = own.parent / "own_package"
    (package / "inner").mkdir(parents=True)
    for file in (package / "__init__.py", package / "inner/__init__.py", own.parent / "beside.py"):
        file.touch()
    (package / "inner/used.py").write_text("def f(left, right):\n    return left\n")
    (package / "shown.py").write_text("from .inner.used import f\n")
    (own.parent / "named.py").write_text("from own_package.shown import f\n")
    names = "own_package.shown:f", "own_methods:plain", "named:f"
    for changed, affected in (
        (package / "inner/__init__.py", {"own_package.shown:f"}),
        (own.parent / "beside.py", {"own_methods:plain", "named:f"}),
        (package / "inner/used.py", {"own_package.shown:f", "named:f"}),  # where the function itself is
    ):
        before = {name: digest_of(name) for name in names}
        changed.write_text(changed.read_text() + "# changed\n")
        assert {name for name in names if digest_of(name) != before[name]} == affected
    (own.parent / ".#beside.py").symlink_to("nowhere")  # an editor's lock
    assert digest_of("own_methods:plain")
    for name in [name for name in sys.modules if name.partition(".")[0] in ("own_package", "named")]:
        monkeypatch.delitem(sys.modules, name)


def test_numbers_that_baselines_run_with_are_told():
    settings = method("wta").parameters["settings"]
    auto = dualpix.preset("auto").replace(subpixel="parabola").to_dict()
    assert settings == {name: auto[name] for name in settings}
    assert {"cost", "window", "detail", "subpixel", "vignetting"} <= set(settings)
    assert "penalty" not in settings  # nothing is aggregated
    assert method("dpdisp").parameters["settings"] == {"tile": 8, "reach": 2, "noise": 1, "texture": 4, "steps": 2}
    assert method("sdof").parameters["settings"]["steps"] == 1
    assert method("sgm").parameters["defaults"]["P2"] > method("sgm").parameters["defaults"]["P1"]


@pytest.mark.parametrize("name", ["auto+solver", "sgm", "own_methods:plain"])
def test_methods_can_be_sent_to_another_process(own, name):
    assert pickle.loads(pickle.dumps(method(name))) == method(name)


@pytest.mark.parametrize(("name", "kind"), [("turned", r"float64 of shape \(2, 3\)"), ("nothing", "object of shape")])
def test_a_map_that_is_none_is_refused(own, scene, name, kind):
    with pytest.raises(InputError, match=rf"own_methods:{name} returned {kind}.*\(60, 80\)"):
        method(f"own_methods:{name}").run(scene, 1)


@pytest.mark.parametrize(("name", "found"), [("sure", "0.5 to 1.5"), ("denies", "-0.25 to 0.5")])
def test_a_confidence_that_is_none_is_refused(own, scene, name, found):
    with pytest.raises(InputError, match=f"own_methods:{name} returned a confidence of {found}: return 0 to 1"):
        method(f"own_methods:{name}").run(scene, 1)
    _, confidence = method("own_methods:unsure").run(scene, 1)
    np.testing.assert_array_equal(confidence[0, :3], np.float32([np.nan, 1, 0.5]))


def test_what_a_module_prints_is_no_result(own, capsys):
    own.write_text("print('hello')\n" + OWN)
    method("own_methods:plain")
    assert capsys.readouterr() == ("", "hello\n")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("dslr", "did you mean dslr-"),
        ("", "the methods are auto, .*sgm, .*wta"),
        ("auto+median", r"\+guided or \+solver"),
        ("sgm+solver", "unknown method"),
        ("own_methods:nowhere", "AttributeError"),
        ("own_methods:number", "is not a function but int"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("broken:f", "SyntaxError"),
        ("leaves:f", r"cannot be imported \(SystemExit: 0\): give module:function"),
        (":f", "ValueError"),
        ("own_methods:", "AttributeError"),
    ],
)
def test_what_is_no_method_is_explained(own, name, says):
    (own.parent / "broken.py").write_text("def f(")
    (own.parent / "leaves.py").write_text("import sys\nsys.exit(0)")
    with pytest.raises(ParameterError, match=says):
        method(name)


def test_functions_written_in_c_get_the_views_alone(scene):
    d, _ = Function("hypot", "numpy", "hypot").run(scene, 1)
    np.testing.assert_array_equal(d, np.hypot(scene.left, scene.right))


@pytest.mark.parametrize("given", [baselines.wta, lambda left, right: left, "__main__:f", "__main__"])
def test_a_function_of_this_process_is_refused(given):
    says = "a method runs in a process of its own: put the function into a file and give 'file:function'"
    with pytest.raises(ParameterError, match=says):
        method(given)
    with pytest.raises(ParameterError, match=says):
        methods_of(["auto", given])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("auto", r"methods must be a list, not the single method auto: give \['auto'\]"),
        (method("sgm"), r"methods must be a list, not the single method sgm: give \['sgm'\]"),
        (baselines.wta, "methods: a method runs in a process of its own: put"),
        (None, "methods: a method is a name such as 'auto', not NoneType"),
        ([3], "a method is a name such as 'auto', not int"),
        ([], "methods is empty: give at least one, such as 'auto'"),
        (["sgn"], "unknown method 'sgn'"),
    ],
)
def test_what_is_no_list_of_methods_is_explained(given, says):
    with pytest.raises(ParameterError, match=says):
        methods_of(given)


def test_methods_may_be_given_by_name():
    assert methods_of(iter(["auto", method("sgm")])) == {"auto": method("auto"), "sgm": method("sgm")}
