"""TIFF: tifffile reads the structure and most pixels, OpenCV the compressions tifffile lacks."""

import logging
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _opencv
from ._format import Bytes, FormatError, Header

MAGIC = re.compile(rb"II[*+]\0|MM\0[*+]")

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _YCBCR = 0, 1, 2, 3, 6
_KINDS = (_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _YCBCR)
_SEPARATE_PLANES = 2
_DNG_VERSION, _ORIENTATION = 50706, 274
_UNCOMPRESSED = 1
_PLAIN_COMPRESSIONS = (_UNCOMPRESSED, 8, 32773, 32946)  # none, deflate, PackBits, old deflate
_PLAIN_PREDICTORS = (1, 2)  # none, horizontal differences

# Without any handler Python prints tifffile's warnings on stderr; an application's handlers still get them.
logging.getLogger("tifffile").addHandler(logging.NullHandler())


def header(data: Bytes) -> Header:
    """Read the size and kind from the first page."""
    with _page(data) as page:
        if page.photometric == _PALETTE or page.bitspersample == 1:
            dtype = "uint8"
        else:
            dtype = "float32" if page.dtype.kind == "f" else page.dtype.name
        channels = 1 if page.photometric in (_WHITE_IS_ZERO, _BLACK_IS_ZERO) else 3
        return Header(int(page.imagewidth), int(page.imagelength), channels, dtype)


def decode(data: bytes) -> NDArray[Any]:
    """Return the stored numbers, palette and 1-bit images expanded to uint8, white as the largest."""
    with _page(data) as page:
        _check_extent(data, page)
        if (
            page.compression not in _PLAIN_COMPRESSIONS
            or page.predictor not in _PLAIN_PREDICTORS
            or page.photometric == _YCBCR
        ):
            return _decode_compressed(data, page)
        image: NDArray[Any] = page.asarray()
        return _expand(page, np.moveaxis(image, 0, -1) if page.planarconfig == _SEPARATE_PLANES else image)


def _check_extent(data: bytes, page: Any) -> None:
    # tifffile fills strips and tiles that are missing with zeros.
    spans = list(zip(page.dataoffsets, page.databytecounts, strict=True))
    complete = len(spans) == math.prod(page.chunked)
    if not complete or any(count < 1 or offset + count > len(data) for offset, count in spans):
        raise FormatError("is cut short: copy or export it again")
    if page.compression == _UNCOMPRESSED and sum(page.databytecounts) < page.size * page.bitspersample // 8:
        raise FormatError("is cut short: copy or export it again")


def _decode_compressed(data: bytes, page: Any) -> NDArray[Any]:
    # OpenCV turns by the orientation tag, multiplies colour by alpha and inverts 8-bit white-is-zero only.
    turned = _ORIENTATION in page.tags and page.tags[_ORIENTATION].value != 1
    if turned or page.extrasamples or page.photometric == _WHITE_IS_ZERO or page.dtype.kind not in "uif":
        raise FormatError("has a compression that cannot be read here: save it uncompressed or as PNG")
    return _opencv.decode(data)


def _expand(page: Any, image: NDArray[Any]) -> NDArray[Any]:
    if page.photometric == _PALETTE:
        colours: NDArray[Any] = page.colormap.T
        if colours.max() > 255:  # 16 bits by the standard, but some write 8
            colours = colours >> 8
        image = colours.astype(np.uint8)[image]
    elif image.ndim == 3:
        image = image[..., :3] if page.photometric == _RGB else image[..., 0]
    if image.dtype == bool:
        image = image.astype(np.uint8) * np.uint8(255)
    if page.photometric == _WHITE_IS_ZERO and image.dtype.kind == "u":
        image = np.iinfo(image.dtype).max - image
    return image


@contextmanager
def _page(data: Bytes) -> Iterator[Any]:
    """Open the one page that can be the image; any failure inside tifffile means a damaged file."""
    import tifffile

    try:
        with tifffile.TiffFile(cast(IO[bytes], BytesIO(data) if isinstance(data, bytes) else data)) as tiff:
            pages: list[Any] = list(tiff.pages)
            _check(data, pages[0], sum(not page.is_reduced for page in pages))
            yield pages[0]
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # tifffile raises whatever its arithmetic runs into
        raise FormatError("is a damaged TIFF: copy or export it again") from error


def _channels_stored(page: Any) -> int:
    return 3 if page.photometric in (_RGB, _YCBCR) else 1


def _check(data: Bytes, page: Any, images: int) -> None:
    if data[8:10] == b"CR" or _DNG_VERSION in page.tags or page.is_reduced:
        raise FormatError("is a camera raw file: export the view as PNG or TIFF")
    if images > 1:
        raise FormatError(f"holds {images} images: save the one to use as a file of its own")
    bits = (8,) if page.photometric == _PALETTE else (1, 8, 16, 32, 64)
    if page.photometric not in _KINDS or page.bitspersample not in bits or page.dtype is None:
        raise FormatError("is neither grey, RGB nor 8-bit palette: convert it to grey or RGB")
    alpha = len(page.extrasamples)
    if page.imagedepth != 1 or alpha > 1 or page.samplesperpixel - alpha != _channels_stored(page):
        raise FormatError("has an unusual number of channels: convert it to grey or RGB")
