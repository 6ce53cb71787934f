"""Files that are not finished. A lock tells that the writer lives, and the name tells on which machine."""

import errno
import os
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path
from platform import node

from ..ending import forget, remember, remove, uninterrupted
from .locks import lock, try_lock

try:  # hashlib offers the same function, but it loads OpenSSL first
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

PREFIX, SUFFIX, OLD = ".dualpix-", ".part", ".old"
NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "beegfs", "gpfs", "virtiofs", "fuse.")
WINDOWS = os.name == "nt"


class Part:
    """A new file or folder that becomes an output. It is locked until it is closed, or its process ends.

    Parameters
    ----------
    target
        The output.
    like
        The file that will be replaced, if there is one. At no time can more people read the part than it.
    is_folder
        Whether the output is a folder.
    """

    def __init__(self, target: str, like: os.stat_result | None = None, is_folder: bool = False) -> None:
        self._is_folder = is_folder
        self._like = like
        self._file: int | None = None
        while self._file is None:
            self.path = name_beside(target)
            with uninterrupted():  # so that none appears while the process ends
                remember(self.path)
                try:
                    self._file = self._locked(0o777 if like is None else 0o700)
                except OSError:
                    forget(self.path)
                    raise

    def _locked(self, mode: int) -> int | None:
        """Make and lock the part. None if another run took it for dead before it was locked."""
        if self._is_folder:
            os.mkdir(self.path, mode)
            if WINDOWS:  # it opens no folders
                return -1
            try:
                file = os.open(self.path, os.O_RDONLY)
            except FileNotFoundError:
                return None
        else:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode & 0o666)
        if not WINDOWS:  # where an open file cannot be removed
            lock(file)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file), os.lstat(self.path)):
                return file
        os.close(file)
        return None

    def write(self, data: bytes | memoryview) -> None:
        """Write all of the file."""
        assert self._file is not None
        with open(self._file, "wb", closefd=False) as file:
            file.write(data)

    def sync(self) -> None:
        """Have the disk hold all of it, before it gets its name."""
        if not self._is_folder:
            assert self._file is not None
            _sync(self._file)
            return
        for place, _, names in os.walk(self.path):
            for name in names:
                with open(os.path.join(place, name), "r+b") as file:
                    _sync(file.fileno())
            sync_folder(place)

    def become_like(self, old: os.stat_result | None) -> None:
        """Take the mode of the file that is replaced, and its owner and group if the system permits that.

        If the group is another one, it may do no more than all others may. If the file has gone, what was known of it
        at the beginning counts.
        """
        old = old or self._like
        if WINDOWS or old is None:
            return
        for owner in ((old.st_uid, old.st_gid), (-1, old.st_gid)):
            try:
                os.chown(self.path, *owner)
                break
            except OSError:
                pass
        mode = old.st_mode & 0o777
        if os.stat(self.path).st_gid != old.st_gid:
            mode &= 0o707 | (mode & 0o007) << 3
        os.chmod(self.path, mode)

    def ready(self) -> None:
        """Make it ready to get its name. Windows does not rename open files."""
        if WINDOWS:
            self._release()

    def close(self) -> None:
        """Remove the part, unless it has got its name."""
        forget(self.path)
        self._release()

    def _release(self) -> None:
        if self._file is not None and self._file >= 0:
            os.close(self._file)
        self._file = None


def name_beside(target: str) -> str:
    """A new name for a part, in the folder of the output."""
    return os.path.join(os.path.dirname(target), f"{PREFIX}{_machine()}-{os.urandom(8).hex()}{SUFFIX}")


def name_of_old(target: str) -> str:
    """A new name for a folder that is replaced. It is no part, so nobody removes it while the output is missing."""
    return f"{_begin_of_old(target)}{os.urandom(8).hex()}{OLD}"


def _begin_of_old(target: str) -> str:
    folder, name = os.path.split(target)
    tag = blake2b(os.fsencode(name), digest_size=8).hexdigest()
    return os.path.join(folder, f"{PREFIX}{_machine()}-{tag}-")


def put_back(target: str) -> None:
    """If a run was killed while it replaced a folder: put the old one back, or remove it if the new one is there."""
    if WINDOWS:  # it does not tell whether the writer lives
        return
    folder, begin = os.path.split(_begin_of_old(target))
    with suppress(OSError):
        found = [name for name in os.listdir(folder) if name.startswith(begin) and name.endswith(OLD)]
        paths = [os.path.join(folder, name) for name in found]
        if paths and not _is_share(folder):
            for path in sorted(paths, key=os.path.getctime, reverse=True):  # the newest first
                _put_back_if_dead(path, target)


def _put_back_if_dead(path: str, target: str) -> None:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISDIR(os.fstat(file).st_mode) and try_lock(file):
            if os.path.lexists(target):
                remove(path)
            else:
                os.rename(path, target)
    finally:
        os.close(file)


def is_part(name: str) -> bool:
    """Whether a file's name is that of a part."""
    return name.startswith(PREFIX) and name.endswith(SUFFIX)


def remove_dead(folder: str) -> None:
    """Remove the parts in a folder whose writers on this machine have died, for example by kill -9.

    Parts of other machines and those on network shares stay, because nobody here knows whether their writers live.
    """
    ours = f"{PREFIX}{_machine()}-"
    try:
        found = [name for name in os.listdir(folder) if name.startswith(ours) and is_part(name)]
    except OSError:
        return
    if found and not _is_share(folder):
        for name in found:
            with suppress(OSError):
                _remove_if_dead(os.path.join(folder, name))


def _remove_if_dead(path: str) -> None:
    if WINDOWS:
        remove(path)  # fails if a writer has it open
        return
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        mode = os.fstat(file).st_mode
        if (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and try_lock(file):
            remove(path)
    finally:
        os.close(file)


def sync_folder(folder: str) -> None:
    """Have the disk hold the names in a folder."""
    if WINDOWS:
        return
    try:
        file = os.open(folder, os.O_RDONLY)
    except PermissionError:  # one may write there, but not look
        return
    try:
        _sync(file)
    finally:
        os.close(file)


def _sync(file: int) -> None:
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):  # a file system that cannot do it
            raise


@cache
def _machine() -> str:
    """A short tag of this machine."""
    identity = ""
    with suppress(OSError):
        identity = Path("/etc/machine-id").read_text(encoding="ascii", errors="replace")
    return blake2b(f"{node()} {identity}".encode(), digest_size=4).hexdigest()


def _is_share(folder: str) -> bool:
    """Whether a folder is on a network share, as far as the system tells."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    place, kind, longest = os.path.realpath(folder), "", -1
    for line in lines:
        mount, _, described = line.partition(" - ")
        point = mount.split()[4].encode(errors="surrogateescape").decode("unicode_escape").encode("latin-1")
        top = os.fsdecode(point).rstrip("/")
        if (place == top or place.startswith(top + "/")) and len(top) >= longest:
            kind, longest = described.split()[0], len(top)
    return kind.startswith(NETWORK)
