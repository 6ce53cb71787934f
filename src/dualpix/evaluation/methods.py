"""The methods of a comparison, by name: presets, baselines, or anyone's own function."""

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import baselines
from ..errors import InputError, ParameterError
from ..io import read_pair
from ..method import pipeline
from ..method.aggregate import minimizer
from ..method.match import local_parabolas
from ..method.prepare import detail, prepare
from ..method.scales import searched
from ..params import DEFAULT_PRESET, Params, preset, preset_names, unknown_name
from ..types import Map
from .outcomes import Scene

FILTERS = ("guided", "solver")
OFFERED = ("range", "guide", "threads")
SEARCHED = (-12.0, 12.0)  # px, for functions where the scene does not say

Found = tuple[Map, Map | None]


@dataclass(frozen=True)
class Preset:
    """Our own method with these parameters; the scene's range, if it has one, comes before theirs."""

    name: str
    params: Params

    @property
    def parameters(self) -> dict[str, Any]:
        """Ready for JSON."""
        return self.params.to_dict()

    def run(self, scene: Scene, threads: int) -> Found:
        """Disparity and confidence of the left view."""
        params = self.params.replace(range=scene.range) if scene.range else self.params
        found = pipeline.disparity(scene.left, scene.right, params, scene.guide, axis=scene.axis, threads=threads)
        return found.disparity, found.confidence


@dataclass(frozen=True)
class Function:
    """``module:function`` of anyone's, called as ``function(left, right)`` with views that differ along x.

    It returns a map of the left view, ``d = x_left - x_right`` in px and NaN where it has none, or the map and a
    confidence, 0 to 1. The views are HxW or HxWx3 (RGB), uint8, uint16, or float32 in [0, 1]. If the function has
    arguments of these names, it is given: ``range``, the least and the largest disparity, px; ``guide``, the picture
    whose edges count, or None for the left view; ``threads``, how many to use.
    """

    name: str
    module: str
    attribute: str

    @property
    def parameters(self) -> dict[str, Any]:
        """Ready for JSON: where the function is, a digest of its source, and the numbers it runs with."""
        function = self.function()
        given = {name: each.default for name, each in _arguments(function).items() if name not in OFFERED}
        defaults = {name: value for name, value in given.items() if isinstance(value, bool | int | float | str)}
        foreign = self.module.partition(".")[0] != __package__.partition(".")[0]
        return {
            "function": f"{self.module}:{self.attribute}",
            **({"source": _source_digest(self.module, function)} if foreign else _settings(self.attribute)),
            **({"defaults": defaults} if defaults else {}),
            **({"range_if_unknown": list(SEARCHED)} if "range" in _arguments(function) else {}),
        }

    def function(self) -> Callable[..., Any]:
        """The function itself.

        Raises
        ------
        ParameterError
            If it cannot be imported or called.
        """
        here = os.getcwd()
        if here not in sys.path:  # where `python -m` would look for it too
            sys.path.append(here)
        try:
            with redirect_stdout(sys.stderr):  # stdout is for results
                function = getattr(import_module(self.module), self.attribute)
        except (Exception, SystemExit) as error:  # whatever the module does when it is imported
            raise ParameterError(
                f"method {self.name} cannot be imported ({type(error).__name__}: {error}): give module:function, from "
                "the Python path or the current folder"
            ) from error
        if not callable(function):
            raise ParameterError(
                f"method {self.name} is no function but {type(function).__name__}: give module:function"
            )
        return function  # type: ignore[no-any-return]

    def run(self, scene: Scene, threads: int) -> Found:
        """Disparity and, if the function says, confidence of the left view."""
        if scene.axis == "y":
            d, confidence = self.run(_along_x(scene), threads)
            return _turned(d), None if confidence is None else _turned(confidence)
        function = self.function()
        offered = dict(zip(OFFERED, (scene.range or SEARCHED, scene.guide, threads), strict=True))
        wanted = {name: offered[name] for name in _arguments(function) if name in OFFERED}
        found = function(scene.left, scene.right, **wanted)
        d, confidence = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
        shape = scene.left.shape[:2]
        return self._checked(d, shape), None if confidence is None else self._trusted(confidence, shape)

    def _checked(self, values: object, shape: tuple[int, ...]) -> Map:
        array = np.asarray(values)
        if array.shape != shape or array.dtype.kind not in "uif":
            raise InputError(
                f"method {self.name} returned {array.dtype} of shape {array.shape}: return a map of numbers of the "
                f"views' shape, {shape}"
            )
        return np.ascontiguousarray(array, np.float32)

    def _trusted(self, values: object, shape: tuple[int, ...]) -> Map:
        confidence = self._checked(values, shape)
        low, high = float(np.fmin.reduce(confidence, axis=None)), float(np.fmax.reduce(confidence, axis=None))
        if low < 0 or high > 1:
            raise InputError(f"method {self.name} returned a confidence of {low:g} to {high:g}: return one of 0 to 1")
        return confidence


