"""Data sets in the folders people have them in: pairs ready to be matched, their ground truth, how they are scored."""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import InputError, ParameterError
from ...io import probe, read_image, read_map, read_pair
from ...io.captures import find_capture, known_range
from ...params import DEFAULT_PRESET, unknown_name
from ...types import Map, full_scale
from ..metrics import AffineInvariant, BadPixels, affine_invariant, bad_pixels
from ..outcomes import Scene

Image = npt.NDArray[Any]
Scores = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Dataset:
    """The scenes of a data set that were found.

    Attributes
    ----------
    name : str
        One of ``LAYOUTS``.
    folder : Path
        The one that holds the scenes.
    places : dict
        By name of the scene, where its files are or what their names begin with.
    """

    name: str
    folder: Path
    places: dict[str, Path]

    @property
    def scenes(self) -> list[str]:
        """The names of the scenes."""
        return list(self.places)

    @property
    def measure(self) -> tuple[str, str]:
        """Protocol and score that methods are ranked by."""
        return LAYOUTS[self.name].measure

    @property
    def method(self) -> str:
        """What suits the data set where no method is asked for."""
        return LAYOUTS[self.name].method

    def load(self, name: str) -> Scene:
        """Read a scene and prepare it.

        Raises
        ------
        InputError
            If a file is missing or damaged, or the ground truth has another size or too little to score; the sentence
            begins with the scene.
        """
        if name not in self.places:
            raise ParameterError(unknown_name("scene", name, self.places))
        try:
            scene = LAYOUTS[self.name].read(name, self.places[name])
            _check_truth(scene)
        except InputError as error:
            raise InputError(f"scene {name}: {error}") from None
        except OSError as error:
            raise InputError(f"scene {name}: {_unreadable(error)}") from None
        return scene


def open_dataset(name: str, folder: str | os.PathLike[str]) -> Dataset:
    """Find the scenes of a data set.

    Parameters
    ----------
    name : "dslr", "google", "pixel4", "r6ii" or "middlebury"
    folder
        The data set's own, or one that holds it by name.

    Raises
    ------
    InputError
        If there is no scene; the sentence says what was looked for and what was found.
    """
    if name not in LAYOUTS:
        raise ParameterError(unknown_name("data set", name, LAYOUTS))
    outer = Path(folder)
    try:
        if not outer.is_dir():
            raise InputError(f"{folder}: no such folder: give the one that holds {LAYOUTS[name].contents}")
        root = outer / name if (outer / name).is_dir() else outer
        listing = _listing(root)
        places = LAYOUTS[name].find(root)
    except OSError as error:
        raise InputError(_unreadable(error)) from None
    if not places:
        raise InputError(f"{root}: holds no scene of {name}: looked for {LAYOUTS[name].contents}, found {listing}")
    return Dataset(name, root, places)


def score(name: str, scene: Scene, disparity: Map) -> Scores:
    """All scores of a map of a scene, in the protocols of that data set: by protocol, then by name.

    Lower is better, but for ``coverage``, the share of the known pixels that have an estimate.
    """
    return LAYOUTS[name].score(scene, disparity)


def _listing(folder: Path, most: int = 5) -> str:
    names = sorted(path.name + "/" * path.is_dir() for path in folder.iterdir())
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "nothing"


def _unreadable(error: OSError) -> str:
    return f"{error.filename}: cannot be read ({error.strerror}): check its permissions"


def _check_truth(scene: Scene) -> None:
    """What no method could be scored on is no method's fault."""
    known = np.isfinite(scene.truth)
    if scene.weight is not None:
        known &= scene.weight > 0
    values = scene.truth[known]
    if values.size < 2:
        raise InputError(f"its ground truth has {values.size or 'no'} known pixel to score: check it")
    if not scene.in_pixels and np.ptp(values) == 0:
        raise InputError("its ground truth is the same everywhere, which any map fits: check it")


# ---- dslr: Canon pairs of Punnappurath et al. (ICCP 2020) ----------------------------------------

