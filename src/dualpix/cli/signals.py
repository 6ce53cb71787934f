"""Signals that end the command. It ends within a second, with nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress
from types import FrameType

import click

from ..ending import SIGNALS, remove_leftovers

PATIENCE = 0.5  # s for the exception to get through; libraries may work on without looking at signals

goes_on = False  # whether the command keeps what is finished, so that the same command goes on

_came: list[int] = []
_telling = threading.Lock()  # held while the user is told
_told: list[int] = []


class Stopped(KeyboardInterrupt):
    """The signal, as an exception in the main thread."""


def stop_on_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP end the command. What the user ignores, as nohup does, stays ignored."""
    if os.name == "posix":  # first, so that no signal is lost
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        signal.set_wakeup_fd(theirs, warn_on_full_buffer=False)  # gets the number of every signal at once
        threading.Thread(target=_watch, args=(ours,), daemon=True).start()
        sys.unraisablehook = _lost
    for number in SIGNALS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, _stop)


def has_stopped() -> bool:
    """Whether a signal ends the command. Any error is then a consequence of that."""
    return bool(_came)


def exit_code() -> int:
    """Tell the user once that the command was stopped, and return what shells expect then."""
    number = _came[0] if _came else signal.SIGINT
    said = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    if _telling.acquire(timeout=0.2):  # s; else nobody reads stderr
        if number not in _told:
            with suppress(OSError):
                click.echo(f"error: {said}{': start it again to go on' * goes_on}", err=True)
            _told.append(number)
        _telling.release()
    return 128 + number


def ignore_signals() -> None:
    """The work is done: it is too late to stop it."""
    for number in SIGNALS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_IGN)


def _stop(number: int, frame: FrameType | None) -> None:
    if not _came:  # else it is ending, and nothing disturbs that
        _came.append(number)
        raise Stopped


def _lost(what: sys.UnraisableHookArgs) -> None:
    """Python drops exceptions in finalizers; its import has some. Nothing is said then: `_watch` ends the command."""
    if not isinstance(what.exc_value, Stopped):
        sys.__unraisablehook__(what)


def _watch(pipe: int) -> None:
    """End the process if it has not ended some time after the signal."""
    while (number := os.read(pipe, 1)[0]) not in SIGNALS:
        pass
    time.sleep(PATIENCE)
    remove_leftovers(ending=True)
    _came.append(number)
    os._exit(exit_code())
