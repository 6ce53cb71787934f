"""The commands, from arguments to files, stdout, stderr and exit code."""

import io
import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import cv2
import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix import cli, metrics
from dualpix.camera.optics import Pupil
from dualpix.cli import signals
from dualpix.cli.main import COMMANDS
from dualpix.cli.progress import progress_bar
from dualpix.cli.say import in_options
from dualpix.io import encode_png, read_image, read_map, write_map
from dualpix.method import pipeline
from dualpix.params import load_config, preset, preset_names, resolve
from dualpix.run import Step, share_done

MATCH = ("disparity", "left.png", "right.png", "-o", "out.tiff", "--set", "window=2", "--range", "-4", "4")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with the views of a shot in left.png and right.png."""
    monkeypatch.chdir(tmp_path)
    for name, view in zip(("left.png", "right.png"), textured_pair((60, 80), 1.3), strict=True):
        cv2.imwrite(name, np.rint(view).astype(np.uint8))
    return tmp_path


def spawn(*args, **options):
    command = [sys.executable, "-m", "dualpix", *args]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def names(folder):
    return {path.name for path in folder.iterdir()} - {"left.png", "right.png"}


# ---- start-up ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [(), *[(name,) for name in COMMANDS]])
def test_help_has_an_example(call, command):
    code, out, err = call(*command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: dualpix")
    assert "Example:\n    dualpix " in out or "Examples:\n    dualpix " in out


def test_no_command_shows_the_help(call):
    assert call() == call("--help")


@pytest.mark.parametrize("command", [(), *[(name,) for name in COMMANDS]])
def test_help_fits_into_80_columns(call, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, call(*command, "--help")[1].splitlines())) <= 80


def test_help_lists_every_command_in_one_line_of_80_columns(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("--help")[1].partition("Commands:\n")[2].splitlines()
    assert {line.split()[0] for line in lines} == set(COMMANDS)
    assert not any("..." in line for line in lines)


def test_version(call):
    assert call("--version") == (0, f"dualpix {dualpix.__version__}\n", "")


@pytest.mark.parametrize(
    "statement",
    [
        "import dualpix",
        "import dualpix.cli; dualpix.cli.main(['--help'])",
        "import dualpix.cli; dualpix.cli.main(['disparity', '--help'])",
        "import dualpix.cli; dualpix.cli.main(['evaluate', '--help'])",
    ],
)
def test_start_up_imports_nothing_heavy(statement):
    heavy = "sorted({'numpy', 'cv2', 'rich', 'tifffile', 'dualpix._core'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {statement}; print({heavy})"], capture_output=True, check=True
    )
    assert done.stdout.splitlines()[-1] == b"[]"


# What a map of two PNG files can do without: other libraries, other formats, raw files, lenses, batches.
NOT_FOR_PNG = {
    *("cv2", "PIL", "tifffile", "rich", "numpy.ma"),
    *("base64", "concurrent.futures", "hashlib", "importlib.metadata", "shutil", "subprocess", "tempfile"),
    *("dualpix.io._exr", "dualpix.io._heif", "dualpix.io._jpeg", "dualpix.io._metadata", "dualpix.io._tiff"),
    *("dualpix.io.captures", "dualpix.io.one_file", "dualpix.io.photos", "dualpix.io.pictures", "dualpix.io.raw"),
    *("dualpix.camera.field", "dualpix.camera.lens_file", "dualpix.camera.ranging"),
    *("dualpix.batches.keys", "dualpix.batches.outcome", "dualpix.method.notebook"),
}


@pytest.mark.parametrize("name", ["auto", "dslr-a", "phone"])
def test_a_map_of_a_png_pair_imports_nothing_else(tmp_path, name):
    paths = [str(tmp_path / each) for each in ("left.png", "right.png", "out.tiff")]
    for path, view in zip(paths[:2], textured_pair((90, 120), 1.5), strict=True):
        Path(path).write_bytes(encode_png(np.clip(view, 0, 255).astype(np.uint8)))
    asked = ["disparity", *paths[:2], "-o", paths[2], "--preset", name]
    heavy = f"sorted({NOT_FOR_PNG} & set(sys.modules))"
    code = f"import sys, dualpix.cli; assert dualpix.cli.main({asked}) == 0; print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"


def test_every_public_name_is_there():
    assert all(getattr(dualpix, name) is not None for name in dualpix.__all__)
    assert set(dualpix.__all__) <= set(dir(dualpix))
    with pytest.raises(AttributeError, match="nothing"):
        dualpix.nothing  # noqa: B018


def test_no_submodule_takes_the_place_of_a_function():
    functions = set(dualpix.__all__) - {"baselines", "filters", "metrics", "render"}
    assert not functions & {module.name for module in pkgutil.iter_modules(dualpix.__path__)}


# ---- disparity -----------------------------------------------------------------------------------


def test_disparity_writes_the_map_of_the_python_interface(call, folder):
    code, out, err = call(*MATCH)
    assert (code, err) == (0, "")
    assert out.startswith("out.tiff: 80x60, ")
    assert names(folder) == {"out.tiff", "out.json"}
    result = dualpix.disparity("left.png", "right.png", window=2, range=(-4, 4))
    np.testing.assert_array_equal(read_map("out.tiff"), result.disparity)
    assert abs(np.median(result.disparity) - 1.3) < 0.1


SETTLED = ("first_penalty", "suspicion", "polish")  # by the noise of the pair


def test_sidecar_tells_how_the_map_came_about(call, folder):
    call(*MATCH, "--threads", "1", "--confidence", "c.npy")
    sidecar = json.loads((folder / "out.json").read_text())
    d = read_map("out.tiff")
    settled = {"iterations": (4,)} | {name: sidecar["parameters"][name] for name in SETTLED}
    assert sidecar["parameters"] == preset("auto").replace(window=2, range=(-4, 4), **settled).to_dict()
    assert 0.01 <= settled["first_penalty"] <= 1
    assert 0 <= settled["suspicion"] <= 1000
    assert 0.1 <= settled["polish"] <= 0.2
    assert sidecar["dualpix"] == dualpix.__version__
    assert "x_left - x_right" in sidecar["sign"]
    assert "pixels" in sidecar["unit"]
    assert sidecar["disparity"]["min"] == d.min()
    assert sidecar["disparity"]["max"] == d.max()
    assert sidecar["inputs"] == {"left": "left.png", "right": "right.png"}
    assert sidecar["outputs"] == {"disparity": "out.tiff", "sidecar": "out.json", "confidence": "c.npy"}
    assert sidecar["threads"] == 1
    assert sidecar["preset"] == "auto"
    assert set(sidecar["timings"]) >= {"read", "develop", "survey", "prepare", "matching", "aggregation"}


def test_json_is_the_sidecar_and_nothing_else(call, folder):
    code, out, err = call(*MATCH, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads((folder / "out.json").read_text())


@pytest.mark.parametrize("flags", [("--quiet",), ("--quiet", "--json")])
def test_quiet_says_nothing_but_what_was_asked_for(call, folder, flags):
    code, out, err = call(*MATCH, *flags)
    assert (code, err) == (0, "")
    assert bool(out) == ("--json" in flags)


@pytest.mark.parametrize("suffix", ["tif", "tiff", "pfm", "npy"])
def test_every_suffix_holds_the_same_map(call, folder, suffix):
    code, *_ = call("disparity", "left.png", "right.png", "-o", f"map.{suffix}", "--set", "window=2")
    assert code == 0
    np.testing.assert_array_equal(
        read_map(f"map.{suffix}"), dualpix.disparity("left.png", "right.png", window=2).disparity
    )


def test_confidence_and_preview(call, folder):
    code, out, _ = call(*MATCH, "--confidence", "c.tif", "--preview", "p.png")
    assert code == 0
    assert "c.tif, p.png" in out
    confidence, preview = read_map("c.tif"), read_image("p.png")
    assert confidence.shape == (60, 80)
    assert 0 <= confidence.min() < confidence.max() <= 1
    assert preview.shape[0] > 60
    assert preview.shape[2] == 3


def test_order_of_the_options_does_not_matter_but_their_rank(call, folder):
    (folder / "c.toml").write_text('preset = "dslr-b"\nwindow = 3\npenalty = 7\nedge_sigma = 5\nrange = [-1, 1]\n')
    setting = ("--set", "penalty=8", "--set", "penalty=9", "--set", "range=-2,2")
    base = ("disparity", "left.png", "right.png", "-o", "out.npy", "--json", "--config", "c.toml")

    parameters = json.loads(call(*base[:2], "--range", "-3", "3", *base[2:], *setting)[1])["parameters"]
    expected = preset("dslr-b").replace(window=3, penalty=9, edge_sigma=5, range=(-3, 3))
    assert parameters == expected.to_dict()

    record = json.loads(call(*base, *setting, "--preset", "dslr-a", "--force")[1])
    expected = preset("dslr-a").replace(window=3, penalty=9, edge_sigma=5, range=(-2, 2))
    assert (record["preset"], record["parameters"]) == ("dslr-a", expected.to_dict())


def test_help_tells_which_way_of_setting_wins(call):
    help_text = " ".join(call("disparity", "--help")[1].split())
    assert (
        "--range and --filter override --set, --set overrides --config, and --config overrides the preset. "
        in help_text
    )
    assert "--preset overrides the preset that the config names. The order of the options does not matter." in help_text


def test_axis_y_matches_along_y_and_keeps_the_orientation(call, folder):
    for name in ("left.png", "right.png"):
        cv2.imwrite(f"turned-{name}", cv2.imread(name, 0).T)
    call(*MATCH)
    code, *_ = call("disparity", "turned-left.png", "turned-right.png", "-o", "y.tiff", *MATCH[5:], "--axis", "y")
    assert code == 0
    np.testing.assert_allclose(read_map("y.tiff"), read_map("out.tiff").T, atol=1e-4)  # low-passes round differently
    assert "y_left - y_right" in json.loads((folder / "y.json").read_text())["sign"]


def turn_views():
    for name in ("left.png", "right.png"):
        cv2.imwrite(f"turned-{name}", cv2.imread(name, 0).T)


def test_the_axis_is_found_out_and_told(call, folder):
    turn_views()
    code, out, err = call("disparity", "turned-left.png", "turned-right.png", "-o", "y.tiff", *MATCH[5:])
    record = json.loads((folder / "y.json").read_text())
    assert (code, err, record["axis"], record["axis_evidence"]["found"]) == (0, "", "y", "y")
    assert "along y" in out


def test_a_wrong_axis_is_obeyed_with_a_warning(call, folder):
    turn_views()
    code, _, err = call("disparity", "turned-left.png", "turned-right.png", "-o", "x.tiff", *MATCH[5:], "--axis", "x")
    record = json.loads((folder / "x.json").read_text())
    assert (code, record["axis"]) == (0, "x")
    assert err.startswith("warning: axis is x, but the views differ along y: a shift along y explains ")
    assert record["warnings"] == [err.removeprefix("warning: ").strip()]


def test_views_without_a_shift_are_reported(call, folder):
    almost = cv2.imread("left.png", cv2.IMREAD_UNCHANGED)
    almost[0, 0] ^= 1
    cv2.imwrite("almost.png", almost)
    code, _, err = call("disparity", "left.png", "almost.png", "-o", "none.tiff", *MATCH[5:])
    assert code == 0
    assert err.startswith("warning: no reliable shift along x or y")
    assert err.count("\n") == 1


@pytest.mark.parametrize("smoothing", ["guided", "solver"])
def test_filter_is_that_of_the_python_interface(call, folder, smoothing):
    code, *_ = call(*MATCH, "--filter", smoothing)
    assert code == 0
    assert json.loads((folder / "out.json").read_text())["parameters"]["filter"] == smoothing
    plain = dualpix.disparity("left.png", "right.png", window=2, range=(-4, 4))
    smooth = dualpix.disparity("left.png", "right.png", window=2, range=(-4, 4), filter=smoothing)
    np.testing.assert_array_equal(read_map("out.tiff"), smooth.disparity)
    assert np.isfinite(smooth.disparity).all()
    assert not np.array_equal(smooth.disparity, plain.disparity)


def test_calibration_of_white_sheets_is_applied(call, folder):
    views = [cv2.imread(name, 0).astype(float) for name in ("left.png", "right.png")]
    x = np.linspace(0, 1, 80)
    for side, view, white in zip("lr", views, (1 - 0.5 * x, 0.5 + 0.5 * x), strict=True):
        cv2.imwrite(f"sheet_{side}.png", np.rint(40000 * white * np.ones((60, 1))).astype(np.uint16))
        cv2.imwrite(f"{side}.png", np.rint(200 * view * white).astype(np.uint16))
    code, out, err = call("calibrate", "-o", "lens.json", "--white", "sheet_l.png", "sheet_r.png", "--camera", "mine")
    assert (code, err) == (0, "")
    assert out.startswith("lens.json: ")
    dark = ("disparity", "l.png", "r.png", "-o", "dark.tiff", *MATCH[5:], "--preset", "dslr-a")
    code, _, err = call(*dark, "--calibration", "lens.json", "--camera", "mine")
    assert (code, err) == (0, "")
    even = dualpix.disparity("left.png", "right.png", "dslr-a", window=2, range=(-4, 4)).disparity
    uneven = dualpix.disparity("l.png", "r.png", "dslr-a", window=2, range=(-4, 4)).disparity
    assert np.median(np.abs(read_map("dark.tiff") - even)) < 0.02
    assert np.median(np.abs(uneven - even)) > 0.1


def test_guide_steers_the_smoothing(call, folder):
    cv2.imwrite("guide.png", np.random.default_rng(0).integers(0, 256, (60, 80), np.uint8))
    call(*MATCH)
    code, out, _ = call(*MATCH[:4], "guided.npy", *MATCH[5:], "--guide", "guide.png", "--json")
    assert code == 0
    assert json.loads(out)["inputs"]["guide"] == "guide.png"
    assert (read_map("guided.npy") != read_map("out.tiff")).any()


def test_force_replaces_and_leaves_nothing_behind(call, folder):
    (folder / "out.tiff").write_text("old")
    (folder / "out.json").write_text("old")
    assert call(*MATCH, "--force")[0] == 0
    assert read_map("out.tiff").shape == (60, 80)
    assert names(folder) == {"out.tiff", "out.json"}


def test_constant_image_gives_a_finite_map_and_no_confidence(call, folder):
    cv2.imwrite("flat.png", np.full((60, 80), 90, np.uint8))
    code, _, err = call("disparity", "flat.png", "flat.png", "-o", "out.npy", "--confidence", "c.npy")
    assert (code, err) == (0, "warning: a view is blank, the same everywhere: the map is 0 and means nothing\n")
    assert np.isfinite(read_map("out.npy")).all()
    assert (read_map("c.npy") == 0).all()


def test_failing_at_the_last_step_changes_nothing(call, folder, monkeypatch):
    def fail(_):
        raise RuntimeError("no paint")

    monkeypatch.setattr("dualpix.method.saving.encode_preview", fail)
    (folder / "out.tiff").write_text("old")
    code, out, err = call(*MATCH, "--force", "--preview", "p.png")
    assert (code, out) == (1, "")
    assert err.startswith("error: internal: RuntimeError: no paint")
    assert names(folder) == {"out.tiff"}
    assert (folder / "out.tiff").read_text() == "old"


@pytest.mark.parametrize(
    ("work", "args"),
    [
        ("cli.batch._run", ("batch", "*.png", "-o", "maps", "--layout", "side-by-side")),
        ("mosaic.api.make", ("tiles", "left.png", "right.png", "-o", "a.tiff")),
        ("clips.api.make_clip", ("video", "lefts", "rights", "-o", "a")),
    ],
)
def test_an_interrupted_command_that_can_go_on_says_so(call, folder, monkeypatch, work, args):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    for side in ("left", "right"):
        (folder / f"{side}s").mkdir()
        (folder / f"{side}s" / "0001.png").write_bytes((folder / f"{side}.png").read_bytes())
    module, _, name = work.rpartition(".")
    monkeypatch.setattr(import_module(f"dualpix.{module}"), name, interrupt)
    monkeypatch.setattr(signals, "_told", [])
    assert call(*args) == (130, "", "error: interrupted: start it again to go on\n")
    monkeypatch.setattr(pipeline, "disparity", interrupt)
    monkeypatch.setattr(signals, "_told", [])
    assert call(*MATCH)[::2] == (130, "error: interrupted\n")


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (MemoryError(), 1, "error: not enough memory"),
        (ValueError("two\nlines"), 1, "error: internal: ValueError: two lines"),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (OSError(28, "No space left", "/tmp/x"), 1, "error: internal: OSError"),
        (BrokenPipeError(), 1, ""),
    ],
)
def test_unexpected_errors_are_one_line_at_most(call, folder, monkeypatch, error, code, says):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(pipeline, "disparity", fail)
    found, out, err = call(*MATCH)
    assert (found, out) == (code, "")
    assert err.startswith(says)
    assert len(err.splitlines()) == bool(says)
    assert names(folder) == set()


def test_debug_shows_the_traceback(call, folder, monkeypatch):
    monkeypatch.setattr(pipeline, "disparity", lambda *_, **__: 1 / 0)
    monkeypatch.setenv("DUALPIX_DEBUG", "1")
    code, _, err = call(*MATCH)
    assert code == 1
    assert err.startswith("Traceback")
    assert err.splitlines()[-1].startswith("error: internal: ZeroDivisionError")


# ---- evaluate ------------------------------------------------------------------------------------


@pytest.fixture
def maps(tmp_path, monkeypatch):
    """A signed truth in gt.pfm and a noisy estimate in est.npy."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.uniform(-3, 3, (40, 50)).astype(np.float32)
    truth[0, 0] = np.nan
    estimate = truth + rng.normal(0, 0.5, truth.shape).astype(np.float32)
    write_map("gt.pfm", truth)
    write_map("est.npy", estimate)
    return estimate, truth


