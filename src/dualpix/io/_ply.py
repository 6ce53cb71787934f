"""PLY: a binary point cloud, with colours if there is a photo."""

import re
from typing import Any

import numpy as np

from ._cloud import cloud
from ._format import Bytes, FormatError
from .layers import METRES, Layers

MAGIC = re.compile(rb"ply\r?\n")
_LONGEST = 2**16  # bytes of a header


def describe(data: Bytes) -> dict[str, Any]:
    """Number of points, whether they have colours, and the unit if dualpix wrote the file."""
    header, end, _ = data[:_LONGEST].partition(b"end_header")
    count = re.search(rb"^element vertex (\d{1,15})\s*$", header, re.MULTILINE)
    if not (end and count):
        raise FormatError("is a damaged PLY file: write it again")
    unit = re.search(rb"^comment dualpix, (metres|relative units)", header, re.MULTILINE)
    colours = re.search(rb"^property uchar red\s*$", header, re.MULTILINE) is not None
    return {
        "format": "PLY",
        "points": int(count[1]),
        "colours": colours,
        **({"unit": unit[1].decode()} if unit else {}),
    }


def encode(layers: Layers) -> bytes:
    """Encode one point for each pixel that has a finite depth."""
    found = cloud(layers)
    if not len(found.points):
        raise ValueError("the map has no point with a finite depth: write .tiff instead")
    fields = [(name, "<f4", "float") for name in "xyz"]
    if found.colours is not None:
        fields += [(name, "u1", "uchar") for name in ("red", "green", "blue")]
    vertices = np.empty(len(found.points), np.dtype([(name, kind) for name, kind, _ in fields]))
    for i, name in enumerate("xyz"):
        vertices[name] = found.points[:, i]
    if found.colours is not None:
        for i, name in enumerate(("red", "green", "blue")):
            vertices[name] = found.colours[:, i]
    unit = "metres" if layers.unit == METRES else "relative units"
    lines = ["ply", "format binary_little_endian 1.0", f"comment dualpix, {unit}, x right, y up, camera along -z"]
    lines += [f"element vertex {len(vertices)}", *(f"property {kind} {name}" for name, _, kind in fields), "end_header"]
    return "\n".join(lines).encode() + b"\n" + vertices.tobytes()
