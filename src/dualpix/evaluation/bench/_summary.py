"""The most important figures of a benchmark."""

import math
from typing import Any

from ._comparison import PROCESSES
from ._measure import median_ratio
from ._methods import COUNT, NAMES, grey
from ._roofline import FINEST
from ._scaling import GROWTH


def summary(measured: dict[str, Any]) -> dict[str, float]:
    """The figures of the sections that were measured, by a label that explains them."""
    parts = {"methods": _of_methods, "kernels": _of_kernels, "memory": _of_memory, "scaling": _of_scaling}
    found: dict[str, float] = {}
    for name, part in parts.items():
        if name in measured:
            found |= part(measured[name])
    return {name: value for name, value in found.items() if not math.isnan(value)}


def _of_methods(methods: dict[str, Any]) -> dict[str, float]:
    pair, wide, process = methods["pair"], methods["stereo pair"], methods["whole process"]
    small = methods["small pair"]
    size = f"{wide['disparities']} disparities, {_megapixels(wide)} MP"
    hh, five, three = NAMES["hh"], NAMES["5way"], NAMES["3way"]
    return {
        f"auto / {five}, {COUNT} disparities": _quotient(pair, "auto", five),
        f"auto / {grey(five)}, {COUNT} disparities": _quotient(pair, "auto", grey(five)),
        f"auto / {grey(three)}, {COUNT} disparities": _quotient(pair, "auto", grey(three)),
        f"auto / {grey(five)}, {COUNT} disparities, {_megapixels(small)} MP": _quotient(small, "auto", five),
        f"dslr-a / {hh}, {COUNT} disparities": _quotient(pair, "dslr-a", hh),
        f"stereo / {hh}, one view, {size}": _quotient(wide, "stereo", hh),
        f"{' / '.join(PROCESSES)}, whole processes, {process['width']}x{process['height']}": process["ratio"],
    }


def _megapixels(pair: dict[str, Any]) -> str:
    return f"{1e-6 * pair['width'] * pair['height']:.2g}"


def _quotient(pair: dict[str, Any], ours: str, theirs: str) -> float:
    """The median of the rounds' ratios; NaN if the other method was left out."""
    methods = pair["methods"]
    return median_ratio(methods[ours]["runs"], methods[theirs]["runs"]) if theirs in methods else math.nan


def _of_kernels(kernels: dict[str, Any]) -> dict[str, float]:
    one_pass, weights = kernels["aggregation"], kernels["edge weights"]
    share = weights["seconds"] / FINEST / one_pass["seconds"]
    return {
        "aggregation, one pass of 8 paths / a copy of its maps": kernels["aggregation"]["of_copy"],
        f"aggregation, one of {FINEST} passes / a copy of its maps": kernels["aggregation in passes"]["of_copy"],
        "aggregation, one pass and its share of the edge weights / a copy of its maps": (1 + share)
        * one_pass["of_copy"],
        "aggregation, one pass of 8 paths / its traffic alone": kernels["aggregation"]["ratio"],
        "cost kernel / its multiply-adds": kernels["cost"]["ratio"],
    }


def _of_memory(memory: dict[str, Any]) -> dict[str, float]:
    low, high = GROWTH
    growth = {name: series["growth"] for name, series in memory["disparities"].items()}
    floats = memory["pair"]["methods"]["auto"].get("floats_per_pixel", math.nan)
    return {
        **{f"{name}: peak memory at {high} / {low} disparities": value for name, value in growth.items()},
        "auto: peak memory above the two views, floats per pixel": floats,
    }


def _of_scaling(scaling: dict[str, Any]) -> dict[str, float]:
    threads = scaling["threads"]
    ups = zip(threads["x"], threads["speed_up"], strict=True)
    return {f"auto: speed-up of {n} threads over 1": up for n, up in ups if n > 1}
