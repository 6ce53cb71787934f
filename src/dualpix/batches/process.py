"""Work in a separate Python process, which has its own memory and may crash without ending this one.

`call` runs a function in a new process. A `Worker` is a process that runs many functions, one after another. The
functions at the end measure the memory of the present process.
"""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection
from contextlib import nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryFile
from types import FrameType
from typing import IO, Any, TypeVar

from ..ending import remove_leftovers

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


GRACE = 0.3  # s that a process has to put files in place and to remove temporary ones
KILLED = 5.0  # s until a killed process has ended; after them, something is wrong with the disk

_MAIN = "from dualpix.batches.process import main; main()"


class ProcessError(Exception):
    """A process that failed. The text says how it ended."""


def call(function: Callable[[Argument], Answer], argument: Argument, prints: IO[bytes] | None = None) -> Answer:
    """Call a function in a new process and return its result.

    Parameters
    ----------
    function : callable
        Pickled by name, so it must be defined in a module.
    argument : object
        Must be picklable, as must the result.
    prints : file, optional
        Gets all that the function prints; see `run`.

    Raises
    ------
    ProcessError
        If the process failed or gave no result.
    """
    task = pickle.dumps((function, argument, os.getpid()), 5)
    with TemporaryFile() as file:
        run(python(_MAIN), task, file, prints)
        file.seek(0)
        try:
            answer: Answer = pickle.load(file)  # a file without a name, written by our own process  # nosec B301
        except (EOFError, pickle.UnpicklingError):  # the function itself has ended the process
            raise ProcessError("its process ended without a result") from None
    return answer


class Worker:
    """A process that runs one function after another.

    Parameters
    ----------
    shared
        File descriptors that stay open in the process, such as that of a lock. Nothing else is inherited.
    """

    def __init__(self, shared: Collection[int] = ()) -> None:
        quiet = None if _debugging() else subprocess.DEVNULL
        pipe = subprocess.PIPE
        self._calling = threading.RLock()  # held while the pipes are used: a pipe that is read must not be closed
        try:
            self._process = subprocess.Popen(
                python(_MAIN), stdin=pipe, stdout=pipe, stderr=quiet, pass_fds=tuple(shared)
            )
        except OSError as error:
            raise ProcessError(f"its process cannot start ({error.strerror})") from None

    def call(self, function: Callable[[Argument], Answer], argument: Argument) -> Answer:
        """Call a function in the process; see `call`. After a ProcessError the worker is of no more use."""
        into, out = self._process.stdin, self._process.stdout
        assert into is not None
        assert out is not None
        with self._calling:
            try:
                into.write(pickle.dumps((function, argument, os.getpid()), 5))
                into.flush()
                answer: Answer = pickle.load(out)  # a pipe from our own process  # nosec B301
            except (OSError, EOFError, pickle.UnpicklingError):
                self._kill_after(GRACE)  # it is ending; or it is alive, but does not answer
                code = self._process.returncode
                how = "does not end" if code is None else f"ended with {exit_status(code)}"
                raise ProcessError(f"its process {how}") from None
        return answer

    def ask_to_end(self) -> None:
        """Let the process finish what it puts in place, remove its temporary files, and end. Does not wait."""
        self._process.terminate()

    def stop(self, grace: float) -> None:
        """Ask the process to end, and kill it after some seconds; also from another thread than that of `call`."""
        self.ask_to_end()
        self._kill_after(grace)

    def _kill_after(self, grace: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(grace)
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(KILLED)

    def end(self) -> None:
        """Stop the process, and close the pipes. This waits until `call` has ended in another thread."""
        self.stop(GRACE)
        for pipe in (self._process.stdin, self._process.stdout):
            with self._calling, suppress(OSError):  # the process has not read everything
                if pipe:
                    pipe.close()


def python(code: str, *arguments: str) -> list[str]:
    """The command that runs Python code in a new process with the import path of this one."""
    return [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}", *arguments]


def run(
    command: list[str], stdin: bytes = b"", stdout: IO[bytes] | None = None, prints: IO[bytes] | None = None
) -> None:
    """Run a command to its end. Its stderr goes to the file `prints`, and is shown only if ``DUALPIX_DEBUG`` is 1.

    Output goes to files. With pipes, we would also wait for any process that the command leaves running.

    Raises
    ------
    ProcessError
        If its exit status is not 0.
    """
    with nullcontext(prints) if prints else TemporaryFile() as stderr:
        done = subprocess.run(command, input=stdin, stdout=stdout or subprocess.DEVNULL, stderr=stderr, check=False)
        if _debugging():
            stderr.seek(0)
            sys.stderr.write(stderr.read().decode(errors="replace"))
    if done.returncode:
        raise ProcessError(f"its process ended with {exit_status(done.returncode)}")


def exit_status(code: int) -> str:
    """How a process ended, in words. A negative code is the number of a signal."""
    if code >= 0:
        return f"exit status {code}"
    kind = signal.Signals(-code).name if -code in {*signal.Signals} else f"signal {-code}"
    return kind + ", perhaps out of memory" * (kind == "SIGKILL")


def _debugging() -> bool:
    return os.environ.get("DUALPIX_DEBUG") == "1"


# ---- in the new process --------------------------------------------------------------------------


def main() -> None:
    """Read pickled functions and their arguments from stdin, and write the pickled results to stdout."""
    signal.signal(signal.SIGTERM, _end_tidily)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what a function prints goes to stderr
        watch: threading.Thread | None = None
        while (task := _next_task()) is not None:
            function, argument, parent = task
            if watch is None:
                watch = threading.Thread(target=_end_with, args=(parent,), daemon=True)
                watch.start()
            pickle.dump(function(argument), answers)
            answers.flush()
    sys.stdout.flush()
    os._exit(0)  # does not wait for threads that a function has left running


def _next_task() -> tuple[Callable[[Any], Any], Any, int] | None:
    try:
        task: tuple[Callable[[Any], Any], Any, int] = pickle.load(sys.stdin.buffer)  # from our parent  # nosec B301
    except EOFError:
        return None
    return task


def _end_tidily(number: int, frame: FrameType | None) -> None:
    """Leave nothing behind, and end by the signal."""
    remove_leftovers(ending=True)
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _end_with(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
    remove_leftovers(ending=True)
    os._exit(1)


# ---- memory --------------------------------------------------------------------------------------


def peak_megabytes() -> float:
    """The peak memory of this process so far, or since `forget_peak`; NaN if the system does not report it."""
    with suppress(OSError):
        return int(re.findall(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[0]) / 1024
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def forget_peak() -> None:
    """Begin a new measurement of the peak. Has an effect on Linux only."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
