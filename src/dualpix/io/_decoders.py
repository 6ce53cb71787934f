"""The formats of images that are read, by name. The first whose magic bytes fit decodes a file."""

from collections.abc import Mapping

from . import _bmp, _heif, _jp2, _jpeg, _png, _pnm, _tiff, _webp
from ._format import Format

IMAGE_FORMATS: Mapping[str, Format] = {
    "PNG": _png,
    "JPEG": _jpeg,
    "TIFF": _tiff,
    "PGM/PPM": _pnm,
    "WebP": _webp,
    "AVIF/HEIC": _heif,
    "BMP": _bmp,
    "JPEG 2000": _jp2,
}
