"""Shots and runs: what the app knows about each. Pixels are in files, never here."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.hints import Hint
from .ranging import Ranging
from .settings import Settings

if TYPE_CHECKING:
    from ..camera.lens import Calibration

WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


@dataclass(eq=False)
class Run:
    """One map of a shot: what was asked for, and how far it is.

    Attributes
    ----------
    id, shot : str
        Its number, and that of its shot.
    settings, hints
        What was asked for.
    lens, lens_file
        The calibration, and the name of its file.
    ranging : Ranging
        What the user told about distances.
    base : Path
        Its result is in ``base.disparity`` and ``base.confidence`` (float32, little-endian) and ``base.json``.
    stop : Event
        Set when the run is cancelled.
    """

    id: str
    shot: str
    settings: Settings
    hints: tuple[Hint, ...]
    base: Path
    lens: Calibration | None = None
    lens_file: str | None = None
    ranging: Ranging = field(default_factory=Ranging)
    state: str = WAITING
    share: float = 0.0
    step: str = ""
    error: str | None = None
    seconds: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def file(self, what: str) -> Path:
        """Where a part of the result is: "disparity", "confidence" or "json"."""
        return self.base.with_suffix("." + what)

    def to_json(self) -> dict[str, Any]:
        """What the page knows."""
        names = ("id", "shot", "state", "share", "step", "error", "seconds")
        record = {name: getattr(self, name) for name in names}
        return record | {"settings": self.settings.to_json(), "hints": len(self.hints)}


@dataclass(frozen=True)
class Source:
    """The files of a shot, and what the user calls them.

    Attributes
    ----------
    paths : dict
        By role: "left", and "right" and "guide" if there are any.
    names : dict
        By role: the name for the user, which a command line can use where the file is.
    is_sample : bool
        Whether the app made the files itself.
    """

    paths: dict[str, str]
    names: dict[str, str]
    is_sample: bool = False

    def in_words(self, text: str) -> str:
        """The text with the user's names instead of our paths."""
        for role, path in self.paths.items():
            text = text.replace(path, self.names[role])
        return text


@dataclass(eq=False)
class Shot:
    """One shot of the film strip."""

    id: str
    name: str
    source: Source
    folder: Path
    camera: str = ""
    width: int | None = None
    height: int | None = None
    is_brightened: bool = False  # on screen only
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)  # height and width of each file of a photo
    runs: list[Run] = field(default_factory=list)
    photographed: Future[None] = field(default_factory=Future)  # done when the photo was tried
    lock: threading.Lock = field(default_factory=threading.Lock)  # held while its photo is made

    @property
    def stem(self) -> str:
        """What the names of saved files begin with."""
        return Path(self.name).stem or "shot"

    def to_json(self) -> dict[str, Any]:
        """What the page knows."""
        runs = [run.to_json() for run in self.runs]
        return {
            "id": self.id,
            "name": self.name,
            "files": list(self.source.names.values()),
            "width": self.width,
            "height": self.height,
            "camera": self.camera,
            "brightened": self.is_brightened,
            "run": runs[-1] if runs else None,
            "runs": runs,
        }
