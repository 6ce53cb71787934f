"""Parameters, presets, settings and config files."""

import copy
import dataclasses
import inspect
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest

import dualpix
from dualpix.errors import InputError, ParameterError
from dualpix.params import (
    Params,
    load_config,
    model,
    parse_setting,
    preset,
    preset_descriptions,
    preset_names,
    resolve,
)
from dualpix.params.declared import parameters
from dualpix.params.definitions import GROUPS
from dualpix.params.explain import explain, markdown
from dualpix.params.needs import ALWAYS, spell

BASE = preset("dslr-a")


# ---- presets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "window", "penalty", "iterations", "prior_weight", "edge_sigma", "invalid_threshold", "range_"),
    [
        ("dslr-a", 8, 3.2, (3, 3, 2), 0.05, 3.25, 0.04, (-20, 20)),
        ("dslr-b", 8, 1.3, (2, 2, 3, 6), 0.08, 3, 0.075, (-32, 32)),
    ],
)
def test_presets_hold_the_papers_values(
    name, window, penalty, iterations, prior_weight, edge_sigma, invalid_threshold, range_
):
    assert preset(name).to_dict() == {
        "cost": "sad",
        "window": window,
        "subpixel": "encc",
        "encc_window": 15,
        "noise_floor": 0,
        "candidates": 1,
        "choice": [0, 0],
        "ambiguity": 0,
        "speckles": [0, 0],
        "messages": "paper",
        "first_penalty": 1,
        "jump_penalty": 0,
        "robust_tau": 0,
        "fattening": 0,
        "suspicion": 1000,
        "flat": 0,
        "relief": 0,
        "blank": 0,
        "outlines": 0,
        "polish": 0,
        "pixel_aspect": "auto",
        "black": 0,
        "white": "auto",
        "gamma": 1,
        "detail": "none",
        "vignetting": 0,
        "filter": "none",
        "guided_window": 45,
        "guided_eps": 0.2,
        "solver_luma": 4,
        "solver_chroma": 4,
        "solver_xy": 32,
        "solver_lambda": 512,
        "solver_confidence": "curvature",
        "median_radius": 0,
        "median_sigma": 0.1,
        "guide_gamma": 1,
        "exposure": 0,
        "penalty": penalty,
        "edge_sigma": edge_sigma,
        "iterations": list(iterations),
        "normalize_iterations": False,
        "prior_weight": prior_weight,
        "prior_limit": 0,
        "ratio_threshold": 2.2,
        "invalid_threshold": invalid_threshold,
        "border": 1000,
        "paths": 8,
        "range": list(range_),
    }


def test_presets_are_the_tables_of_their_file():
    text = Path(dualpix.params.presets.__file__).with_suffix(".toml").read_text(encoding="utf-8")
    tables = dualpix.params.presets.tomllib.loads(text)
    assert preset_names() == tuple(tables)
    for name, table in tables.items():
        table.pop("description")
        assert preset(name).to_dict() == Params(**table).to_dict()


def test_every_preset_has_a_one_line_description():
    assert list(preset_descriptions()) == list(preset_names())
    assert preset_names() == ("auto", "dslr-a", "dslr-b", "phone", "phone-paper", "stereo", "stereo-paper")
    assert all(text and "\n" not in text for text in preset_descriptions().values())


@pytest.mark.parametrize("name", ["dslr_a", "", None, 3, ["dslr-a"]])
def test_unknown_preset_lists_the_names(name):
    with pytest.raises(ParameterError, match="dslr-a, dslr-b"):
        preset(name)


def test_unknown_preset_suggests_the_closest():
    with pytest.raises(ParameterError, match=r"'dslrb': did you mean dslr-b\?"):
        preset("dslrb")


# ---- the dataclass -------------------------------------------------------------------------------


def test_params_are_frozen_and_hashable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        BASE.window = 5
    assert hash(BASE) == hash(BASE.replace(window=8))


def test_replace_changes_only_what_it_names():
    changed = BASE.replace(window=5, iterations=[1, 2])
    assert (changed.window, changed.iterations) == (5.0, (1, 2))
    assert changed.replace(window=8, iterations=(3, 3, 2)) == BASE


@pytest.mark.parametrize("name", preset_names())
def test_to_dict_survives_json(name):
    params = preset(name)
    assert Params(**json.loads(json.dumps(params.to_dict(), allow_nan=False))) == params


