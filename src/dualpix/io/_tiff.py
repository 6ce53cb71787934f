"""TIFF: the structure and most pixels are read here, OpenCV decodes JPEG in TIFF. `_tiff_writer` writes.

A file is read if its first page is an image and all others are smaller copies of it (a pyramid).
"""

import re
import struct

import numpy as np

from ..types import Image
from . import _exif, _opencv
from ._format import UPRIGHT, Bytes, FormatError, Header
from ._tiff_pages import (
    COLOUR_MAP,
    DEPTH,
    ORIENTATION,
    STRIP_COUNTS,
    STRIP_OFFSETS,
    TILE_COUNTS,
    TILE_OFFSETS,
    Named,
    Page,
    images,
)
from ._tiff_pieces import is_plain, pixels, places

MAGIC = re.compile(rb"II[*+]\0|MM\0[*+]")

_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _YCBCR = 0, 1, 2, 3, 6
_KINDS = (_WHITE_IS_ZERO, _BLACK_IS_ZERO, _RGB, _PALETTE, _YCBCR)
_SENSOR_KINDS = (32803, 34892)  # colour filter array, linear raw
_BY_OPENCV = (1, 5, 7, 8, 32773, 32946)  # 7 is JPEG
_DNG_VERSION, _SHORT = 50706, 3
_PLACES = (STRIP_OFFSETS, STRIP_COUNTS), (TILE_OFFSETS, TILE_COUNTS)
_MOST_NAMED = 6  # images listed in an error


def header(data: Bytes) -> Header:
    """Read size, type and orientation from the first page."""
    return _header(_page(data))


def decode(data: bytes) -> Image:
    """Return the pixels as stored. Palette and 1-bit images become uint8; white is the largest value."""
    return _pixels(_page(data))


def readable_page(data: Bytes) -> Page | None:
    """The page that holds the image if its strips or tiles can be decoded one by one; else None."""
    page = _page(data)
    places(page)
    plain = (
        is_plain(page)
        and page.photometric in (_BLACK_IS_ZERO, _RGB)
        and not page.is_planar
        and page.bits >= 8
        and not page.extra
    )
    return page if plain else None


def is_raw(data: Bytes) -> bool:
    """Tell whether a TIFF is a camera raw file: CR2, DNG or another one with samples of a sensor."""
    return _is_raw(data, _images(data))


def raw_end(data: Bytes) -> int:
    """Return the offset behind the last pixel of any image of a camera raw file."""
    pages = [image.page for image in _images(data)]
    if sum(page.entries[tag].number for page in pages for tag in sum(_PLACES, ()) if tag in page.entries) > len(data):
        raise FormatError("is a damaged TIFF: copy or export it again")  # pages that share lists of places
    return max(map(_end, pages))


def raw_page(data: Bytes) -> Page | None:
    """The page of a DNG that holds the sensor's samples; None if the file is no DNG or has no such page."""
    found = _images(data)
    samples = [image.page for image in found if image.page.photometric in _SENSOR_KINDS and not image.page.is_reduced]
    is_dng = _DNG_VERSION in found[0].page.entries
    return max(samples, key=lambda page: page.width * page.height) if is_dng and samples else None


def same_size_pages(data: Bytes) -> int:
    """Return how many full-size images a TIFF has if all have the size of the first page, else 1."""
    found = _images(data)
    full = [image.page for image in found if not image.page.is_reduced]
    sizes = {(page.width, page.height) for page in full}
    return len(full) if len(sizes) == 1 and len(full) == len(found) else 1


def page_header(data: Bytes, number: int) -> Header:
    """Return the header of one of several pages of the same size, counted from 0."""
    page = _images(data)[number].page
    _check_kind(page)
    return _header(page)


def decode_page(data: bytes, number: int) -> Image:
    """Return the pixels of one of several pages of the same size, counted from 0."""
    page = _images(data)[number].page
    _check_kind(page)
    return _pixels(page)


def _header(page: Page) -> Header:
    assert page.dtype is not None  # `_check_kind` has looked
    is_float = page.dtype.kind == "f" and page.photometric != _PALETTE
    dtype = "float32" if is_float else "uint8" if page.photometric == _PALETTE else page.dtype.name
    channels = 1 if page.photometric in (_WHITE_IS_ZERO, _BLACK_IS_ZERO) else 3
    return Header(page.width, page.height, channels, dtype, _orientation(page))


def _orientation(page: Page) -> int:
    found = page.wholes(ORIENTATION)
    return _exif.valid(found[0]) if len(found) == 1 else UPRIGHT


