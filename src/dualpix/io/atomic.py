"""Several output files that appear whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import TracebackType

from ..ending import forget, remember, remove, uninterrupted
from ..errors import OutputError
from ..files import given_path
from ..types import StrPath
from .locks import try_lock
from .parts import Part, name_beside, name_of_old, put_back, remove_dead, sync_folder

__all__ = ["OutputSet", "output_folder", "output_path", "remove"]

NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}  # a file system without them

_tidied: set[str] = set()  # folders where this process has removed dead parts


def output_path(path: object, name: str) -> str:
    """A path that a user gave as the argument `name`, as text.

    Raises
    ------
    OutputError
        If it is no path, or holds a zero byte.
    """
    return given_path(path, name, OutputError)


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

    The paths are checked at once. The data goes into temporary files (`Part`), which get their names at the end of the
    block, when the disk holds them. An error leaves everything as it was, and a signal waits until all is in place.
    Temporary files that killed runs left in the folders are removed when the block begins.

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
        Replace files that exist. The new ones have their mode, and their owner if the system permits that.
    roles
        How errors explain paths that the user did not name, such as ``{"map.json": "the sidecar of map.tiff"}``.
    folders
        Those of the paths that are folders, such as Zarr arrays.

    Raises
    ------
    OutputError
        At once if a folder is missing or not writable, a file exists without `force`, or a path is an input or named
        twice; later if writing fails, or if another process has written one of the files meanwhile.
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
        self._written: dict[str, Part] = {}  # by target
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
        for target in self._folders.intersection(self._targets.values()):
            put_back(target)
        self._check()

    def write(self, path: StrPath, data: bytes | memoryview) -> None:
        """Keep the data of one of the paths until the end of the ``with`` block."""
        with writing(path):
            self._part(path).write(data)

    def temporary(self, path: StrPath) -> str:
        """Return the name of a new file or folder, empty, that becomes one of the paths at the end of the block.

        It must be filled, not replaced.
        """
        with writing(path):
            return self._part(path).path

    def _part(self, path: StrPath) -> Part:
        target = self._targets[os.fspath(path)]
        if target in self._written:
            self._written.pop(target).close()
        part = self._written[target] = Part(target, _status(target), target in self._folders)
        return part

    def remove(self, path: StrPath) -> None:
        """Remove one of the paths at the end of the ``with`` block, if it exists."""
        self._removed.append(self._targets[os.fspath(path)])

    def __enter__(self) -> "OutputSet":
        for folder in {os.path.dirname(target) for target in self._targets.values()} - _tidied:
            remove_dead(folder)
            _tidied.add(folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._check()  # Check again, because the computation may have taken minutes.
                self._sync()
                with uninterrupted():
                    self._put_in_place()
        finally:
            with uninterrupted():
                for part in self._written.values():
                    part.close()

    def _sync(self) -> None:
        for target, part in self._written.items():
            with writing(target):
                part.sync()

    def _put_in_place(self) -> None:
        """Give all files their names. If that fails, undo it."""
        changes: list[_Change] = []
        try:
            for target, part in self._written.items():
                changes.append(_Change(target))
                changes[-1].put(part, self._force)
            for target in self._removed:
                changes.append(_Change(target))
                changes[-1].remove()
            for target in dict.fromkeys(map(os.path.dirname, (*self._written, *self._removed))):
                sync_folder(target)
        except OSError as error:
            for change in reversed(changes):
                change.undo()
            if isinstance(error, FileExistsError):
                self._check()  # says which
            raise OutputError(f"{target}: cannot be written: {error.strerror}") from error
        finally:
            for change in changes:
                change.end()

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
            raise OutputError(f"{self._name(path)} exists already: choose another name, or force=True to replace it")

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


class _Change:
    """A file or folder that is put in place or removed, and what was there before, until the whole set is in place."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._old: str | None = None  # the name of what was there
        self._is_new = False  # whether there was nothing
        self._lock: int | None = None  # of a folder that is replaced: tells that we live

    def put(self, part: Part, force: bool) -> None:
        """Give a part its name. Raises FileExistsError if something has that name, unless `force`."""
        old = _status(self._target)
        part.become_like(old)
        if force and old is not None:
            if stat.S_ISREG(old.st_mode):
                self._link_old()
            else:
                self._move_old_folder()
        part.ready()
        if force:
            os.replace(part.path, self._target)
        else:
            _rename_to_new(part.path, self._target)
        self._is_new = old is None

    def remove(self) -> None:
        """Remove what is there, if anything."""
        if os.path.lexists(self._target):
            old = name_beside(self._target)
            remember(old)
            os.rename(self._target, old)
            self._old = old

    def _link_old(self) -> None:
        """Give the file that is there a second name, so that it is never missing."""
        old = name_beside(self._target)
        remember(old)
        try:
            os.link(self._target, old)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            return  # it cannot be put back
        self._old = old

    def _move_old_folder(self) -> None:
        """Give the folder that is there another name. After a kill before the end, the next run puts it back."""
        old = name_of_old(self._target)
        with suppress(OSError):  # Windows opens no folders
            self._lock = os.open(self._target, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            try_lock(self._lock)
        os.rename(self._target, old)
        self._old = old

    def undo(self) -> None:
        with suppress(OSError):
            if self._is_new:
                remove(self._target)
            elif self._old and os.path.isdir(self._old) and os.path.lexists(self._target):
                new = name_beside(self._target)  # at no time is a half folder there
                remember(new)
                os.rename(self._target, new)
                os.rename(self._old, self._target)
                forget(new)
            elif self._old:
                os.replace(self._old, self._target)

    def end(self) -> None:
        if self._old is not None:
            forget(self._old)
        if self._lock is not None:
            os.close(self._lock)


def _rename_to_new(path: str, target: str) -> None:
    """Rename a file or folder to a name that nothing has; else raise FileExistsError."""
    if os.name == "nt" or os.path.isdir(path):
        try:
            os.rename(path, target)
        except OSError as error:
            if error.errno == errno.ENOTEMPTY:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
            raise
        return
    try:
        os.link(path, target)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.close(os.open(target, os.O_CREAT | os.O_EXCL))  # so that no other process takes the name
        try:
            os.replace(path, target)
        except OSError:
            os.remove(target)
            raise


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def is_inside(path: StrPath, folder: StrPath) -> bool:
    """Whether a path lies below a folder."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))


def _same(path: StrPath, other: StrPath) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:  # at least one does not exist yet
        return os.path.normcase(os.path.realpath(path)) == os.path.normcase(os.path.realpath(other))