def test_the_usage_of_evaluate_says_that_gt_may_be_left_out(call):
    assert "EST [GT]\n" in call("evaluate", "--help")[1]


def test_evaluate_a_perfect_map(call, maps):
    code, out, err = call("evaluate", "gt.pfm", "gt.pfm", "--json")
    scores = json.loads(out)
    assert (code, err, scores["protocol"]) == (0, "", "proper")
    assert scores["ai1"] == pytest.approx(0, abs=1e-6)
    assert (scores["bad_0_5"], scores["rmse"]) == (0, 0)


def test_evaluate_gives_the_scores_of_the_metrics(call, maps):
    estimate, truth = maps
    scores = json.loads(call("evaluate", "est.npy", "gt.pfm", "--crop", "3", "--json")[1])
    expected = metrics.affine_invariant(estimate, truth, crop=3)
    assert {key: scores[key] for key in vars(expected)} == vars(expected)
    error = np.abs(estimate - truth)[3:-3, 3:-3]
    assert scores["bad_1"] == pytest.approx(100 * (error >= 1).mean())
    assert scores["rmse"] == pytest.approx(np.sqrt((error**2).mean()), rel=1e-5)


def test_evaluate_scores_only_where_the_mask_is_white(call, maps):
    estimate, truth = maps
    estimate[:20] = 50
    write_map("est.npy", estimate)
    mask = np.full(truth.shape, 255, np.uint8)
    mask[:20] = 128
    cv2.imwrite("mask.png", mask)
    scores = json.loads(call("evaluate", "est.npy", "gt.pfm", "--mask", "mask.png", "--json")[1])
    assert scores["rmse"] == pytest.approx(np.sqrt(((estimate - truth)[20:] ** 2).mean()), rel=1e-5)
    assert scores["ai2"] == pytest.approx(metrics.affine_invariant(estimate[20:], truth[20:]).ai2)