def _pixels(page: Page) -> Image:
    if not is_plain(page) or page.photometric == _YCBCR:
        places(page)  # refuses what is cut short
        return _decode_compressed(page)
    image = pixels(page)
    if page.bits == 1:
        image = image * np.uint8(255)
    if page.photometric == _PALETTE:
        colours = page.values(COLOUR_MAP).reshape(3, -1).T
        if colours.max() > 255:  # 16 bits by the standard, but some write 8
            colours = colours >> 8
        image = colours.astype(np.uint8)[image[..., 0]]
    else:
        image = image[..., :3] if page.photometric == _RGB else image[..., 0]
    if page.photometric == _WHITE_IS_ZERO and image.dtype.kind == "u":
        image = np.iinfo(image.dtype).max - image
    return image


def _decode_compressed(page: Page) -> Image:
    # OpenCV multiplies colour by alpha, and inverts white-is-zero images only if they have 8 bits.
    kind = page.dtype.kind if page.dtype is not None and page.bits > 1 else ""
    if page.compression not in _BY_OPENCV or page.extra or page.photometric == _WHITE_IS_ZERO or not kind:
        raise FormatError("has a compression that cannot be read here: save it uncompressed or as PNG")
    return _opencv.decode(_alone(page), _header(page))


def _alone(page: Page) -> bytes:
    """A file whose only page is this one, with orientation 1, since OpenCV turns TIFF images by it."""
    data = bytearray(page.data[:])
    is_big = page.data[2:4] in (b"+\0", b"\0+")
    form = page.order + ("Q" if is_big else "I")
    struct.pack_into(form, data, 8 if is_big else 4, page.place)
    struct.pack_into(form, data, page.link, 0)
    turned = page.entries.get(ORIENTATION)
    if turned is not None and turned.kind == _SHORT:
        struct.pack_into(page.order + "H", data, turned.where, UPRIGHT)
    return bytes(data)


def _page(data: Bytes) -> Page:
    """The page that holds the image."""
    found = _images(data)
    _check_choice(data, found)
    _check_kind(found[0].page)
    return found[0].page


def _images(data: Bytes) -> list[Named]:
    try:
        return images(data)
    except (struct.error, LookupError, ValueError, OverflowError) as error:
        raise FormatError("is a damaged TIFF: copy or export it again") from error


def _check_choice(data: Bytes, found: list[Named]) -> None:
    """Refuse a file unless its first page is clearly the image."""
    named = ", ".join(map(str, found[:_MOST_NAMED]))
    if len(found) > _MOST_NAMED:
        named += f" and {len(found) - _MOST_NAMED} more"
    first = found[0].page
    if _is_raw(data, found):
        raise FormatError(f"is a camera raw file ({named}): give it alone, or split it first with dualpix split")
    if first.is_reduced and len(found) == 1:
        raise FormatError(f"holds only a thumbnail ({named}): export the full image")
    if first.is_reduced or sum(not image.page.is_reduced for image in found) > 1:
        raise FormatError(f"holds {len(found)} images ({named}): save the one to use as a file of its own")


def _is_raw(data: Bytes, found: list[Named]) -> bool:
    sensor = any(image.page.photometric in _SENSOR_KINDS for image in found)
    return bool(data[8:10] == b"CR" or _DNG_VERSION in found[0].page.entries or sensor)


def _end(page: Page) -> int:
    last = 0.0  # exact below 2^53, and no sum wraps around
    for tags in _PLACES:
        starts, counts = (page.values(tag) for tag in tags)
        if {starts.dtype.kind, counts.dtype.kind} <= {*"ui"} and starts.ndim == counts.ndim == 1:
            number = min(len(starts), len(counts))
            last = np.add(starts[:number], counts[:number], dtype=np.float64).max(initial=last)
    return int(last)


def _check_kind(page: Page) -> None:
    """Refuse an image that is not grey, RGB or palette."""
    bits = (8,) if page.photometric == _PALETTE else (1, 8, 16, 32, 64)
    if page.photometric not in _KINDS or page.bits not in bits or page.dtype is None:
        raise FormatError("is neither grey, RGB nor 8-bit palette: convert it to grey or RGB")
    stored = 3 if page.photometric in (_RGB, _YCBCR) else 1
    if page.number(DEPTH, 1) != 1 or page.extra > 1 or page.samples - page.extra != stored:
        raise FormatError("has an unusual number of channels: convert it to grey or RGB")
