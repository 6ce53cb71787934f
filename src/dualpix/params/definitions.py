"""The parameters of the method, in six groups. Each is declared once: type, rule, meaning, and what it needs.

Disparities are in pixels of the input. Brightness is on a scale of 0 to 255.
"""

from dataclasses import dataclass
from typing import Literal

from .declared import Group, parameter
from .needs import equals, that
from .rules import Choice, Flag, Odd, OneOr, OrAuto, Real, Several, Whole

NO_LIMIT = 1000.0  # px

# Needs that several parameters share.
ONE_MINIMUM = equals("candidates", 1)
WIDE = that("candidates", "of 2 or more", lambda candidates: candidates >= 2)
LOWEST = equals("choice", (0.0, 0.0))
PASSES = that("iterations", "of 2 or more on some scale", lambda passes: passes == "auto" or max(passes) > 1)
SCALES = that("iterations", "for 2 or more scales", lambda passes: passes == "auto" or len(passes) > 1)
ROBUST = that("robust_tau", "above 0", lambda tau: min(tau if isinstance(tau, tuple) else (tau,)) > 0)
RELATIVE = that("noise_floor", "above 0", lambda floor: floor > 0) & ONE_MINIMUM
GUIDED = equals("filter", "guided")
SOLVER = equals("filter", "solver")
FILTERED = that("filter", "other than none", lambda name: name != "none")

# Rules of parameters that the method adapts.
WINDOW, PENALTY = Real(0.5, 64), Real(0, 1e6, above=True)

# Rules of the filters' settings. The functions of dualpix.filters check their arguments by them, too.
GUIDED_WINDOW, GUIDED_EPS = Odd(3, 4095), Real(1e-6, 1e6)
SOLVER_COLOUR, SOLVER_XY, SOLVER_LAMBDA = Real(0.5, 1024), Whole(1, 4096), Real(0, 1e6)
MEDIAN_RADIUS, MEDIAN_SIGMA = Whole(1, 255), Real(1e-4, 1e6)


@dataclass(frozen=True, kw_only=True)
class Photometry(Group):
    """How pixel values become the brightness that is compared."""

    pixel_aspect: float | Literal["auto"] = parameter(
        OrAuto(Real(0.25, 4)),
        "Height of a pixel divided by its width; 1 is a square pixel. auto means 1, but refuses pictures that have the "
        "size of the Pixel capture app's: their pixels are twice as tall as wide.",
    )
    black: float = parameter(
        Real(0, 65535),
        "Black level: the pixel value without light. It is subtracted. A Pixel 4 has 1024 in its 16-bit files.",
        unit="pixel value in the file",
    )
    white: float | Literal["auto"] = parameter(
        OrAuto(Real(0, 65535, above=True)),
        "White level: the pixel value of white. auto means the largest value that the files can hold.",
        unit="pixel value in the file",
    )
    gamma: float = parameter(
        Real(0.1, 10),
        "Exponent applied to the brightness of the views, after black and white. 1 changes nothing; 0.45 makes raw "
        "values look like those of a photograph.",
    )
    vignetting: float = parameter(
        Real(0, 1),
        "Brightness equalisation: makes the right view as bright as the left one, region by region. Each half of a "
        "dual pixel sees one side of the picture darker. The value is the size of a region (standard deviation of a "
        "blur) as a share of the longer side. Usual: 0.05 to 0.3; 0 turns it off.",
        unit="share of the longer side",
    )
    exposure: float = parameter(
        Real(0, 1e3),
        "Scales the views and the guide so that only 1 % of their pixels are brighter than this. Dark pictures are "
        "then treated like bright ones. Usual: 100 to 255; 0 turns it off.",
        unit="brightness, 0 to 255",
    )
    guide_gamma: float = parameter(
        Real(0.1, 10),
        "Exponent applied to the guide, the picture whose edges stop the smoothing. Below 1, edges in dark regions "
        "count more; 1 turns it off.",
    )