GROUP_NAMES = ("photometry", "matching", "minima", "aggregation", "scales", "smoothing")


def test_groups_hold_every_parameter_once_and_in_order():
    names = [name for group in GROUPS for name in parameters(group)]
    assert names == list(BASE.to_dict()) == list(parameters(Params))
    assert len(set(names)) == len(names)
    assert not set(names) & set(GROUP_NAMES)


@pytest.mark.parametrize(("attribute", "group"), list(zip(GROUP_NAMES, GROUPS, strict=True)))
def test_a_group_is_an_attribute(attribute, group):
    part = getattr(BASE, attribute)
    assert type(part) is group
    assert dataclasses.asdict(part) == {name: getattr(BASE, name) for name in parameters(group)}


def test_a_group_checks_its_values_too():
    with pytest.raises(ParameterError, match="parameter window must be"):
        dataclasses.replace(BASE.matching, window=100)


@pytest.mark.parametrize("same", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("params", [BASE, BASE.matching])
def test_copies_are_equal(same, params):
    assert same(params) == params
    assert hash(same(params)) == hash(params)


def test_repr_turns_back_and_has_a_line_for_each_group():
    assert eval(repr(BASE)) == BASE
    assert len(repr(BASE).splitlines()) == len(GROUPS) + 2


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("window", 5, 5.0),
        ("window", np.float32(2.5), 2.5),
        ("iterations", [4], (4,)),
        ("iterations", (np.int64(4), 64), (4, 64)),
        ("range", [-3, 4], (-3.0, 4.0)),
        ("paths", np.uint8(4), 4),
        ("paths", np.array(4), 4),
        ("normalize_iterations", np.True_, True),
        ("window", np.float64(3), 3.0),
        ("window", np.int16(3), 3.0),
        ("iterations", np.array([3, 2], np.uint8), (3, 2)),
        ("range", np.array([-3, 4]), (-3.0, 4.0)),
        ("range", np.array([-3, 4], np.float32), (-3.0, 4.0)),
        ("range", (np.float32(-3), np.int64(4)), (-3.0, 4.0)),
        ("cost", np.str_("sad"), "sad"),
        ("border", 1, 1.0),
        ("prior_weight", 0, 0.0),
        ("invalid_threshold", 0, 0.0),
        ("robust_tau", 1, 1.0),
        ("robust_tau", [1, 0.5], (1.0, 0.5)),
        ("robust_tau", np.array([3, 2]), (3.0, 2.0)),
        ("robust_tau", np.float32(0.5), 0.5),
        ("choice", [0, 16], (0.0, 16.0)),
        ("speckles", (128, 2), (128.0, 2.0)),
        ("median_radius", np.int64(255), 255),
    ],
)
def test_values_are_stored_in_their_own_type(name, value, stored):
    result = getattr(dataclasses.replace(BASE, **{name: value}), name)
    assert result == stored
    assert type(result) is type(stored)
    if isinstance(stored, tuple):
        assert [type(item) for item in result] == [type(item) for item in stored]


