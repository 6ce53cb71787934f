"""Networks of other people: how views go in, what comes out, and what is said of files that do not fit."""

import importlib.util
import json
import os
import pickle
import re
from itertools import pairwise

import cv2
import numpy as np
import onnx
import pytest

import dualpix
from conftest import ROOT, textured_pair
from dualpix.cli.say import in_options
from dualpix.errors import InputError, ParameterError
from dualpix.evaluation import paper, reproduction
from dualpix.evaluation.methods import Learned, files_of, method
from dualpix.evaluation.outcomes import Scene
from dualpix.networks import KEYS, Recipe, file, open_network, pieces
from dualpix.networks import network as running
from dualpix.networks.reasons import reason
from onnx_files import moved_tensor, node, picking, save, slope_network, tensor_in_file, trained_kernel

DERIVATIVE = (0.5, 0, -0.5)[::-1]  # correlation: (L(x + 1) - L(x - 1)) / 2
ANY = [1, 2, None, None]


@pytest.fixture
def views():
    """Colour views, left and right, uint8."""
    return np.random.default_rng(0).integers(0, 256, (2, 30, 41, 3), np.uint8)


def shifted(d, shape=(60, 80), seed=0):
    return [view / np.float32(255) for view in textured_pair(shape, d, seed)]


# ---- what goes in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("channel", range(6))
def test_stacked_views(tmp_path, views, channel):
    d = open_network(picking(tmp_path / "n.onnx", [1, 6, None, None], channel)).disparity(*views)
    np.testing.assert_allclose(d, views[channel // 3][..., channel % 3] / 255, atol=1e-6)
    assert (d.dtype, d.shape) == (np.float32, (30, 41))


def test_order_of_colours_and_views(tmp_path, views):
    path = picking(tmp_path / "n.onnx", [1, 6, None, None], 0)
    d = open_network(path, "colour=bgr&first=right").disparity(*views)
    np.testing.assert_allclose(d, views[1][..., 2] / 255, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_normalisation(tmp_path, dtype):
    """x = (white I - mean) / std, for every type of image; grey views have three equal channels."""
    full = 1 if dtype == np.float32 else np.iinfo(dtype).max
    unit = np.random.default_rng(1).random((12, 13), np.float32)
    view = (unit * full).astype(dtype)
    path = picking(tmp_path / "n.onnx", [1, 6, "h", "w"], 4)
    d = open_network(path, white=255, mean=(1, 2, 3), std=(4, 5, 6)).disparity(view * 0, view)
    np.testing.assert_allclose(d, (255 * (view / full) - 2) / 5, rtol=1e-5, atol=1e-4)


def test_two_inputs_of_either_order(tmp_path, views):
    """The output is left minus right, in colours; NHWC is what the shape says."""
    for name, shape in (("nchw", [1, 3, None, None]), ("nhwc", ["n", None, None, 3])):
        path = save(tmp_path / f"{name}.onnx", [node("Sub", "a b", "y")], {"a": shape, "b": shape})
        d = open_network(path, channel=-1).disparity(*views)
        np.testing.assert_allclose(d, (views[0] - views[1].astype(float))[..., 2] / 255, atol=1e-6)


def test_side_by_side(tmp_path):
    """A network that looks 41 px to the right sees the right view; the result is cut in the network."""
    weights = {"from": np.array([41]), "to": np.array([82]), "axis": np.array([3])}
    path = save(tmp_path / "n.onnx", [node("Slice", "x from to axis", "y")], {"x": [1, 1, None, None]}, weights)
    left, right = np.random.default_rng(2).random((2, 30, 41), np.float32)
    np.testing.assert_allclose(open_network(path, layout="side-by-side").disparity(left, right), right, atol=1e-6)


def test_grey_is_luma(tmp_path, views):
    d = open_network(picking(tmp_path / "n.onnx", ANY, 1)).disparity(*views)
    np.testing.assert_allclose(d, views[1] @ [0.299, 0.587, 0.114] / 255, atol=1e-5)


@pytest.mark.parametrize("kind", ["FLOAT16", "DOUBLE"])
def test_other_numbers(tmp_path, views, kind):
    dtype = getattr(onnx.TensorProto, kind)
    shape = [1, 1, None, None]
    path = save(tmp_path / "n.onnx", [node("Sub", "a b", "y")], {"a": shape, "b": shape}, dtype=dtype)
    expected = (views[0] - views[1].astype(float)) @ [0.299, 0.587, 0.114] / 255
    np.testing.assert_allclose(open_network(path).disparity(*views), expected, atol=2e-3)


# ---- what comes out --------------------------------------------------------------------------------------


def test_gain_offset_and_outputs(tmp_path, views):
    nodes = [node("Identity", "x", "y"), node("Neg", "x", "z")]
    path = save(tmp_path / "n.onnx", nodes, {"x": [1, 6, None, None]}, outputs=("y", "z"))
    plane = views[1][..., 0] / np.float32(255)
    for output in (1, -1):
        network = open_network(path, output=output, channel=3, gain=-2, offset=0.5)
        np.testing.assert_allclose(network.disparity(*views), 2 * plane + 0.5, atol=1e-6)


@pytest.mark.parametrize("rank", [2, 3, 4])
def test_outputs_with_fewer_axes(tmp_path, rank):
    left, right = np.random.default_rng(3).random((2, 9, 11), np.float32)
    weights = {"axes": np.arange(4 - rank)}
    nodes = [node("Sub", "a b", "d"), node("Squeeze", "d axes", "y") if rank < 4 else node("Identity", "d", "y")]
    shape = [1, 1, None, None]
    path = save(tmp_path / "n.onnx", nodes, {"a": shape, "b": shape}, weights, rank=rank)
    np.testing.assert_allclose(open_network(path).disparity(left, right), left - right, atol=1e-5)


def test_a_smaller_map_is_enlarged(tmp_path):
    nodes = [node("AveragePool", "x", "p", kernel_shape=[4, 4], strides=[4, 4]), node("Conv", "p w", "y")]
    w = np.array([1, 0], np.float32).reshape(1, 2, 1, 1)
    path = save(tmp_path / "n.onnx", nodes, {"x": ANY}, {"w": w})
    left = np.tile(np.linspace(0, 1, 42, dtype=np.float32), (30, 1))
    d = open_network(path, multiple=4).disparity(left, left)
    assert d.shape == (30, 42)
    np.testing.assert_allclose(d[:, 4:-6], left[:, 4:-6], atol=1e-5)


def test_a_shift_is_found_with_its_sign(tmp_path):
    """Convolutions that find a small shift; the other sign of the network is turned by the gain."""
    path = slope_network(tmp_path / "n.onnx", DERIVATIVE)
    for d in (-0.4, 0.3):
        found = open_network(path).disparity(*shifted(d))
        assert np.median(found) == pytest.approx(d, abs=0.05)
        turned = open_network(path, first="right", gain=-1).disparity(*shifted(d))
        assert np.median(turned) == pytest.approx(d, abs=0.05)


def test_resized_views(tmp_path):
    """At half the width a disparity is half as large; the map has it in px of the views."""
    path = slope_network(tmp_path / "n.onnx", DERIVATIVE)
    left, right = (cv2.resize(view, (160, 120), interpolation=cv2.INTER_CUBIC) for view in shifted(0.4))
    d = open_network(path, width=80).disparity(left, right)
    assert d.shape == (120, 160)
    assert np.median(d) == pytest.approx(0.8, abs=0.1)


# ---- sizes -----------------------------------------------------------------------------------------------


def test_padding_reflects_and_is_cropped(tmp_path):
    """The network moves its input to the left by 3: the last columns are what the padding was."""
    path = picking(tmp_path / "n.onnx", ANY, 0, x=-3)
    left = np.random.default_rng(4).random((5, 12), np.float32)
    d = open_network(path, multiple=8).disparity(left, left)
    np.testing.assert_allclose(d, np.pad(left, ((0, 0), (0, 4)), mode="reflect")[:, 3:15], atol=1e-6)


def test_sizes_are_multiples(tmp_path):
    """Halving and doubling needs even sizes; without a multiple the sentence says what to give."""
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[8, 8], strides=[8, 8]),
        node("Resize", "p  scales", "u"),
        node("Add", "u x", "s"),
        node("Conv", "s w", "y"),
    ]
    nodes[1].input[:] = ["p", "", "scales"]
    weights = {"scales": np.float32([1, 1, 8, 8]), "w": np.ones((1, 2, 1, 1), np.float32)}
    path = save(tmp_path / "n.onnx", nodes, {"x": ANY}, weights)
    left = np.zeros((20, 27), np.float32)
    assert open_network(path, multiple=8).disparity(left, left).shape == (20, 27)
    with pytest.raises(InputError, match=r"fails for inputs of 1x2x20x27 \(.*\): give the multiple"):
        open_network(path).disparity(left, left)


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (31, 100), (64, 48), (200, 97)])
def test_fixed_sizes_are_tiles(tmp_path, shape):
    """The network takes 64x48 only. Every pixel of smaller and larger views comes through once."""
    path = picking(tmp_path / "n.onnx", [1, 2, 64, 48], 0)
    left = np.random.default_rng(5).random(shape, np.float32)
    np.testing.assert_allclose(open_network(path).disparity(left, left), left, atol=1e-5)


