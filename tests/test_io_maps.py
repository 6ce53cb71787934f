"""Maps and previews out and maps back in, outputs whole or not at all."""

import os
import stat
import struct
import tempfile
import warnings
from io import BytesIO
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from dualpix.errors import InputError, OutputError, ParameterError
from dualpix.io import (
    OutputSet,
    check_confidence_path,
    check_map_path,
    check_preview_path,
    encode_map,
    encode_preview,
    output_folder,
    preview,
    probe,
    read_image,
    read_map,
    write_map,
    write_preview,
)
from dualpix.io.previews import _numbers

EXACT = (".tif", ".tiff", ".pfm", ".npy")
NAN = np.nan
TINY, LARGEST = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max

not_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write everything"
)


def save(folder, data, name):
    path = folder / name
    path.write_bytes(data)
    return path


def npy(array, **options):
    file = BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


# ---- round trips ---------------------------------------------------------------------------------


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.floats(width=32)))
def test_float_formats_keep_every_value(values):
    unknown_as_nan = np.where(np.isinf(values), np.float32(NAN), values)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in EXACT:
            path = Path(folder, "map" + suffix)
            write_map(path, values)
            np.testing.assert_array_equal(read_map(path), unknown_as_nan, strict=True)


@given(
    arrays(
        np.float32,
        array_shapes(min_dims=2, max_dims=2, max_side=9),
        elements=st.floats(0, 65535 / 256, width=32) | st.just(NAN),
    )
)
def test_kitti_png_keeps_nan_and_is_right_to_half_a_step(values):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "map.png")
        write_map(path, values)
        back = read_map(path)
    assert back.dtype == np.float32
    np.testing.assert_array_equal(np.isnan(back), np.isnan(values))
    # Values below half a step become the smallest valid code, one step.
    np.testing.assert_allclose(back, np.maximum(values, 1 / 256), rtol=0, atol=0.5 / 256)


@pytest.mark.parametrize("suffix", EXACT)
@pytest.mark.parametrize(
    "values",
    [
        np.array([[-3.25]], np.float32),
        np.array([[-LARGEST, LARGEST, TINY, -TINY, -0.0, NAN, 1 / 3]], np.float32),
        np.arange(11, dtype=np.float32)[:, None] - 5,
        np.full((3, 3), NAN, np.float32),
        np.arange(12.0).reshape(3, 4)[:, ::-1].T,
        np.arange(6).reshape(3, 2),
        [[1, 2, 3]],
    ],
)
def test_float_formats_keep_extremes_and_odd_shapes(tmp_path, suffix, values):
    path = tmp_path / ("map" + suffix.upper())
    write_map(path, values)
    back = read_map(path)
    np.testing.assert_array_equal(back, np.asarray(values, np.float32), strict=True)
    assert back.flags.c_contiguous
    assert back.flags.writeable
    assert (probe(path).height, probe(path).width) == back.shape


def test_other_programs_read_what_is_written(tmp_path):
    values = np.array([[-1.5, NAN, 2.25], [0, 1, 3]], np.float32)
    for suffix in EXACT:
        write_map(tmp_path / ("map" + suffix), values)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "map.tiff"), values, strict=True)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "map.tif"), cv2.IMREAD_UNCHANGED), values, strict=True)
    np.testing.assert_array_equal(np.load(tmp_path / "map.npy"), values, strict=True)
    bottom_up = struct.pack("<6f", 0, 1, 3, -1.5, NAN, 2.25)
    assert (tmp_path / "map.pfm").read_bytes() == b"Pf\n3 2\n-1.0\n" + bottom_up


def test_kitti_codes(tmp_path):
    path = tmp_path / "map.png"
    write_map(path, [[0, 1e-6, 1, NAN, 1.5, 65535 / 256]])
    np.testing.assert_array_equal(read_image(path), np.array([[1, 1, 256, 0, 384, 65535]], np.uint16), strict=True)


def test_encoding_is_deterministic():
    values = np.linspace(0, 9, 35).reshape(5, 7)
    for suffix in (*EXACT, ".png"):
        assert bytes(encode_map("a" + suffix, values)) == bytes(encode_map("b" + suffix, values))


# ---- maps of others ------------------------------------------------------------------------------


