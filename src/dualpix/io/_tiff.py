"""TIFF: tifffile reads the structure and most pixels, OpenCV the compressions that tifffile lacks.

A file is read if its first page is an image and all others are smaller copies of it (a pyramid).
"""

import logging
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, Any, NamedTuple, cast

import numpy as np

from ..types import Image
from . import _exif, _opencv
from ._format import UPRIGHT, Bytes, FormatError, Header

MAGIC = re.compile(rb"II[*+]\0|MM\0[*+]")

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _YCBCR = 0, 1, 2, 3, 6
_KINDS = (_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _YCBCR)
_SENSOR_KINDS = (32803, 34892)  # colour filter array, linear raw
_SEPARATE_PLANES = 2
_DNG_VERSION, _ORIENTATION, _SHORT = 50706, 274, 3
_MOST_NAMED = 6  # images listed in an error
_UNCOMPRESSED = 1
_PLAIN_COMPRESSIONS = (_UNCOMPRESSED, 8, 32773, 32946)  # none, deflate, PackBits, old deflate
_PLAIN_PREDICTORS = (1, 2)  # none, horizontal differences

# Without a handler Python prints tifffile's warnings on stderr. Handlers of an application still get them.
logging.getLogger("tifffile").addHandler(logging.NullHandler())


def header(data: Bytes) -> Header:
    """Read size, type and orientation from the first page."""
    with _page(data) as page:
        return _header(page)


def decode(data: bytes) -> Image:
    """Return the pixels as stored. Palette and 1-bit images become uint8; white is the largest value."""
    with _page(data) as page:
        return _pixels(data, page)


def encode(image: Image, orientation: int = UPRIGHT, profile: bytes = b"") -> memoryview:
    """Return an image or a map, as it is, in one uncompressed page. The ICC profile may be empty."""
    import tifffile

    turned = [(_ORIENTATION, _SHORT, 1, orientation, True)] if orientation != UPRIGHT else []
    kind = "rgb" if image.ndim == 3 else "minisblack"
    file = BytesIO()
    tifffile.imwrite(file, image, photometric=kind, metadata=None, extratags=turned, iccprofile=profile or None)
    return file.getbuffer()


def _header(page: Any) -> Header:
    if page.photometric == _PALETTE or page.bitspersample == 1:
        dtype = "uint8"
    else:
        dtype = "float32" if page.dtype.kind == "f" else page.dtype.name
    channels = 1 if page.photometric in (_WHITE_IS_ZERO, _BLACK_IS_ZERO) else 3
    return Header(int(page.imagewidth), int(page.imagelength), channels, dtype, _orientation(page))


def _pixels(data: bytes, page: Any, number: int = 0) -> Image:
    _check_extent(data, page)
    if (
        page.compression not in _PLAIN_COMPRESSIONS
        or page.predictor not in _PLAIN_PREDICTORS
        or page.photometric == _YCBCR
    ):
        return _decode_compressed(data, page, number)
    image: Image = page.asarray()
    return _expand(page, np.moveaxis(image, 0, -1) if page.planarconfig == _SEPARATE_PLANES else image)


def _check_extent(data: Bytes, page: Any) -> None:
    # tifffile fills missing strips and tiles with zeros.
    spans = list(zip(page.dataoffsets, page.databytecounts, strict=True))
    complete = len(spans) == math.prod(page.chunked)
    if not complete or any(count < 1 or offset + count > len(data) for offset, count in spans):
        raise FormatError("is cut short: copy or export it again")
    if page.compression == _UNCOMPRESSED and sum(page.databytecounts) < page.size * page.bitspersample // 8:
        raise FormatError("is cut short: copy or export it again")


def _decode_compressed(data: bytes, page: Any, number: int) -> Image:
    # OpenCV multiplies colour by alpha, and inverts white-is-zero images only if they have 8 bits.
    if page.extrasamples or page.photometric == _WHITE_IS_ZERO or page.dtype.kind not in "uif":
        raise FormatError("has a compression that cannot be read here: save it uncompressed or as PNG")
    return _opencv.decode(data if _orientation(page) == UPRIGHT else _without_orientation(data, page), number)


def _orientation(page: Any) -> int:
    return _exif.valid(page.tags[_ORIENTATION].value) if _ORIENTATION in page.tags else UPRIGHT


def _without_orientation(data: bytes, page: Any) -> bytes:
    """Set the orientation tag to 1, because OpenCV turns TIFF images by it."""
    tag = page.tags[_ORIENTATION]
    start, end = tag.valueoffset, tag.valueoffset + tag.valuebytecount
    value = UPRIGHT.to_bytes(end - start, "little" if page.parent.byteorder == "<" else "big")
    return data[:start] + value + data[end:]


def _expand(page: Any, image: Image) -> Image:
    if page.photometric == _PALETTE:
        colours: Image = page.colormap.T
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
def readable_page(data: Bytes) -> Iterator[Any]:
    """Open the page that holds the image if its strips or tiles can be decoded one by one; else None."""
    with _page(data) as page:
        _check_extent(data, page)
        plain = (
            page.compression in _PLAIN_COMPRESSIONS
            and page.predictor in _PLAIN_PREDICTORS
            and page.photometric in (_BLACK_IS_ZERO, _RGB)
            and page.planarconfig != _SEPARATE_PLANES
            and page.bitspersample >= 8
            and not page.extrasamples
        )
        yield page if plain else None