_DSLR_FILE = re.compile(r"(.+)_([LRD])\.(?:jpe?g|png|tiff?)", re.IGNORECASE)
_DSLR_BORDER = 100  # px, that the published evaluation leaves out, but for a row and a column
_DSLR_CUT = slice(_DSLR_BORDER - 1, -_DSLR_BORDER)


def _find_dslr(folder: Path) -> dict[str, Path]:
    found = (_DSLR_FILE.fullmatch(path.name) for path in folder.iterdir())
    return {stem: folder / stem for stem in sorted({each[1] for each in found if each})}


def _read_dslr(name: str, stem: Path) -> Scene:
    """NNN_B, the sum of the views, lies between them, and off the left view's map by half the disparity: not used."""
    left, right, depth = (_dslr_file(stem, letter) for letter in "LRD")
    pair = read_pair(left, right)
    known = _relative(depth)
    _same_size(depth, known.shape, pair.left.shape[:2])
    height, width = known.shape
    if min(height, width) < 2 * _DSLR_BORDER:
        raise InputError(
            f"{left}: is {width}x{height}, of which a border of {_DSLR_BORDER} px is not scored: give larger pictures"
        )
    truth = np.full_like(known, np.nan)
    truth[_DSLR_CUT, _DSLR_CUT] = known[_DSLR_CUT, _DSLR_CUT]
    return Scene(name, pair.left, pair.right, None, truth)


def _dslr_file(stem: Path, letter: str) -> Path:
    for path in sorted(stem.parent.iterdir()):
        found = _DSLR_FILE.fullmatch(path.name)
        if found and found[1] == stem.name and found[2].upper() == letter:
            return path
    raise InputError(f"{stem}_{letter}: no such .jpg, .png or .tif: add it or remove the rest of the scene")


# ---- google: Pixel 3 captures of Garg et al. (ICCV 2019) -----------------------------------------

_GOOGLE_FOLDERS = ("left_pd", "right_pd", "scaled_images", "merged_depth", "merged_conf")
_GOOGLE_MATCHED, _GOOGLE_SCORED = (1344, 1008), (1024, 768)  # rows and columns in the middle of the views


def _find_google(folder: Path) -> dict[str, Path]:
    inner = (path for path in sorted(folder.iterdir()) if path.is_dir())
    roots = [folder] if (folder / "left_pd").is_dir() else [path for path in inner if (path / "left_pd").is_dir()]
    parts = (root / part for root in roots for part in _GOOGLE_FOLDERS)
    captures = (capture for part in parts if part.is_dir() for capture in part.iterdir() if capture.is_dir())
    return _named(capture.parents[1] / capture.name for capture in captures)


