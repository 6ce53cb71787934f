"""Bad input gets one clear sentence, exit 2, and nothing written."""

import os
import struct
import subprocess
import sys
import zlib

import cv2
import numpy as np
import pytest
import tifffile

from conftest import textured_pair
from dualpix import OutputError, cli
from dualpix.io import write_map

HUGE = 100_000


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, full of good and bad files."""
    monkeypatch.chdir(tmp_path)
    left, right = (np.rint(view).astype(np.uint8) for view in textured_pair((60, 80), -1.3))
    cv2.imwrite("left.png", left)
    cv2.imwrite("right.png", right)
    cv2.imwrite("narrow.png", left[:, :70])
    cv2.imwrite("tiny.png", left[:20, :20])
    cv2.imwrite("tiny_right.png", right[:20, :20])
    cv2.imwrite("mask.png", np.full((60, 70), 255, np.uint8))
    (tmp_path / "text.png").write_text("this is no image\n")
    (tmp_path / "empty.png").write_bytes(b"")
    whole = (tmp_path / "left.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "folder.png").mkdir()
    write_huge_headers(tmp_path)
    for name, value in (("nan", np.nan), ("inf", np.inf), ("over", 1.5)):
        values = left / np.float32(255)
        values[3, 4] = value
        tifffile.imwrite(f"{name}.tiff", values)
    write_map("map.tiff", left / np.float32(100))
    write_map("small.pfm", left[:5, :5])
    write_map("signed.npy", left / np.float32(100) - 1)
    cv2.imwrite("black.png", np.full((60, 80), 254, np.uint8))
    (tmp_path / "taken.json").write_text("{}")
    (tmp_path / "cfg.json").write_text("window = 5\n")
    (tmp_path / "bad.toml").write_text("window = 5\npenalty 3\n")
    (tmp_path / "wrong.toml").write_text("window = 'wide'\n")
    (tmp_path / "stranger.toml").write_text("windw = 5\n")
    return tmp_path


def write_huge_headers(folder):
    """Files of a few bytes that claim 100,000 x 100,000 pixels."""
    header = b"IHDR" + struct.pack(">IIBBBBB", HUGE, HUGE, 8, 0, 0, 0, 0)
    chunk = struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    (folder / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + b"\0\0\0\0IEND\xaeB`\x82")
    (folder / "huge.pgm").write_bytes(b"P5\n%d %d\n255\n" % (HUGE, HUGE))
    (folder / "huge.pfm").write_bytes(b"Pf\n%d %d\n-1.0\n" % (HUGE, HUGE))
    tags = ((256, 4, HUGE), (257, 4, HUGE), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 200))
    tags += ((277, 3, 1), (278, 4, HUGE), (279, 4, 1))
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    ifd = struct.pack("<H", len(tags)) + entries + b"\0\0\0\0"
    (folder / "huge.tiff").write_bytes((b"II*\0" + struct.pack("<I", 8) + ifd).ljust(256, b"\0"))


@pytest.fixture
def refused(folder, capfd):
    """Check that a command is refused as it should be; return what it said."""

    def check(*args, names):
        before = snapshot(folder)
        code = cli.main(list(args))
        out, err = capfd.readouterr()
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert err.count("\n") == 1
        assert names in err
        assert snapshot(folder) == before
        return err

    return check


def snapshot(folder):
    def content(path):
        return path.read_bytes() if path.is_file() and os.access(path, os.R_OK) else None

    return {path: (path.lstat().st_mtime_ns, content(path)) for path in folder.rglob("*")}


def match(left="left.png", right="right.png", output="out.tiff", *options):
    return ("disparity", left, right, "-o", output, *options)


# ---- images --------------------------------------------------------------------------------------

BAD_IMAGES = [
    ("missing.png", "no such file: check the path"),
    ("https://a.org/b.png", "https://a.org/b.png: only dualpix batch reads URLs: download the file and give its path"),
    ("file:///b.png", "file:///b.png: give the path without file://"),
    ("folder.png", "is a folder: give a file"),
    ("text.png", "none of the formats"),
    ("empty.png", "is empty: copy"),
    ("cut.png", "cut short"),
    *[(f"huge.{suffix}", "DUALPIX_MAX_PIXELS") for suffix in ("png", "pgm", "tiff")],
    ("nan.tiff", "NaN"),
    ("inf.tiff", "infinite"),
    ("over.tiff", "[0, 1]"),
]


@pytest.mark.parametrize("place", ["left", "right", "guide"])
@pytest.mark.parametrize(("name", "says"), BAD_IMAGES)
def test_image_that_cannot_be_used(refused, name, says, place):
    options = ("--guide", name) if place == "guide" else ()
    views = {place: name} if place != "guide" else {}
    assert says in refused(*match(**views), *options, names=name)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="the superuser may read everything")
def test_unreadable_image(refused):
    os.chmod("left.png", 0)
    try:
        assert "Permission" in refused(*match(), names="left.png")
    finally:
        os.chmod("left.png", 0o644)


def test_limit_on_pixels_is_the_users(refused, monkeypatch):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "4799")  # the views have 4800
    assert "DUALPIX_MAX_PIXELS=4800" in refused(*match(), names="left.png")
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "4800")
    assert cli.main([*match(), "--quiet"]) == 0


@pytest.mark.parametrize("limit", ["many", "0", "-1", ""])
def test_limit_on_pixels_that_is_none(refused, monkeypatch, limit):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", limit)
    refused(*match(), names="DUALPIX_MAX_PIXELS")


def test_views_of_different_sizes(refused):
    message = refused(*match(right="narrow.png"), names="narrow.png")
    assert "70x60" in message
    assert "80x60" in message


def test_guide_of_another_size(refused):
    assert "70x60" in refused(*match(), "--guide", "narrow.png", names="narrow.png")


def test_image_smaller_than_the_window(refused):
    assert "43x43" in refused(*match("tiny.png", "tiny_right.png"), "--range", "-2", "2", names="window")


def test_pictures_of_the_pixel_capture_app_need_their_aspect(refused):
    with open("app.pgm", "wb") as file:
        file.write(b"P5\n2016 756\n65535\n" + bytes(2 * 2016 * 756))
    assert "pixel_aspect=2" in refused(*match("app.pgm", "app.pgm"), names="app.pgm")


def test_pgm_with_a_wrong_byte_count(refused):
    with open("cut.pgm", "wb") as file:
        file.write(b"P5\n80 60\n65535\n" + bytes(2 * 80 * 60 - 1))
    refused(*match("cut.pgm", "cut.pgm"), names="cut.pgm")


@pytest.mark.parametrize(("black", "white"), [("256", "auto"), ("10", "10"), ("0", "256")])
def test_black_and_white_beyond_the_image(refused, black, white):
    refused(*match(), "--set", f"black={black}", "--set", f"white={white}", names="black")


def test_calibration_of_another_size_or_camera(refused):
    cv2.imwrite("sheet.png", np.full((60, 70), 200, np.uint8))
    assert (
        cli.main(["calibrate", "-o", "lens.json", "--white", "sheet.png", "sheet.png", "--camera", "A", "--quiet"]) == 0
    )
    refused(*match(), "--calibration", "lens.json", names="lens.json")
    refused(*match(), "--calibration", "lens.json", "--camera", "B", names="lens.json")
    refused(*match(), "--calibration", "cfg.json", names="cfg.json")
    refused(*match(), "--camera", "A", names="--calibration")


@pytest.mark.parametrize("value", [0, 255])
def test_white_sheet_with_zeros_or_clipped(refused, value):
    sheet = np.full((60, 80), 200, np.uint8)
    sheet[10:20, 10:20] = value
    cv2.imwrite("sheet.png", sheet)
    refused("calibrate", "-o", "lens.json", "--white", "sheet.png", "black.png", names="sheet.png")


def test_guide_of_another_size_with_a_filter(refused):
    refused(*match(), "--guide", "narrow.png", "--filter", "guided", names="narrow.png")


# ---- parameters ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high"), [("5", "5"), ("5", "-5"), ("nan", "5"), ("-inf", "5"), ("0", "1e9"), ("0", "80")]
)
def test_range_that_makes_no_sense(refused, low, high):
    refused(*match(), "--range", low, high, names="range")


def test_range_wider_than_the_image(refused):
    assert "wider than the image" in refused(*match(), "--range", "-200", "200", names="range")


@pytest.mark.parametrize(
    ("options", "names", "says"),
    [
        (("--preset", "dslr"), "'dslr'", "dslr-a, dslr-b"),
        (("--preset", ""), "''", "dslr-a, dslr-b"),
        (("--set", "penality=3"), "penality", "did you mean penalty"),
        (("--set", "window"), "window", "NAME=VALUE"),
        (("--set", "window=wide"), "window", "from 0.5 to 64, not 'wide'"),
        (("--set", "window=100"), "window", "from 0.5 to 64, not '100'"),
        (("--set", "iterations=3,0"), "iterations", "from 1 to 64"),
        (("--set", "normalize_iterations=yes"), "normalize_iterations", "true or false"),
        (("--set", "paths=5"), "paths", "4 or 8"),
        (("--set", "jump_penalty=1"), "jump_penalty", "no effect with messages=exact: it needs messages=jumps"),
        (("--set", "subpixel=spline"), "subpixel", "parabola or histeq or encc"),
        (("--config", "missing.toml"), "missing.toml", "no such file: check"),
        (("--config", "bad.toml"), "bad.toml", "line 2"),
        (("--config", "wrong.toml"), "wrong.toml", "window must be a number from 0.5 to 64"),
        (("--config", "stranger.toml"), "stranger.toml", "did you mean window"),
        (("--config", "left.png"), "left.png", "not text"),
    ],
)
def test_unknown_or_wrong_parameter(refused, options, names, says):
    assert says in refused(*match(), *options, names=names)


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (("disparity",), "LEFT"),
        (("disparity", "left.png"), "--output"),
        (
            ("disparity", "left.png", "-o", "out.tiff"),
            "or, if it holds both, --layout side-by-side or --layout top-bottom",
        ),
        (("disparity", "left.png", "right.png"), "--output"),
        ((*match(), "more"), "more"),
        ((*match(), "--filtr", "none"), "--filtr"),
        ((*match(), "--axis", "z"), "--axis"),
        ((*match(), "--range", "1"), "--range"),
        ((*match(), "--range", "a", "b"), "--range"),
        ((*match(), "--threads", "two"), "--threads"),
        ((*match(), "--threads", "0"), "threads"),
        ((*match(), "--threads", "100000"), "threads"),
        (("evaluate", "map.tiff", "map.tiff", "--protocol", "fair"), "--protocol"),
        (("evaluate", "map.tiff", "map.tiff", "--crop", "-1"), "--crop"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--seed", "x"), "--seed"),
        (("info",), "FILE"),
        (("dispariti",), "dispariti"),
        (("--nothing",), "--nothing"),
    ],
)
def test_wrong_usage(refused, args, names):
    refused(*args, names=names)


@pytest.mark.parametrize(
    ("args", "command"),
    [
        ((*match(), "--range", "5"), "dualpix disparity"),
        ((*match(), "--range", "-5,5"), "dualpix disparity"),
        ((*match()[:4],), "dualpix disparity"),
        ((*match(), "more"), "dualpix disparity"),
        (("evaluate", "map.tiff", "map.tiff", "--crop"), "dualpix evaluate"),
        (("info",), "dualpix info"),
        (("dispariti",), "dualpix"),
        (("--nothing",), "dualpix"),
    ],
)
def test_wrong_usage_points_to_the_help_of_its_command(refused, args, command):
    sentence, _, rest = refused(*args, names=command).rpartition(" See ")
    assert rest == f"{command} --help.\n"
    assert sentence[-1] in ".?!"


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (match(left=""), "'LEFT'"),
        (match(right=""), "'RIGHT'"),
        (match(output=""), "'--output'"),
        *[((*match(), option, ""), f"'{option}'") for option in ("--guide", "--config", "--confidence", "--preview")],
        (("evaluate", "", "map.tiff"), "'EST'"),
        (("evaluate", "map.tiff", ""), "'GT'"),
        (("evaluate", "map.tiff", "map.tiff", "--mask", ""), "'--mask'"),
        (("evaluate", "map.tiff", "map.tiff", "--confidence", ""), "'--confidence'"),
        (("simulate", "", "map.tiff", "-o", "pair"), "'IMAGE'"),
        (("simulate", "left.png", "", "-o", "pair"), "'DISPARITY'"),
        (("simulate", "left.png", "map.tiff", "-o", ""), "'--output'"),
        (("info", "left.png", ""), "'FILE...'"),
        (("demo", "-o", ""), "'--output'"),
    ],
)
def test_empty_path_names_its_argument(refused, args, names):
    assert "path is empty" in refused(*args, names=names)


@pytest.mark.parametrize("threads", ["", "0", "-1", "two", "1.5"])
def test_threads_from_the_environment(refused, monkeypatch, threads):
    monkeypatch.setenv("DUALPIX_THREADS", threads)
    refused(*match(), names="DUALPIX_THREADS")


# ---- outputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["-o", "--confidence", "--preview"])
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nowhere/out{}", "does not exist"),
        ("left.png/out{}", "not a folder"),
        ("out.gif", "{}"),
        ("out", "{}"),
    ],
)
def test_output_in_a_wrong_place_or_format(refused, option, name, says):
    suffix = ".png" if option == "--preview" else ".tiff"
    name = name.format(suffix)
    args = match(output=name) if option == "-o" else (*match(), option, name)
    assert says.format(suffix) in refused(*args, names=name)


def test_confidence_in_a_png_is_refused_before_computing(refused, monkeypatch):
    monkeypatch.setattr("dualpix.method.api.disparity", None)
    message = refused(*match(), "--confidence", "c.png", names="c.png")
    assert message.endswith("choose one of .tif, .tiff, .pfm, .npy\n")


@pytest.fixture
def locked():
    """A folder nobody may write to, not even the superuser."""
    if sys.platform != "win32" and os.geteuid() != 0:
        os.mkdir("locked", 0o555)
        return "locked"
    if sys.platform == "linux" and os.path.isdir("/sys/kernel"):
        return "/sys/kernel"
    return pytest.skip("needs a folder that is not writable")


def test_output_folder_that_is_not_writable(refused, locked):
    output = f"{locked}/out.tiff"
    assert "writ" in refused(*match(output=output), names=output)
    assert not os.path.exists(output)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("-o", "map.tiff"), "map.tiff"),
        (("-o", "taken.tiff"), "taken.json, the sidecar of taken.tiff, exists already: "),
        (("-o", "out.tiff", "--confidence", "map.tiff"), "map.tiff"),
        (("-o", "out.tiff", "--preview", "tiny.png"), "tiny.png"),
    ],
)
def test_output_that_exists(refused, options, names):
    assert "--force" in refused("disparity", "left.png", "right.png", *options, names=names)


@pytest.mark.parametrize(
    ("options", "names", "says"),
    [
        (("-o", "left.png"), "left.png", "input"),
        (("-o", "out.tiff", "--preview", "right.png"), "right.png", "input"),
        (("-o", "out.tiff", "--guide", "tiny.png", "--preview", "tiny.png"), "tiny.png", "input"),
        (("-o", "cfg.tiff", "--config", "cfg.json"), "cfg.json, the sidecar of cfg.tiff,", "input"),
        (("-o", "out.tiff", "--confidence", "out.tiff"), "out.tiff", "two"),
        (("-o", "out.tiff", "--confidence", "./out.tiff"), "out.tiff", "two"),
        (("-o", "folder.png"), "folder.png", "folder"),
    ],
)
def test_force_spares_inputs_and_folders(refused, options, names, says):
    assert says in refused("disparity", "left.png", "right.png", *options, "--force", names=names)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--preset", "dslr-a"),
        ("--range", "-0.5", "4"),
        ("--set", "range=-4,4"),
        ("--preset", "stereo", "--range", "-4", "4"),
    ],
)
def test_kitti_png_is_refused_before_anything_is_read(refused, monkeypatch, options):
    monkeypatch.setattr("dualpix.method.api.disparity", None)
    message = refused(*match("missing.png", "missing.png", "out.png"), *options, names="out.png")
    assert "negative" in message
    assert "signed" in message
    assert all(way in message for way in (".tif", ".pfm", ".npy", "--png grey", "a range from 0 on"))


@pytest.mark.parametrize(
    "options", [("--range", "0", "4"), ("--set", "range=1,4"), ("--preset", "stereo", "--set", "range=auto")]
)
def test_kitti_png_is_allowed_without_negative_disparities(refused, options):
    refused(*match("missing.png", "missing.png", "out.png"), *options, names="missing.png: no such file")


def test_kitti_png_of_a_negative_map_is_refused_at_the_latest_when_written(refused):
    """A range that is found for stereo has one sign, and the views may have been swapped."""
    options = ("--preset", "stereo", "--set", "window=3")
    message = refused(*match(output="out.png"), *options, names="out.png")
    assert all(suffix in message for suffix in (".tif", ".pfm", ".npy"))


def test_kitti_refusal_tells_the_real_range():
    with pytest.raises(OutputError, match="not -1 to -1 px"):
        write_map("out.png", np.full((2, 2), -1))
    with pytest.raises(OutputError, match="not 300 to 301 px"):
        write_map("out.png", [[300, np.nan, 301]])


# ---- the other commands --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "names"),
    [
        (("evaluate", "missing.tiff", "map.tiff"), "missing.tiff"),
        (("evaluate", "map.tiff", "text.png"), "text.png"),
        (("evaluate", "map.tiff", "huge.pfm"), "huge.pfm"),
        (("evaluate", "map.tiff", "small.pfm"), "small.pfm"),
        (("evaluate", "map.tiff", "map.tiff", "--mask", "mask.png"), "mask.png"),
        (("evaluate", "map.tiff", "map.tiff", "--confidence", "small.pfm"), "small.pfm"),
        (("evaluate", "map.tiff", "map.tiff", "--crop", "40"), "crop"),
        (
            ("evaluate", "map.tiff", "map.tiff", "--protocol", "paper-dslr", "--confidence", "map.tiff"),
            "confidence",
        ),
        (
            ("evaluate", "map.tiff", "map.tiff", "--protocol", "paper-stereo", "--confidence", "map.tiff"),
            "confidence",
        ),
        (("evaluate", "map.tiff", "left.png", "--protocol", "paper-stereo"), "left.png"),
        (("simulate", "missing.png", "map.tiff", "-o", "pair"), "missing.png"),
        (("evaluate", "map.tiff", "signed.npy", "--protocol", "paper-stereo"), "gt holds negative"),
        (("evaluate", "map.tiff", "map.tiff", "--protocol", "paper-stereo", "--crop", "40"), "crop"),
        (("evaluate", "map.tiff", "map.tiff", "--mask", "black.png"), "black.png: has no white (255) pixel: "),
        (("simulate", "over.tiff", "map.tiff", "-o", "pair"), "over.tiff"),
        (("simulate", "left.png", "small.pfm", "-o", "pair"), "small.pfm: disparity"),
        (("simulate", "left.png", "nan.tiff", "-o", "pair"), "nan.tiff: disparity"),
        (("simulate", "left.png", "left.png", "-o", "pair"), "left.png: disparity reaches"),
        (("simulate", "left.png", "map.tiff", "-o", "nowhere/pair"), "nowhere/pair"),
        (("simulate", "left.png", "map.tiff", "-o", "text.png"), "text.png"),
        (("simulate", "left.png", "map.tiff", "-o", "."), "left.png"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--noise", "-1"), "noise"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--vignetting", "nan"), "vignetting"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--shot-noise", "2"), "shot_noise"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--optics", "lens"), "optics"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--optics", "pupil:split=3"), "split"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--optics", "measured:no.npy,no.npy"), "no.npy"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--optics", "measured:left.png,left.png"), "left.png"),
        (("scenes", "-o", "pair", "--optics", "lens"), "optics"),
        (("scenes", "-o", "pair", "--count", "0"), "count"),
        (("scenes", "-o", "pair", "--seed", "-1"), "seed"),
        (("scenes", "-o", "pair", "--size", "8x8"), "size"),
        (("scenes", "-o", "pair", "--size", "large"), "--size"),
        (("scenes", "-o", "nowhere/pair"), "nowhere/pair"),
        (("scenes", "-o", "left.png"), "left.png"),
        (("simulate", "left.png", "map.tiff", "-o", "pair", "--seed", "-1"), "seed"),
        (("presets", "dslr"), "dslr-a, dslr-b"),
        (("presets", "--explain", "--json"), "--explain prints text: leave out --json"),
        (("info", "left.png", "missing.png", "--json"), "missing.png"),
        (("info", "missing.png", "empty.png"), "missing.png: no such file: check the path; empty.png: is empty"),
        (("info", "text.png"), "text.png"),
        (("info", "huge.pfm"), "huge.pfm"),
    ],
)
def test_other_commands(refused, args, names):
    refused(*args, names=names)


def test_a_huge_file_is_refused_without_being_read(tmp_path, capfd):
    """10 GB that take no room on disk, in a process that may have 3 GB."""
    huge = tmp_path / "huge.pgm"
    with huge.open("wb") as file:
        file.write(b"P5 100000 100000 255\n")
        file.truncate(21 + 100_000**2)
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (13 << 30, 13 << 30)); "
    limited += "from dualpix.cli import main; "
    limited += "resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)); sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", limited, "disparity", str(huge), str(huge), "-o", str(tmp_path / "out.tiff")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {huge}: 100000x100000 are 10000000000 pixels, over the limit")
    assert sorted(tmp_path.iterdir()) == [huge]


def test_opencv_out_of_memory_is_no_bug_of_ours(folder, monkeypatch, capfd):
    error = cv2.error("Insufficient memory")
    error.code = -4

    def fail(*_, **__):
        raise error

    monkeypatch.setattr("dualpix.method.api.disparity", fail)
    assert cli.main([*match()]) == 1
    assert capfd.readouterr().err.startswith("error: not enough memory for images of this size")
