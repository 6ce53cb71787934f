"""What a type checker sees: parameters have names and types."""

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal, get_args, get_type_hints

import pytest

import dualpix
from dualpix import Overrides, Params
from dualpix.method.sequence import Sequence, Settings
from dualpix.params.declared import parameters
from dualpix.params.overrides import OverridesOfCalibrate, Preset
from dualpix.params.presets import preset_names
from dualpix.params.rules import Choice

CONFIG = str(Path(__file__).parents[1] / "pyproject.toml")
SAMPLE = """
import dualpix

result = dualpix.disparity("l.png", b"", "auto", window=5, range=(-4, 4), filter="guided", iterations=(3, 2))
reveal_type(result)
dualpix.preset("auto").replace(robust_tau=(1.0, 2.0), white="auto")
dualpix.batch("photos", "maps", window=5)
dualpix.tiles("l.tif", "r.tif", "d.tif", window=5)
dualpix.calibrate(planes=[("l.png", "r.png")], window=5)
for each in dualpix.sequence([("l.png", "r.png")], window=5, weight=2.0):
    reveal_type(each.disparity)
dualpix.disparity("l.png", "r.png", windwo=5)  # wrong
dualpix.disparity("l.png", "r.png", window="five")  # wrong
dualpix.disparity("l.png", "r.png", iterations=3)  # wrong
dualpix.disparity("l.png", "r.png", "phone-paper", cost="zncc", paths=8)
dualpix.disparity("l.png", "r.png", dualpix.preset(input()))  # a name that only the run knows
dualpix.disparity("l.png", "r.png", "atuo")  # wrong
dualpix.disparity("l.png", "r.png", cost="nzcc")  # wrong
dualpix.disparity("l.png", "r.png", paths=6)  # wrong
dualpix.batch("photos", "maps", preset="dslr", filter="guidde")  # wrong twice
dualpix.tiles("l.tif", "r.tif", "d.tif", preset="phones")  # wrong
dualpix.calibrate(planes=[("l.png", "r.png")], preset="stero")  # wrong
dualpix.Sequence("vidoe")  # wrong
dualpix.sequence([("l.png", "r.png")], subpixel="enc")  # wrong
dualpix.preset("auto").replace(filter="solvr")  # wrong
dualpix.disparity(3j, "r.png")
dualpix.disparity(object(), "r.png")  # wrong
dualpix.preset("auto").replace(windwo=5)  # wrong
dualpix.batch("photos", "maps", windwo=5)  # wrong
dualpix.tiles("l.tif", "r.tif", "d.tif", windwo=5)  # wrong
dualpix.calibrate(planes=[("l.png", "r.png")], windwo=5)  # wrong
dualpix.Sequence(windwo=5)  # wrong
dualpix.sequence([("l.png", "r.png")], wieght=2.0)  # wrong
"""


def test_overrides_are_the_parameters():
    """A choice is a Literal of its options, so that a misspelt one is found."""
    types, rules = get_type_hints(Params), {name: each.rule for name, each in parameters(Params).items()}
    wanted = {name: Literal[rule.options] if isinstance(rule, Choice) else types[name] for name, rule in rules.items()}
    assert get_type_hints(Overrides) == wanted
    assert not Overrides.__required_keys__


def test_presets_are_those_of_the_file():
    assert sorted(get_args(Preset)) == sorted(preset_names())


def test_calibrate_takes_all_that_are_not_its_own():
    own = set(inspect.signature(dualpix.calibrate).parameters)
    assert get_type_hints(Overrides).keys() - get_type_hints(OverridesOfCalibrate).keys() == own & set(
        parameters(Params)
    )


def test_settings_of_a_sequence_are_its_arguments():
    hints, given = get_type_hints(Sequence.__init__), inspect.signature(Sequence.__init__).parameters
    named = {name: hints[name] for name, each in given.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    assert get_type_hints(Settings) == get_type_hints(Overrides) | named


def test_public_functions_keep_signature_and_help():
    assert list(inspect.signature(dualpix.disparity).parameters)[:4] == ["left", "right", "preset", "guide"]
    assert "x_left" in inspect.getdoc(dualpix.Result)
    assert inspect.getdoc(dualpix.disparity).startswith("The disparity map of the left view")
    assert inspect.getdoc(dualpix.Sequence).startswith("The frames of a clip")


def test_mypy_finds_misspelt_parameters_and_wrong_types(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed: pip install '.[lint]'")
    (tmp_path / "sample.py").write_text(SAMPLE)
    found = subprocess.run(
        # The project's configuration skips libraries whose types take half a minute to read.
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--config-file", CONFIG, "sample.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(dualpix.__file__).parents[1])},
        capture_output=True,
        text=True,
    )
    lines = enumerate(SAMPLE.splitlines(), 1)
    wrong = [number for number, line in lines for _ in range(line.count("# wrong") + line.count("# wrong twice"))]
    assert [int(n) for n in re.findall(r"^sample\.py:(\d+): error", found.stdout, re.MULTILINE)] == wrong, found.stdout
    assert 'did you mean "window"?' in found.stdout
    assert re.findall(r'Revealed type is "([\w.]+)', found.stdout) == ["dualpix.method.result.Result", "numpy.ndarray"]


@pytest.mark.parametrize("name", [name for name in dualpix.__all__ if callable(getattr(dualpix, name))])
def test_annotations_of_public_names_can_be_evaluated(name):
    value = getattr(dualpix, name)
    get_type_hints(value)
    for method in vars(value).values() if isinstance(value, type) else ():
        if inspect.isfunction(method):
            get_type_hints(method)
