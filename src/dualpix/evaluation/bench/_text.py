"""The record of a benchmark as text tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..tables import text_table
from ._methods import NAMES

Rows = list[list[str]]
THREADS = ("x", "seconds", "speed_up")


def bench_lines(record: dict[str, Any]) -> str:
    """Tables of everything that was measured, and the summary at the end."""
    writers = {
        "methods": _methods,
        "stages": _stages,
        "scaling": _scaling,
        "kernels": _kernels,
        "memory": _memory,
        "summary": _summary,
        "against": _against,
    }
    tables = (table for name, writer in writers.items() if record.get(name) for table in writer(record[name]))
    return "\n\n".join([_title(record), *tables])


def threads(record: Mapping[str, Any]) -> str:
    """The number of threads, in words."""
    return f"{record['threads']} thread{'s' * (record['threads'] > 1)}"


def _title(record: dict[str, Any]) -> str:
    pair, versions = record["pair"], record["versions"]
    what = "simulated" if pair["simulated"] else pair.get("left", "the views given")
    load = "" if record["load"] is None else f", load {record['load']:.1f} before"
    kind = {1: "grey", 3: "colour"}[pair["channels"]]
    return (
        f"{what}: {pair['width']}x{pair['height']}, {kind}; {threads(record)}, "
        f"best of {record['repeat']}; ratios are medians of the rounds\n"
        f"{record['cpu']}{load}; dualpix {versions['dualpix']} {versions['dualpix code']}, OpenCV {versions['opencv']}"
    )


def _methods(section: dict[str, Any]) -> Iterator[str]:
    pair, wide, process = section["pair"], section["stereo pair"], section["whole process"]
    yield _times("method", pair, NAMES["5way"]) + "".join(
        f"\n{name}: left out, {why}" for name, why in pair["left_out"].items()
    )
    small = section["small pair"]
    yield _times(f"the same pair, grey, {small['width']}x{small['height']}", small, NAMES["5way"])
    yield _times(
        f"simulated stereo pair, {wide['width']}x{wide['height']}, {wide['disparities']} disparities", wide, NAMES["hh"]
    )
    seconds = ([name, f"{value:.3f}"] for name, value in process["seconds"].items())
    yield text_table([[f"whole process, {process['width']}x{process['height']}", "time, s"], *seconds])


def _times(head: str, pair: dict[str, Any], base: str) -> str:
    rows = ([name, f"{each['seconds']:.3f}", f"{each['ratio']:.3f}"] for name, each in pair["methods"].items())
    return text_table([[head, "time, s", f"/ {base}"], *rows])


def _stages(section: dict[str, Any]) -> Iterator[str]:
    names = list(dict.fromkeys(stage for each in section.values() for stage in each["percent"]))
    rows: Rows = [["percent of the time", *names, "in all, s"]]
    for preset, each in section.items():
        shares = (_number(each["percent"].get(name), "{:.1f}") for name in names)
        rows.append([preset, *shares, f"{sum(each['seconds'].values()):.3f}"])
    yield text_table(rows)


def _scaling(section: dict[str, Any]) -> Iterator[str]:
    yield _points("time by disparities, s", section["disparities"], "seconds", "{:.3f}")
    yield _points("time by megapixels, s", {"auto": section["megapixels"]}, "seconds", "{:.3f}")
    counts = section["threads"]
    rows = ([f"{n}", f"{t:.3f}", f"{up:.2f}"] for n, t, up in zip(*(counts[k] for k in THREADS), strict=True))
    yield text_table([["auto by threads", "time, s", "speed-up"], *rows])


def _points(head: str, series: dict[str, Any], what: str, form: str, extra: str = "exponent") -> str:
    x: Sequence[float] = max((each["x"] for each in series.values()), key=len)
    rows: Rows = [[head, *(f"{value:.3g}" for value in x), extra]]
    for name, each in series.items():
        rows.append([name, *(_number(value, form) for value in each[what]), _number(each[extra], "{:.2f}")])
    return text_table(rows)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or math.isnan(value) else form.format(value)


def _kernels(section: dict[str, Any]) -> Iterator[str]:
    limits = section["limits"]
    rows: Rows = [["kernel", "must do", "time, s", "bound, s", "time / bound"]]
    for name, each in section.items():
        if name not in ("limits", "roofline"):
            task = (
                f"{1e-9 * each['bytes']:.3f} GB" if "bytes" in each else f"{1e-9 * each['multiply_adds']:.1f} G mul-add"
            )
            rows.append([name, task, f"{each['seconds']:.4f}", f"{each['bound']:.4f}", f"{each['ratio']:.2f}"])
    yield text_table(rows) + (
        f"\nlimits: a copy moves {1e-9 * limits['bytes_per_second']:.1f} GB/s, reading and writing; "
        f"{1e-9 * limits['multiply_adds_per_second']:.1f} G multiply-adds/s"
    )


def _memory(section: dict[str, Any]) -> Iterator[str]:
    for name in ("pair", "stereo pair"):
        pair = section[name]
        rows: Rows = [
            [f"peak memory, {pair['width']}x{pair['height']}", "MB", "above the views, MB", "floats per pixel"]
        ]
        for method, each in pair["methods"].items():
            if "error" in each:
                rows.append([f"{method}: {each['error']}", "-", "-", "-"])
            else:
                figures = (f"{each['megabytes']:.0f}", f"{each['above_views']:.0f}", f"{each['floats_per_pixel']:.1f}")
                rows.append([method, *figures])
        yield text_table(rows)
    yield _points("memory by disparities, MB", section["disparities"], "above_views", "{:.1f}", "growth")


def _against(section: dict[str, Any]) -> Iterator[str]:
    rows: Rows = [["compared with the earlier run", "then, s", "now, s", "now / then", "spread"]]
    for name, each in section.items():
        spread = f"{each['low']:.3f} to {each['high']:.3f}"
        rows.append([name, f"{each['then']:.3f}", f"{each['now']:.3f}", f"{each['ratio']:.3f}", spread])
    yield text_table(rows)


def _summary(section: dict[str, float]) -> Iterator[str]:
    yield text_table([["summary", "figure"], *([name, f"{value:.3f}"] for name, value in section.items())])