BAD_VALUES = [
    *[("cost", value) for value in ("NCC", 1, None)],
    *[("window", value) for value in (0.49, 64.1, -8, math.nan, math.inf, True, "8", None, 10**400, 1j)],
    *[("subpixel", value) for value in ("ENCC", "", True)],
    *[("encc_window", value) for value in (8, 1, 65, 9.0)],
    *[("messages", value) for value in ("exakt", b"paper")],
    *[("penalty", value) for value in (0, -1, 1.1e6)],
    *[("edge_sigma", value) for value in (0, 1.1e4)],
    *[("iterations", value) for value in ((), (0,), (65,), (1,) * 9, (1.0,), (True,), 3, "3", {1: 2})],
    *[("normalize_iterations", value) for value in (1, 0, "true", None)],
    *[("prior_weight", value) for value in (-0.1, 10.1)],
    *[("ratio_threshold", value) for value in (1, 0.5, 101)],
    *[("invalid_threshold", value) for value in (-1, 1001)],
    *[("border", value) for value in (0.9, 1.1e6)],
    *[("paths", value) for value in (2, 8.0, True, "8")],
    *[("range", value) for value in ((3, 3), (4, -4), (0,), (0, 1, 2), (math.nan, 1), (-math.inf, 0))],
    *[("range", value) for value in ((-1.1e5, 0), (False, True), "Auto", None, np.zeros((9, 9)))],
    *[("window", value) for value in (np.True_, np.float32(np.nan), np.array([8.0]), np.complex64(8))],
    *[("iterations", value) for value in (np.array([3.0]), np.array([True]), np.array([[3, 2]]), np.array(3))],
    *[("normalize_iterations", value) for value in (np.uint8(1), np.array([True]))],
    *[("candidates", value) for value in (0, 7, 2.0, "2", True)],
    *[("choice", value) for value in (1, (1,), (1, 2, 3), (-1, 2), (1, 1.1e6), (1, math.nan), None, "1,2")],
    *[("ambiguity", value) for value in (-0.1, 1.1e3, (1, 2))],
    *[("speckles", value) for value in (128, (-1, 2), (1.1e6, 2), (128, math.inf))],
    *[("jump_penalty", value) for value in (-0.1, 1.1e6)],
    *[("robust_tau", value) for value in (-0.1, 1.1e3, (), (1,) * 65, (1, -1), ("1",), True, (True,), None, "1,2")],
    *[("median_radius", value) for value in (-1, 256, 1.0, True)],
    *[("median_sigma", value) for value in (0, 1.1e6)],
]


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_bad_values_are_refused_in_one_line_that_names_them(name, value):
    with pytest.raises(ParameterError, match=f"^parameter {name} must be ") as caught:
        BASE.replace(**{name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("window", 65, "a number from 0.5 to 64, not 65"),
        ("penalty", -2.5, r"a number above 0 and up to 1e\+06, not -2.5"),
        ("iterations", (3, 99), r"1 to 8 .* from 1 to 64, not \(3, 99\)"),
        ("range", (5, -5), r"min < max, .* -100000 to 100000, not \(5, -5\)"),
        ("subpixel", "cubic", "parabola or histeq or encc, not 'cubic'"),
        ("choice", (1, 2, 3), r"P1 and P2, each a number from 0 to 1e\+06, not \(1, 2, 3\)"),
        ("robust_tau", -1, "a number from 0 to 1000, or 1 to 64 values, each a number from 0 to 1000, not -1"),
        ("candidates", 7, "a whole number from 1 to 6, not 7"),
    ],
)
def test_refusals_say_the_value_and_the_bounds(name, value, says):
    with pytest.raises(ParameterError, match=says):
        BASE.replace(**{name: value})


def test_construction_checks_too():
    with pytest.raises(ParameterError, match="parameter paths"):
        Params(**{**BASE.to_dict(), "paths": 6})


# ---- parameters without effect -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changes", "says"),
    [
        ("auto", {"jump_penalty": 1}, "jump_penalty has no effect with messages=exact: it needs messages=jumps: leave"),
        ("auto", {"speckles": (9, 1)}, "candidates=1: it needs candidates of 2 or more: leave it out, or set that too"),
        ("dslr-a", {"window": 5, "robust_tau": (1, 2)}, "robust_tau has no effect with messages=paper: it needs mess"),
        (
            "dslr-a",
            {"subpixel": "histeq", "encc_window": 5},
            "encc_window has no effect with subpixel=histeq and",
        ),
        (
            "dslr-a",
            {"median_sigma": 1, "filter": "guided"},
            "with median_radius=0: it needs filter other than none",
        ),
        (
            "dslr-a",
            {"iterations": (4,), "prior_weight": 1},
            "with iterations=4: it needs iterations for 2 or more",
        ),
        ("stereo", {"ratio_threshold": 3}, "with candidates=4 and choice=1.5,16: it needs candidates=1, or choice=0,0"),
    ],
)
def test_a_change_without_effect_is_refused(name, changes, says):
    for change in (preset(name).replace, lambda **settings: resolve(name, settings)):
        with pytest.raises(ParameterError, match=says):
            change(**changes)


def test_what_a_parameter_needs_may_be_set_with_it():
    assert preset("auto").replace(jump_penalty=1, messages="jumps").jump_penalty == 1


def test_all_parameters_at_once_are_no_change():
    """Those that a sidecar records, say: `dualpix.disparity(left, right, **sidecar["parameters"])`."""
    every = json.loads(json.dumps(preset("dslr-a").to_dict()))
    assert resolve("auto", every) == preset("dslr-a")
    with pytest.raises(ParameterError, match="unknown parameter 'windw': did you mean window"):
        resolve("auto", {**every, "windw": 3})
    with pytest.raises(ParameterError, match="parameter window"):
        resolve("auto", {**every, "window": "large"})


