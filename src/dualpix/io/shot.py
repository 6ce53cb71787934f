"""What a file says about the shot: camera, lens, aperture, focus distance. Damaged entries count as absent."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..errors import InputError
from ..types import StrPath
from . import _jpeg, _png, _tiff, _webp
from ._boxes import find
from ._exif import PREFIX, Tags, directory
from ._format import Bytes, FormatError, matches, reading
from ._reader import CANON_RAW, file_bytes, probe

__all__ = ["Shot", "read_shot"]

_MAIN = _MAKE, _MODEL, _EXIF = 271, 272, 34665
_TAKEN = _EXPOSURE, _F_NUMBER, _ISO, _DISTANCE, _FOCAL = 33434, 33437, 34855, 37382, 37386
_BUILT = _PITCH_X, _PITCH_UNIT, _LENS, _WIDTH, _HEIGHT, _FOCAL_35 = 41486, 41488, 42036, 40962, 40963, 41989
_NOTES = 37500
_CANON = _CANON_SHOT, _CANON_FILE, _CANON_LENS = 0x0004, 0x0093, 0x0095
_MILLIMETRES = {1: 25.4, 2: 25.4, 3: 10.0, 4: 1.0, 5: 0.001}  # by the number of the unit; inches if there is none
_DIAGONAL_35 = math.hypot(36, 24)  # mm
_CANON_UUID = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_INFINITE = 655.34  # m: what Canon writes for infinity


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

    def sensor_side(self, shape: tuple[int, ...], focal_length: float | None = None) -> float | None:
        """The longer side of the sensor, mm: as stated, or from the 35 mm focal length.

        Parameters
        ----------
        shape
            Height and width of the picture.
        focal_length
            mm; by default that of the file.
        """
        f = focal_length or self.focal_length
        if self.sensor_width or not (self.focal_35 and f):
            return self.sensor_width
        # The diagonals of the two sensors relate as the focal lengths.
        return _DIAGONAL_35 * f / self.focal_35 * max(shape) / math.hypot(*shape)

    def fov(
        self, shape: tuple[int, ...], focal_length: float | None = None, lens_to_sensor: float | None = None
    ) -> float | None:
        """The angle of view of the longer side, degrees.

        Parameters
        ----------
        shape, focal_length
            As for `sensor_side`.
        lens_to_sensor
            mm; by default the focal length, as with a focus at infinity.
        """
        side, v = self.sensor_side(shape, focal_length), lens_to_sensor or focal_length or self.focal_length
        return math.degrees(2 * math.atan(side / 2 / v)) if side and v else None

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
    data = file_bytes(path)
    with reading(path):
        return _read_shot(path, data)


def _read_shot(path: StrPath, data: Bytes) -> Shot:
    found = _canon_raw(data) if data[4:12] == CANON_RAW else _shot(*_directories(_exif_block(data)))
    if found.pixel_pitch and not found.sensor_width:
        found = replace(found, sensor_width=_sensor_width(path, data, found.pixel_pitch))
    return found


def _sensor_width(path: StrPath, data: Bytes, pitch: float) -> float | None:
    """The longer side of the sensor, mm, by the size of the picture itself. The first page of a raw file is another."""
    try:
        if matches(_tiff.MAGIC, data) and _tiff.is_raw(data):
            return None
        info = probe(path)
    except (FormatError, InputError):
        return None
    return pitch * max(info.width, info.height)


def _exif_block(data: Bytes) -> Bytes:
    """The TIFF structure that holds the EXIF data."""
    if matches(_tiff.MAGIC, data):
        return data
    readers = ((_jpeg.MAGIC, _jpeg.exif), (_png.MAGIC, _png.exif), (_webp.MAGIC, _webp.exif))
    found = next((exif(data) for magic, exif in readers if matches(magic, data)), b"")
    return found.removeprefix(PREFIX)


def _directories(tiff: Bytes) -> tuple[Tags, Tags, Tags]:
    """The main directory, that of EXIF, and Canon's notes."""
    main = directory(tiff, _MAIN)
    exif = directory(tiff, (*_TAKEN, *_BUILT), _number(main, _EXIF, 0), places=(_NOTES,))
    canon = str(main.get(_MAKE, "")).startswith("Canon")
    return main, exif, directory(tiff, _CANON, exif.get(_NOTES, 0) if canon else 0)


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
    blocks = (data[place[0] : place[1]] if place else b"" for place in places)
    main, exif, notes = (
        directory(block, tags) for block, tags in zip(blocks, (_MAIN, (*_TAKEN, *_BUILT), _CANON), strict=True)
    )
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
