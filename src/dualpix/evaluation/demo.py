"""The demo: from a photograph with known depth to a dual-pixel pair, a disparity map and its scores.

The photograph is the Middlebury motorcycle that comes with scikit-image. Its stereo disparity is scaled to -3..3 px, as
a dual-pixel camera would see it: both kinds of disparity are affine in inverse depth. Without scikit-image, the
package draws a scene by itself.
"""

import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..camera.simulation import simulate
from ..camera.truth import fill_from_background
from ..io import OutputSet, encode_map, encode_png, encode_preview, output_folder
from ..io.sidecar import map_record, to_json
from ..method import api
from ..method.result import Result
from ..render.pages import wipe_page
from ..run import Progress, Step
from ..scenes import Shot, evening, make
from ..types import Map
from . import metrics
from .report._pictures import RAMPS

Image = npt.NDArray[Any]
Scores = dict[str, float]

PRESET: Final = "auto"
LARGEST = 3.0  # px; the disparities reach from -LARGEST to LARGEST
NOISE = 0.005  # STD, where white is 1
SIMULATION = {"largest_disparity": LARGEST, "noise": NOISE}  # of the photograph
TEXTURED = 2.0  # mean |dI/dx| over TEXTURE_WINDOW, in grey levels per pixel; pixels above have texture
TEXTURE_WINDOW = 17  # px, side

PICTURES = {
    "left.png": "left view",
    "right.png": "right view",
    "disparity.png": "disparity found",
    "truth.png": "true disparity",
    "confidence.png": "confidence",
    "error.png": "error",
}
FILES = (*PICTURES, "disparity.tiff", "disparity.json", "confidence.tiff", "truth.tiff", "index.html")
PHOTOGRAPH = "a photograph with known depth"
DRAWN = "a scene that dualpix draws by itself (for a photograph: pip install 'dualpix[demo]')"
TEXT = """A dual-pixel pair was made from {scene}, matched, and compared with the truth.
Disparities are in pixels: larger is nearer, 0 is in focus."""
LABELS = {
    "median_error_textured_px": "median error where there is texture, px",
    "median_error_px": "median error, px",
    "rmse_px": "root mean square error, px",
    "off_by_half_a_pixel_percent": "off by half a pixel or more, %",
    "textured_percent": "image with texture, %",
    "seconds": "time to match, s",
}


def run(folder: Path, *, progress: Progress | None = None, force: bool = False) -> dict[str, Any]:
    """Run the demo and write the pair, the maps, previews, scores and a page that shows them into a folder.

    Returns
    -------
    dict
        ``scene``, what the pair was made from; ``scores`` by name, each with its unit; ``files``, the paths that were
        written.
    """
    paths = {name: folder / name for name in FILES}
    with output_folder(folder), OutputSet(paths.values(), force=force) as files:
        if progress:
            progress(Step("simulation"))
        scene, (left, right, truth) = shot()
        start = time.perf_counter()
        result = api.disparity(left, right, PRESET, progress=progress)
        scores = score(left, result.disparity, truth) | {"seconds": time.perf_counter() - start}
        for name, content in _contents(scene, left, right, truth, result, scores).items():
            files.write(paths[name], content)
    return {"scene": scene, "scores": scores, "files": [str(path) for path in paths.values()]}


def _contents(scene: str, left: Image, right: Image, truth: Map, result: Result, scores: Scores) -> dict[str, bytes]:
    record = {
        **map_record("disparity.tiff", result.disparity, "x"),
        "preset": PRESET,
        "parameters": result.params.to_dict(),
        "simulation": {"scene": scene, **(SIMULATION if scene == PHOTOGRAPH else {})},
        "scores": scores,
    }
    figures = {LABELS[name]: f"{value:.3g}" for name, value in scores.items()}
    error = result.disparity - truth
    return {
        "left.png": encode_png(left),
        "right.png": encode_png(right),
        "disparity.png": encode_preview(result.disparity, -LARGEST, LARGEST),
        "truth.png": encode_preview(truth, -LARGEST, LARGEST),
        "confidence.png": encode_preview(result.confidence, 0, 1, unit="", ends=("low", "high"), marks=RAMPS["sure"]),
        "error.png": encode_preview(error, -1, 1, ends=("too far", "too near"), marks=RAMPS["signed"]),
        "disparity.tiff": bytes(encode_map("disparity.tiff", result.disparity)),
        "confidence.tiff": bytes(encode_map("confidence.tiff", result.confidence)),
        "truth.tiff": bytes(encode_map("truth.tiff", truth)),
        "disparity.json": to_json(record).encode(),
        "index.html": wipe_page("dualpix demo", " ".join(TEXT.format(scene=scene).split()), PICTURES, figures).encode(),
    }


def shot() -> tuple[str, Shot]:
    """What the pair is made from, in words, and the pair with its true disparity in pixels."""
    try:
        sharp, disparity = photograph()
    except ImportError:
        return DRAWN, make(evening())
    return PHOTOGRAPH, Shot(*simulate(sharp, disparity, noise=NOISE))


def photograph() -> tuple[Image, Map]:
    """A sharp photograph and its signed disparity in pixels. It needs scikit-image."""
    from skimage.data import stereo_motorcycle

    image, _, stereo = stereo_motorcycle()  # type: ignore[no-untyped-call]
    stereo = fill_from_background(np.where(np.isfinite(stereo), stereo, -np.inf).astype(np.float32))
    low, high = float(stereo.min()), float(stereo.max())
    return image, ((stereo - low) / (high - low) * 2 - 1) * np.float32(LARGEST)


def score(left: Image, estimate: Map, truth: Map) -> Scores:
    """Errors of the disparity. The first is over the pixels with texture along x only."""
    textured = texture(left) > TEXTURED
    error = np.abs(estimate - truth)
    whole = metrics.bad_pixels(estimate, truth)
    return {
        "median_error_textured_px": float(np.median(error[textured])),
        "median_error_px": float(np.median(error)),
        "rmse_px": whole.rmse,
        "off_by_half_a_pixel_percent": whole.bad_0_5,
        "textured_percent": 100 * float(textured.mean()),
    }


def texture(image: Image) -> Map:
    """Mean |dI/dx| around each pixel. Without such texture, a shift along x cannot be seen."""
    import cv2

    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    slope = np.abs(np.gradient(grey, axis=1)).astype(np.float32)
    return np.asarray(cv2.blur(slope, (TEXTURE_WINDOW, TEXTURE_WINDOW)), np.float32)
