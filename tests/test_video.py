"""``dualpix video``: what it reads, what it writes, how it goes on, and what it refuses."""

import json
import os
import shutil
import sys
import warnings
from fractions import Fraction

import cv2
import numpy as np
import pytest

import dualpix
from dualpix.clips import api, source, target
from dualpix.clips.parts import Parts, read_moment, write_moment
from dualpix.errors import OutputError
from dualpix.io import encode_png, video, video_files
from dualpix.io.frames import find_frames
from dualpix.method import two_sided
from test_temporal import resting_clip

av = pytest.importorskip("av", reason="PyAV is not installed: pip install 'dualpix[video]'")

SHAPE = (48, 64)
RATE = Fraction(24000, 1001)


def clip_of(count, **kind):
    return resting_clip(count, shape=SHAPE, **kind)


def write_video(path, frames, rate=RATE, codec="ffv1", stored="gray", given="gray"):
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = stored
        for frame in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format=given)))
        container.mux(stream.encode(None))
    return path


@pytest.fixture
def views(tmp_path):
    """Two videos of 7 frames, and the frames."""
    frames = clip_of(7)
    return [
        write_video(tmp_path / f"{side}.mkv", views)
        for side, views in zip("lr", zip(*frames, strict=True), strict=True)
    ], frames


def maps_of(frames, **settings):
    return np.array([result.disparity for result in dualpix.sequence(frames, **settings)])