def _read_google(name: str, place: Path) -> Scene:
    """Views shifted along y; guide, depth, larger the farther, and confidence are stored at half their size."""
    import cv2

    root, capture = place.parent, place.name
    files = find_capture(root, capture)
    depth = root / "merged_depth" / capture / "result_merged_depth_center.png"
    trust = root / "merged_conf" / capture / "result_merged_conf_center.npy"
    pair, picture, known, weight = read_pair(*files[:2]), read_image(files.guide), _relative(depth), read_map(trust)
    height, width = pair.left.shape[:2]
    if height % 2 or width % 2:
        raise InputError(f"{files.left}: is {width}x{height}, which has no half: give views of even width and height")
    for file, image in ((files.guide, picture), (depth, known), (trust, weight)):
        _same_size(file, image.shape, (height // 2, width // 2), "half the size of the views")
    if not (weight >= 0).all():
        raise InputError(f"{trust}: holds negative or unknown values: give weights of 0 or more")
    guide = cv2.resize(picture, (width, height), interpolation=cv2.INTER_CUBIC)
    left, right, guide, known, weight = (
        np.ascontiguousarray(_middle(image, _GOOGLE_MATCHED))
        for image in (pair.left, pair.right, guide, _doubled(1 - known), _doubled(weight))
    )
    truth = np.full_like(known, np.nan)
    _middle(truth, _GOOGLE_SCORED)[:] = _middle(known, _GOOGLE_SCORED)
    return Scene(name, left, right, guide, truth, weight=weight, axis="y")


def _score_google(scene: Scene, d: Map) -> Scores:
    """At the size of the ground truth, and of no more than it covers: the paper's levels are those in there.

    The paper ranks by order of appearance, so it matters there that far is stored as large.
    """
    import cv2

    assert scene.weight is not None
    d, truth, weight = (_middle(values, _GOOGLE_SCORED) for values in (d, scene.truth, scene.weight))
    half = cv2.resize(d, (d.shape[1] // 2, d.shape[0] // 2), interpolation=cv2.INTER_AREA)
    truth, weight = truth[::2, ::2], weight[::2, ::2]
    return {
        protocol: _numbers(affine_invariant(half, known, protocol, weight))
        for protocol, known in (("paper-google", 1 - truth), ("proper", truth))
    }


def _doubled(values: Map) -> Map:
    return values.repeat(2, axis=0).repeat(2, axis=1)


def _middle(values: Image, shape: tuple[int, int]) -> Image:
    """At most so many rows and columns, and an even number of them left out before: values doubled stay in pairs."""
    y, x = (max(whole - part, 0) // 4 * 2 for whole, part in zip(values.shape, shape, strict=False))
    return values[y : y + shape[0], x : x + shape[1]]


# ---- pixel4: Pixel 4 captures of Xin et al. (ICCV 2021) ------------------------------------------

_SIDES = ("left", "right")
_BLACK, _WHITE_SHARE, _GAMMA = 1024, 99.5, 1 / 2.2
_SHEET_BLUR = 20  # px, the STD that rids white sheets of their noise


def _find_pixel4(folder: Path) -> dict[str, Path]:
    if not all((folder / f"calibration/white_sheet_{side}.png").is_file() for side in _SIDES):
        return {}
    files = (path for pattern in ("*_left.png", "*_right.png", "*/*_gt.png") for path in folder.glob(pattern))
    return {name: folder / name for name in sorted({path.name.rpartition("_")[0] for path in files})}


def _read_pixel4(name: str, stem: Path) -> Scene:
    """Raw green planes, made even by the pictures of a white sheet and brought to display gamma.

    The truth is stored larger the farther, 0 where unknown.
    """
    folder = stem.parent
    pair = read_pair(*(folder / f"{stem.name}_{side}.png" for side in _SIDES))
    sheets = (folder / f"calibration/white_sheet_{side}.png" for side in _SIDES)
    even = [_even(view, sheet) for view, sheet in zip((pair.left, pair.right), sheets, strict=True)]
    white = max(float(np.percentile(even[0], _WHITE_SHARE)), 1e-6)
    left, right = (np.clip(view / white, 0, 1, dtype=np.float32) ** _GAMMA for view in even)
    height, width = left.shape
    file = folder / f"gt_defocus_map/{stem.name}_gt.png"
    known = _relative(file)
    _same_size(file, known.shape, (2 * height // 3, 2 * width // 3), "two thirds of the size of the views")
    truth = np.full_like(left, np.nan)
    y, x = (height - known.shape[0]) // 2, (width - known.shape[1]) // 2
    truth[y : y + known.shape[0], x : x + known.shape[1]] = np.where(known > 0, 1 - known, np.nan)
    return Scene(name, left, right, None, truth)


def _even(view: Image, path: Path) -> Map:
    import cv2

    sheet, plane = _channel(read_image(path)), _channel(view)
    _same_size(path, sheet.shape, plane.shape)
    white = cv2.GaussianBlur(sheet.astype(np.float32) - _BLACK, (0, 0), _SHEET_BLUR)
    light: Map = np.maximum(plane.astype(np.float32) - _BLACK, 0)
    light /= np.maximum(white, 1)
    return light


# ---- r6ii: Canon R6 II pairs of the Sdirt set (ICCV 2025) ----------------------------------------


def _find_r6ii(folder: Path) -> dict[str, Path]:
    """The planes under flat/, which have no depth map, are for calibration."""
    found = _holding(folder, {"l.png", "r.png", "d.png"})
    return _named(place for place in found if "flat" not in place.relative_to(folder).parts)


def _read_r6ii(name: str, folder: Path) -> Scene:
    pair = read_pair(folder / "l.png", folder / "r.png")
    depth = read_image(folder / "d.png")
    height, width = pair.left.shape[:2]
    if depth.shape[0] * width != depth.shape[1] * height or depth.shape[0] < height:
        _same_size(
            folder / "d.png", depth.shape[:2], (height, width), "the size of the views, or more of the same shape"
        )
    return Scene(name, pair.left, pair.right, None, inverse_depth(depth, (height, width)))


def inverse_depth(depth: Image, shape: tuple[int, int]) -> Map:
    """Inverse depth from 0 to 1, of depths in millimetres (16 bit) or 255ths of 10 m (8 bit), if 0.1 to 10 m."""
    import cv2

    plane = _channel(depth)
    if plane.shape != shape:
        plane = np.asarray(cv2.resize(plane, shape[::-1], interpolation=cv2.INTER_NEAREST))
    metres = plane.astype(np.float32) / (1000 if plane.dtype == np.uint16 else 25.5)
    known = (metres > 0.1) & (metres < 10)
    inverse: Map = np.full(shape, np.nan, np.float32)
    if known.any():
        values = 1 / metres[known]
        inverse[known] = (values - values.min()) / max(float(np.ptp(values)), 1e-6)
    return inverse


# ---- middlebury: version 3 of the stereo benchmark -----------------------------------------------

_TREES = 3  # folders above the scene among whose neighbours its ground truth is looked for


def _find_middlebury(folder: Path) -> dict[str, Path]:
    return _named(_holding(folder, {"im0.png", "im1.png"}))


def _read_middlebury(name: str, folder: Path) -> Scene:
    """Disparities in pixels, known where both views see the same."""
    left = folder / "im0.png"
    pair = read_pair(left, folder / "im1.png")
    truth_file = _truth_of(folder, pair.left.shape[:2])
    mask_file = truth_file.with_name("mask0nocc.png")
    truth, mask = read_map(truth_file), _channel(read_image(mask_file))
    _same_size(mask_file, mask.shape, truth.shape)
    truth[(mask != 255) | ~(truth > 0)] = np.nan
    searched = known_range(left, pair.left.shape[1])
    if searched is None:
        raise InputError(
            f"{folder / 'calib.txt'}: no such file: add it, with a line ndisp=N, the disparities to search"
        )
    return Scene(name, pair.left, pair.right, None, truth, in_pixels=True, range=searched)


def _truth_of(scene: Path, shape: tuple[int, ...]) -> Path:
    """The disp0GT.pfm in the scene's folder or, if there is none, in a parallel tree, and of the views' size.

    A parallel tree holds the scene by the same name, or the same path, beside the scene's own tree or in it: for
    MiddEval3/trainingQ/Teddy that may be MiddEval3/GT/Teddy, MiddEval3/GT/trainingQ/Teddy or
    MiddEval3-GT/trainingQ/Teddy.
    """
    own = scene / "disp0GT.pfm"
    if own.is_file():
        found = [own]
    else:
        path = scene.resolve()
        above = [path, *path.parents][: _TREES + 2]
        tails = [path.relative_to(each) / own.name for each in above[1 : _TREES + 1]]
        found = [
            file
            for k, tail in enumerate(tails, 1)
            for tree in above[k : k + 2]
            for file in sorted(tree.glob(f"*/{_literal(tail)}"))
        ]
    if not found:
        raise InputError(
            f"{own}: no such file, nor in a parallel tree: unpack the ground truth into the scene's folder"
        )
    sizes = {file: (probe(file).height, probe(file).width) for file in found}
    fitting = next((file for file, size in sizes.items() if size == shape), found[0])
    _same_size(fitting, sizes[fitting], shape[:2])
    return fitting


def _literal(path: Path) -> str:
    """A path as a pattern that matches nothing else."""
    return re.sub(r"([*?[])", r"[\1]", path.as_posix())


def _score_stereo(scene: Scene, d: Map) -> Scores:
    return {p: _numbers(bad_pixels(d, scene.truth, protocol=p)) for p in ("paper-stereo", "proper")}


# ---- what several of them share ------------------------------------------------------------------


def _holding(folder: Path, names: set[str]) -> list[Path]:
    """Folders at any depth that hold one of the files, and those that cannot be looked into: reading them says why."""
    found: list[Path] = []
    for place, _, files in os.walk(folder, onerror=lambda error: found.append(Path(error.filename))):
        if not names.isdisjoint(files):
            found.append(Path(place))
    return found


def _named(folders: Iterable[Path]) -> dict[str, Path]:
    """The folders by their path below the deepest one that holds them all."""
    places = {Path(os.path.abspath(place)): place for place in sorted(set(folders))}
    if not places:
        return {}
    common = Path(os.path.commonpath([whole.parent for whole in places]))
    return {whole.relative_to(common).as_posix(): place for whole, place in places.items()}


def _relative(path: Path) -> Map:
    """A relative depth, 0 to 1 over the full scale of its numbers."""
    plane = _channel(read_image(path))
    return plane.astype(np.float32) / np.float32(full_scale(plane.dtype))


def _channel(image: Image) -> Image:
    """Of what is grey, though perhaps stored as RGB."""
    return image if image.ndim == 2 else image[..., 0]


def _same_size(
    path: Path, found: tuple[int, ...], wanted: tuple[int, ...], which: str = "the size of the views"
) -> None:
    if found[:2] != wanted[:2]:
        (height, width), (rows, columns) = found[:2], wanted[:2]
        raise InputError(f"{path}: is {width}x{height}, not {columns}x{rows}, {which}: check the file")


def _numbers(scores: AffineInvariant | BadPixels) -> dict[str, float]:
    return {name: value for name, value in vars(scores).items() if name != "protocol"}


def _score_affine(*protocols: str) -> Callable[[Scene, Map], Scores]:
    def scores(scene: Scene, d: Map) -> Scores:
        return {p: _numbers(affine_invariant(d, scene.truth, p)) for p in protocols}

    return scores


class Layout(NamedTuple):
    """How a data set lies on disk and is scored."""

    contents: str  # of its folder, in words
    find: Callable[[Path], dict[str, Path]]
    read: Callable[[str, Path], Scene]
    score: Callable[[Scene, Map], Scores]
    measure: tuple[str, str] = ("proper", "geometric_mean")
    method: str = DEFAULT_PRESET


LAYOUTS = {
    "dslr": Layout("NNN_L.jpg, NNN_R.jpg and NNN_D.TIF", _find_dslr, _read_dslr, _score_affine("paper-dslr", "proper")),
    "google": Layout(f"{', '.join(_GOOGLE_FOLDERS)}", _find_google, _read_google, _score_google),
    "pixel4": Layout(
        "NNN_left.png, NNN_right.png, gt_defocus_map/NNN_gt.png and calibration/white_sheet_left.png and _right.png",
        _find_pixel4,
        _read_pixel4,
        _score_affine("proper"),
    ),
    "r6ii": Layout("folders with l.png, r.png and d.png", _find_r6ii, _read_r6ii, _score_affine("proper")),
    "middlebury": Layout(
        "folders with im0.png, im1.png, calib.txt, disp0GT.pfm and mask0nocc.png",
        _find_middlebury,
        _read_middlebury,
        _score_stereo,
        ("proper", "bad_1"),
        "stereo",
    ),
}
