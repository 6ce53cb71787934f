"""The benchmark: what it measures with, what its record holds, and what it refuses. No time is ever asserted."""

import json
import xml.etree.ElementTree as ET
from functools import partial

import cv2
import numpy as np
import pytest

from conftest import not_under
from dualpix import ParameterError, _core, cli
from dualpix.cli.bench import SECTIONS
from dualpix.evaluation import bench
from dualpix.evaluation.bench import (
    _against,
    _comparison,
    _figure,
    _kernels,
    _measure,
    _methods,
    _pairs,
    _roofline,
    _scaling,
    _summary,
)
from dualpix.evaluation.bench._measure import Case, best_times, opencv_threads, peak
from dualpix.io.sidecar import to_json

TINY = 0.02  # megapixels


def silent(text):
    pass


@pytest.fixture(scope="module")
def record():
    """Everything, on tiny pairs; the memory of three methods only, whose processes take a while to start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_kernels, "MULTIPLY_ADDS", 1e7)
        patch.setattr(_scaling, "COUNTS", (16, 32))
        patch.setattr(_scaling, "GROWTH", (16, 32))
        few = {"auto", "SGBM HH", ("stereo", 16), ("stereo", 32)}
        real = _measure.peaks
        for module in (_comparison, _scaling):
            patch.setattr(module, "peaks", lambda cases, tell: real({k: cases[k] for k in few & set(cases)}, tell))
        patch.setattr(_scaling, "SERIES", {"stereo": _scaling.SERIES["stereo"]})
        return json.loads(to_json(bench.bench(size=TINY, threads=2, repeat=1)))


@pytest.fixture
def call(capfd, monkeypatch):
    monkeypatch.setattr(_kernels, "MULTIPLY_ADDS", 1e7)

    def run(*args):
        code = cli.main(["bench", *map(str, args)])
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def views(tmp_path, monkeypatch):
    """left.png and right.png, colour, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, view in zip(("left.png", "right.png"), _pairs.dual_pixel_pair(TINY), strict=True):
        cv2.imwrite(name, np.dstack([view, view, view // 2]))
    return tmp_path


# ---- the machine's limits --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (3, 7), (64, 33)])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_copy_is_one(shape, threads):
    source = np.random.default_rng(0).random(shape, np.float32)
    target = np.full(shape, np.nan, np.float32)
    _core.copy(source, target, threads)
    np.testing.assert_array_equal(target, source)


def test_a_copy_needs_a_map_of_the_same_shape():
    source = np.zeros((2, 3), np.float32)
    with pytest.raises(ValueError, match="shape"):
        _core.copy(source, np.zeros((3, 2), np.float32), 1)


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("threads", [1, 3])
def test_multiply_adds_are_computed(lanes, threads):
    # 12 chains of x = x / 2 + 1 that start at 0 .. 11: one step, and where they end
    assert _core.multiply_adds(0, lanes, 1) == sum(i / 2 + 1 for i in range(12))
    assert _core.multiply_adds(1e6, lanes, threads) == 24 * threads


@pytest.mark.parametrize(
    ("count", "lanes", "threads"), [(-1, 8, 1), (np.nan, 8, 1), (1, 5, 1), (1, 8, 0), (1, 8, 2**31 - 1)]
)
def test_multiply_adds_refuse_nonsense(count, lanes, threads):
    with pytest.raises(ValueError, match="must be"):
        _core.multiply_adds(count, lanes, threads)


# ---- times, fits, pairs ----------------------------------------------------------------------------------


def test_cases_run_in_turn_on_their_threads_and_the_best_counts():
    seen = []

    def run(left, right, threads, name):
        seen.append((name, threads, cv2.getNumThreads(), len(left)))
        return {"stage": len(seen)}

    views = np.zeros((200, 2)), np.zeros((200, 2))
    before = cv2.getNumThreads()
    best = best_times({n: Case(partial(run, name=n), views, t) for n, t in (("a", 1), ("b", 2))}, 9, silent)
    warm_up = [("a", 1, 1, 64), ("b", 2, 2, 64)]
    rounds = [[name for name, *_ in seen[2 + 2 * i : 4 + 2 * i]] for i in range(9)]
    assert seen[:2] == warm_up
    assert set(seen[2:]) == {("a", 1, 1, 200), ("b", 2, 2, 200)}
    assert len(seen) == 2 + 2 * 9
    assert all(sorted(names) == ["a", "b"] for names in rounds)
    assert {names[0] for names in rounds} == {"a", "b"}  # every round has an order of its own
    assert cv2.getNumThreads() == before
    assert best["a"].stages["stage"] > 2
    assert best["b"].seconds > 0


def test_the_better_of_two_runs_is_kept(monkeypatch):
    clock = iter([0.0, 5.0, 10.0, 12.0, 20.0, 23.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    stages = iter([None, {"run": 1}, {"run": 2}, {"run": 3}])
    best = best_times({"a": Case(lambda *_: next(stages), ("", ""), 1)}, 3, silent)
    assert best["a"] == (2.0, {"run": 2}, (5.0, 2.0, 3.0))


def test_opencv_gets_its_threads_back_after_a_failure():
    before = cv2.getNumThreads()
    with pytest.raises(RuntimeError), opencv_threads(before + 1):
        raise RuntimeError
    assert cv2.getNumThreads() == before


@pytest.mark.parametrize("power", [-1, 0, 0.5, 1, 2])
def test_exponents_of_power_laws(power):
    x = [16, 32, 64, 512]
    assert _scaling.exponent(x, [3 * n**power for n in x]) == pytest.approx(power, abs=1e-12)


def test_exponents_are_least_squares():
    rng = np.random.default_rng(0)
    x, y = np.arange(1, 9), rng.uniform(1, 2, 8)
    assert _scaling.exponent(x, y) == pytest.approx(np.polyfit(np.log(x), np.log(y), 1)[0])


@pytest.mark.parametrize(("x", "y"), [([1], [1]), ([], []), ([1, 2], [1, float("nan")]), ([1, 2], [0, 1])])
def test_no_exponent_without_points(x, y):
    assert _scaling.exponent(x, y) is None


def test_simulated_pairs_have_the_disparity_they_say():
    left, right = _pairs.wide_pair(0.1, 64)
    assert left.shape == right.shape == (274, 365)
    y, x = 20, np.arange(215, 295)  # a spot in front: cos(9 x / w) cos(7 y / h) > 0.4
    d = 64 * (0.6 + 0.2 * y / 274)
    expected = np.interp(x - d, np.arange(365), right[y].astype(float))
    assert np.abs(left[y, x] - expected).max() < 6  # OpenCV interpolates in steps of 1/32 px


# ---- memory ----------------------------------------------------------------------------------------------


def allocating(left, right, threads, megabytes):
    """A method that has an array of known size for a while."""
    held = np.ones(megabytes * 2**17)
    del held


def dying(left, right, threads):
    raise RuntimeError("no")


@not_under("a sanitizer needs memory of its own")
def test_a_childs_peak_is_what_its_method_allocates():
    ballast = np.ones(2**25)  # 256 MB of the parent, which are none of the child's
    views = np.zeros((512, 1024), np.uint8), np.zeros((512, 1024), np.uint8)
    none, some = (peak(Case(partial(allocating, megabytes=n), views, 1)) for n in (0, 96))
    assert none.above < 8
    assert some.above == pytest.approx(96, abs=4)
    assert some.megabytes - none.megabytes == pytest.approx(96, abs=4)
    assert some.megabytes < ballast.nbytes / 2**20
    assert some.record(512 * 1024)["floats_per_pixel"] == some.above / 2


def test_a_child_that_dies_is_told():
    found = peak(Case(dying, (np.zeros((2, 2)), np.zeros((2, 2))), 1))
    assert found.record(4) == {"error": "its process ended with exit status 1"}


# ---- methods ---------------------------------------------------------------------------------------------


def test_methods_of_grey_and_colour_views():
    grey = np.zeros((80, 100), np.uint8)
    names = ["auto", "dslr-a", "phone", "own SGM", "SGBM 3WAY", "SGBM 5-way", "SGBM HH4", "SGBM HH"]
    assert list(_methods.dual_pixel_cases((grey, grey), 1)) == names
    colour = np.dstack([grey] * 3)
    cases = _methods.dual_pixel_cases((colour, colour), 1)
    assert list(cases) == [*names, "SGBM 3WAY, grey", "SGBM 5-way, grey", "SGBM HH, grey"]
    assert all(view.ndim == 2 for view in cases["SGBM HH, grey"].views)  # they are made before the clock runs
    cases["SGBM HH, grey"]()


def test_ratios_are_medians_of_the_rounds():
    """A round in which the machine was busy slows both, and its ratio counts like any other."""
    assert _measure.median_ratio([1.0, 9.0, 3.0], [2.0, 9.0, 2.0]) == 1.0
    timed = {"a": _measure.Timed(1.0, None, (1.0, 8.0, 2.0)), "b": _measure.Timed(2.0, None, (2.0, 8.0, 8.0))}
    assert _comparison._ratios(timed, "b")["a"]["ratio"] == 0.5


@pytest.mark.parametrize(("megapixels", "shape"), [(0.0012, (30, 40)), (0.005, (60, 80)), (1, (60, 80))])
def test_the_small_pair_is_the_pair_reduced(megapixels, shape):
    grey = np.tile(np.arange(80, dtype=np.uint8), (60, 1))
    left, right = _pairs.reduced((grey, grey), megapixels)
    assert left.shape == right.shape == shape
    assert left.mean() == pytest.approx(grey.mean(), abs=0.6)


def test_what_stores_all_costs_is_left_out_where_they_need_too_much():
    large = np.broadcast_to(np.uint8(0), (8000, 8000))
    cases = _methods.dual_pixel_cases((large, large), 1)
    assert list(cases) == ["auto", "dslr-a", "phone", "SGBM 3WAY", "SGBM 5-way"]
    assert _methods.left_out((large, large))["own SGM"] == "its costs need 8.2 GB, over 4"
    times = {"methods": {"auto": {"seconds": 1.0}}}
    assert np.isnan(_summary._quotient(times, "auto", "SGBM HH"))


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_opencv_gets_8_bits(dtype):
    view = np.array([[0, 1]], dtype) * (65535 if dtype == np.uint16 else 1)
    assert _methods._bytes(view.astype(dtype)).tolist() == [[0, 255]]


# ---- the record ------------------------------------------------------------------------------------------


def test_the_record_says_what_ran_where(record):
    assert record["threads"] == 2
    assert record["repeat"] == 1
    assert record["pair"] == {"simulated": True, "width": 188, "height": 107, "channels": 1}
    assert record["cpu"]
    assert f"{record['cpu']}, load {record['load']:.1f} before" in bench.bench_lines(record)
    assert {"dualpix", "numpy", "opencv"} <= set(record["versions"])
    assert set(bench.SECTIONS) < set(record)


def test_changes_since_an_earlier_run(tmp_path, capsys):
    """Every run counts: the fastest for the ratio, the median for the spread."""
    found = _against.change([2.0, 1.0, 4.0], [3.0, 2.5, 2.0])
    assert found == (1.0, 2.0, 2.0, 1.0, 2.5)
    size = ["--size", TINY, "--threads", 1, "--repeat", 1, "--only", "methods"]
    assert cli.main(["bench", *map(str, size), "--json", "--quiet"]) == 0
    before = tmp_path / "before.json"
    before.write_text(capsys.readouterr().out)
    assert cli.main(["bench", *map(str, size), "--against", str(before), "--json", "--quiet"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert {"auto", "SGBM 5-way", "stereo, stereo pair"} <= set(record["against"])
    auto = record["against"]["auto"]
    assert auto["ratio"] == auto["now"] / auto["then"]
    assert auto["now"] == record["methods"]["pair"]["methods"]["auto"]["seconds"]
    assert "now / then" in bench.bench_lines(record)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"cpu": "another"}, "cpu is another"),
        ({"threads": 7}, "threads is 7, not 1"),
        ({"pair": {"width": 3}}, "its pair is another one"),
        ({"methods": {}}, "is no record of methods"),
    ],
)
def test_other_records_are_refused_before_anything_is_measured(record, change, why, tmp_path, capsys):
    path = tmp_path / "before.json"
    path.write_text(json.dumps({**record, "threads": 1, **change}))
    assert cli.main(["bench", "--size", str(TINY), "--threads", "1", "--only", "methods", "--against", str(path)]) == 2
    assert why in capsys.readouterr().err


def test_only_methods_are_compared(tmp_path, capsys):
    path = tmp_path / "before.json"
    path.write_text("{}")
    assert cli.main(["bench", "--size", str(TINY), "--only", "kernels", "--against", str(path)]) == 2
    assert "compares the methods" in capsys.readouterr().err


def test_ratios_are_quotients_of_the_seconds(record):
    for name, base in (("pair", "SGBM 5-way"), ("stereo pair", "SGBM HH")):
        methods = record["methods"][name]["methods"]
        assert all(each["ratio"] == each["seconds"] / methods[base]["seconds"] for each in methods.values())
        assert methods[base]["ratio"] == 1
    pair = record["methods"]["pair"]["methods"]
    summary = record["summary"]
    assert summary["auto / SGBM 5-way, 32 disparities"] == pair["auto"]["ratio"]
    assert summary["dslr-a / SGBM HH, 32 disparities"] == pair["dslr-a"]["seconds"] / pair["SGBM HH"]["seconds"]
    process = record["methods"]["whole process"]
    assert process["ratio"] == process["seconds"]["dualpix disparity"] / process["seconds"]["import cv2"]


def test_stages_add_up(record):
    assert list(record["stages"]) == ["auto", "dslr-a", "phone", "stereo"]
    for each in record["stages"].values():
        assert sum(each["percent"].values()) == pytest.approx(100)
        assert set(each["seconds"]) == set(each["percent"]) > {"matching", "aggregation"}


def test_kernels_stand_beside_their_bounds(record):
    kernels = record["kernels"]
    pixels = 188 * 107
    assert kernels["aggregation"]["bytes"] == 5 * 4 * pixels
    # a plain pass with d, and two with the vertices in 16 bits
    assert kernels["aggregation in passes"]["bytes"] == pytest.approx((6 + 6.5 + 6.5) / 3 * 4 * pixels)
    assert kernels["cost"]["multiply_adds"] == pixels * 32 * 2 * 22  # 21 taps on either side of the centre
    for name in ("aggregation", "aggregation in passes", "cost"):
        each = kernels[name]
        assert each["ratio"] == each["seconds"] / each["bound"]
    moved = kernels["limits"]["bytes_per_second"]
    assert kernels["aggregation"]["bound"] == pytest.approx(kernels["aggregation"]["bytes"] / moved)


def test_a_kernel_is_compared_with_the_copy_of_its_round():
    """In the second round everything takes twice as long. The best times of both would give 1."""
    assert _kernels._of_copy([6.0, 12.0, 4.0], [1.0, 2.0, 1.0], times=2.0) == 3


def test_names_of_the_roofline_cover_no_dot():
    limits = {"bytes_per_second": 35e9, "multiply_adds_per_second": 104e9}
    # operations a byte, and G a second
    dots = {"edge weights": (8, 88), "aggregation in passes": (4, 31.5), "aggregation": (4, 29.7), "census": (6, 24.5)}
    dots |= {"cost": (41, 32.5), "encc": (7.3, 8.8)}
    kernels = {name: {"operations": x, "bytes": 1, "seconds": 1e-9 * x / y} for name, (x, y) in dots.items()}
    shapes, _ = _roofline.panel({"limits": limits, "roofline": kernels})
    bars = [(each.x + 4, each.y + 4) for each in shapes if isinstance(each, _figure.Bar)]
    names = [each for each in shapes if isinstance(each, _figure.Words) and "%" in each.text]
    assert len(bars) == len(names) == len(dots)
    for name in names:
        begin = name.x - (_roofline.LETTER * len(name.text) if name.anchor == "end" else 0)
        inside = [begin < x < begin + _roofline.LETTER * len(name.text) for x, _ in bars]
        assert not any(near and abs(name.y - 4 - y) < 8 for near, (_, y) in zip(inside, bars, strict=True)), name


def test_the_roofline_counts_what_the_kernels_must_do(record):
    found, pixels = record["kernels"]["roofline"], record["pair"]["width"] * record["pair"]["height"]
    assert set(found) == {"cost", "encc", "edge weights", "aggregation", "aggregation in passes", "census"}
    assert found["aggregation"]["bytes"] == record["kernels"]["aggregation"]["bytes"]
    assert found["edge weights"]["bytes"] == record["kernels"]["edge weights"]["bytes"]
    assert found["census"]["operations"] == 48 * pixels
    # blocks of 2 x 2 pixels, 10 taps on either side of the centre: 3 + (2 (3 * 10 + 1) + 8) / 4
    assert found["cost"]["operations"] == pixels * 32 * 20.5
    assert [_roofline.box_additions(n) for n in (1, 3, 9)] == [0, 2, 4]


def test_dots_lie_under_the_roof_where_they_were_measured(record):
    limits = {"bytes_per_second": 1e10, "multiply_adds_per_second": 5e10}
    kernel = {"operations": 4e9, "bytes": 1e9, "seconds": 0.2}  # 4 a byte: 20 of 40 G/s
    shapes, height = _roofline.panel({"limits": limits, "roofline": {"one": kernel}})
    words = [shape.text for shape in shapes if isinstance(shape, _figure.Words)]
    assert {"one, 50%", "memory, 10 GB/s", "arithmetic, 100 G/s"} <= set(words)
    bars = [shape for shape in shapes if isinstance(shape, _figure.Bar)]
    roof = next(shape for shape in shapes if isinstance(shape, _figure.Line) and len(shape.points) == 3)
    assert len(bars) == 1
    assert roof.points[2][1] < bars[0].y < height  # y grows downwards


def test_growth_has_points_and_fits(record):
    scaling = record["scaling"]
    stereo = scaling["disparities"]["stereo"]
    assert stereo["x"] == [16, 32]
    assert stereo["exponent"] == pytest.approx(np.log2(stereo["seconds"][1] / stereo["seconds"][0]))
    assert scaling["megapixels"]["x"] == [pytest.approx(TINY)]
    assert scaling["megapixels"]["exponent"] is None
    threads = scaling["threads"]
    assert threads["x"] == [1, 2]
    assert threads["speed_up"] == [1, threads["seconds"][0] / threads["seconds"][1]]
    memory = record["memory"]["disparities"]["stereo"]
    assert memory["growth"] == memory["above_views"][1] / memory["above_views"][0]


def test_memory_is_counted_by_pixel(record):
    pair = record["memory"]["pair"]
    auto = pair["methods"]["auto"]
    assert auto["floats_per_pixel"] == auto["above_views"] * 2**20 / 4 / (pair["width"] * pair["height"])
    assert auto["megabytes"] > auto["above_views"] > 0


def test_tables_show_the_record(record):
    text = bench.bench_lines(record)
    auto = record["methods"]["pair"]["methods"]["auto"]
    assert f"{auto['seconds']:.3f}" in text
    assert f"{auto['ratio']:.3f}" in text
    assert "188x107" in text
    for name in record["summary"]:
        assert name in text


def test_failed_and_left_out_methods_are_shown(record):
    changed = json.loads(json.dumps(record))
    changed["methods"]["pair"]["left_out"] = {"own SGM": "too large"}
    changed["memory"]["pair"]["methods"]["SGBM HH"] = {"error": "it died"}
    text = bench.bench_lines(changed)
    assert "own SGM: left out, too large" in text
    assert "SGBM HH: it died" in text


def test_progress_counts_the_sections(monkeypatch):
    monkeypatch.setattr(_kernels, "MULTIPLY_ADDS", 1e7)
    steps = []
    bench.bench(size=0.01, threads=1, repeat=1, only=["stages", "kernels"], progress=steps.append)
    assert {(step.share, step.number, step.total) for step in steps} == {(0, 1, 2), (0.5, 2, 2)}
    assert str(steps[-1]) == "aggregation and copies, step 2 of 2"


def test_unknown_sections_are_refused():
    with pytest.raises(ParameterError, match="only"):
        bench.bench(only=["speed"])


# ---- the picture -----------------------------------------------------------------------------------------


def test_the_plot_is_svg_with_every_figure(record):
    root = ET.fromstring(bench.encode_plot("a.SVG", record))
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    for name, each in record["methods"]["pair"]["methods"].items():
        assert name in words
        assert f"{each['ratio']:.2f}" in words
    assert "time, s, by disparities" in words
    width, height = (float(root.get(side)) for side in ("width", "height"))
    for bar in root.iter("{http://www.w3.org/2000/svg}rect"):
        x, y, w, h = (float(bar.get(key)) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height


def test_the_plot_is_png(record):
    picture = cv2.imdecode(np.frombuffer(bench.encode_plot("a.png", record), np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape[1] == 1864
    assert (picture == (214, 127, 47)).all(axis=2).any()  # a bar of ours


def test_a_plot_of_one_section(record):
    part = {key: value for key, value in record.items() if key not in ("methods", "memory")}
    assert b"megapixels" in bench.encode_plot("a.svg", part)


# ---- the command -----------------------------------------------------------------------------------------


def test_sections_of_the_command():
    assert SECTIONS == bench.SECTIONS


def test_help_has_an_example(call):
    code, out, err = call("--help")
    assert (code, err) == (0, "")
    assert "Examples:\n    dualpix bench" in out


def test_the_command_prints_one_object_and_draws(call, views):
    code, out, err = call(
        "left.png", "right.png", "--size", 0.02, "--repeat", 1, "--threads", 1, "--only", "methods", "--json",
        "--plot", "out.svg",
    )  # fmt: skip
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["pair"] == {
        "simulated": False, "left": "left.png", "right": "right.png", "width": 188, "height": 107, "channels": 3
    }  # fmt: skip
    assert "SGBM 5-way, grey" in record["methods"]["pair"]["methods"]
    assert "kernels" not in record
    assert record["outputs"] == {"plot": "out.svg"}
    assert (views / "out.svg").read_bytes().startswith(b"<svg")


def test_quiet_prints_nothing_and_so_needs_another_way_out(call, tmp_path):
    asked = ("--size", 0.01, "--repeat", 1, "--only", "methods", "--quiet")
    assert call(*asked, "--plot", tmp_path / "p.svg") == (0, "", "")
    code, out, err = call(*asked)
    assert (code, out) == (2, "")
    assert "--json or --plot" in err


def test_text_of_one_section(call):
    code, out, err = call("--size", 0.01, "--repeat", 1, "--threads", 1, "--only", "kernels")
    assert (code, err) == (0, "")
    assert "time / bound" in out
    assert "peak memory" not in out


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["left.png"], "give both views"),
        (["left.png", "small.png"], "give images of the same size"),
        (["small.png", "small.png"], "64x64 at least"),
        (["left.png", "grey.png"], "of one kind"),
        (["left.png", "missing.png"], "missing.png"),
        (["--threads", "0"], "threads"),
        (["--repeat", "0"], "repeat"),
        (["--size", "0"], "size"),
        (["--only", "speed"], "speed"),
        (["--plot", "there.svg"], "--force"),
        (["--plot", "out.pdf"], ".svg or .png"),
        (["--plot", "out.svg", "--only", "stages"], "--only"),
        (["left.png", "right.png", "--plot", "left.png", "--force"], "is an input"),
    ],
)
def test_mistakes_are_told_in_one_sentence(call, views, args, says):
    (views / "there.svg").write_text("mine")
    cv2.imwrite("small.png", np.zeros((40, 50, 3), np.uint8))
    cv2.imwrite("grey.png", cv2.imread("left.png", cv2.IMREAD_GRAYSCALE))
    before = {path: path.read_bytes() for path in views.iterdir()}
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert says in err
    assert {path: path.read_bytes() for path in views.iterdir()} == before
