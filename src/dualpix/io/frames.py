"""Numbered frames: the pictures of a folder, or those that a pattern names, in the order of their numbers."""

import glob
import os
import re
from itertools import pairwise

from ..errors import InputError
from ..types import StrPath

__all__ = ["find_frames", "is_pattern"]

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".pgm", ".ppm", ".webp", ".avif", ".heic", ".bmp", ".jp2")
RAW_SUFFIXES = (".cr2", ".cr3", ".dng")
_PRINTF = re.compile(r"%(0(?P<digits>\d))?d")
_WILD = re.compile(r"[*?\[]")


def is_pattern(path: StrPath) -> bool:
    """Tell whether a path stands for many files: with %d, %04d, *, ? or [...]. A file of that name comes first."""
    text = os.fspath(path)
    return not os.path.exists(text) and bool(_PRINTF.search(text) or _WILD.search(text))


def find_frames(path: StrPath) -> list[str]:
    """The files of a folder or a pattern, in the order of the numbers in their names.

    Parameters
    ----------
    path
        A folder, whose pictures are taken; or a pattern with %d or %04d for the number of the frame; or one with
        ``*``, ``?`` or ``[...]`` as in a shell.

    Raises
    ------
    InputError
        If there are none, a number is missing, or the names have no order.
    """
    text = os.fspath(path)
    if os.path.isdir(text):
        suffixes = (*SUFFIXES, *RAW_SUFFIXES)
        found = [os.path.join(text, name) for name in os.listdir(text) if name.lower().endswith(suffixes)]
        found = [each for each in found if not os.path.basename(each).startswith(".")]
        if not found:
            raise InputError(f"{text}: this folder holds no pictures: give the folder of the frames")
    elif match := _PRINTF.search(text):
        found = _numbered(text, match)
    else:
        found = glob.glob(text)
        if not found:
            raise InputError(f"{text}: no file matches this pattern: check it, and quote it")
    found.sort(key=_order)
    for one, other in pairwise(found):
        if _order(one)[0] == _order(other)[0]:
            raise InputError(f"{one} and {other} have the same number: leave one of them out")
    return found


def _numbered(text: str, match: "re.Match[str]") -> list[str]:
    """The files of a pattern with %d; their numbers must follow each other."""
    before, after = text[: match.start()], text[match.end() :]
    digits = int(match["digits"] or 1)
    name = re.compile(re.escape(os.path.basename(before)) + rf"(\d{{{digits},}})" + re.escape(after) + "$")
    folder = os.path.dirname(before) or "."
    names = os.listdir(folder) if os.path.isdir(folder) else []
    numbers = sorted(int(found[1]) for each in names if (found := name.match(each)))
    if not numbers:
        raise InputError(f"{text}: no file matches this pattern: check it")
    for number, expected in zip(numbers, range(numbers[0], numbers[0] + len(numbers)), strict=True):
        if number != expected:
            raise InputError(f"{text}: frame {expected} is missing: add it, or give a part of the frames")
    return [f"{before}{number:0{digits}d}{after}" for number in numbers]


def _order(path: str) -> tuple[list[tuple[int, str]], str]:
    """What files are sorted by: numbers in the name count by their value, so 9 comes before 10; then the path."""
    stem = os.path.splitext(os.path.basename(path))[0]
    parts = re.split(r"(\d+)", stem)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts if part], path
