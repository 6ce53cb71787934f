"""Methods side by side: time, time by stage, memory, and time of a whole process."""

import math
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...batches import process
from ...io import encode_png
from ._measure import Case, Tell, Timed, Views, best_times, median_ratio, peaks
from ._methods import NAMES, PRESETS, dual_pixel_cases, grey_views, left_out, small_cases, wide_cases
from ._pairs import WIDE, dual_pixel_pair, reduced, shape, wide_pair

MEGAPIXELS, DISPARITIES = 3.0, 256  # of the stereo pair; the small pair has as many megapixels
PROCESS_MEGAPIXELS = 1344 * 1008 / 1e6  # of the pair that whole processes read
PROCESSES = ("dualpix disparity", "import cv2")


def compare_times(
    views: Views, threads: int, largest: float, repeat: int, wanted: list[str], tell: Tell
) -> dict[str, Any]:
    """The sections `methods` and `stages`, if wanted. Stages are those of the best runs."""
    cases, (wide, disparities) = dual_pixel_cases(views, threads), _wide(threads, largest)
    if "methods" not in wanted:
        cases, wide = {name: cases[name] for name in PRESETS}, {"stereo": wide["stereo"]}
    times, wide_times = best_times(cases, repeat, tell), best_times(wide, repeat, tell)
    sections = {}
    if "methods" in wanted:
        small = small_cases(reduced(grey_views(views), min(MEGAPIXELS, largest)), threads)
        small_times = best_times(small, repeat, lambda text: tell(f"small pair, {text}"))
        sections["methods"] = {
            "pair": {**_size(cases), "methods": _ratios(times, NAMES["5way"]), "left_out": left_out(views)},
            "small pair": {**_size(small), "methods": _ratios(small_times, NAMES["5way"])},
            "stereo pair": {**_size(wide), "disparities": disparities, "methods": _ratios(wide_times, NAMES["hh"])},
            "whole process": whole_process(threads, largest, repeat, tell),
        }
    if "stages" in wanted:
        sections["stages"] = {name: _shares(t.stages) for name, t in (times | wide_times).items() if t.stages}
    return sections


def compare_memory(views: Views, threads: int, largest: float, tell: Tell) -> dict[str, Any]:
    """Peak memory by pair and method."""
    sections = {}
    for name, cases in {"pair": dual_pixel_cases(views, threads), "stereo pair": _wide(threads, largest)[0]}.items():
        size = _size(cases)
        pixels = size["width"] * size["height"]
        sections[name] = {**size, "methods": {key: each.record(pixels) for key, each in peaks(cases, tell).items()}}
    return sections


def whole_process(threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    """Best time of the command ``dualpix disparity`` from start to end, and of a Python that only imports OpenCV.

    Both include the start of a process. The ratio is the median of the rounds. NaN if a process failed.
    """
    views = dual_pixel_pair(min(PROCESS_MEGAPIXELS, largest), WIDE)
    seconds: dict[str, list[float]] = {name: [] for name in PROCESSES}
    with TemporaryDirectory() as folder:
        left, right, out = (str(Path(folder, name)) for name in ("left.png", "right.png", "out.tiff"))
        for path, view in zip((left, right), views, strict=True):
            Path(path).write_bytes(encode_png(view))
        asked = ["disparity", left, right, "-o", out, "--force", "--threads", str(threads)]
        commands = process.python("from dualpix.cli import run; run()", *asked), process.python("import cv2")
        for turn in range(repeat):
            for name, command in zip(PROCESSES, commands, strict=True):
                tell(f"{name}, {turn + 1} of {repeat}")
                seconds[name].append(_time_of(command))
    best = {name: math.nan if any(map(math.isnan, each)) else min(each) for name, each in seconds.items()}
    height, width = views[0].shape
    failed = any(map(math.isnan, best.values()))
    ratio = math.nan if failed else median_ratio(*(seconds[name] for name in PROCESSES))
    return {"width": width, "height": height, "seconds": best, "runs": seconds, "ratio": ratio}


def _time_of(command: list[str]) -> float:
    """Seconds of a command; NaN if it fails."""
    start = time.perf_counter()
    try:
        process.run(command)
    except process.ProcessError:
        return math.nan
    return time.perf_counter() - start


def _wide(threads: int, largest: float) -> tuple[dict[str, Case], int]:
    """The methods on a stereo pair, and its disparities: no more than a quarter of its width."""
    megapixels = min(MEGAPIXELS, largest)
    disparities = min(DISPARITIES, 16 * (shape(megapixels, WIDE)[1] // 64))
    return wide_cases(wide_pair(megapixels, disparities), disparities, threads), disparities


def _size(cases: Mapping[str, Case]) -> dict[str, int]:
    height, width = next(iter(cases.values())).views[0].shape[:2]
    return {"width": width, "height": height}


def _ratios(times: Mapping[str, Timed], base: str) -> dict[str, dict[str, Any]]:
    """Seconds of each method, of its best run and of all, and the median of the rounds' ratios to the base."""
    whole = times[base].runs
    return {
        name: {"seconds": timed.seconds, "ratio": median_ratio(timed.runs, whole), "runs": list(timed.runs)}
        for name, timed in times.items()
    }


def _shares(seconds: dict[str, float]) -> dict[str, dict[str, float]]:
    whole = sum(seconds.values())
    return {"seconds": seconds, "percent": {stage: 100 * part / whole for stage, part in seconds.items()}}
