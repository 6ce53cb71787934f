"""The methods of a comparison, by name: presets, baselines, a function or a network of the user."""

import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
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
from ..method import api
from ..networks import Network, open_network
from ..params import Params, preset, preset_names, resolve, unknown_name
from ..types import Map
from .outcomes import Scene

FILTERS = ("guided", "solver")
OFFERED = ("range", "guide", "threads")  # arguments that a function gets if it has them
ONNX = "onnx:"  # before the file of a network
SEARCHED = (-12.0, 12.0)  # px, the range that a function gets if the scene has none

APART = "a method runs in a process of its own: put the function into a file and give 'file:function'"

Found = tuple[Map, Map | None]  # disparity and confidence


@dataclass(frozen=True)
class Preset:
    """Our own method with these parameters. If the scene has a range, it replaces that of the parameters."""

    name: str
    params: Params

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, ready for JSON."""
        return self.params.to_dict()

    def prepare(self, threads: int) -> None:
        """Nothing must be done before the clock runs."""

    def run(self, scene: Scene, threads: int) -> Found:
        """Disparity and confidence of the left view."""
        params = self.params.replace(range=scene.range) if scene.range else self.params
        found = api.disparity(scene.left, scene.right, params, scene.guide, axis=scene.axis, threads=threads)
        return found.disparity, found.confidence


@dataclass(frozen=True)
class Function:
    """A function of the user, ``module:function``, called as ``function(left, right)``.

    The views differ along x. They are HxW or HxWx3 (RGB), uint8, uint16, or float32 in [0, 1]. The function returns a
    map of the left view, ``d = x_left - x_right`` in px, NaN where it has none; or that map and a confidence, 0 to 1.

    The function also gets each of these arguments if it has it: ``range``, the least and the greatest disparity in px;
    ``guide``, the image whose edges the map should follow, or None for the left view; ``threads``, the number of
    threads.
    """

    name: str
    module: str
    attribute: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The name of the function, a digest of its source, and its settings, ready for JSON."""
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
        """Import the function.

        Raises
        ------
        ParameterError
            If it cannot be imported or is not callable.
        """
        here = os.getcwd()
        if here not in sys.path:  # `python -m` looks there too
            sys.path.append(here)
        try:
            with redirect_stdout(sys.stderr):  # stdout is for results
                function = getattr(import_module(self.module), self.attribute)
        except (Exception, SystemExit) as error:  # importing runs the user's code
            raise ParameterError(
                f"method {self.name} cannot be imported ({type(error).__name__}: {error}): give module:function, on "
                "the Python path or in the current folder"
            ) from error
        if not callable(function):
            raise ParameterError(
                f"method {self.name} is not a function but {type(function).__name__}: give module:function"
            )
        return function  # type: ignore[no-any-return]

    def prepare(self, threads: int) -> None:
        """Import the function before the clock runs."""
        self.function()

    def run(self, scene: Scene, threads: int) -> Found:
        """Disparity of the left view and, if the function returns it, confidence."""
        if scene.axis == "y":
            return _run_along_x(self, scene, threads)
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
                f"shape of the views, {shape}"
            )
        return np.ascontiguousarray(array, np.float32)

    def _trusted(self, values: object, shape: tuple[int, ...]) -> Map:
        confidence = self._checked(values, shape)
        low, high = float(np.fmin.reduce(confidence, axis=None)), float(np.fmax.reduce(confidence, axis=None))
        if low < 0 or high > 1:
            raise InputError(f"method {self.name} returned a confidence of {low:g} to {high:g}: return 0 to 1")
        return confidence


@dataclass(frozen=True)
class Learned:
    """A network of the user, ``onnx:FILE.onnx``; see `dualpix.networks`."""

    name: str
    network: Network

    @property
    def parameters(self) -> dict[str, Any]:
        """A digest of the network, its recipe, and the version of ONNX Runtime, ready for JSON."""
        return self.network.parameters

    def prepare(self, threads: int) -> None:
        """Build the network before the clock runs."""
        self.network.prepare(threads)

    def run(self, scene: Scene, threads: int) -> Found:
        """Disparity of the left view."""
        if scene.axis == "y":
            return _run_along_x(self, scene, threads)
        return self.network.disparity(scene.left, scene.right, threads), None


Method = Preset | Function | Learned


