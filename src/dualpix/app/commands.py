"""The command line that writes the same bytes as a file saved from the page."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..params import DEFAULT_PRESET
from .exports import WITH_PHOTO, Export, picture_of

if TYPE_CHECKING:
    from .shots import Run, Shot

Words = list[str]


def command(shot: Shot, run: Run, wanted: Export) -> dict[str, Any]:
    """The command line, with the user's names of the files.

    Returns
    -------
    dict
        ``command``; ``needs``, names of files that must lie beside it first; ``saves``, how to save each of these from
        the page.
    """
    if wanted.what not in _COMMANDS:
        raise InputError("only dualpix app makes this file: there is no command for it")
    lines = _COMMANDS[wanted.what](shot, run, wanted)
    saves = list(_saves(shot, run))
    return {
        "command": " && ".join(shlex.join(["dualpix", *words]) for words in lines),
        "needs": [each["name"] for each in saves] + ([run.lens_file] if run.lens_file else []),
        "saves": saves,
    }


def _saves(shot: Shot, run: Run) -> list[dict[str, Any]]:
    """Files that exist only in the app."""
    found = []
    if shot.source.is_sample:
        found += [{"name": name, "what": "view", "options": {"role": role}} for role, name in shot.source.names.items()]
    if run.hints:
        found.append({"name": Export("hints", ".json").name(shot), "what": "hints", "suffix": ".json"})
    return found


def _disparity(shot: Shot, run: Run, output: str, *more: str) -> Words:
    """``dualpix disparity`` with the settings of the run."""
    settings, names = run.settings, shot.source.names
    words = ["disparity", _file(names["left"]), *([_file(names["right"])] if "right" in names else []), "-o", output]
    if settings.preset != DEFAULT_PRESET:
        words += ["--preset", settings.preset]
    if settings.range is not None:
        words += ["--range", *map(_number, settings.range)]
    for name in ("filter", "axis", "layout", "first"):
        value = getattr(settings, name)
        words += [f"--{name}", value] if value is not None else []
    for name, text in settings.set.items():
        words += ["--set", f"{name}={text}"]
    if "guide" in names:
        words += ["--guide", _file(names["guide"])]
    if settings.mask_occluded:
        words += ["--mask-occluded"]
    if run.lens_file:
        words += ["--calibration", _file(run.lens_file)]
    if run.hints:
        words += ["--hints", _file(Export("hints", ".json").name(shot))]
    return [*words, *more]


def _options(wanted: Export) -> Words:
    """``--png``, ``--near`` and ``--fov``."""
    return [word for name, value in wanted.options.items() for word in (f"--{name}", str(value))]


def _map(shot: Shot, run: Run, wanted: Export) -> list[Words]:
    return [_disparity(shot, run, _file(wanted.name(shot)), *_options(wanted))]


def _beside(shot: Shot, run: Run, wanted: Export) -> list[Words]:
    """A second output of ``dualpix disparity``."""
    return [_disparity(shot, run, _tiff(shot), f"--{wanted.what}", _file(wanted.name(shot)))]


def _depth(shot: Shot, run: Run, wanted: Export) -> list[Words]:
    told, names = run.ranging, shot.source.names
    words = ["depth", _tiff(shot), "-o", _file(wanted.name(shot)), *_options(wanted)]
    for x, y, metres in told.known:
        words += ["--known", f"{_number(x)},{_number(y)}={_number(metres)}"]
    if told.focus_distance is not None:
        words += ["--focus-distance", _number(told.focus_distance)]
    if told.exif:
        words += ["--exif", _file(names["left"])]
    elif not told.known and run.lens_file:
        words += ["--calibration", _file(run.lens_file)]
    if wanted.suffix in WITH_PHOTO:
        words += ["--photo", _file(names[picture_of(shot)])]
    return [_disparity(shot, run, _tiff(shot)), words]


def _refocus(shot: Shot, run: Run, wanted: Export) -> list[Words]:
    role, focus, lens = picture_of(shot), wanted.focus, wanted.lens
    words = ["refocus", _file(shot.source.names[role]), _tiff(shot), "-o", _file(wanted.name(shot))]
    if isinstance(focus, tuple):
        words += ["--focus", ",".join(map(_number, focus))]
    else:
        words += ["--focus-disparity", _number(focus)]
    words += ["--aperture", _number(lens.aperture), "--shape", lens.shape]
    for name in ("layout", "first"):
        value = getattr(run.settings, name)
        words += [f"--{name}", value] if value is not None and role == "left" else []
    return [_disparity(shot, run, _tiff(shot)), words]


def _mask(shot: Shot, run: Run, wanted: Export) -> list[Words]:
    words = ["mask", _tiff(shot), "-o", _file(wanted.name(shot))]
    for name, default in (("from", -math.inf), ("to", math.inf), ("soft", 0.0)):
        words += [f"--{name}", _number(wanted.limit(name, default))]
    return [_disparity(shot, run, _tiff(shot)), words]


_COMMANDS = {
    "map": _map,
    "depth": _depth,
    "confidence": _beside,
    "preview": _beside,
    "refocus": _refocus,
    "mask": _mask,
}


def _tiff(shot: Shot) -> str:
    """The map that other commands start from."""
    return _file(f"{shot.stem}-disparity.tiff")


def _file(name: str) -> str:
    """A name that is no option."""
    return f"./{name}" if name.startswith("-") else name


def _number(value: float) -> str:
    """The shortest text that is exactly this number."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))
