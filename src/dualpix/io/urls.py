"""Files behind URLs such as s3://bucket/name, through fsspec. A path is a path here, too, and file:// is one."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple, TypeVar
from urllib.request import url2pathname

from ..errors import DualpixError, InputError, OutputError
from ..files import read_bytes
from ..types import StrPath
from ._extra import missing
from ._limit import max_pixels
from .atomic import writing

Answer = TypeVar("Answer")

# Stores that take a file whole or not at all: one put is atomic.
ATOMIC = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "memory")
BYTES = 24  # a pixel: two views of three float32 channels; no file that we read has more
PAUSES = (1.0, 3.0)  # s before the second and the third try
_PIECE = 1 << 20  # bytes copied at once
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # one letter is a drive of Windows
_SERVER = re.compile(r"[^:]+://[^/]*")  # the scheme and a server, bucket or folder
_PACKAGES = {"s3": "s3", "s3a": "s3"}  # extras by scheme


# ---- names ---------------------------------------------------------------------------------------


def is_url(path: StrPath) -> bool:
    """Whether it is a URL. One of file:// is a path."""
    return scheme(path) not in ("", "file")


def scheme(path: StrPath) -> str:
    """The scheme of a URL in lower case; empty for a path."""
    found = _SCHEME.match(os.fspath(path))
    return found[1].lower() if found else ""


def plain(path: StrPath) -> str:
    """A path, or a URL as its file system spells it. file:///a/b becomes /a/b.

    Raises
    ------
    InputError
        If nothing can read such a URL.
    """
    text = os.fspath(path)
    if scheme(text) == "file":
        rest = text[len("file://") :]
        rest = rest.removeprefix("localhost")
        if not rest.startswith("/"):
            raise InputError(f"{text}: a file:// URL begins with file:///: write it so, or give the path")
        return url2pathname(rest)
    return _Place.of(text).url if is_url(text) else text


def absolute(path: StrPath) -> str:
    """An absolute path, or a URL."""
    text = plain(path)
    return text if is_url(text) else os.path.abspath(text)


def joined(folder: str, name: str) -> str:
    """The path or URL of a name in a folder. A name that is absolute stays as it is."""
    if is_url(name) or scheme(name) == "file" or not is_url(folder):
        return plain(name) if scheme(name) else os.path.join(folder, name)
    return name if os.path.isabs(name) else f"{folder.rstrip('/')}/{name}"


def parent(path: str) -> str:
    """The folder that a file is in."""
    return path.rpartition("/")[0] if is_url(path) else os.path.dirname(path)


def base_name(path: str) -> str:
    """The last part of a path or URL."""
    return path.rpartition("/")[2] if is_url(path) else os.path.basename(path)


def common(folders: list[str]) -> str | None:
    """The folder that all folders are in; None if there is none."""
    if not folders or len(set(map(scheme, folders))) > 1:
        return None
    if not is_url(folders[0]):
        return os.path.commonpath(folders)
    parts = zip(*(folder.rstrip("/").split("/") for folder in folders), strict=False)
    return "/".join(each[0] for each in takewhile(lambda each: len(set(each)) == 1, parts))


def relative(path: str, folder: str) -> str:
    """The path or URL as seen from a folder."""
    if is_url(path) != is_url(folder):
        return path
    return path.removeprefix(folder.rstrip("/") + "/") if is_url(path) else os.path.relpath(path, folder)


# ---- reading and writing -------------------------------------------------------------------------


def fetch(url: str, path: StrPath) -> None:
    """Copy a file behind a URL to a path. Its size is checked first.

    Raises
    ------
    InputError
        If there is no such file, if it cannot be read, or if it is too large.
    OutputError
        If the copy cannot be written.
    """
    place, limit = _Place.of(url), BYTES * max_pixels()

    def copy() -> None:
        with place.fs.open(place.path, "rb") as source, open(path, "wb", buffering=0) as target:
            size = getattr(source, "size", None) or 0
            while size <= limit and (piece := source.read(_PIECE)):
                with writing(path):
                    target.write(piece)
                size = max(size, target.tell())
        if size > limit:
            raise InputError(f"{url}: has {size} bytes or more, over the limit of {limit}: set DUALPIX_MAX_PIXELS")

    with _reading(url):
        _tried(copy)


