"""Pictures in memory, of whatever kind, as arrays that `as_image` takes: what is harmless is converted.

Encoded pictures (bytes, file objects) are decoded as files are. Pillow's pictures, arrays of other libraries, other
integers, and one or four channels are brought into the form HxW or HxWx3, uint8, uint16 or float.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..types import Image
from ._decoders import IMAGE_FORMATS
from ._format import UPRIGHT, reading
from ._reader import check_pixels, decode

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

__all__ = ["InMemory", "from_memory", "same_depth", "type_name"]

# Kinds of memory by DLPack's number: 1 is the CPU's; 3 and 11 are the CPU's, pinned for CUDA and ROCm.
_CPU_KINDS = (1, 3, 11)
_ORIENTATION = 0x0112  # the EXIF tag
_PLAIN_MODES = ("L", "RGB", "RGBA", "F", "I")  # Pillow's modes whose arrays are the pixels
_GREY_MODES = ("1", "LA", "La")
_FORMS = "HxW, HxWx1, HxWx3 or HxWx4"


class InMemory(NamedTuple):
    """A picture that was in memory. `narrowed`: its integers had a type that does not tell their depth."""

    pixels: Image
    orientation: int = UPRIGHT
    narrowed: bool = False


def from_memory(value: object, name: str) -> InMemory:
    """The pixels of a picture in memory, and its EXIF orientation: 1 unless the picture has another.

    Parameters
    ----------
    value
        bytes or a file object with an encoded picture; a picture of Pillow; an array, or anything with ``__array__``
        or ``__dlpack__``. An array may be HxW, HxWx1, HxWx3 or HxWx4. Alpha is dropped, as that of files is. Integers
        of other types become uint8 if no value exceeds 255, else uint16.
    name
        The argument that errors name.

    Raises
    ------
    InputError
        If it cannot be used. The sentence says what was given.
    """
    encoded = _encoded(value, name)
    if encoded is not None:
        info, stored = decode(encoded, name, IMAGE_FORMATS)
        return InMemory(stored, info.orientation)
    pillow = sys.modules.get("PIL.Image")  # whoever has such a picture has imported it
    if pillow and isinstance(value, pillow.Image):
        return _from_pillow(value, name)
    return _narrowed(_channels(_array(value, name), name), name)


def same_depth(*views: tuple[str, Image, bool]) -> None:
    """Refuse views whose integers were narrowed to different types: name, pixels, and whether they were narrowed.

    Each alone is clear, but together they may be one dark 16-bit pair of which one view stays below 256.
    """
    depths = {pixels.dtype for _, pixels, _ in views}
    if all(narrowed for _, _, narrowed in views) and depths == {np.dtype(np.uint8), np.dtype(np.uint16)}:
        dark = " and ".join(name for name, pixels, _ in views if pixels.dtype == np.uint8)
        raise InputError(
            f"{dark}: holds integers up to 255 and the other view larger ones, so it is not clear whether they have 8 "
            "or 16 bits: give uint8 or uint16 arrays"
        )


def type_name(value: object) -> str:
    """The type of a value as a user knows it, such as "torch.Tensor"."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


# ---- encoded pictures ----------------------------------------------------------------------------


def _encoded(value: object, name: str) -> bytes | None:
    """The bytes of an encoded picture; None if it is something else."""
    if isinstance(value, memoryview) and (value.ndim != 1 or value.itemsize != 1):
        return None  # an array
    if isinstance(value, bytes | bytearray | memoryview):
        data, empty = bytes(value), f"{name}: holds 0 bytes: give the bytes of an image file"
    elif callable(read := getattr(value, "read", None)):
        try:
            found = read()
        except (OSError, ValueError) as error:  # ValueError: it is closed
            raise InputError(f"{name}: the file object cannot be read ({error}): open it again") from error
        if not isinstance(found, bytes | bytearray):
            raise InputError(
                f"{name}: the file object {type_name(value)} gives {type_name(found)}: open it in binary mode ('rb')"
            )
        data, empty = bytes(found), f"{name}: the file object has no bytes left: seek(0) first"
    else:
        return None
    if not data:
        raise InputError(empty)
    return data


