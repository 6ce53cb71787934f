"""Raw files: LibRaw opens files made by hand, and the pair that went in comes out."""

import json
import struct
from dataclasses import replace

import cv2
import imagecodecs
import numpy as np
import pytest
import tifffile

import dualpix
from dualpix import InputError, ParameterError
from dualpix.batches.runner import Here
from dualpix.io import probe, raw, read_image, read_one, read_pair
from dualpix.io.orientation import upright
from dualpix.io.photos import read_photo
from dualpix.io.raw import files
from dualpix.io.raw.sides import find_sides
from dualpix.io.raw.split import halves
from dualpix.io.shot import Shot, read_shot
from raw_files import BLACK, LONG, RATIONAL, WHITE, Tiff, cr2, dng, frames_of, lossless_jpeg, mosaic

rawpy = pytest.importorskip("rawpy")

SHAPE = (96, 128)


def scene(shape=SHAPE, brightness=9000, vignetting=0.0):
    """The mosaics of a rendered pair in counts above black, and its disparity: a near disc before a far wall."""
    rng = np.random.default_rng(0)
    coarse = rng.random((shape[0] // 4, shape[1] // 4, 3))
    photo = cv2.resize(coarse, shape[::-1], interpolation=cv2.INTER_CUBIC).clip(0, 1)
    y, x = np.mgrid[: shape[0], : shape[1]]
    near = (y - shape[0] / 2) ** 2 + (x - shape[1] / 2) ** 2 < (shape[0] / 4) ** 2
    left, right, truth = dualpix.simulate(photo, np.where(near, 1.5, -1.5), vignetting=vignetting)
    counts = [np.rint(view * (0.6, 1, 0.7) * brightness).astype(np.int64) for view in (left, right)]
    return mosaic(counts[0]), mosaic(counts[1]), truth


LEFT, RIGHT, TRUTH = scene()
FRAMES = frames_of(LEFT, RIGHT)
PREVIEW = np.full((12, 16, 3), 80, np.uint8)
# Two samples a pixel and 2x2 levels: row, column, sample.
UNEVEN = (510, 500, 511, 501, 512, 502, 513, 503)


def uneven_frames():
    """Frames whose four sites have the black levels of UNEVEN."""
    black = np.array(UNEVEN).reshape(2, 2, 2)
    tiled = [np.tile(black[..., k], (SHAPE[0] // 2, SHAPE[1] // 2)) for k in (0, 1)]
    return frames_of(LEFT, RIGHT, tiled)


RAWS = {
    "plain.dng": dng(*FRAMES),
    "compressed.dng": dng(*FRAMES, compressed=True),
    "preview.dng": dng(*FRAMES, preview=PREVIEW, compressed=True),
    "levels.dng": dng(*uneven_frames(), repeat=(2, 2), black=UNEVEN),
    "canon.cr2": cr2(*FRAMES),
    "slices.cr2": cr2(*FRAMES, slices=(2, 48, 32)),
}


@pytest.fixture
def write(tmp_path):
    def save(data, name="shot.dng"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return save


def same_area(frames, image):
    """The part of an image that the frames show: LibRaw leaves out the last row and column of a CR2."""
    return image[: frames.both.shape[0], : frames.both.shape[1]]


# ---- frames --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RAWS)
def test_the_pair_comes_back_to_a_count(write, name):
    frames = raw.read_frames(write(RAWS[name], name))
    bright = same_area(frames, LEFT + RIGHT) >= WHITE - 513
    assert 0 < bright.mean() < 0.1
    assert frames.ratio == pytest.approx(2, abs=0.02)
    for found, true in zip(halves(frames), (LEFT, RIGHT), strict=True):
        assert np.abs(found - same_area(frames, true))[~bright].max() <= 1


def test_libraw_reads_what_was_written(write):
    """The trap of rawpy: imread chooses the frame too late, so it returns frame 0 of a CR2 twice."""
    path = write(RAWS["canon.cr2"], "canon.cr2")
    with rawpy.imread(str(path), shot_select=1) as late:
        np.testing.assert_array_equal(late.raw_image, FRAMES[0])
    for number, frame in enumerate(FRAMES):
        early = rawpy.RawPy()
        early.set_unpack_params(shot_select=number)
        early.open_file(str(path))
        np.testing.assert_array_equal(early.raw_image, frame)
        early.close()


def test_levels_of_two_samples_without_a_pattern(write):
    """LibRaw returns [500, 520, 0, 0] for the four colours of these."""
    frames = frames_of(LEFT, RIGHT, (500, 520))
    data = dng(*frames, black=(500, 520))
    found = raw.read_frames(write(without_tag(data, 50713)))
    assert [level.black.tolist() for level in found.levels] == [[[500]], [[520]]]
    assert np.abs(halves(found)[0] - LEFT).max() <= 1


def without_tag(data, tag):
    """The file with a tag renamed to one that nobody knows."""
    where = next(
        i for i in range(0, len(data) - 12, 2) if struct.unpack_from("<HHI", data, i)[:2] == (tag, 3) and i > 200
    )
    return data[:where] + struct.pack("<H", 65000) + data[where + 2 :]


def test_levels_of_rows_and_columns(write):
    across, down = np.arange(SHAPE[1]) % 3, np.arange(SHAPE[0]) % 5
    tags = {50715: (RATIONAL, across.tolist()), 50716: (RATIONAL, down.tolist())}
    frames = frames_of(LEFT, RIGHT, [BLACK + across + down[:, None]] * 2)
    half, _ = halves(raw.read_frames(write(dng(*frames, tags=tags))))
    assert np.abs(half - LEFT).max() <= 1


def test_black_levels_of_a_canon_file_follow_the_colours(write):
    levels = (509, 512, 514, 516)  # red, green, green, blue
    tiled = np.tile(np.array(levels).reshape(2, 2), (SHAPE[0] // 2, SHAPE[1] // 2))
    found = raw.read_frames(write(cr2(*frames_of(LEFT, RIGHT, (tiled, tiled)), black=levels), "a.cr2"))
    assert [level.black.ravel().tolist() for level in found.levels] == [[*levels]] * 2
    assert np.abs(halves(found)[0] - same_area(found, LEFT)).max() <= 1


def test_the_masked_border_of_a_canon_file_is_left_out(write):
    wide = [np.pad(view, ((6, 0), (8, 0))) for view in (LEFT, RIGHT)]
    found = raw.read_frames(write(cr2(*frames_of(*wide), margin=(8, 6)), "a.cr2"))
    assert np.abs(halves(found)[0] - same_area(found, LEFT)).max() <= 1


def test_black_levels_count_from_the_active_area_of_a_dng(write):
    black = np.array(UNEVEN).reshape(2, 2, 2)
    inside = [np.tile(black[..., k], (SHAPE[0] // 2, SHAPE[1] // 2))[:-6, :-6] for k in (0, 1)]
    levels = [np.pad(level, 3, constant_values=7) for level in inside]
    found = raw.read_frames(write(dng(*frames_of(LEFT, RIGHT, levels), margin=3, repeat=(2, 2), black=UNEVEN)))
    height, width = found.both.shape  # LibRaw begins at an even row and column
    assert np.abs(halves(found)[0] - LEFT[4 : 4 + height, 4 : 4 + width]).max() <= 1


def test_the_encoder_of_these_files():
    samples = np.random.default_rng(0).integers(0, 2**14, (6, 10, 1)).astype(np.uint16)
    np.testing.assert_array_equal(imagecodecs.ljpeg_decode(lossless_jpeg(samples)), samples[..., 0])


# ---- views ---------------------------------------------------------------------------------------


def grey(samples):
    """The filter by the book: every pixel is the weighted mean of the nine around it."""
    padded = np.pad(samples.astype(np.float64), 1, mode="reflect")
    weights = np.outer((1, 2, 1), (1, 2, 1)) / 16
    height, width = samples.shape
    return sum(weights[i, j] * padded[i : i + height, j : j + width] for i in range(3) for j in range(3))


def test_views_are_the_filtered_mosaic(write):
    found = raw.split(raw.read_frames(write(RAWS["plain.dng"])), "left")
    good = ~found.clipped
    for view, true in ((found.left, LEFT), (found.right, RIGHT)):
        assert np.abs(view * (WHITE - BLACK) - grey(true))[good].max() < 0.01


def test_a_coloured_wall_leaves_no_pattern(write):
    wall = mosaic(np.broadcast_to((900, 4000, 2000), (*SHAPE, 3)).astype(np.int64))
    found = raw.split(raw.read_frames(write(dng(*frames_of(wall, wall)))), "left")
    assert np.ptp(found.left) < 1e-6
    assert found.left[0, 0] * (WHITE - BLACK) == pytest.approx((900 + 2 * 4000 + 2000) / 4)


def test_clipped_pixels_and_their_neighbours(write):
    left, right = np.full(SHAPE, 3000), np.full(SHAPE, 3100)
    left[10, 20], right[10, 20] = 9000, 9000  # A + B clips, A does not
    found = raw.split(raw.read_frames(write(dng(*frames_of(left, right)))))
    expected = np.zeros(SHAPE, bool)
    expected[9:12, 19:22] = True
    np.testing.assert_array_equal(found.clipped, expected)


def test_the_confidence_of_clipped_pixels_is_0(write):
    path = write(RAWS["plain.dng"])
    clipped = read_one(path, first="left").clipped
    assert 0 < clipped.mean() < 0.2
    for options in ({}, {"filter": "solver"}):
        result = dualpix.disparity(path, first="left", **options)
        assert not result.confidence[clipped].any()
        assert (result.confidence[~clipped] > 0).mean() > 0.9
        assert np.isfinite(result.disparity).all()
        assert result.sigma[clipped].min() >= 0.999 * np.ptp(result.searched)


@pytest.mark.parametrize("name", ["compressed.dng", "slices.cr2"])
def test_the_map_of_a_raw_file(write, name):
    """The whole way, from LibRaw to the map."""
    result = dualpix.disparity(write(RAWS[name], name), first="left", axis="x")
    truth = TRUTH[: result.disparity.shape[0], : result.disparity.shape[1]]
    assert np.median(np.abs(result.disparity - truth)) < 0.15
    assert not any("half" in note for note in result.warnings)


def test_the_views_are_turned_as_the_camera_says(write):
    upright = dualpix.disparity(write(dng(*FRAMES)), first="left", axis="x").disparity
    turned = dualpix.disparity(write(dng(*FRAMES, orientation=6)), first="left", axis="y").disparity
    np.testing.assert_array_equal(turned, np.rot90(upright, -1))


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_the_picture_is_turned_as_the_map_is(write, orientation):
    """It was not, so that the photo of a portrait did not fit its map."""
    plain, path = write(dng(*FRAMES), "plain.dng"), write(dng(*FRAMES, orientation=orientation))
    assert raw.read_picture(path)[1] == raw.read_frames(path).orientation == orientation
    np.testing.assert_array_equal(read_photo(path), upright(read_photo(plain), orientation))


def test_the_picture(write):
    for name in ("plain.dng", "canon.cr2"):
        path = write(RAWS[name], name)
        (picture, _), frames = raw.read_picture(path), raw.read_frames(path)
        assert picture.shape == (*frames.both.shape, 3)
        assert picture.dtype == np.uint16
        linear, _ = raw.read_picture(path, linear=True)
        assert linear.mean() < picture.mean()
    # Black is black in every colour, though LibRaw takes the levels of this file for those of colours.
    dark = np.zeros(SHAPE, np.int64)
    dark[20:, :] = 4000
    data = without_tag(dng(*frames_of(dark, dark), black=(512, 512)), 50713)
    assert raw.read_picture(write(data), linear=True)[0][:16].max() <= 64


# ---- which half ----------------------------------------------------------------------------------


def shaded(tilt):
    """Mosaics whose left view is brighter on the right by that much, in logarithms from the centre to the border."""
    gain = np.exp(tilt / 2 * np.linspace(-1, 1, SHAPE[1]))
    return np.rint(LEFT * gain / 2).astype(np.int64), np.rint(RIGHT / gain / 2).astype(np.int64)


@pytest.mark.parametrize("first", ["left", "right"])
def test_vignetting_tells_the_sides(write, first):
    left, right = shaded(0.4)
    path = write(dng(*frames_of(left, right, first=first)))
    found = raw.split(raw.read_frames(path))
    assert found.sides.half == first
    assert found.sides.reason == "vignetting"
    assert abs(found.sides.tilt) == pytest.approx(0.4, abs=0.1)
    assert np.abs(found.left * (WHITE - BLACK) - grey(left)).max() < 0.01
    (note,) = read_one(path).notes
    assert "measured on phones only" in note
    assert f"give first={'right' if first == 'left' else 'left'}" in note


def test_without_vignetting_nothing_is_assumed_in_silence(write):
    path = write(RAWS["plain.dng"])
    (note,) = read_one(path).notes
    assert note.startswith(f"{path}: nothing tells which half of the pixels is the left view")
    assert note in dualpix.disparity(path).warnings
    assert read_one(path, first="right").notes == ()
    np.testing.assert_array_equal(read_one(path, first="right").left, read_one(path, first="left").right)


def test_a_dark_or_tiny_picture_tells_nothing():
    blank = np.zeros((12, 40), np.float32)
    assert find_sides(blank, blank, np.ones(blank.shape, bool)).reason == "assumed"
    assert find_sides(blank[:2, :2], blank[:2, :2], np.ones((2, 2), bool)).reason == "assumed"


def test_vignetting_of_real_cameras(data_dir):
    """Pixel 3 and 4, whose left and right are known: near things have larger disparities."""
    pairs = []
    for left in sorted((data_dir / "pixel4").glob("*_left.png")):
        right = left.with_name(left.name.replace("left", "right"))
        pairs.append([read_image(path).astype(np.float32) - 1024 for path in (left, right)])
    google = dualpix.read_capture(data_dir / "google/test")
    pairs.append([np.ascontiguousarray(view.T, np.float32) for view in (google.left, google.right)])
    for left, right in pairs:
        good = np.ones(left.shape, bool)
        assert find_sides(left, right, good)[:2] == ("left", "vignetting")
        assert find_sides(right, left, good)[:2] == ("right", "vignetting")


# ---- the commands --------------------------------------------------------------------------------


def test_split_writes_views_and_picture(write, call, tmp_path):
    path, folder = write(RAWS["plain.dng"]), tmp_path / "views"
    code, out, err = call("split", path, "-o", folder, "--linear", "--first", "left")
    assert (code, err) == (0, "")
    assert out.startswith(f"{folder}: left.tiff, right.tiff, picture.tiff, 128x96\nthe stored half is the left view")
    record = json.loads((folder / "split.json").read_text())
    assert record["shot"]["camera"] == "Canon EOS R5"
    assert (record["black"], record["white"]) == ([[512], [512]], [WHITE, WHITE])
    assert record["half"]["reason"] == "given"
    assert 0 < record["clipped"] < 0.2
    good = LEFT + RIGHT < 15000
    good = cv2.erode(good.astype(np.uint8), np.ones((3, 3))) > 0
    for name, true in (("left", LEFT), ("right", RIGHT)):
        stored = tifffile.imread(folder / f"{name}.tiff")
        assert stored.dtype == np.uint16
        assert np.abs(stored * ((WHITE - BLACK) / 65535) - grey(true))[good].max() <= 1  # counts
    assert tifffile.imread(folder / "picture.tiff").shape == (*SHAPE, 3)


def test_split_then_match(write, call, tmp_path):
    path, folder = write(dng(*FRAMES, orientation=8)), tmp_path / "views"
    code, _, err = call("split", path, "-o", folder)
    assert code == 0
    assert err.startswith(f"warning: {path}: nothing tells which half")
    views = [folder / f"{name}.tiff" for name in ("left", "right")]
    assert probe(views[0]).orientation == 8
    assert call("disparity", *views, "--guide", folder / "picture.tiff", "-o", tmp_path / "split.tiff")[0] == 0
    assert call("disparity", path, "-o", tmp_path / "raw.tiff", "--first", "left")[0] == 0
    one, two = (tifffile.imread(tmp_path / f"{name}.tiff") for name in ("split", "raw"))
    assert one.shape == two.shape == SHAPE[::-1]
    assert np.median(np.abs(one - two)) < 0.05


@pytest.mark.parametrize("orientation", [1, 6])
def test_a_raw_file_as_guide(write, call, tmp_path, orientation):
    """The picture of the raw file, as dualpix split writes it, turned as the views are."""
    path = write(dng(*FRAMES, orientation=orientation))
    assert call("split", path, "-o", tmp_path / "views", "--first", "left")[0] == 0
    views = [tmp_path / f"views/{name}.tiff" for name in ("left", "right")]
    found, wanted = (read_pair(*views, guide) for guide in (path, tmp_path / "views/picture.tiff"))
    np.testing.assert_array_equal(found.guide, wanted.guide)
    assert np.ptp(found.guide) > 0
    assert found.source["guide"] == str(path)
    for name, guide in (("a", path), ("b", tmp_path / "views/picture.tiff")):
        code, _, err = call("disparity", *views, "--guide", guide, "-o", tmp_path / f"{name}.npy", "--range", "-4", "4")
        assert code == 0, err
    np.testing.assert_array_equal(*(np.load(tmp_path / f"{name}.npy") for name in "ab"))


def test_a_raw_guide_needs_the_extra_too(write, monkeypatch):
    monkeypatch.setattr(files, "missing", lambda package: package == "rawpy")
    with pytest.raises(InputError, match=r"shot\.dng: is a camera raw file, which needs rawpy: pip install"):
        read_pair(LEFT.astype(np.uint16), RIGHT.astype(np.uint16), write(RAWS["plain.dng"]))


def test_split_keeps_what_is_there(write, call, tmp_path):
    path = write(RAWS["plain.dng"])
    (tmp_path / "views").mkdir()
    (tmp_path / "views/right.tiff").write_bytes(b"mine")
    code, out, err = call("split", path, "-o", tmp_path / "views")
    assert (code, out) == (2, "")
    assert "right.tiff: exists already" in err
    assert [each.name for each in (tmp_path / "views").iterdir()] == ["right.tiff"]


def test_info_describes_raw_files(write, call):
    code, out, _ = call("info", write(RAWS["canon.cr2"], "a.cr2"), write(dng(FRAMES[0], orientation=6), "b.dng"))
    first, second = out.splitlines()
    assert code == 0
    assert first.endswith(
        "a.cr2: raw 127x95 mosaic uint16, 2 dual-pixel frames, black 512, white 16383, Canon EOS 5D Mark IV, "
        "Test 50mm F1.4, 50 mm, F4, focus at 1.15 m"
    )
    assert (
        "b.dng: raw 128x96 mosaic uint16, 96x128 upright (EXIF orientation 6), 1 frame (no dual-pixel data)" in second
    )
    record = json.loads(call("info", "--json", write(RAWS["levels.dng"]))[1])["files"][0]
    assert record["black"] == [[510, 511, 512, 513], [500, 501, 502, 503]]
    assert record["shot"]["focus_distance"] == 1.2


# ---- the shot ------------------------------------------------------------------------------------


def test_shots(write):
    assert read_shot(write(RAWS["canon.cr2"])) == Shot(
        "Canon EOS 5D Mark IV", "Test 50mm F1.4", 50, 4, 1.15, exposure=0.01, iso=100
    )
    assert read_shot(write(RAWS["preview.dng"])).focus_distance == 1.2


def test_the_shot_of_a_cr3(write):
    """Only the boxes with the tags; the pixels of a CR3 cannot be made here."""
    box = lambda kind, body: struct.pack(">I", len(body) + 8) + kind + body  # noqa: E731
    main = box(b"CMT1", tiff_of({271: (2, "Canon"), 272: (2, "Canon EOS R5")}))
    shot = box(b"CMT2", tiff_of({37386: (RATIONAL, 85), 33437: (RATIONAL, 1.2), 42036: (2, "RF85mm F1.2 L USM")}))
    notes = [0] * 40
    notes[20], notes[21] = 250, 230
    note = box(b"CMT3", tiff_of({0x93: (3, notes)}))
    uuid = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
    data = box(b"ftyp", b"crx \0\0\0\1crx isom") + box(b"moov", box(b"uuid", uuid + main + shot + note))
    path = write(data, "a.cr3")
    assert read_shot(path) == Shot("Canon EOS R5", "RF85mm F1.2 L USM", 85, 1.2, 2.4)
    for reader in (read_one, dualpix.disparity):
        with pytest.raises(InputError, match=r"a\.cr3: (is damaged|LibRaw finds no raw)"):
            reader(path)
    with pytest.raises(InputError, match=r"a\.cr3: is a camera raw file: give it alone, or split it first"):
        read_image(path)


def tiff_of(tags):
    tiff = Tiff(b"II*\0\0\0\0\0")
    return tiff.finished(tiff.directory(tags))


# ---- bad input -----------------------------------------------------------------------------------


BURST = dng(FRAMES[0], (FRAMES[0] * 0.97).astype(np.uint16))
DARK = np.full(SHAPE, BLACK, np.uint16)
NO_RAW = dng(*FRAMES, preview=PREVIEW, tags={254: (LONG, 1)})
BAD = {
    "one frame": (dng(FRAMES[0]), 'holds one frame, .* switch on "Dual Pixel RAW" in the camera'),
    "one frame of a Canon": (cr2(FRAMES[0]), 'holds one frame, .* switch on "Dual Pixel RAW"'),
    "cut short": (dng(*FRAMES)[:-5000], "is damaged or cut short: copy it from the camera again"),
    "cut short by a byte": (dng(*FRAMES)[:-1], "is damaged or cut short"),
    "compressed and cut short": (dng(*FRAMES, compressed=True)[:-300], "is damaged or cut short"),
    "Canon cut short": (cr2(*FRAMES)[:-3000], "is damaged or cut short"),
    "the same frame twice": (dng(FRAMES[0], FRAMES[0]), "its two frames are equal, so it is no dual-pixel raw"),
    "burst": (BURST, r"its first frame is 1\.0\d times as bright .* not a burst"),
    "lens cap": (dng(DARK, DARK + (np.arange(SHAPE[1]) % 2).astype(np.uint16)), "is black: take off the lens cap"),
    "too bright": (dng(DARK * 0 + WHITE, DARK), "every pixel is too bright"),
    "preview only": (NO_RAW, "LibRaw finds no raw picture that it can read"),
    "levels that do not fit": (dng(*FRAMES, black=(1, 2, 3)), "has black levels that do not fit its samples"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_raw_files_are_one_sentence(write, call, tmp_path, case):
    data, said = BAD[case]
    path = write(data, "bad.dng")
    with pytest.raises(InputError, match=rf"^{path}: {said}"):
        read_pair(path)
    for command in (("disparity", path, "-o", tmp_path / "out.tiff"), ("split", path, "-o", tmp_path / "views")):
        code, out, err = call(*command)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {path}: ")
        assert err.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["bad.dng"]


def test_a_raw_file_needs_the_extra(write, monkeypatch):
    monkeypatch.setattr(files, "missing", lambda package: package == "rawpy")
    with pytest.raises(
        InputError, match=r"shot\.dng: is a camera raw file, which needs rawpy: pip install 'dualpix\[raw\]'$"
    ):
        read_pair(write(RAWS["plain.dng"]))


def test_the_preview_is_never_taken_for_the_picture(write):
    path = write(RAWS["preview.dng"])
    for read in (read_image, probe):
        with pytest.raises(
            InputError, match=r"is a camera raw file \(page 1: 16x12 thumbnail, .*\): give it alone, or split"
        ):
            read(path)
    assert read_pair(path).shape == SHAPE


def test_a_calibration_of_another_size(write):
    lens = dualpix.Calibration(64, 48)
    with pytest.raises(InputError, match=r"was made for 64x48 pixels but .*shot\.dng is 128x96"):
        dualpix.disparity(write(RAWS["plain.dng"]), calibration=replace(lens, source="calibration lens.json"))


def test_a_raw_file_has_no_layout(write):
    with pytest.raises(InputError, match=r"is a raw file, which holds two views by itself: leave out layout=$"):
        read_pair(write(RAWS["plain.dng"]), layout="side-by-side")
    with pytest.raises(ParameterError, match=r"^first must be left or right, not 'up'$"):
        read_pair(write(RAWS["plain.dng"]), first="up")


def test_the_limit_of_pixels_holds_for_raw_files(write, monkeypatch):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "1000")
    with pytest.raises(InputError, match=r"shot\.dng: 128x96 are 12288 pixels, over the limit of 1000: "):
        read_pair(write(RAWS["plain.dng"]))


# ---- many of them --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RAWS)
def test_the_header_tells_the_size(tmp_path, name):
    (tmp_path / name).write_bytes(RAWS[name])
    found = raw.describe(tmp_path / name)
    assert raw.size(tmp_path / name) == (found["height"], found["width"])


def test_a_damaged_file_has_no_size(tmp_path):
    (tmp_path / "cut.dng").write_bytes(RAWS["plain.dng"][:60])
    with pytest.raises(InputError, match="is damaged or cut short"):
        raw.size(tmp_path / "cut.dng")


def test_a_batch_finds_raw_files_in_a_folder(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/IMG_1.dng").write_bytes(RAWS["plain.dng"])
    (tmp_path / "photos/IMG_2.DNG").write_bytes(RAWS["plain.dng"][:60])
    outcomes = {each.name: each for each in dualpix.batch(tmp_path / "photos", tmp_path / "maps", runner=Here())}
    assert outcomes["IMG_1"].error is None
    assert "IMG_2.DNG" in outcomes["IMG_2"].error
    expected = dualpix.disparity(tmp_path / "photos/IMG_1.dng").disparity
    np.testing.assert_array_equal(dualpix.read_map(tmp_path / "maps/IMG_1.tiff"), expected)
