"""The two kinds of pairs, dual-pixel and stereo: everything that the method does differently for them.

A kind is a `Method`: it chooses the local term, the aggregation, the confidence and so on. To add one of these, write
its function in a module of its own and call it here. A kind is built once from the parameters. No stage asks whether a
pair is stereo.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import partial

from ..filters import post
from ..filters.outlines import REACH_BETWEEN, follow_coarsely, reduced_brightness
from ..params import Params
from ..run import Run
from ..types import Agreement, Flags, Map, Mask, Parabolas, Planes
from . import aggregate as aggregation
from . import candidates, confidence, match
from .aggregate import aggregate, edge_weights
from .candidates import check_combination, chosen_parabolas, filled, forward_share
from .margins import Margins
from .memory import dual_pixel_floats, stereo_floats
from .notes import order_notes, stereo_notes
from .scales import Level
from .search import FIRST_REACH, Search, Span
from .window import window_taps

ORDER_SIDE = 128  # px, the longer side of the small views that decide the order


@dataclass(frozen=True)
class Method(ABC):
    """How a pair is matched: the choices that depend on its kind."""

    params: Params

    @abstractmethod
    def match(self, planes: Planes, span: Span, run: Run) -> Parabolas:
        """The local term: one parabola a pixel."""

    def aggregate(
        self,
        evidence: Parabolas,
        level: Level,
        passes: int,
        curvature: float | None,
        run: Run,
        told: Flags | None = None,
    ) -> Parabolas:
        """The belief of the scale; the evidence and the level's spare maps are used up.

        told: where the user told a disparity, which the outlines between passes do not change.
        """
        settings = self.params.aggregation
        weights = edge_weights(level.planes.guide, settings, run.threads, evidence.signs, level.room())
        sigma, outlined = self.params.smoothing.outlines, None
        if sigma and aggregation.follows_outlines(settings, passes):
            outlined = partial(
                follow_coarsely,
                guide=reduced_brightness(level.planes.guide, run.threads),
                sigma=sigma,
                threads=run.threads,
                kept=told,
            )
        belief = aggregate(
            evidence,
            weights,
            settings,
            passes,
            curvature=curvature,
            coarsest=not evidence.curvatures,
            spare=level.spent(),
            outlined=outlined,
            threads=run.threads,
        )
        del weights  # its memory is that of the mask
        belief = replace(belief, textured=confidence.textured(evidence, run.threads))
        return self.judged(belief, evidence, level, run)

    def judged(self, belief: Parabolas, evidence: Parabolas, level: Level, run: Run) -> Parabolas:
        """The belief with what its evidence tells about its error, if anything."""
        return belief

    def messages_margin(self) -> int | None:
        """Pixels around a tile that the belief depends on; None if a tile needs the whole picture."""
        reach = aggregation.margin(self.params.aggregation, self.params.scales)
        corrected = self.params.smoothing.outlines and self.params.aggregation.messages == "exact"
        return reach if reach is None or not corrected else reach + REACH_BETWEEN

    @abstractmethod
    def sigma(self, belief: Parabolas, d: Map, threads: int) -> Map | None:
        """The expected error of each disparity, px; None if the curvatures do not tell."""

    @abstractmethod
    def confidence(self, belief: Parabolas, sigma: Map | None, threads: int) -> Map:
        """How far to trust each disparity, 0 to 1."""

    @abstractmethod
    def first_reach(self, width: int) -> int:
        """How far the coarsest scale searches first if the range is automatic, px of that scale."""

    @property
    @abstractmethod
    def detects_axis(self) -> bool:
        """Whether the axis is detected from the views."""

    @abstractmethod
    def find_order(self, planes: Planes, run: Run) -> float | None:
        """Share of the pixels that match better with positive disparities; None if both signs are expected."""

    @abstractmethod
    def known_range(self, left: str | None, length: int) -> tuple[float, float] | None:
        """The range given by a file beside the left view, px of the input."""

    @property
    @abstractmethod
    def tile_reach(self) -> int:
        """Pixels around a tile whose coarser disparities count for its range; 0 gives all tiles one range."""

    @property
    @abstractmethod
    def one_sign(self) -> bool:
        """Whether all disparities of a pair have the same sign, or 0."""

    @property
    def never_negative(self) -> bool:
        """Whether the parameters rule out negative disparities.

        For stereo an automatic range has one sign. If that sign is negative, a KITTI PNG of it fails late.
        """
        limits = self.params.scales.range
        return self.one_sign if isinstance(limits, str) else limits[0] >= 0

    @property
    @abstractmethod
    def blurs(self) -> bool:
        """Whether a thing is the more blurred the larger its disparity."""

    @abstractmethod
    def floats_per_pixel(self, scales: int, both_views: bool) -> float:
        """Memory: float32 maps that exist at once beside the views."""

    @property
    @abstractmethod
    def fills_hidden(self) -> bool:
        """Whether the filter needs to know which pixels are occluded."""

    @abstractmethod
    def trusted(self, d: Map, confidence: Map, agreed: Mask | None) -> tuple[Map, Map]:
        """The filter's input: the map, and the weight of its pixels."""

    @abstractmethod
    def margins(self, disparities: range) -> Margins:
        """What a tile needs around it at a scale that searches these disparities."""

    @abstractmethod
    def notes(self, agreement: Agreement | None, search: Search, d: Map, factor: int = 1) -> list[str]:
        """What the user should know about the match and its upright map d, a sentence each.

        `factor` is the full size over that of the map.
        """


