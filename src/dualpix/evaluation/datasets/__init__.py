"""Data sets: their scenes, ready to be matched, and how maps of them are scored.

Each set is one module of this package that defines ``LAYOUT``. To add a set:

1. Write its module. The attributes of `layout.Layout` say what its ``LAYOUT`` must provide.
2. Add its name, which is that of the module, to ``DATASETS`` in ``evaluation/dataset_names.py``.
3. Add a function that writes a small scene to ``MAKERS`` in ``tests/test_datasets.py``, and two scenes to ``NAMES``.
4. Describe its files in the table of ``docs/scoring.md``.
"""

import os
from importlib import import_module
from pathlib import Path

from ...errors import InputError, ParameterError
from ...params import unknown_name
from ...types import Map
from ..dataset_names import DATASETS
from ..outcomes import Scene, Scores
from . import generic
from .layout import Dataset, Layout, unreadable

__all__ = ["LAYOUTS", "Dataset", "open_dataset", "score"]

LAYOUTS: dict[str, Layout] = {name: import_module(f".{name}", __name__).LAYOUT for name in DATASETS}


def open_dataset(
    name: str,
    folder: str | os.PathLike[str],
    *,
    left: str | None = None,
    right: str | None = None,
    truth: str | None = None,
    truth_kind: str | None = None,
    mask: str | None = None,
    guide: str | None = None,
    scenes: str | None = None,
    **unknown: str | None,
) -> Dataset:
    """Find the scenes of a data set.

    Parameters
    ----------
    name : str
        That of a layout, such as "dslr", "simulated", or "generic" for a folder of your own.
    folder : path
        The folder of the data set, or a folder that holds it under its name.
    left, right, truth, mask, guide : str
        Of "generic" only: patterns such as ``*/l.png``, relative to the folder. `left` and `truth` are needed.
    truth_kind : str
        Of "generic" only: what the truth holds, "disparity", "depth-m", "depth-mm" or "inverse".
    scenes : str
        Of "generic" only: a table of the files instead of patterns. Without either, ``scenes.csv`` of the folder tells.
    unknown
        Any other keyword is refused.

    Raises
    ------
    InputError
        If no scene is found. The sentence says which files were expected and which were found.
    ParameterError
        If there is no such data set or keyword, or the keywords do not fit.
    """
    if name not in LAYOUTS:
        raise ParameterError(unknown_name("data set", name, LAYOUTS))
    for keyword in unknown:
        raise ParameterError(unknown_name("keyword", keyword, generic.KEYWORDS))
    files = {"left": left, "right": right, "truth": truth, "mask": mask, "guide": guide}
    description = {**files, "truth_kind": truth_kind, "scenes": scenes}
    given = {keyword: value for keyword, value in description.items() if value is not None}
    if given and LAYOUTS[name] is not generic.LAYOUT:
        raise ParameterError(f"{next(iter(given))} describes a data set of your own: leave it out, or use generic")
    layout, outer = LAYOUTS[name], Path(folder)
    try:
        if not outer.is_dir():
            raise InputError(f"{folder}: no such folder: give the one that holds {layout.contents}")
        root = outer / name if not given and (outer / name).is_dir() else outer
        listing = _listing(root)
        places = generic.describe(root, **given) if given else layout.find(root)
    except OSError as error:
        raise InputError(unreadable(error)) from None
    if not places:
        raise InputError(f"{root}: holds no scene of {name}: looked for {layout.contents}, found {listing}")
    if layout is not generic.LAYOUT:
        return Dataset(name, root, places, layout)
    own = layout._replace(measure=generic.measure(places))
    return Dataset(name, root, places, own, generic.files_of(places.values()), generic.notes(places))


def score(name: str, scene: Scene, disparity: Map, confidence: Map | None = None) -> Scores:
    """Score a map of a scene in the protocols of the data set, and its confidence if the set has a score for it.

    Returns
    -------
    dict
        By protocol, then by name. A score that does not apply is left out. Lower is better, except for ``coverage``,
        the share of the pixels with ground truth that have an estimate, and ``gain``.
    """
    return LAYOUTS[name].score(scene, disparity, confidence)


def _listing(folder: Path, most: int = 5) -> str:
    """The first few names in a folder."""
    names = sorted(path.name + "/" * path.is_dir() for path in folder.iterdir())
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "nothing"
