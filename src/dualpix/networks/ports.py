"""The inputs and outputs of a network: what its file tells about them, together with the recipe."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import InputError, ParameterError
from .pieces import TILE
from .recipe import Recipe

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
CHANNELS = {"rgb": 3, "bgr": 3, "grey": 1}
ONE_INPUT = {"stacked": 2, "side-by-side": 1}  # views in the channels of the one input
RECIPE = "in the file beside it or after a ?"  # where a key is given


class Port(Protocol):
    """An input or output, as ONNX Runtime describes it. A size that is not fixed is None or a name."""

    name: str
    shape: list[Any]
    type: str


@dataclass(frozen=True)
class Ports:
    """How the views go in.

    Attributes
    ----------
    names : tuple of str
        Of the inputs.
    dtype : type
        Of their numbers.
    layout, axes, colour : str
        As in the recipe, but never ``auto``.
    fixed : (int or None, int or None)
        Height and width of a view, px, where the file fixes them.
    """

    names: tuple[str, ...]
    dtype: Any
    layout: str
    axes: str
    colour: str
    fixed: tuple[int | None, int | None]

    def inputs(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the network, from prepared views, HxWxC; `left` is the one that goes in first."""
        if self.layout == "two":
            arrays = [left, right]
        else:
            arrays = [np.concatenate((left, right), axis=2 if self.layout == "stacked" else 1)]
        order = (2, 0, 1) if self.axes == "nchw" else (0, 1, 2)
        return {
            name: np.ascontiguousarray(array.transpose(order)[None], self.dtype)
            for name, array in zip(self.names, arrays, strict=True)
        }


def ports_of(path: str, inputs: list[Any], outputs: list[Any], recipe: Recipe) -> Ports:
    """Fit the recipe to the inputs and outputs of a network.

    Raises
    ------
    InputError, ParameterError
        If the network does not take two views, or the recipe contradicts it or leaves something open.
    """
    layout = _layout(path, inputs, recipe)
    if not -len(outputs) <= recipe.output < len(outputs):
        raise ParameterError(
            f"output={recipe.output}, but {path} has {len(outputs)} output{'s' * (len(outputs) != 1)}, counted from 0"
        )
    if len({(_sizes(each), each.type) for each in inputs}) > 1:
        raise InputError(f"{path}: its inputs {_listed(inputs)} differ: export a network that takes two views")
    (first, *_) = inputs
    if first.type not in TYPES:
        raise InputError(f"{path}: takes {first.type}, not floating-point numbers: export it with float inputs")
    sizes = _sizes(first)
    if len(sizes) != 4 or sizes[0] not in (None, 1):
        raise InputError(
            f"{path}: takes {_listed(inputs)}: export it for one pair, with four axes such as 1 x 3 x H x W"
        )
    axes, channels = _axes(path, first, recipe, layout)
    colour = _colour(path, first, recipe, channels, layout)
    height, width = sizes[2:] if axes == "nchw" else sizes[1:3]
    if layout == "side-by-side" and width is not None:
        if width % 2:
            raise InputError(f"{path}: takes a width of {width}, not two views side by side: give another layout")
        width //= 2
    _check_tile(path, recipe, (height, width))
    names = tuple(each.name for each in inputs)
    return Ports(names, TYPES[first.type], layout, axes, colour, (height, width))


def _layout(path: str, inputs: list[Any], recipe: Recipe) -> str:
    if len(inputs) not in (1, 2):
        raise InputError(
            f"{path}: has {len(inputs)} inputs ({', '.join(each.name for each in inputs)}), not one or two for the "
            "views: export it with only the views as inputs"
        )
    if recipe.layout == "auto":
        if len(inputs) == 2:
            return "two"
        sizes = _sizes(inputs[0])
        if len(sizes) == 4 and {2, 6} & {sizes[1], sizes[3]}:
            return "stacked"
        raise InputError(f"{path}: has one input, {_listed(inputs)}: {_way_out(sizes, recipe.axes)}")
    if (recipe.layout == "two") != (len(inputs) == 2):
        found = f"{len(inputs)} input{'s' * (len(inputs) > 1)}, {_listed(inputs)}"
        remedy = "leave layout out" if len(inputs) == 2 else _way_out(_sizes(inputs[0]), recipe.axes)
        raise ParameterError(f"'layout={recipe.layout}', but {path} has {found}: {remedy}")
    return recipe.layout