def test_evaluate_weighs_by_confidence(call, maps):
    estimate, truth = maps
    weight = np.linspace(0, 1, truth.size, dtype=np.float32).reshape(truth.shape)
    write_map("w.tif", weight)
    scores = json.loads(call("evaluate", "est.npy", "gt.pfm", "--confidence", "w.tif", "--json")[1])
    assert scores["ai1"] == metrics.affine_invariant(estimate, truth, confidence=weight).ai1


def test_evaluate_paper_stereo(call, maps):
    estimate, truth = maps
    truth = np.abs(truth)
    write_map("gt.pfm", truth)
    scores = json.loads(call("evaluate", "est.npy", "gt.pfm", "--protocol", "paper-stereo", "--json")[1])
    expected = vars(metrics.bad_pixels(estimate, truth, protocol="paper-stereo"))
    assert {key: scores[key] for key in expected} == expected
    assert "ai1" not in scores


@pytest.mark.parametrize("protocol", ["proper", "paper-google"])
def test_evaluate_against_relative_depth_has_no_pixel_errors(call, maps, protocol):
    estimate, truth = maps
    levels = np.nan_to_num((truth + 3) / 6 * 255).astype(np.uint8)
    cv2.imwrite("levels.png", levels)
    scores = json.loads(call("evaluate", "est.npy", "levels.png", "--protocol", protocol, "--json")[1])
    assert scores["geometric_mean"] == pytest.approx(
        metrics.affine_invariant(estimate, levels, protocol).geometric_mean
    )
    assert "rmse" not in scores


