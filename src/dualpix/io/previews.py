"""A map as a picture: turbo colours or others, grey where invalid, and a legend with the range below."""

import math
import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, OutputError, ParameterError
from ..types import Image, Map, StrPath
from .atomic import OutputSet
from .images import encode_png

__all__ = ["check_preview_path", "encode_preview", "preview", "write_preview"]

RGB = tuple[int, int, int]

_INVALID = 128
_BACKGROUND, _INK = 24, 235


def preview(
    map: ArrayLike,
    vmin: float | None = None,
    vmax: float | None = None,
    *,
    unit: str = "px",
    ends: tuple[str, str] = ("far", "near"),
    marks: Sequence[RGB] | None = None,
) -> Image:
    """Paint a map with a legend.

    Parameters
    ----------
    map
        HxW disparities (px), larger is nearer. Pixels that are not finite become grey.
    vmin, vmax
        The range of the colours. The default is the 1st and 99th percentile of the finite values.
    unit, ends
        The unit after the legend's numbers, and the words at the ends of its bar.
    marks
        Colours at equal distances, lowest to highest, in place of turbo.

    Returns
    -------
    ndarray
        RGB uint8: the map at its own size, and below it a legend at least as wide.
    """
    values = np.asarray(map, np.float32)
    if values.ndim != 2 or values.size == 0:
        raise InputError(f"map: has shape {values.shape}: give a non-empty HxW array")
    finite = np.isfinite(values)
    low, high = _range(values[finite], vmin, vmax)
    colours = _turbo() if marks is None else blended(marks, 256)
    painted = colours[_levels(np.where(finite, values, low), low, high)]
    painted[~finite] = _INVALID
    if finite.any():
        first, last = _numbers(low, high)
        texts = f"{first} {unit}  {ends[0]}", f"{ends[1]}  {last} {unit}"
    else:
        texts, colours[:] = ("no valid pixels", ""), _INVALID
    return _stack(painted, _legend(values.shape[1], texts, colours))


def write_preview(
    path: StrPath,
    map: ArrayLike,
    vmin: float | None = None,
    vmax: float | None = None,
    *,
    unit: str = "px",
    ends: tuple[str, str] = ("far", "near"),
) -> None:
    """Write `preview` as PNG, whole or not at all. An existing file is replaced."""
    check_preview_path(path)
    data = encode_preview(map, vmin, vmax, unit=unit, ends=ends)
    with OutputSet([path], force=True) as outputs:
        outputs.write(path, data)


def encode_preview(
    map: ArrayLike,
    vmin: float | None = None,
    vmax: float | None = None,
    *,
    unit: str = "px",
    ends: tuple[str, str] = ("far", "near"),
    marks: Sequence[RGB] | None = None,
) -> bytes:
    """Return `preview` as the bytes of a PNG."""
    return encode_png(preview(map, vmin, vmax, unit=unit, ends=ends, marks=marks))


def blended(marks: Sequence[RGB], count: int) -> Image:
    """That many colours, from the first mark to the last one; those between two marks are blends of them."""
    at, places = np.arange(count), np.linspace(0, count - 1, len(marks))
    channels = [np.rint(np.interp(at, places, channel)) for channel in zip(*marks, strict=True)]
    return np.stack(channels, axis=1).astype(np.uint8)


def check_preview_path(path: StrPath) -> None:
    """Raise OutputError unless `path` ends in .png."""
    if os.path.splitext(path)[1].lower() != ".png":
        raise OutputError(f"{path or 'path'}: a preview is a PNG file: choose a name that ends in .png")


def _range(finite: Map, vmin: float | None, vmax: float | None) -> tuple[float, float]:
    given = [end for end in (vmin, vmax) if end is not None]
    if not all(map(math.isfinite, given)) or (len(given) == 2 and given[0] >= given[1]):
        raise ParameterError(f"vmin and vmax must be finite and vmin below vmax, not {vmin} and {vmax}")
    low, high = np.percentile(finite, (1, 99), method="nearest").tolist() if finite.size else (0.0, 0.0)
    low, high = low if vmin is None else vmin, high if vmax is None else vmax
    if low < high:
        return low, high
    middle = low if vmax is None else high
    half = max(0.5, abs(middle) * 1e-3)
    return middle - half, middle + half


def _levels(values: Map, low: float, high: float) -> Image:
    levels = values.astype(np.float64)  # The difference of two float32 can exceed float32.
    np.clip(levels, low, high, out=levels)
    levels -= low
    levels *= 255 / (high - low)
    return np.rint(levels, out=levels).astype(np.uint8)


def _turbo() -> Image:
    """Return the 256 colours from far (blue) to near (red)."""
    import cv2

    ramp = np.arange(256, dtype=np.uint8)[:, None]
    return np.array(cv2.applyColorMap(ramp, cv2.COLORMAP_TURBO)[:, 0, ::-1], np.uint8)


def _numbers(low: float, high: float) -> tuple[str, str]:
    """Print both ends to two digits of their difference, so that a narrow range does not read "0.0" and "0.0"."""
    decimals = min(max(1 - math.floor(math.log10(high - low)), 1), 4)
    sign = "+" if low < 0 else ""

    def text(value: float) -> str:
        if abs(value) >= 1e5:
            return f"{value:{sign}.3g}"
        return f"{round(value, decimals) + 0.0:{sign}.{decimals}f}"  # + 0.0 makes -0.0 positive

    return text(low), text(high)


def _legend(width: int, texts: tuple[str, str], colours: Image) -> Image:
    """Draw one line: the first text, the colours as a bar, the second text."""
    import cv2

    font, scale = cv2.FONT_HERSHEY_SIMPLEX, max(width / 1600, 0.45)
    thickness, pad = max(round(1.5 * scale), 1), round(16 * scale)
    (first, height), (second, _) = (cv2.getTextSize(text, font, scale, thickness)[0] for text in texts)
    bar = max(width - first - second - 4 * pad, 8 * pad)
    line = np.full((height + 2 * pad, first + bar + second + 4 * pad, 3), _BACKGROUND, np.uint8)
    start = first + 2 * pad
    line[pad:-pad, start : start + bar] = colours[np.linspace(0, 255, bar).round().astype(int)]
    for text, x in zip(texts, (pad, start + bar + pad), strict=True):
        cv2.putText(line, text, (x, pad + height), font, scale, (_INK,) * 3, thickness, cv2.LINE_AA)
    return line


def _stack(top: Image, bottom: Image) -> Image:
    """Put one image below the other. The narrower one is padded on its right."""
    canvas = np.full((top.shape[0] + bottom.shape[0], max(top.shape[1], bottom.shape[1]), 3), _BACKGROUND, np.uint8)
    canvas[: top.shape[0], : top.shape[1]] = top
    canvas[top.shape[0] :, : bottom.shape[1]] = bottom
    return canvas
