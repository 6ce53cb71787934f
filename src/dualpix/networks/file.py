"""The file of a network: its size, the files that it refers to, and a digest of all of them.

An ONNX file is a protobuf message. Its tensors may keep their values in other files, named by the tensor. ONNX Runtime
opens them, so every such name is looked at before. The message is read for nothing else.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path, PurePosixPath, PureWindowsPath

from ..errors import InputError
from ..files import FileBytes

LARGEST = 2**31  # bytes of the file and all that it refers to; protobuf ends there
DEEPEST = 64  # messages inside each other
MOST_FILES = 1000
MOST_FIELDS = 1_000_000  # that are looked at, in about 1 s; DenseNet-121 has 25 thousand, 14 a node
WIDEST_TAG = 2**32 - 1  # C++ drops the bits above, and would find another field than this reader

_FIELDS: dict[str, dict[int, str]] = {  # the messages that lead to a tensor, by number of the field (onnx.proto)
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "function": {7: "node", 11: "attribute"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # how a field is stored


@dataclass(frozen=True, eq=False)
class NetworkFile:
    """The bytes of an ONNX file, the folder of its other files, and a digest of all of them."""

    path: str
    data: bytes
    folder: Path
    digest: str


def read_network(path: str) -> NetworkFile:
    """Read an ONNX file and check the files that it refers to: they must be in its folder.

    Raises
    ------
    InputError
        If it cannot be read, is too large, is no ONNX file, or refers to a file that is missing or elsewhere.
    """
    data = _read(path, path, LARGEST)
    try:
        names = set(_Reader().outside(memoryview(data)))
    except OverflowError:
        raise InputError(
            f"{path}: has more than {MOST_FIELDS} fields: export a network of fewer nodes, its tensors packed"
        ) from None
    except (ValueError, IndexError, RecursionError):
        raise InputError(f"{path}: is not an ONNX file, or is cut short: export the network again") from None
    if len(names) > MOST_FILES:
        raise InputError(f"{path}: refers to more than {MOST_FILES} files: export it with all tensors in one file")
    folder = Path(path).resolve().parent
    digest, left = blake2b(data, digest_size=16), LARGEST - len(data)
    for name in sorted(names):
        beside = _inside(path, folder, name)
        if not os.path.exists(beside):  # unlike Path.exists, it takes a name of any length
            shown = name if name.isprintable() else repr(name)
            raise InputError(f"{path}: its tensors are in {shown}, which is missing: put it beside")
        more = _read(path, beside, left)
        left -= len(more)
        digest.update(name.encode("utf-8", "surrogatepass") + more)
    return NetworkFile(path, data, folder, digest.hexdigest())


def _read(network: str, path: str | Path, most: int) -> bytes:
    try:
        file = FileBytes(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file: give the path of an ONNX network") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a null character
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({why}): give an ONNX network") from None
    if len(file) > most:
        raise InputError(f"{network}: has more than {LARGEST >> 30} GB with all its files: give a smaller network")
    return file[:]


def _inside(network: str, folder: Path, name: str) -> Path:
    """The file of that name in the folder of the network. Names that lead elsewhere, also by a link, are refused."""
    parts = {*PurePosixPath(name).parts, *PureWindowsPath(name).parts}
    odd = not name or ".." in parts or "*" in name or "\0" in name  # ONNX Runtime has a name with * for addresses
    if odd or PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor:
        raise _elsewhere(network, name)
    path = folder / name
    if not path.resolve().is_relative_to(folder):
        raise _elsewhere(network, name)
    return path


def _elsewhere(network: str, name: str) -> InputError:
    return InputError(
        f"{network}: keeps tensors in {name!r}, outside its folder: export it with all tensors in one file"
    )


# ---- protobuf --------------------------------------------------------------------------------------------


class _Reader:
    """Looks at the fields of one file, at most MOST_FIELDS of them."""

    def __init__(self) -> None:
        self.fields = 0

    def outside(self, data: memoryview) -> Iterator[str]:
        """The names of all files in which tensors keep their values.

        ValueError if there is no graph, OverflowError if there are too many fields.
        """
        if not any(field == 7 and isinstance(value, memoryview) for field, value in self._message(data)):
            raise ValueError
        yield from self._locations("model", data, 0)

    def _locations(self, kind: str, data: memoryview, depth: int) -> Iterator[str]:
        if depth > DEEPEST:
            raise ValueError
        for field, value in self._message(data):
            inner = _FIELDS[kind].get(field)
            if inner is None or not isinstance(value, memoryview):
                continue
            if inner == "entry":
                entry = {number: bytes(text) for number, text in self._message(value) if isinstance(text, memoryview)}
                if entry.get(1) == b"location":
                    yield entry.get(2, b"").decode("utf-8")
            else:
                yield from self._locations(inner, value, depth + 1)

    def _message(self, data: memoryview) -> Iterator[tuple[int, memoryview | None]]:
        """Number and bytes of every field; None for numbers."""
        at = 0
        while at < len(data):
            self.fields += 1
            if self.fields > MOST_FIELDS:
                raise OverflowError
            tag, at = _varint(data, at)
            if not 8 <= tag <= WIDEST_TAG:  # below 8 is field 0, which there is not
                raise ValueError
            if tag & 7 == _VARINT:
                _, at = _varint(data, at)
                yield tag >> 3, None
                continue
            if tag & 7 == _BYTES:
                size, at = _varint(data, at)
            elif tag & 7 in (_FIXED64, _FIXED32):
                size = 8 if tag & 7 == _FIXED64 else 4
            else:  # groups, which ONNX does not have
                raise ValueError
            if at + size > len(data):
                raise ValueError
            yield tag >> 3, data[at : at + size] if tag & 7 == _BYTES else None
            at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    if data[at] < 128:  # most are so short
        return data[at], at + 1
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError
