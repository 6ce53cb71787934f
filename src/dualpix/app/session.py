"""What a running app knows: shots, runs and calibrations. It has no web in it."""

from __future__ import annotations

import itertools
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DualpixError, InputError
from ..io.hints import Hint
from ..io.shot import read_shot
from ..run import Progress
from .events import Events
from .jobs import Jobs
from .matching import match
from .photos import Photo, photo_of
from .settings import Settings
from .shots import DONE, Run, Shot, Source
from .uploads import Limits, TooLarge

if TYPE_CHECKING:
    from ..camera.lens import Calibration

RUNS = 6  # of one shot that are kept
PHOTOS = 8  # that are kept as files; others are read again
CALIBRATIONS = 100


class Missing(InputError):
    """What was asked for is not there."""


class Session:
    """All shots of the film strip, the worker that matches them, and the news about them."""

    def __init__(self, folder: Path, limits: Limits = Limits()) -> None:  # noqa: B008 - it is frozen
        self.folder, self.limits = folder, limits
        self.events = Events()
        self.shots: dict[str, Shot] = {}
        self.runs: dict[str, Run] = {}
        self.notes: list[str] = []  # what the user should know about the files of the command line
        self.calibrations: dict[str, tuple[str, Calibration]] = {}  # name and content
        self._lock = threading.RLock()  # held while shots and runs are added or removed
        self._photos: list[Path] = []  # files of photos, the one used last at the end
        self._numbers: Iterator[int] = itertools.count(1)
        self._jobs = Jobs(self._match, lambda run: self.events.publish(type="run", run=run.to_json()))
        self._photographer = ThreadPoolExecutor(1, "dualpix-app-photo")

    def close(self) -> None:
        """Stop all work."""
        self.events.close()
        self._photographer.shutdown(wait=False, cancel_futures=True)
        self._jobs.close()

    # ---- by name ---------------------------------------------------------------------------------------------

    def shot(self, name: str) -> Shot:
        """An open shot."""
        if name not in self.shots:
            raise Missing(f"shot {name} is not open")
        return self.shots[name]

    def run(self, name: str) -> Run:
        """A run of an open shot."""
        if name not in self.runs:
            raise Missing(f"run {name} is not there any more")
        return self.runs[name]

    def finished(self, name: str) -> tuple[Shot, Run]:
        """A run that has a map, and its shot."""
        run = self.run(name)
        if run.state != DONE:
            raise InputError(run.error or f"run {name} is {run.state}, so it has no map: wait for it, or start another")
        return self.shot(run.shot), run

    # ---- shots -----------------------------------------------------------------------------------------------

    def new_folder(self) -> Path:
        """An empty folder for the files of one shot."""
        folder = self.folder / f"s{next(self._numbers)}"
        folder.mkdir()
        return folder

    def check_room(self) -> None:
        """Refuse another shot if there are too many."""
        if len(self.shots) >= self.limits.shots:
            raise TooLarge(f"{self.limits.shots} shots are open, the limit of dualpix app: close one first")

    def add(self, source: Source, name: str, folder: Path, settings: Settings) -> Shot:
        """Open a shot and start to match it."""
        shot = Shot(folder.name, name, source, folder)
        with suppress(DualpixError):  # the run says what is wrong with the file
            shot.camera = str(read_shot(source.paths["left"]))
        with self._lock:
            self.check_room()
            self._calibration(settings)
            self.shots[shot.id] = shot
            shot.photographed = self._photographer.submit(self._photograph, shot, settings)
            self.start(shot, settings)
        self.events.publish(type="shot", shot=shot.to_json())
        return shot

    def remove(self, shot: Shot) -> None:
        """Close a shot and remove what was stored for it."""
        with self._lock:
            self.shots.pop(shot.id, None)
            for run in shot.runs:
                self._jobs.cancel(run)
                self.runs.pop(run.id, None)
        shutil.rmtree(shot.folder, ignore_errors=True)
        self.events.publish(type="gone", id=shot.id)

    def photo(self, shot: Shot, settings: Settings) -> Photo:
        """The photo of a shot. Only the files of the last few are kept."""
        photo = photo_of(shot, settings)
        with self._lock:
            self._photos = [path for path in self._photos if path != photo.path] + [photo.path]
            for path in self._photos[:-PHOTOS]:
                path.unlink(missing_ok=True)
            self._photos = self._photos[-PHOTOS:]
        return photo

    def _photograph(self, shot: Shot, settings: Settings) -> None:
        """Make the photo early, so that the page can show it while the shot is matched."""
        try:
            self.photo(shot, settings)
        except Exception:  # the run meets the same file and says what is wrong with it
            return
        self.events.publish(type="shot", shot=shot.to_json())

    # ---- runs ------------------------------------------------------------------------------------------------

    def start(self, shot: Shot, settings: Settings, hints: tuple[Hint, ...] = ()) -> Run:
        """Match a shot, again if it was matched before."""
        name, lens = self._calibration(settings)
        number = f"r{next(self._numbers)}"
        run = Run(number, shot.id, settings, hints, shot.folder / number, lens, name)
        with self._lock:
            self.shot(shot.id)  # it may have been closed
            for old in shot.runs[: -RUNS + 1]:
                self._forget(shot, old)
            shot.runs.append(run)
            self.runs[run.id] = run
            self._jobs.add(run)
        return run

    def cancel(self, run: Run) -> None:
        """Stop a run at its next stage."""
        self._jobs.cancel(run)

    def _forget(self, shot: Shot, run: Run) -> None:
        self._jobs.cancel(run)
        shot.runs.remove(run)
        self.runs.pop(run.id, None)
        for what in ("disparity", "confidence", "json"):
            run.file(what).unlink(missing_ok=True)

    def _calibration(self, settings: Settings) -> tuple[str | None, Calibration | None]:
        """The name of the file and the calibration itself."""
        if settings.calibration is None:
            return None, None
        if settings.calibration not in self.calibrations:
            raise InputError(f"calibration {settings.calibration!r} is not open: add its file first")
        return self.calibrations[settings.calibration]

    def _match(self, run: Run, progress: Progress) -> None:
        shot = self.shots[run.shot]
        while not (shot.photographed.done() or run.stop.is_set()):  # first the photo, to have something to look at
            wait([shot.photographed], 0.1)
        try:
            match(shot, run, progress)
        except DualpixError as error:
            raise type(error)(shot.source.in_words(str(error))) from error
        if shot.width is None:  # the settings of the first run did not fit
            shot.photographed = self._photographer.submit(self._photograph, shot, run.settings)

    def add_calibration(self, path: Path, name: str) -> tuple[str, str]:
        """Open a calibration file. Returns its number, and a few words about it."""
        from ..camera.lens_file import read_calibration

        if len(self.calibrations) >= CALIBRATIONS:
            raise TooLarge(f"{CALIBRATIONS} calibrations are open, the limit of dualpix app: start it again")
        try:
            found = replace(read_calibration(path), source=f"calibration {name}")
        except DualpixError as error:
            raise type(error)(str(error).replace(str(path), name)) from error
        number = f"c{next(self._numbers)}"
        self.calibrations[number] = name, found
        what = f"{found.width}x{found.height}" + (", with distances" if found.metric else "")
        return number, f"{name}: {found.camera or 'any camera'}, {what}"