def test_evaluate_for_people_names_the_protocol(call, maps):
    code, out, _ = call("evaluate", "est.npy", "gt.pfm")
    assert code == 0
    assert out.startswith("protocol proper, 100.0 %")
    assert "geometric mean" in out
    assert "RMSE" in out


# ---- simulate ------------------------------------------------------------------------------------


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    image = rng.integers(0, 256, (30, 40, 3), np.uint8)
    cv2.imwrite("photo.png", image[..., ::-1])
    write_map("depth.tiff", np.linspace(-2, 2, 1200, dtype=np.float32).reshape(30, 40))
    return image, read_map("depth.tiff")


def test_simulate_writes_what_the_python_interface_renders(call, scene):
    code, out, err = call("simulate", "photo.png", "depth.tiff", "-o", "pair", "--noise", "0.1", "--seed", "4")
    assert (code, err) == (0, "")
    assert out.startswith("pair: left.png")
    left, right, truth = dualpix.simulate(*scene, noise=0.1, seed=4)
    np.testing.assert_array_equal(read_image("pair/left.png"), left)
    np.testing.assert_array_equal(read_image("pair/right.png"), right)
    np.testing.assert_array_equal(read_map("pair/disparity.tiff"), truth)
    with open("pair/disparity.json") as file:
        how = json.load(file)["simulation"]
    assert how == {"noise": 0.1, "shot_noise": 0, "vignetting": 0, "seed": 4, "optics": {"kind": "half-disc"}}
    assert len(os.listdir("pair")) == 4