def test_one_fixed_side(tmp_path):
    path = picking(tmp_path / "n.onnx", [1, 2, 32, "w"], 0)
    left = np.random.default_rng(6).random((70, 45), np.float32)
    np.testing.assert_allclose(open_network(path, multiple=16).disparity(left, left), left, atol=1e-5)


def test_tiles_blend_without_seams(tmp_path):
    """Each tile has an error at its edges, where its surroundings are missing; overlap and weights remove it."""
    path = slope_network(tmp_path / "n.onnx", DERIVATIVE)
    left, right = shifted(0.3, (200, 300))
    whole = open_network(path).disparity(left, right)
    hard = np.abs(open_network(path, tile=64, overlap=0).disparity(left, right) - whole)
    soft = np.abs(open_network(path, tile=64, overlap=32).disparity(left, right) - whole)
    assert hard.max() > 5 * soft.max() > 0
    assert np.median(soft) < 1e-6


def test_large_views_are_cut(tmp_path, monkeypatch):
    sizes = []
    real = running.Network._piece
    monkeypatch.setattr(
        running.Network,
        "_piece",
        lambda self, window, *rest: sizes.append([s.stop - s.start for s in window]) or real(self, window, *rest),
    )
    network = open_network(picking(tmp_path / "n.onnx", ANY, 0))
    left = np.random.default_rng(7).random((1100, 2000), np.float32)
    np.testing.assert_allclose(network.disparity(left, left), left, atol=1e-5)
    assert np.prod(left.shape) > pieces.WHOLE
    assert len(sizes) == 6
    assert np.max(sizes) == pieces.TILE


