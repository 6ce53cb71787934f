"""A JPEG photo with its depth: GDepth properties in XMP, as phones and editors read them.

The properties and both segments of XMP are described at developers.google.com/depthmap-metadata and in part 3 of
Adobe's XMP specification.
"""

import base64
import hashlib
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _jpeg
from ._format import Bytes
from ._metadata import into_jpeg
from .layers import METRES, Layers, eight_bits

_STANDARD = b"http://ns.adobe.com/xap/1.0/\0"
_EXTENSION = b"http://ns.adobe.com/xmp/extension/\0"
_BEGIN = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>'.encode()  # around the standard part only
_END = b'<?xpacket end="w"?>'
_SEARCHED = 2**18  # bytes from the start that hold the first XMP segment
_CHUNK = 65000  # bytes of extended XMP in a segment; a segment holds 65533
_SPACE = "http://ns.google.com/photos/1.0/depthmap/"
_NOTE = "http://ns.adobe.com/xmp/note/"
_FULL = 2**16 - 1
_WIDER = 2.0  # A map of one depth ends so many times as far, since readers divide by Far - Near.


def encode(layers: Layers) -> bytes:
    """Encode photo, depth and confidence. Depth is 16-bit RangeInverse, confidence is 8-bit."""
    assert layers.photo is not None
    codes, near, far = range_inverse(layers)
    height, width = codes.shape
    properties = {
        "Format": "RangeInverse",
        "Near": f"{near:.9g}",
        "Far": f"{far:.9g}",
        "Mime": "image/png",
        "MeasureType": "OpticalAxis",
        "Software": "dualpix",
        "ImageWidth": str(width),
        "ImageHeight": str(height),
    }
    if layers.unit == METRES:
        properties["Units"] = "m"
    images = {"Data": _base64(codes)}
    if layers.confidence is not None:
        properties["ConfidenceMime"] = "image/png"
        sure = np.nan_to_num(np.clip(layers.confidence, 0, 1))
        images["Confidence"] = _base64(np.rint(255 * sure).astype(np.uint8))
    return into_jpeg(_jpeg.encode(eight_bits(layers.photo)), layers.origin, _segments(properties, images))


def is_inside(data: Bytes) -> bool:
    """Tell whether a JPEG file has depth as `encode` writes it: in XMP before the picture."""
    return _SPACE.encode() in data[:_SEARCHED]


def range_inverse(layers: Layers) -> tuple[npt.NDArray[np.uint16], float, float]:
    """The 16-bit codes, the nearest and the farthest depth. Code 0 is near. Infinity and NaN count as the farthest."""
    q = layers.inverse_depth().astype(np.float64)
    seen = q[np.isfinite(q) & (q > 0)]
    if not seen.size:
        return np.full(q.shape, _FULL, np.uint16), 1.0, _WIDER
    far_q, near_q = float(seen.min()), float(seen.max())
    if far_q == near_q:
        far_q = near_q / _WIDER
    # d_n = far (d - near) / (d (far - near)) is linear in q = 1 / d: (q_near - q) / (q_near - q_far)
    level = (near_q - q) / (near_q - far_q)
    codes = np.rint(_FULL * np.clip(np.where(np.isfinite(level), level, 1), 0, 1))
    return codes.astype(np.uint16), 1 / near_q, 1 / far_q


def _base64(codes: Any) -> str:
    import cv2

    return base64.b64encode(bytes(cv2.imencode(".png", codes)[1])).decode()


def _segments(properties: dict[str, str], images: dict[str, str]) -> list[bytes]:
    """The bodies of the segments with XMP. Images are in the extended part, which has no limit of 64 kB."""
    extended = _packet({_SPACE: images})
    guid = hashlib.md5(extended, usedforsecurity=False).hexdigest().upper()
    standard = _packet({_SPACE: properties, _NOTE: {"HasExtendedXMP": guid}})
    segments = [_STANDARD + _BEGIN + standard + _END]
    for start in range(0, len(extended), _CHUNK):
        place = guid.encode() + struct.pack(">II", len(extended), start)
        segments.append(_EXTENSION + place + extended[start : start + _CHUNK])
    return segments


def _packet(spaces: dict[str, dict[str, str]]) -> bytes:
    """XMP with properties by namespace. No value needs escaping."""
    prefixes = {_SPACE: "GDepth", _NOTE: "xmpNote"}
    declared = " ".join(f'xmlns:{prefixes[space]}="{space}"' for space in spaces)
    given = " ".join(
        f'{prefixes[space]}:{name}="{value}"' for space, values in spaces.items() for name, value in values.items()
    )
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" {declared} {given}/></rdf:RDF></x:xmpmeta>'
    ).encode()
