"""The picture of a shot: of any image, or of a file that holds two views."""

import os

from ..types import Image, Input, StrPath
from . import raw
from .images import load_image, probe, read_image
from .one_file import kind_of
from .orientation import upright
from .pairs import read_one

__all__ = ["check_photo", "load_photo", "read_photo"]


def read_photo(path: StrPath, *, linear: bool = False, layout: str | None = None, first: str | None = None) -> Image:
    """Read the picture that belongs to the map of a file, upright.

    Parameters
    ----------
    path
        An image, or a file or folder as for `read_one`. The picture of a raw file is developed, that of a folder is the
        guide; of other files with two views it is the left one.
    linear
        Develop a raw file to linear light instead of sRGB.
    layout, first
        How a file holds both views; see `read_one`.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    kind = kind_of(path)
    if kind == "raw":
        return upright(*raw.read_picture(path, linear))
    if kind == "picture" and layout is None:
        return read_image(path)
    pair = read_one(path, layout=layout, first=first)
    return upright(pair.left if pair.guide is None else pair.guide, pair.orientation)


def check_photo(path: StrPath) -> None:
    """Refuse a file that `read_photo` cannot read, as far as its header tells."""
    kind = kind_of(path)
    if kind == "raw":
        raw.check_installed(path)
    elif kind == "picture":
        probe(path)


def load_photo(photo: Input, name: str, linear: bool = False) -> Image:
    """Return the picture of a path as by `read_photo`, or an array as by `as_image`. Errors call an array `name`."""
    if isinstance(photo, (str, os.PathLike)) and os.fspath(photo):
        return read_photo(photo, linear=linear)
    return load_image(photo, name)
