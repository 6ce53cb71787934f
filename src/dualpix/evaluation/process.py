"""Work in a separate Python process, which has its own memory and may crash without ending this one.

`call` runs a function in a new process. The functions at the end measure the memory of the present process.
"""

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TypeVar

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


class ProcessError(Exception):
    """A process that failed. The text says how it ended."""


def call(function: Callable[[Argument], Answer], argument: Argument) -> Answer:
    """Call a function in a new process and return its result.

    Parameters
    ----------
    function : callable
        Pickled by name, so it must be defined in a module. What it prints goes to stderr.
    argument : object
        Must be picklable, as must the result.

    Raises
    ------
    ProcessError
        If the process failed or gave no result.
    """
    task = pickle.dumps((function, argument, os.getpid()), 5)
    with TemporaryFile() as file:
        run(python("from dualpix.evaluation.process import main; main()"), task, file)
        file.seek(0)
        try:
            answer: Answer = pickle.load(file)
        except (EOFError, pickle.UnpicklingError):  # the function itself has ended the process
            raise ProcessError("its process ended without a result") from None
    return answer


def python(code: str, *arguments: str) -> list[str]:
    """The command that runs Python code in a new process with the import path of this one."""
    return [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}", *arguments]


def run(command: list[str], stdin: bytes = b"", stdout: IO[bytes] | None = None) -> None:
    """Run a command to its end. Its stderr is shown only if ``DUALPIX_DEBUG`` is 1.

    Output goes to files. With pipes, we would also wait for any process that the command leaves running.

    Raises
    ------
    ProcessError
        If its exit status is not 0.
    """
    with TemporaryFile() as stderr:
        done = subprocess.run(command, input=stdin, stdout=stdout or subprocess.DEVNULL, stderr=stderr, check=False)
        if os.environ.get("DUALPIX_DEBUG") == "1":
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


# ---- in the new process --------------------------------------------------------------------------


def main() -> None:
    """Read a pickled function and its argument from stdin, and write the pickled result to stdout."""
    with os.fdopen(os.dup(1), "wb") as answer:
        os.dup2(2, 1)  # what the function prints goes to stderr
        function, argument, parent = pickle.load(sys.stdin.buffer)
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
        pickle.dump(function(argument), answer)
    sys.stdout.flush()
    os._exit(0)  # does not wait for threads that the function has left running


def _end_with(parent: int) -> None:
    """End this process when its parent has ended."""
    while os.getppid() == parent:
        time.sleep(0.5)
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
