"""The parameters of the method: one frozen dataclass, its presets, and the ways to set them.

Every field carries its rule in its annotation.
"""

import dataclasses
import difflib
import reprlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from ..errors import InputError, ParameterError
from .rules import Choice, Flag, Odd, OneOr, OrAuto, Real, Rule, Several, Whole, check, refusal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# ---- the parameters ------------------------------------------------------------------------------


# What the filters take, here and when called by themselves.
GUIDED_WINDOW, GUIDED_EPS = Odd(3, 4095), Real(1e-6, 1e6)
SOLVER_COLOUR, SOLVER_XY, SOLVER_LAMBDA = Real(0.5, 1024), Whole(1, 4096), Real(0, 1e6)
MEDIAN_RADIUS, MEDIAN_SIGMA = Whole(1, 255), Real(1e-4, 1e6)


@dataclass(frozen=True, kw_only=True)
class Params:
    """All parameters of the method, checked on construction.

    Start from a preset: ``preset("dslr-a").replace(window=5)``. Disparities are in pixels of the
    input, ``d = x_left - x_right``; intensities and costs are on a 0..255 scale.

    Raises
    ------
    ParameterError
        If a value is of the wrong type or out of bounds.
    """

    # C: what a pixel pair costs: |L(x) - R(x - d)|, its square, 1 - correlation of the windows, the same of zero-mean
    # windows, the distance of Birchfield and Tomasi, or the bits in which census codes of 5x5 pixels differ.
    # Intensities, their squares, 0..2 without unit (ncc, zncc), or bits out of 24 (census).
    cost: Annotated[str, Choice("sad", "ssd", "ncc", "zncc", "bt", "census")]
    # omega: STD of the Gaussian matching window, for bt and census the side of a box (made odd), px at every scale;
    # 3..15 is sane.
    window: Annotated[float, Real(0.5, 64)]
    # Where between whole disparities the vertex lies: by the three costs, plain or with the calibrated correction, or
    # where the correlation of the windows peaks.
    subpixel: Annotated[str, Choice("parabola", "histeq", "encc")]
    # Side of the correlated windows of encc, px at every scale; 9..21 is sane.
    encc_window: Annotated[int, Odd(3, 63)]
    # Curvature is taken relative to the best cost plus this, in the unit of the cost. 0 takes it as it is.
    noise_floor: Annotated[float, Real(0, 1e3)]
    # Minima of a pixel's cost that are kept; 1 is the best alone, as dual pixels need no more. From 2 on the pair is
    # taken for one of a wide baseline, along x, with disparities of one sign if the range is found.
    candidates: Annotated[int, Whole(1, 6)]
    # P1 and P2 of the choice among candidates, in the unit of the cost: what a step of 1 px between neighbours adds,
    # growing as its square, and the most that a step adds. 0,0 takes the lowest cost, and doubts it by the others.
    choice: Annotated[tuple[float, float], Several(Real(0, 1e6), 2, 2, "P1 and P2")]
    # Td: a candidate that costs at most this much more, in the unit of the cost, makes the lowest one doubtful.
    ambiguity: Annotated[float, Real(0, 1e3)]
    # Regions of the chosen candidates with fewer pixels than the first number are doubtful; neighbours belong together
    # if they differ by no more than the second, px.
    speckles: Annotated[tuple[float, float], Several(Real(0, 1e6), 2, 2, "pixels and step")]
    # What a path hands on from pixel to pixel: the published recursion, the exact minimum it approximates, or the
    # published rules for wide baselines, which treat large steps on their own.
    messages: Annotated[str, Choice("paper", "exact", "jumps")]
    # P: strength of the smoothness between neighbours. paper: no unit, 1..10 is sane; exact: a multiple of the mean
    # curvature of the scale, 1000..20000 is sane.
    penalty: Annotated[float, Real(0, 1e6, above=True)]
    # P2: the same for steps of 2 px and more, no unit; jumps only.
    jump_penalty: Annotated[float, Real(0, 1e6)]
    # tau: step of the disparity between neighbours, px, from which on smoothing gives way; 0 is never. Several are for
    # the second pass and those after it, the last for all that follow. exact only.
    robust_tau: Annotated[float | tuple[float, ...], OneOr(Several(Real(0, 1e3), 1, 64, "1 to 64 values"))]
    # sigma: step of the guide, in intensities, at which smoothing falls to 1/e; 2..10 is sane.
    edge_sigma: Annotated[float, Real(0.01, 1e4)]
    # Height of the camera's pixels over their width. auto: 1, but pictures of the size of those of the Pixel capture
    # app, which has pixels twice as tall as wide, are refused.
    pixel_aspect: Annotated[float | Literal["auto"], OrAuto(Real(0.25, 4))]
    # What the camera records in the dark, in the numbers of the input: 1024 of a Pixel 4's 16 bit.
    black: Annotated[float, Real(0, 65535)]
    # What it records of white, in the same numbers; auto is the largest the input can hold.
    white: Annotated[float | Literal["auto"], OrAuto(Real(0, 65535, above=True))]
    # Exponent put on the intensities of the views, after black and white: 1 is off, 0.45 makes raw values displayable.
    gamma: Annotated[float, Real(0.1, 10)]
    # Compare I - bilateral(I), the detail of the views, at every scale: for the cost only, as the paper does, or for
    # all, encc's windows too.
    detail: Annotated[str, Choice("none", "cost", "all")]
    # STD of the low-pass of both views whose ratio evens out their brightness, as a share of the longer side of the
    # image: what lens and pixels darken towards opposite sides. 0 leaves the views as they are; 0.05..0.3 is sane.
    vignetting: Annotated[float, Real(0, 1)]
    # Exponent put on the guide, which makes edges in the dark count more the smaller it is; 1 is off.
    guide_gamma: Annotated[float, Real(0.1, 10)]
    # Intensity that the brightest hundredth of views and guide is brought to, 100..255 is sane; 0 leaves them alone.
    exposure: Annotated[float, Real(0, 1e3)]
    # Aggregations per scale, coarse to fine; as many scales as numbers. auto: by the size of the image.
    iterations: Annotated[
        tuple[int, ...] | Literal["auto"], OrAuto(Several(Whole(1, 64), 1, 8, "1 to 8 values, one per scale"))
    ]
    # N: scale each iteration's input by the first curvature over its mean, as printed; false is N = 1. paper only.
    normalize_iterations: Annotated[bool, Flag()]
    # w: weight of the coarser scale's parabola, no unit; 0 (none) to 0.2 is sane.
    prior_weight: Annotated[float, Real(0, 10)]
    # Curvature, relative to the noise in px^-2, that the coarser scale's parabola has at most before it is weighted;
    # 0 is no limit.
    prior_limit: Annotated[float, Real(0, 1e6)]
    # Tq: ratio of the second-best to the best cost at which a match is fully trusted; 1.5..4 is sane.
    ratio_threshold: Annotated[float, Real(1, 100, above=True)]
    # Ta: curvature below which a pixel is invalid, in the unit of the cost per px^2 (0 to 0.2 is sane) or, relative to
    # the noise, px^-2 (1e-5 is sane); 0 is none.
    invalid_threshold: Annotated[float, Real(0, 1e3)]
    # Divisor of the curvature at the left and right image edge, falling linearly to 1; 1 is off.
    border: Annotated[float, Real(1, 1e6)]
    # r: directions aggregated along, 4 without and 8 with the diagonals.
    paths: Annotated[int, Choice(4, 8)]
    # Disparities searched, min and max in px at full size. auto: as far as the coarsest scale finds any.
    range: Annotated[
        tuple[float, float] | Literal["auto"],
        OrAuto(Several(Real(-1e5, 1e5), 2, 2, "min and max, min < max", rising=True)),
    ]
    # What smooths the finished map along the edges of the guide: the guided filter or the bilateral solver.
    filter: Annotated[str, Choice("none", "guided", "solver")]
    # Side of the guided filter's windows, px; and the variance of the guide, on a 0..1 scale, from which on an edge is
    # followed.
    guided_window: Annotated[int, GUIDED_WINDOW]
    guided_eps: Annotated[float, GUIDED_EPS]
    # The solver's reach in luma and chroma on a 0..255 scale, and along x and y in px; and lambda, how much smoothness
    # counts against the data.
    solver_luma: Annotated[float, SOLVER_COLOUR]
    solver_chroma: Annotated[float, SOLVER_COLOUR]
    solver_xy: Annotated[int, SOLVER_XY]
    solver_lambda: Annotated[float, SOLVER_LAMBDA]
    # How far the solver trusts a pixel: by the curvature alone, or less where the view around it lacks texture or the
    # map is rough as well, as the paper does for phones.
    solver_confidence: Annotated[str, Choice("curvature", "texture")]
    # Radius of the weighted median after the filter, px, 0 is none; and the difference of the guide's colours, on a
    # 0..1 scale, beyond which pixels do not count.
    median_radius: Annotated[int, Whole(0, MEDIAN_RADIUS.high)]
    median_sigma: Annotated[float, MEDIAN_SIGMA]

    def __post_init__(self) -> None:
        for name in _rules():
            object.__setattr__(self, name, _check(name, getattr(self, name)))

    def replace(self, **changes: Any) -> "Params":
        """A copy with some parameters changed, checked again."""
        for name in changes:
            _rule(name)
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The parameters by name, ready for JSON; ``Params(**d)`` turns them back."""
        values = {name: getattr(self, name) for name in _rules()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


@cache
def _rules() -> dict[str, Rule]:
    hints = get_type_hints(Params, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in dataclasses.fields(Params)}


def _rule(name: str) -> Rule:
    if name not in _rules():
        raise ParameterError(unknown_name("parameter", name, _rules()))
    return _rules()[name]


def _check(name: str, value: object) -> Any:
    return check(f"parameter {name}", value, _rule(name))


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """What to say of a name that is not known: those that are, and the one that was perhaps meant."""
    names = list(known)
    close = difflib.get_close_matches(str(name), names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"unknown {kind} {reprlib.repr(name)}: {hint}the {kind}s are {', '.join(names)}"


# ---- presets and the ways to set parameters ------------------------------------------------------


@cache
def _presets() -> dict[str, tuple[str, Params]]:
    text = resources.files(__package__).joinpath("presets.toml").read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return {name: (table.pop("description"), Params(**table)) for name, table in tables.items()}


DEFAULT_PRESET = "auto"


def preset_names() -> tuple[str, ...]:
    """Names of the presets."""
    return tuple(_presets())


def preset_descriptions() -> dict[str, str]:
    """One line on each preset, by name."""
    return {name: description for name, (description, _) in _presets().items()}


def preset(name: str) -> Params:
    """The parameters of a preset.

    Raises
    ------
    ParameterError
        If there is no preset of that name.
    """
    if not isinstance(name, str) or name not in _presets():
        raise ParameterError(unknown_name("preset", name, _presets()))
    return _presets()[name][1]


def expectations() -> dict[str, str]:
    """What each parameter must be, in words, by name."""
    return {name: str(rule) for name, rule in _rules().items()}


def resolve(base: str | Params, overrides: Mapping[str, Any]) -> Params:
    """The parameters of a preset, by name or as they are, with some of them overridden."""
    params = base if isinstance(base, Params) else preset(base)
    return params.replace(**overrides)


def parse_setting(text: str) -> tuple[str, Any]:
    """Name and checked value of a setting written as ``name=value``, such as ``iterations=3,3,2``."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ParameterError(f"setting {reprlib.repr(text)} must be NAME=VALUE, such as window=5")
    rule = _rule(name)
    try:
        return name, rule.check(rule.parse(value))
    except (ValueError, OverflowError):
        raise refusal(f"parameter {name}", value, rule) from None


def load_config(path: str | Path) -> dict[str, Any]:
    """Parameters, and perhaps ``preset``, from a TOML file of ``name = value`` lines.

    Raises
    ------
    InputError
        If the file cannot be read or is not TOML.
    ParameterError
        If it holds an unknown name, or a value of the wrong type or out of bounds.
    """
    settings = _read_toml(path)
    try:
        if "preset" in settings:
            preset(settings["preset"])
        checked = {name: _check(name, value) for name, value in settings.items() if name != "preset"}
    except ParameterError as error:
        raise ParameterError(f"config {path}: {error}") from None
    return settings | checked


def _read_toml(path: str | Path) -> dict[str, Any]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # Windows editors begin it with a byte order mark
    except FileNotFoundError:
        raise InputError(f"config {path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"config {path}: cannot be read ({error.strerror}): give a TOML file") from None
    except UnicodeDecodeError:
        raise InputError(f"config {path} is not text: give a TOML file of name = value lines") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        end = f"at line {text.count(chr(10)) + 1}, end of file"
        raise InputError(f"config {path} is not TOML: {error}".replace("at end of document", end)) from None
    except RecursionError:
        raise InputError(f"config {path} is nested too deep: give flat name = value lines") from None