def test_simulate_with_other_optics(call, scene):
    optics = "pupil:split=0.5,cat-eye=0.2"
    assert call("simulate", "photo.png", "depth.tiff", "-o", "pair", "--optics", optics)[0] == 0
    left, *_ = dualpix.simulate(*scene, optics=Pupil(split=0.5, cat_eye=0.2))
    np.testing.assert_array_equal(read_image("pair/left.png"), left)
    with open("pair/disparity.json") as file:
        assert json.load(file)["simulation"]["optics"] == {"kind": "pupil", "split": 0.5, "overlap": 0, "cat_eye": 0.2}


def test_simulate_float_image_becomes_16_bit(call, scene):
    write_map("photo.tiff", scene[0][..., 0] / np.float32(255))
    call("simulate", "photo.tiff", "depth.tiff", "-o", "pair")
    left, *_ = dualpix.simulate(scene[0][..., 0] / np.float32(255), scene[1])
    np.testing.assert_array_equal(read_image("pair/left.png"), np.rint(left * 65535).astype(np.uint16))


def test_simulate_into_a_folder_that_exists(call, scene):
    os.mkdir("pair")
    assert call("simulate", "photo.png", "depth.tiff", "-o", "pair")[0] == 0
    assert call("simulate", "photo.png", "depth.tiff", "-o", "pair", "--force")[0] == 0
    assert len(os.listdir("pair")) == 4


