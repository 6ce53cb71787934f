"""Work in a process of its own: its answer, and what is said if it fails."""

import atexit
import os
import sys
import time

import numpy as np
import pytest

from dualpix.batches import process


def twice(argument):
    """What runs in the other process: it prints, and knows its own number."""
    print("printed")
    return 2 * argument, os.getpid()


def divided(argument):
    return 1 / argument


def leave(code):
    os._exit(code)


def test_a_call_returns_what_the_function_returns():
    argument = np.arange(5.0)
    answer, pid = process.call(twice, argument)
    np.testing.assert_array_equal(answer, 2 * argument)
    assert pid != os.getpid()


@pytest.mark.parametrize(("debug", "says"), [("1", "printed\n"), ("0", "")])
def test_what_the_process_prints_is_shown_on_request_only(monkeypatch, capfd, debug, says):
    monkeypatch.setenv("DUALPIX_DEBUG", debug)
    process.call(twice, 1)
    assert capfd.readouterr() == ("", says)


@pytest.mark.parametrize(
    ("function", "argument", "says"),
    [
        (divided, 0, "its process ended with exit status 1"),
        (leave, 7, "its process ended with exit status 7"),
        (leave, 0, "its process ended without a result"),
    ],
)
def test_a_process_without_an_answer_says_how_it_ended(function, argument, says):
    with pytest.raises(process.ProcessError, match=says):
        process.call(function, argument)


def end_late(code):
    """Close the pipe, and end some time later."""
    atexit.register(lambda: (time.sleep(0.2), os._exit(code)))
    raise ZeroDivisionError


def test_a_worker_that_is_ending_is_not_killed(monkeypatch):
    """It has files to remove, and the error says how it ended by itself."""
    monkeypatch.setattr(process, "GRACE", 60)
    worker = process.Worker()
    with pytest.raises(process.ProcessError, match="exit status 7"):
        worker.call(end_late, 7)
    worker.end()


def test_python_gets_the_import_path_of_this_process(monkeypatch, tmp_path):
    (tmp_path / "only_here.py").write_text("import sys\nsys.exit(int(sys.argv[1]))\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    process.run(process.python("import only_here", "0"))
    with pytest.raises(process.ProcessError, match="exit status 3"):
        process.run(process.python("import only_here", "3"))


def test_a_process_ends_with_its_parent(monkeypatch):
    class Left(BaseException):
        pass

    def leaves(code):
        raise Left(code)

    parents = iter([5, 5, 1])
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(os, "_exit", leaves)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    removed = []
    monkeypatch.setattr(process, "remove_leftovers", lambda ending: removed.append(ending))
    with pytest.raises(Left):
        process._end_with(5)
    assert next(parents, None) is None
    assert removed == [True], "nothing is left, and no other thread begins to put files in place"
