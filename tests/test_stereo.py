"""Stereo as called: scenes with known depth and occlusion, warnings, masks, calib.txt, files."""

import json
from functools import cache

import cv2
import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix import baselines, cli, preset
from dualpix.evaluation.metrics import bad_pixels
from dualpix.io import read_map
from dualpix.io.captures import known_range

PRESETS = ("stereo", "stereo-paper")
SHAPE = 110, 170
FAR, NEAR = 4, 14
ROWS, COLUMNS = slice(30, 80), slice(60, 110)  # of the nearer square in the left view
RANGE = (0, 20)


def texture(seed, shape, fineness=0.8):
    rough = cv2.GaussianBlur(np.random.default_rng(seed).uniform(0, 1, shape), (0, 0), fineness)
    return np.clip((rough - rough.mean()) / rough.std() * 50 + 128, 0, 255)


def with_noise(*views):
    rng = np.random.default_rng(9)
    return tuple(np.clip(np.rint(view + rng.normal(0, 1, view.shape)), 0, 255).astype(np.uint8) for view in views)


@cache
def scene():
    """left, right, the true disparity of the left view, and where the right view does not see what it sees."""
    far, near = texture(0, (SHAPE[0], SHAPE[1] + FAR)), texture(1, SHAPE)
    left, right = far[:, : SHAPE[1]].copy(), far[:, FAR:].copy()
    left[ROWS, COLUMNS] = near[ROWS, COLUMNS]
    right[ROWS, COLUMNS.start - NEAR : COLUMNS.stop - NEAR] = near[ROWS, COLUMNS]
    truth = np.full(SHAPE, float(FAR))
    truth[ROWS, COLUMNS] = NEAR
    hidden = np.zeros(SHAPE, bool)
    hidden[ROWS, COLUMNS.start - (NEAR - FAR) : COLUMNS.start] = True
    hidden[:, :FAR] = True
    return *with_noise(left, right), truth, hidden


@cache
def mirrored_scene():
    """The same from the other camera, in a mirror: now what its right view does not see lies right of the square."""
    left, right, *_ = scene()
    truth = np.full(SHAPE, float(FAR))
    truth[ROWS, COLUMNS.start - NEAR : COLUMNS.stop - NEAR] = NEAR
    hidden = np.zeros(SHAPE, bool)
    hidden[ROWS, COLUMNS.stop - NEAR : COLUMNS.stop - FAR] = True
    hidden[:, SHAPE[1] - FAR :] = True
    return right[:, ::-1], left[:, ::-1], truth[:, ::-1], hidden[:, ::-1]


@cache
def slanted(first=2.0, last=16.0):
    """A plane from `first` px at the left end to `last` px at the right one: left(x) = right(x - d(x))."""
    height, width = SHAPE
    x = np.arange(width)
    d = first + (last - first) * x / (width - 1)
    slope = (last - first) / (width - 1)
    left = texture(2, (height, width + 40), 1.5)
    at = (x + first) / (1 - slope)  # where the left view shows what the right one has at x
    grid = np.tile(at, (height, 1)).astype(np.float32), np.tile(np.arange(height)[:, None], width).astype(np.float32)
    right = cv2.remap(left, *grid, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)
    return *with_noise(left[:, :width], right), np.tile(d, (height, 1))


def error(result, truth):
    return np.abs(result.disparity - truth)


def warned(result, words):
    return any(words in note for note in result.warnings)


# ---- what is found ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("filter_", "bad"), [("none", 0.02), ("solver", 0.05), ("guided", 0.1)])
@pytest.mark.parametrize("name", PRESETS)
def test_a_square_before_a_plane(name, filter_, bad):
    left, right, truth, hidden = scene()
    result = dualpix.disparity(left, right, name, range=RANGE, filter=filter_)
    off = error(result, truth)[~hidden]
    assert np.median(off) < 0.05
    assert (off > 1).mean() < bad
    assert np.isfinite(result.disparity).all()
    assert result.disparity.dtype == result.confidence.dtype == np.float32
    assert ((result.confidence >= 0) & (result.confidence <= 1)).all()
    assert result.warnings == ()
    assert result.searched == RANGE
    assert (result.axis, result.evidence) == ("x", None)


