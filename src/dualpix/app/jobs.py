"""One worker thread that makes the maps, one after the other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from ..errors import in_words, show_debug
from ..run import Progress, Step
from .shots import CANCELLED, DONE, FAILED, RUNNING, WAITING, Run

Work = Callable[[Run, Progress], None]
PATIENCE = 10.0  # s that closing waits for the stage that is running


class Stopped(Exception):
    """The run was cancelled."""


class Jobs:
    """Runs that wait for the worker, and the one it works on.

    Parameters
    ----------
    work
        Makes the map of a run. It gets a function to report progress to, which raises `Stopped` after a cancel.
    changed
        Called whenever a run has changed.
    """

    def __init__(self, work: Work, changed: Callable[[Run], None]) -> None:
        self._work, self._changed = work, changed
        self._waiting: list[Run] = []
        self._current: Run | None = None
        self._closed = False
        self._news = threading.Condition()
        self._telling = threading.Lock()
        self._thread = threading.Thread(target=self._loop, name="dualpix-app-worker", daemon=True)
        self._thread.start()

    def add(self, run: Run) -> None:
        """Let a run wait for its turn. It replaces other runs of the same shot that are not done."""
        with self._news:
            replaced = [each for each in (*self._waiting, self._current) if each and each.shot == run.shot]
        for each in replaced:
            self.cancel(each)
        self._tell(run)
        with self._news:
            if not run.stop.is_set():  # cancelled meanwhile
                self._waiting.append(run)
                self._news.notify()

    def cancel(self, run: Run) -> None:
        """Cancel a run that waits or runs. The worker stops when its next stage begins."""
        with self._news:
            if run.state not in (WAITING, RUNNING):
                return
            run.stop.set()
            run.state = CANCELLED
            if run in self._waiting:
                self._waiting.remove(run)
        self._tell(run)

    def close(self) -> None:
        """Cancel everything and wait for the worker."""
        with self._news:
            self._closed = True
            self._news.notify()
            left = [*self._waiting, *([self._current] if self._current else [])]
        for run in left:
            self.cancel(run)
        self._thread.join(PATIENCE)

    def _loop(self) -> None:
        while True:
            with self._news:
                self._current = None
                self._news.wait_for(lambda: self._closed or self._waiting)
                if self._closed:
                    return
                run = self._current = self._waiting.pop(0)
                run.state = RUNNING
            self._tell(run)
            self._do(run)

    def _do(self, run: Run) -> None:
        """Work on a run until it is done, failed or cancelled. Nothing that goes wrong ends the worker."""

        def progress(step: Step) -> None:
            if run.stop.is_set():
                raise Stopped
            run.share, run.step = step.share, str(step)
            self._tell(run)

        start = time.perf_counter()
        error = None
        try:
            self._work(run, progress)
        except Stopped:
            pass
        except Exception as wrong:
            show_debug()
            error = in_words(wrong)
        with self._news:
            if run.stop.is_set():
                for what in ("disparity", "confidence", "json"):
                    run.file(what).unlink(missing_ok=True)
                return
            run.seconds = time.perf_counter() - start
            run.error, run.state, run.share = error, FAILED if error else DONE, 1.0
        self._tell(run)

    def _tell(self, run: Run) -> None:
        """Tell that a run has changed, one at a time: news about the state before must not come later."""
        with self._telling:
            self._changed(run)
