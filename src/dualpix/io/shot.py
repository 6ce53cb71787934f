"""What a file says about the shot: camera, lens, aperture, focus distance. Damaged entries count as absent."""

import math
import struct
from dataclasses import asdict, dataclass
from typing import Any

from ..types import StrPath
from . import _jpeg, _png, _tiff, _webp
from ._boxes import find
from ._format import Bytes
from ._reader import CANON_RAW, mapped

__all__ = ["Shot", "read_shot"]

_ORDERS = {b"II*\0": "<", b"MM\0*": ">", b"IIU\0": "<"}
_CODES = {1: "B", 2: "s", 3: "H", 4: "I", 5: "II", 6: "b", 7: "B", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d"}
_MOST_ENTRIES, _LARGEST = 512, 2**17  # entries of a directory, bytes of a value

_MAKE, _MODEL, _EXIF = 271, 272, 34665
_EXPOSURE, _F_NUMBER, _ISO, _DISTANCE, _FOCAL, _NOTES = 33434, 33437, 34855, 37382, 37386, 37500
_PITCH_X, _PITCH_UNIT, _LENS, _WIDTH, _HEIGHT, _FOCAL_35 = 41486, 41488, 42036, 40962, 40963, 41989
_MILLIMETRES = {2: 25.4, 3: 10.0, 4: 1.0}  # by the number of the unit
_CANON_SHOT, _CANON_FILE, _CANON_LENS = 0x0004, 0x0093, 0x0095
_CANON_UUID = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_ENDLESS = 0xFFFFFFFF  # numerator of an infinite distance
_INFINITE = 655.34  # m: what Canon writes for infinity

Tags = dict[int, Any]


@dataclass(frozen=True)
class Shot:
    """How a picture was taken; None is unknown.

    Attributes
    ----------
    camera, lens : str or None
    focal_length : float or None
        mm.
    aperture : float or None
        F-number.
    focus_distance : float or None
        m from the sensor, infinity included. Canon's two limits are averaged.
    pixel_pitch : float or None
        Width of a pixel of the sensor at full size, mm.
    sensor_width : float or None
        Longer side of the part of the sensor that the picture shows, mm.
    focal_35 : float or None
        Focal length with the same angle of view on 36 x 24 mm, mm.
    exposure : float or None
        s.
    iso : float or None
    """

    camera: str | None = None
    lens: str | None = None
    focal_length: float | None = None
    aperture: float | None = None
    focus_distance: float | None = None
    pixel_pitch: float | None = None
    sensor_width: float | None = None
    focal_35: float | None = None
    exposure: float | None = None
    iso: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """What is known."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def __str__(self) -> str:
        known = [text for text in (self.camera, self.lens) if text]
        known += [f"{self.focal_length:g} mm"] if self.focal_length else []
        known += [f"F{self.aperture:g}"] if self.aperture else []
        if self.focus_distance is not None:
            far = math.isinf(self.focus_distance)
            known.append("focus at infinity" if far else f"focus at {self.focus_distance:g} m")
        return ", ".join(known)


def read_shot(path: StrPath) -> Shot:
    """Read what a file says about the shot: EXIF of JPEG, PNG, TIFF, WebP, DNG and CR2, and that of CR3.

    Raises
    ------
    InputError
        If the file cannot be read. A file without such data gives an empty Shot.
    """
    data = mapped(path)
    if data[4:12] == CANON_RAW:
        return _canon_raw(data)
    return _shot(*_directories(_exif_block(data)))


def _exif_block(data: Bytes) -> Bytes:
    """The TIFF structure that holds the EXIF data."""
    if _tiff.MAGIC.match(data):
        return data
    readers = ((_jpeg.MAGIC, _jpeg.exif), (_png.MAGIC, _png.exif), (_webp.MAGIC, _webp.exif))
    found = next((exif(data) for magic, exif in readers if magic.match(data)), b"")
    return found.removeprefix(b"Exif\0\0")


def _directories(tiff: Bytes) -> tuple[Tags, Tags, Tags]:
    """The main directory, that of EXIF, and Canon's notes."""
    main = _directory(tiff)
    exif = _directory(tiff, _number(main, _EXIF, 0))
    canon = str(main.get(_MAKE, "")).startswith("Canon")
    return main, exif, _directory(tiff, exif.get(_NOTES, 0) if canon else 0)


def _directory(tiff: Bytes, start: int | None = None) -> Tags:
    """The entries of a directory, the first by default, by tag. The maker's notes are given as their offset."""
    found: Tags = {}
    order = _ORDERS.get(tiff[:4])
    if order is None or len(tiff) < 8:
        return found
    if start is None:
        (start,) = struct.unpack_from(order + "I", tiff, 4)
    if not 8 <= start <= len(tiff) - 2:
        return found
    (count,) = struct.unpack_from(order + "H", tiff, start)
    for i in range(min(count, _MOST_ENTRIES)):
        entry = start + 2 + 12 * i
        if entry + 12 > len(tiff):
            break
        tag, kind, length = struct.unpack_from(order + "HHI", tiff, entry)
        code = _CODES.get(kind)
        size = struct.calcsize("=" + code) * length if code else 0
        where = entry + 8 if size <= 4 else struct.unpack_from(order + "I", tiff, entry + 8)[0]
        if tag == _NOTES:
            found[tag] = where
        elif code and 0 < size <= _LARGEST and where + size <= len(tiff):
            found[tag] = _values(tiff[where : where + size], code, order)
    return found


def _values(body: bytes, code: str, order: str) -> Any:
    if code == "s":
        return body.partition(b"\0")[0].decode("utf-8", "replace").strip()
    numbers = list(struct.iter_unpack(order + code, body))
    if len(code) == 2:
        return [math.inf if a == _ENDLESS else a / b if b else math.nan for a, b in numbers]
    return [value for (value,) in numbers]


def _shot(main: Tags, exif: Tags, notes: Tags) -> Shot:
    make, model = (_text(main, tag) or "" for tag in (_MAKE, _MODEL))
    camera = model if model.startswith(make) else f"{make} {model}"
    pitch = None
    density, unit = _positive(exif, _PITCH_X), _MILLIMETRES.get(_number(exif, _PITCH_UNIT, 2))
    if density and unit:
        pitch = unit / density
    pixels = max(_number(exif, tag, 0) for tag in (_WIDTH, _HEIGHT))
    return Shot(
        camera.strip() or None,
        _text(exif, _LENS) or _text(notes, _CANON_LENS),
        _positive(exif, _FOCAL),
        _positive(exif, _F_NUMBER),
        _canon_distance(notes) or _positive(exif, _DISTANCE),
        pitch,
        pitch * pixels if pitch and pixels else None,
        _positive(exif, _FOCAL_35),
        _positive(exif, _EXPOSURE),
        _positive(exif, _ISO),
    )


def _canon_distance(notes: Tags) -> float | None:
    """Canon writes an upper and a lower limit, in cm."""
    for tag, first in ((_CANON_FILE, 20), (_CANON_SHOT, 19)):
        limits = notes.get(tag)
        if isinstance(limits, list) and len(limits) > first + 1:
            upper, lower = (limits[first + i] % 65536 / 100 for i in (0, 1))
            if upper > 0:
                return math.inf if upper > _INFINITE else (upper + lower) / 2 if lower else upper
    return None


def _canon_raw(data: Bytes) -> Shot:
    """A CR3 file holds the directories as TIFF structures of their own: CMT1, CMT2 and CMT3."""
    movie = find(data, 0, len(data), b"moov")
    canon = movie and find(data, *movie, b"uuid")
    if not canon or data[canon[0] : canon[0] + 16] != _CANON_UUID:
        return Shot()
    places = (find(data, canon[0] + 16, canon[1], kind) for kind in (b"CMT1", b"CMT2", b"CMT3"))
    main, exif, notes = (_directory(data[place[0] : place[1]] if place else b"") for place in places)
    return _shot(main, exif, notes)


def _text(tags: Tags, tag: int) -> str | None:
    value = tags.get(tag)
    return value if isinstance(value, str) and value else None


def _number(tags: Tags, tag: int, default: int) -> int:
    value = tags.get(tag)
    return int(value[0]) if isinstance(value, list) and value and math.isfinite(value[0]) else default


def _positive(tags: Tags, tag: int) -> float | None:
    value = tags.get(tag)
    return float(value[0]) if isinstance(value, list) and value and value[0] > 0 else None  # not NaN either