def test_a_value_that_stays_is_no_change():
    for name in preset_names():
        assert resolve(name, preset(name).to_dict()) == preset(name)
    assert BASE.replace(jump_penalty=BASE.jump_penalty, window=3) == BASE.replace(window=3)
    # what the value needs may go: it is the old one
    assert preset("stereo-paper").replace(messages="paper").jump_penalty == preset("stereo-paper").jump_penalty


def test_effect_of_an_unknown_parameter():
    with pytest.raises(ParameterError, match="unknown parameter 'widow'"):
        BASE.has_effect("widow")


# Another value for every parameter that needs others; and a combination in which it has an effect.
OTHER_VALUES = {
    "encc_window": 3,
    "noise_floor": 3.0,
    "ratio_threshold": 9.0,
    "choice": (0.7, 3.0),
    "ambiguity": 4.0,
    "speckles": (300.0, 0.1),
    "first_penalty": 0.001,
    "jump_penalty": 7.0,
    "robust_tau": 0.4,
    "fattening": 0.05,
    "suspicion": 0.0,
    "flat": 1.0,
    "relief": 0.0005,
    "normalize_iterations": {False: True, True: False},
    "prior_weight": 2.0,
    "prior_limit": 0.01,
    "guided_window": 5,
    "guided_eps": 1e-3,
    "solver_luma": 30.0,
    "solver_chroma": 1.0,
    "solver_xy": 3,
    "solver_lambda": 3.0,
    "solver_confidence": {"curvature": "texture", "texture": "curvature"},
    "median_radius": 3,
    "median_sigma": 0.02,
}
PHONE_SOLVER = ("phone-paper", {"filter": "solver"})
EFFECTIVE = {
    "encc_window": [("dslr-a", {}), ("phone-paper", {"filter": "solver", "subpixel": "histeq"})],
    "noise_floor": [("auto", {})],
    "ratio_threshold": [("auto", {}), ("stereo-paper", {})],
    "choice": [("stereo", {}), ("stereo-paper", {})],
    "ambiguity": [("stereo-paper", {})],
    "speckles": [("stereo", {}), ("stereo-paper", {})],
    "first_penalty": [("auto", {}), ("stereo", {})],
    "jump_penalty": [("stereo-paper", {})],
    "robust_tau": [("auto", {}), ("stereo", {})],
    "fattening": [("auto", {})],
    "suspicion": [("auto", {"iterations": (2, 2)})],
    "flat": [("auto", {"iterations": (2, 2)})],
    "relief": [("auto", {"iterations": (2, 2)}), ("dslr-a", {})],
    "normalize_iterations": [("dslr-a", {}), ("stereo-paper", {})],
    "prior_weight": [("dslr-a", {}), ("auto", {"iterations": (2, 2)})],
    "prior_limit": [("dslr-a", {}), ("auto", {"iterations": (2, 2)})],
    "guided_window": [("auto", {"filter": "guided"})],
    "guided_eps": [("auto", {"filter": "guided"})],
    "solver_luma": [PHONE_SOLVER],
    "solver_chroma": [PHONE_SOLVER],
    "solver_xy": [PHONE_SOLVER],
    "solver_lambda": [PHONE_SOLVER],
    "solver_confidence": [PHONE_SOLVER],
    "median_radius": [PHONE_SOLVER, ("stereo", {"filter": "guided"})],
    "median_sigma": [("stereo", {"filter": "guided"})],
}
COMBINATIONS = [
    *((name, {}) for name in preset_names()),
    *((name, {"filter": "guided"}) for name in ("auto", "dslr-a", "stereo")),
    *((name, {"filter": "solver"}) for name in ("auto", "phone-paper", "stereo-paper")),
    ("auto", {"iterations": (1, 1)}),
    ("auto", {"iterations": (1,), "subpixel": "parabola"}),
    ("auto", {"messages": "jumps", "subpixel": "histeq", "detail": "cost"}),
    ("dslr-a", {"iterations": (1,), "cost": "zncc", "subpixel": "parabola"}),
    ("dslr-a", {"iterations": (2, 2), "prior_weight": 0.0, "messages": "exact"}),
    ("dslr-b", {"cost": "census", "messages": "exact"}),
    ("phone-paper", {"filter": "solver", "subpixel": "histeq", "solver_confidence": "curvature"}),
    ("stereo", {"messages": "paper", "filter": "guided", "median_radius": 0}),
    ("stereo-paper", {"choice": (1.0, 3.0), "subpixel": "parabola", "filter": "solver", "median_radius": 0}),
]