# ---- presets, info, demo -------------------------------------------------------------------------


def test_presets_are_listed(call):
    code, out, err = call("presets")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(preset_names())
    assert json.loads(call("presets", "--json")[1])["dslr-b"]["parameters"] == preset("dslr-b").to_dict()


@pytest.mark.parametrize("name", preset_names())
def test_preset_prints_as_a_config_file(call, tmp_path, name):
    (tmp_path / "mine.toml").write_text(call("presets", name)[1])
    settings = load_config(tmp_path / "mine.toml")
    assert settings.pop("preset") == name
    assert settings.keys() == preset(name).to_dict().keys()
    assert all(resolve(other, settings) == preset(name) for other in preset_names())
    record = json.loads(call("presets", "dslr-b", "--json")[1])
    assert (record["name"], record["parameters"]) == ("dslr-b", preset("dslr-b").to_dict())


@pytest.mark.parametrize("name", [(), ("stereo",)])
def test_every_parameter_is_explained(call, name):
    code, out, err = call("presets", "--explain", *name)
    assert (code, err) == (0, "")
    words = set(re.findall(r"\w+", out))
    assert preset("auto").to_dict().keys() <= words


def test_info_describes_images_and_maps(call, folder):
    call(*MATCH)
    write_map("gap.pfm", [[1, np.nan, -2]])
    write_map("void.npy", [[np.nan]])
    code, out, err = call("info", "left.png", "out.tiff", "gap.pfm", "void.npy")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "left.png: PNG 80x60 grey uint8"
    assert lines[1].endswith(f"; by dualpix {dualpix.__version__}, see out.json")
    assert lines[2:] == [
        "gap.pfm: PFM 3x1 grey float32, -2 to 1 (1 NaN)",
        "void.npy: NPY 1x1 grey float32, all NaN",
    ]