def encoded(suffix, image):
    return cv2.imencode(suffix, image)[1].tobytes()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (encoded(".png", np.array([[0, 7, 255]], np.uint8)), [[0, 7, 255]]),
        (encoded(".png", np.array([[0, 256, 65535]], np.uint16)), [[NAN, 1, 65535 / 256]]),
        (encoded(".png", np.full((2, 2, 3), 9, np.uint8)), [[9, 9], [9, 9]]),
        (encoded(".tif", np.array([[0, 7, 65535]], np.uint16)), [[0, 7, 65535]]),
        (encoded(".tif", np.array([[-7, 70000]], np.int32)), [[-7, 70000]]),
        (encoded(".jpg", np.full((8, 8), 90, np.uint8)), np.full((8, 8), 90)),
        (b"P5 2 1 65535\n\0\0\1\0", [[0, 256]]),
        (b"Pf\n2 2\n1.0\n" + struct.pack(">4f", 3, 4, 1, 2), [[1, 2], [3, 4]]),
        (b"Pf 2 1 -0.003922\n" + struct.pack("<2f", 5, np.inf), [[5, NAN]]),
        (b"Pf 1 1 -1e-3\n" + struct.pack("<f", 5), [[5]]),
        (npy(np.array([[1, -2]], np.int16)), [[1, -2]]),
        (npy(np.array([[True, False]])), [[1, 0]]),
        (npy(np.array([[1.5, 1e300, -np.inf]])), [[1.5, NAN, NAN]]),
        (npy(np.asfortranarray([[1.0, 2], [3, 4]])), [[1, 2], [3, 4]]),
        (npy(np.array([[1, 2]], ">f4")), [[1, 2]]),
    ],
)
def test_maps_of_others(tmp_path, data, expected):
    back = read_map(save(tmp_path, data, "truth.dat"))
    np.testing.assert_array_equal(back, np.array(expected, np.float32), strict=True)