@pytest.fixture(scope="module")
def outcome():
    """What `disparity` finds in a small pair with a step in depth, as bytes."""
    rng = np.random.default_rng(5)
    scene = np.cumsum(rng.normal(0, 12, (48, 72, 3)), axis=1) % 256
    left, right = scene[:, 4:68], scene[:, 5:69] + rng.normal(0, 4, (48, 64, 3))
    right[12:36, 20:40] = scene[12:36, 27:47]
    views = [np.clip(view, 0, 255).astype(np.uint8) for view in (left, right)]

    def found(params):
        result = dualpix.disparity(*views, params, axis="x", threads=1)
        return result.disparity.tobytes(), result.confidence.tobytes(), result.searched, result.warnings

    return found


def combination(name, changes):
    near = {"window": 3.0, "range": (-4.0, 6.0)}
    return dataclasses.replace(preset(name), **near, **changes)


def with_other_value(params, name):
    value = OTHER_VALUES[name]
    return dataclasses.replace(params, **{name: value[getattr(params, name)] if isinstance(value, dict) else value})


def test_every_parameter_with_needs_is_tried():
    needy = {name for name, each in parameters(Params).items() if each.needs is not ALWAYS}
    assert needy == set(OTHER_VALUES) == set(EFFECTIVE)


@pytest.mark.parametrize(("name", "changes"), COMBINATIONS)
def test_a_parameter_said_to_have_no_effect_has_none(outcome, name, changes):
    params = combination(name, changes)
    expected = outcome(params)
    for each in (each for each in OTHER_VALUES if not params.has_effect(each)):
        other = with_other_value(params, each)
        assert other != params
        assert outcome(other) == expected, each


@pytest.mark.parametrize(
    ("parameter", "name", "changes"), [(each, *way) for each, ways in EFFECTIVE.items() for way in ways]
)
def test_with_what_it_needs_a_parameter_has_an_effect(outcome, parameter, name, changes):
    params = combination(name, changes)
    assert params.has_effect(parameter)
    assert outcome(with_other_value(params, parameter)) != outcome(params)


# ---- explanations --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, *preset_names()])
def test_explanations_fit_the_terminal_and_name_every_parameter(name):
    lines = explain(name).splitlines()
    assert max(map(len, lines)) <= 100
    for key in parameters(Params):
        value = "" if name is None else f" = {spell(getattr(preset(name), key))}"
        assert sum(line.startswith(f"  {key}{value}  (") for line in lines) == 1


def test_explaining_an_unknown_preset():
    with pytest.raises(ParameterError, match="unknown preset 'dslr'"):
        explain("dslr")


def test_the_documentation_is_up_to_date():
    page = Path(__file__).parents[1] / "docs" / "parameters.md"
    assert page.read_text(encoding="utf-8") == markdown(), "run python -m dualpix.params.explain > docs/parameters.md"


def test_help_explains_every_parameter():
    text = inspect.getdoc(Params)
    for name, each in parameters(Params).items():
        assert f"\n{name} : {each.expects}\n" in text
        assert " ".join(each.meaning.split()) in " ".join(text.split())


# ---- resolve, settings, config -------------------------------------------------------------------


def test_resolve_takes_a_name_or_params():
    assert resolve("dslr-a", {"window": 3}) == resolve(BASE, {"window": 3}) == BASE.replace(window=3)