@pytest.mark.parametrize(
    ("size", "tile", "overlap"), [(100, 30, 10), (100, 30, 15), (31, 30, 0), (64, 64, 16), (999, 32, 3)]
)
def test_windows_cover_evenly(size, tile, overlap):
    spans = list(pieces._spans(size, tile, overlap))
    assert (spans[0].start, spans[-1].stop) == (0, size)
    for before, after in pairwise(spans):
        assert before.stop - before.start == tile
        assert overlap <= before.stop - after.start < tile


# ---- the file --------------------------------------------------------------------------------------------


def test_tensors_in_other_files_of_the_folder(tmp_path, views):
    (tmp_path / "sub").mkdir()
    options = {"save_as_external_data": True, "size_threshold": 0}
    w = np.zeros((1, 2, 1, 1), np.float32)
    w[0, 0] = 1
    nodes = [node("Conv", "x w", "y")]
    path = save(tmp_path / "n.onnx", nodes, {"x": ANY}, {"w": w}, location="w.bin", **options)
    assert (tmp_path / "w.bin").is_file()
    network = open_network(path)
    np.testing.assert_allclose(network.disparity(*views), views[0] @ [0.299, 0.587, 0.114] / 255, atol=1e-5)
    (tmp_path / "w.bin").write_bytes(np.float32([0, 1]).tobytes())
    assert open_network(path).digest != network.digest
    running._built.cache_clear()
    with pytest.raises(InputError, match="has changed since it was checked"):
        network.disparity(*views)


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize(
    "location", ["/etc/hostname", "../w.bin", "a/../../w.bin", "C:\\w.bin", "link", "", "*/_ORT_MEM_ADDR_/*"]
)
def test_files_outside_the_folder_are_never_opened(tmp_path, monkeypatch, location, inner):
    (tmp_path / "w.bin").write_bytes(bytes(8))
    (tmp_path / "in").mkdir()
    os.symlink(tmp_path / "w.bin", tmp_path / "in/link")
    path = moved_tensor(tmp_path / "in/n.onnx", location, inner)
    monkeypatch.setattr(running, "_session", lambda *args, **kwargs: pytest.fail("ONNX Runtime was asked"))
    with pytest.raises(InputError, match="outside its folder: export it with all tensors in one file"):
        open_network(path)


