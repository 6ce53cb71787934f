"""``dualpix refocus``: a photo with another focus and a wider aperture."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import click

from .options import (
    Command,
    file_path,
    output_option,
    point,
    reading_options,
    report,
    report_options,
    threads_option,
)
from .progress import progress_bar

if TYPE_CHECKING:
    from ..render.metres import FocusMap
    from ..types import Image

_HARDLY = 0.5  # px: smaller discs are hardly seen


@click.command(cls=Command)
@click.argument("photo", type=file_path)
@click.argument("map", type=file_path)
@output_option("Picture to write: .png, .tif, .tiff, .jpg or .jpeg.")
@click.option("--focus", type=point, metavar="X,Y", help="Point of PHOTO to focus on, in pixels from its top left.")
@click.option(
    "--focus-depth", type=float, metavar="Z", help="Distance to focus on, in metres. MAP must be one of dualpix depth."
)
@click.option("--focus-disparity", type=float, metavar="D", help="Disparity to focus on, in px of MAP.")
@click.option(
    "--aperture",
    type=float,
    metavar="F",
    required=True,
    help="Diameter of the opening, relative to the lens that took PHOTO. 2 turns f/4 into f/2.",
)
@click.option(
    "--shape",
    metavar="SHAPE",
    default="disc",
    help="Shape of the opening: disc, hexagon, or cat-eye, which is clipped towards the corners.",
)
@click.option("--fade", type=int, metavar="N", help="Write N pictures, in which the focus moves from that of PHOTO.")
@click.option("--linear", is_flag=True, help="PHOTO and OUT are linear light, not sRGB.")
@reading_options
@threads_option
@report_options
def refocus(
    photo: str,
    map: str,
    output: str,
    focus: tuple[float, float] | None,
    focus_depth: float | None,
    focus_disparity: float | None,
    aperture: float,
    shape: str,
    fade: int | None,
    linear: bool,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
    **views: str | None,
) -> None:
    """Blur a photo as a lens with another focus and aperture would.

    PHOTO is an image, a raw file, or another file that dualpix disparity takes alone. MAP is its map, by dualpix
    disparity or dualpix depth. What lies at --focus stays as it is. A point whose disparity differs by 1 px from there
    becomes a disc of 2.36 px times --aperture. Blur is added only: what PHOTO shows blurred does not become sharp.

    With --fade 5, the pictures are OUT-1.png to OUT-5.png. The first is focused where PHOTO is, at disparity 0, the
    last at --focus. The aperture is the same in all of them.

    \b
    Examples:
      dualpix refocus photo.png d.tiff -o new.png --focus 640,480 --aperture 4
      dualpix refocus IMG_1.CR3 z.tiff -o new.png --focus-depth 2.5 --aperture 3
      dualpix refocus photo.png d.tiff -o f.png --focus 9,9 --aperture 4 --fade 24
    """
    from ..io import OutputSet
    from ..io.one_file import files_of
    from ..io.pictures import check_picture_path, encode_picture, origin
    from ..params.rules import Whole, check
    from ..render.refocusing import Lens
    from ..run import Step, thread_count
    from ..version import version

    check_picture_path(output)
    lens = Lens(aperture, shape, linear)
    if [focus, focus_depth, focus_disparity].count(None) != 2:
        raise click.UsageError("Give --focus X,Y, --focus-depth Z or --focus-disparity D, one of them.")
    outputs = [output] if fade is None else _numbered(output, check("fade", fade, Whole(2, 9999)))
    threads = thread_count(threads)
    with OutputSet(outputs, (*files_of(photo).values(), map), force) as files, progress_bar(not quiet) as progress:
        start = time.perf_counter()
        image, found = _read(photo, map, linear, views)
        kept = origin(photo, 1 if image.ndim == 2 else 3)
        target = _target(found, focus, focus_depth, focus_disparity)
        foci = [target * i / (len(outputs) - 1) for i in range(len(outputs))] if fade else [target]
        for each in (foci[0], target):
            lens.check(found.d, each)
        largest = lens.largest_disc(found.d, target)
        doubts = _doubts(found, largest)
        for i, (path, each) in enumerate(zip(outputs, foci, strict=True)):
            if progress:
                progress(Step("refocus", i / len(outputs), i + 1, len(outputs)))
            files.write(path, encode_picture(path, lens.blur(image, found.d, each, threads), kept))
        record = {
            "dualpix": version(),
            "width": image.shape[1],
            "height": image.shape[0],
            "focus": {"disparity": target, "point": focus, "metres": focus_depth},
            "aperture": lens.aperture,
            "shape": lens.shape,
            "linear": linear,
            "largest_disc": largest,
            "threads": threads,
            "seconds": time.perf_counter() - start,
            "inputs": {"photo": photo, "map": map},
            "outputs": outputs,
        }
    report(record, _summary, as_json, quiet, doubts)


def _read(photo: str, map: str, linear: bool, views: dict[str, str | None]) -> tuple[Image, FocusMap]:
    """The photo and its map, of the same size. `views` says how the photo holds both views."""
    from ..io.photos import read_photo
    from ..render.metres import read_focus_map
    from ..types import same_size

    _check_order(photo, map)
    image, found = read_photo(photo, linear=linear, layout=views["layout"], first=views["first"]), read_focus_map(map)
    same_size((photo, image.shape), (map, found.d.shape))
    return image, found


def _target(found: FocusMap, point: tuple[float, float] | None, depth: float | None, disparity: float | None) -> float:
    """The disparity in focus, by the one way that was given."""
    from ..render.refocusing import focus_of

    return found.at(depth) if depth is not None else focus_of(found.d, point or disparity or 0.0)


def _check_order(photo: str, map: str) -> None:
    """Refuse a map in the place of the photo: a grey file that has a sidecar or can only be a map."""
    from ..errors import InputError
    from ..io import probe
    from ..io.one_file import kind_of
    from ..io.sidecar import read_record

    if kind_of(photo) != "picture" or kind_of(map) != "picture":
        return
    first, second = probe(photo), probe(map)
    is_map = first.format in ("PFM", "NPY", "OpenEXR") or read_record(photo) is not None
    if first.channels == 1 and (is_map or (first.dtype == "float32" and second.channels == 3)):
        raise InputError(f"{photo}: is a map, but PHOTO comes first: give the photo, then its map")


def _doubts(found: FocusMap, largest: float) -> list[str]:
    """What speaks against the map; refuse one that blurs nothing."""
    from ..errors import InputError
    from ..io.recorded import assumptions
    from ..io.sidecar import read_record

    low, high = float(found.d.min()), float(found.d.max())
    if low == high:
        raise InputError(f"{found.name}: is {low:.4g} everywhere, so it blurs nothing: give a map by dualpix disparity")
    doubts = assumptions(found.name)
    if low == 0 and high <= 1 and read_record(found.name) is None:
        doubts.append(f"{found.name}: has values from 0 to {high:.4g} only: check that it is no mask and no confidence")
    if largest < _HARDLY:
        doubts.append(f"the largest disc has {largest:.2g} px, so hardly anything changes: give a larger --aperture")
    return doubts


def _numbered(path: str, count: int) -> list[str]:
    """The paths of the pictures of a fade: out-01.png, out-02.png, ..."""
    stem, suffix = os.path.splitext(path)
    digits = len(str(count))
    return [f"{stem}-{i:0{digits}}{suffix}" for i in range(1, count + 1)]


def _summary(record: dict[str, Any]) -> str:
    outputs = record["outputs"]
    names = outputs[0] if len(outputs) == 1 else f"{outputs[0]} to {outputs[-1]}"
    return (
        f"{names}: {record['width']}x{record['height']}, focus at disparity {record['focus']['disparity']:.4g} px, "
        f"discs up to {record['largest_disc']:.3g} px, {record['seconds']:.1f} s"
    )
