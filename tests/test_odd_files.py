"""Files of other programs that are odd, damaged, or made to do harm: one sentence, or what can be read."""

import struct

import numpy as np
import pytest

import dualpix
from dualpix import InputError
from dualpix.io import _mpo, probe, read_image, read_map, read_one, read_pair
from dualpix.io.one_file import kind_of
from image_files import by_opencv, save
from raw_files import SHORT, dng
from test_captures import pgm
from test_pairs import FILES, HEIC, LEFT, PHOTO, RIGHT, mpo

VIEWS = {"left": LEFT, "right": RIGHT}


def with_kind(data, kind):
    """An MPO of Pillow with another type of its second picture."""
    index = data.index(b"MPF\0") + 4
    order = "<" if data[index : index + 2] == b"II" else ">"
    first = index + _mpo._entries(data[index:], order)[1]
    return data[: first + 16] + struct.pack(order + "I", kind) + data[first + 20 :]


@pytest.mark.parametrize("rest", ["nothing", "something else"])
def test_a_jpeg_with_a_leftover_index_is_one_picture(tmp_path, rest):
    whole = mpo(LEFT, RIGHT)
    second = whole.index(b"\xff\xd8\xff", 2)
    path = save(tmp_path, whole[:second] + (b"" if rest == "nothing" else bytes(len(whole) - second)), "a.jpg")
    assert kind_of(path) == "picture"
    assert np.abs(read_image(path).astype(int) - LEFT).max() <= 3


@pytest.mark.parametrize(
    ("kind", "views", "notes"), [(0x020002, 2, 0), (0x020003, 2, 0), (0, 2, 1), (0x020001, 1, 0), (0x010002, 1, 0)]
)
def test_the_index_of_an_mpo_tells_what_is_a_view(tmp_path, kind, views, notes):
    path = save(tmp_path, with_kind(mpo(LEFT, RIGHT), kind), "a.mpo")
    assert kind_of(path) == ("mpo" if views == 2 else "picture")
    if views == 2:
        assert len(read_one(path).notes) == notes


def test_boxes_after_the_pixels_of_a_jp2(tmp_path):
    data = FILES["photo.jp2"][0]
    start = data.index(b"jp2c") - 4
    fixed = data[:start] + struct.pack(">I", len(data) - start) + data[start + 4 :]
    path = save(tmp_path, fixed + struct.pack(">I4s8s", 16, b"free", b"whatever"), "a.jp2")
    np.testing.assert_array_equal(read_image(path), PHOTO)


def test_a_jp2_of_no_size(tmp_path):
    data = FILES["photo.jp2"][0]
    place = data.index(b"\xff\x4f\xff\x51") + 8
    path = save(tmp_path, data[: place + 8] + data[place : place + 8] + data[place + 16 :], "a.jp2")
    with pytest.raises(InputError, match=r"a\.jp2: is damaged or cut short"):
        read_image(path)


@pytest.mark.parametrize("kind", [b"VP8 ", b"VP8L"])
def test_a_short_chunk_of_a_webp(tmp_path, kind):
    body = {b"VP8 ": b"\0\0\0\x9d\x01\x2a\1\0", b"VP8L": b"\x2f\0"}[kind]
    chunks = b"WEBP" + kind + struct.pack("<I", len(body)) + body
    with pytest.raises(InputError, match="is a damaged WebP"):
        read_image(save(tmp_path, b"RIFF" + struct.pack("<I", len(chunks)) + chunks))


def test_a_heic_is_measured_before_it_is_cropped(tmp_path, monkeypatch):
    pytest.importorskip("pi_heif")
    path = save(tmp_path, HEIC, "a.heic")
    assert (probe(path).width, probe(path).height) == (24, 16)
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "1000")
    with pytest.raises(InputError, match=r"a\.heic: 64x64 are 4096 pixels, over the limit of 1000"):
        read_image(path)