def method(name: str) -> Method:
    """Find a method by its name.

    Parameters
    ----------
    name
        A preset such as ``auto``; a preset with a filter, such as ``auto+solver`` or ``auto+guided``; a baseline such
        as ``sgm``; ``package.module:function``, see `Function`; or ``onnx:FILE.onnx?KEY=VALUE&...``, see `Learned`.

    Raises
    ------
    ParameterError
        If there is no such method.
    InputError
        If a network cannot be used.
    """
    if not isinstance(name, str):
        raise ParameterError(_no_name(name))
    if name.startswith(ONNX):
        path, _, query = name.removeprefix(ONNX).partition("?")
        return Learned(name, open_network(path, query))
    _, renamed, network = name.partition(f"={ONNX}")
    if renamed:
        raise ParameterError(f"method {name}: NAME= is for dualpix reproduce only: give {ONNX}{network}")
    module, colon, attribute = name.partition(":")
    if module == "__main__":
        raise ParameterError(f"method {name}: {APART}")
    if colon:
        own = Function(name, module, attribute)
        own.function()
        return own
    base, plus, smoothing = name.partition("+")
    if base in preset_names():
        if not plus:
            return Preset(name, preset(base))
        if smoothing in FILTERS:
            return Preset(name, resolve(base, {"filter": smoothing}))
    if name in _baselines():
        return _baselines()[name]
    unknown = unknown_name("method", name, (*preset_names(), *_baselines()))
    raise ParameterError(
        f"{unknown}, a preset with +guided or +solver, or your own as package.module:function or onnx:FILE.onnx"
    )


def methods_of(given: Iterable[str | Method]) -> dict[str, Method]:
    """The methods of a comparison by name. Each may be given by its name.

    Raises
    ------
    ParameterError
        If it is no list, if it is empty, or if one of them is neither a method nor the name of one.
    """
    if isinstance(given, str | Method):
        name = given if isinstance(given, str) else given.name
        raise ParameterError(f"methods must be a list, not the single method {name}: give [{name!r}]")
    if not isinstance(given, Iterable):
        raise ParameterError(f"methods: {_no_name(given)}")
    found = [each if isinstance(each, Method) else method(each) for each in given]
    if not found:
        raise ParameterError("methods is empty: give at least one, such as 'auto'")
    return {each.name: each for each in found}


def files_of(methods: Iterable[Method]) -> list[str]:
    """The files that the methods read: networks and their recipes."""
    networks = [each.network for each in methods if isinstance(each, Learned)]
    return [file for each in networks for file in (each.path, str(Path(each.path).with_suffix(".toml")))]


def _no_name(given: object) -> str:
    """The sentence about what is no name of a method."""
    return APART if callable(given) else f"a method is a name such as 'auto', not {type(given).__name__}: give its name"


def _baselines() -> dict[str, Function]:
    functions = (name for name in baselines.__all__ if inspect.isfunction(getattr(baselines, name)))
    return {name.replace("_", "-"): Function(name.replace("_", "-"), baselines.__name__, name) for name in functions}


def _settings(function: str) -> dict[str, Any]:
    """The settings of a baseline beside its arguments."""
    settings = baselines.SETTINGS.get(function)
    return {"settings": settings} if settings else {}


def _arguments(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The arguments that can be given by name."""
    try:
        found = inspect.signature(function).parameters
    except ValueError:  # some functions written in C have no signature
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: each for name, each in found.items() if each.kind in named}


def _source_digest(module: str, function: Callable[..., Any]) -> str:
    """A digest of the Python files that the function is likely to use.

    It is part of the key of the cache, so that results are computed again when the code changes.
    """
    digest = blake2b(digest_size=8)
    for path in sorted(set(_sources(module, function))):
        with suppress(OSError):  # such as the lock file of an editor
            content = path.read_bytes()
            digest.update(os.fsencode(path.name) + b" %d " % len(content) + content)
    return digest.hexdigest()


def _sources(module: str, function: Callable[..., Any]) -> Iterator[Path]:
    """The files of the outermost package or, for a module without package, of its folder; and the function's file."""
    outermost = sys.modules[module.partition(".")[0]]
    for folder in getattr(outermost, "__path__", ()):
        yield from Path(folder).rglob("*.py")
    if not hasattr(outermost, "__path__") and (file := getattr(outermost, "__file__", None)):
        yield from (Path(file), *Path(file).parent.glob("*.py"))
    home = sys.modules.get(getattr(function, "__module__", None) or "")
    if file := getattr(home, "__file__", None):
        yield Path(file)


def _run_along_x(method: Function | Learned, scene: Scene, threads: int) -> Found:
    """Run a method that knows only x on a scene of axis y."""
    d, confidence = method.run(_along_x(scene), threads)
    return _turned(d), None if confidence is None else _turned(confidence)


def _along_x(scene: Scene) -> Scene:
    """A scene of axis y turned so that the views differ along x."""
    guide = None if scene.guide is None else _turned(scene.guide)
    return replace(scene, left=_turned(scene.left), right=_turned(scene.right), guide=guide, axis="x")


def _turned(image: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows and columns swapped."""
    return np.ascontiguousarray(np.swapaxes(image, 0, 1))