@dataclass(frozen=True, kw_only=True)
class Matching(Group):
    """How well a pixel of the left view matches pixels of the right one: one parabola for each pixel."""

    cost: str = parameter(
        Choice("sad", "ssd", "ncc", "zncc", "bt", "census"),
        "How two pixels are compared. sad: absolute difference of brightness. ssd: squared difference. ncc: 1 minus "
        "the correlation of the windows. zncc: the same after the mean of each window is subtracted. bt: the "
        "difference of Birchfield and Tomasi, which tolerates shifts below half a pixel. census: the number of bits, "
        "out of 24, in which the patterns of the 5x5 surroundings differ.",
        symbol="C",
    )
    window: float = parameter(
        WINDOW,
        "Size of the window over which costs are averaged: the standard deviation of a Gaussian or, for bt and census, "
        "the side of a square, made odd. It is the same at every scale. Larger is smoother, smaller keeps more detail. "
        "Usual: 3 to 15.",
        symbol="omega",
        unit="px",
    )
    detail: str = parameter(
        Choice("none", "cost", "all"),
        "Compares only the fine detail of the views: the picture minus a copy smoothed by a bilateral filter. none: "
        "the views as they are. cost: detail for the cost. all: detail for the cost and for subpixel=encc.",
    )
    subpixel: str = parameter(
        Choice("parabola", "histeq", "encc"),
        "How the disparity between whole pixels is found. parabola: the lowest point of a parabola through three "
        "costs. histeq: another curve instead of the parabola, corrected for its systematic error. encc: the shift "
        "at which the correlation of two windows is highest; usually the most accurate.",
    )
    encc_window: int = parameter(
        Odd(3, 63),
        "Side of the windows that encc correlates, the same at every scale. solver_confidence=texture measures texture "
        "in windows of this size, too. Usual: 9 to 21.",
        unit="px",
        needs=equals("subpixel", "encc") | (SOLVER & equals("solver_confidence", "texture")),
    )
    noise_floor: float = parameter(
        Real(0, 1e3),
        "The curvature (how sharp the minimum of the cost is) is divided by the lowest cost plus this value. The "
        "result then does not depend on the exposure, and busy regions that match badly count less. 0 turns it off.",
        unit="that of the cost",
        needs=ONE_MINIMUM,
    )
    ratio_threshold: float = parameter(
        Real(1, 100, above=True),
        "A match is fully trusted if the second-best cost is at least this many times the best one. Below that, trust "
        "falls. Usual: 1.5 to 4.",
        symbol="Tq",
        needs=ONE_MINIMUM | LOWEST,
    )
    border: float = parameter(
        Real(1, 1e6),
        "Divides the trust in matches at the left and right edge of the picture, where part of the window has no "
        "counterpart. Further inside the divisor falls to 1. 1 turns it off.",
    )


@dataclass(frozen=True, kw_only=True)
class Minima(Group):
    """Which of several matches is right: for stereo pairs with shifts of tens or hundreds of pixels."""

    candidates: int = parameter(
        Whole(1, 6),
        "How many of the lowest minima of the cost are kept for each pixel. 1 is enough for dual-pixel pairs. With 2 "
        "or more the pair is a stereo pair: shifted along x, with disparities of one sign if the range is auto.",
    )
    choice: tuple[float, float] = parameter(
        Several(Real(0, 1e6), 2, 2, "P1 and P2"),
        "Penalties for choosing the minimum that fits the neighbours. P1 is added for a step of 1 px between "
        "neighbours and grows with the square of the step; P2 is the most that a step adds. 0,0 takes the lowest "
        "minimum, and trusts it less if others come close.",
        unit="that of the cost",
        needs=WIDE,
    )
    ambiguity: float = parameter(
        Real(0, 1e3),
        "A pixel is hardly trusted if another minimum, more than 2 px away, exceeds the lowest cost by less than this. "
        "0 turns it off.",
        symbol="Td",
        unit="that of the cost",
        needs=WIDE & LOWEST,
    )
    speckles: tuple[float, float] = parameter(
        Several(Real(0, 1e6), 2, 2, "pixels and step"),
        "Small regions are not trusted. The first value is the least number of pixels of a trusted region. The second "
        "is the largest step in disparity between neighbours of one region. 0,0 turns it off.",
        unit="pixels and px",
        needs=WIDE,
    )


