"""What `dualpix.disparity` returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..camera.axis import Axis
from ..camera.lens import Calibration
from ..camera.metric import Depth
from ..camera.ranging import Known, metric_of
from ..io.orientation import swaps_axes
from ..io.sidecar import describe, map_record
from ..params import Params
from ..types import Map, Parabolas, StrPath
from .plan import Plan


@dataclass(frozen=True, eq=False)
class Result:
    """A disparity map and how it came about.

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
