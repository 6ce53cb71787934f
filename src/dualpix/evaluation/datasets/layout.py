"""What every data set provides, and what several of them share when they find, read and score scenes.

A data set is a module of this package that defines ``LAYOUT``, a `Layout`. The package says how to add one.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InputError, ParameterError
from ...io import read_image
from ...params import DEFAULT_PRESET, unknown_name
from ...types import Map, full_scale
from ..metrics import AffineInvariant, BadPixels, PixelErrors, affine_invariant
from ..outcomes import Scene, Scores, count

Image = npt.NDArray[Any]


Score = Callable[[Scene, Map, Map | None], Scores]


class Layout(NamedTuple):
    """How a data set is stored on disk, and how maps of it are scored.

    Attributes
    ----------
    contents : str
        What its folder holds, in words, for error messages.
    find : callable
        ``find(folder)`` returns the place of each scene by name: its folder, or the common start of its files.
    read : callable
        ``read(name, place)`` reads one scene that `find` has found.
    score : callable
        ``score(scene, disparity, confidence)`` returns the scores by protocol and name; the confidence may be None.
    measure : (str, str)
        The protocol and the score that rank the methods.
    method : str
        The method to run if the user names none.
    """

    contents: str
    find: Callable[[Path], Mapping[str, Any]]
    read: Callable[[str, Any], Scene]
    score: Score
    measure: tuple[str, str] = ("proper", "geometric_mean")
    method: str = DEFAULT_PRESET


@dataclass(frozen=True)
class Dataset:
    """A data set with the scenes that were found in a folder.

    Attributes
    ----------
    name : str
        A key of ``LAYOUTS``.
    folder : Path
        The folder that holds the scenes.
    places : dict
        The place of each scene by name, as its layout finds and reads it.
    layout : Layout
    files : frozenset of Path or None
        All files of the set, resolved, if a user has described them; None if the whole folder belongs to the set.
    notes : tuple of str
        What the user should know about how the files are read.
    """

    name: str
    folder: Path
    places: Mapping[str, Any]
    layout: Layout
    files: frozenset[Path] | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {count(len(self.places), 'scene')} in {self.folder}>"

    @property
    def scenes(self) -> list[str]:
        """The names of the scenes."""
        return list(self.places)

    @property
    def title(self) -> str:
        """What reports call it: its name, or the name of its folder if a user has described it."""
        return self.name if self.files is None else self.folder.resolve().name or self.name

    def owns(self, path: str | os.PathLike[str]) -> bool:
        """Whether a file belongs to the set and must not be replaced. A link may lead into its folder or out of it."""
        places = Path(path).resolve(), Path(path).parent.resolve()
        if self.files is not None:
            return places[0] in self.files
        return any(place.is_relative_to(self.folder.resolve()) for place in places)

    @property
    def measure(self) -> tuple[str, str]:
        """The protocol and the score that rank the methods."""
        return self.layout.measure

    @property
    def method(self) -> str:
        """The method to run if the user names none."""
        return self.layout.method

    def load(self, name: str) -> Scene:
        """Read a scene.

        Raises
        ------
        InputError
            If a file is missing or damaged, or the ground truth has the wrong size or too few known pixels. The
            sentence begins with the scene.
        """
        if name not in self.places:
            raise ParameterError(unknown_name("scene", name, self.places))
        try:
            scene = self.layout.read(name, self.places[name])
            _check_truth(scene)
        except InputError as error:
            raise InputError(f"scene {name}: {error}") from None
        except OSError as error:
            raise InputError(f"scene {name}: {unreadable(error)}") from None
        return scene


def _check_truth(scene: Scene) -> None:
    """Refuse a ground truth that cannot score any map."""
    known = np.isfinite(scene.truth)
    if scene.weight is not None:
        known &= scene.weight > 0
    values = scene.truth[known]
    if values.size < 2:
        raise InputError(f"its ground truth has {values.size or 'no'} known pixel to score: check it")
    if not scene.in_pixels and np.ptp(values) == 0:
        raise InputError("its ground truth is the same everywhere, so any map would fit it: check it")


def unreadable(error: OSError) -> str:
    """The sentence for a file or folder that the system does not let us read."""
    return f"{error.filename}: cannot be read ({error.strerror}): check its permissions"


# ---- finding scenes ------------------------------------------------------------------------------


def folders_with(names: set[str], folder: Path) -> list[Path]:
    """Folders at any depth that hold one of the named files.

    Folders that cannot be listed are included, so that reading them reports the reason.
    """
    found: list[Path] = []
    for place, _, files in os.walk(folder, onerror=lambda error: found.append(Path(error.filename))):
        if not names.isdisjoint(files):
            found.append(Path(place))
    return found


def by_name(folders: Iterable[Path]) -> dict[str, Path]:
    """The folders by name: each name is the path below the deepest folder that holds all of them."""
    places = {Path(os.path.abspath(place)): place for place in sorted(set(folders))}
    if not places:
        return {}
    common = Path(os.path.commonpath([whole.parent for whole in places]))
    return {whole.relative_to(common).as_posix(): place for whole, place in places.items()}


# ---- reading scenes ------------------------------------------------------------------------------


def one_channel(image: Image) -> Image:
    """The plane of a grey image, which may be stored as RGB with three equal channels."""
    return image if image.ndim == 2 else image[..., 0]


def read_relative(path: Path) -> Map:
    """A map of relative depth or disparity from an image file, scaled to 0..1 by the full scale of its type."""
    plane = one_channel(read_image(path))
    return plane.astype(np.float32) / np.float32(full_scale(plane.dtype))


# ---- scoring maps --------------------------------------------------------------------------------


def affine_scores(*protocols: str) -> Score:
    """A `Layout.score` that computes the affine-invariant scores in each of the protocols."""

    def scores(scene: Scene, disparity: Map, confidence: Map | None) -> Scores:
        return {p: numbers(affine_invariant(disparity, scene.truth, p)) for p in protocols}

    return scores


def numbers(scores: AffineInvariant | BadPixels | PixelErrors) -> dict[str, float]:
    """The scores by name, without those that are None."""
    return {name: value for name, value in vars(scores).items() if name != "protocol" and value is not None}