Method = Preset | Function


def method(name: str) -> Method:
    """The method of that name.

    Parameters
    ----------
    name
        A preset such as ``auto``, perhaps with a filter, ``auto+solver`` or ``auto+guided``; a baseline such as
        ``sgm``; or ``package.module:function``, see `Function`.

    Raises
    ------
    ParameterError
        If there is none.
    """
    module, colon, attribute = name.partition(":")
    if colon:
        own = Function(name, module, attribute)
        own.function()
        return own
    base, plus, smoothing = name.partition("+")
    if base in preset_names():
        if not plus:
            return Preset(name, preset(base))
        if smoothing in FILTERS:
            return Preset(name, preset(base).replace(filter=smoothing))
    if name in _baselines():
        return _baselines()[name]
    unknown = unknown_name("method", name, (*preset_names(), *_baselines()))
    raise ParameterError(f"{unknown}, a preset with +guided or +solver, or your own as package.module:function")


def _baselines() -> dict[str, Function]:
    functions = (name for name in baselines.__all__ if inspect.isfunction(getattr(baselines, name)))
    own = {name.replace("_", "-"): Function(name.replace("_", "-"), baselines.__name__, name) for name in functions}
    return own | {"wta": Function("wta", __name__, "wta")}


def wta(
    left: npt.NDArray[Any], right: npt.NDArray[Any], range: tuple[float, float] = SEARCHED, *, threads: int = 1
) -> Map:
    """The winner takes it all: the local term of the default preset, whose vertex is a parabola's, and no aggregation.

    Parameters
    ----------
    left, right : array
        HxW or HxWx3 (RGB), uint8, uint16, or float in [0, 1], of the same size.
    range : (float, float)
        The least and the largest disparity, px.
    threads : int
        How many to use; the result does not depend on it.

    Returns
    -------
    float32 array
        ``d = x_left - x_right`` in pixels; NaN where the cost has no minimum.
    """
    params = _wta_params()
    pair = read_pair(left, right)
    planes = prepare([pair.left, pair.right], params, threads)
    compared = detail(planes.left, threads), detail(planes.right, threads)
    alpha, beta = local_parabolas(*compared, searched(range, 1), params, threads)
    d = np.clip(minimizer(alpha, beta), *range)
    d[~(alpha > 0)] = np.nan
    return d


def _wta_params() -> Params:
    return preset(DEFAULT_PRESET).replace(subpixel="parabola")


def _settings(function: str) -> dict[str, Any]:
    """What a function of ours does not take as an argument."""
    settings = _wta_params().to_dict() if function == "wta" else baselines.SETTINGS.get(function)
    return {"settings": settings} if settings else {}


def _arguments(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Those that can be given by name."""
    try:
        found = inspect.signature(function).parameters
    except ValueError:  # some written in C do not say
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: each for name, each in found.items() if each.kind in named}


def _source_digest(module: str, function: Callable[..., Any]) -> str:
    """Of the Python files it is likely to use, so that results do not outlive the code that made them."""
    digest = blake2b(digest_size=8)
    for path in sorted(set(_sources(module, function))):
        with suppress(OSError):  # an editor's lock, say
            content = path.read_bytes()
            digest.update(os.fsencode(path.name) + b" %d " % len(content) + content)
    return digest.hexdigest()


def _sources(module: str, function: Callable[..., Any]) -> Iterator[Path]:
    """All files of the outermost package or, of a module in no package, those beside it; and the function's own."""
    outermost = sys.modules[module.partition(".")[0]]
    for folder in getattr(outermost, "__path__", ()):
        yield from Path(folder).rglob("*.py")
    if not hasattr(outermost, "__path__") and (file := getattr(outermost, "__file__", None)):
        yield from (Path(file), *Path(file).parent.glob("*.py"))
    home = sys.modules.get(getattr(function, "__module__", None) or "")
    if file := getattr(home, "__file__", None):
        yield Path(file)


def _along_x(scene: Scene) -> Scene:
    """A scene of axis y, for those who match along x."""
    guide = None if scene.guide is None else _turned(scene.guide)
    return replace(scene, left=_turned(scene.left), right=_turned(scene.right), guide=guide, axis="x")


def _turned(image: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows become columns."""
    return np.ascontiguousarray(np.swapaxes(image, 0, 1))
