"""The folder of parts beside the output: finished segments, and the moment from which the next one goes on.

A segment is finished when its record is there. The record is written last, by a rename. So a killed run is resumed
after its last finished segment, and the bytes are those of an undisturbed run.

The file of the job says how far it is: segments are made, then the outputs are put in place, then the folder goes.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DualpixError, OutputError
from ..files import parse_json, read_text
from ..io import OutputSet
from ..io.atomic import remove, writing
from ..io.locks import locked
from ..method.moments import Moment
from ..method.plan import Plan
from ..types import Parabolas, Signs

JOB = "job.json"
MAKING, PLACING, PLACED = "making", "placing", "placed"  # how far a job is


class Parts:
    """The folder of parts of one output.

    Parameters
    ----------
    path
        The folder. It is made when it is opened.
    key
        Of the inputs, the settings and the code.
    """

    def __init__(self, path: str, key: str) -> None:
        self.path = path
        self._key = key

    def check(self, force: bool) -> None:
        """Refuse a folder with the parts of another clip, unless `force`; and one that is none of ours in any case.

        What is left of a clip that is in place is removed.
        """
        with suppress(OSError), locked(self.path, "dualpix video"):
            os.rmdir(self.path)  # an empty folder is the last thing that is left
        if not os.path.lexists(self.path):
            return
        if self._job().get("state") == PLACED:
            with locked(self.path, "dualpix video"):
                self.remove()
            return
        if "key" not in self._job():
            raise OutputError(f"{self.path}: is where parts would be kept, but holds something else: move it away")
        if not force and self._job()["key"] != self._key:
            raise OutputError(
                f"{self.path}: holds parts of another clip or other settings: remove it, or force=True to start again"
            )

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Make the folder, or go on with the one that is there; keep other runs out. Parts of another clip go."""
        with ExitStack() as lock:
            while not self._make_and_lock(lock):
                pass
            if self._job().get("key") != self._key:
                for name in os.listdir(self.path):
                    remove(os.path.join(self.path, name))
                self._mark(MAKING)
            if not self.is_placing():
                os.makedirs(os.path.join(self.path, "frames"), exist_ok=True)
            try:
                yield
            except (DualpixError, KeyboardInterrupt):
                if not self.segments():  # there is nothing to go on with
                    self.remove()
                raise

    def _make_and_lock(self, lock: ExitStack) -> bool:
        """Make the folder and lock it. False if another run took it for an empty one that was left (see `check`)."""
        try:
            os.makedirs(self.path, exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"{self.path}: this folder cannot be made ({error.strerror}): choose another place"
            ) from None
        with suppress(FileNotFoundError):
            held = lock.enter_context(locked(self.path, "dualpix video", patience=0.2))
            if not held or os.path.samestat(os.fstat(held[0]), os.stat(self.path)):
                return True
        lock.close()
        return False

    def segments(self) -> list[dict[str, Any]]:
        """The records of the finished segments of this clip, from the first on."""
        records: list[dict[str, Any]] = []
        if self._job().get("key") != self._key:
            return records
        while (path := Path(self.path, _record(len(records)))).is_file():
            records.append(parse_json(read_text(path)))
        return records

    def moment(self, segment: int) -> Moment | None:
        """What was remembered after a segment; None before the first."""
        return read_moment(os.path.join(self.path, _moment(segment))) if segment >= 0 else None

    def keep(self, segment: int, record: dict[str, Any], moment: Moment) -> None:
        """Mark a segment as finished. The moment before it is not needed any more."""
        write_moment(os.path.join(self.path, _moment(segment)), moment)
        self._write(_record(segment), record)
        with suppress(FileNotFoundError):
            os.remove(os.path.join(self.path, _moment(segment - 1)))

    def is_placing(self) -> bool:
        """Whether all segments are finished, and some outputs of this clip may be in place."""
        return self._job() == {"key": self._key, "state": PLACING}

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Put the outputs in place in this block, which may begin again after a kill. Then the folder is removed."""
        self._mark(PLACING)
        yield
        self._mark(PLACED)
        self.remove()

    def remove(self) -> None:
        """Remove the folder, and the file of the job as the last one in it."""
        with suppress(OSError):
            for name in os.listdir(self.path):
                if name != JOB:
                    remove(os.path.join(self.path, name))
            shutil.rmtree(self.path)

    def _mark(self, state: str) -> None:
        self._write(JOB, {"key": self._key, "state": state})

    def _job(self) -> dict[str, Any]:
        try:
            found = parse_json(read_text(Path(self.path, JOB)))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, name: str, record: dict[str, Any]) -> None:
        path = os.path.join(self.path, name)
        with OutputSet([path], force=True) as files:
            files.write(path, json.dumps(record).encode())


def _record(segment: int) -> str:
    return f"segment_{segment:05d}.json"


def _moment(segment: int) -> str:
    return f"moment_{segment:05d}.npz"


def write_moment(path: str, moment: Moment) -> None:
    """Write a moment, whole or not at all."""
    belief = moment.belief
    arrays: dict[str, Any] = {"picture": moment.picture, "A": belief.A, "B": belief.B}
    if belief.signs and belief.signs.coarser is not None:
        arrays["coarser"] = belief.signs.coarser
    facts = {"plan": moment.plan.to_dict(), "covered": moment.covered, "cut": moment.cut}
    with writing(path):
        with open(f"{path}.part", "wb") as file:
            np.savez(file, facts=np.array(json.dumps(facts)), **arrays)
        os.replace(f"{path}.part", path)


def read_moment(path: str) -> Moment:
    """The inverse of `write_moment`."""
    with np.load(path, allow_pickle=False) as stored:
        facts = parse_json(str(stored["facts"]))
        signs = Signs(coarser=stored["coarser"]) if "coarser" in stored else None
        belief = Parabolas(stored["A"], stored["B"], signs=signs)
        return Moment(Plan.from_dict(facts["plan"]), stored["picture"], belief, facts["covered"], facts["cut"])