@dataclass(frozen=True, kw_only=True)
class Aggregation(Group):
    """How pixels learn from their neighbours: parabolas are passed on along straight paths through the picture."""

    messages: str = parameter(
        Choice("paper", "exact", "jumps"),
        "What a pixel passes on to the next one along a path. paper: the paper's formula. exact: the exact minimum, "
        "which the paper's formula approximates. jumps: the paper's rules for stereo pairs, which treat large steps "
        "separately.",
    )
    penalty: float = parameter(
        PENALTY,
        "Strength of the smoothing between neighbours. With messages=paper or jumps it has no unit; usual: 1 to 10. "
        "With messages=exact it is a multiple of the mean curvature of the parabolas; usual: 1000 to 20000 for "
        "dual-pixel pairs.",
        symbol="P",
    )
    first_penalty: float | Literal["auto"] = parameter(
        OrAuto(Real(1e-6, 1)),
        "The first pass of a scale smooths across all depth edges. It has this share of the penalty. A small one keeps "
        "thin things, but noise, too. auto measures the noise of the matches at the coarsest scale: noisy pictures get "
        "1, others less, 0.01 at the least. With iterations other than auto, auto means 1.",
        needs=equals("messages", "exact") & PASSES & ROBUST,
    )
    jump_penalty: float = parameter(
        Real(0, 1e6),
        "The penalty for steps of 2 px and more between neighbours, instead of penalty.",
        symbol="P2",
        needs=equals("messages", "jumps"),
    )
    robust_tau: float | tuple[float, ...] = parameter(
        OneOr(Several(Real(0, 1e3), 1, 64, "1 to 64 values")),
        "Steps larger than this are smoothed less, so that depth edges stay sharp. Smaller keeps more edges; 0 smooths "
        "across all of them. Several values are for the second pass, the third, and so on; the last one also serves "
        "all further passes.",
        symbol="tau",
        unit="px",
        needs=equals("messages", "exact") & PASSES,
    )
    fattening: float = parameter(
        Real(0, 1e3),
        "Windows make near objects look larger than they are. From the second pass on, a match that is nearer than the "
        "last pass found counts less: half if it is this much nearer. A match that is farther counts in full. Usual: "
        "0.2 to 0.5; 0 turns it off.",
        symbol="r",
        unit="px of the scale",
        needs=equals("messages", "exact") & PASSES & ROBUST,
    )
    suspicion: float | Literal["auto"] = parameter(
        OrAuto(Real(0, NO_LIMIT)),
        "If the first pass found something as near as a match within 5 px of it, fattening applies in full. If not, "
        "the match counts as at most this much nearer than the first pass found. Smaller keeps more of thin things, "
        "and more noise. auto measures the noise of the matches at the coarsest scale: noisy pictures get 1000, which "
        "is no limit, others less. With iterations other than auto, auto means 1000.",
        unit="px of the scale",
        needs=equals("messages", "exact") & PASSES & ROBUST & that("fattening", "above 0", lambda r: r > 0),
    )
    edge_sigma: float = parameter(
        Real(0.01, 1e4),
        "Difference in brightness between two pixels of the guide at which smoothing across them falls to 1/e (37 %). "
        "Smaller stops at weaker edges. Usual: 2 to 10.",
        symbol="sigma",
        unit="brightness, 0 to 255",
    )
    flat: float = parameter(
        Real(0, 10),
        "Edges of the guide count less where the coarser scale is flat: there they are print or shadow, not depth. The "
        "squared difference in brightness counts half where the disparities within 41 pixels span this share of what "
        "those of the picture span. Usual: 0.02 to 0.1; 0 turns it off.",
        unit="share of the span of the disparities",
        needs=equals("messages", "exact") & RELATIVE & SCALES,
    )
    paths: int = parameter(
        Choice(4, 8),
        "Number of directions in which neighbours inform each other: 4 are left, right, up and down; 8 add the "
        "diagonals.",
        symbol="r",
    )
    normalize_iterations: bool = parameter(
        Flag(),
        "Multiplies the input of every pass after the first by the first curvature divided by its mean, as printed in "
        "the paper. false leaves it as it is.",
        symbol="N",
        needs=that("messages", "other than exact", lambda messages: messages != "exact") & PASSES,
    )


@dataclass(frozen=True, kw_only=True)
class Scales(Group):
    """From small copies of the picture to the full one: how many, which range, how far to trust the coarser one."""

    iterations: tuple[int, ...] | Literal["auto"] = parameter(
        OrAuto(Several(Whole(1, 64), 1, 8, "1 to 8 values, one per scale")),
        "Passes of the aggregation at each scale, from the smallest picture to the full one. There are as many scales "
        "as values; each has half the width and height of the next. auto: as many scales as bring the smallest picture "
        "to about 200x200 pixels, and 4 passes at each; at the full size 3 if robust_tau is one value above 0. "
        "With messages=exact and robust_tau=0 one pass is enough.",
    )
    range: tuple[float, float] | Literal["auto"] = parameter(
        OrAuto(Several(Real(-1e5, 1e5), 2, 2, "min and max, min < max", rising=True)),
        "The smallest and the largest disparity to search, at full size. auto finds the range at the smallest scale; "
        "for a stereo pair a calib.txt beside the left view may set it.",
        unit="px",
    )
    relief: float = parameter(
        Real(0, 10),
        "The steepness for which window and penalty are meant: how much the disparity typically changes from one pixel "
        "to the next. Each scale after the first measures it in the result of the coarser one. Steeper pictures get "
        "smaller windows and less smoothing. 0 keeps window and penalty as they are.",
        unit="px/px",
        needs=SCALES,
    )
    prior_weight: float = parameter(
        Real(0, 10),
        "How much a scale trusts the result of the coarser one before it. Larger is smoother, 0 ignores it. Usual: 0 "
        "to 0.2.",
        symbol="w",
        needs=SCALES,
    )
    prior_limit: float = parameter(
        Real(0, 1e6),
        "Upper limit for the certainty (curvature) of the coarser scale, before it is weighted. It keeps the errors of "
        "coarse scales from outweighing the pixels' own matches. 0 sets no limit.",
        unit="1/px^2, or cost/px^2 with noise_floor=0",
        needs=SCALES & that("prior_weight", "above 0", lambda weight: weight > 0),
    )
    invalid_threshold: float = parameter(
        Real(0, 1e3),
        "A pixel whose parabola has less curvature than this counts as not matched; its neighbours decide. Usual: 0 to "
        "0.2 with noise_floor=0, about 0.00001 with one. 0 keeps all pixels.",
        symbol="Ta",
        unit="1/px^2, or cost/px^2 with noise_floor=0",
    )