def test_a_printed_config_leaves_nothing_of_another_preset(call, folder):
    """Not even parameters that have no effect in it; those that are changed must have one."""
    printed = call("presets", "dslr-a")[1]
    (folder / "mine.toml").write_text(printed)
    config = ("--config", "mine.toml", "--preset", "auto")
    code, out, err = call(*MATCH, *config, "--json")
    assert (code, err) == (0, "")
    expected = preset("dslr-a").replace(window=2.0, range=(-4, 4)).to_dict()
    assert json.loads(out)["parameters"] == expected
    code, _, err = call(*MATCH, *config, "--set", "guided_window=9", "--force")
    assert code == 2
    assert "guided_window has no effect with filter=none" in err
    (folder / "mine.toml").write_text(printed.replace("robust_tau = 0.0", "robust_tau = 0.1"))
    code, _, err = call(*MATCH, *config, "--force")
    assert code == 2
    assert "robust_tau has no effect with messages=paper" in err


def test_preset_of_a_printed_config_is_recorded(call, folder):
    (folder / "mine.toml").write_text(call("presets", "dslr-b")[1])
    shot = ("disparity", "left.png", "right.png", "-o", "out.npy", "--json", "--config", "mine.toml")
    record = json.loads(call(*shot, "--range", "-4", "4")[1])
    assert record["preset"] == "dslr-b"
    assert record["parameters"] == preset("dslr-b").replace(range=(-4, 4)).to_dict()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("dispariti",), "No such command 'dispariti': did you mean disparity? See dualpix --help.\n"),
        (("xyz",), "No such command 'xyz'. See dualpix --help.\n"),
        (("info", "--jsn"), "--json"),  # the words are Click's
    ],
)
def test_a_misspelt_name_is_answered_with_the_nearest(call, args, says):
    code, _, err = call(*args)
    assert code == 2
    assert says in err
    assert ")." not in err


def test_info_describes_the_good_files_before_it_fails(call, folder):
    code, out, err = call("info", "missing.png", "left.png", "right.png")
    assert (code, err) == (2, "error: missing.png: no such file: check the path\n")
    assert [line.split(":")[0] for line in out.splitlines()] == ["left.png", "right.png"]


def test_info_json(call, folder):
    call(*MATCH)
    write_map("void.npy", [[np.nan]])
    image, result, void = json.loads(call("info", "left.png", "out.tiff", "void.npy", "--json")[1])["files"]
    assert (image["width"], image["height"], image["channels"], image["dtype"]) == (80, 60, 1, "uint8")
    assert "values" not in image
    assert result["sidecar"] == json.loads((folder / "out.json").read_text())
    assert result["values"] == result["sidecar"]["disparity"]
    assert void["values"] == {"min": None, "max": None, "nan": 1}


@pytest.mark.parametrize("text", ["not json", "[]", '{"map": "other.tiff"}', "\ud800"])
def test_info_ignores_a_stranger_in_the_sidecars_place(call, folder, text):
    (folder / "left.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    code, out, _ = call("info", "left.png", "--json")
    assert code == 0
    assert "sidecar" not in json.loads(out)["files"][0]


def test_demo_prints_scores_and_files(call, monkeypatch):
    class Demo:
        """In the place of the real one, which takes its time and has its own tests."""

        @staticmethod
        def run(folder, *, progress, force):
            assert (str(folder), progress, force) == ("demo-out", None, True)
            return {
                "scene": "a test",
                "scores": {"median_error": 0.0625, "protocol": "proper"},
                "files": ["demo-out/a.png"],
            }

    monkeypatch.setitem(sys.modules, "dualpix.evaluation.demo", Demo)
    code, out, err = call("demo", "--force")
    assert (code, err) == (0, "")
    assert out == "scene: a test\nmedian_error: 0.0625\nprotocol: proper\nwrote demo-out/a.png\n"
    assert json.loads(call("demo", "--force", "--json")[1]) == Demo.run("demo-out", progress=None, force=True)


# ---- real processes ------------------------------------------------------------------------------


def test_process_reports_an_error_in_one_line(folder):
    done = spawn("disparity", "left.png", "missing.png", "-o", "out.tiff")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: missing.png")
    assert done.stderr.count(b"\n") == 1


def test_process_survives_a_reader_that_leaves():
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "dualpix", "presets", "dslr-a"]
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_process_fails_if_stdout_is_full():
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "dualpix", "presets"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: results cannot be written to stdout (No space left on device): ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_process_copes_with_any_file_name(folder):
    name = b"a\xff\nb.png"
    os.rename("left.png", name)
    done = spawn("info", name, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, b"")
    done = spawn("info", name + b"missing")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("quiet", [False, True])
