"""Optics from one line of text, as the command line gives them."""

from __future__ import annotations

import re

from ...errors import ParameterError
from .half_disc import HALF_DISC
from .measured import read_measured
from .pupil import BOUNDS, Pupil
from .spot import Optics

FORMS = "half-disc, pupil:split=S,overlap=O,cat-eye=C or measured:LEFT.npy,RIGHT.npy[,ROWSxCOLUMNS]"


def parse_optics(text: str) -> Optics:
    """Return the optics that a text describes.

    Parameters
    ----------
    text
        ``half-disc``; ``pupil:split=0.3,overlap=0.2,cat-eye=0.5``, where what is left out is 0; or
        ``measured:LEFT.npy,RIGHT.npy``, with ``,6x8`` at the end if the kernels are a grid of 6 rows and 8 columns.

    Raises
    ------
    ParameterError
        If it has none of these forms, or a number is out of bounds.
    InputError
        If a file cannot be used.
    """
    kind, _, details = text.partition(":")
    if kind == "half-disc" and not details:
        return HALF_DISC
    if kind == "pupil":
        return _pupil(details)
    if kind == "measured":
        return _measured(details)
    raise ParameterError(f"optics must be {FORMS}, not {text!r}")


def _pupil(details: str) -> Pupil:
    numbers = {}
    for part in filter(None, details.split(",")):
        name, _, value = part.partition("=")
        name = name.strip().replace("-", "_")
        if name not in BOUNDS:
            raise ParameterError(f"optics: a pupil has split, overlap and cat-eye, not {part!r}")
        try:
            numbers[name] = float(value)
        except ValueError:
            raise ParameterError(f"optics: {part!r} must be a name, = and a number") from None
    return Pupil(**numbers)


def _measured(details: str) -> Optics:
    files, _, last = details.rpartition(",")
    size = re.fullmatch(r"(\d{1,3})x(\d{1,3})", last)
    left, _, right = (files if size else details).partition(",")
    if not left or not right:
        raise ParameterError("optics: measured needs two files, as measured:LEFT.npy,RIGHT.npy")
    return read_measured(left, right, (int(size[1]), int(size[2])) if size else None)
