"""``dualpix depth``: a disparity map in metres."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, OutputError, ParameterError
from .options import (
    Command,
    calibration_option,
    file_path,
    given,
    look_options,
    map_output_option,
    point,
    report,
    report_options,
)

if TYPE_CHECKING:
    from ..camera.metric import Depth
    from ..types import Map


def known_point(value: str) -> tuple[float, float, float]:
    """The type of --known: a pixel and its distance in metres."""
    place, _, distance = value.partition("=")
    try:
        return (*point(place), float(distance))
    except (click.BadParameter, ValueError):
        raise click.BadParameter(f"{value!r} is not X,Y=M, such as 640,480=1.5.") from None


@click.command(cls=Command)
@click.argument("map", type=file_path)
@map_output_option("Depth")
@calibration_option("Calibration with distances, made by dualpix calibrate --distance.")
@click.option("--focus-distance", type=float, metavar="M", help="Distance that is in focus, in metres.")
@click.option(
    "--known",
    type=known_point,
    multiple=True,
    metavar="X,Y=M",
    help="A pixel of MAP and its distance in metres. Two or more, or one with --focus-distance.",
)
@click.option("--exif", type=file_path, metavar="FILE", help="The camera's file. Gives approximate metres.")
@click.option("--relative", is_flag=True, help="Write relative inverse depth, 0 (far) to 1 (near), without metres.")
@click.option(
    "--focal-length",
    type=float,
    metavar="MM",
    help="Focal length. With it, distances are from the sensor, without it from the lens.",
)
@click.option("--confidence", type=file_path, metavar="FILE", help="Confidence of MAP, by dualpix disparity.")
@click.option(
    "--uncertainty",
    type=file_path,
    metavar="FILE",
    help="Also write the standard error in metres, as .tif, .tiff, .pfm or .npy. Needs --confidence.",
)
@look_options
@report_options
def depth(
    map: str,
    output: str,
    confidence: str | None,
    uncertainty: str | None,
    relative: bool,
    as_json: bool,
    force: bool,
    quiet: bool,
    photo: str | None,
    fov: float | None,
    png: str | None,
    near: str | None,
    **numbers: Any,
) -> None:
    """Turn a disparity map into metres.

    MAP is a map by dualpix disparity. The depth z of a pixel with disparity d is 1/z = 1/z_focus + d / a. The two
    numbers z_focus and a belong to the camera and its settings. They come from, best first: a calibration with planes
    of known distance; two or more known points of the picture; the focus distance and one known point; EXIF data,
    which is only approximate.

    Depth is measured along the axis of the lens. Pixels that are too far to tell become inf (65535 in a .png file).

    \b
    Examples:
      dualpix depth out.tiff -o depth.tiff --calibration lens.json
      dualpix depth out.tiff -o depth.png --known 320,200=0.8 --known 700,100=3
      dualpix depth out.tiff -o depth.ply --photo left.png \\
        --focus-distance 1 --known 320,200=0.8
      dualpix depth out.tiff -o depth.exr --exif photo.jpg --focus-distance 1.2
    """
    from ..io import OutputSet, check_confidence_path
    from ..io.recorded import assumptions
    from ..io.sidecar import sidecar_path, to_json
    from ..look import Look, file_and_notes

    unit = "relative" if relative else "m"
    look = Look(photo, fov, png, near).checked(output, unit)
    if uncertainty is not None:
        check_confidence_path(uncertainty)
    _check_options(relative, confidence, uncertainty, numbers)
    inputs = given(
        map=map, confidence=confidence, photo=photo, calibration=numbers["calibration"], exif=numbers["exif"]
    )
    outputs = given(depth=output, sidecar=sidecar_path(output), uncertainty=uncertainty)
    roles = {outputs["sidecar"]: f"the sidecar of {output}"}
    with OutputSet(outputs.values(), inputs.values(), force, roles) as files:
        d, sure, warnings = _read(map, confidence, numbers)
        values, found = _computed(d, sure, relative, numbers)
        look = look if look.fov is not None else look._replace(fov=_angle(numbers, d, found))
        layers = look.layers(map, values, unit, sure)
        if found is not None:
            layers = replace(layers, lens_to_sensor=found.metric.lens_to_sensor)
        data, notes = file_and_notes(output, layers, look)
        record = _record(values, found, unit, warnings, inputs, outputs) | notes
        files.write(output, data)
        if uncertainty is not None and found is not None:
            files.write(uncertainty, _uncertainty(uncertainty, found))
        files.write(outputs["sidecar"], to_json(record).encode())
    report(record, _summary, as_json, quiet, [*assumptions(map), *warnings])


def _check_options(relative: bool, confidence: str | None, uncertainty: str | None, numbers: dict[str, Any]) -> None:
    """Refuse options that contradict each other or are too few, before anything is read."""
    from ..camera.ranging import NUMBERS

    if relative:
        names = [name.replace("_", "-") for name, value in numbers.items() if value not in (None, ())]
        if names or uncertainty is not None:
            raise ParameterError(f"--relative knows no metres: leave out --{(names or ['uncertainty'])[0]}")
        return
    if uncertainty is not None and confidence is None:
        raise ParameterError("--uncertainty comes from the confidence of the map: give --confidence too")
    if not (numbers["calibration"] or numbers["known"] or numbers["exif"]):
        raise ParameterError(f"{NUMBERS}, or --relative for depth without metres")


def _read(map: str, confidence: str | None, numbers: dict[str, Any]) -> tuple[Map, Map | None, list[str]]:
    """The disparities, the confidence, and what the user should know about them."""
    from ..io import read_map
    from ..io.layers import check_confidence
    from ..io.recorded import read_recorded
    from ..types import same_size

    d, unit, sidecar = read_recorded(map)
    if unit != "px":
        raise InputError(f"{map}: holds depth already, but a disparity map is needed: give that of dualpix disparity")
    sure = None
    if confidence is not None:
        sure = read_map(confidence)
        same_size((map, d.shape), (confidence, sure.shape))
        check_confidence(sure, confidence)
    return d, sure, _warnings(map, sidecar, confidence, numbers["calibration"])


def _warnings(map: str, sidecar: dict[str, Any] | None, confidence: str | None, calibration: str | None) -> list[str]:
    found = []
    if sidecar is not None and calibration is not None and not sidecar.get("calibration"):
        found.append(
            f"{map} was not corrected for the lens: make it with dualpix disparity --calibration {calibration}"
        )
    if sidecar is not None and confidence is not None and sidecar.get("expected_error") is False:
        found.append(
            f"the confidence of {map} only ranks pixels, its preset knows no errors: the uncertainty is a guess"
        )
    return found


def _computed(d: Map, confidence: Map | None, relative: bool, numbers: dict[str, Any]) -> tuple[Map, Depth | None]:
    from ..camera.metric import relative_inverse_depth
    from ..camera.ranging import metric_of
    from ..method.confidence import error_of

    if relative:
        return relative_inverse_depth(d), None
    sigma = None if confidence is None else error_of(confidence)
    found = metric_of(d, sigma=sigma, **numbers).depth(d, sigma)
    return found.metres, found


def _angle(numbers: dict[str, Any], d: Map, found: Depth | None) -> float | None:
    """The angle of view at the distance in focus, if EXIF data tells it."""
    from ..io.shot import read_shot

    if numbers["exif"] is None or found is None:
        return None
    return read_shot(numbers["exif"]).fov(d.shape, numbers["focal_length"], 1000 * found.metric.lens_to_sensor)


def _uncertainty(path: str, found: Depth) -> bytes | memoryview:
    from ..io import encode_map

    if found.uncertainty is None:
        raise OutputError(f"{path}: the uncertainty is not known: give --confidence")
    return encode_map(path, found.uncertainty, unit="m")


def _record(
    values: Map,
    found: Depth | None,
    unit: str,
    warnings: list[str],
    inputs: dict[str, str],
    outputs: dict[str, str],
) -> dict[str, Any]:
    """What the sidecar holds and --json prints."""
    import os

    import numpy as np

    from ..io.recorded import UNIT_NAMES
    from ..version import version

    finite = values[np.isfinite(values)]
    low, middle, high = np.percentile(finite, (0, 50, 100)).tolist() if finite.size else (None,) * 3
    record = {
        "dualpix": version(),
        "map": os.path.basename(outputs["depth"]),
        "unit": UNIT_NAMES[unit],
        "width": values.shape[1],
        "height": values.shape[0],
        "depth": {
            "min": low,
            "median": middle,
            "max": high,
            "nan": int(np.isnan(values).sum()),
            "inf": int(np.isinf(values).sum()),
        },
    }
    if found is not None:
        metric = found.metric
        record["metric"] = {
            **metric.to_dict(),
            "focus_distance": metric.focus_distance,
            "origin": metric.origin,
            "distances": f"from the {metric.origin}, along the axis of the lens",
            "source": metric.source,
            "approximate": metric.approximate,
        }
    return {**record, "warnings": warnings, "inputs": inputs, "outputs": outputs}


def _summary(record: dict[str, Any]) -> str:
    path, *others = record["outputs"].values()
    lines = [f"{path}: {record['width']}x{record['height']}, {_shown(record)}"]
    if "metric" in record:
        metric = record["metric"]
        lines.append(f"focus at {metric['focus_distance']:.3g} m, a = {metric['a']:.3g} px m, from {metric['source']}")
        if metric["approximate"]:
            lines[-1] += "; approximate: a may be wrong by a factor of 2.5, give known points for better depth"
    return "\n".join([*lines, f"also written: {', '.join(others)}"])


def _shown(record: dict[str, Any]) -> str:
    """The range of the depth in words."""
    if "metric" not in record:
        return "relative inverse depth, 0 far to 1 near. It is linear in 1/z, but scale and offset are not known"
    found, pixels = record["depth"], record["width"] * record["height"]
    shown = "no finite depth"
    if found["min"] is not None:
        shown = f"{found['min']:.3g} to {found['max']:.3g} m from the {record['metric']['origin']}"
        shown += f", median {found['median']:.3g} m"
    for name, means in (("inf", "too far to tell"), ("nan", "unknown")):
        if found[name]:
            shown += f", {100 * found[name] / pixels:.1f} % {means}"
    return shown