def read(path: str) -> bytes:
    """The content of a small file.

    Raises
    ------
    FileNotFoundError
        If there is none.
    InputError, OSError
        If it cannot be read; InputError for a URL. A path may hold 64 MB at most.
    """
    if not is_url(path):
        return read_bytes(path)
    place = _Place.of(path)
    with _reading(path, known=(FileNotFoundError,)):
        try:
            return bytes(_tried(lambda: place.fs.cat_file(place.path)))
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None


def put(url: str, data: bytes | bytearray | memoryview) -> None:
    """Write a file behind a URL, whole or not at all.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    place = _Place.of(url)
    with _writing(url):
        _tried(lambda: place.fs.pipe_file(place.path, bytes(data)))


def remove(url: str) -> None:
    """Remove a file behind a URL, if it is there."""
    place = _Place.of(url)
    with _writing(url), suppress(FileNotFoundError):
        _tried(lambda: place.fs.rm_file(place.path))


def is_file(url: str) -> bool:
    """Whether there is a file behind a URL."""
    place = _Place.of(url)
    with _reading(url):
        return bool(_tried(lambda: place.fs.isfile(place.path)))


def files_below(url: str, depth: int | None = None) -> list[str]:
    """The URLs of all files in a folder and in those in it, sorted. Empty if there is no such folder."""
    place = _Place.of(url)
    with _reading(url):
        found = _tried(lambda: place.fs.find(place.path, maxdepth=depth))
        place.fs.invalidate_cache()  # files come and go
    return sorted(url for each in found if (url := place.fs.unstrip_protocol(each)) != place.url)


def matching(pattern: str) -> list[str]:
    """The URLs of all files that match a pattern, sorted."""
    place = _Place.of(pattern)
    with _reading(pattern):
        found = _tried(lambda: place.fs.glob(place.path, detail=True))
        place.fs.invalidate_cache()
    return sorted(place.fs.unstrip_protocol(name) for name, told in found.items() if told["type"] == "file")


def check_writable(url: str) -> None:
    """Refuse a URL where a file may appear in part.

    Raises
    ------
    OutputError
        It names stores that take files whole.
    """
    if scheme(url) not in ATOMIC:
        kinds = ", ".join(f"{each}://" for each in ("s3", "gs", "az"))
        raise OutputError(f"{url}: {scheme(url)}:// may keep a file in part: write to {kinds} or a path")
    _Place.of(url)


# ---- the file system -----------------------------------------------------------------------------


class _Place(NamedTuple):
    """A file system of fsspec, and a path in it."""

    fs: Any
    path: str

    @classmethod
    def of(cls, url: str) -> _Place:
        fs = _file_system(_SERVER.match(url)[0])  # type: ignore[index]
        path = fs._strip_protocol(url)
        if not path.strip("/"):
            raise InputError(f"{url}: names no folder or file: add its path")
        return cls(fs, path)

    @property
    def url(self) -> str:
        """The URL as the file system spells it."""
        return str(self.fs.unstrip_protocol(self.path)).rstrip("/")


@cache
def _file_system(server: str) -> Any:
    """The file system behind a URL that has no path. It is found once, because a batch may have a million URLs."""
    if missing("fsspec"):
        raise InputError(f"{server}: URLs need fsspec: pip install 'dualpix[cluster]'")
    from fsspec.core import url_to_fs

    try:
        return url_to_fs(server)[0]
    except ImportError as error:
        extra = _PACKAGES.get(scheme(server))
        way = f"pip install 'dualpix[{extra}]'" if extra else f"install what fsspec needs for it ({error})"
        raise InputError(f"{server}: {scheme(server)}:// needs another package: {way}") from None
    except Exception as error:  # what the file systems raise differs
        raise InputError(f"{server}: is no URL that fsspec can use ({_said(error)}): check it") from None


def _tried(act: Callable[[], Answer]) -> Answer:
    """What a function returns. If the network or the store fails, it is called again."""
    for pause in PAUSES:
        try:
            return act()
        except (DualpixError, FileNotFoundError, PermissionError):
            raise
        except Exception:  # what the file systems raise differs
            time.sleep(pause)
    return act()


@contextmanager
def _reading(url: str, known: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn what file systems raise into sentences, except for errors that are `known`."""
    try:
        yield
    except (DualpixError, *known):  # type: ignore[misc]
        raise
    except FileNotFoundError:
        raise InputError(f"{url}: no such file: check the URL") from None
    except Exception as error:
        raise InputError(f"{url}: cannot be read ({_said(error)}): check the URL and your credentials") from error


@contextmanager
def _writing(url: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise OutputError(f"{url}: cannot be written ({_said(error)}): check the URL and your credentials") from error


def _said(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
