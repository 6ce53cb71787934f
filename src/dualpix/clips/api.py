"""Makes the maps of a clip, segment by segment. What is finished is not done again."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice
from typing import Any

import numpy as np

from ..batches.keys import key_of
from ..batches.versions import versions
from ..camera.lens import NO_LENS
from ..errors import OutputError
from ..io import OutputSet
from ..io.atomic import is_inside, writing
from ..io.sidecar import CLIP, SIGN, statistics, to_json
from ..io.video import join
from ..method.result import Result
from ..method.sequence import Sequence
from ..opencv import opencv_threads
from ..run import Progress, Step
from ..version import version
from .parts import Parts
from .source import Clip
from .target import Grey, SegmentWriter, Target, extent, grey_of, metadata, part

SEGMENT = 48  # frames; a multiple of the block of two_sided, so that segments can be solved one by one
RATE = Fraction(25)  # frames a second, if the input does not tell


@dataclass(frozen=True)
class Order:
    """What to make of a clip.

    Attributes
    ----------
    clip, target
        Inputs and outputs.
    bounds : (float, float) or None
        Disparities of black and white, px; None takes the range that is searched in the first frame.
    rate : Fraction or None
        Frames a second of videos that are written; None is that of the input.
    two_sided : bool
        Whether a frame knows the frames after it.
    preset : str
        The name of the preset, for the record.
    """

    clip: Clip
    target: Target
    bounds: tuple[float, float] | None = None
    rate: Fraction | None = None
    two_sided: bool = False
    preset: str = "auto"

    @property
    def frame_rate(self) -> Fraction:
        """Frames a second of what is written."""
        return self.rate or self.clip.rate or RATE

    def key(self, sequence: Sequence) -> str:
        """Two orders with the same key give the same bytes. A file counts by its name, size and date."""
        filming = sequence.filming
        files = [(os.path.abspath(path), *_size_and_date(path)) for path in self.clip.inputs]
        lens = None if filming.lens is NO_LENS else filming.lens.to_dict()
        settings = [filming.axis, filming.mask_hidden, filming.motion, filming.weight, self.two_sided, str(self.rate)]
        reading = [self.clip.layout, self.clip.first, self.target.format, bool(self.target.preview), self.bounds]
        return key_of(files, filming.method.params.to_dict(), to_json({"lens": lens}), settings, reading, versions())


def make_clip(order: Order, sequence: Sequence, force: bool, progress: Progress | None = None) -> dict[str, Any]:
    """Write the maps of a clip, and return the record of its sidecar.

    Finished segments of an earlier run with the same order are kept.

    Raises
    ------
    DualpixError
        If inputs or outputs cannot be used. If it is the first frame, or an output, nothing is written.
    """
    start = time.monotonic()
    target = order.target
    parts = Parts(f"{target.path}.parts", order.key(sequence))
    parts.check(force)
    check_outputs(order, force or parts.is_placing())
    with opencv_threads(sequence.threads), parts.opened():
        records, kept = _solved(order, sequence, parts, progress)
        record = _record(order, sequence, records)
        record |= {"seconds": time.monotonic() - start, "kept": kept}
        with parts.placing():
            _put_in_place(order, parts, records, record)
    return record


def check_outputs(order: Order, force: bool) -> None:
    """Refuse outputs that exist, that cannot be written, or that are inputs."""
    target = order.target
    files = [path for path in (target.path if target.is_video else None, target.preview) if path]
    if target.is_video:
        files.append(target.sidecar)
    OutputSet(files, order.clip.inputs, force, {target.sidecar: f"the sidecar of {target.path}"})
    if target.is_video:
        return
    above = os.path.dirname(os.path.abspath(target.path))
    if not os.path.isdir(above):
        raise OutputError(f"{target.path}: the folder {above} does not exist: create it first")
    if not os.access(above, os.W_OK | os.X_OK):
        raise OutputError(f"{target.path}: the folder {above} is not writable: choose another place")
    if target.preview and is_inside(target.preview, target.path):
        raise OutputError(f"{target.preview}: lies in the folder of the frames: choose another place")
    if not os.path.lexists(target.path):
        return
    if any(is_inside(path, target.path) for path in order.clip.inputs):
        raise OutputError(f"{target.path}: holds inputs, which would be lost: choose another output")
    if not os.path.isdir(target.path):
        raise OutputError(f"{target.path}: is not a folder: choose another output")
    if os.listdir(target.path):
        if not os.path.isfile(target.sidecar):
            raise OutputError(f"{target.path}: holds other files: choose a new folder")
        if not force:
            raise OutputError(f"{target.path}: exists already: choose another name, or force=True to replace it")


def _solved(
    order: Order, sequence: Sequence, parts: Parts, progress: Progress | None
) -> tuple[list[dict[str, Any]], int]:
    """The records of all segments, and how many frames were finished before."""
    records = parts.segments()
    kept = sum(record["frames"] for record in records)
    if kept == order.clip.count:
        return records, kept
    sequence.moment = parts.moment(len(records) - 1)
    pairs = order.clip.pairs(kept)
    results = sequence.both_sides(pairs) if order.two_sided else map(sequence.add, pairs)
    while sum(record["frames"] for record in records) < order.clip.count:
        records.append(_segment(order, sequence, results, parts, records, progress))
    return records, kept


def _segment(
    order: Order,
    sequence: Sequence,
    results: Iterator[Result],
    parts: Parts,
    before: list[dict[str, Any]],
    progress: Progress | None,
) -> dict[str, Any]:
    """Solve and write one segment; return its record."""
    first = sum(record["frames"] for record in before)
    grey = _grey(before, order.target) if before else None
    shown = before[0]["shown"] if before else None
    found: dict[str, Any] = {"frames": 0, "min": np.inf, "max": -np.inf, "nan": 0, "outside": 0, "cuts": []}
    writer = None
    try:
        for number, result in enumerate(islice(results, SEGMENT), first):
            if progress:
                progress(Step("frames", number / order.clip.count, number + 1, order.clip.count, "frame"))
            grey = grey or grey_of(order.bounds, result.searched, order.target.bits or 16)
            shown = shown or order.bounds or extent(result.disparity)
            if writer is None:
                writer = SegmentWriter(order.target, grey, shown, order.frame_rate, parts.path, len(before), first)
            writer.add(result.disparity)
            _count(found, result, grey, number, sequence)
    except BaseException as error:
        if writer:
            writer.close(error)
        raise
    assert writer is not None
    assert grey is not None
    assert sequence.moment is not None
    writer.close()
    found |= {"grey": [grey.black, grey.white], "shown": shown}
    parts.keep(len(before), found, sequence.moment)
    return found


def _count(found: dict[str, Any], result: Result, grey: Grey, number: int, sequence: Sequence) -> None:
    """Add a frame to the record of its segment, in place."""
    about = statistics(result.disparity)
    found["frames"] += 1
    found["min"] = float(np.fmin(found["min"], about["min"]))
    found["max"] = float(np.fmax(found["max"], about["max"]))
    found["nan"] += about["nan"]
    found["outside"] += grey.outside(result.disparity)
    if number and sequence.moment and sequence.moment.cut:
        found["cuts"].append(number + 1)
    frame = result.plan.frame
    found |= {"axis": result.axis, "flipped": frame.flipped, "size": result.disparity.shape[::-1]}
    found["warnings"] = list(dict.fromkeys([*found.get("warnings", []), *result.warnings]))


def _record(order: Order, sequence: Sequence, records: list[dict[str, Any]]) -> dict[str, Any]:
    """What the sidecar says: what the numbers mean, and how they were found."""
    clip, target, filming = order.clip, order.target, sequence.filming
    first, (width, height) = records[0], records[0]["size"]
    outside = sum(each["outside"] for each in records) / (width * height * clip.count)
    grey = _grey(records, target)
    warnings = list(dict.fromkeys(chain.from_iterable(each["warnings"] for each in records)))
    if target.bits and outside > 0:
        warnings.append(
            f"{100 * outside:.2g} % of the pixels lie beyond black or white ({grey.black:g} to {grey.white:g} px): "
            "give a wider range as grey="
        )
    return {
        "dualpix": version(),
        "clip": os.path.basename(target.path),
        "frames": clip.count,
        "rate": str(order.frame_rate),
        "format": target.format,
        "axis": first["axis"],
        "sign": SIGN[first["axis"], first["flipped"]],
        "unit": "pixels of the input",
        "width": width,
        "height": height,
        "disparity": {
            "min": min(each["min"] for each in records),
            "max": max(each["max"] for each in records),
            "nan": sum(each["nan"] for each in records),
        },
        "grey": {**grey.record(), "outside": outside} if target.bits else None,
        "cuts": list(chain.from_iterable(each["cuts"] for each in records)),
        "preset": order.preset,
        "parameters": filming.method.params.to_dict(),
        "motion": filming.motion,
        "weight": filming.weight,
        "two_sided": order.two_sided,
        "threads": sequence.threads,
        "calibration": None if filming.lens is NO_LENS else filming.lens.to_dict(),
        "mask_occluded": filming.mask_hidden,
        "warnings": warnings,
        "inputs": {"left": clip.left.name} | ({"right": clip.right.name} if clip.right else {}),
        "outputs": _outputs(target),
    }


def _grey(records: list[dict[str, Any]], target: Target) -> Grey:
    """The meaning of the codes, as settled in the first segment."""
    black, white = records[0]["grey"]
    return Grey(black, white, target.bits or 16)


def _outputs(target: Target) -> dict[str, str]:
    outputs = {"disparity": target.path, "sidecar": target.sidecar}
    return outputs | ({"preview": target.preview} if target.preview else {})


def _put_in_place(order: Order, parts: Parts, records: list[dict[str, Any]], record: dict[str, Any]) -> None:
    """Join the segments, and give the outputs their names; the map is the last.

    After a kill it is called again, and does again what it had done.
    """
    target = order.target
    data = to_json(record).encode()
    lengths = [each["frames"] for each in records]

    def segments(what: str) -> list[tuple[str, int]]:
        return [(part(parts.path, what, number), count) for number, count in enumerate(lengths)]

    if target.preview:
        join(segments("preview"), target.preview)
    if target.is_video:
        _put_file(os.path.join(parts.path, CLIP), target.sidecar, data)
        join(segments("map"), target.path, metadata(_grey(records, target)))
    else:
        _put_frames(os.path.join(parts.path, "frames"), target, data)


def _put_file(part: str, path: str, data: bytes) -> None:
    """Write a file among the parts, and make it the output."""
    with writing(path):
        with open(part, "wb") as file:
            file.write(data)
        os.replace(part, path)


def _put_frames(frames: str, target: Target, record: bytes) -> None:
    """Make the folder of finished frames the output. An older one goes to the parts, and with them."""
    if not os.path.isdir(frames):  # it is the output already
        return
    with writing(target.path):
        with open(os.path.join(frames, CLIP), "wb") as file:
            file.write(record)
        if os.path.isdir(target.path):
            os.rename(target.path, f"{frames}.old")
        os.rename(frames, target.path)


def _size_and_date(path: str) -> tuple[int, int]:
    about = os.stat(path)
    return about.st_size, about.st_mtime_ns