def is_raw(data: Bytes) -> bool:
    """Tell whether a TIFF is a camera raw file: CR2, DNG or another one with samples of a sensor."""
    with _opened(data) as images:
        return _is_raw(data, images)


def raw_end(data: Bytes) -> int:
    """Return the offset behind the last pixel of any image of a camera raw file."""
    with _opened(data) as images:
        return max(_end(image.page) for image in images)


@contextmanager
def raw_page(data: Bytes) -> Iterator[Any]:
    """Open the page of a DNG that holds the sensor's samples; None if the file is no DNG or has no such page."""
    with _opened(data) as images:
        samples = [
            image.page for image in images if image.page.photometric in _SENSOR_KINDS and not image.page.is_reduced
        ]
        is_dng = _DNG_VERSION in images[0].page.tags
        yield max(samples, key=lambda page: page.imagewidth * page.imagelength) if is_dng and samples else None


def same_size_pages(data: Bytes) -> int:
    """Return how many full-size images a TIFF has if all have the size of the first page, else 1."""
    with _opened(data) as images:
        full = [image.page for image in images if not image.page.is_reduced]
        sizes = {(page.imagewidth, page.imagelength) for page in full}
        return len(full) if len(sizes) == 1 and len(full) == len(images) else 1


def page_header(data: Bytes, number: int) -> Header:
    """Return the header of one of several pages of the same size, counted from 0."""
    with _opened(data) as images:
        _check_kind(images[number].page)
        return _header(images[number].page)


def decode_page(data: bytes, number: int) -> Image:
    """Return the pixels of one of several pages of the same size, counted from 0."""
    with _opened(data) as images:
        _check_kind(images[number].page)
        return _pixels(data, images[number].page, number)


class _Named(NamedTuple):
    """One image of a file, and where it is."""

    place: str
    page: Any

    def __str__(self) -> str:
        reduced = " thumbnail" if self.page.is_reduced else ""
        return f"{self.place}: {self.page.imagewidth}x{self.page.imagelength}{reduced}"


@contextmanager
def _page(data: Bytes) -> Iterator[Any]:
    """Open the page that holds the image."""
    with _opened(data) as images:
        _check_choice(data, images)
        _check_kind(images[0].page)
        yield images[0].page


@contextmanager
def _opened(data: Bytes) -> Iterator[list[_Named]]:
    """Open all images of a file. Any failure inside tifffile means a damaged file."""
    import tifffile

    file = BytesIO(data) if isinstance(data, bytes) else data
    file.seek(0)
    try:
        with tifffile.TiffFile(cast(IO[bytes], file)) as tiff:
            yield _images(tiff)
    except (FormatError, MemoryError):
        raise
    except Exception as error:  # tifffile raises whatever its arithmetic runs into
        raise FormatError("is a damaged TIFF: copy or export it again") from error


def _images(tiff: Any) -> list[_Named]:
    """Return all pages, then their SubIFDs."""
    pages = [_Named(f"page {i}", page) for i, page in enumerate(tiff.pages, 1)]
    subs = [_Named(f"SubIFD of {place}", sub) for place, page in pages for sub in page.pages or ()]
    if len(subs) < sum(len(page.subifds or ()) for _, page in pages):  # tifffile skips those outside the file
        raise FormatError("is cut short: copy or export it again")
    return pages + subs


def _check_choice(data: Bytes, images: list[_Named]) -> None:
    """Refuse a file unless its first page is clearly the image."""
    named = ", ".join(map(str, images[:_MOST_NAMED]))
    if len(images) > _MOST_NAMED:
        named += f" and {len(images) - _MOST_NAMED} more"
    first = images[0].page
    if _is_raw(data, images):
        raise FormatError(f"is a camera raw file ({named}): give it alone, or split it first with dualpix split")
    if first.is_reduced and len(images) == 1:
        raise FormatError(f"holds only a thumbnail ({named}): export the full image")
    if first.is_reduced or sum(not image.page.is_reduced for image in images) > 1:
        raise FormatError(f"holds {len(images)} images ({named}): save the one to use as a file of its own")


def _is_raw(data: Bytes, images: list[_Named]) -> bool:
    sensor = any(image.page.photometric in _SENSOR_KINDS for image in images)
    return bool(data[8:10] == b"CR" or _DNG_VERSION in images[0].page.tags or sensor)


def _end(page: Any) -> int:
    ends = [offset + count for offset, count in zip(page.dataoffsets, page.databytecounts, strict=False)]
    return max(ends, default=0)


def _check_kind(page: Any) -> None:
    """Refuse an image that is not grey, RGB or palette."""
    bits = (8,) if page.photometric == _PALETTE else (1, 8, 16, 32, 64)
    if page.photometric not in _KINDS or page.bitspersample not in bits or page.dtype is None:
        raise FormatError("is neither grey, RGB nor 8-bit palette: convert it to grey or RGB")
    alpha = len(page.extrasamples)
    stored = 3 if page.photometric in (_RGB, _YCBCR) else 1
    if page.imagedepth != 1 or alpha > 1 or page.samplesperpixel - alpha != stored:
        raise FormatError("has an unusual number of channels: convert it to grey or RGB")
