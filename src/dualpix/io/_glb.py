"""GLB (glTF 2.0, binary): a mesh, with colours if there is a photo."""

import json
import re
import struct
from typing import Any

import numpy as np

from ..files import parse_json
from ._cloud import Points, Triangles, mesh, step_for
from ._format import Bytes, FormatError, unpack
from .layers import Colours, Layers
from .srgb import linear

MOST_POINTS = 500_000  # A larger map is thinned out evenly.
_FLOAT, _UNSIGNED, _VERTICES, _INDICES = 5126, 5125, 34962, 34963  # numbers of the glTF standard

MAGIC = re.compile(rb"glTF\x02\0\0\0")
_LONGEST = 2**24  # bytes of the part that describes the others


def describe(data: Bytes) -> dict[str, Any]:
    """Number of points and triangles of the first mesh, and whether it has colours."""
    try:
        length, kind = unpack("<I4s", data, 12)
        if kind != b"JSON" or length > _LONGEST:
            raise FormatError("is a damaged GLB file: write it again")
        tree = parse_json(data[20 : 20 + length])
        (part, *_), accessors = tree["meshes"][0]["primitives"], tree["accessors"]
        points = int(accessors[part["attributes"]["POSITION"]]["count"])
        triangles = int(accessors[part["indices"]]["count"]) // 3
        colours = "COLOR_0" in part["attributes"]
    except (struct.error, ValueError, TypeError, LookupError, OverflowError):
        raise FormatError("is a damaged GLB file, or one without a mesh: write it again") from None
    return {"format": "GLB", "points": points, "triangles": triangles, "colours": colours}


def encode(layers: Layers) -> bytes:
    """Encode the surface of the map, cut at depth edges."""
    found, triangles = mesh(layers, step_for(layers.values.shape, MOST_POINTS))
    if not len(triangles):
        raise ValueError("the map has no surface, no three neighbours have similar depth: write .ply or .tiff instead")
    kept, numbers = np.unique(triangles, return_inverse=True)  # the points that a triangle uses
    colours = None if found.colours is None else found.colours[kept]
    return _file(found.points[kept], colours, numbers.reshape(-1, 3).astype(np.uint32))


def _file(points: Points, colours: Colours | None, triangles: Triangles) -> bytes:
    blocks: list[tuple[Any, int, dict[str, Any]]] = [
        (triangles.ravel(), _INDICES, {"componentType": _UNSIGNED, "type": "SCALAR"}),
        (
            points,
            _VERTICES,
            {
                "componentType": _FLOAT,
                "type": "VEC3",
                "min": points.min(axis=0).tolist(),
                "max": points.max(axis=0).tolist(),
            },
        ),
    ]
    attributes = {"POSITION": 1}
    if colours is not None:
        # Colours of vertices are linear light.
        light = linear(colours.astype(np.float32) / np.float32(255))
        blocks.append((light, _VERTICES, {"componentType": _FLOAT, "type": "VEC3"}))
        attributes["COLOR_0"] = 2
    views, accessors, body = [], [], b""
    for i, (values, target, kind) in enumerate(blocks):
        data = values.astype(values.dtype.newbyteorder("<")).tobytes()  # all are multiples of 4 bytes
        views.append({"buffer": 0, "byteOffset": len(body), "byteLength": len(data), "target": target})
        accessors.append({"bufferView": i, "count": len(values), **kind})
        body += data
    # The photo has its own light, so it is shown as it is.
    material = {"extensions": {"KHR_materials_unlit": {}}, "doubleSided": True}
    tree = {
        "asset": {"version": "2.0", "generator": "dualpix"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": 0, "material": 0}]}],
        "materials": [material],
        "extensionsUsed": ["KHR_materials_unlit"],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(body)}],
    }
    text = json.dumps(tree, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(body), b"BIN\0") + body
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
