"""A network on a pair: checked once, then run on whole views or on tiles."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..io import read_pair
from ..io._extra import missing
from ..method.grey import LUMA, PLAIN, grey_plane
from ..opencv import opencv
from ..run import thread_count
from ..types import Image, Map, Shape, StrPath, full_scale
from .file import NetworkFile, read_network
from .pieces import OVERLAP, TILE, WHOLE, Window, blended
from .ports import Ports, ports_of
from .reasons import reason, too_new
from .recipe import Recipe, recipe_of

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Network:
    """A network that is known to take two views. It can be pickled; another process reads the file again.

    Attributes
    ----------
    path : str
        The ONNX file.
    recipe : Recipe
    digest : str
        Of the file and of all that it refers to.
    """

    path: str
    recipe: Recipe
    digest: str

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything that a map depends on beside the views, ready for JSON."""
        import onnxruntime

        return {"network": self.digest, "recipe": self.recipe.to_dict(), "onnxruntime": onnxruntime.__version__}

    def prepare(self, threads: int) -> None:
        """Read the file and build the network for that many threads, so that the first map takes no longer."""
        _built(self, threads)

    def disparity(self, left: Image | StrPath, right: Image | StrPath, threads: int | None = None) -> Map:
        """The map of the left view, ``d = x_left - x_right`` in px, dense and finite.

        Parameters
        ----------
        left, right
            Arrays or paths, as for `dualpix.disparity`. They differ along x.
        threads
            As for `dualpix.disparity`. The last digits of a map may depend on it.

        Raises
        ------
        InputError
            If a view cannot be used, the network cannot take views of this size, or its output is no map.
        """
        threads = thread_count(threads)
        pair = read_pair(left, right)
        own = pair.left.shape[:2]
        views = [self._resized(view) for view in (pair.left, pair.right)]
        if self.recipe.first == "right":
            views.reverse()
        shape = views[0].shape[:2]
        ports, run = _built(self, threads)
        tile, overlap = self._tiling(shape, ports.fixed)

        def piece(window: Window) -> Map:
            return self._piece(window, views, ports, run, threads)

        d = blended((shape[0], shape[1]), tile, overlap, piece)
        if shape == own:
            return d
        cv2 = opencv()

        # Pixels are shape/own as wide, so disparities are own/shape as large.
        return np.asarray(cv2.resize(d, own[::-1], interpolation=cv2.INTER_LINEAR)) * np.float32(own[1] / shape[1])

    def _resized(self, view: Image) -> Image:
        cv2 = opencv()

        height, width = view.shape[:2]
        if not isinstance(self.recipe.width, int) or self.recipe.width == width:
            return view
        size = self.recipe.width, max(round(height * self.recipe.width / width), 1)
        kind = cv2.INTER_AREA if self.recipe.width < width else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(view, size, interpolation=kind))

    def _tiling(self, shape: Shape, fixed: tuple[int | None, int | None]) -> tuple[tuple[int, int], tuple[int, int]]:
        """Height and width of the tiles, and how far they overlap."""
        recipe = self.recipe
        if isinstance(recipe.tile, int):
            limits = (recipe.tile, recipe.tile)
        elif math.prod(shape[:2]) > WHOLE:
            limits = (_rounded_up(TILE, recipe.multiple),) * 2
        else:
            limits = (shape[0], shape[1])
        tile = fixed[0] or limits[0], fixed[1] or limits[1]
        if isinstance(recipe.overlap, int):
            return tile, (recipe.overlap, recipe.overlap)
        return tile, (min(OVERLAP, tile[0] // 4), min(OVERLAP, tile[1] // 4))

    def _piece(
        self, window: Window, views: list[Image], ports: Ports, run: Callable[[dict[str, Array]], Array], threads: int
    ) -> Map:
        """The map of one piece: cut, padded to what the network takes, run, and cropped again."""
        cut = [np.ascontiguousarray(view[window]) for view in views]
        height, width = cut[0].shape[:2]
        padded = tuple(
            side or _rounded_up(own, self.recipe.multiple)
            for side, own in zip(ports.fixed, (height, width), strict=True)
        )
        room = ((0, padded[0] - height), (0, padded[1] - width), (0, 0))
        # x = (white I - mean) / std
        ready = [np.pad(self._normalised(view, ports.colour, threads), room, mode="reflect") for view in cut]
        y = self._map(run(ports.inputs(*ready)), ports.axes, padded)
        d: Map = (self.recipe.gain * y[:height, :width] + self.recipe.offset).astype(np.float32)
        return d

    def _normalised(self, view: Image, colour: str, threads: int) -> Array:
        """A view as the network takes it, HxWxC float32."""
        if colour == "grey":
            unit = grey_plane(view, LUMA, PLAIN, threads)[..., None] / np.float32(255)
        else:
            unit = (view if view.ndim == 3 else view[..., None]).astype(np.float32) / np.float32(full_scale(view.dtype))
            unit = np.broadcast_to(unit, (*view.shape[:2], 3))[..., :: -1 if colour == "bgr" else 1]
        white, mean, std = (np.asarray(getattr(self.recipe, key), np.float32) for key in ("white", "mean", "std"))
        return np.asarray((white * unit - mean) / std)

    def _map(self, y: Array, axes: str, padded: Shape) -> Array:
        """The map in the output of a network, of the size of its input."""
        cv2 = opencv()

        shape = y.shape
        if y.dtype.kind != "f":
            raise InputError(f"{self.path}: output {self.recipe.output} is {y.dtype}, not a map: choose another output")
        if y.ndim == 4 and shape[0] == 1:
            y = np.moveaxis(y[0], 0 if axes == "nchw" else 2, 0)
            if not -len(y) <= self.recipe.channel < len(y):
                raise InputError(
                    f"{self.path}: its output has {len(y)} channel{'s' * (len(y) != 1)}, counted from 0: channel="
                    f"{self.recipe.channel} is none of them"
                )
            y = y[self.recipe.channel]
        elif y.ndim == 3 and shape[0] == 1:
            y = y[0]
        factor = padded[0] // max(y.shape[0], 1) if y.ndim == 2 else 0
        if y.ndim != 2 or factor < 1 or (y.shape[0] * factor, y.shape[1] * factor) != padded:
            raise InputError(
                f"{self.path}: gave {' x '.join(map(str, shape))} for views of {padded[1]}x{padded[0]}: choose another "
                "output or layout, or the multiple that the network needs"
            )
        if not (known := np.isfinite(y)).all():  # no number: the sentence is told once for all scenes
            which = "some" if known.any() else "all"
            raise InputError(f"{self.path}: gave NaN or infinity in {which} pixels: check white, mean and std")
        y = y.astype(np.float32)
        return y if factor == 1 else np.asarray(cv2.resize(y, padded[::-1], interpolation=cv2.INTER_LINEAR))


def open_network(path: StrPath, query: str = "", **settings: Any) -> Network:
    """Check the file of a network, and that its recipe fits.

    Parameters
    ----------
    path
        The ONNX file. A TOML file of the same name beside it is its recipe.
    query
        More keys of the recipe, ``key=value`` joined by ``&``.
    settings
        More keys of the recipe; see `Recipe`.

    Raises
    ------
    InputError
        If the extra ``onnx`` is missing, the file cannot be used, or it is no network of two views.
    ParameterError
        If a key is unknown, or has a value that does not fit.
    """
    if missing("onnxruntime"):
        raise InputError(f"{path}: ONNX Runtime is not installed: pip install 'dualpix[onnx]'")
    recipe = recipe_of(str(path), query, settings)
    file = read_network(str(path))
    session = _session(file, 1, plain=True)
    ports_of(str(path), session.get_inputs(), session.get_outputs(), recipe)
    return Network(str(Path(path).absolute()), recipe, file.digest)


@lru_cache(maxsize=1)
def _built(network: Network, threads: int) -> tuple[Ports, Callable[[dict[str, Array]], Array]]:
    """The ports of a network, and the function that returns its output."""
    file = read_network(network.path)
    if file.digest != network.digest:
        raise InputError(f"{network.path}: has changed since it was checked: start again")
    session = _session(file, threads)
    outputs = session.get_outputs()
    ports = ports_of(network.path, session.get_inputs(), outputs, network.recipe)
    name = outputs[network.recipe.output].name

    def run(inputs: dict[str, Array]) -> Array:
        try:
            (output,) = session.run([name], inputs)
        except Exception as error:  # each of ONNX Runtime's errors is a class of its own, right below Exception
            size = " and ".join("x".join(map(str, each.shape)) for each in inputs.values())
            raise InputError(
                f"{network.path}: fails for inputs of {size} ({reason(error)}): give the multiple that it needs, or a "
                "smaller tile"
            ) from None
        return np.asarray(output)

    return ports, run


def _session(file: NetworkFile, threads: int, plain: bool = False) -> Any:
    """The network in ONNX Runtime, on the processor. With `plain` nothing is optimised, thus nothing is computed."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised, too
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.use_deterministic_compute = True
    options.add_session_config_entry("session.load_model_format", "ONNX")
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(file.folder))
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        # Without a fallback, since trying again would print.
        return onnxruntime.InferenceSession(file.data, options, ["CPUExecutionProvider"], enable_fallback=0)
    except Exception as error:  # as above
        why = too_new(error) or (
            f"ONNX Runtime cannot use it ({reason(error)}): export the network again, or give another"
        )
        raise InputError(f"{file.path}: {why}") from None


def _rounded_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