def _way_out(sizes: tuple[int | None, ...], axes: str) -> str:
    """What can be done if the one input does not tell how it holds both views."""
    found = {size for order, size in zip(("nchw", "nhwc"), sizes[1::2], strict=False) if axes in ("auto", order)}
    fits = [layout for layout, views in ONE_INPUT.items() if found == {None} or found & _possible(views)]
    if len(sizes) != 4 or not fits:
        return "export it with an input for each view, or with the 2 or 6 channels of both"
    settings = " or ".join(f"'layout={layout}'" for layout in fits)
    return f"say how it holds both views, {settings}, {RECIPE}"


def _possible(views: int) -> set[int]:
    """The numbers of channels that so many views can have."""
    return {views * count for count in CHANNELS.values()}


def _axes(path: str, port: Port, recipe: Recipe, layout: str) -> tuple[str, int | None]:
    """The order of the axes and the number of channels, None if it is not fixed."""
    sizes, possible = _sizes(port), _possible(ONE_INPUT.get(layout, 1))
    found = {"nchw": sizes[1], "nhwc": sizes[3]}
    for axes, channels in found.items():
        if recipe.axes in ("auto", axes) and channels in possible:
            return axes, channels
    if any(channels is not None for axes, channels in found.items() if recipe.axes in ("auto", axes)):
        raise InputError(
            f"{path}: takes {_listed([port])}, where no axis has {' or '.join(map(str, sorted(possible)))} channels: "
            "give another layout or axes"
        )
    if recipe.axes == "auto":
        raise InputError(f"{path}: does not fix its channels, {_listed([port])}: give axes=nchw or axes=nhwc, {RECIPE}")
    return recipe.axes, None


def _colour(path: str, port: Port, recipe: Recipe, channels: int | None, layout: str) -> str:
    views = ONE_INPUT.get(layout, 1)
    colour = recipe.colour
    if colour == "auto":
        if channels is None:
            raise InputError(f"{path}: does not fix its channels, {_listed([port])}: give colour=rgb or grey, {RECIPE}")
        colour = "grey" if channels == views else "rgb"
    elif channels not in (None, views * CHANNELS[colour]):
        raise ParameterError(f"colour={colour}, but {path} takes {_listed([port])}, {channels} channels: change colour")
    for key in ("mean", "std"):
        if isinstance(getattr(recipe, key), tuple) and colour == "grey":
            raise ParameterError(f"{key} has three numbers, but {path} takes grey views: give one")
    return colour


def _check_tile(path: str, recipe: Recipe, fixed: tuple[int | None, int | None]) -> None:
    if recipe.tile != "auto" and any(side not in (None, recipe.tile) for side in fixed):
        raise ParameterError(f"tile={recipe.tile}, but {path} fixes its size, {_size(fixed)}: leave out tile")
    if recipe.tile != "auto" and int(recipe.tile) % recipe.multiple:
        raise ParameterError(f"tile={recipe.tile} is not a multiple of {recipe.multiple}, which {path} needs")
    side = min(each or (TILE if recipe.tile == "auto" else int(recipe.tile)) for each in fixed)
    if recipe.overlap != "auto" and int(recipe.overlap) > side // 2:
        raise ParameterError(f"{path}: overlap={recipe.overlap} is more than half a tile of {side} px: give less")


def _sizes(port: Port) -> tuple[int | None, ...]:
    """The shape of a port; None where it is not fixed."""
    return tuple(side if isinstance(side, int) and side > 0 else None for side in port.shape)


def _size(fixed: tuple[int | None, int | None]) -> str:
    height, width = (side or "any" for side in fixed)
    return f"{width}x{height}"


def _listed(ports: list[Any]) -> str:
    """The inputs in words, such as ``left (1 x 3 x H x W)``."""
    return ", ".join(f"{each.name} ({' x '.join(str(side or '?') for side in each.shape)})" for each in ports)