@pytest.mark.parametrize("name", PRESETS)
def test_a_slanted_plane(name):
    left, right, truth = slanted()
    off = error(dualpix.disparity(left, right, name, range=RANGE), truth)[:, 10:-10]
    assert np.median(off) < 0.15
    assert (off > 1).mean() < 0.02


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("d", [-9.4, 7.3, 20])
def test_a_shift_between_whole_pixels(name, d):
    left, right = textured_pair((80, 140), d)
    found = dualpix.disparity(left / 255, right / 255, name, range=(-20, 25)).disparity
    assert np.median(found[10:-10, 30:-30]) == pytest.approx(d, abs=0.1)
    assert np.abs(found[10:-10, 30:-30] - d).max() < 0.5


def test_several_scales():
    left, right, truth, hidden = scene()
    result = dualpix.disparity(left, right, "stereo", range=RANGE, iterations=(4, 4))
    assert (error(result, truth)[~hidden] > 1).mean() < 0.03
    assert result.params.iterations == (4, 4)


@pytest.mark.parametrize(("name", "worst"), [("stereo", 0.002), ("stereo-paper", 0.01)])
@pytest.mark.parametrize(("gain", "offset"), [(0.7, 10), (1.2, -20), (1, 25)])
def test_gain_and_offset_between_the_views_do_not_hurt(name, worst, gain, offset):
    left, right, truth, hidden = scene()
    darker = np.clip(np.rint(gain * right.astype(float) + offset), 0, 255).astype(np.uint8)
    plain, changed = (
        (error(dualpix.disparity(left, view, name, range=RANGE), truth)[~hidden] > 1).mean() for view in (right, darker)
    )
    assert changed < plain + worst


@pytest.mark.parametrize("name", PRESETS)
def test_the_square_is_surer_than_what_is_hidden(name):
    left, right, _, hidden = scene()
    sure = dualpix.disparity(left, right, name, range=RANGE).confidence
    assert np.median(sure[hidden]) < 0.5 * np.median(sure[~hidden])


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("options", [{}, {"filter": "solver", "mask_occluded": True}])
def test_axis_y_is_the_transposed_problem(name, options):
    left, right, *_ = scene()
    along_x = dualpix.disparity(left, right, name, range=RANGE, **options)
    along_y = dualpix.disparity(left.T, right.T, name, range=RANGE, axis="y", **options)
    assert along_y.axis == "y"
    np.testing.assert_array_equal(np.isnan(along_y.disparity), np.isnan(along_x.disparity.T))
    if not options:
        np.testing.assert_allclose(along_y.disparity, along_x.disparity.T, atol=1e-4)
    else:  # the solver's grid and the median see rows and columns in another order
        assert np.nanmean(np.abs(along_y.disparity - along_x.disparity.T) > 0.05) < 0.01


@pytest.mark.parametrize("name", PRESETS)
def test_same_bytes_for_any_threads(name):
    left, right, *_ = scene()
    options = {"range": RANGE, "filter": "solver", "mask_occluded": True, "iterations": (4, 4)}
    runs = [dualpix.disparity(left, right, name, threads=threads, **options) for threads in (1, 2, 3, 5)]
    assert len({(run.disparity.tobytes(), run.confidence.tobytes()) for run in runs}) == 1


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("value", [0, 128, 255])
def test_blank_views(name, value):
    view, blank = scene()[0], np.full(SHAPE, value, np.uint8)
    for views in ((view, blank), (blank, view), (blank, blank)):
        result = dualpix.disparity(*views, name, range=RANGE, filter="solver", mask_occluded=True)
        assert not result.disparity.any()
        assert not result.confidence.any()
        assert [note[:15] for note in result.warnings] == ["a view is blank"]


@pytest.mark.parametrize("name", PRESETS)
def test_views_that_have_nothing_in_common_stay_finite(name):
    views = with_noise(texture(5, SHAPE), texture(6, SHAPE))
    for filter_ in ("none", "solver", "guided"):
        found = dualpix.disparity(*views, name, range=(-7, 20), filter=filter_).disparity
        assert np.isfinite(found).all()
        assert filter_ != "none" or -7 <= found.min() <= found.max() <= 20


# ---- what it costs to know both views --------------------------------------------------------------


def announced(**options):
    """The steps that the progress was told of."""
    steps = []
    left, right, *_ = scene()
    dualpix.disparity(left, right, progress=steps.append, range=RANGE, **options)
    return steps


