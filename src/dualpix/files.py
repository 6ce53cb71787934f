"""Files that a user gives: bytes that are read when they are used, text and JSON with limits.

Pipes and devices are refused, since reading them may never end.
"""

import errno
import json
import os
import stat
from io import FileIO
from typing import Any, overload

from .errors import DualpixError, InputError

StrPath = str | os.PathLike[str]

LONGEST_TEXT = 2**26  # bytes of a text file
DEEPEST = 64  # lists and objects of JSON inside each other
_BLOCK = 2**16  # bytes that are read at least


def given_path(path: object, name: str, error: type[DualpixError] = InputError) -> str:
    """A path that a user gave as the argument `name`, as text.

    Numbers are refused here: Python would take them for open files, and close them. So True would close stdout.

    Raises
    ------
    InputError or `error`
        If it is no path, or holds a zero byte.
    """
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise error(f"{name} must be a path, not {type(path).__name__}: give the name of a file")
    if "\0" in text:
        raise error(f"{text}: the path holds a zero byte, which no name of a file has: remove it")
    return text


def open_file(path: StrPath) -> FileIO:
    """Open an ordinary file.

    Raises
    ------
    InputError
        If it is no path.
    OSError
        If that fails, or the path is a pipe, a device or a folder.
    """
    return FileIO(given_path(path, "path"), "rb", opener=_opener)


def _opener(path: str, flags: int) -> int:
    # A pipe without a writer would block here.
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(mode):
            raise OSError(errno.ENOTSUP, "it is a pipe or a device, not a file")
    except BaseException:
        os.close(handle)
        raise
    return handle


class FileBytes:
    """The bytes of a file. A slice is read when it is used, so that a huge file is not loaded for its header.

    A mapped file would be the same, but if another program cuts it, reading it ends the process (SIGBUS). Here the
    slice is shorter.

    Attributes
    ----------
    file
        The open file, for libraries that read one.

    Raises
    ------
    OSError
        As `open_file`.
    """

    def __init__(self, path: StrPath) -> None:
        self.file = open_file(path)
        self._size = os.fstat(self.file.fileno()).st_size
        self._start, self._block = 0, b""

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, part: slice) -> bytes: ...
    @overload
    def __getitem__(self, part: int) -> int: ...
    def __getitem__(self, part: slice | int) -> bytes | int:
        if isinstance(part, int):
            return self[part : part + 1][0]
        start, stop, _ = part.indices(self._size)
        size = max(stop - start, 0)
        if size >= _BLOCK:
            return self._read(start, size)
        if not self._start <= start <= stop <= self._start + len(self._block):
            self._start, self._block = start, self._read(start, _BLOCK)
        return self._block[start - self._start :][:size]

    def _read(self, start: int, size: int) -> bytes:
        self.file.seek(start)
        data = self.file.read(size)
        while len(data) < size and (more := self.file.read(size - len(data))):  # one call reads 2 GB at most
            data += more
        return data

    def __del__(self) -> None:
        if hasattr(self, "file"):
            self.file.close()


def read_text(path: StrPath, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The text of a file.

    Raises
    ------
    OSError
        As `open_file`, or if the file is larger than 64 MB.
    UnicodeDecodeError
        If it is not text.
    """
    return read_bytes(path).decode(encoding, errors)


def read_bytes(path: StrPath) -> bytes:
    """The bytes of a text file.

    Raises
    ------
    OSError
        As `open_file`, or if the file is larger than 64 MB.
    """
    data = FileBytes(path)
    if len(data) > LONGEST_TEXT:
        raise OSError(errno.EFBIG, f"it has more than {LONGEST_TEXT >> 20} MB")
    return data[:]


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises
    ------
    ValueError
        If it is not JSON, a number is too long, or it is nested too deep.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deep") from None
    level = [value]
    for _ in range(DEEPEST):
        level = [item for each in level for item in _items(each)]
        if not level:
            return value
    raise ValueError("JSON is nested too deep")


def _items(value: Any) -> list[Any]:
    """The lists and objects in a list or an object."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in inside if isinstance(each, dict | list)]