@pytest.mark.parametrize("tag", [13 << 3 | 2 | 1 << 32, 13 << 3 | 2 | 1 << 34, 0 << 3 | 2])
def test_tags_that_other_readers_take_for_another_field_are_refused(tmp_path, tag):
    """C++ keeps 32 bits of a tag, so bits above may hide where a tensor is."""
    path = tmp_path / "n.onnx"
    path.write_bytes(tensor_in_file("w.bin", 13 << 3 | 2))
    with pytest.raises(InputError, match=r"its tensors are in w\.bin, which is missing"):
        open_network(path)
    path.write_bytes(tensor_in_file("w.bin", tag))
    with pytest.raises(InputError, match="is not an ONNX file, or is cut short: export the network again"):
        open_network(path)


def test_the_number_of_fields_is_limited(tmp_path, monkeypatch):
    path = slope_network(tmp_path / "n.onnx", DERIVATIVE)
    monkeypatch.setattr(file, "MOST_FIELDS", 150)
    open_network(path)
    path.write_bytes(b"\x3a\0" * 151)
    with pytest.raises(InputError, match="has more than 150 fields: export a network of fewer nodes"):
        open_network(path)


def test_a_file_that_is_missing_or_too_large(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"n\.onnx: its tensors are in gone\.bin, which is missing: put it beside"):
        open_network(moved_tensor(tmp_path / "n.onnx", "gone.bin"))
    with pytest.raises(InputError, match=r"its tensors are in x{300}, which is missing"):
        open_network(moved_tensor(tmp_path / "n.onnx", "x" * 300))
    moved_tensor(tmp_path / "n.onnx", "gone.bin")
    (tmp_path / "gone.bin").write_bytes(bytes(1000))
    monkeypatch.setattr(file, "LARGEST", 1000)
    with pytest.raises(InputError, match=r"n\.onnx: has more than .* with all its files"):
        open_network(tmp_path / "n.onnx")