def test_the_other_view_is_matched_only_where_it_is_needed():
    def matched(**options):
        return [step.view for step in announced(**options) if step.name == "matching"]

    assert matched(preset="stereo") == [""]
    assert matched(preset="stereo", filter="solver") == ["left", "right"]
    assert matched(preset="stereo", mask_occluded=True) == ["left", "right"]
    assert matched(preset="dslr-a", window=3, filter="solver") == 3 * [""]
    assert matched(preset="dslr-a", window=3, mask_occluded=True) == 3 * ["left"] + 3 * ["right"]


@pytest.mark.parametrize("options", [{}, {"filter": "guided"}, {"filter": "solver", "mask_occluded": True}])
def test_progress_never_goes_back(options):
    shares = [step.share for step in announced(preset="stereo", iterations=(4, 4), **options)]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)


# ---- what is hidden --------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [scene, mirrored_scene])
@pytest.mark.parametrize(("name", "filter_"), [("stereo", "none"), ("stereo", "solver"), ("stereo-paper", "none")])
def test_what_the_other_view_does_not_see_is_masked(which, name, filter_):
    left, right, truth, hidden = which()
    result = dualpix.disparity(left, right, name, range=RANGE, mask_occluded=True, filter=filter_)
    masked = np.isnan(result.disparity)
    assert masked[hidden].mean() > 0.93
    assert masked[~hidden].mean() < 0.02
    assert not result.confidence[masked].any()
    assert (error(result, truth)[~masked] > 1).mean() < 0.03
    assert result.warnings == ()


def test_a_mask_changes_nothing_else():
    left, right, *_ = scene()
    for filter_ in ("none", "solver"):
        plain, masked = (
            dualpix.disparity(left, right, "stereo", range=RANGE, filter=filter_, mask_occluded=mask)
            for mask in (False, True)
        )
        seen = np.isfinite(masked.disparity)
        assert 0.8 < seen.mean() < 1
        np.testing.assert_array_equal(masked.disparity[seen], plain.disparity[seen])
        np.testing.assert_array_equal(masked.confidence[seen], plain.confidence[seen])
        assert not masked.confidence[~seen].any()


def test_a_filter_knows_what_is_hidden():
    """The solver fills it from the plane behind, not from the square."""
    left, right, truth, hidden = scene()
    guide = np.where(truth == NEAR, 60, 190).astype(np.uint8)
    off = error(dualpix.disparity(left, right, "stereo", guide, range=RANGE, filter="solver"), truth)
    assert (off[hidden] > 1).mean() < 0.35
    assert (off[~hidden] > 1).mean() < 0.02


def test_a_mask_of_a_dual_pixel_pair():
    """Nothing is hidden but what the other view has beyond its end."""
    left, right = (np.rint(view).astype(np.uint8) for view in textured_pair((72, 90), 3))
    result = dualpix.disparity(left, right, window=2, range=(-6, 6), mask_occluded=True)
    masked = np.isnan(result.disparity)
    assert masked[:, :2].all()
    assert not masked[:, 10:-10].any()


def test_a_mask_of_pixels_that_are_not_square():
    left, right, _, hidden = scene()
    result = dualpix.disparity(
        left[::2], right[::2], "stereo", range=RANGE, mask_occluded=True, pixel_aspect=2, speckles=(0, 0)
    )
    masked = np.isnan(result.disparity)
    assert masked.shape == hidden[::2].shape
    assert masked[hidden[::2]].mean() > 0.85
    assert masked[~hidden[::2]].mean() < 0.05


# ---- warnings --------------------------------------------------------------------------------------


@cache
def motorcycle():
    """skimage's stereo pair at half size, 370x250, disparities 4 to 30 px; NaN where the truth is unknown."""
    from skimage.data import stereo_motorcycle

    left, right, truth = stereo_motorcycle()
    truth = np.where(np.isfinite(truth), truth, np.nan)[:500:2, :740:2] / 2
    return *(cv2.resize(view, (370, 250), interpolation=cv2.INTER_AREA) for view in (left, right)), truth


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("views", [scene, slanted, motorcycle])
def test_swapped_views_fail_the_left_right_check(name, views):
    left, right, *_ = views()
    limits = (0, 32) if views is motorcycle else RANGE
    assert warned(dualpix.disparity(right, left, name, range=limits), "left-right check")
    assert not warned(dualpix.disparity(left, right, name, range=limits), "left-right check")


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize(
    ("views", "limits", "end"),
    [
        (slanted, (0, 10), "upper"),
        (slanted, (7, 20), "lower"),
        (motorcycle, (0, 15), "upper"),
        (motorcycle, (12, 32), "lower"),
    ],
)
def test_a_range_too_small_is_warned_of(name, views, limits, end):
    left, right, *_ = views()
    assert warned(dualpix.disparity(left, right, name, range=limits), f"lie at the {end} end of the range")


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize(
    ("views", "limits"), [(scene, RANGE), (scene, (-20, 40)), (slanted, RANGE), (motorcycle, (0, 32))]
)
def test_a_range_that_covers_the_scene_is_not(name, views, limits):
    left, right, *_ = views()
    assert dualpix.disparity(left, right, name, range=limits).warnings == ()


