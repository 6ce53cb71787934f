"""The plan: everything that is decided about a pair before it is solved.

It is immutable and made of plain numbers. It can be printed, written as JSON, sent to another process, and used again
for the next frame of a clip or for a tile of the same picture.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..camera.axis import Axis
from ..params import Params
from ..types import Parabolas
from .brightness import Gains
from .confidence import span_of
from .frame import Frame
from .kinds import Method, method_of
from .noise import as_smooth_as
from .relief import fitted
from .search import Search


@dataclass(frozen=True, eq=False)
class Plan:
    """What was decided about a pair.

    Attributes
    ----------
    params : Params
        All parameters, "auto" replaced where the plan has settled it: passes, first pass, suspicion, polish, a range
        from a calib.txt.
    frame : Frame
        How input and matched planes relate.
    gains : Gains
        Brightness of the planes.
    search : Search
        Which disparities to look at.
    passes : tuple of int
        Passes of aggregation by scale, coarse to fine.
    checks_views : bool
        Whether the right view is matched too, to find occlusions.
    masks_hidden : bool
        Whether occluded pixels become NaN.
    blank : bool
        Whether a view is the same everywhere, so that nothing can be matched.
    evidence : Axis or None
        The axis detected from the views, in the frame of the stored views.
    notes : tuple of str
        What the user should know about the input, a sentence each.
    calib : Path or None
        The calib.txt that the range comes from.
    curvatures : tuple of float
        Mean curvature of the evidence by scale, the unit of the penalty. Empty: each scale takes its own mean. A
        finished run fills it in, so that tiles and later frames are smoothed exactly like the whole picture.
    span : float or None
        What most disparities of the next coarser scale span, px of that scale, for a tile. None: it is measured.
    """

    params: Params
    frame: Frame
    gains: Gains
    search: Search
    passes: tuple[int, ...]
    checks_views: bool = False
    masks_hidden: bool = False
    blank: bool = False
    evidence: Axis | None = None
    notes: tuple[str, ...] = ()
    calib: Path | None = None
    curvatures: tuple[float, ...] = field(default=())
    span: float | None = None

    @property
    def method(self) -> Method:
        """How the pair is matched."""
        return method_of(self.params)

    def within(self, limits: tuple[float, float]) -> "Plan":
        """The same plan with that range, px of the matched planes."""
        return replace(self, search=self.search.within(limits))

    def as_smooth_as(self, known: "Plan") -> "Plan":
        """The same plan for a scene that is known: it stays as smooth as it was, or its map would flicker."""
        return replace(self, params=as_smooth_as(known.params, self.params))

    def coarser(self) -> "Plan":
        """The plan of all scales but the finest."""
        limits = self.search.limits and (self.search.limits[0] / 2, self.search.limits[1] / 2)
        search = replace(self.search, limits=limits)
        return replace(self, search=search, passes=self.passes[:-1], curvatures=self.curvatures[:-1])

    def finest(self, coarser: Parabolas) -> "Plan":
        """The plan of the finest scale alone, which every tile of the picture shares.

        `coarser` is the belief of the next coarser scale of the whole picture; it settles the range, the window, the
        penalty and the span.
        """
        search = self.search.settled(coarser)
        params = replace(fitted(self.params, coarser), relief=0.0)
        span = span_of(coarser.disparity())
        passes, curvatures = self.passes[-1:], self.curvatures[-1:]
        return replace(self, params=params, search=search, passes=passes, curvatures=curvatures, span=span)

    def to_dict(self) -> dict[str, Any]:
        """Exact numbers, ready for JSON."""
        frame, search = vars(self.frame), vars(self.search)
        return {
            "params": self.params.to_dict(),
            "frame": dict(frame),
            "gains": self.gains.to_dict(),
            "search": dict(search),
            "passes": list(self.passes),
            "checks_views": self.checks_views,
            "masks_hidden": self.masks_hidden,
            "blank": self.blank,
            "evidence": self.evidence and self.evidence.to_dict(),
            "notes": list(self.notes),
            "calib": self.calib and str(self.calib),
            "curvatures": list(self.curvatures),
            "span": self.span,
        }

    def summary(self) -> dict[str, Any]:
        """The record for the sidecar: without the parameters, and with the range of the gains instead of their grid."""
        record = {key: value for key, value in self.to_dict().items() if key not in ("params", "evidence", "notes")}
        right = self.gains.right
        record["gains"]["right"] = None if right is None else [float(right.min()), float(right.max())]
        return record

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> "Plan":
        """The inverse of `to_dict`; lists become tuples again."""
        frame, search = ({k: _tuple(v) for k, v in record[name].items()} for name in ("frame", "search"))
        evidence, calib = record["evidence"], record["calib"]
        return cls(
            Params(**record["params"]),
            Frame(**frame),
            Gains.from_dict(record["gains"]),
            Search(**search),
            tuple(record["passes"]),
            record["checks_views"],
            record["masks_hidden"],
            record["blank"],
            evidence and Axis.from_dict(evidence),
            tuple(record["notes"]),
            calib and Path(calib),
            tuple(record["curvatures"]),
            record["span"],
        )


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