@pytest.mark.parametrize("damage", ["empty", "text", "half", "flatbuffer", "folder", "gone", "zeros"])
def test_what_is_no_network(tmp_path, damage):
    path = picking(tmp_path / "n.onnx", ANY, 0)
    data = path.read_bytes()
    if damage in ("folder", "gone"):
        path.unlink()
    if damage == "folder":
        path.mkdir()
    others = {"empty": b"", "text": b"hello", "half": data[: len(data) // 2], "flatbuffer": b"\x18\0\0\0ORTM" + data}
    if damage in (others := others | {"zeros": bytes(100)}):
        path.write_bytes(others[damage])
    with pytest.raises(InputError) as caught:
        open_network(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


def test_any_damage_is_one_sentence(tmp_path, capfd):
    path = slope_network(tmp_path / "n.onnx", DERIVATIVE)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(8)
    left = np.zeros((8, 8), np.float32)
    refusals = []
    for _ in range(150):
        broken = data.copy()
        for place in rng.integers(0, len(data), 3):
            broken[place] = rng.integers(256)
        path.write_bytes(broken)
        try:
            open_network(path).disparity(left, left)
        except (InputError, ParameterError) as error:
            refusals.append(str(error))
    assert 0 < len(refusals) < 150
    assert not any("\n" in each for each in refusals)
    assert capfd.readouterr() == ("", "")  # ONNX Runtime prints nothing


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ({"ir_version": 99}, r"n\.onnx: has ir_version 99, but this ONNX Runtime reads up to (\d+): export it with ir"),
        ({"opset": 99}, r"n\.onnx: has opset 99, but this ONNX Runtime reads up to (\d+): export it with opset \1 or"),
    ],
)
def test_a_file_that_is_too_new(tmp_path, version, says):
    path = picking(tmp_path / "n.onnx", ANY, 0)
    model = onnx.load(path)
    model.ir_version = version.get("ir_version", 8)
    model.opset_import[0].version = version.get("opset", 13)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match=says):
        open_network(path)


def test_the_reason_of_a_failure_is_told_without_its_place(tmp_path):
    """ONNX Runtime names a C++ file and a signature before it says why."""
    weights = {"shape": np.array([1, 2, 5, 5])}
    path = save(tmp_path / "n.onnx", [node("Reshape", "x shape", "y")], {"x": ANY}, weights)
    view = np.zeros((7, 8), np.float32)
    with pytest.raises(InputError, match=r"Input shape:\{1,2,7,8\}, requested shape:\{1,2,5,5\}\): give") as caught:
        open_network(path).disparity(view, view)
    assert "onnxruntime::" not in str(caught.value)


@pytest.mark.parametrize(
    "place",
    [
        "/src/core/a.h:5 void o::B::Init(const std::function<int(int)>&, bool) ",
        "/src/core/a.cc:377 o::common::Status o::Grid<T>::Compute(o::Context*) const [with T = float] ",
        r"D:\a\_work\core\a.cc:12 o::Model::Model ",
        "",
    ],
)
def test_places_of_each_compiler_are_left_out(place):
    error = Exception(f"[ONNXRuntimeError] : 1 : FAIL : running Add: {place}is 3 (of 4), a::b too\n")
    assert reason(error) == "running Add: is 3 (of 4), a::b too"
    assert reason(Exception("x" * 1000 + "the end")).endswith("the end")


# ---- the recipe ------------------------------------------------------------------------------------------


def test_the_recipe_is_beside_the_network_or_in_its_name(tmp_path):
    path = picking(tmp_path / "n.onnx", [1, 6, None, None], 0)
    (tmp_path / "n.toml").write_text("white = 255\nmean = [1, 2, 3]\nmultiple = 32\n")
    found = open_network(path, "gain=-1&multiple=8&std=1,2,3", offset=2)
    assert found.recipe == Recipe(white=255, mean=(1, 2, 3), std=(1, 2, 3), multiple=8, gain=-1, offset=2)
    assert json.loads(json.dumps(found.parameters))["recipe"]["mean"] == [1, 2, 3]


