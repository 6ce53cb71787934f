"""OpenEXR, by the OpenEXR package: a map in channel Z, with colours and confidence beside it."""

import re
from io import BytesIO
from typing import Any

import numpy as np

from ..types import Image, Map
from ._extra import EXR, EXR_PACKAGE, missing
from ._format import Bytes, FormatError, Header
from .layers import Layers

MAGIC = re.compile(rb"\x76\x2f\x31\x01")

DEPTH, CONFIDENCE, ALPHA = "Z", "confidence", "A"
_DAMAGED = "is a damaged OpenEXR file: copy or export it again"
_MOST_CHANNELS = 64
_MAPS = (DEPTH, "Y", ALPHA)  # channels that are read as a map, best first


def header(data: Bytes) -> Header:
    """Read the size of the data window."""
    part = _open(data, header_only=True)
    if (count := len(part.header["channels"])) > _MOST_CHANNELS:  # the library decodes all of them
        raise FormatError(f"has {count} channels, more than {_MOST_CHANNELS}: export the map alone")
    low, high = (np.asarray(corner, np.int64) for corner in part.header["dataWindow"])
    width, height = (int(n) for n in high - low + 1)
    return Header(max(width, 0), max(height, 0), 1, "float32")


def decode(data: bytes) -> Image:
    """Return the channel Z, or Y, or A, or the only one."""
    channels = _open(data, header_only=False).channels
    names = [name for name in _MAPS if name in channels] or list(channels)
    if names[0] not in _MAPS and len(channels) > 1:
        raise FormatError(f"has the channels {', '.join(channels)}, but a map is in channel Z: export it with one")
    return np.ascontiguousarray(channels[names[0]].pixels, np.float32)


def encode(layers: Layers) -> memoryview:
    """Encode as float32 channels: Z, and if they are there, confidence and the linear colours R, G and B."""
    channels = {DEPTH: layers.values}
    if layers.confidence is not None:
        channels[CONFIDENCE] = layers.confidence
    light = layers.light()
    if light is not None:
        channels |= {name: light[..., i] for i, name in enumerate("RGB")}
    return write(channels)


def write(channels: dict[str, Map]) -> memoryview:
    """Encode channels by name, without loss."""
    import OpenEXR

    head = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    planes = {name: np.ascontiguousarray(plane, np.float32) for name, plane in channels.items()}
    file = BytesIO()
    OpenEXR.File(head, planes).write(file)
    return file.getbuffer()


def _open(data: Bytes, header_only: bool) -> Any:
    """The only part of a file. The library decodes all parts at once, so their sizes would have to be checked, too."""
    if missing(EXR_PACKAGE):
        raise FormatError(f"is an OpenEXR file, which needs a package: pip install 'dualpix[{EXR}]'")
    import OpenEXR

    stream = BytesIO(data) if isinstance(data, bytes) else data.file
    stream.seek(0)
    try:
        parts = OpenEXR.File(stream, separate_channels=True, header_only=header_only).parts
    except MemoryError:
        raise
    except Exception as error:  # the library raises whatever it meets
        raise FormatError(_DAMAGED) from error
    if not parts:
        raise FormatError(_DAMAGED)
    if len(parts) > 1:
        raise FormatError(f"has {len(parts)} parts, but a map is in a file with one: export that part alone")
    return parts[0]
