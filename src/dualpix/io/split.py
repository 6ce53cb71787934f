"""The views of one file as pictures of their own, for ``dualpix split``."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..types import Image, StrPath
from ..version import version
from . import _tiff_writer, raw
from ._reader import probe
from .one_file import kind_of
from .pairs import read_one
from .raw.split import record as raw_record
from .shot import read_shot
from .srgb import display


@dataclass(frozen=True, eq=False)
class Views:
    """What `split_file` finds.

    Attributes
    ----------
    left, right : image
        As stored.
    picture : image or None
        The colour picture, if the file has one.
    orientation : int
        EXIF orientation of all three.
    record : dict
        What is known about them, ready for JSON.
    notes : tuple of str
        What the user should check.
    """

    left: Image
    right: Image
    picture: Image | None
    orientation: int
    record: dict[str, Any]
    notes: tuple[str, ...]

    @property
    def images(self) -> tuple[Image, Image, Image | None]:
        """Left view, right view and picture."""
        return self.left, self.right, self.picture


def split_file(path: StrPath, *, linear: bool = False, layout: str | None = None, first: str | None = None) -> Views:
    """Read both views of one file; see `dualpix.io.read_one`.

    Parameters
    ----------
    linear
        Linear light instead of display brightness, for raw files.

    Raises
    ------
    InputError
        If the file does not hold two views, or is not linear.
    """
    if layout is None and kind_of(path) == "raw":
        return _split_raw(path, linear, first)
    if linear:
        raise InputError(f"{path}: is not a raw file, so its linear light is not known: leave out linear=True")
    if layout is None and kind_of(path) == "picture":
        probe(path)  # a file that cannot be read says so
        raise InputError(
            f"{path}: is one picture, so there is nothing to split: "
            "if it holds both views, give layout=side-by-side or top-bottom"
        )
    pair = read_one(path, layout=layout, first=first)
    height, width = pair.shape
    record = {
        "dualpix": version(),
        "input": str(path),
        "width": width,
        "height": height,
        "orientation": pair.orientation,
    }
    return Views(pair.left, pair.right, pair.guide, pair.orientation, record, pair.notes)


def _split_raw(path: StrPath, linear: bool, first: str | None) -> Views:
    frames = raw.read_frames(path)
    found = raw.split(frames, first)
    left, right = (view if linear else display(view) for view in (found.left, found.right))
    note = found.sides.note(str(path))
    record = {
        "dualpix": version(),
        "input": str(path),
        "shot": read_shot(path).to_dict(),
        "linear": linear,
        **raw_record(frames, found),
    }
    picture, _ = raw.read_picture(path, linear)
    return Views(left, right, picture, frames.orientation, record, (note,) if note else ())


def encode_tiff16(image: Image, orientation: int = 1) -> memoryview:
    """Return an image as TIFF with 16 bits: floats from 0 to 1 are scaled, 8 bits are widened."""
    if image.dtype.kind == "f":
        image = np.rint(np.clip(image, 0, 1) * np.float32(65535)).astype(np.uint16)
    elif image.dtype == np.uint8:
        image = image.astype(np.uint16) * np.uint16(257)
    return _tiff_writer.encode(image, orientation)