PFM = b"Pf\n2 2\n-1\n" + struct.pack("<4f", 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "is empty"),
        (b"no map", "none of the formats.*PFM, NPY"),
        (PFM.replace(b"Pf", b"PF"), "colour PFM.*grey"),
        (PFM[:-1], "15 bytes of pixels .* promises 16"),
        (PFM + b"\n", "17 bytes of pixels .* promises 16"),
        (PFM.replace(b"2 2", b"2 x"), "damaged PFM header"),
        (b"Pf\n0 2\n-1\n", "no pixels"),
        (b"Pf 100000 100000 -1\n", "10000000000 pixels.*DUALPIX_MAX_PIXELS"),
        (npy(np.zeros(3)), r"shape \(3,\)"),
        (npy(np.zeros((3, 3, 3))), r"shape \(3, 3, 3\)"),
        (npy(np.zeros((0, 3))), "no pixels"),
        (npy(np.zeros((3, 3), complex)), "real numbers"),
        (npy(np.array([["a"]])), "real numbers"),
        (npy(np.array([[None]]), allow_pickle=True), "real numbers"),
        (npy(np.zeros((3, 3)))[:-1], "71 bytes of pixels .* promises 72"),
        (npy(np.zeros((3, 3)))[:40], "damaged NPY header"),
        (npy(np.zeros((3, 3))).replace(b"(3, 3)", b"(3, 3"), "damaged NPY header"),
        (
            npy(np.zeros((3, 3))).replace(b"(3, 3), }              ", b"(100000, 100000), }    "),
            "10000000000 pixels.*DUALPIX_MAX_PIXELS",
        ),
        (encoded(".png", np.zeros((2, 2, 3), np.uint8) + np.arange(3, dtype=np.uint8)), "colour image"),
    ],
)
def test_bad_maps_get_one_sentence(tmp_path, data, expected):
    path = save(tmp_path, data, "truth.pfm")
    with pytest.raises(InputError, match=expected) as caught:
        read_map(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_missing_map(tmp_path):
    with pytest.raises(InputError, match=r"none\.pfm: no such file: check the path$"):
        read_map(tmp_path / "none.pfm")


# ---- maps that cannot be written -----------------------------------------------------------------


@pytest.mark.parametrize("values", [[[1, -0.001]], [[1, 256]], [[1, 65535.5 / 256]], [[1, np.inf]], [[-np.inf, 1]]])
def test_kitti_png_refuses_what_it_cannot_hold(tmp_path, values):
    path = tmp_path / "map.png"
    path.write_bytes(b"old")
    with pytest.raises(OutputError, match=r"map\.png: .*from 0 to 255\.996 px, not .*\.tif, \.pfm or \.npy"):
        write_map(path, values)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["map.png"]


@pytest.mark.parametrize("name", ["map.gif", "map.webp", "map", "map.tiff.gz"])
def test_unknown_suffixes_list_the_known(tmp_path, name):
    with pytest.raises(OutputError, match=rf"{name}: .*\.tif, \.tiff, \.pfm, \.npy, \.png"):
        write_map(tmp_path / name, np.ones((2, 2)))
    assert not os.listdir(tmp_path)


def test_check_map_path():
    assert check_map_path("folder.d/OUT.TIFF") == ".tiff"
    with pytest.raises(OutputError, match="choose one of"):
        check_map_path("folder.tiff/out")


def test_check_confidence_path():
    assert check_confidence_path("c.PFM") == ".pfm"
    for name in ("c.png", "c"):
        with pytest.raises(OutputError, match=rf"^{name}: .* choose one of \.tif, \.tiff, \.pfm, \.npy$"):
            check_confidence_path(name)


@pytest.mark.parametrize("check", [check_map_path, check_confidence_path, check_preview_path])
def test_empty_output_paths_are_named(check):
    with pytest.raises(OutputError, match=r"^path: "):
        check("")


@pytest.mark.parametrize("values", [np.ones(3), np.ones((2, 2, 3)), np.ones((0, 2)), np.ones((2, 2), complex), None])
def test_only_maps_are_written(tmp_path, values):
    with pytest.raises(OutputError, match=r"map\.npy: the map has shape .*: give a non-empty HxW array"):
        write_map(tmp_path / "map.npy", values)
    assert not os.listdir(tmp_path)


# ---- outputs whole or not at all -----------------------------------------------------------------


def test_outputs_appear_together_at_the_end(tmp_path):
    one, two, unused = tmp_path / "one", tmp_path / "two", tmp_path / "unused"
    with OutputSet([one, str(two), unused]) as outputs:
        outputs.write(str(one), b"1")
        outputs.write(two, memoryview(b"2"))
        assert not one.exists()
        assert not two.exists()
    assert (one.read_bytes(), two.read_bytes()) == (b"1", b"2")
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_leaves_everything_as_it_was(tmp_path, error):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(b"old")
    outputs = OutputSet([old, new], force=True)

    def fail():
        with outputs:
            outputs.write(old, b"replaced")
            outputs.write(new, b"new")
            raise error

    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == ["old"]
    assert old.read_bytes() == b"old"


def test_existing_files_are_kept_unless_forced(tmp_path):
    path = save(tmp_path, b"old", "out.npy")
    with pytest.raises(OutputError, match=r"out\.npy: exists already.*force=True"):
        OutputSet([path])
    with OutputSet([path], force=True) as outputs:
        outputs.write(path, b"new")
    assert path.read_bytes() == b"new"


def test_files_the_user_did_not_name_are_explained(tmp_path):
    path = save(tmp_path, b"old", "a.json")
    roles = {str(path): "the sidecar of a.pfm"}
    with pytest.raises(OutputError, match=r"a\.json, the sidecar of a\.pfm, exists already: .*force=True"):
        OutputSet([path], roles=roles)
    with pytest.raises(OutputError, match=r"a\.json, the sidecar of a\.pfm, is an input"):
        OutputSet([path], [path], True, roles)


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    path, other = tmp_path / "out", tmp_path / "other"
    outputs = OutputSet([other, path])

    def collide():
        with outputs:
            outputs.write(other, b"mine")
            outputs.write(path, b"mine")
            path.write_bytes(b"theirs")

    with pytest.raises(OutputError, match="exists already"):
        collide()
    assert os.listdir(tmp_path) == ["out"]
    assert path.read_bytes() == b"theirs"


@pytest.mark.parametrize("same", ["out.tiff", "sub/../out.tiff", "link"])
@pytest.mark.parametrize("exists", [True, False])
def test_two_outputs_are_two_files(tmp_path, same, exists):
    path = tmp_path / "out.tiff"
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(path)
    if exists:
        path.write_bytes(b"old")
    with pytest.raises(OutputError, match="named for two outputs"):
        OutputSet([path, tmp_path / same], force=True)


@pytest.mark.parametrize("same", ["left.png", "sub/../left.png", "link"])
def test_an_output_is_not_an_input(tmp_path, same):
    path = save(tmp_path, b"pixels", "left.png")
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(OutputError, match="is an input and would be overwritten"):
        OutputSet([tmp_path / "out.png", tmp_path / same], inputs=[path], force=True)


def test_a_link_is_followed(tmp_path):
    path, link = save(tmp_path, b"old", "real"), tmp_path / "link"
    link.symlink_to(path)
    with OutputSet([link], force=True) as outputs:
        outputs.write(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none/out", "folder .*none does not exist"),
        ("file/out", "file is not a folder"),
        ("folder", "is a folder: add a file name"),
        ("x" * 300, "cannot be written: "),
    ],
)
def test_bad_places_are_refused_at_once(tmp_path, name, expected):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=expected) as caught:
        OutputSet([tmp_path / "good", tmp_path / name], force=True)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipes_and_devices_are_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="not a regular file"):
        OutputSet([tmp_path / "pipe"], force=True)