@pytest.mark.parametrize("base", ["dslr-a", BASE])
def test_unknown_parameter_lists_names_and_suggests(base):
    with pytest.raises(ParameterError, match=r"'penality': did you mean penalty\? .*cost, window, .*range"):
        resolve(base, {"penality": 1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("window=5", ("window", 5.0)),
        (" penalty = 1.25 ", ("penalty", 1.25)),
        ("iterations=3,3,2", ("iterations", (3, 3, 2))),
        ("iterations=(3, 3,2)", ("iterations", (3, 3, 2))),
        ("iterations=[ 4 ]", ("iterations", (4,))),
        ("iterations=4", ("iterations", (4,))),
        ("range=-4,4", ("range", (-4.0, 4.0))),
        ("normalize_iterations=true", ("normalize_iterations", True)),
        ("normalize_iterations=False", ("normalize_iterations", False)),
        ("paths=4", ("paths", 4)),
        ("subpixel=parabola", ("subpixel", "parabola")),
        ("robust_tau=0.3", ("robust_tau", 0.3)),
        ("robust_tau=3,2,1", ("robust_tau", (3.0, 2.0, 1.0))),
        ("robust_tau=[0.5]", ("robust_tau", (0.5,))),
        ("robust_tau=(2, 1)", ("robust_tau", (2.0, 1.0))),
        ("choice=1.5,16", ("choice", (1.5, 16.0))),
        ("speckles=[128, 2]", ("speckles", (128.0, 2.0))),
    ],
)
def test_settings_are_read_by_the_type_of_the_parameter(text, expected):
    assert parse_setting(text) == expected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("window", "'window' must be NAME=VALUE"),
        ("", "must be NAME=VALUE"),
        ("=5", "unknown parameter ''"),
        ("widow=5", "did you mean window"),
        ("window=", "parameter window must be a number"),
        ("window=nan", "parameter window must be a number"),
        ("window=wide", "from 0.5 to 64, not 'wide'"),
        ("iterations=3,,2", "parameter iterations"),
        ("iterations=3.5", "parameter iterations"),
        ("iterations=()", "parameter iterations"),
        ("iterations=" + "9" * 5000, "parameter iterations"),
        ("range=4", "parameter range"),
        ("range=4,-4", "min < max"),
        ("range=-4 4", "not '-4 4': write -4,4$"),
        ("range=-4:4", "not '-4:4': write -4,4$"),
        ("range=4 -4", "not '4 -4'$"),
        ("iterations=3 3 2", "not '3 3 2': write 3,3,2$"),
        ("normalize_iterations=1", "true or false, not '1'"),
        ("paths=6", "4 or 8, not '6'"),
        ("robust_tau=1,,2", "parameter robust_tau must be a number from 0 to 1000, or 1 to 64 values"),
        ("robust_tau=()", "parameter robust_tau"),
        ("robust_tau=", "parameter robust_tau"),
        ("choice=3", "parameter choice must be P1 and P2"),
    ],
)
def test_bad_settings(text, says):
    with pytest.raises(ParameterError, match=says):
        parse_setting(text)


def test_config_holds_parameters_and_a_preset(tmp_path):
    config = tmp_path / "c.toml"
    config.write_text('preset = "dslr-b"\nwindow = 5  # px\niterations = [1, 2]\nrange = [-3, 3]\n')
    assert load_config(config) == {
        "preset": "dslr-b",
        "window": 5.0,
        "iterations": (1, 2),
        "range": (-3.0, 3.0),
    }


def test_config_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "c.toml").write_text("window = 5\n", encoding="utf-8-sig")
    assert load_config(tmp_path / "c.toml") == {"window": 5.0}


def test_empty_config_sets_nothing(tmp_path):
    (tmp_path / "c.toml").write_text("")
    assert load_config(tmp_path / "c.toml") == {}


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("window 5\n", InputError, "line 1"),
        ("window = 5\n\npenalty = = 3\n", InputError, "line 3"),
        ('window = 5\ncost = "sad', InputError, "line 2"),
        ("a = " + "[" * 100_000, InputError, "c.toml"),
        ("windw = 5", ParameterError, "did you mean window"),
        ("window = '5'", ParameterError, "parameter window must be a number"),
        ("penalty = nan", ParameterError, "parameter penalty"),
        ("[dslr-a]\nwindow = 5", ParameterError, "unknown parameter 'dslr-a'"),
        ("preset = 'dslr'", ParameterError, "unknown preset 'dslr'"),
        ("preset = 1", ParameterError, "unknown preset 1"),
        ("range = ['a', 'b']", ParameterError, "parameter range"),
    ],
)
def test_bad_config_names_the_file(tmp_path, text, error, says):
    config = tmp_path / "c.toml"
    config.write_text(text)
    with pytest.raises(error, match=says) as caught:
        load_config(config)
    assert "c.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_config_that_cannot_be_read(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    ways_out = {"missing.toml": "no such file: check the path", "binary.toml": "give a TOML", ".": "give a TOML file"}
    for name, way_out in ways_out.items():
        with pytest.raises(InputError, match=f"^config .*: {way_out}"):
            load_config(tmp_path / name)


def test_a_word_longer_than_a_line_has_a_line_of_its_own():
    assert model._wrapped(f"one {'x' * 20} two three", 9) == ["one", "x" * 20, "two three"]
