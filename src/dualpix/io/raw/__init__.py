"""Camera raw files that hold both halves of every pixel: from the file to two views and a colour picture."""

from .files import Frames, check_installed, describe, read_frames, read_picture, size
from .levels import Levels
from .sides import Sides, find_sides
from .split import Split, split

__all__ = [
    "Frames",
    "Levels",
    "Sides",
    "Split",
    "check_installed",
    "describe",
    "find_sides",
    "read_frames",
    "read_picture",
    "size",
    "split",
]
