"""Ground truth of any folder: what its numbers mean is named or certain, and must agree with its values."""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..io import probe, read_image, read_map
from ..io.layers import METRES, PIXELS, RELATIVE
from ..io.recorded import UNIT_NAMES, read_recorded, unit_of
from ..io.sidecar import read_record
from ..params import unknown_name
from ..types import Map
from .dataset_names import TRUTH_KINDS as KINDS

_KINDS_OF_UNITS = {PIXELS: ("disparity",), METRES: ("depth-m", "depth-mm"), RELATIVE: ("inverse",)}
_MIDDLEBURY = re.compile(r"disp[01](GT)?\.pfm", re.IGNORECASE)

TOO_FAR = 65535  # the code of a depth beyond what 16 bits of millimetres can hold
FARTHEST_MEDIAN = 1000.0  # m; a scene in metres is nearer than this
LARGEST_WHOLE = 100.0  # whole numbers up to this one may be metres, by chance
LEAST_MILLIMETRES = 50.0  # some pixel of a scene in millimetres is farther than this


def kind_of(path: Path, named: str | None) -> str:
    """The kind of a ground truth: the named one, or the one that is certain without a name.

    Certain are Middlebury's ``disp0.pfm`` and ``disp0GT.pfm`` (disparity) and maps with a sidecar of dualpix.

    Raises
    ------
    InputError
        If it is neither named nor certain, or the sidecar contradicts the name.
    """
    if named is not None and named not in KINDS:
        raise InputError(unknown_name("truth kind", named, KINDS))
    sidecar = read_record(path)
    if sidecar is not None:
        unit = unit_of(sidecar)
        if named is not None and named not in _KINDS_OF_UNITS[unit]:
            raise InputError(
                f"{path}: is no {named}, its sidecar says {UNIT_NAMES[unit]}: name the kind {_KINDS_OF_UNITS[unit][0]}"
            )
        return named or _KINDS_OF_UNITS[unit][0]
    if named is not None:
        return named
    if _MIDDLEBURY.fullmatch(path.name):
        return "disparity"
    raise InputError(
        f"{path}: could be any kind of ground truth: name it by truth_kind= or a column truth_kind, "
        f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
    )


def in_pixels(kind: str) -> bool:
    """Whether the kind is a disparity in pixels. The others are known only up to scale and offset."""
    return kind == "disparity"


def read_truth(path: Path, kind: str, length: int) -> Map:
    """Read a ground truth of that kind, as a map that is larger where nearer.

    Parameters
    ----------
    path
        A map or an image. Pixels that are not finite are unknown. So are 0 in a depth, 65535 in 16-bit millimetres,
        and 0 in a disparity that is a 16-bit PNG, which is read as KITTI: 256 per px.
    kind
        One of TRUTH_KINDS.
    length
        Width of the views, or their height if they differ along y: no disparity is as large.

    Returns
    -------
    ndarray
        HxW float32: disparity in px, inverse depth in 1/m, or the inverse as stored; NaN where unknown.

    Raises
    ------
    InputError
        If the values contradict the kind.
    """
    values, millimetres = _stored(path, kind)
    known = np.isfinite(values)
    values[~known] = np.nan
    if kind.startswith("depth"):
        known &= values != 0
        _check_depth(path, values[known], millimetres)
        values /= np.float32(1000 if millimetres else 1)
        return np.divide(1, values, out=np.full_like(values, np.nan), where=known)
    largest = float(np.abs(values[known]).max(initial=0))
    if in_pixels(kind) and largest >= length:
        raise InputError(
            f"{path}: holds a disparity of {largest:.6g} px, but the views have only {length} px: name the kind it is, "
            f"such as depth-mm"
        )
    return values


def unit_range(values: Map) -> Map:
    """The map stretched to 0..1 over its known pixels."""
    known = values[np.isfinite(values)]
    if not known.size:
        return values
    return np.asarray((values - known.min()) / np.float32(max(float(np.ptp(known)), 1e-6)), np.float32)


def read_mask(path: str | Path) -> NDArray[np.bool_]:
    """Where an image is white."""
    image = read_image(path)
    white = 1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max
    visible = np.asarray(np.atleast_3d(image == white).all(axis=2))
    if not visible.any():
        raise InputError(f"{path}: has no white ({white}) pixel: paint the pixels to score white")
    return visible


def _stored(path: Path, kind: str) -> tuple[Map, bool]:
    """The values of the file, and whether they are millimetres."""
    if read_record(path) is not None:
        return read_recorded(path)[0], False
    info = probe(path)
    whole = not info.dtype.startswith("float")
    if whole and kind == "depth-m":
        raise InputError(f"{path}: holds whole numbers ({info.dtype}), but depth-m is metres: name depth-mm if it is")
    if info.dtype == "uint8" and in_pixels(kind):
        raise InputError(
            f"{path}: holds 8-bit grey levels, which have no unit: give disparities as float or 16-bit KITTI PNG, or "
            "name the kind inverse"
        )
    if (info.format, info.dtype) == ("PNG", "uint16") and not in_pixels(kind):
        codes = read_image(path)
        values = (codes if codes.ndim == 2 else codes[..., 0]).astype(np.float32)
    else:
        values = read_map(path)
    if kind == "depth-mm" and info.dtype == "uint16":
        values[values == TOO_FAR] = np.nan
    return values, kind == "depth-mm"


def _check_depth(path: Path, depth: NDArray[np.float32], millimetres: bool) -> None:
    """Refuse depths that are certainly not in the unit that was named."""
    if not depth.size:
        return
    if depth.min() < 0:
        raise InputError(f"{path}: holds a negative depth, {depth.min():.6g}: name the kind disparity or inverse")
    largest, middle = float(depth.max()), float(np.median(depth))
    if millimetres and largest < LEAST_MILLIMETRES:
        raise InputError(f"{path}: is nowhere farther than {largest:.3g} mm: name the kind depth-m if it is in metres")
    whole = largest > LARGEST_WHOLE and bool((depth == np.rint(depth)).all())
    if not millimetres and (middle > FARTHEST_MEDIAN or whole):
        why = "holds whole numbers only" if whole else f"has a median of {middle:.6g} m"
        raise InputError(f"{path}: {why}: name the kind depth-mm if it is in millimetres")