@not_root
def test_a_folder_without_permission(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="is not writable"):
        OutputSet([tmp_path / "out"])


def test_a_folder_that_claims_no_permission(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(OutputError, match=f"out: the folder {tmp_path} is not writable"):
        OutputSet([tmp_path / "out"])


def test_failures_while_writing_name_the_output(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    outputs = OutputSet([folder / "out"])
    folder.rmdir()
    with pytest.raises(OutputError, match=r"folder/out: cannot be written: No such file"), outputs:
        outputs.write(folder / "out", b"1")


@pytest.mark.skipif(os.name == "nt", reason="no umask")
def test_outputs_have_normal_permissions(tmp_path):
    previous = os.umask(0o027)
    try:
        write_map(tmp_path / "out.npy", [[1]])
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "out.npy").stat().st_mode) == 0o640


def test_output_folder_is_made_and_stays(tmp_path):
    for _ in range(2):
        with output_folder(tmp_path / "new"):
            (tmp_path / "new" / "file").touch()
    assert os.listdir(tmp_path / "new") == ["file"]


@pytest.mark.parametrize("name", ["new", "old"])
def test_output_folder_is_gone_again_after_an_error_if_it_was_new(tmp_path, name):
    (tmp_path / "old").mkdir()
    out = tmp_path / name / "out"

    def fail():
        with output_folder(tmp_path / name), OutputSet([out]) as outputs:
            outputs.write(out, b"1")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert os.listdir(tmp_path) == ["old"]
    assert os.listdir(tmp_path / "old") == []


@pytest.mark.parametrize(
    ("name", "expected"), [("none/new", r"cannot be made \(.*\): choose"), ("file", "is not a folder")]
)
def test_output_folder_that_cannot_be(tmp_path, name, expected):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=expected) as caught, output_folder(tmp_path / name):
        pass
    assert str(caught.value).startswith(f"{tmp_path / name}: ")


# ---- previews ------------------------------------------------------------------------------------


def turbo(level):
    return cv2.applyColorMap(np.array([[level]], np.uint8), cv2.COLORMAP_TURBO)[0, 0, ::-1]


def test_preview_colours_far_blue_near_red_invalid_grey():
    painted = preview([[-2, 0, 2, NAN, np.inf, -9, 9]], vmin=-2, vmax=2)[0, :7]
    expected = [turbo(0), turbo(128), turbo(255), [128] * 3, [128] * 3, turbo(0), turbo(255)]
    np.testing.assert_array_equal(painted, expected)
    assert painted.dtype == np.uint8
    blue_end, red_end = preview([[0.1, 0.9]], vmin=0, vmax=1)[0, :2].astype(int)
    assert blue_end[2] > blue_end[0]
    assert red_end[0] > red_end[2]


def test_preview_range_ignores_outliers_and_nan():
    values = np.linspace(0, 1, 1000).reshape(20, 50)
    values[0, 0], values[0, 1] = 1e6, NAN
    assert len(np.unique(preview(values)[1:20, :50].reshape(-1, 3), axis=0)) > 200


