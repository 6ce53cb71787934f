"""What `dualpix.disparity` returns."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..camera.axis import Axis
from ..camera.lens import Calibration
from ..camera.metric import Depth, Known
from ..io import OutputSet, preview
from ..io.atomic import output_path
from ..io.orientation import swaps_axes
from ..io.sidecar import describe, map_record, sidecar_path, statistics
from ..look import Look
from ..params import Params
from ..types import Image, Input, Map, Parabolas, StrPath
from .plan import Plan
from .saving import check_outputs, write_outputs


@dataclass(frozen=True)
class Request:
    """What a result was asked for with, for its sidecar.

    Attributes
    ----------
    preset : str
        The name of the preset; empty if the parameters were given.
    threads : int
        Number of threads.
    calibration : Calibration or None
        What was undone.
    inputs : dict
        The files that were read, by role.
    layout, first : str or None
        How one file holds both views.
    """

    preset: str = ""
    threads: int = 1
    calibration: Calibration | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    layout: str | None = None
    first: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A disparity map and how it came about. It can be pickled, and read by several threads.

    Attributes
    ----------
    disparity : float32 array
        ``d = x_left - x_right`` in pixels of the input: left(x, y) matches right(x - d, y). Larger is nearer. It has
        the shape of the left view; if an EXIF tag turns the view, the map is turned with it.
    confidence : float32 array, the same shape
        In [0, 1]. With `sigma`, it falls with the expected error and is 1/2 at 0.25 px, before a calibration corrects
        the map. Without, it grows with the curvature, relative to the picture. 0 everywhere if a view is blank.
    params : Params
        The parameters that were used, as in the plan.
    timings : dict
        Seconds by stage.
    searched : (float, float)
        The requested range, or the one found, in pixels of the input.
    plan : Plan
        All decisions made before the pair was solved. It can be used again for the next frame of a clip.
    belief : Parabolas
        The aggregated parabolas, in the frame of the matched planes. They can serve as a prior.
    warnings : tuple of str
        What the user should know about the input and the match, a sentence each.
    sigma : float32 array of the same shape, or None
        The expected error in pixels of the input: half of the errors are below 0.67 sigma. None for presets whose
        curvatures have no unit (those of the paper, and stereo).
    request : Request
        What was asked for. `save` writes it into the sidecar.
    """

    disparity: Map
    confidence: Map
    params: Params
    timings: dict[str, float]
    searched: tuple[float, float]
    plan: Plan
    belief: Parabolas
    warnings: tuple[str, ...] = ()
    sigma: Map | None = None
    request: Request = field(default_factory=Request)

    @property
    def axis(self) -> str:
        """ "x" or "y", the direction in which the views differ in the map; along y, ``d = y_left - y_right``."""
        return self.plan.frame.seen_axis

    @property
    def evidence(self) -> Axis | None:
        """The axis detected from the views; None for stereo pairs, which are assumed to differ along x."""
        found = self.plan.evidence
        return found.turned() if found and swaps_axes(self.plan.frame.orientation) else found

    @property
    def calib(self) -> Path | None:
        """The calib.txt that the range comes from."""
        return self.plan.calib

    # ---- files and pictures ----

    def save(
        self,
        path: StrPath,
        *,
        confidence: StrPath | None = None,
        preview: StrPath | None = None,
        photo: Input | None = None,
        fov: float | None = None,
        png: str | None = None,
        near: str | None = None,
        force: bool = False,
    ) -> dict[str, Path]:
        """Write the map and its sidecar, as ``dualpix disparity`` writes them: all files appear, or none.

        Parameters
        ----------
        path
            The suffix gives the format; see `dualpix.write_map`. The sidecar, ``out.json`` for ``out.tiff``, says what
            the numbers mean and how they were computed.
        confidence : path, optional
            Also write the confidence, 0 to 1, as .tif, .tiff, .pfm or .npy.
        preview : path, optional
            Also write the picture of `preview`, as .png.
        photo : path or array, optional
            The picture of the map, for .exr, .jpg, .ply and .glb. By default the guide or the left view, if it was
            given as a path.
        fov, png, near
            As for `dualpix.write_map`.
        force : bool
            Replace files that exist.

        Returns
        -------
        dict
            The paths that were written, by role: "disparity", "sidecar", "confidence", "preview".

        Raises
        ------
        OutputError
            If a file exists or is an input, or its format cannot hold the map. Nothing is written then.
        """
        given = {"confidence": confidence, "preview": preview}
        outputs = {"disparity": output_path(path, "path")}
        outputs["sidecar"] = sidecar_path(outputs["disparity"])
        outputs |= {role: output_path(each, role) for role, each in given.items() if each is not None}
        asked, inputs = self.request, self.request.inputs
        look = Look(None, fov, png, near, picture=photo)
        if isinstance(photo, str | os.PathLike):
            inputs = inputs | {"photo": os.fspath(photo)}
            look = look._replace(photo=inputs["photo"], picture=None)
        views = (None, None) if "guide" in inputs else (asked.layout, asked.first)
        look = look.checked(outputs["disparity"], "px", inputs.get("guide", inputs.get("left")), views)
        roles = {outputs["sidecar"]: f"the sidecar of {outputs['disparity']}"}
        with OutputSet(outputs.values(), inputs.values(), force, roles) as files:
            check_outputs(outputs, look, self.plan.method.never_negative)
            d = look.held(outputs["disparity"], self.disparity, self.searched, asked.calibration is not None)
            record = self.record(asked.preset, asked.threads, asked.calibration, inputs, outputs)
            write_outputs(files, outputs, look, record, d, self.confidence)
        return {role: Path(each) for role, each in outputs.items()}

    def preview(self, vmin: float | None = None, vmax: float | None = None) -> Image:
        """The map as a picture, as ``--preview`` of the command writes it: red is near, blue is far, grey is NaN.

        Parameters
        ----------
        vmin, vmax : float, optional
            The range of the colours, px. By default the 1st and 99th percentile.

        Returns
        -------
        uint8 array, HxWx3 (RGB)
            The map, and below it a colour bar.
        """
        return preview(self.disparity, vmin, vmax)

    def __repr__(self) -> str:
        return f"<dualpix.Result: {self._summary()}>"

    def _repr_html_(self) -> str:
        """For notebooks: a small picture with its colour bar, the summary, and the warnings."""
        from .notebook import page  # for notebooks alone

        low, high = self.searched
        how = f"along {self.axis}, searched {low:.4g} to {high:.4g} px, {sum(self.timings.values()):.2f} s"
        return page(self.disparity, self._summary(), how, self.warnings)

    def _summary(self) -> str:
        height, width = self.disparity.shape
        preset = f"preset {self.request.preset}" if self.request.preset else "own parameters"
        trust = f"median confidence {float(np.median(self.confidence)):.2f}"
        return f"{width}x{height}, {describe(statistics(self.disparity))} px, {trust}, {preset}"

    def record(
        self,
        preset: str,
        threads: int,
        calibration: Calibration | None,
        inputs: dict[str, str],
        outputs: dict[str, str],
    ) -> dict[str, Any]:
        """What the sidecar of the map holds and ``dualpix disparity --json`` prints.

        Parameters
        ----------
        preset, threads, calibration
            What the map was made with.
        inputs, outputs
            The files, by role. The output "disparity" is the map.
        """
        return {
            **map_record(outputs["disparity"], self.disparity, self.axis, self.plan.frame.flipped),
            "orientation": self.plan.frame.orientation,
            "axis_evidence": self.evidence and self.evidence.to_dict(),
            "preset": preset,
            "parameters": self.params.to_dict(),
            "searched": self.searched,
            "threads": threads,
            "timings": self.timings,
            "warnings": self.warnings,
            "calibration": calibration and calibration.to_dict(),
            "mask_occluded": self.plan.masks_hidden,
            "expected_error": self.sigma is not None,
            "plan": self.plan.summary(),
            "inputs": inputs | ({"calib": str(self.calib)} if self.calib else {}),
            "outputs": outputs,
        }

    def depth(
        self,
        calibration: Calibration | StrPath | None = None,
        *,
        focus_distance: float | None = None,
        known: Sequence[Known] = (),
        exif: StrPath | None = None,
        focal_length: float | None = None,
    ) -> Depth:
        """The map in metres: ``1/z = 1/z_focus + d / a``.

        Give one of: a calibration; two or more known points, or one and the focus distance; EXIF data.

        Parameters
        ----------
        calibration : Calibration or path, optional
            Made from planes of known distance. The map should be corrected with the same calibration. With another
            `focus_distance` than that of the planes, give that too.
        focus_distance : float, optional
            The distance that is in focus, m.
        known : (x, y, distance) triples
            Pixels of the map and their distances in m.
        exif : path, optional
            The camera's file. The result is approximate: it assumes how the pixels split the aperture.
        focal_length : float, optional
            mm. With it, distances given and returned are from the sensor; without, from the lens. EXIF and a
            calibration have their own.

        Returns
        -------
        Depth
            Depth in metres, and its uncertainty if `sigma` is known.
        """
        from ..camera.ranging import metric_of  # with what it imports, a tenth of the start of a command

        metric = metric_of(
            self.disparity,
            calibration=calibration,
            focus_distance=focus_distance,
            known=known,
            exif=exif,
            focal_length=focal_length,
            sigma=self.sigma,
        )
        return metric.depth(self.disparity, self.sigma)


def in_words(record: dict[str, Any]) -> tuple[str, str]:
    """The record of a result as two phrases: what the map holds, and how it was found."""
    low, high = record["searched"]
    how = f"preset {record['preset']}, along {record['axis']}, searched {low:.4g} to {high:.4g} px"
    how += ", as calib.txt says" * ("calib" in record["inputs"])
    how += ", calibrated" * bool(record["calibration"])
    how += f", {record['parameters']['filter']} filter" * (record["parameters"]["filter"] != "none")
    how += f", {sum(record['timings'].values()):.1f} s"
    return f"{record['width']}x{record['height']}, {describe(record['disparity'])} px", how