@pytest.mark.parametrize("name", PRESETS)
def test_a_negative_range_takes_the_views_the_other_way_round(name):
    left, right, *_ = scene()
    result = dualpix.disparity(right, left, name, range=(-20, 0))
    assert result.warnings == ()
    there = slice(COLUMNS.start - NEAR + 3, COLUMNS.stop - NEAR - 3)  # the square as the right view sees it
    assert np.median(result.disparity[ROWS, there]) == pytest.approx(-NEAR, abs=0.05)
    assert np.median(result.disparity) == pytest.approx(-FAR, abs=0.05)


@pytest.mark.parametrize("name", PRESETS)
def test_cameras_that_converge_are_not_swapped(name):
    """What is behind the point they both look at has a negative disparity: the plane is at -6, the square at 4 px."""
    left, right, truth, _ = scene()
    result = dualpix.disparity(left[:, 10:], right[:, :-10], name, range=(-15, 20))
    assert np.median(error(result, truth[:, 10:] - 10)) < 0.05
    assert result.warnings == ()


def test_without_a_range_stereo_finds_it():
    for views, limits in (((scene()[0], scene()[1]), (FAR, NEAR)), (motorcycle()[:2], (5, 29))):
        result = dualpix.disparity(*views, "stereo")
        assert result.searched[0] <= limits[0]
        assert limits[1] <= result.searched[1] < 2 * limits[1]
        assert result.warnings == ()
    left, right, truth, hidden = scene()
    assert (error(dualpix.disparity(left, right, "stereo"), truth)[~hidden] > 1).mean() < 0.01


# ---- a real pair -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "filter_", "bad_2"),
    [
        ("stereo", "none", 8.2),
        ("stereo", "solver", 7.8),
        ("stereo-paper", "none", 10.2),
        ("stereo-paper", "solver", 9.3),
    ],
)
def test_motorcycle(name, filter_, bad_2):
    left, right, truth = motorcycle()
    found = dualpix.disparity(left, right, name, range=(0, 32), filter=filter_).disparity
    assert bad_pixels(found, truth, np.isfinite(truth)).bad_2 < bad_2


def test_motorcycle_by_semi_global_matching():
    left, right, truth = motorcycle()
    assert bad_pixels(baselines.sgm(left, right, (0, 32)), truth, np.isfinite(truth)).bad_2 < 10.5


def test_what_is_masked_of_the_motorcycle_is_worse_than_the_rest():
    left, right, truth = motorcycle()
    found, masked = (
        dualpix.disparity(left, right, "stereo", range=(0, 32), mask_occluded=mask).disparity for mask in (False, True)
    )
    seen, known = np.isfinite(masked), np.isfinite(truth)
    assert 0.02 < 1 - seen.mean() < 0.15
    rest, hidden = (bad_pixels(found, truth, known & part).bad_2 for part in (seen, ~seen))
    assert hidden > 5 * rest


# ---- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cost": "ncc"}, "parameter cost ncc needs candidates=1: take census"),
        ({"cost": "zncc"}, "parameter cost zncc needs candidates=1: take census"),
        ({"subpixel": "histeq"}, "parameter subpixel histeq needs candidates=1: take parabola"),
    ],
)
def test_what_keeps_no_candidates_is_refused(changes, says):
    left, right, *_ = scene()
    with pytest.raises(dualpix.ParameterError) as caught:
        dualpix.disparity(left, right, "stereo", range=RANGE, **changes)
    assert str(caught.value) == says
    dualpix.disparity(left, right, "stereo", range=RANGE, candidates=1, **changes)


@pytest.mark.parametrize("limits", [(0, 170), (-90, 90), (-200, -190)])
def test_a_range_wider_than_the_views_is_refused(limits):
    left, right, *_ = scene()
    with pytest.raises(dualpix.ParameterError, match="wider than the image, 170 pixels along x: give a range"):
        dualpix.disparity(left, right, "stereo", range=limits)


