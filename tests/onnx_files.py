"""Networks for the tests, written as ONNX files."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

FLOAT = onnx.TensorProto.FLOAT


def save(path, nodes, inputs, weights=None, outputs=("y",), rank=4, dtype=FLOAT, **options):
    """Write a network. `inputs` has the shape of each input by name; an output has `rank` axes of any size."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, dtype, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, dtype, [None] * rank) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (weights or {}).items()],
    )
    # Old versions, so that old ONNX Runtimes read them.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save_model(model, path, **options)
    return path


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs.split(), output.split(), **attributes)


def picking(path, shape, channel, x=0, kernel=7):
    """A network that returns a channel of its input, moved to the right by x."""
    channels = shape[1]
    w = np.zeros((1, channels, 1, kernel), np.float32)
    w[0, channel, 0, kernel // 2 - x] = 1
    pads = [0, kernel // 2, 0, kernel // 2]
    return save(path, [node("Conv", "x w", "y", pads=pads)], {"x": shape}, {"w": w})


def slope_network(path, kernel, gain=1.0, shape=(1, 2, None, None), reach=4):
    """Disparity by the slope g = k * L: d = gain * box(g (R - L)) / (box(g^2) + 1e-4), by convolutions."""
    side = 2 * reach + 1
    weights = {
        "k": np.pad(np.asarray(kernel, np.float32).reshape(1, 1, 1, -1), ((0, 0), (0, 1), (0, 0), (0, 0))),
        "minus": np.array([-1, 1], np.float32).reshape(1, 2, 1, 1),
        "box": np.full((1, 1, side, side), 1 / side**2, np.float32),
        "least": np.float32(1e-4),
        "gain": np.float32(gain),
    }
    half = len(kernel) // 2
    around = {"pads": [reach] * 4}
    nodes = [
        node("Conv", "x k", "g", pads=[0, half, 0, half]),
        node("Conv", "x minus", "e"),
        node("Mul", "g e", "ge"),
        node("Mul", "g g", "gg"),
        node("Conv", "ge box", "n", **around),
        node("Conv", "gg box", "m", **around),
        node("Add", "m least", "safe"),
        node("Div", "n safe", "ratio"),
        node("Mul", "ratio gain", "y"),
    ]
    return save(path, nodes, {"x": shape}, weights)


def trained_kernel(pairs, size=7):
    """The kernel k that makes R - L = d (k * L) true in the mean: least squares over pairs of a constant d.

    `pairs` has d, left and right, grey from 0 to 1.
    """
    half, A, b = size // 2, [], []
    for d, left, right in pairs:
        around = np.lib.stride_tricks.sliding_window_view(left, size, axis=1)
        A.append(d * around.reshape(-1, size))
        b.append((right - left)[:, half:-half].ravel())
    return np.linalg.lstsq(np.concatenate(A), np.concatenate(b), rcond=None)[0]


def moved_tensor(path, location, inner=False):
    """A network whose tensor is said to be in that file; with `inner`, the tensor of a node inside an If."""
    save(path, [node("Conv", "x w", "y")], {"x": [1, 2, None, None]}, {"w": np.zeros((1, 2, 1, 1), np.float32)})
    model = onnx.load(path)
    if inner:
        constant = helper.make_node("Constant", [], ["c"], value=model.graph.initializer[0])
        branch = helper.make_graph([constant], "b", [], [helper.make_tensor_value_info("c", 1, None)])
        model.graph.node.append(helper.make_node("If", ["q"], ["u"], then_branch=branch, else_branch=branch))
        tensor = model.graph.node[1].attribute[0].g.node[0].attribute[0].t
    else:
        tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    path.write_bytes(model.SerializeToString())
    return path


def tensor_in_file(location, tag):
    """The bytes of a model with one tensor, whose file has a field of that tag, as protobuf stores them."""

    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

    def field(tag, body):
        return varint(tag) + varint(len(body)) + body

    entry = field(1 << 3 | 2, b"location") + field(2 << 3 | 2, location.encode())
    return field(7 << 3 | 2, field(5 << 3 | 2, field(tag, entry)))
