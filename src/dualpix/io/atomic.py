"""Several output files that appear whole or not at all."""

import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType

from ..errors import OutputError
from ..types import StrPath

__all__ = ["OutputSet", "output_folder"]


@contextmanager
def output_folder(path: StrPath) -> Iterator[None]:
    """Make a folder for outputs if it is missing. Remove it again if the block fails and the folder is empty.

    Raises
    ------
    OutputError
        If the folder cannot be made, or the path is not a folder.
    """
    made = not os.path.exists(path)
    try:
        if made:
            os.mkdir(path)
    except OSError as error:
        raise OutputError(f"{path}: this folder cannot be made ({error.strerror}): choose another place") from None
    if not os.path.isdir(path):
        raise OutputError(f"{path}: is not a folder: choose another place")
    try:
        yield
    except BaseException:
        if made:
            with suppress(OSError):
                os.rmdir(path)
        raise


class OutputSet:
    """Output files that appear together at the end, or not at all.

    The paths are checked at once. The data goes into temporary files, which are renamed at the end of the block.

    >>> with OutputSet(["map.tiff", "map.json"], inputs=["left.png", "right.png"]) as outputs:
    ...     ...  # compute
    ...     outputs.write("map.tiff", data)
    ...     outputs.write("map.json", text.encode())

    Parameters
    ----------
    paths
        All files that may be written.
    inputs
        Files that must not be overwritten.
    force
        Replace files that exist.
    roles
        How errors explain paths that the user did not name, such as ``{"map.json": "the sidecar of map.tiff"}``.
    folders
        Those of the paths that are folders, such as Zarr arrays.

    Raises
    ------
    OutputError
        At once if a folder is missing or not writable, a file exists without `force`, or a path is an input or named
        twice; later if writing fails. Existing files stay as they were, unless renaming fails half-way.
    """

    def __init__(
        self,
        paths: Iterable[StrPath],
        inputs: Iterable[StrPath] = (),
        force: bool = False,
        roles: Mapping[str, str] | None = None,
        folders: Iterable[StrPath] = (),
    ) -> None:
        self._force = force
        self._folders = {os.path.realpath(path) for path in folders}
        self._roles = roles or {}
        self._targets: dict[str, str] = {}
        self._written: dict[str, str] = {}  # target: temporary file
        self._removed: list[str] = []
        protected = list(inputs)
        for path in paths:
            if any(_same(path, other) for other in protected):
                raise OutputError(f"{self._name(path)} is an input and would be overwritten: choose another output")
            if os.path.realpath(path) in self._folders and any(is_inside(other, path) for other in protected):
                raise OutputError(f"{self._name(path)} holds inputs, which would be lost: choose another output")
            if any(_same(path, other) for other in self._targets):
                raise OutputError(f"{self._name(path)} is named for two outputs: choose two different files")
            self._targets[os.fspath(path)] = os.path.realpath(path)
        self._check()

    def write(self, path: StrPath, data: bytes | memoryview) -> None:
        """Keep the data of one of the paths until the end of the ``with`` block."""
        with writing(path), open(self.temporary(path), "xb") as file:
            file.write(data)

    def temporary(self, path: StrPath) -> str:
        """Return the name of a new file or folder that becomes one of the paths at the end of the ``with`` block."""
        target = self._targets[os.fspath(path)]
        temporary = os.path.join(os.path.dirname(target), f".dualpix-{secrets.token_hex(8)}.part")
        self._written[target] = temporary
        return temporary

    def remove(self, path: StrPath) -> None:
        """Remove one of the paths at the end of the ``with`` block, if it exists."""
        self._removed.append(self._targets[os.fspath(path)])

    def __enter__(self) -> "OutputSet":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._check()  # Check again, because the computation may have taken minutes.
                self._put_in_place()
        finally:
            for temporary in self._written.values():
                with suppress(OSError):
                    remove(temporary)

    def _put_in_place(self) -> None:
        for target, temporary in self._written.items():
            with writing(target):
                if os.path.isdir(temporary):
                    remove(target)  # only an empty folder could be replaced
                os.replace(temporary, target)
        for target in self._removed:
            try:
                os.remove(target)
            except FileNotFoundError:
                pass
            except OSError as error:
                raise OutputError(f"{target}: cannot be removed: {error.strerror}") from error

    def _check(self) -> None:
        for path, target in self._targets.items():
            folder = os.path.dirname(target)
            if not os.path.exists(folder):
                raise OutputError(f"{path}: the folder {folder} does not exist: create it first")
            if not os.path.isdir(folder):
                raise OutputError(f"{path}: {folder} is not a folder: choose another place")
            if not os.access(folder, os.W_OK | os.X_OK):
                raise OutputError(f"{path}: the folder {folder} is not writable: choose another place")
            self._check_existing(path, target)

    def _check_existing(self, path: str, target: str) -> None:
        try:
            mode = os.stat(target).st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
        if stat.S_ISDIR(mode) and target not in self._folders:
            raise OutputError(f"{self._name(path)} is a folder: add a file name")
        if not stat.S_ISREG(mode) and target not in self._folders:
            raise OutputError(f"{self._name(path)} is not a regular file: choose another output")
        if not self._force:
            raise OutputError(f"{self._name(path)} exists already: choose another name, or --force to replace it")

    def _name(self, path: StrPath) -> str:
        role = self._roles.get(os.fspath(path))
        return f"{path}, {role}," if role else f"{path}:"


@contextmanager
def writing(path: StrPath) -> Iterator[None]:
    """Turn what goes wrong with a file that is written into an OutputError that names it."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error


def remove(path: StrPath) -> None:
    """Remove a file, or a folder with all it holds. Nothing happens if it does not exist."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)


def is_inside(path: StrPath, folder: StrPath) -> bool:
    """Whether a path lies below a folder."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))


def _same(path: StrPath, other: StrPath) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:  # at least one does not exist yet
        return os.path.normcase(os.path.realpath(path)) == os.path.normcase(os.path.realpath(other))
