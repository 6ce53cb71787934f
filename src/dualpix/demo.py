"""The whole way on a shot with known truth: photograph -> dual-pixel pair -> disparity map -> scores.

The photograph is scikit-image's Middlebury motorcycle; its stereo disparity, affine in inverse depth as that of a
dual-pixel camera is, becomes a signed disparity of -3..3 px.
"""

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from . import __version__, metrics, pipeline
from .arrays import Map
from .errors import InputError
from .io import OutputSet, encode_map, encode_png, encode_preview, output_folder
from .pages import wipe_page
from .params import DEFAULT_PRESET
from .simulation import fill_from_background, simulate

LARGEST = 3.0  # px of disparity, before and behind the focus
NOISE = 0.005
TEXTURED = 2.0  # mean |dI/dx| in grey levels a pixel, over TEXTURE_WINDOW
TEXTURE_WINDOW = 17

PICTURES = {
    "left.png": "left view",
    "right.png": "right view",
    "disparity.png": "disparity",
    "truth.png": "true disparity",
    "confidence.png": "confidence",
    "error.png": "error",
}
FILES = (*PICTURES, "disparity.tiff", "confidence.tiff", "truth.tiff", "scores.json", "index.html")


def run(folder: Path, *, progress: pipeline.Progress | None = None, force: bool = False) -> dict[str, Any]:
    """Write the pair, maps, previews, scores and a page to look at them into a folder.

    Returns
    -------
    dict
        ``scores`` by name, disparity errors in pixels, and ``files``, the paths written.
    """
    paths = {name: folder / name for name in FILES}
    with output_folder(folder), OutputSet(paths.values(), force=force) as files:
        if progress:
            progress("simulation", 0, 1)
        left, right, truth = simulate(*photograph(), noise=NOISE)
        start = time.perf_counter()
        result = pipeline.disparity(left, right, progress=progress)
        seconds = time.perf_counter() - start
        error = np.abs(result.disparity - truth)
        scores = score(left, result.disparity, truth) | {"seconds": seconds}
        record = {
            "dualpix": __version__,
            "preset": DEFAULT_PRESET,
            "parameters": result.params.to_dict(),
            "simulation": {"largest_disparity": LARGEST, "noise": NOISE},
            "scores": scores,
        }
        contents = {
            "left.png": encode_png(left),
            "right.png": encode_png(right),
            "disparity.png": encode_preview(result.disparity, -LARGEST, LARGEST),
            "truth.png": encode_preview(truth, -LARGEST, LARGEST),
            "confidence.png": encode_preview(result.confidence, 0, 1, unit="", ends=("low", "high")),
            "error.png": encode_preview(error, 0, 1, ends=("right", "wrong")),
            "disparity.tiff": encode_map("disparity.tiff", result.disparity),
            "confidence.tiff": encode_map("confidence.tiff", result.confidence),
            "truth.tiff": encode_map("truth.tiff", truth),
            "scores.json": json.dumps(record, indent=2, allow_nan=False).encode(),
            "index.html": wipe_page("dualpix demo", PICTURES, left.shape[:2], scores).encode(),
        }
        for name, content in contents.items():
            files.write(paths[name], content)
    return {"scores": scores, "files": [str(path) for path in paths.values()]}


def photograph() -> tuple[np.ndarray[Any, Any], Map]:
    """A sharp photograph and the signed disparity, in pixels, that a dual-pixel camera would see in it."""
    try:
        from skimage.data import stereo_motorcycle
    except ImportError:
        raise InputError("the demo's photograph comes with scikit-image: pip install 'dualpix[demo]'") from None
    image, _, stereo = stereo_motorcycle()  # type: ignore[no-untyped-call]
    stereo = fill_from_background(np.where(np.isfinite(stereo), stereo, -np.inf).astype(np.float32))
    low, high = float(stereo.min()), float(stereo.max())
    return image, ((stereo - low) / (high - low) * 2 - 1) * np.float32(LARGEST)


def score(left: np.ndarray[Any, Any], estimate: Map, truth: Map) -> dict[str, float]:
    """Errors in pixels of disparity where the left view has texture, and affine-invariant scores everywhere."""
    textured = texture(left) > TEXTURED
    error = np.abs(estimate - truth)
    affine = asdict(metrics.affine_invariant(estimate, (truth + LARGEST) / (2 * LARGEST)))
    return {
        "median_error_textured_px": float(np.median(error[textured])),
        "median_error_px": float(np.median(error)),
        "textured_share": float(textured.mean()),
        **{name: affine[name] for name in ("ai1", "ai2", "spearman", "geometric_mean")},
    }


def texture(image: np.ndarray[Any, Any]) -> Map:
    """Mean |dI/dx| around each pixel: what a shift along x can be seen by."""
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    slope = np.abs(np.gradient(grey, axis=1)).astype(np.float32)
    return np.asarray(cv2.blur(slope, (TEXTURE_WINDOW, TEXTURE_WINDOW)), np.float32)