def decoded(path):
    """The stored codes of a grey video, its rate and its metadata, read with PyAV directly."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        codes = [np.frombuffer(f.planes[0], np.uint16).reshape(f.height, -1)[:, : f.width] for f in frames]
        times = [frame.time for frame in frames]
        return np.array(codes), stream.average_rate, dict(container.metadata), times


def files_under(folder):
    return {str(path.relative_to(folder)): path.is_file() and path.read_bytes() for path in folder.rglob("*")}


# ---- what it writes --------------------------------------------------------------------------------------


def test_float_frames_are_the_maps_of_the_sequence(call, tmp_path, views):
    (left, right), frames = views
    code, out, err = call("video", left, right, "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    assert "7 frames of 64x48" in out
    names = [f"frame_{number:06d}.tiff" for number in range(1, 8)]
    assert sorted(os.listdir(tmp_path / "out")) == ["clip.json", *names]
    assert "clip.json: sidecar of the video out, 7 frames of 64x48, by" in call("info", tmp_path / "out/clip.json")[1]
    found = [dualpix.read_map(tmp_path / "out" / name) for name in names]
    np.testing.assert_array_equal(found, maps_of(frames))
    record = json.loads((tmp_path / "out" / "clip.json").read_text())
    assert (record["frames"], record["rate"], record["grey"]) == (7, "24000/1001", None)
    assert record["sign"].startswith("d = x_left - x_right")
    assert not (tmp_path / "out.parts").exists()


@pytest.mark.parametrize("bits", [16, 12, 10])
def test_a_grey_video_says_what_its_codes_mean(call, tmp_path, views, bits):
    (left, right), frames = views
    out = tmp_path / "depth.mkv"
    code, stdout, _ = call("video", left, right, "-o", out, "--format", f"gray{bits}", "--grey", "-1", "3", "--json")
    assert code == 0
    codes, rate, tags, times = decoded(out)
    meaning = json.loads(tags["DUALPIX"])
    assert meaning == {"quantity": "disparity, px", "black": -1, "white": 3, "near": "white", "bits": bits}
    d = meaning["black"] + codes / (2**bits - 1) * (meaning["white"] - meaning["black"])
    assert np.abs(d - maps_of(frames)).max() <= 0.5001 * 4 / (2**bits - 1)
    assert rate == RATE
    np.testing.assert_allclose(times, np.arange(7) / float(RATE), atol=2e-3)
    told = f"{out}: video 64x48, 7 frames, 23.976 frames/s, disparity in px as {bits}-bit grey: black -1, white 3\n"
    assert call("info", out) == (0, told, "")
    record = json.loads((tmp_path / "depth.json").read_text())
    assert record["grey"] == meaning | {"outside": 0}
    assert json.loads(stdout) == record


def test_every_command_reads_png_frames_by_the_record_of_the_clip(call, tmp_path, views):
    (left, right), frames = views
    folder, name = tmp_path / "out", "frame_000003.png"
    assert call("video", left, right, "-o", folder, "--format", "png", "--grey", "-1", "3")[0] == 0
    expected = maps_of(frames)[2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = dualpix.read_map(folder / name)
    np.testing.assert_allclose(found, expected, atol=0.5001 * 4 / 65535 + 1e-6)
    middle = float(np.median(found))
    code, out, err = call("mask", folder / name, "-o", tmp_path / "m.npy", "--from", middle, "--to", "inf")
    assert (code, err) == (0, "")
    assert f"{100 * (found >= middle).mean():.1f} % inside" in out
    cv2.imwrite(str(tmp_path / "photo.png"), np.full((48, 64, 3), 99, np.uint8))
    options = ("--focus", "20,20", "--aperture", "1", "--json")
    code, out, err = call("refocus", tmp_path / "photo.png", folder / name, "-o", tmp_path / "r.png", *options)
    assert code == 0
    assert "KITTI" not in err
    assert abs(json.loads(out)["focus"]["disparity"] - np.median(expected[16:25, 16:25])) < 1e-3
    np.save(tmp_path / "d.npy", expected)
    options = ("--known", "5,5=0.5", "--focus-distance", "1")
    for path, out in ((folder / name, "z.npy"), (tmp_path / "d.npy", "expected.npy")):
        assert call("depth", path, "-o", tmp_path / out, *options)[::2] == (0, "")
    np.testing.assert_allclose(np.load(tmp_path / "z.npy"), np.load(tmp_path / "expected.npy"), rtol=1e-3)


@pytest.mark.parametrize(
    "name", ["frame_000008.png", "frame_3.png", "frame_000003.tiff", "other.png", "frame_000000.png"]
)
def test_the_record_of_a_clip_is_for_its_frames_only(tmp_path, name):
    grey = {"black": -1, "white": 3}
    record = {"dualpix": "0", "clip": "out", "frames": 7, "format": "png", "unit": "pixels of the input", "grey": grey}
    (tmp_path / "clip.json").write_text(json.dumps(record))
    data = encode_png(np.full((4, 5), 256, np.uint16))
    for each in (name, "frame_000007.png"):
        (tmp_path / each).write_bytes(data)
    assert (dualpix.read_map(tmp_path / name) == 1).all()  # KITTI
    np.testing.assert_allclose(dualpix.read_map(tmp_path / "frame_000007.png"), -1 + 4 * 256 / 65535, rtol=1e-6)


def test_png_frames_are_clipped_to_the_range_with_a_warning(call, tmp_path, views):
    (left, right), frames = views
    code, _, err = call("video", left, right, "-o", tmp_path / "out", "--format", "png", "--grey", 0, 1.3)
    assert code == 0
    assert "of the pixels lie beyond black or white (0 to 1.3 px): give a wider range as --grey" in err
    found = cv2.imread(str(tmp_path / "out" / "frame_000003.png"), cv2.IMREAD_UNCHANGED)
    assert found.dtype == np.uint16
    np.testing.assert_allclose(found / 65535 * 1.3, np.clip(maps_of(frames)[2], 0, 1.3), atol=1.1 * 1.3 / 65535)


@pytest.mark.parametrize("suffix", [".webm", ".mp4", ".mkv"])
def test_a_preview_is_a_colour_video(call, tmp_path, views, suffix):
    (left, right), _ = views
    preview = tmp_path / f"look{suffix}"
    code, _, _ = call("video", left, right, "-o", tmp_path / "out", "--preview", preview, "--weight", 0)
    assert code == 0
    with av.open(str(preview)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 7
    assert frames[0][:48, :64].std() > 5  # colours, not one grey


def test_the_grey_range_is_that_of_the_search_unless_given():
    assert target.grey_of(None, (-4, 5), 16) == target.Grey(-4, 5, 16)
    grey = target.Grey(-1.0, 1.0, 10)
    np.testing.assert_array_equal(grey.codes(np.array([[-9, -1, 0, 1, 9, np.nan]])), [[0, 0, 512, 1023, 1023, 0]])
    assert grey.outside(np.array([[-9, -1, 0, 1, 9, np.nan]])) == 2


# ---- what it reads ---------------------------------------------------------------------------------------


def test_both_views_in_one_video(call, tmp_path):
    frames = clip_of(3)
    for layout, stack in (("side-by-side", np.hstack), ("top-bottom", np.vstack)):
        path = write_video(tmp_path / f"{layout}.mkv", [stack(frame) for frame in frames])
        assert call("video", path, "--layout", layout, "-o", tmp_path / layout)[0] == 0
        found = dualpix.read_map(tmp_path / layout / "frame_000003.tiff")
        np.testing.assert_array_equal(found, maps_of(frames)[2])
    turned = next(source.open_clip(str(path), None, "top-bottom", "right").pairs(2))
    np.testing.assert_array_equal(turned.left, frames[2][1])


def test_numbered_frames(call, tmp_path):
    frames = clip_of(11)
    for side, views in zip(("left", "right"), zip(*frames, strict=True), strict=True):
        (tmp_path / side).mkdir()
        for number, view in enumerate(views):
            cv2.imwrite(str(tmp_path / side / f"{number}.png"), view)
    assert call("video", tmp_path / "left", tmp_path / "right", "-o", tmp_path / "folders")[0] == 0
    patterns = tmp_path / "left" / "%d.png", tmp_path / "right" / "?*.png"
    assert call("video", *patterns, "-o", tmp_path / "depth.mkv", "--fps", "23.976")[0] == 0
    assert decoded(tmp_path / "depth.mkv")[1] == RATE
    found = dualpix.read_map(tmp_path / "folders" / "frame_000011.tiff")  # 10 comes after 9
    np.testing.assert_array_equal(found, maps_of(frames)[10])


def test_deep_and_colour_videos_keep_their_bits(tmp_path):
    rng = np.random.default_rng(0)
    grey = rng.integers(0, 2**16, (2, 8, 10)).astype(np.uint16)
    path = write_video(tmp_path / "grey.mkv", grey, stored="gray16le", given="gray16le")
    np.testing.assert_array_equal(list(video.read_video(path)), grey)
    np.testing.assert_array_equal(list(video.read_video(path, 1)), grey[1:])
    colour = rng.integers(0, 256, (2, 8, 10, 3)).astype(np.uint8)
    path = write_video(tmp_path / "colour.mkv", colour, stored="bgr0", given="rgb24")
    np.testing.assert_array_equal(list(video.read_video(path)), colour)
    assert video.probe_video(path)[:4] == (10, 8, 2, RATE)


# ---- how it goes on --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--two-sided"]], ids=["one side", "both sides"])
def test_a_stopped_run_goes_on_with_the_same_bytes(call, tmp_path, monkeypatch, options):
    """It is stopped after the second segment. The finished two are not solved again."""
    for module, name, count in ((api, "SEGMENT", 3), (two_sided, "BLOCK", 3), (two_sided, "AHEAD", 2)):
        monkeypatch.setattr(module, name, count)
    frames = clip_of(8)
    paths = [write_video(tmp_path / f"{k}.mkv", [frame[k] for frame in frames]) for k in (0, 1)]
    assert call("video", *paths, "-o", tmp_path / "whole.mkv", "--preview", tmp_path / "one.webm", *options)[0] == 0
    out, read, numbers = tmp_path / "depth.mkv", source.Clip.pairs, []
    order = "video", *paths, "-o", out, "--preview", tmp_path / "other.webm", "--json", *options
    with monkeypatch.context() as patch:
        patch.setattr(api.Parts, "keep", stopping_after(2, api.Parts.keep))
        assert call(*order)[0] == 130
    assert not out.exists()

    def noted(self, start):
        numbers.append(start)
        return read(self, start)

    monkeypatch.setattr(source.Clip, "pairs", noted)
    code, stdout, _ = call(*order)
    assert (code, json.loads(stdout)["kept"], numbers) == (0, 6, [6])
    assert out.read_bytes() == (tmp_path / "whole.mkv").read_bytes()
    assert (tmp_path / "other.webm").read_bytes() == (tmp_path / "one.webm").read_bytes()
    assert not list(tmp_path.glob("*part*"))


def stopping_after(count, keep):
    done = []

    def stop(*args):
        keep(*args)
        done.append(1)
        if len(done) == count:
            raise KeyboardInterrupt

    return stop


def test_parts_of_another_clip_are_not_used(call, tmp_path, views, monkeypatch):
    (left, right), _ = views
    monkeypatch.setattr(api, "SEGMENT", 2)
    with monkeypatch.context() as patch:
        patch.setattr(api.Parts, "keep", stopping_after(2, api.Parts.keep))
        assert call("video", left, right, "-o", tmp_path / "out")[0] == 130
    code, _, err = call("video", left, right, "-o", tmp_path / "out", "--weight", "1")
    assert code == 2
    assert "out.parts: holds parts of another clip or other settings: remove it, or --force to start again" in err
    assert call("video", left, right, "-o", tmp_path / "out", "--weight", "1", "--force")[0] == 0
    assert json.loads((tmp_path / "out" / "clip.json").read_text())["kept"] == 0
    (tmp_path / "new.parts").mkdir()
    (tmp_path / "new.parts/note.txt").write_text("mine")
    assert "holds something else: move it away" in call("video", left, right, "-o", tmp_path / "new", "--force")[2]


class Killed(BaseException):
    pass


def killed(*_):
    raise Killed


def kill_at(patch, number):
    """Fail at call `number` of what puts files in place, and at all later ones, so that nothing is tidied up."""
    calls = []

    def failing(do):
        def call(*args, **kwargs):
            calls.append(do)
            if len(calls) > number:
                raise Killed
            return do(*args, **kwargs)

        return call

    for name in ("replace", "rename", "remove", "unlink", "rmdir"):
        patch.setattr(os, name, failing(getattr(os, name)))


@pytest.mark.parametrize("name", ["out", "out.mkv"])
def test_a_kill_while_outputs_are_put_in_place_loses_nothing(call, tmp_path, monkeypatch, name):
    """The second run goes on without --force, although some outputs exist, and solves nothing again."""
    frames = clip_of(2)
    paths = [write_video(tmp_path / f"{k}.mkv", [frame[k] for frame in frames]) for k in (0, 1)]
    made = tmp_path / "made"
    made.mkdir()
    order = "video", *paths, "--preview", made / "preview.webm", "-o", made / name
    assert call(*order)[0] == 0
    wanted = files_under(made)
    with monkeypatch.context() as patch:  # all segments are finished, and nothing is in place
        patch.setattr(api, "_put_in_place", killed)
        with pytest.raises(Killed):
            call(*order, "--force")
    stopped = files_under(made)
    for number in range(100):
        restore(made, stopped)
        with monkeypatch.context() as patch:
            kill_at(patch, number)
            try:
                assert call(*order)[0] == 0
                break
            except Killed:
                pass
        again = call(*order)
        if again[0]:  # only the parts were left, which this call has removed
            assert "exists already" in again[2]
        assert files_under(made).keys() == wanted.keys()
        assert all(files_under(made)[file] == wanted[file] for file in wanted if not file.endswith(".json"))
    assert number > 5


def restore(folder, files):
    shutil.rmtree(folder)
    for name, data in sorted(files.items()):
        path = folder / name
        if data is False:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


def test_a_moment_comes_back_as_it_was(tmp_path):
    clip = dualpix.Sequence()
    clip.add(*clip_of(1)[0])
    write_moment(str(tmp_path / "moment.npz"), clip.moment)
    found = read_moment(str(tmp_path / "moment.npz"))
    assert found.plan.to_dict() == clip.moment.plan.to_dict()
    assert (found.covered, found.cut) == (clip.moment.covered, clip.moment.cut)
    for one, other in ((found.belief, clip.moment.belief),):
        np.testing.assert_array_equal(one.A, other.A)
        np.testing.assert_array_equal(one.B, other.B)
        np.testing.assert_array_equal(
            one.signs.coarser, other.signs.coarser
        ) if other.signs.coarser is not None else None


# ---- what it refuses -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def odd_videos(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("odd")
    frames = clip_of(4)
    lefts, rights = zip(*frames, strict=True)
    write_video(tmp_path / "left.mkv", lefts)
    write_video(tmp_path / "short.mkv", rights[:3])
    write_video(tmp_path / "fast.mkv", rights, rate=Fraction(30))
    write_video(tmp_path / "small.mkv", [view[:, :60] for view in rights])
    write_video(tmp_path / "odd.mkv", [view[:, :61] for view in rights])
    (tmp_path / "text.mkv").write_text("no video")
    (tmp_path / "text.png").write_text("no video")
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["left.mkv", "short.mkv"], "short.mkv has 3 frames but left.mkv has 4: give clips of the same length"),
        (["left.mkv", "fast.mkv"], "fast.mkv has 30 frames/s but left.mkv has 23.976: give videos of the same frame"),
        (["left.mkv", "small.mkv"], "small.mkv is 60x48 but left.mkv is 64x48: give images of the same size"),
        (["left.mkv"], "left.mkv: is one video: say by --layout how it holds both views, or give two videos"),
        (["odd.mkv", "--layout", "side-by-side"], "odd.mkv: has 61 columns, which two views of the same size cannot"),
        (["left.mkv", "left.mkv", "--layout", "top-bottom"], "--layout and --first say how one file holds both views"),
        (["left.mkv", "missing.mkv"], "missing.mkv: no such file: check the path"),
        (["left.mkv", "text.mkv"], "text.mkv: is no video that can be read (Invalid data found"),
        (["left.mkv", "text.png"], "text.png: is in none of the formats read here"),
        (["left.mkv", "https://a.org/b.mkv"], "https://a.org/b.mkv: only dualpix batch reads URLs: download the file"),
        (["empty", "empty"], "empty: this folder holds no pictures"),
        (["left_%04d.png", "left.mkv"], "left_%04d.png: no file matches this pattern"),
        (["*.jpg", "left.mkv"], "*.jpg: no file matches this pattern: check it, and quote it"),
        (["left.mkv", "left.mkv", "--grey", "2", "1"], "grey must be two disparities, the far one first, not 2 and 1"),
        (["left.mkv", "left.mkv", "--fps", "0"], "fps must be a number from 0.01 to 1000, not 0"),
        (["left.mkv", "left.mkv", "--weight", "-1"], "weight must be"),
        (["left.mkv", "left.mkv", "--format", "gray16"], "out: is a folder, and the format gray16 is not for it"),
        (["left.mkv", "left.mkv", "--preview", "look.avi"], "look.avi: a preview is a video: choose a name that ends"),
        (["left.mkv", "left.mkv", "-o", "out.mp4"], "out.mp4: give a folder for frames"),
        (["left.mkv", "left.mkv", "-o", "left.mkv", "--force"], "left.mkv: is an input and would be overwritten"),
        (["left.mkv", "left.mkv", "-o", "no/where"], "does not exist: create it first"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(call, odd_videos, monkeypatch, arguments, message):
    monkeypatch.chdir(odd_videos)
    before = files_under(odd_videos)
    code, out, err = call("video", "-o", "out", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert files_under(odd_videos) == before


def test_existing_outputs_are_kept(call, tmp_path, views):
    (left, right), _ = views
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "note.txt").write_text("mine")
    for force in ([], ["--force"]):
        assert "holds other files: choose a new folder" in call("video", left, right, "-o", tmp_path / "out", *force)[2]
    assert call("video", left, right, "-o", tmp_path / "new", "--weight", 0)[0] == 0
    assert "exists already" in call("video", left, right, "-o", tmp_path / "new")[2]
    assert call("video", left, right, "-o", tmp_path / "new", "--force", "--weight", 0)[0] == 0


def test_inputs_in_the_output_folder_are_never_lost(call, tmp_path):
    frames = tmp_path / "frames"
    frames.mkdir()
    for number, views in enumerate(clip_of(2)):
        cv2.imwrite(str(frames / f"{number}.png"), views[0])
    (frames / "clip.json").write_text("{}")
    code, _, err = call("video", frames, frames, "-o", frames, "--force")
    assert code == 2
    assert "holds inputs, which would be lost: choose another output" in err


def test_a_preview_in_the_folder_of_the_frames_is_refused(call, tmp_path, views):
    """It would be lost when the frames take their place."""
    (tmp_path / "out").mkdir()
    code, _, err = call("video", *views[0], "-o", tmp_path / "out", "--preview", tmp_path / "out/p.webm")
    assert code == 2
    assert "choose another place" in err


def test_pyav_is_named_if_it_is_missing(call, tmp_path, views, monkeypatch):
    (left, right), _ = views
    monkeypatch.setattr(video, "missing", lambda package: True)
    monkeypatch.setitem(sys.modules, "av", None)
    code, _, err = call("video", left, right, "-o", tmp_path / "out")
    assert (code, err) == (2, f"error: {left}: videos need the package PyAV: pip install 'dualpix[video]'\n")
    cv2.imwrite(str(tmp_path / "a1.png"), clip_of(1)[0][0])
    pictures = [tmp_path / "a%d.png"] * 2
    assert call("video", *pictures, "-o", tmp_path / "depth.mkv")[0] == 2
    assert call("video", *pictures, "-o", tmp_path / "out", "--preview", tmp_path / "look.webm")[0] == 2
    assert call("video", *pictures, "-o", tmp_path / "out")[0] == 0  # frames to frames need none


def test_frames_of_a_pattern_must_follow_each_other(tmp_path):
    for number in (7, 8, 10):
        (tmp_path / f"f{number:03d}.png").touch()
    with pytest.raises(dualpix.InputError, match=r"f%03d.png: frame 9 is missing"):
        find_frames(tmp_path / "f%03d.png")
    (tmp_path / "f009.png").touch()
    assert [os.path.basename(each) for each in find_frames(tmp_path / "f%03d.png")][-1] == "f010.png"
    (tmp_path / "f010.jpg").touch()
    with pytest.raises(dualpix.InputError, match="have the same number"):
        find_frames(tmp_path)


def test_a_frame_larger_than_its_file_says_is_not_decoded(tmp_path, monkeypatch):
    frames = [np.full((90, 320, 3), 80, np.uint8)] * 2
    path = write_video(tmp_path / "a.mkv", frames, codec="libvpx-vp9", stored="yuv420p", given="rgb24")
    data = path.read_bytes()
    assert data.count(b"\xb0\x82\x01\x40") == 1  # PixelWidth, two bytes: 320
    path.write_bytes(data.replace(b"\xb0\x82\x01\x40", b"\xb0\x82\x00\x10"))
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "2000")
    for read in (video.probe_video, lambda path: list(video.read_video(path))):
        with pytest.raises(dualpix.InputError, match="frames are over the limit of 2000 pixels"):
            read(path)


def test_a_video_with_too_many_pixels_is_refused_before_it_is_decoded(tmp_path, views, monkeypatch):
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "1000")
    with pytest.raises(dualpix.InputError, match="over the limit of 1000"):
        video.probe_video(views[0][0])


def test_a_damaged_video_is_named(tmp_path, views):
    (left, _), _ = views
    data = left.read_bytes()
    damaged = tmp_path / "damaged.mkv"
    damaged.write_bytes(data[: len(data) // 2])
    clip = source.Clip(source.View(str(damaged), 7), None, "side-by-side")
    with pytest.raises(dualpix.InputError, match=r"damaged\.mkv"):
        list(clip.pairs())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such lock")
def test_a_second_run_does_not_touch_the_parts_of_the_first(tmp_path):
    path = str(tmp_path / "out.parts")
    with Parts(path, "first").opened():
        (tmp_path / "out.parts/segment").write_text("work")
        with pytest.raises(OutputError, match="another dualpix video is writing here"), Parts(path, "second").opened():
            pass
        assert (tmp_path / "out.parts/segment").read_text() == "work"


@pytest.mark.parametrize("suffix", [".mkv", ".webm", ".mp4", ".mov"])
def test_info_describes_other_videos(call, tmp_path, suffix):
    codec = "libvpx-vp9" if suffix == ".webm" else "mpeg4"
    path = write_video(tmp_path / f"a{suffix}", clip_of(1)[0][:1], Fraction(25), codec, "yuv420p")
    assert call("info", path) == (0, f"{path}: video 64x48, 1 frame, 25 frames/s\n", "")
    assert json.loads(call("info", "--json", path)[1]) == {
        "files": [{"path": str(path), "format": "video", "width": 64, "height": 48, "frames": 1, "rate": 25.0}]
    }


@pytest.mark.parametrize(
    "tag",
    [
        *("", "{", "[1]", '{"bits": 10}', '{"bits": 10, "black": 0, "white": "x"}'),
        '{"bits": 1e999, "black": 0, "white": 1}',
        '{"bits": 10, "black": NaN, "white": 1}',
        '{"bits": 10, "black": 1%s, "white": 1}' % ("0" * 400),
    ],
)
def test_a_tag_that_is_not_ours_is_left_out(tag):
    assert video_files._meaning(tag) == {}


def test_info_says_what_is_wrong_with_a_video(call, tmp_path):
    (tmp_path / "a.mkv").write_bytes(b"\x1aE\xdf\xa3" + bytes(100))
    code, out, err = call("info", tmp_path / "a.mkv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "a.mkv: is no video that can be read" in err
