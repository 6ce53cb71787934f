"""What a user tells about regions of a picture, as strokes of a brush: "as near as this", or "unknown".

A file of hints is a JSON list of strokes, in pixels of the picture as a viewer shows it::

    [{"kind": "near", "disparity": 1.5, "points": [[320, 200], [360, 210]], "radius": 12},
     {"kind": "unknown", "points": [[90, 80]], "radius": 30}]
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..files import parse_json, read_text
from ..params.rules import Choice, Real, check, unknown_name
from ..types import Map, StrPath

__all__ = ["KINDS", "NOTHING", "UNKNOWN", "Hint", "as_hints", "painted", "to_json"]

KINDS = ("near", "unknown")
NAMES = ("kind", "points", "radius", "disparity")
STROKES, POINTS = 1000, 20_000  # of one file
PLACE, RADIUS, DISPARITY = Real(-1e5, 1e5), Real(0, 1000), Real(-10_000, 10_000)
FILE_BYTES = 16 << 20

NOTHING, UNKNOWN = np.float32(np.nan), np.float32(-np.inf)  # values of a painted map


@dataclass(frozen=True)
class Hint:
    """One stroke.

    Attributes
    ----------
    kind : "near" or "unknown"
        Near: the region has this disparity. Unknown: what was matched there is not to be trusted.
    points : tuple of (float, float)
        x and y of the line that was drawn, px of the picture as a viewer shows it.
    radius : float
        Of the brush, px: pixels up to this far from the line belong to the region.
    disparity : float or None
        px, larger is nearer. Only for "near".
    """

    kind: str
    points: tuple[tuple[float, float], ...]
    radius: float
    disparity: float | None = None

    @classmethod
    def from_json(cls, record: object) -> Hint:
        """Check a stroke.

        Raises
        ------
        ParameterError
            It names what is wrong.
        """
        if not isinstance(record, dict):
            raise ParameterError(f"a hint must be an object with {', '.join(NAMES)}")
        for name in record:
            if name not in NAMES:
                raise ParameterError(unknown_name("entry of a hint", name, NAMES))
        kind = check("kind of a hint", record.get("kind"), Choice(*KINDS))
        disparity = record.get("disparity")
        if kind == "unknown" and disparity is not None:
            raise ParameterError("a hint of kind unknown has no disparity: leave it out")
        if kind == "near":
            disparity = check("disparity of a hint", disparity, DISPARITY)
        points = record.get("points")
        if not isinstance(points, list | tuple) or not 1 <= len(points) <= POINTS:
            raise ParameterError(f"points of a hint must be a list of 1 to {POINTS} points [x, y]")
        radius = check("radius of a hint", record.get("radius"), RADIUS)
        return cls(kind, tuple(map(_point, points)), radius, disparity)

    def to_json(self) -> dict[str, Any]:
        """The inverse of `from_json`."""
        told = {} if self.disparity is None else {"disparity": self.disparity}
        return {"kind": self.kind, **told, "points": [list(each) for each in self.points], "radius": self.radius}


def as_hints(hints: StrPath | Sequence[Hint | dict[str, Any]]) -> tuple[Hint, ...]:
    """Hints from a file, or from a list of strokes.

    Raises
    ------
    InputError
        If the file cannot be read, or a stroke in it is wrong.
    ParameterError
        If a stroke of the list is wrong.
    """
    if not isinstance(hints, (str, os.PathLike)):
        return _checked(hints)
    try:
        return _checked(_read(hints))
    except ParameterError as error:
        raise InputError(f"hints {hints}: {error}") from None


def to_json(hints: Sequence[Hint]) -> str:
    """The text of a file of hints."""
    return "[" + ",\n ".join(json.dumps(each.to_json()) for each in hints) + "]\n"


def painted(hints: Sequence[Hint], shape: tuple[int, int]) -> Map:
    """What was told about every pixel: a disparity (px), `UNKNOWN`, or `NOTHING`. Later strokes cover earlier ones.

    Raises
    ------
    InputError
        If a stroke lies outside the picture.
    """
    told = np.full(shape, NOTHING)
    for number, hint in enumerate(hints, 1):
        _paint(told, hint, number)
    return told


def _paint(told: Map, hint: Hint, number: int) -> None:
    """Paint the pixels whose distance to the line, drawn 1 px wide, is at most the radius."""
    import cv2

    height, width = told.shape
    points = np.rint(np.array(hint.points)).astype(np.int64)
    reach = math.floor(hint.radius)
    low, high = points.min(0) - reach, points.max(0) + reach + 1
    if (low >= (width, height)).any() or (high <= 0).any():
        raise InputError(f"hint {number} lies outside the picture of {width}x{height}: leave it out")
    # The line may leave the picture. Parts of it that are farther away than the radius do not count.
    low, high = np.maximum(low, -reach), np.minimum(high, (width + reach, height + reach))
    canvas = np.ones((high - low)[::-1], np.uint8)
    line = np.vstack([points[:1], points]) - low  # a single point is a line, too
    cv2.polylines(canvas, [line.astype(np.int32)], False, 0)
    distance = cv2.distanceTransform(canvas, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
    x, y = np.maximum(low, 0)
    inside = distance[y - low[1] :, x - low[0] :] <= hint.radius
    part = told[y : high[1], x : high[0]]
    part[inside[: part.shape[0], : part.shape[1]]] = UNKNOWN if hint.disparity is None else hint.disparity


def _checked(hints: object) -> tuple[Hint, ...]:
    if not isinstance(hints, list | tuple):
        raise ParameterError("hints must be a list of strokes")
    if len(hints) > STROKES:
        raise ParameterError(f"hints has {len(hints)} strokes: give at most {STROKES}")
    found = tuple(each if isinstance(each, Hint) else Hint.from_json(each) for each in hints)
    if sum(len(each.points) for each in found) > POINTS:
        raise ParameterError(f"hints has more than {POINTS} points: give fewer")
    return found


def _point(value: object) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ParameterError("points of a hint must be pairs [x, y]")
    return check("x of a hint", value[0], PLACE), check("y of a hint", value[1], PLACE)


def _read(path: StrPath) -> object:
    try:
        if os.path.getsize(path) > FILE_BYTES:
            raise InputError(f"hints {path}: has more than {FILE_BYTES >> 20} MB: give fewer strokes")
        found: object = parse_json(read_text(path, "utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"hints {path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"hints {path}: cannot be read ({error.strerror}): give a JSON file") from None
    except ValueError:
        raise InputError(f"hints {path}: is not JSON: give a list of strokes") from None
    return found