@pytest.mark.parametrize(
    "values",
    [
        [[1.5]],
        np.full((4, 4), NAN),
        np.zeros((1, 2000)),
        np.zeros((300, 1)),
        np.full((3, 3), 1e30),
        [[-LARGEST, LARGEST]],
        [[0, TINY]],
        [[1, NAN]],
        np.arange(6).reshape(2, 3),
    ],
)
@pytest.mark.parametrize("limits", [{}, {"vmin": 3}, {"vmax": -3}, {"vmin": -1, "vmax": 1}])
def test_preview_works_on_anything(values, limits):
    height, width = np.shape(values)
    image = preview(values, **limits)
    assert image.dtype == np.uint8
    assert image.shape[0] > height
    assert image.shape[1] >= width
    grey = (image[:height, :width] == 128).all(axis=2)
    np.testing.assert_array_equal(grey, np.isnan(np.asarray(values, float)))


def test_preview_constant_maps_have_the_middle_colour():
    np.testing.assert_array_equal(preview(np.full((2, 2), 4.0))[0, 0], turbo(128))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2, 2)])
def test_legend_shows_the_bar_and_the_range(low, high):
    values = np.full((5, 600), NAN)
    legend = preview(values, low, high)[5:]
    assert not (legend == turbo(0)).all(axis=2).any()
    values[0, 0] = low
    legend = preview(values, low, high)[5:]
    row = legend[len(legend) // 2]
    first, last = ((row == turbo(level)).all(axis=1).nonzero()[0] for level in (0, 255))
    assert 0 < first[0] < last[-1] < 600
    assert (legend[:, : first[0]] > 200).any()
    assert (legend[:, last[-1] + 1 :] > 200).any()


@pytest.mark.parametrize(
    "changed",
    [{"vmax": 1.5}, {"vmin": -1}, {"unit": "mm"}, {"ends": ("low", "near")}, {"ends": ("far", "high")}],
)
def test_the_legend_says_the_range_the_unit_and_the_ends(changed):
    values, usual = np.zeros((1, 600)), {"vmin": 0, "vmax": 1}
    before, after = preview(values, **usual), preview(values, **(usual | changed))
    assert before.shape != after.shape or (before[1:] != after[1:]).any()


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-3.24, 4.06, ("-3.2", "+4.1")),
        (0, 1, ("0.0", "1.0")),
        (12, 64, ("12.0", "64.0")),
        (-0.001, 12, ("+0.0", "+12.0")),
        (0.101, 0.134, ("0.101", "0.134")),
        (-1e30, 1e30, ("-1e+30", "+1e+30")),
        (1, 1 + 1e-9, ("1.0000", "1.0000")),
    ],
)
def test_the_range_is_printed_to_two_digits_of_its_span(low, high, expected):
    assert _numbers(low, high) == expected


@pytest.mark.parametrize("limits", [(1, 1), (2, 1), (NAN, 1), (0, np.inf), (NAN, None), (None, np.inf)])
def test_preview_range_must_be_a_range(limits):
    with pytest.raises(ParameterError, match="vmin below vmax"):
        preview([[1]], *limits)


@pytest.mark.parametrize("values", [np.ones(3), np.ones((0, 3)), np.ones((2, 2, 3))])
def test_preview_needs_a_map(values):
    with pytest.raises(InputError, match=r"^map: has shape .*: give a non-empty HxW array$"):
        preview(values)


def test_write_preview(tmp_path):
    values = [[1, 2], [3, NAN]]
    write_preview(tmp_path / "p.PNG", values, vmin=0, vmax=4)
    np.testing.assert_array_equal(read_image(tmp_path / "p.PNG"), preview(values, 0, 4), strict=True)
    assert (tmp_path / "p.PNG").read_bytes() == encode_preview(values, 0, 4)
    with pytest.raises(OutputError, match=r"p\.jpg: a preview is a PNG file"):
        write_preview(tmp_path / "p.jpg", values)
    with pytest.raises(OutputError, match=r"ends in \.png"):
        check_preview_path("preview")


def test_nothing_warns_even_when_all_is_nan():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encode_map("m.png", np.full((2, 2), NAN))
        preview(np.full((2, 2), NAN))