def test_an_exr_with_two_parts(tmp_path):
    OpenEXR = pytest.importorskip("OpenEXR")
    parts = [
        OpenEXR.Part({"type": OpenEXR.scanlineimage}, {"Z": np.zeros((4, 5), np.float32)}, name)
        for name in ("one", "two")
    ]
    OpenEXR.File(parts).write(str(tmp_path / "a.exr"))
    for read in (read_map, probe):
        with pytest.raises(InputError, match=r"a\.exr: has 2 parts, .*: export that part alone$"):
            read(tmp_path / "a.exr")


@pytest.mark.parametrize("repeat", [(65535, 65535), (0, 1), (1,), (65, 1)])
def test_black_levels_that_repeat_too_rarely(tmp_path, repeat):
    pytest.importorskip("rawpy")
    frame = np.full((96, 128), 900, np.uint16)
    path = save(tmp_path, dng(frame * 2, frame, black=(512,), tags={50713: (SHORT, repeat)}), "a.dng")
    with pytest.raises(InputError, match=r"a\.dng: has damaged black or white levels"):
        read_one(path)


@pytest.mark.parametrize("name", ["junk.CR3", "junk.dng"])
def test_a_raw_file_by_name_only(tmp_path, call, name):
    path = save(tmp_path, b"no raw file at all", name)
    for command in (("info", path), ("split", path, "-o", tmp_path / "views")):
        code, _, err = call(*command)
        assert (code, err) == (
            2,
            f"error: {path}: is no raw file that LibRaw can read: copy it from the camera again\n",
        )


def test_info_of_a_folder_that_is_no_capture(tmp_path, call):
    code, _, err = call("info", tmp_path)
    assert code == 2
    assert err.startswith(f"error: {tmp_path}: is a folder without left_pd")


def test_the_same_picture_twice_is_matched_with_a_warning(tmp_path):
    first, second = (save(tmp_path, by_opencv(".png", LEFT), name) for name in ("a.png", "b.png"))
    (note,) = read_pair(first, second).notes
    assert note == f"{second}: is the same picture as the left view: give the left and the right view of one shot"
    both = save(tmp_path, by_opencv(".png", np.hstack([LEFT, LEFT])), "both.png")
    assert len(read_pair(both, layout="side-by-side").notes) == 1
    assert note in dualpix.disparity(first, second).warnings


def test_exchanged_views_exchange_their_files(tmp_path):
    left, right = (pgm(tmp_path / f"a_{side}.pgm", view.astype(np.uint16) * 256) for side, view in VIEWS.items())
    assert read_one(left, first="right").source == {"left": str(right), "right": str(left)}


def test_one_picture_cannot_be_split(tmp_path, call):
    path = save(tmp_path, by_opencv(".png", LEFT), "a.png")
    code, _, err = call("split", path, "-o", tmp_path / "views")
    assert code == 2
    assert err.startswith(
        f"error: {path}: is one picture, so there is nothing to split: if it holds both views, give --l"
    )
    assert not (tmp_path / "views").exists()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_orientation_of_a_raw_file(tmp_path, orientation):
    raw = pytest.importorskip("dualpix.io.raw")
    pytest.importorskip("rawpy")
    frame = np.full((96, 128), 2000, np.uint16)
    frame[::2] += 100
    data = dng(frame * 2 - 512, frame, orientation=orientation)
    assert raw.read_frames(save(tmp_path, data, "a.dng")).orientation == orientation


def test_a_new_split_leaves_no_old_picture(tmp_path, call):
    both = save(tmp_path, by_opencv(".png", np.hstack([LEFT, RIGHT])), "both.png")
    views = tmp_path / "views"
    views.mkdir()
    save(views, b"old", "picture.tiff")
    line = ("split", both, "--layout", "side-by-side", "-o", views)
    assert call(*line)[0] == 2
    assert (views / "picture.tiff").exists()
    assert call(*line, "--force")[0] == 0
    assert sorted(path.name for path in views.iterdir()) == ["left.tiff", "right.tiff", "split.json"]
