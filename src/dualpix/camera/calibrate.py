"""Calibrate a camera and lens from pictures of a white sheet, of textured planes, and of scenes with known depth."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..io import as_image, probe, read_pair
from ..method.api import check_pair, method_for
from ..method.kinds import Method
from ..method.pipeline import disparity
from ..params import DEFAULT_PRESET, Params, resolve
from ..params.overrides import OverridesOfCalibrate, Preset, Unpack
from ..params.rules import Choice, check
from ..run import Progress, Run, part_of, thread_count
from ..types import Image, Map, Pair, Shape, StrPath, same_size
from .field import Capture
from .lens import Calibration
from .planes import checked_planes, fit_plane, lens_field, plane_capture, plane_metric
from .ranging import positive
from .scenes import AREAS, KINDS, Reading, Scene, captures_of, read_truth, scenes_field
from .sheet import white_sheets

View = Image | StrPath


def calibrate(
    white: Sequence[tuple[View, View]] = (),
    planes: Sequence[tuple[View, View]] = (),
    scenes: Sequence[tuple[View, View, Image | StrPath]] = (),
    *,
    distances: Sequence[float] = (),
    focal_length: float | None = None,
    scene_kind: str | None = None,
    scene_area: str | None = None,
    camera: str | None = None,
    black: float = 0.0,
    axis: str | None = None,
    preset: Preset | Params = DEFAULT_PRESET,
    threads: int | None = None,
    progress: Progress | None = None,
    **overrides: Unpack[OverridesOfCalibrate],
) -> Calibration:
    """Measure what a camera and lens do to the views and to the disparity.

    Parameters
    ----------
    white : pairs of arrays or paths
        Left and right views of an evenly lit white sheet, out of focus; several are averaged.
    planes : pairs of arrays or paths
        Left and right views of a textured plane that fills the picture, square to the camera, each at a different
        distance. One plane gives the gain; two or more also give the offset. Distances need not be known.
    scenes : triples of arrays or paths
        Left and right views of a scene, and its depth map as seen in the left view; two scenes or more, or one beside
        planes. 0, NaN and infinity are unknown depth. Scenes and planes are fitted together.
    distances : floats, optional
        The distance of each plane, m, for two or more planes. With them the calibration gives metres.
    focal_length : float, optional
        Focal length, mm. With it, distances are from the sensor; without, from the lens.
    scene_kind : "inverse" or "depth", optional
        What the depth maps hold: a value that is linear in inverse depth, such as a disparity, in any unit and of
        either sign (the default), or depth itself, in any unit.
    scene_area : "whole" or "centre", optional
        Which part of the picture the depth maps cover: all of it, at any size of the same aspect ratio (the default),
        or its centre, pixel for pixel.
    camera : str, optional
        The camera's name, kept in the file.
    black : float
        Black level: the pixel value of the white sheets without light.
    axis : "x" or "y", optional
        The direction in which the views differ as the camera stores them; detected if not given.
    preset, threads, progress, **overrides
        As for `dualpix.disparity`, which matches the planes and scenes.

    Raises
    ------
    InputError
        If the pictures cannot be used: different sizes, a white sheet that is clipped or not above black, a plane
        without texture, in focus, or not flat, a depth map that does not fit its views.
    ParameterError
        If nothing was given, or too little, or black is out of bounds.
    """
    if axis not in ("x", "y", None):
        raise ParameterError(f"axis must be x or y, not {axis!r}")
    params, threads = resolve(preset, overrides), thread_count(threads)
    white, planes = _tuples("white", white, "left, right"), _tuples("planes", planes, "left, right")
    scenes = _tuples("scenes", scenes, "left, right, depth")
    _check_given(white, planes, scenes, black)
    _check_distances(planes, distances, focal_length)
    reading = _reading(scene_kind, scene_area, bool(scenes))
    sheets, flats = ([_stored(left, right) for left, right in pairs] for pairs in (white, planes))
    sizes: list[tuple[str, Shape]] = [(pair.source.get("left", "a left view"), pair.shape) for pair in sheets + flats]
    sizes += [_size(view) for *views, _ in scenes for view in views]
    same_size(*sizes)
    height, width = sizes[0][1][:2]
    truths = [
        read_truth(depth, f"the depth of scene {i}", (height, width), reading[1])
        for i, (_, _, depth) in enumerate(scenes, 1)
    ]
    made = Calibration(width, height, axis or "x", camera, white_sheets(sheets, black) if sheets else None)
    if not flats and not scenes:
        return made
    matcher = _Matcher(method_for(params, {}, made), made, axis, threads, progress, len(flats) + len(scenes))
    for pair in flats:
        check_pair(pair, matcher.method)
    maps = [matcher.match(pair) for pair in flats]
    shown = [
        Scene.sampled(truth, *matcher.read_and_match(left, right))
        for (left, right, _), truth in zip(scenes, truths, strict=True)
    ]
    made = replace(made, axis=matcher.axis or "x")
    names = [pair.name("left") for pair in flats]
    if shown:
        field, fits = scenes_field(captures_of(shown, reading), _plane_captures(maps, names))
        made = replace(made, field=field, scenes=fits)
    else:
        made = replace(made, field=lens_field(maps, names))
    made = replace(made, planes=checked_planes(made, [d for d, _ in maps], names, distances))
    return replace(made, metric=plane_metric(made, [d for d, _ in maps], names, focal_length)) if distances else made


# ---- what was given --------------------------------------------------------------------------------------


def _tuples(name: str, given: Iterable[Any], form: str) -> list[Any]:
    """The captures of one kind. Refuse what is no list of tuples of that form."""
    try:
        captures = list(given)
        if all(not isinstance(each, str | bytes) and len(each) == len(form.split()) for each in captures):
            return captures
    except TypeError:
        pass
    shown = " ".join(reprlib.repr(given).split())
    raise InputError(f"{name} must be a list such as [({form})], not {shown}")


def _check_given(white: Sequence[Any], planes: Sequence[Any], scenes: Sequence[Any], black: float) -> None:
    if not white and not planes and not scenes:
        raise ParameterError(
            "nothing to calibrate from: give a pair of a white sheet or of a plane, or scenes with known depth"
        )
    if black and not white:
        raise ParameterError("black is the black level of the white sheets: give a pair of them too")
    _check_different(scenes)
    if len(scenes) == 1 and not planes:
        _, _, depth = scenes[0]
        name = os.fspath(depth) if isinstance(depth, str | os.PathLike) else "the scene"
        raise ParameterError(
            f"{name}: the lens cannot be told from the errors of a single scene: give at least two, or a plane too"
        )


def _check_different(scenes: Sequence[Any]) -> None:
    """Refuse a scene that is given twice: it would seem to confirm the field that was made from it."""
    known = set()
    for i, (left, right, _) in enumerate(scenes, 1):
        views = _identity(left), _identity(right)
        if views in known:
            name = os.fspath(left) if isinstance(left, str | os.PathLike) else f"scene {i}"
            raise ParameterError(f"{name}: this scene is given twice, but it counts once: give another scene")
        known.add(views)


def _identity(view: View) -> str | int:
    return os.path.realpath(os.fspath(view)) if isinstance(view, str | os.PathLike) else id(view)


def _check_distances(planes: Sequence[Any], distances: Sequence[float], focal_length: float | None) -> None:
    if focal_length is not None:
        positive("the focal length", focal_length)
        if not distances:
            raise ParameterError("the focal length says what distances are measured from: give the distances too")
    if not distances:
        return
    if len(distances) != len(planes):
        raise ParameterError(
            f"{len(distances)} distances for {len(planes)} planes: give one distance for each plane, or none"
        )
    for i, distance in enumerate(distances, 1):
        positive(f"the distance of plane {i}", distance)
    if len(set(distances)) < 2:
        raise ParameterError(
            "metres need planes at two different distances: give another plane with its distance, or leave the "
            "distance out"
        )


def _reading(kind: str | None, area: str | None, used: bool) -> Reading:
    """How depth maps are read."""
    for name, value, known in (("scene_kind", kind, KINDS), ("scene_area", area, AREAS)):
        if value is not None and not used:
            raise ParameterError(f"{name}= says how to read the depth of scenes: give scenes too, or leave it out")
        if value is not None:
            check(name, value, Choice(*known))
    return kind or "inverse", area or "whole"


def _stored(left: View, right: View) -> Pair:
    """A pair without EXIF rotation: the calibration is for pixels as the camera stores them."""
    return replace(read_pair(left, right), orientation=1)


def _size(view: View) -> tuple[str, Shape]:
    """Name, height and width of a view; of a file only the header is read."""
    if isinstance(view, str | os.PathLike):
        info = probe(view)
        return os.fspath(view), (info.height, info.width)
    return "a view", as_image(view, "a view").shape


# ---- matching --------------------------------------------------------------------------------------------


@dataclass
class _Matcher:
    """Matches one capture after the other. All have the axis that was asked for, or that of the first."""

    method: Method
    lens: Calibration
    axis: str | None
    threads: int
    progress: Progress | None
    total: int
    done: int = 0

    def match(self, pair: Pair) -> tuple[Map, Map]:
        """Disparity and confidence."""
        run = Run(self.threads, part_of(self.progress, self.done, self.total))
        found = disparity(pair, self.method, lens=self.lens, axis=self.axis, run=run)
        self.done += 1
        self.axis = self.axis or found.axis
        if found.evidence and found.evidence.axis not in (self.axis, None):
            raise InputError(
                f"{pair.name('left')}: {found.evidence.objection(self.axis)}: give the axis of all captures"
            )
        return found.disparity, found.confidence

    def read_and_match(self, left: View, right: View) -> tuple[Map, Map]:
        """The same; the views are freed afterwards."""
        pair = _stored(left, right)
        check_pair(pair, self.method)
        return self.match(pair)


# ---- the result ---------------------------------------------------------------------------------


def _plane_captures(maps: Sequence[tuple[Map, Map]], names: Sequence[str]) -> list[Capture]:
    """Checked planes, as captures to fit together with scenes."""
    for (d, confidence), name in zip(maps, names, strict=True):
        fit_plane(d, confidence, name)
    return [plane_capture(*each, name) for each, name in zip(maps, names, strict=True)]


def summary(made: Calibration) -> str:
    """The calibration in words: size, white sheets, and the error of planes and scenes before and after correction."""
    parts = [f"{made.width}x{made.height}"]
    if made.white:
        darkest = min(made.white.left.min(), made.white.right.min())
        parts.append(f"white sheets down to {darkest:.0%} of their brightest, black level {made.white.black:g}")
    parts += [
        f"plane at {plane.disparity:.3g} px, STD {plane.observed:.3g} px, {plane.corrected:.3g} px corrected"
        for plane in made.planes
    ]
    if made.metric:
        metric = made.metric
        parts.append(
            f"focus at {metric.focus_distance:.3g} m from the {metric.origin}, {metric.a:.3g} px a diopter "
            f"(+-{metric.a_error:.0%})"
        )
    if made.scenes:
        observed, corrected, left_out = np.mean(made.scenes, axis=0)
        count = f"{len(made.scenes)} scenes" if len(made.scenes) > 1 else "1 scene"
        parts.append(
            f"{count}, mean error {observed:.3g} px, {corrected:.3g} px corrected, "
            f"{left_out:.3g} px if each scene is corrected by the others"
        )
        if left_out >= observed:
            parts.append("the field does not help a scene that is left out: give more scenes")
    return "; ".join(parts)
