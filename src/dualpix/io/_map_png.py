"""Maps as PNG: KITTI codes, grey levels, or millimetres."""

from typing import Any

import numpy as np

from ..types import Map
from .layers import METRES, Layers, finite_range

KITTI_UNIT = 256  # Codes per pixel of disparity. Code 0 means invalid.
_LARGEST = 2**16 - 1
MILLIMETRES = 1000
TOO_FAR = _LARGEST  # The code of infinity in millimetres. Code 0 means invalid.


def encode_kitti(values: Map) -> bytes:
    """Encode disparities in px as 16-bit codes, 256 a pixel. 0 is invalid."""
    valid = ~np.isnan(values)
    found = values[valid]
    if found.min(initial=0) < 0 or found.max(initial=0) * KITTI_UNIT >= _LARGEST + 0.5:
        raise ValueError(
            "PNG (16-bit KITTI) holds disparities from 0 to 255.996 px, not "
            f"{found.min():.6g} to {found.max():.6g} px: write .tif, .pfm or .npy instead"
        )
    codes = np.zeros(values.shape, np.uint16)
    # 0 px is a valid disparity, but code 0 means invalid, so the smallest code is 1.
    codes[valid] = np.maximum(np.rint(found * KITTI_UNIT), 1)
    return _png(codes)


def encode_millimetres(values: Map) -> bytes:
    """Encode depth in metres as 16-bit millimetres. 65535 is infinite or beyond 65.534 m, 0 is invalid."""
    codes = np.clip(np.rint(values.astype(np.float64) * MILLIMETRES), 1, TOO_FAR)
    return _png(np.where(values > 0, codes, 0).astype(np.uint16))


def encode_grey(layers: Layers, bits: int, near: str) -> bytes:
    """Encode as grey levels over the whole range of the map. NaN gets the level of the far end."""
    values = _quantity(layers)
    low, high = finite_range(values)
    level = (values.astype(np.float64) - low) / (high - low) if high > low else np.zeros(values.shape)
    level = np.where(np.isfinite(level), level, 0)
    full = 2**bits - 1
    codes = np.rint(full * (level if near == "white" else 1 - level))
    return _png(codes.astype(np.uint16 if bits == 16 else np.uint8))


def grey_record(layers: Layers, near: str) -> dict[str, Any]:
    """What black and white mean, for the sidecar."""
    far, nearest = finite_range(_quantity(layers))
    black, white = (far, nearest) if near == "white" else (nearest, far)
    quantity = {"px": "disparity, px", "m": "inverse depth, 1/m", "relative": "relative inverse depth"}
    return {"grey": {"quantity": quantity[layers.unit], "black": black, "white": white, "near": near}}


def _quantity(layers: Layers) -> Map:
    """What grey levels are linear in. Blur grows with inverse depth, so metres become inverse depth."""
    return layers.inverse_depth() if layers.unit == METRES else layers.values


def _png(codes: Any) -> bytes:
    import cv2

    return bytes(cv2.imencode(".png", codes)[1])
