"""Pairs of views: from two pictures, or from one file with both. And the guide of a pair."""

import os
from dataclasses import replace

import numpy as np

from ..errors import InputError, ParameterError
from ..types import Image, Input, Pair, StrPath
from ._format import reading
from .images import load_image, read_views, resampled
from .orientation import as_stored, swaps_axes, upright

__all__ = ["LAYOUTS", "SIDES", "read_one", "read_pair"]

LAYOUTS = ("side-by-side", "top-bottom")
SIDES = ("left", "right")

_OPTIONS = {"layout": LAYOUTS, "first": SIDES}


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
            raise ParameterError(
                "layout= and first= say how one file holds both views: leave them out, or give one file"
            )
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
    from . import one_file  # two pictures, the usual case, need none of its formats

    name = os.fspath(path)
    kind = one_file.kind_of(path)
    if layout is not None and kind != "picture":
        raise InputError(f"{name}: is {one_file.KINDS[kind]}, which holds two views by itself: leave out layout=")
    with reading(name):
        if kind == "raw":
            pair = one_file.from_raw(name, first, guide is None)
        else:
            pair = one_file.read_views_of(name, kind, layout, first)
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
    picture = _developed(guide) if isinstance(guide, (str, os.PathLike)) else load_image(guide, "guide")
    height, width = pair.shape[::-1] if swaps_axes(pair.orientation) else pair.shape
    stored = as_stored(resampled(picture, (height, width), name, pair.name("left")), pair.orientation)
    source = {**pair.source, **({} if name == "guide" else {"guide": name})}
    return replace(pair, guide=stored, source=source)


def _developed(path: StrPath) -> Image:
    """The picture of a file, upright. That of a raw file is developed."""
    from . import one_file, raw  # as in read_one

    return upright(*raw.read_picture(path)) if one_file.kind_of(path) == "raw" else load_image(path, "guide")


def _doubted(pair: Pair) -> Pair:
    """The pair with a note if both views are one picture. Blank views are another matter."""
    rows = slice(0, 16)  # usually enough to tell that they are not
    same = all(np.array_equal(pair.left[part], pair.right[part]) for part in (rows, slice(None)))
    if not (same and np.ptp(pair.left)):
        return pair
    note = f"{pair.name('right')}: is the same picture as the left view: give the left and the right view of one shot"
    return replace(pair, notes=(*pair.notes, note))
