"""The scripts and styles of the pages: what they must not hold, and what their functions compute, in a real browser."""

import re
from pathlib import Path

import numpy as np
import pytest

import dualpix
from dualpix.app import friend, sides
from dualpix.filters import fill_holes
from dualpix.io.previews import _turbo
from dualpix.render.refocusing import focus_of

WEB = Path(dualpix.__file__).parent / "render/web"
SCRIPTS = sorted(WEB.glob("*.js"))
PAGE = (WEB / "app.html").read_text(encoding="utf-8")
PURE = ("colours", "maps", "units", "view", "pairing")  # need nothing else
LONGEST_LINE, LONGEST_FILE = 120, 450


def name_of(path):
    return path.name


def test_every_script_belongs_to_a_page():
    named = set(re.findall(r'src="web/([^"]+)"', PAGE))
    assert named <= {path.name for path in SCRIPTS}
    others = {"line.js", "wipe.js", "report.js", *(f"{name}.js" for name in friend.SCRIPTS)}
    assert {path.name for path in SCRIPTS} == named | others


def test_the_page_keeps_its_own_policy():
    """The server allows no script and no style inside the page."""
    assert not re.search(r"\s(on\w+|style)=", PAGE)
    assert not re.search(r"<script(?! src=)|<style", PAGE)


@pytest.mark.parametrize("path", [*SCRIPTS, *sorted(WEB.glob("*.css"))], ids=name_of)
def test_assets_are_short_and_ask_nothing_of_the_network(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= LONGEST_FILE
    assert max(map(len, lines)) <= LONGEST_LINE
    assert not re.search(r"https?:|//\w+\.\w+/|@import", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)


@pytest.fixture(scope="module")
def run(browser):
    """Evaluate a function of JavaScript, with the scripts in `PURE`, on one argument."""
    page = browser.new_page()
    for name in PURE:
        page.add_script_tag(content=(WEB / f"{name}.js").read_text(encoding="utf-8"))
    return page.evaluate


def as_map(values):
    """The argument of a function that gets a map; None stands for NaN."""
    height, width = values.shape
    flat = [None if np.isnan(value) else float(value) for value in values.ravel()]
    return {"width": width, "height": height, "values": flat}


MAP = "given => {const map = {...given, values: Float32Array.from(given.values, v => v === null ? NaN : v)}; return %s}"


def test_turbo_is_that_of_the_previews(run):
    colours = np.array(run("() => [...Colours.ramp('turbo')]")).reshape(256, 4)
    np.testing.assert_array_equal(colours[:, :3], _turbo())
    assert (colours[:, 3] == 255).all()


@pytest.mark.parametrize(("x", "y"), [(0, 0), (3, 5), (20, 14), (10, 0)])
def test_the_focus_is_that_of_the_command(run, x, y):
    d = np.random.default_rng(1).normal(size=(15, 21)).astype(np.float32)
    found = run(MAP % f"Maps.around(map, {x}, {y})", as_map(d))
    assert found == pytest.approx(focus_of(d, (x, y)), abs=1e-6)


def test_colours_have_the_range_of_the_previews(run):
    d = np.random.default_rng(2).normal(size=(40, 50)).astype(np.float32)
    low, high = run(MAP % "Maps.range(map)", as_map(d))
    assert [low, high] == pytest.approx(np.percentile(d, (1, 99), method="nearest").tolist(), abs=1e-6)
    flat = run(MAP % "Maps.range(map)", as_map(np.full((3, 4), 2, np.float32)))
    assert flat == [1.5, 2.5]


def test_holes_are_filled_and_the_rest_stays(run):
    d = np.add.outer(np.zeros(9), np.arange(13)).astype(np.float32)
    d[2:5, 3:9] = np.nan
    found = np.array(run(MAP % "[...Maps.filled(map).values]", as_map(d)), np.float32).reshape(d.shape)
    known = ~np.isnan(d)
    np.testing.assert_array_equal(found[known], d[known])
    assert np.abs(found - fill_holes(d))[~known].max() < 6  # no more than the width of the hole
    empty = run(MAP % "[...Maps.filled(map).values]", as_map(np.full((2, 3), np.nan, np.float32)))
    assert len(empty) == 6


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (7, 1), (5, 4)])
def test_halving_takes_means_of_valid_values(run, size):
    d = np.random.default_rng(3).normal(size=size).astype(np.float32)
    height, width = size
    rows, columns = max(1, height // 2), max(1, width // 2)
    down, right = (2 if height > 1 else 1), (2 if width > 1 else 1)
    wanted = d[: rows * down, : columns * right].reshape(rows, down, columns, right).mean(axis=(1, 3))
    found = run(MAP % "(half => [half.width, half.height, ...half.values])(Maps.halved(map))", as_map(d))
    assert found[:2] == [columns, rows]
    assert found[2:] == pytest.approx(wanted.ravel().tolist(), abs=1e-6)


METRIC = "{inverse_focus: 0.5, inverse_scale: 0.25}"


@pytest.mark.parametrize(
    ("unit", "d", "text"),
    [
        ("px", -1.234, "\N{MINUS SIGN}1.23 px"),
        ("m", 2, "1.00 m"),
        ("m", -2, "∞ m"),
        ("m", -1.98, "200 m"),
        ("dpt", 2, "1.00 dpt"),
    ],
)
def test_units(run, unit, d, text):
    assert run(f"() => Units.text('{unit}', {METRIC}, {d})") == text


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["b.png", "a.png"], [["a.png", "b.png"]]),
        (["right.png", "left.png"], [["left.png", "right.png"]]),
        (["1_R.tif", "1_L.tif", "2_L.tif", "2_R.tif"], [["1_L.tif", "1_R.tif"], ["2_L.tif", "2_R.tif"]]),
        (["im1.png", "im0.png", "guide.png"], [["im0.png", "im1.png", "guide.png"]]),
        (["a.cr2", "b.cr2", "c.cr2"], [["a.cr2"], ["b.cr2"], ["c.cr2"]]),
        (["a_left.png", "c.dng", "a_right.png"], [["a_left.png", "a_right.png"], ["c.dng"]]),
        (["small.png"], [["small.png"]]),
    ],
)
def test_dropped_files_are_paired_as_on_the_command_line(run, names, wanted):
    found = run(
        "names => Pairing.shots(names.map(name => ({name}))).map(shot => shot.map(([, file]) => file.name))", names
    )
    assert found == wanted
    for pair in (each[:2] for each in wanted if len(each) > 1):
        assert sides.in_order(pair)


def test_zooming_keeps_the_point_under_the_pointer(run):
    script = """() => {
      const view = View();
      view.resize(800, 600);
      view.photo(4000, 3000);
      const fitted = view.scale, before = view.toPhoto(300, 200);
      view.zoom(6, 300, 200);
      const after = view.toPhoto(300, 200);
      view.zoom(1e9, 300, 200);
      const most = view.scale;
      view.fit();
      return {fitted, before, after, most, again: view.scale, seen: view.seen()};
    }"""
    found = run(script)
    assert found["fitted"] == found["again"] == pytest.approx(0.2)
    assert found["after"] == pytest.approx(found["before"])
    assert found["most"] == 64
    assert found["seen"] == {"x": 0, "y": 0, "width": 4000, "height": 3000}