@dataclass(frozen=True)
class DualPixel(Method):
    """One minimum a pixel, disparities of both signs, an axis to detect."""

    def match(self, planes: Planes, span: Span, run: Run) -> Parabolas:
        """The parabola at the lowest cost."""
        return match.local_parabolas(planes, span, self.params.matching, run.threads)

    def judged(self, belief: Parabolas, evidence: Parabolas, level: Level, run: Run) -> Parabolas:
        """At the finest scale, with how far the matches lie from the belief."""
        if belief.signs is None or level.factor > 1:
            return belief
        bias = confidence.bias_of(evidence, belief.disparity(run.threads), run.threads)
        return replace(belief, signs=belief.signs._replace(bias=bias))

    def sigma(self, belief: Parabolas, d: Map, threads: int) -> Map | None:
        """Known where A is an inverse variance."""
        return confidence.expected_error(belief, d, threads) if self.params.measures_error else None

    def confidence(self, belief: Parabolas, sigma: Map | None, threads: int) -> Map:
        """By the expected error if it is known, else relative to the picture."""
        if sigma is None:
            return confidence.relative_confidence(belief)
        assert belief.textured is not None
        return confidence.absolute_confidence(sigma, belief.textured, threads)

    def first_reach(self, width: int) -> int:
        """A few pixels: dual-pixel disparities are small."""
        return FIRST_REACH

    @property
    def detects_axis(self) -> bool:
        """Yes: cameras are held upright and sideways."""
        return True

    def find_order(self, planes: Planes, run: Run) -> float | None:
        """Both signs are expected."""
        return None

    def known_range(self, left: str | None, length: int) -> tuple[float, float] | None:
        """None: no file gives it."""
        return None

    @property
    def tile_reach(self) -> int:
        """The window; the published method has one range for all tiles."""
        return window_taps(self.params.matching).size if self.params.aggregation.messages == "exact" else 0

    @property
    def one_sign(self) -> bool:
        """Disparities are positive before the focus plane and negative behind it."""
        return False

    @property
    def blurs(self) -> bool:
        """Yes: only things in focus have disparity 0."""
        return True

    def floats_per_pixel(self, scales: int, both_views: bool) -> float:
        """Memory of dual-pixel matching."""
        return dual_pixel_floats(self.params, scales, both_views)

    @property
    def fills_hidden(self) -> bool:
        """No: the shifts are too small to hide much."""
        return False

    def trusted(self, d: Map, confidence: Map, agreed: Mask | None) -> tuple[Map, Map]:
        """The map as it is, weighted by its confidence."""
        return d, confidence

    def margins(self, disparities: range) -> Margins:
        """Those of the stages; a relative confidence needs none."""
        return Margins(
            match.margin(self.params.matching),
            match.shift(disparities),
            self.messages_margin(),
            confidence.margin() if self.params.measures_error else 0,
            post.margin(self.params.smoothing),
        )

    def notes(self, agreement: Agreement | None, search: Search, d: Map, factor: int = 1) -> list[str]:
        """A warning if the views seem to be exchanged."""
        return order_notes(d)