def test_process_shows_stage_and_scale_on_a_terminal(folder, quiet):
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "dualpix", *MATCH, *["--quiet"] * quiet]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, env=environment, timeout=60, check=False)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert done.returncode == 0
    assert (b"scale 1 of 1" in shown) is not quiet
    assert bool(done.stdout) is not quiet


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_exits_with_130_and_leaves_nothing_behind(folder):
    """The signal arrives after the map has been written to its temporary file, before it is put in place."""
    code = """
import signal, sys, time
import dualpix.io
from dualpix.cli import run

def wait(_):
    print("waiting", flush=True)
    time.sleep(60)

signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest may run where it is ignored
dualpix.io.encode_preview = wait
run()
"""
    command = [sys.executable, "-c", code, *MATCH, "--preview", "p.png"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as child:
        try:
            assert child.stdout.readline() == b"waiting\n"
            assert any(name.endswith(".part") for name in names(folder))
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=30)
        finally:
            child.kill()
    assert (child.returncode, out, err) == (130, b"", b"error: interrupted\n")
    assert names(folder) == set()


# ---- progress ------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A stderr that is a terminal, of which nothing is lost."""

    def isatty(self):
        return True


def test_the_bar_shows_the_step_and_its_share(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    shown = []
    with progress_bar(True) as progress:
        for step in (Step("matching", 0.25, 1, 2, "scale", "left"), Step("[b]scene[/b]", 0.75, 2, 3)):
            before = len(terminal.getvalue())
            progress(step)
            shown.append(re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue()[before:]))
    assert "matching, left view, scale 1 of 2" in shown[0]
    assert "[b]scene[/b], step 2 of 3" in shown[1]


def test_there_is_no_bar_without_a_terminal_or_a_wish(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress_bar(False) as progress:
        assert progress is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar(True) as progress:
        assert progress is None


def test_progress_never_goes_back():
    stages = [("read", 0, "")]
    stages += [
        (stage, scale, view)
        for view in ("left", "right")
        for scale in (1, 2, 3)
        for stage in ("matching", "aggregation")
    ]
    shares = [share_done(stage, scale, 3, view) for stage, scale, view in [*stages, ("filter", 0, "")]]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert len(set(shares)) == 2 * 3 * 2 + 1


@pytest.mark.parametrize("smoothing", ["guided", "solver"])
def test_a_filter_that_overshoots_the_range_does_not_spoil_a_kitti_png(folder, smoothing):
    """The views differ in one pixel, so the map is 0 and a filter leaves it a little below in places."""
    rng = np.random.default_rng(0)
    view = rng.integers(0, 256, (60, 80, 3), np.uint8)
    cv2.imwrite("same.png", view)
    view[0, 0] ^= 1
    cv2.imwrite("almost.png", view)
    command = ["disparity", "same.png", "almost.png", "-o", "k.png", "--range", "0", "4", "--filter", smoothing]
    assert cli.main([*command, "--set", "window=2", "--quiet"]) == 0
    assert np.nanmin(read_map("k.png")) >= 0
    assert 0 <= json.loads((folder / "k.json").read_text())["disparity"]["min"] < 1e-6


@pytest.mark.parametrize(
    ("python", "command"),
    [
        ("a: exists already: or force=True to replace it", "a: exists already: or --force to replace it"),
        ("left= does not go with scenes=, which", "--left does not go with --scenes, which"),
        ("name it by truth_kind= or a column truth_kind", "name it by --truth-kind or a column truth_kind"),
        ("mask=x/*.png: matches no file", "--mask x/*.png: matches no file"),
        ("give another folder as cache=", "give another folder as --cache"),
        (
            "exchanged in the map, give first=right, else first=left",
            "exchanged in the map, give --first right, else --first left",
        ),
        ("that mem_limit= allows: or another mem_limit=", "that --mem-limit allows: or another --mem-limit"),
        ("give scene_kind=depth and scene_area=centre", "give --scene-kind depth and --scene-area centre"),
        ("jobs= is for this machine", "--jobs is for this machine"),
        ("near= is for grey levels: give png=grey too", "--near is for grey levels: give --png grey too"),
        ("a .jpg: give it as photo= too, fov= is", "a .jpg: give it as --photo too, --fov is"),
        ("leave out linear=True", "leave out --linear"),
        ("give layout=side-by-side or top-bottom", "give --layout side-by-side or top-bottom"),
        ("/home/left=1/force=True.png: no such file", "/home/left=1/force=True.png: no such file"),
    ],
)
def test_errors_of_the_command_name_options(python, command):
    assert in_options(python) == command