# ---- calib.txt -------------------------------------------------------------------------------------

CALIB = "cam0=[1500 0 199; 0 1500 187; 0 0 1]\ndoffs=52\nwidth=450\nndisp=24\nvmin=12\n"


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        (CALIB, (0, 24)),
        (CALIB.replace("\n", "\r\n"), (0, 24)),
        ("ndisp = 64\n", (0, 64)),
        ("  ndisp=1", (0, 1)),
        ("vndisp=3\nndisp=70.5\n", (0, 70.5)),
        ("name=Schl\u00f6sser\nndisp=9\n", (0, 9)),
    ],
)
def test_ndisp_is_the_range(tmp_path, text, limits):
    (tmp_path / "calib.txt").write_bytes(text.encode("latin-1"))
    assert known_range(tmp_path / "im0.png", 10**6) == known_range(str(tmp_path / "im0.png"), 10**6) == limits


def test_no_calib_is_no_range(tmp_path):
    assert known_range(tmp_path / "im0.png", 100) is None
    assert known_range(tmp_path / "nowhere" / "im0.png", 100) is None


BAD_CALIBS = {
    "without": CALIB.replace("ndisp=24\n", ""),
    "empty": "",
    "word": CALIB.replace("24", "many"),
    "no value": CALIB.replace("24", ""),
    "zero": CALIB.replace("24", "0"),
    "negative": CALIB.replace("24", "-24"),
    "nan": CALIB.replace("24", "nan"),
    "infinite": CALIB.replace("24", "inf"),
    "too many": CALIB.replace("24", "9" * 5000),
    "binary": bytes(range(256)) * 9,
    "other name": "NDISP=24\nmy ndisp=24\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with the views of the scene in left.png and right.png."""
    monkeypatch.chdir(tmp_path)
    for name, view in zip(("left.png", "right.png"), scene(), strict=False):
        cv2.imwrite(name, view)
    return tmp_path


@pytest.fixture
def call(folder, capfd):
    """Run `dualpix disparity left.png right.png` in this process: exit code, stdout and stderr."""

    def run(*args, left="left.png"):
        code = cli.main(["disparity", left, "right.png", *map(str, args)])
        return code, *capfd.readouterr()

    return run


def written(folder):
    return {path.name for path in folder.iterdir()} - {"left.png", "right.png", "calib.txt"}


def one_error(code, out, err):
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize("name", PRESETS)
def test_calib_beside_the_left_view_is_used(call, folder, name):
    (folder / "calib.txt").write_text(CALIB)
    code, out, err = call("-o", "d.tiff", "--preset", name, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["searched"] == [0, 24]
    assert record["parameters"]["range"] == [0, 24]
    assert record["axis_evidence"] is None
    assert record["inputs"] == {"left": "left.png", "right": "right.png", "calib": "calib.txt"}
    expected = dualpix.disparity(*scene()[:2], name, range=(0, 24))
    np.testing.assert_array_equal(read_map("d.tiff"), expected.disparity)


@pytest.mark.parametrize("name", BAD_CALIBS)
def test_a_calib_that_does_not_say_is_refused(call, folder, name):
    content = BAD_CALIBS[name]
    (folder / "calib.txt").write_bytes(content if isinstance(content, bytes) else content.encode())
    said = one_error(*call("-o", "d.pfm", "--preset", "stereo"))
    assert "calib.txt" in said
    assert "ndisp" in said
    assert "give the range" in said
    assert len(said) < 300
    assert written(folder) == set()


def test_a_calib_that_is_a_folder_is_refused(call, folder):
    (folder / "calib.txt").mkdir()
    said = one_error(*call("-o", "d.pfm", "--preset", "stereo"))
    assert "calib.txt: cannot be read" in said
    assert written(folder) == set()


def test_a_calib_of_a_wider_pair_is_named(call, folder):
    (folder / "calib.txt").write_text("ndisp=500\n")
    assert "calib.txt" in one_error(*call("-o", "d.pfm", "--preset", "stereo"))


@pytest.mark.parametrize(
    "options",
    [
        ("--preset", "stereo", "--range", "0", "20"),
        ("--preset", "stereo", "--set", "range=0,20"),
        ("--preset", "dslr-a", "--set", "window=3"),
        ("--preset", "auto", "--set", "window=3"),
    ],
)
def test_a_calib_that_is_not_asked_does_not_matter(call, folder, options):
    (folder / "calib.txt").write_bytes(BAD_CALIBS["binary"])
    code, *_ = call("-o", "d.npy", *options)
    assert code == 0
    assert written(folder) == {"d.npy", "d.json"}


@pytest.mark.parametrize("left", [".", "..", "missing.png", "missing/left.png", "left.png/left.png"])
def test_a_left_view_that_is_none_is_named(call, folder, left):
    assert one_error(*call("-o", "d.pfm", "--preset", "stereo", left=left)).startswith(f"error: {left}: ")
    assert written(folder) == set()


# ---- files -----------------------------------------------------------------------------------------


def test_a_pfm_that_other_tools_read(call, folder):
    """Parsed byte by byte: grey, little-endian, the last row first."""
    code, *_ = call("--preset", "stereo", "--range", 0, 20, "-o", "d.pfm")
    assert code == 0
    kind, size, scale, data = (folder / "d.pfm").read_bytes().split(b"\n", 3)
    assert kind == b"Pf"
    assert size.split() == [b"170", b"110"]
    assert float(scale) == -1
    assert len(data) == 4 * 170 * 110
    found = np.frombuffer(data, "<f4").reshape(110, 170)[::-1]
    np.testing.assert_array_equal(found, dualpix.disparity(*scene()[:2], "stereo", range=RANGE).disparity)
    assert abs(np.median(found[ROWS, COLUMNS]) - NEAR) < 0.1


@pytest.mark.parametrize("suffix", ["pfm", "tiff", "npy", "png"])
def test_what_is_hidden_in_files(call, folder, suffix):
    """NaN, and 0 in a KITTI PNG."""
    code, out, err = call(
        "--preset", "stereo", "--range", 0, 20, "-o", f"d.{suffix}", "--mask-occluded", "--preview", "p.png", "--json"
    )
    assert (code, err) == (0, "")
    expected = dualpix.disparity(*scene()[:2], "stereo", range=RANGE, mask_occluded=True).disparity
    masked = np.isnan(expected)
    assert masked.any()
    if suffix == "png":
        kitti = cv2.imread("d.png", cv2.IMREAD_UNCHANGED)
        assert kitti.dtype == np.uint16
        assert not kitti[masked].any()
        np.testing.assert_allclose(kitti[~masked] / 256, expected[~masked], atol=1 / 256)
        assert kitti[~masked].min() > 0
    else:
        np.testing.assert_array_equal(read_map(f"d.{suffix}"), expected)
    assert "NaN" not in out
    assert json.loads(out)["mask_occluded"] is True
    assert json.loads(out)["disparity"]["max"] == pytest.approx(np.nanmax(expected), abs=1 / 256)
    assert cv2.imread("p.png") is not None


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (("cost=ncc",), "cost ncc needs candidates=1"),
        (("subpixel=histeq",), "subpixel histeq needs candidates=1"),
        (("candidates=7",), "candidates must be a whole number from 1 to 6"),
        (("robust_tau=1,-1",), "robust_tau must be a number from 0 to 1000, or"),
        (("choice=1",), "choice must be P1 and P2"),
    ],
)
def test_settings_refused(call, folder, settings, says):
    options = [option for setting in settings for option in ("--set", setting)]
    assert says in one_error(*call("-o", "d.pfm", "--preset", "stereo", "--range", 0, 20, *options))
    assert written(folder) == set()


def test_warnings_are_printed_and_written(call, folder):
    for name, view in zip(("left.png", "right.png"), slanted(), strict=False):
        cv2.imwrite(name, view)
    code, out, err = call("-o", "d.pfm", "--preset", "stereo", "--range", 0, 10)
    assert code == 0
    assert out.startswith("d.pfm: 170x110, ")
    assert err.startswith("warning: ")
    assert "upper end of the range" in err
    notes = json.loads((folder / "d.json").read_text())["warnings"]
    assert [f"warning: {note}" for note in notes] == err.splitlines()


@pytest.mark.parametrize("name", PRESETS)
def test_the_sidecar_says_what_was_done(call, folder, name):
    call("-o", "d.tiff", "--preset", name, "--range", 0, 20, "--filter", "solver", "--quiet")
    record = json.loads((folder / "d.json").read_text())
    assert record["parameters"] == preset(name).replace(range=RANGE, filter="solver", iterations=(4,)).to_dict()
    assert {"matching", "aggregation", "filter"} <= set(record["timings"])