@dataclass(frozen=True, kw_only=True)
class Smoothing(Group):
    """What smooths the finished map: small steps are removed, and an optional filter follows the edges of the guide."""

    blank: float = parameter(
        Real(0, 1e3),
        "Mean curvature of the matches below which a part of the picture is blank. Blank parts are filled from their "
        "contours and go on behind what is nearer. 0 turns it off. Needs fattening; not in tiles or with hints.",
        unit="1 / px squared",
    )
    outlines: float = parameter(
        Real(0, 255),
        "Outlines of the map follow the guide. Where the disparities within 6 px span more than 0.3 px, a pixel gets "
        "their median, in which similar brightness counts more: a pixel that differs by this much counts 41 % of one "
        "that does not differ. Smaller follows weaker outlines. With exact messages it also acts between passes, in "
        "scales of four passes or more, in a wider window. Usual: 5 to 20; 0 turns it off.",
        unit="brightness, 0 to 255",
    )
    polish: float | Literal["auto"] = parameter(
        OrAuto(Real(0, 1e3)),
        "Removes small steps, ridges and streaks from the finished map. Differences well below this value within 5x5 "
        "pixels are smoothed, larger ones stay. It does the same in the map at half and at a quarter of its size. 0 "
        "turns it off. auto measures the noise of the matches at the smallest scale: noisy pictures get 0.2, others "
        "less, 0.1 at the least. It is 0.2 if iterations is not auto.",
        unit="px",
    )
    filter: str = parameter(
        Choice("none", "guided", "solver"),
        "Smooths the finished map. none: leaves it. guided: the guided filter, which is fast. solver: the bilateral "
        "solver, which joins regions of one colour.",
    )
    guided_window: int = parameter(
        GUIDED_WINDOW, "Side of the windows of the guided filter. Larger is smoother.", unit="px", needs=GUIDED
    )
    guided_eps: float = parameter(
        GUIDED_EPS,
        "Contrast of an edge of the guide that the guided filter follows, as a variance of brightness on a scale of 0 "
        "to 1. Larger smooths across stronger edges.",
        symbol="epsilon",
        unit="brightness squared, 0 to 1",
        needs=GUIDED,
    )
    solver_luma: float = parameter(
        SOLVER_COLOUR, "Brightness by which pixels that are alike differ.", unit="brightness, 0 to 255", needs=SOLVER
    )
    solver_chroma: float = parameter(
        SOLVER_COLOUR, "Chroma by which pixels that are alike differ.", unit="chroma, 0 to 255", needs=SOLVER
    )
    solver_xy: int = parameter(
        SOLVER_XY, "Distance up to which the solver treats pixels as neighbours.", unit="px", needs=SOLVER
    )
    solver_lambda: float = parameter(
        SOLVER_LAMBDA,
        "How much smoothness counts for the solver, compared with staying close to the map. Larger is smoother.",
        symbol="lambda",
        needs=SOLVER,
    )
    solver_confidence: str = parameter(
        Choice("curvature", "texture"),
        "How far the solver trusts a pixel. curvature: by the confidence of the map. texture: also less where the left "
        "view has little texture or the map is rough, as in the paper for phones.",
        needs=SOLVER,
    )
    median_radius: int = parameter(
        Whole(0, MEDIAN_RADIUS.high),
        "Radius of a weighted median filter that runs after the filter. 0 turns it off.",
        unit="px",
        needs=FILTERED,
    )
    median_sigma: float = parameter(
        MEDIAN_SIGMA,
        "Difference in colour of the guide, on a scale of 0 to 1, beyond which a pixel counts little in the median.",
        unit="colour, 0 to 1",
        needs=FILTERED & that("median_radius", "above 0", lambda radius: radius > 0),
    )


GROUPS: tuple[type[Group], ...] = (Photometry, Matching, Minima, Aggregation, Scales, Smoothing)
