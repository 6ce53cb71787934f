"""How one file or folder holds both views: raw, MPO, two pages, side by side, a capture of a phone."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..types import Image, Pair, StrPath, same_size
from . import _jpeg, _mpo, _tiff, raw
from ._format import Bytes, FormatError, matches, reading
from ._reader import CANON_RAW, ImageInfo, check_pixels, file_bytes, probe
from .captures import find_capture, read_capture
from .images import as_image, load_image, read_views
from .srgb import display

__all__ = ["KINDS", "app_right", "files_of", "from_raw", "kind_of", "pages_info", "read_views_of"]

_APP_LEFT = re.compile(r"(.+)_left(\.pgm)", re.IGNORECASE)
_APP_SHAPE = (756, 2016)
_APP_ASPECT = 2.0
_UNTOLD = "the file does not tell that its two pictures are left and right view: check the map, something near is red"

KINDS: Mapping[str, str] = {
    "raw": "a raw file",
    "folder": "a folder",
    "pages": "a TIFF with two pages",
    "mpo": "an MPO",
    "app": "a view of the Pixel capture app",
}


def kind_of(path: StrPath) -> str:
    """Tell how a file or folder may hold two views: "raw", "mpo", "pages", "app", "folder" or "picture"."""
    if os.path.isdir(path):
        return "folder"
    data = file_bytes(path)
    with reading(path):
        if _is_raw(data):
            return "raw"
        if matches(_tiff.MAGIC, data) and _tiff.same_size_pages(data) == 2:
            return "pages"
        if matches(_jpeg.MAGIC, data) and len(_views_of_mpo(data)) == 2:
            return "mpo"
    return "app" if _is_app(path) else "picture"


def _is_raw(data: Bytes) -> bool:
    """Tell whether the bytes of a file are a camera raw file."""
    return bool(data[4:12] == CANON_RAW or (matches(_tiff.MAGIC, data) and _tiff.is_raw(data)))


def files_of(path: StrPath) -> dict[str, str]:
    """Return the files that `read_one` reads, by role; an output must not overwrite them."""
    if os.path.isdir(path):
        return {name: str(file) for name, file in find_capture(path)._asdict().items()}
    if _is_app(path):
        return {"left": os.fspath(path), "right": str(_app_right(path))}
    return {"left": os.fspath(path)}


def pages_info(path: StrPath) -> ImageInfo:
    """Return what the header of the first of two pages says."""
    data = file_bytes(path)
    with reading(path):
        return ImageInfo(Path(path), "TIFF", **vars(_tiff.page_header(data, 0)))


def read_views_of(name: str, kind: str, layout: str | None, first: str | None) -> Pair:
    """Both views of a file of that kind, but for raw files. `layout` and `first` are those of `read_one`."""
    pair = _READERS[kind](name) if layout is None else _halves(name, layout)
    return _exchanged(pair) if first == "right" else pair


def from_raw(name: str, first: str | None, developed: bool) -> Pair:
    """Both views of a raw file, and its colour picture as the guide if it shall be developed."""
    frames = raw.read_frames(name)
    found = raw.split(frames, first)
    note = found.sides.note(name)
    left, right = (display(view) for view in (found.left, found.right))
    clipped = found.clipped if found.clipped.any() else None
    orientation, notes = frames.orientation, (note,) if note else ()
    del frames, found
    guide = raw.read_picture(name)[0] if developed else None
    return Pair(left, right, guide, _source(name), orientation, clipped, notes=notes)


# ---- one reader for each kind --------------------------------------------------------------------


def _pages(name: str) -> Pair:
    data = file_bytes(name)[:]
    head = _tiff.page_header(data, 0)
    check_pixels(name, head.width, head.height)
    return _paired(name, [as_image(_tiff.decode_page(data, number), name) for number in (0, 1)], head.orientation)


def _mpo_views(name: str) -> Pair:
    data = file_bytes(name)
    found = _views_of_mpo(data)
    views = [data[place.start : place.end] for place in found]
    head = _jpeg.header(views[0])  # all of them have this size
    check_pixels(name, head.width, head.height)
    pair = _paired(name, [as_image(_jpeg.decode(view), name) for view in views], head.orientation)
    return replace(pair, notes=(f"{name}: {_UNTOLD}",)) if any(place.is_untold for place in found) else pair


def _app_views(name: str) -> Pair:
    pair = read_views(name, _app_right(name))
    return replace(pair, pixel_aspect=_APP_ASPECT) if pair.left.shape == _APP_SHAPE else pair


def _no_layout(name: str) -> Pair:
    probe(name)  # a file that cannot be read says so
    raise InputError(
        f"{name}: is one picture: give the other view too or, if it holds both, layout=side-by-side or "
        "layout=top-bottom"
    )


def _halves(name: str, layout: str) -> Pair:
    """The halves of the picture as a viewer shows it."""
    image = load_image(name, name)
    axis = 1 if layout == "side-by-side" else 0
    if image.shape[axis] % 2:
        side = ("height", "width")[axis]
        raise InputError(
            f"{name}: its {side}, {image.shape[axis]}, is odd and cannot be halved: crop it to the two views"
        )
    first, second = np.split(image, 2, axis)
    return Pair(np.ascontiguousarray(first), np.ascontiguousarray(second), None, _source(name))


def _paired(name: str, views: list[Image], orientation: int) -> Pair:
    same_size((f"the first picture of {name}", views[0].shape), (f"the second picture of {name}", views[1].shape))
    return Pair(views[0], views[1], None, _source(name), orientation)


def _exchanged(pair: Pair) -> Pair:
    other = {"left": "right", "right": "left"}
    source = {other.get(role, role): path for role, path in pair.source.items()}
    return replace(pair, left=pair.right, right=pair.left, source=source)


def _source(name: str) -> dict[str, str]:
    return {"left": name, "right": name}


_READERS: Mapping[str, Callable[[str], Pair]] = {
    "folder": read_capture,
    "pages": _pages,
    "mpo": _mpo_views,
    "app": _app_views,
    "picture": _no_layout,
}


def _views_of_mpo(data: Bytes) -> list[_mpo.Picture]:
    """The pictures of an MPO that may be views and have the size of the first one. Others are previews."""
    places = [place for place in _mpo.pictures(data) if place.is_view]
    try:
        heads = [_jpeg.header(data[place.start : place.end]) for place in places]
    except FormatError:  # a leftover of the index
        return []
    return [
        place
        for place, head in zip(places, heads, strict=True)
        if (head.width, head.height) == (heads[0].width, heads[0].height)
    ]


def app_right(left: str) -> str | None:
    """The name of the right view, if the name of the left view is one of the Pixel capture app."""
    return _APP_LEFT.sub(r"\1_right\2", left) if _APP_LEFT.fullmatch(left) else None


def _is_app(path: StrPath) -> bool:
    return app_right(Path(path).name) is not None and _app_right(path).is_file()


def _app_right(path: StrPath) -> Path:
    return Path(path).with_name(app_right(Path(path).name) or "")
