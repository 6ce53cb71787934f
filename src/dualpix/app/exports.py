"""Files that a user saves from the page: the same bytes as the commands write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DualpixError, InputError, ParameterError
from ..io import encode_map, encode_png, encode_preview, probe
from ..io._extra import EXR_PACKAGE as EXR
from ..io._extra import missing
from ..io.formats import FLOAT_SUFFIXES, SUFFIXES, encode_mask
from ..io.hints import to_json as hints_to_json
from ..io.layers import METRES, PIXELS
from ..io.orientation import swaps_axes
from ..io.photos import read_photo
from ..io.pictures import SUFFIXES as PICTURES
from ..io.pictures import encode_picture, origin
from ..io.sidecar import to_json
from ..look import Look, file_and_notes
from ..method.kinds import method_of
from ..params.rules import Real, check
from ..render.mask import SUFFIXES as MASKS
from ..render.mask import depth_mask
from ..render.metres import filled
from ..render.refocusing import Lens, focus_of
from ..run import thread_count
from ..types import Image
from .matching import map_of, record_of
from .photos import brightened
from .ranging import angle_of, metric_of_run

if TYPE_CHECKING:
    from .shots import Run, Shot

Bytes = bytes | memoryview

LABELS = {
    ".tiff": "TIFF, 32 bit",
    ".pfm": "PFM, 32 bit",
    ".npy": "NumPy, 32 bit",
    ".png": "PNG",
    ".exr": "OpenEXR",
    ".jpg": "photo with depth inside (JPEG)",
    ".ply": "point cloud (PLY)",
    ".glb": "3-D mesh (glTF)",
    ".html": "page for a friend",
    ".json": "JSON",
}
PNG = {"png": ["grey", "grey8", "kitti"], "near": ["white", "black"]}
ANGLE = {"fov": "degrees"}
WITH_PHOTO = (".exr", ".jpg", ".ply", ".glb")
PARTS = {  # what: the end of its name, and the suffixes it may have
    "map": ("-disparity", SUFFIXES),
    "depth": ("-depth", SUFFIXES),
    "confidence": ("-confidence", FLOAT_SUFFIXES),
    "preview": ("-preview", (".png",)),
    "refocus": ("-refocused", PICTURES),
    "mask": ("-mask", MASKS),
    "page": ("", (".html",)),
    "hints": ("-hints", (".json",)),
    "record": ("-disparity", (".json",)),
    "view": ("", ("",)),
}
OPTIONS = {"png": str, "near": str, "fov": float, "role": str, "of": str}


@dataclass(frozen=True)
class Export:
    """What the user wants to save.

    Attributes
    ----------
    what, suffix : str
        One of `PARTS`, and the format.
    options : dict
        ``png``, ``near`` and ``fov`` as of the commands; ``role``, the view to save; ``of``, the suffix of the map
        whose sidecar is saved.
    look : dict
        The sliders of the page: ``focus`` (x, y) or ``focus_disparity``, ``aperture``, ``shape``; ``from``, ``to`` and
        ``soft`` of the mask, px of disparity.
    """

    what: str
    suffix: str
    options: Mapping[str, Any] = field(default_factory=dict)
    look: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Export:
        """Check what the page sent."""
        what, suffix = body.get("what"), body.get("suffix", "")
        if not isinstance(what, str) or what not in PARTS:
            raise ParameterError(f"what must be one of {', '.join(PARTS)}, not {what!r}")
        if suffix not in PARTS[what][1]:
            raise ParameterError(f"suffix must be one of {', '.join(PARTS[what][1])}, not {suffix!r}")
        options, look = (body.get(name) or {} for name in ("options", "look"))
        if not isinstance(options, dict) or not isinstance(look, dict):
            raise ParameterError("options and look must be objects")
        given = {name: value for name, value in options.items() if value is not None}
        for name, value in given.items():
            if name not in OPTIONS or not isinstance(value, (int, float) if OPTIONS[name] is float else str):
                raise ParameterError(f"option {name} is not known, or not of the right kind")
        if "fov" in given:
            given["fov"] = check("fov", given["fov"], Real(0, 180))
        return cls(what, suffix, given, look)

    def name(self, shot: Shot) -> str:
        """The name of the file."""
        if self.what == "view":
            return shot.source.names.get(self.role, "")
        return f"{shot.stem}{PARTS[self.what][0]}{self.suffix}"

    @property
    def role(self) -> str:
        """The view to save."""
        return str(self.options.get("role", "left"))

    @property
    def style(self) -> Look:
        """The options of the map file."""
        chosen = {name: self.options[name] for name in ("png", "near", "fov") if name in self.options}
        return Look(**chosen)

    def number(self, name: str) -> float:
        """A number of the look."""
        value: float = check(name, self.look.get(name), Real(-1e6, 1e6))
        return value

    def limit(self, name: str, default: float) -> float:
        """An end of the mask's range; None is open."""
        return default if self.look.get(name) is None else self.number(name)

    @property
    def focus(self) -> tuple[float, float] | float:
        """The point in focus, else the disparity."""
        point = self.look.get("focus")
        if point is None:
            return self.number("focus_disparity")
        if not isinstance(point, list) or len(point) != 2:
            raise ParameterError("focus must be a point [x, y]")
        x, y = (check("focus", each, Real(-1e6, 1e6)) for each in point)
        return x, y

    @property
    def lens(self) -> Lens:
        """The lens of a refocused picture."""
        return Lens(self.look.get("aperture"), self.look.get("shape", "disc"))  # type: ignore[arg-type]


