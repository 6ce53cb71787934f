"""What EXIF data says about lens and sensor."""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import InputError
from ..types import StrPath
from . import _jpeg, _png
from ._exif import BYTE_ORDERS, PREFIX
from ._format import Bytes
from ._reader import IMAGE_FORMATS, load

_EXIF_IFD = 0x8769
_F_NUMBER, _FOCAL_LENGTH, _SUBJECT_DISTANCE = 0x829D, 0x920A, 0x9206
_FOCAL_35, _PLANE_X, _PLANE_UNIT, _WIDTH, _HEIGHT = 0xA405, 0xA20E, 0xA210, 0xA002, 0xA003
_SHORT, _LONG, _RATIONAL = 3, 4, 5
_UNITS = {1: 0.0254, 2: 0.0254, 3: 0.01, 4: 0.001, 5: 1e-6}  # m of FocalPlaneResolutionUnit; inches if not stated
_DIAGONAL_35 = math.hypot(0.036, 0.024)  # m
_MOST_ENTRIES = 1000


@dataclass(frozen=True)
class Exif:
    """Lens and sensor, in metres; None where the file does not say.

    `focus_distance` is from the sensor, inf if the lens was at infinity. `sensor_width` is that of the picture's
    longer side. `focal_35` is the focal length of the same angle of view on 36 x 24 mm.
    """

    focal_length: float | None = None
    f_number: float | None = None
    focus_distance: float | None = None
    sensor_width: float | None = None
    focal_35: float | None = None

    def sensor_side(self, shape: tuple[int, ...], focal_length: float | None) -> float | None:
        """The longer side of the sensor, m: as stated, or from the 35 mm focal length."""
        if self.sensor_width or not (self.focal_35 and focal_length):
            return self.sensor_width
        # The diagonals of the two sensors relate as the focal lengths.
        return _DIAGONAL_35 * focal_length / self.focal_35 * max(shape) / math.hypot(*shape)

    def fov(self, shape: tuple[int, ...]) -> float | None:
        """The angle of view of the longer side, degrees."""
        side = self.sensor_side(shape, self.focal_length)
        return math.degrees(2 * math.atan(side / 2 / self.focal_length)) if side and self.focal_length else None


def read_exif(path: StrPath) -> Exif:
    """Read the EXIF data of a JPEG, PNG or TIFF file, or of a raw file that is built like TIFF (CR2, DNG, NEF).

    Raises
    ------
    InputError
        If the file cannot be read, or has no EXIF data.
    """
    name, data = load(path, IMAGE_FORMATS)
    block = {"JPEG": _jpeg.exif, "PNG": _png.exif}.get(name, _whole)(data)
    tags = dict(_tags(block.removeprefix(PREFIX)))
    if not tags:
        raise InputError(f"{path}: has no EXIF data: give the file as the camera wrote it")
    width, plane = max(tags.get(_WIDTH, 0), tags.get(_HEIGHT, 0)), tags.get(_PLANE_X)
    unit = _UNITS.get(int(tags.get(_PLANE_UNIT, 2)))
    focal, focal_35 = tags.get(_FOCAL_LENGTH), tags.get(_FOCAL_35)
    return Exif(
        focal / 1000 if focal else None,
        tags.get(_F_NUMBER) or None,
        tags.get(_SUBJECT_DISTANCE) or None,
        width / plane * unit if width and plane and unit and math.isfinite(plane) else None,
        focal_35 / 1000 if focal_35 else None,
    )


def _whole(data: Bytes) -> bytes:
    return data[:]


def _tags(tiff: bytes) -> Iterator[tuple[int, float]]:
    """The numbers of the first directory and of its EXIF directory. Damaged entries are left out."""
    order = BYTE_ORDERS.get(tiff[:4])
    if order is None or len(tiff) < 8:
        return
    first = dict(_directory(tiff, order, struct.unpack_from(order + "I", tiff, 4)[0]))
    yield from first.items()
    if _EXIF_IFD in first:
        yield from _directory(tiff, order, int(first[_EXIF_IFD]))


def _directory(tiff: bytes, order: str, start: int) -> Iterator[tuple[int, float]]:
    if not 0 <= start <= len(tiff) - 2:
        return
    (count,) = struct.unpack_from(order + "H", tiff, start)
    for i in range(min(count, _MOST_ENTRIES)):
        entry = start + 2 + 12 * i
        if entry + 12 > len(tiff):
            return
        tag, kind, length = struct.unpack_from(order + "HHI", tiff, entry)
        if length != 1:
            continue
        if kind in (_SHORT, _LONG):
            yield tag, float(struct.unpack_from(order + ("H" if kind == _SHORT else "I"), tiff, entry + 8)[0])
        elif kind == _RATIONAL:
            (place,) = struct.unpack_from(order + "I", tiff, entry + 8)
            if place + 8 <= len(tiff):
                yield tag, _ratio(*struct.unpack_from(order + "II", tiff, place))


def _ratio(top: int, bottom: int) -> float:
    """A rational number. 0xFFFFFFFF as numerator means infinity."""
    if top == 0xFFFFFFFF:
        return math.inf
    return top / bottom if bottom else 0.0