def _from_pillow(picture: PillowImage, name: str) -> InMemory:
    """The pixels as stored. Palettes and other colour models become RGB."""
    check_pixels(name, *picture.size)
    with reading(name):  # a picture that was opened is decoded now
        mode = picture.mode
        orientation = picture.getexif().get(_ORIENTATION, UPRIGHT)
        if mode in _GREY_MODES:
            picture = picture.convert("L")
        elif mode not in _PLAIN_MODES and not mode.startswith("I;16"):
            picture = picture.convert("RGB")
        found = _narrowed(_channels(np.asarray(picture), name), name)
    return found._replace(orientation=orientation if orientation in range(1, 9) else UPRIGHT)


# ---- arrays --------------------------------------------------------------------------------------


def _array(value: object, name: str) -> npt.NDArray[Any]:
    """The array behind a value."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise InputError(f"{name}: is a masked array, and a view has no holes: fill them, such as by .filled(0)")
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return _from_lists(value, name)
    has_array = any(hasattr(value, each) for each in ("__array__", "__array_interface__"))
    has_dlpack = hasattr(value, "__dlpack__")
    if not (has_array or has_dlpack or isinstance(value, memoryview)):
        raise InputError(f"{name}: is {_described(value)}: give a path, an array, or the bytes of an image file")
    far = has_dlpack and _kind_of_memory(value) not in _CPU_KINDS
    try:
        if far:
            return np.from_dlpack(value, device="cpu")  # type: ignore[arg-type, call-arg, unused-ignore]
        return np.from_dlpack(value) if has_dlpack and not has_array else np.asarray(value)  # type: ignore[arg-type, unused-ignore]
    except Exception as error:  # other libraries raise what they like
        where = " in the memory of a GPU" if far else ""
        out = "copy it to the CPU first, such as by .cpu() or .get()" if far else "give it as a NumPy array"
        raise InputError(
            f"{name}: is {_described(value)}{where}, which NumPy cannot read ({_line(error)}): {out}"
        ) from error


def _from_lists(value: list[Any] | tuple[Any, ...], name: str) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        raise InputError(f"{name}: has rows of different lengths: give an HxW or HxWx3 array") from None


def _kind_of_memory(value: Any) -> int:
    try:
        return int(value.__dlpack_device__()[0])
    except Exception:  # it has none: `from_dlpack` will say so
        return _CPU_KINDS[0]


def _channels(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    """HxW or HxWx3: one channel needs no third axis, and alpha is dropped."""
    if array.ndim == 3 and array.shape[2] == 1:
        return array[..., 0]
    if array.ndim == 3 and array.shape[2] == 4:
        return array[..., :3]
    if array.ndim == 2 or (array.ndim == 3 and array.shape[2] == 3):
        return array
    shape = f"{name}: is an array of shape {array.shape} and type {array.dtype}"
    if array.ndim == 3 and array.shape[0] in (1, 3, 4):
        raise InputError(f"{shape}, its channels first: move them to the end, such as by np.moveaxis(image, 0, -1)")
    if array.ndim == 4 and array.shape[0] == 1:
        raise InputError(f"{shape}, a batch of one: give the image in it, such as image[0]")
    raise InputError(f"{shape}: give {_FORMS}")


def _narrowed(array: npt.NDArray[Any], name: str) -> InMemory:
    """Other integers as uint8 if no value exceeds 255, else as uint16."""
    if array.dtype.kind == "u" and array.dtype.itemsize <= 2:  # of any byte order
        return InMemory(array.astype(array.dtype.newbyteorder("="), copy=False))
    if array.size == 0 or array.dtype.kind not in "iu":
        return InMemory(array)
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > 65535:
        raise InputError(
            f"{name}: holds {array.dtype} values from {low} to {high}: give 0 to 255, 0 to 65535, or float in [0, 1]"
        )
    return InMemory(array.astype(np.uint8 if high <= 255 else np.uint16), narrowed=True)


def _described(value: object) -> str:
    """Type and, if it tells them, shape and type of values."""
    if value is None:
        return "None"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    about = [f"shape {tuple(shape)}"] if isinstance(shape, tuple) else []
    about += [f"type {dtype}"] if dtype is not None else []
    kind = type_name(value)
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}" + (f" of {' and '.join(about)}" if about else "")


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
