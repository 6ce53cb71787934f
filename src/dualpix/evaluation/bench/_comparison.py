"""The methods side by side: their times, where ours go, and their memory."""

from collections.abc import Mapping
from typing import Any

from ._cases import Case, Tell, Timed, Views, best_times
from ._memory import peaks
from ._methods import NAMES, PRESETS, dual_pixel_cases, left_out, wide_cases
from ._pairs import WIDE, shape, wide_pair
from ._process import whole_process

MEGAPIXELS, DISPARITIES = 3.0, 256  # of the stereo pair


def compare_times(
    views: Views, threads: int, largest: float, repeat: int, wanted: list[str], tell: Tell
) -> dict[str, Any]:
    """The sections `methods` and `stages`, or the one that is wanted; stages are those of the best runs."""
    cases, (wide, disparities) = dual_pixel_cases(views, threads), _wide(threads, largest)
    if "methods" not in wanted:
        cases, wide = {name: cases[name] for name in PRESETS}, {"stereo": wide["stereo"]}
    times, wide_times = best_times(cases, repeat, tell), best_times(wide, repeat, tell)
    sections = {}
    if "methods" in wanted:
        sections["methods"] = {
            "pair": {**_size(cases), "methods": _ratios(times, NAMES["5way"]), "left_out": left_out(views)},
            "stereo pair": {**_size(wide), "disparities": disparities, "methods": _ratios(wide_times, NAMES["hh"])},
            "whole process": whole_process(threads, largest, repeat, tell),
        }
    if "stages" in wanted:
        sections["stages"] = {name: _shares(t.stages) for name, t in (times | wide_times).items() if t.stages}
    return sections


def compare_memory(views: Views, threads: int, largest: float, tell: Tell) -> dict[str, Any]:
    """Peaks by method."""
    sections = {}
    for name, cases in {"pair": dual_pixel_cases(views, threads), "stereo pair": _wide(threads, largest)[0]}.items():
        size = _size(cases)
        pixels = size["width"] * size["height"]
        sections[name] = {**size, "methods": {key: each.record(pixels) for key, each in peaks(cases, tell).items()}}
    return sections


def _shares(seconds: dict[str, float]) -> dict[str, dict[str, float]]:
    whole = sum(seconds.values())
    return {"seconds": seconds, "percent": {stage: 100 * part / whole for stage, part in seconds.items()}}


def _wide(threads: int, largest: float) -> tuple[dict[str, Case], int]:
    """The methods on a stereo pair, and as many disparities as a quarter of its width can hold."""
    megapixels = min(MEGAPIXELS, largest)
    disparities = min(DISPARITIES, 16 * (shape(megapixels, WIDE)[1] // 64))
    return wide_cases(wide_pair(megapixels, disparities), disparities, threads), disparities


def _size(cases: Mapping[str, Case]) -> dict[str, int]:
    height, width = next(iter(cases.values())).views[0].shape[:2]
    return {"width": width, "height": height}


def _ratios(times: Mapping[str, Timed], base: str) -> dict[str, dict[str, float]]:
    """To the time of the base."""
    return {
        name: {"seconds": timed.seconds, "ratio": timed.seconds / times[base].seconds} for name, timed in times.items()
    }
