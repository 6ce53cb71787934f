"""Both views from one file: raw, MPO, two pages, side by side, a capture of a phone. Or from two files."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import InputError, ParameterError
from ..types import Image, Input, Pair, StrPath, same_size
from . import _jpeg, _mpo, _tiff, raw
from ._format import Bytes, FormatError, matches, reading
from ._reader import CANON_RAW, ImageInfo, check_pixels, file_bytes, probe
from .captures import find_capture, read_capture
from .images import as_image, load_image, read_views, resampled
from .orientation import as_stored, swaps_axes, upright
from .srgb import display

__all__ = ["LAYOUTS", "SIDES", "app_right", "files_of", "kind_of", "pages_info", "read_one", "read_pair"]

LAYOUTS = ("side-by-side", "top-bottom")
SIDES = ("left", "right")

_APP_LEFT = re.compile(r"(.+)_left(\.pgm)", re.IGNORECASE)
_APP_SHAPE = (756, 2016)
_APP_ASPECT = 2.0
_OPTIONS = {"layout": LAYOUTS, "first": SIDES}
_UNTOLD = "the file does not tell that its two pictures are left and right view: check the map, something near is red"


def read_pair(
    left: Input,
    right: Input | None = None,
    guide: Input | None = None,
    *,
    layout: str | None = None,
    first: str | None = None,
) -> Pair:
    """Read two views of one shot, as stored, and check that they belong together.

    Parameters
    ----------
    left, right
        Paths; arrays, also of other libraries; pictures of Pillow; encoded pictures as bytes or file objects. Without
        `right`, `left` is the path of one file or folder with both views; see `read_one`.
    guide
        An image or a raw file to guide the smoothing, instead of the left view or of the picture in one file. It is
        turned by its own EXIF orientation, then into the frame of the views, and resampled to their size.
    layout, first
        For one file only; see `read_one`.

    Raises
    ------
    InputError
        If one of them cannot be used, or they differ in size, or the views differ in orientation.
    """
    if right is not None:
        if layout is not None or first is not None:
            raise ParameterError("layout and first say how one file holds both views: leave them out, or give one file")
        pair = _doubted(read_views(left, right))
        return pair if guide is None else with_guide(pair, guide)
    if not isinstance(left, (str, os.PathLike)):
        raise InputError("right is missing: give both views, or the path of one file with both")
    return read_one(left, guide, layout=layout, first=first)


def read_one(path: StrPath, guide: Input | None = None, *, layout: str | None = None, first: str | None = None) -> Pair:
    """Read both views from one file or folder.

    Parameters
    ----------
    path
        A dual-pixel raw file (CR2, CR3, DNG; extra ``raw``), an MPO, a TIFF with two pages, a capture folder of
        Google's set, ``*_left.pgm`` of the Pixel capture app, or any picture with a `layout`. The content gives the
        kind.
    guide
        See `read_pair`. By default the colour picture of a raw file or of Google's capture.
    layout : "side-by-side" or "top-bottom", optional
        How a plain picture holds both views. It is never guessed.
    first : "left" or "right", optional
        The view that comes first: the left or upper half, the first page; in a raw file the half that is stored.
        Left by default; in a raw file the vignetting decides, and a note of the pair says so.

    Returns
    -------
    Pair
        As stored. `Pair.notes` says what the user should check. Views of a raw file are grey, float32, with the display
        curve of sRGB, in the size of the picture; `Pair.clipped` marks pixels that are too bright.

    Raises
    ------
    InputError
        If the file does not hold two views.
    """
    for name, said in (("layout", layout), ("first", first)):
        if said is not None and said not in _OPTIONS[name]:
            raise ParameterError(f"{name} must be {' or '.join(_OPTIONS[name])}, not {said!r}")
    name = os.fspath(path)
    kind = kind_of(path)
    if layout is not None and kind != "picture":
        raise InputError(f"{name}: is {_KINDS[kind]}, which holds two views by itself: leave out the layout")
    with reading(name):
        if kind == "raw":
            pair = _from_raw(name, first, guide is None)
        else:
            pair = _READERS[kind](name) if layout is None else _halves(name, layout)
            pair = _exchanged(pair) if first == "right" else pair
    pair = _doubted(pair)
    return pair if guide is None else with_guide(pair, guide)


def with_guide(pair: Pair, guide: Input) -> Pair:
    """The pair with a guide, which is turned by its own EXIF orientation, then into the frame of the views.

    A raw file is developed. A guide of another size is resampled, if it has the shape of the upright views to 2 %.

    Raises
    ------
    InputError
        If the guide cannot be read, or has another shape.
    """
    name = os.fspath(guide) if isinstance(guide, (str, os.PathLike)) else "guide"
    if isinstance(guide, (str, os.PathLike)) and kind_of(guide) == "raw":
        picture = upright(*raw.read_picture(guide))
    else:
        picture = load_image(guide, "guide")
    height, width = pair.shape[::-1] if swaps_axes(pair.orientation) else pair.shape
    stored = as_stored(resampled(picture, (height, width), name, pair.name("left")), pair.orientation)
    source = {**pair.source, **({} if name == "guide" else {"guide": name})}
    return replace(pair, guide=stored, source=source)


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


# ---- one reader for each kind --------------------------------------------------------------------


def _from_raw(name: str, first: str | None, developed: bool) -> Pair:
    frames = raw.read_frames(name)
    found = raw.split(frames, first)
    note = found.sides.note(name)
    left, right = (display(view) for view in (found.left, found.right))
    clipped = found.clipped if found.clipped.any() else None
    orientation, notes = frames.orientation, (note,) if note else ()
    del frames, found
    guide = raw.read_picture(name)[0] if developed else None
    return Pair(left, right, guide, _source(name), orientation, clipped, notes=notes)


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
        f"{name}: is one picture: give the other view too, or the layout, side-by-side or top-bottom, if it holds both"
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


def _doubted(pair: Pair) -> Pair:
    """The pair with a note if both views are one picture. Blank views are another matter."""
    rows = slice(0, 16)  # usually enough to tell that they are not
    same = all(np.array_equal(pair.left[part], pair.right[part]) for part in (rows, slice(None)))
    if not (same and np.ptp(pair.left)):
        return pair
    note = f"{pair.name('right')}: is the same picture as the left view: give the left and the right view of one shot"
    return replace(pair, notes=(*pair.notes, note))


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
_KINDS: Mapping[str, str] = {
    "raw": "a raw file",
    "folder": "a folder",
    "pages": "a TIFF with two pages",
    "mpo": "an MPO",
    "app": "a view of the Pixel capture app",
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