def test_every_key_is_documented():
    text = (ROOT / "docs/networks.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE) == list(KEYS) == list(Recipe().to_dict())


@pytest.mark.parametrize(
    ("shape", "query", "says"),
    [
        (ANY, "padding=3", r"n\.onnx: unknown key 'padding': .*layout, axes, colour, first, white"),
        (ANY, "layot=two", "did you mean layout?"),
        (ANY, "white", r"n\.onnx: \?white is not KEY=VALUE, .*such as \?layout=stacked&white=255$"),
        (ANY, "gain=0", r"n\.onnx: gain must be a number from -1e\+09 to 1e\+09 except 0, not '0'"),
        (ANY, "layout=three", "layout must be auto or two or stacked or side-by-side, not 'three'"),
        (ANY, "std=0", "std must be a number above 0"),
        (ANY, "mean=1,2", "mean must be"),
        (ANY, "mean=1,2,3", "mean has three numbers, but .* takes grey views"),
        (ANY, "white=nan", "white must be"),
        (ANY, "output=1", "output=1, but .* has 1 output, counted from 0"),
        (ANY, "layout=two", r"'layout=two', but .* has 1 input, x \(1 x 2.*: say how .*, 'layout=stacked', in"),
        (ANY, "colour=rgb", r"colour=rgb, but .* 2 channels"),
        ([1, 2, None, 5], "axes=nhwc", "no axis has 2 or 6 channels"),
        (ANY, "tile=100&multiple=32", "tile=100 is not a multiple of 32"),
        (ANY, "tile=64&overlap=33", "overlap=33 is more than half a tile of 64"),
        (ANY, "overlap=600", "overlap=600 is more than half a tile of 1024"),
        ([1, 2, 64, 64], "tile=32", "tile=32, but .* fixes its size, 64x64"),
        ([1, 2, 64, 64], "overlap=40", "more than half a tile of 64"),
        ([1, 3, None, None], "", "has one input.* both views, 'layout=side-by-side', in the file"),
        ([1, None, None, 1], "", "has one input.* both views, 'layout=side-by-side', in the file"),
        ([1, None, None, None], "", "has one input.* both views, 'layout=stacked' or 'layout=side-by-side', in"),
        ([1, 8, 8, None], "axes=nhwc", "has one input.* 'layout=stacked' or 'layout=side-by-side'"),
        ([1, 4, None, None], "", "has one input.* export it with an input for each view, or with the 2 or 6 channels"),
        ([1, 3, None, 63], "layout=side-by-side", "takes a width of 63"),
        ([1, 5, None, None], "layout=stacked", "no axis has 2 or 6 channels"),
        ([None] * 4, "layout=stacked", "give axes=nchw or axes=nhwc"),
        ([None] * 4, "layout=stacked&axes=nchw", "give colour=rgb or grey"),
        ([4, 2, None, None], "", "for one pair"),
        ([2, None, None], "layout=stacked", "with four axes"),
    ],
)
def test_a_recipe_that_does_not_fit(tmp_path, shape, query, says):
    path = save(tmp_path / "n.onnx", [node("Identity", "x", "y")], {"x": shape}, rank=len(shape))
    with pytest.raises((InputError, ParameterError), match=says) as refused:
        open_network(path, query)
    assert in_options(str(refused.value)) == str(refused.value)  # the command says the same: a key is no option


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"a": ANY, "b": ANY, "steps": [1]}, r"has 3 inputs \(a, b, steps\), not one or two"),
        ({}, "has 0 inputs"),
        ({"a": [1, 3, None, None], "b": [1, 1, None, None]}, "differ"),
    ],
)
def test_a_wrong_number_of_inputs(tmp_path, inputs, says):
    nodes = [node("Identity", "a", "y")] if inputs else [node("Constant", "", "y", value_float=1.0)]
    with pytest.raises(InputError, match=says):
        open_network(save(tmp_path / "n.onnx", nodes, inputs, rank=4 if inputs else 0))


def test_whole_numbers_are_refused(tmp_path):
    path = save(tmp_path / "n.onnx", [node("Identity", "x", "y")], {"x": ANY}, dtype=onnx.TensorProto.UINT8)
    with pytest.raises(InputError, match=r"takes tensor\(uint8\), not floating-point numbers"):
        open_network(path)


@pytest.mark.parametrize(
    ("nodes", "settings", "says"),
    [
        ([node("Log", "x", "y")], {}, "gave NaN or infinity in all pixels"),
        ([node("Identity", "x", "y")], {"channel": 2}, "has 2 channels, counted from 0: channel=2"),
        ([node("GlobalAveragePool", "x", "y")], {}, "gave 1 x 2 x 1 x 1 for views of 8x7"),
        ([node("Cast", "x", "y", to=onnx.TensorProto.INT32)], {}, "output 0 is int32, not a map"),
        ([node("Concat", "x x", "y", axis=3)], {}, "gave 1 x 2 x 7 x 16 for views of 8x7"),
    ],
)
def test_an_output_that_is_no_map(tmp_path, nodes, settings, says):
    dtype = onnx.TensorProto.FLOAT
    path = save(tmp_path / "n.onnx", nodes, {"x": ANY}, dtype=dtype)
    if "int32" in says:
        model = onnx.load(path)
        model.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
        onnx.save(model, path)
    view = np.zeros((7, 8), np.float32)
    with pytest.raises(InputError, match=says):
        open_network(path, **settings).disparity(view, view)