def listed() -> list[dict[str, Any]]:
    """All that can be saved, for the page."""
    rows = []
    for what, (_, suffixes) in PARTS.items():
        for suffix in suffixes:
            if suffix in LABELS:
                options = PNG if suffix == ".png" and what == "map" else ANGLE if suffix in (".ply", ".glb") else {}
                needs = " (needs pip install 'dualpix[exr]')" if suffix == ".exr" and missing(EXR) else ""
                rows.append({"what": what, "suffix": suffix, "label": LABELS[suffix] + needs, "options": options})
    return rows


def export(shot: Shot, run: Run, wanted: Export) -> Bytes:
    """The bytes of the file.

    Raises
    ------
    DualpixError
        In the words of the command, with the user's file names.
    """
    try:
        return _MAKERS[wanted.what](shot, run, wanted, wanted.name(shot))
    except DualpixError as error:
        raise type(error)(shot.source.in_words(str(error))) from error


def picture_of(shot: Shot) -> str:
    """The role of the file that is refocused: the guide if it has the size of the map, else the left view."""
    if "guide" not in shot.source.paths:
        return "left"
    found = probe(shot.source.paths["guide"])
    size = (found.width, found.height) if not swaps_axes(found.orientation) else (found.height, found.width)
    return "guide" if size == (shot.width, shot.height) else "left"


# ---- one maker for each kind of file ---------------------------------------------------------------------


def _map(shot: Shot, run: Run, wanted: Export, _: str) -> Bytes:
    return _encoded(shot, run, wanted)[0]


def _encoded(shot: Shot, run: Run, wanted: Export) -> tuple[Bytes, dict[str, Any]]:
    """A map file, and what its sidecar must say about it."""
    name = wanted.name(shot)
    record, paths, settings = record_of(run), shot.source.paths, run.settings
    views = (None, None) if "guide" in paths else (settings.layout, settings.first)
    look = wanted.style.checked(name, PIXELS, paths.get("guide", paths["left"]), views)
    look.check_sign(name, method_of(settings.params()).never_negative)
    d = look.held(name, map_of(run), record["searched"], record["calibration"] is not None)
    return file_and_notes(name, look.layers(name, d, PIXELS, map_of(run, "confidence")), look)


def _depth(shot: Shot, run: Run, wanted: Export, name: str) -> Bytes:
    metric, d = metric_of_run(shot, run), map_of(run)
    if metric is None:
        raise InputError("metres are not known: tell the distance of two points, or of one and of the focus")
    photo = shot.source.paths[picture_of(shot)] if wanted.suffix in WITH_PHOTO else None
    look = wanted.style._replace(photo=photo).checked(name, METRES)
    if look.fov is None:
        look = look._replace(fov=angle_of(shot, run, metric))
    layers = look.layers(name, metric.depth(d).metres, METRES, None)
    return file_and_notes(name, replace(layers, lens_to_sensor=metric.lens_to_sensor), look)[0]


def _confidence(_: Shot, run: Run, __: Export, name: str) -> Bytes:
    return encode_map(name, map_of(run, "confidence"))


def _preview(_: Shot, run: Run, __: Export, ___: str) -> Bytes:
    return encode_preview(map_of(run))


def _refocus(shot: Shot, run: Run, wanted: Export, name: str) -> Bytes:
    lens, photo = wanted.lens, shot.source.paths[picture_of(shot)]
    image, d = _picture(shot, run), filled(map_of(run), name)
    kept = origin(photo, 1 if image.ndim == 2 else 3)
    return encode_picture(name, lens.blur(image, d, focus_of(d, wanted.focus), thread_count(None)), kept)


def _mask(_: Shot, run: Run, wanted: Export, name: str) -> Bytes:
    alpha = depth_mask(
        map_of(run), wanted.limit("from", -np.inf), wanted.limit("to", np.inf), wanted.limit("soft", 0.0)
    )
    return encode_png(alpha) if wanted.suffix == ".png" else encode_mask(name, alpha)


def _page(shot: Shot, run: Run, wanted: Export, name: str) -> Bytes:
    from .friend import page

    return page(brightened(_picture(shot, run)), map_of(run), title=shot.name, look=dict(wanted.look)).encode()


def _hints(_: Shot, run: Run, __: Export, ___: str) -> Bytes:
    return hints_to_json(run.hints).encode()


def _record(shot: Shot, run: Run, wanted: Export, _: str) -> Bytes:
    """The sidecar of the map that was saved with the same options."""
    of = replace(wanted, what="map", suffix=str(wanted.options.get("of", ".tiff")))
    notes = _encoded(shot, run, of)[1]
    return to_json(record_of(run) | {"map": of.name(shot), "outputs": {"disparity": of.name(shot)}} | notes).encode()


def _view(shot: Shot, _: Run, wanted: Export, __: str) -> Bytes:
    if not Path(shot.source.paths.get(wanted.role, "")).is_file():
        raise InputError(f"the shot has no {wanted.role!r} view of its own")
    return Path(shot.source.paths[wanted.role]).read_bytes()


_MAKERS = {
    "map": _map,
    "depth": _depth,
    "confidence": _confidence,
    "preview": _preview,
    "refocus": _refocus,
    "mask": _mask,
    "page": _page,
    "hints": _hints,
    "record": _record,
    "view": _view,
}


def _picture(shot: Shot, run: Run) -> Image:
    role, settings = picture_of(shot), run.settings
    layout, first = (None, None) if role == "guide" else (settings.layout, settings.first)
    return read_photo(shot.source.paths[role], layout=layout, first=first)