@dataclass(frozen=True)
class Stereo(Method):
    """Several minima a pixel, disparities of one sign, rectified along x."""

    def __post_init__(self) -> None:
        check_combination(self.params)

    def match(self, planes: Planes, span: Span, run: Run) -> Parabolas:
        """The parabola chosen among the candidates."""
        return chosen_parabolas(planes, span, self.params, run.threads)

    def sigma(self, belief: Parabolas, d: Map, threads: int) -> Map | None:
        """Not known: curvatures are in the unit of the cost."""
        return None

    def confidence(self, belief: Parabolas, sigma: Map | None, threads: int) -> Map:
        """Relative: curvatures are in the unit of the cost."""
        return confidence.relative_confidence(belief)

    def first_reach(self, width: int) -> int:
        """A third of the width from the start."""
        return max(width // 3, FIRST_REACH)

    @property
    def detects_axis(self) -> bool:
        """No: rectified pairs differ along x."""
        return False

    def find_order(self, planes: Planes, run: Run) -> float | None:
        """Found in small views."""
        small = planes
        while max(small.left.shape) > ORDER_SIDE:
            small = small.halved(run.threads)
        return forward_share(small, self.params, run.threads)

    def known_range(self, left: str | None, length: int) -> tuple[float, float] | None:
        """The range from Middlebury's calib.txt."""
        from ..io.captures import known_range  # pairs of dual pixels have none

        return None if left is None else known_range(left, length)

    @property
    def tile_reach(self) -> int:
        """One range for all tiles."""
        return 0

    @property
    def one_sign(self) -> bool:
        """Nothing is farther than infinity, where the disparity is 0."""
        return True

    @property
    def blurs(self) -> bool:
        """No: both cameras see everything sharp."""
        return False

    def floats_per_pixel(self, scales: int, both_views: bool) -> float:
        """Memory of stereo matching."""
        return stereo_floats(self.params, both_views)

    @property
    def fills_hidden(self) -> bool:
        """Yes if there is a filter: it must not smooth over occlusions, which are large."""
        return self.params.smoothing.filter != "none"

    def trusted(self, d: Map, confidence: Map, agreed: Mask | None) -> tuple[Map, Map]:
        """The map with its occluded pixels filled. Their weight is 0, that of all others 1."""
        return (d, confidence) if agreed is None else filled(d, agreed, self.params.minima)

    def margins(self, disparities: range) -> Margins:
        """Those of the stages. Messages cross occlusions, which have no evidence; a filter fills holes of any size."""
        messages = self.messages_margin()
        return Margins(
            candidates.margin(self.params.matching, self.params.minima),
            candidates.shift(disparities),
            None if messages is None else messages + candidates.HIDDEN_REACH,
            0,
            None if self.fills_hidden else post.margin(self.params.smoothing),
        )

    def notes(self, agreement: Agreement | None, search: Search, d: Map, factor: int = 1) -> list[str]:
        """Warnings: views in the wrong order, views that do not match, a range that does not cover the scene."""
        return stereo_notes(agreement, search.order, search.limits, factor) if agreement else []


def method_of(params: Params) -> Method:
    """The method for the kind of pair that the parameters are for."""
    return Stereo(params) if params.minima.candidates > 1 else DualPixel(params)