def test_unknown_pixels_give_the_same_sentence_on_all_scenes(tmp_path):
    """Else `evaluate` would tell it again for every scene."""
    network = open_network(save(tmp_path / "n.onnx", [node("Log", "x", "y")], {"x": ANY}))
    said = set()
    for count in (1, 5):
        view = np.ones((7, 8), np.float32)
        view[0, :count] = 0
        with pytest.raises(InputError, match="in some pixels") as caught:
            network.disparity(view, view)
        said.add(str(caught.value))
    assert len(said) == 1


def test_a_missing_extra(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr("dualpix.io._extra.find_spec", lambda name: None if name == "onnxruntime" else real(name))
    with pytest.raises(InputError, match=r"pip install 'dualpix\[onnx\]'"):
        open_network(picking(tmp_path / "n.onnx", ANY, 0))


# ---- as a method -----------------------------------------------------------------------------------------


def test_a_network_is_a_method(tmp_path):
    path = slope_network(tmp_path / "n.onnx", DERIVATIVE)
    found = method(f"onnx:{path}?multiple=4")
    assert isinstance(found, Learned)
    assert pickle.loads(pickle.dumps(found)) == found
    assert files_of([found, method("auto")]) == [str(path), str(path.with_suffix(".toml"))]
    left, right = shifted(0.3)
    scene = Scene("s", left, right, None, np.ones((60, 80), np.float32))
    d, confidence = found.run(scene, 1)
    assert confidence is None
    assert np.median(d) == pytest.approx(0.3, abs=0.05)
    along_y = Scene("s", left.T.copy(), right.T.copy(), None, np.ones((80, 60), np.float32), axis="y")
    np.testing.assert_array_equal(found.run(along_y, 1)[0], d.T)
    np.testing.assert_array_equal(found.run(scene, 1)[0], d)
    np.testing.assert_allclose(found.run(scene, 2)[0], d, atol=1e-5)


def test_a_network_has_no_other_name_in_a_comparison():
    with pytest.raises(ParameterError, match=r"method DPE=onnx:a\.onnx\?gain=2: .*: give onnx:a\.onnx\?gain=2$"):
        method("DPE=onnx:a.onnx?gain=2")


def texture(seed, shape=(96, 112)):
    return (
        cv2.GaussianBlur(np.random.default_rng(seed).random(shape), (0, 0), 1.5, borderType=cv2.BORDER_REFLECT) * 3 - 1
    )


@pytest.fixture
def rendered(tmp_path):
    """Two rendered scenes of the data set simulated: slanted planes, out of focus to both sides."""
    for seed in (10, 11):
        d = np.tile(np.linspace(-1.5, 1.5, 112, dtype=np.float32), (96, 1)) * (-1) ** seed
        left, right, truth = dualpix.simulate(np.clip(texture(seed), 0, 1), d)
        folder = tmp_path / "data/simulated" / str(seed)
        folder.mkdir(parents=True)
        for side, view in (("l", left), ("r", right)):
            cv2.imwrite(str(folder / f"{side}.png"), np.rint(view * 65535).astype(np.uint16))
        np.save(folder / "d.npy", truth)
    return tmp_path / "data"


def trained_network(path):
    """Learns its kernel from rendered planes of one disparity each."""
    pairs = []
    for seed, d in enumerate((-1.2, -0.6, 0.6, 1.2)):
        left, right, _ = dualpix.simulate(np.clip(texture(seed), 0, 1), np.full((96, 112), d, np.float32))
        pairs.append((d, left, right))
    return slope_network(path, trained_kernel(pairs))


def test_a_trained_network_in_a_comparison(rendered, tmp_path, call):
    trained = trained_network(tmp_path / "trained.onnx")
    untrained = slope_network(tmp_path / "untrained.onnx", np.random.default_rng(0).standard_normal(7))
    names = [f"onnx:{path}?multiple=8" for path in (trained, untrained)]
    arguments = "evaluate", rendered, "--dataset", "simulated", "--cache", tmp_path / "cache", "--json", "--threads", 1
    code, out, err = call(*arguments, *(part for name in names for part in ("--method", name)))
    assert (code, err) == (0, "")
    record = json.loads(out)
    good, bad = (record["methods"][name]["mean"]["proper"] for name in names)
    assert record["ranking"] == names
    assert good["mae"] < 0.15 < 0.3 < bad["mae"]
    assert 0.7 < good["gain"] < 1.4  # the sign is right, and nearly the scale
    assert record["methods"][names[0]]["parameters"]["network"] == open_network(trained).digest


def test_bad_networks_on_the_command_line(rendered, tmp_path, call):
    """Before any work: one sentence, exit 2. On a scene: one sentence, exit 1."""
    arguments = "evaluate", rendered, "--dataset", "simulated", "--cache", tmp_path / "cache", "--method"
    (tmp_path / "no.onnx").write_text("no")
    three = save(tmp_path / "three.onnx", [node("Identity", "a", "y")], {"a": ANY, "b": ANY, "c": ANY})
    for name, says in ((tmp_path / "no.onnx", "is not an ONNX file"), (three, "has 3 inputs")):
        code, out, err = call(*arguments, f"onnx:{name}", "--report", tmp_path / "r.html")
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert err.startswith(f"error: {name}: ")
        assert says in err
    assert not (tmp_path / "r.html").exists()
    path = picking(tmp_path / "n.onnx", ANY, 0)
    code, _, err = call(*arguments, f"onnx:{path}", "--csv", path, "--force")
    assert (code, "is an input and would be overwritten" in err) == (2, True)
    nan = save(
        tmp_path / "nan.onnx", [node("Mul", "x x", "s"), node("Neg", "s", "m"), node("Log", "m", "y")], {"x": ANY}
    )
    code, _, err = call(*arguments, f"onnx:{nan}")
    assert code == 1
    assert f"failed: onnx:{nan} on 2 scenes (10, 11): {nan}: gave NaN or infinity" in err


# ---- reproduce -------------------------------------------------------------------------------------------


def test_rows_of_networks_run_when_they_are_named(tmp_path):
    found = method(f"onnx:{picking(tmp_path / 'n.onnx', ANY, 0)}")
    made = paper.with_networks(paper.tables(), {"DPE": found, "SFBD": found})
    rows = {(table.number, row.label): row for table in made for row in table.rows if row.learned}
    assert list(rows) == [(1, "DPE"), (1, "SFBD"), (2, "DPNet"), (2, "SFBD")]
    assert rows[1, "DPE"].rebuilt == Learned("DPE", found.network)
    assert rows[2, "SFBD"].rebuilt == Learned("SFBD", found.network)
    assert rows[2, "DPNet"].rebuilt is None
    assert reproduction._why_not(rows[2, "DPNet"]) == "not run: give --method DPNet=onnx:FILE.onnx"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("CCA=auto", "unknown row 'CCA': the rows are DPE, SFBD, DPNet"),
        ("onnx:n.onnx", "must be ROW=NAME, such as DPE=onnx:FILE.onnx"),
        ("DPE=onnx:none.onnx", "none.onnx: no such file"),
    ],
)
def test_rows_that_are_not_there(tmp_path, call, text, says):
    code, out, err = call("reproduce", tmp_path, "--method", text)
    assert (code, out) == (2, "")
    assert says in err


def test_a_row_is_named_once(tmp_path, call):
    code, _, err = call("reproduce", tmp_path, "--method", "DPE=auto", "--method", "DPE=auto")
    assert (code, "names the row DPE twice" in err) == (2, True)
