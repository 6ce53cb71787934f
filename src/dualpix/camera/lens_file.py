"""The calibration file: JSON that is checked in full before anything is used."""

from typing import Any

import numpy as np

from ..errors import InputError
from ..files import parse_json, read_text
from ..types import StrPath
from .lens import TERMS, VERSION, Calibration, Field, Plane, SceneFit, evaluate
from .metric import Metric
from .sheet import DARKEST, Values, White

# Other .json files of dualpix, by a key that only they have.
OTHERS = {"map": "the sidecar of a map", "clip": "the sidecar of a video", "batch": "the record of a batch"}
FAINTEST = 0.1  # a gain below this share of the mean does not come from a lens


def read_calibration(path: StrPath) -> Calibration:
    """Read a calibration file, checked in full.

    Raises
    ------
    InputError
        If it cannot be read, is not a calibration, has another version, or is damaged.
    """
    record = _read_json(path)
    for key, what in OTHERS.items():
        if "dualpix" in record and key in record:
            raise InputError(
                f"calibration {path}: is {what}, not a calibration: give a file that dualpix calibrate wrote"
            )
    if "calibration" not in record:
        raise InputError(f"calibration {path}: is not a calibration: give a file that dualpix calibrate wrote")
    if record["calibration"] != VERSION:
        raise InputError(
            f"calibration {path}: has version {record['calibration']!r} but this dualpix reads {VERSION}: "
            "calibrate again, or use the dualpix that wrote it"
        )
    try:
        return _from_record(record, f"calibration {path}")
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"calibration {path}: is damaged, {what}: calibrate again") from None


def _read_json(path: StrPath) -> dict[str, Any]:
    try:
        record = parse_json(read_text(path, "utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"calibration {path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"calibration {path}: cannot be read ({error.strerror}): give a calibration file") from None
    except ValueError:  # neither text nor JSON
        record = None
    return record if isinstance(record, dict) else {}


def _from_record(record: dict[str, Any], source: str) -> Calibration:
    """The calibration of a file's record; KeyError or ValueError says what is wrong with it."""
    width, height = (_whole(record, name) for name in ("width", "height"))
    if record["axis"] not in ("x", "y"):
        raise ValueError("axis is neither x nor y")
    if not isinstance(record["camera"], str | None):
        raise ValueError("camera is not a name")
    gain, offset, white = (record[name] for name in ("gain", "offset", "white"))
    if (gain is None) != (offset is None):
        raise ValueError("only one of gain and offset is given")
    field = None
    if gain is not None:
        field = Field(_coefficients(gain, "gain"), _coefficients(offset, "offset"))
        if evaluate(field.gain, (64, 64)).min() < FAINTEST:
            raise ValueError(f"gain falls below {FAINTEST}")
    if white is not None:
        black, full = (float(_numbers(white[name], name, 0)) for name in ("black", "full"))
        white = White(black, full, *(_numbers(white[name], f"white {name}", 2) for name in ("left", "right")))
        if not 0 <= black < full or any(
            min(grid.shape) < 2 or grid.min() < DARKEST or grid.max() > 1 for grid in (white.left, white.right)
        ):
            raise ValueError("white has values that are out of bounds")
    planes = tuple(_plane(each) for each in _records(record["planes"], "planes"))
    scenes = tuple(SceneFit(*_figures(each, SceneFit._fields)) for each in _records(record.get("scenes", []), "scenes"))
    metric = _metric(_records([record["metric"]], "metric")[0]) if record.get("metric") is not None else None
    return Calibration(width, height, record["axis"], record["camera"], white, field, planes, scenes, metric, source)


def _records(values: object, name: str) -> list[dict[str, Any]]:
    if not isinstance(values, list) or not all(isinstance(each, dict) for each in values):
        raise ValueError(f"{name} does not hold the expected records")
    return values


def _plane(record: dict[str, Any]) -> Plane:
    distance = _figures(record, ("distance",))[0] if record.get("distance") is not None else None
    disparity, observed, corrected = _figures(record, ("disparity", "observed", "corrected"))
    return Plane(disparity, observed, corrected, distance)


def _metric(record: dict[str, Any]) -> Metric:
    names = ("inverse_focus", "a", "lens_to_sensor", "pivot", "pivot_error", "a_error")
    focus, a, v, pivot, pivot_error, a_error = _figures(record, names)
    metric = Metric(focus, a, v, pivot, pivot_error, a_error)
    if a <= 0 or min(v, pivot_error, a_error) < 0:
        raise ValueError("metric has values that are out of bounds")
    return metric


def _figures(record: dict[str, Any], names: tuple[str, ...]) -> list[float]:
    return [float(_numbers(record[name], name, 0)) for name in names]


def _whole(record: dict[str, Any], name: str) -> int:
    value = record[name]
    if type(value) is not int or value < 1:
        raise ValueError(f"{name} is not a whole number above 0")
    return value


def _coefficients(terms: dict[str, Any], name: str) -> tuple[float, ...]:
    if not isinstance(terms, dict) or terms.keys() != TERMS.keys():
        raise ValueError(f"{name} does not have the terms {', '.join(TERMS)}")
    return tuple(_numbers([terms[term] for term in TERMS], name, 1).tolist())


def _numbers(values: object, name: str, dimensions: int) -> Values:
    """A number, row or grid of finite numbers; ValueError if it is anything else."""
    try:
        numbers = np.array(values)
    except ValueError:
        raise ValueError(f"the rows of {name} differ in length") from None
    if numbers.ndim != dimensions or numbers.size == 0 or numbers.dtype.kind not in "if":
        raise ValueError(f"{name} does not hold the expected numbers")
    if not (np.abs(numbers) < 1e6).all():
        raise ValueError(f"{name} is out of bounds")
    return numbers.astype(np.float64)
